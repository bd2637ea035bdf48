# SPDX-License-Identifier: MIT
"""Yields the examples of one optimizer step at a time, in a size that may change at each."""

from __future__ import annotations

import base64
import copy
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

from .parts import has_rows
from .ranks import Ranks
from .sources import CHUNK, Chunks, Direct, FromWorkers, pack

if TYPE_CHECKING:
    from .run import Run


class Window:
    """The examples of one optimizer step: collated micro batches. As a mapping or sequence it is its first part."""

    __slots__ = ("__weakref__", "_examples", "_loader", "parts", "sizes")

    def __init__(
        self, examples: list[Any] | None, parts: list[Any], sizes: list[int], loader: Loader | None = None
    ) -> None:
        self.parts = parts
        self.sizes = sizes
        self._examples = examples
        self._loader = loader

    @property
    def examples(self) -> list[Any] | None:
        """Not collated. None if the batch is not of Run.loader, or the loader does not keep them (Run.loader)."""
        if self._loader is not None:
            self._loader._examples_used = True
        return self._examples

    def __getitem__(self, key: Any) -> Any:
        return self.parts[0][key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts[0])

    def __len__(self) -> int:
        return len(self.parts[0])

    def __contains__(self, key: Any) -> bool:
        return key in self.parts[0]

    def keys(self) -> Any:
        return self.parts[0].keys()

    def get(self, key: Any, default: Any = None) -> Any:
        return self.parts[0][key] if key in self.parts[0] else default


class _WholeOrder:
    """What all DistributedSamplers of the ranks go through together, without examples that are there twice."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        examples = len(sampler.dataset)
        self._length = examples - examples % sampler.num_replicas if sampler.drop_last else examples

    def __iter__(self) -> Iterator[Any]:
        whole = copy.copy(self._sampler)  # at the epoch that the program has set by now
        whole.rank, whole.num_replicas, whole.drop_last = 0, 1, False
        whole.num_samples = whole.total_size = len(whole.dataset)
        return iter(whole)

    def __len__(self) -> int:
        return self._length

    def set_epoch(self, epoch: int) -> None:
        self._sampler.set_epoch(epoch)


def why_not_divided(dataloader: Any, ranks: Ranks | None) -> str | None:
    """Why it is not known how the ranks divide the examples of a DataLoader; None if it is, or for one process."""
    if ranks is None:
        return None
    from torch.utils.data.distributed import DistributedSampler

    batches = getattr(dataloader, "batch_sampler", None)
    sampler = getattr(batches, "sampler", None)
    place = ranks.rank, ranks.size
    if type(sampler) is DistributedSampler and (sampler.rank, sampler.num_replicas) == place:
        return None
    if (
        type(batches).__name__ == "BatchSamplerShard"
        and not batches.split_batches
        and (batches.process_index, batches.num_processes) == place
    ):
        return None
    return "its DataLoader has neither a DistributedSampler nor accelerate's division among these ranks"


def sampler_of(dataloader: Any, ranks: Ranks | None = None) -> tuple[Any, bool, int]:
    """Sampler, drop_last and batch size of a DataLoader. Raises TypeError if it cannot be wrapped.

    With `ranks` the sampler is that of all examples, of which each rank takes its part.
    """
    from torch.utils.data import BatchSampler, DataLoader, IterableDataset

    if not isinstance(dataloader, DataLoader) and not hasattr(dataloader, "batch_sampler"):
        raise TypeError(f"batchscope wraps a torch DataLoader, not a {type(dataloader).__name__}")
    if isinstance(dataloader.dataset, IterableDataset):
        raise TypeError("the batch size of an IterableDataset cannot be changed")
    batches = dataloader.batch_sampler
    while batches is not None and hasattr(batches, "batch_sampler"):  # accelerate's shards
        batches = batches.batch_sampler
    if type(batches) is not BatchSampler:
        raise TypeError("a DataLoader with a batch_sampler of its own makes its own batches")
    whole = ranks is not None and hasattr(batches.sampler, "num_replicas")
    return _WholeOrder(batches.sampler) if whole else batches.sampler, batches.drop_last, batches.batch_size


class _Epoch:
    """The windows of one pass over the examples."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._source = loader._source = loader._open()

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Window:
        loader = self._loader
        loader._run._before_fetch()
        sizes = loader._next_sizes()
        if not sizes:
            loader._end_epoch()
            raise StopIteration
        examples: list[Any] = []
        parts: list[Any] = []
        own = loader._own(sizes)
        for size in own:
            taken = self._source.take(size)
            examples += taken
            parts.append(loader._collate(taken))
        loader._took(sizes)
        # A list of 3 images in a batch of 3 looks like columns: what was seen once holds.
        loader.cuttable = loader.cuttable and all(map(has_rows, parts, own))
        keeps = loader._keeps_examples or not loader.cuttable
        window = Window(examples if keeps else None, parts, own, loader)
        loader.last_window = weakref.ref(window)
        return window


class Loader:
    """Yields a Window for each optimizer step: `batch * accumulate` examples, as these stand at that moment.

    Wraps the DataLoader's dataset, sampler, collate_fn, drop_last and workers; examples come in the same order and
    random numbers are drawn as by the DataLoader itself. Workers fetch single examples, which are collated in the main
    process, so that a new size holds for the very next window.

    On several ranks each takes every R-th example of the same order, `batch` of them for a micro batch, and `seen`,
    `epoch` and `examples` are those of all ranks. The tail of an epoch is divided as evenly as can be: a rank that gets
    nothing of it has a Window without parts.
    """

    def __init__(self, run: Run, dataloader: Any, examples: bool = False) -> None:
        self._run = run
        self.dataloader = dataloader
        self._examples_used = examples
        self._first_step = True  # is not over
        self.cuttable = True  # examples can be taken out of a collated batch
        self.sampler, self.drop_last, self._batch = sampler_of(dataloader, run._ranks)
        self.dataset = dataloader.dataset
        self.examples = len(self.sampler)  # of an epoch
        self._accumulate = 1
        self.epoch = 0  # passes completed
        self.seen = 0  # examples of the whole training
        self.seen_in_epoch = 0
        self.last_size = 0  # the largest micro batch of the last window, before it was split for memory
        self.last_total = 0  # examples of the last window, of all ranks
        self.last_window: Callable[[], Window | None] = lambda: None  # while the program holds it
        self._stepped = (0, 0, 0)  # epoch, seen, seen in the epoch, after the last step
        self._skip = 0
        self._promised = 0  # a batch size that the next window of this epoch may have
        self._window = (self._batch, 1)  # batch and accumulation of the last window
        self._rng: Any = None
        self._resuming = False  # the next epoch iterator starts in the middle of an epoch
        self._resume_rng: Any = None
        self._workers: Any = None
        self._source: Any = None  # of the present epoch
        self._pins = bool(dataloader.pin_memory)
        run._describe(
            can=("batch", "accumulate"),
            examples=self.examples,
            batch=self._batch,
            accumulate=1,
            drop_last=self.drop_last,
        )

    @property
    def batch(self) -> int:
        """Examples of a micro batch. May be set at any time, and holds from the next window on."""
        return self._batch

    @batch.setter
    def batch(self, size: int) -> None:
        self._batch = self._clamped("batch", size, max(1, self.examples // self._sharers))

    @property
    def accumulate(self) -> int:
        """Micro batches of a window. May be set at any time, too."""
        return self._accumulate

    @accumulate.setter
    def accumulate(self, count: int) -> None:
        self._accumulate = self._clamped("accumulate", count, max(1, self.examples))

    def _clamped(self, what: str, asked: int, most: int) -> int:
        taken = max(1, min(int(asked), most))
        if taken != asked and (self._run._ranks is None or self._run._rank == 0):
            self._run.event("clamp", field=what, asked=asked, taken=taken)
        return taken

    @property
    def _sharers(self) -> int:
        """Ranks that take the examples together."""
        return 1 if self._run._ranks is None else self._run._ranks.size

    def __len__(self) -> int:
        """Windows of an epoch at the present size."""
        return self._windows(self.examples)

    def _windows(self, examples: int) -> int:
        batch = self._batch * self._sharers
        micro = examples // batch if self.drop_last else -(-examples // batch)
        return -(-micro // self._accumulate)

    def __iter__(self) -> Iterator[Window]:
        return _Epoch(self)

    def set_epoch(self, epoch: int) -> None:
        """Passed on to the sampler, for programs that call it."""
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)

    @property
    def through(self) -> bool:
        """Whether the epoch has no window left at the present size."""
        left = self.examples - self.seen_in_epoch
        return left <= 0 or (self.drop_last and left < self._batch * self._sharers)

    def _promise(self) -> bool:
        """Whether there is another window; if so there will be one, even if the size changes before."""
        self._promised = 0 if self.through else self._batch
        return self._promised > 0

    def _next_sizes(self) -> list[int]:
        """Examples of the micro batches of the next window, of all ranks together."""
        left = self.examples - self.seen_in_epoch
        batch, count = self._batch * self._sharers, self._accumulate
        if self.drop_last:
            if left < batch and left >= self._promised > 0:
                batch = self._promised
            return [batch] * min(count, left // batch)
        whole, rest = divmod(min(batch * count, left), batch)
        return [batch] * whole + ([rest] if rest else [])

    def _own(self, sizes: list[int]) -> list[int]:
        """This rank's part of the micro batches; one of which it gets nothing is left out."""
        ranks = self._run._ranks
        return sizes if ranks is None else [part for part in map(ranks.part, sizes) if part]

    def _took(self, sizes: list[int]) -> None:
        self._promised = 0
        self._window = self._batch, self._accumulate
        self.last_total = sum(sizes)
        self.seen += self.last_total
        self.seen_in_epoch += self.last_total
        own = self._own(sizes)
        self.last_size = max(own, default=0)
        self._run._takes = list(own)

    def _end_epoch(self) -> None:
        if self._source is not None and self.through:
            self._source.exhaust()
        self._source = None
        if self.seen_in_epoch or not self.examples:
            self.epoch += 1
            self.seen_in_epoch = 0

    @property
    def _keeps_examples(self) -> bool:
        """Thousands of objects that live through a step are slow to keep: 1 ms for 2,000 small ones."""
        return self._examples_used or self._first_step

    def _count_step(self) -> None:
        self._first_step = False
        self._stepped = (self.epoch, self.seen, self.seen_in_epoch)

    def _series(self) -> dict[str, Any]:
        whole = max(1, self.examples)
        batch, accumulate = self._window
        return {
            "examples_seen": self._run._examples_before + self.seen,
            "epoch_index": self.epoch,
            "epoch": self.seen / whole,
            "train_coverage": self.seen_in_epoch / whole,
            "batch": batch,
            "accumulate": accumulate,
        }

    def _collate(self, examples: list[Any]) -> Any:
        part = self.dataloader.collate_fn(examples)
        if self._pins:
            import torch

            if torch.cuda.is_available():
                from torch.utils.data._utils.pin_memory import pin_memory

                return pin_memory(part)
        return part

    # ---- where the examples come from ----

    def _indices(self, skip: int) -> Iterator[Any]:
        """The order of this epoch without its first `skip` examples; on several ranks this rank's part of it."""
        from itertools import islice

        ranks = self._run._ranks
        if ranks is not None:
            order = ranks.same_order(list(islice(iter(self.sampler), self.examples)))
            return iter(order[ranks.rank :: ranks.size][skip // ranks.size :])
        indices = iter(self.sampler)
        for _ in islice(indices, skip):
            pass
        return indices

    def _generator(self) -> Any:
        import torch

        return self.dataloader.generator or torch.default_generator

    def _open(self) -> Any:
        """Starts an epoch, at its beginning or where a checkpoint was made."""
        self._leave_epoch()
        generator = self._generator()
        now = generator.get_state()
        if self._resume_rng is not None:
            generator.set_state(self._resume_rng)
        self._rng = generator.get_state()
        self._skip = self.seen_in_epoch
        source = FromWorkers(self) if self.dataloader.num_workers > 0 else Direct(self, self._skip)
        if self._resuming:  # the numbers of the epoch's start were drawn before the checkpoint
            generator.set_state(now)
        self._resuming, self._resume_rng = False, None
        return source

    def _leave_epoch(self) -> None:
        """Ends an epoch whose iterator was not asked for more than its windows, or was left early."""
        if self.seen_in_epoch and not self._resuming:
            self._end_epoch()

    def _worker_loader(self) -> Any:
        if self._workers is None:
            from torch.utils.data import DataLoader

            given = self.dataloader
            ahead = (given.prefetch_factor or 2) * self._batch * self._accumulate
            self._workers = DataLoader(
                self.dataset,
                batch_sampler=Chunks(self),
                collate_fn=pack,
                num_workers=given.num_workers,
                timeout=given.timeout,
                worker_init_fn=given.worker_init_fn,
                generator=given.generator,
                multiprocessing_context=given.multiprocessing_context,
                persistent_workers=given.persistent_workers,
                prefetch_factor=max(2, -(-ahead // CHUNK)),
            )
        return self._workers

    # ---- checkpoints ----

    def state_dict(self) -> dict[str, Any]:
        """The position after the last step, for a checkpoint; a plain JSON value."""
        epoch, seen, seen_in_epoch = self._stepped
        rng = "" if self._rng is None else base64.b64encode(self._rng.numpy().tobytes()).decode()
        return {
            "epoch": epoch,
            "seen": seen,
            "seen_in_epoch": seen_in_epoch,
            "batch": self._batch,
            "accumulate": self._accumulate,
            "rng": rng,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from there: the next epoch iterator starts in the middle of that epoch."""
        import torch

        self.epoch, self.seen, self.seen_in_epoch = state["epoch"], state["seen"], state["seen_in_epoch"]
        self._stepped = (self.epoch, self.seen, self.seen_in_epoch)
        self._run._examples_before = max(0, self._run._examples - self.seen)
        self._batch, self._accumulate = state["batch"], state["accumulate"]
        if self.through:
            self._end_epoch()
            return
        self._resuming = self.seen_in_epoch > 0
        if self._resuming and state.get("rng"):
            data = bytearray(base64.b64decode(state["rng"]))
            self._resume_rng = torch.frombuffer(data, dtype=torch.uint8).clone()
