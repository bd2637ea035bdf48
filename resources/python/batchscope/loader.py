# SPDX-License-Identifier: MIT
"""Yields the examples of one optimizer step at a time, in a size that may change at each."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .division import base_of, check_divided, sampler_of
from .parts import has_rows, rows_of
from .sizes import Sizes
from .sources import Direct, FromWorkers, InChunks, IndexStream, Misfit, Source
from .window import Window

if TYPE_CHECKING:
    from .run import Run


_END = object()  # of an iterator


class Epoch:
    """The windows of one pass over the examples."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        loader.open()

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Window:
        window = self._loader.begin_window()
        if window is None:
            raise StopIteration
        while len(window.parts) < len(window.sizes):
            self._loader.fetch_part(window)
        return window


class _ToldEpoch(Epoch):
    """The same for a loader of accelerate, from which its Accelerator knows that an accumulation ends with the data."""

    def __init__(self, loader: Loader) -> None:
        super().__init__(loader)
        self._dataloader = loader.dataloader
        self._dataloader.begin()

    def __next__(self) -> Window:
        try:
            window = super().__next__()
        except StopIteration:
            self._dataloader.end()
            raise
        self._dataloader.end_of_dataloader = not self._loader.promise()
        return window


class Loader(Sizes):
    """Yields a Window for each optimizer step: `batch * accumulate` examples, as these stand at that moment.

    Wraps the DataLoader's dataset, sampler, collate_fn, drop_last and workers; examples come in the same order and
    random numbers are drawn as by the DataLoader itself. As long as the size does not change, workers collate whole
    batches. From a change on they fetch single examples, which are collated in the main process, so that the size holds
    for the very next window; once it has stood for some windows, workers collate again.

    On several ranks each takes every R-th example; a rank that gets nothing of an epoch's tail has a Window without
    parts.
    """

    may_cut = True  # examples may be taken out of the next batch

    def __init__(self, run: Run, dataloader: Any, examples: bool = False) -> None:
        """Raises Unknown for a DataLoader whose batches are not known of."""
        check_divided(dataloader, run._ranks)
        self.sampler, drop_last, batch = sampler_of(dataloader, run._ranks)
        super().__init__(run, len(self.sampler), batch, drop_last)
        self.dataloader = dataloader
        self.dataset = dataloader.dataset
        self._collate_fn = dataloader.collate_fn
        self.cuttable = True  # examples can be taken out of a collated batch
        self._examples_used = examples
        self._rng: Any = None
        self._resuming = False  # the next epoch iterator starts in the middle of an epoch
        self._resume_rng: Any = None
        self.begins_at_epoch = False  # which is not known before the training begins
        self.begins_anew = False  # a resumed epoch takes its order from the beginning
        self._of_parts: list[Any] = []  # examples of the present window's parts, or how to get them
        self._stream: IndexStream | None = None  # of the present epoch
        self._source: Source | None = None
        self._pins = bool(dataloader.pin_memory)

    def __iter__(self) -> Iterator[Window]:
        return _ToldEpoch(self) if hasattr(self.dataloader, "end_of_dataloader") else Epoch(self)

    def __len__(self) -> int:
        if not self.seen_in_epoch:
            self.count(self._of_sampler())
        return super().__len__()

    def __getattr__(self, name: str) -> Any:
        return _of_dataloader(self, name)

    @property
    def _base(self) -> Any:
        """The DataLoader itself, if it is one in a wrapper."""
        return base_of(self.dataloader)

    @property
    def batch_size(self) -> int:
        """As a DataLoader calls it."""
        return self._batch

    def set_epoch(self, epoch: int) -> None:
        """Passed on to the sampler, for programs that call it."""
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)

    def _of_sampler(self) -> int:
        """Examples of an epoch, as the sampler has them by now."""
        return len(self.sampler)

    def leave_ranks(self) -> None:
        """The ranks do not act together after all: each has its own part."""
        self.sampler, self.drop_last, _ = sampler_of(self.dataloader)
        self.count(len(self.sampler))

    def keep_examples(self) -> None:
        """From the next window on, examples are kept beside their batch."""
        self._examples_used = True

    # ---- windows ----

    def begin_window(self) -> Window | None:
        """The next window, whose parts are not fetched yet; None at the end of the epoch."""
        self._run._before_fetch(self)
        sizes = self._next_sizes()
        if not sizes and self._goes_round():
            self._start_source(0)
            sizes = self._next_sizes()
        if not sizes:
            self._end_epoch()
            return None
        self._took(sizes)
        self._of_parts = []
        window = Window([], [], self._own(sizes), self)
        window.progress = self.epoch, self.seen, self.seen_in_epoch
        self._run._account.windows.add(window)
        return window

    def fetch_part(self, window: Window) -> Any:
        """Fetches the next micro batch of a window, and returns it."""
        memory, size = self._run._memory, window.sizes[len(window.parts)]
        if memory.budget.on_host:
            with memory.fetching(tuple(window.sizes), first=not window.parts):
                self._add_part(window, size)
        else:
            memory.notes(window.sizes, first=not window.parts)
            self._add_part(window, size)
        return window.parts[-1]

    def _add_part(self, window: Window, size: int) -> None:
        part, examples = self._fetch(size)
        window.parts.append(part)
        # A list of 3 images in a batch of 3 looks like columns: what was seen once holds.
        self.cuttable = self.cuttable and (not self.may_cut or has_rows(part, size))
        # Thousands of objects that live through a step are slow to keep, 1 ms for 2,000 small ones.
        kept = callable(examples) or self._examples_used or self._first_step or not self.cuttable
        self._of_parts.append(examples if kept else None)
        window._examples = self._kept(self._of_parts)

    @staticmethod
    def _kept(examples: list[Any]) -> Any:
        """The examples of a window's parts, if all of them are kept, or how to get them."""
        if None in examples:
            return None
        if any(map(callable, examples)):
            return lambda: list(itertools.chain(*(part() if callable(part) else part for part in examples)))
        return list(itertools.chain(*examples))

    # ---- where the examples come from ----

    def _fetch(self, size: int) -> tuple[Any, Any]:
        """A collated batch, and its examples or how to get them."""
        assert self._source is not None
        if self._base.num_workers > 0:
            by_workers = isinstance(self._source, FromWorkers)
            if (self._examples_used and by_workers) or (not by_workers and self._collated_by_workers()):
                self._change_source()
        try:
            return self._source.batch(size)
        except Misfit:  # if that is rare, workers go on with the new size
            self._change_source()
            return self._source.batch(size)

    def _collated_by_workers(self) -> bool:
        """Whether whole batches should come from workers: their size changes rarely."""
        given = self._base
        in_order = given.num_workers > 0 and getattr(given, "in_order", True)
        return in_order and self._steady and not self._examples_used

    def _change_source(self) -> None:
        assert self._source is not None
        self._source.leave()
        self._source = self._new_source()

    def _new_source(self) -> Source:
        assert self._stream is not None
        given = self._base
        if given.num_workers == 0:
            return Direct(given, self._stream, self.collate)
        if self._collated_by_workers():
            return FromWorkers(given, self._stream, self._batch, not self.drop_last)
        return InChunks(given, self._stream, self.collate, (given.prefetch_factor or 2) * self._batch)

    def _start_source(self, skip: int) -> None:
        self._stream = IndexStream(self._order, skip // self._sharers)
        self._source = self._new_source()
        if skip:
            self._stream.begin()  # with the random numbers of the epoch's beginning

    def collate(self, examples: list[Any]) -> Any:
        """A batch of these examples, as the DataLoader makes it in this process."""
        part = self._collate_fn(examples)
        if self._pins:
            import torch

            if torch.cuda.is_available():
                from torch.utils.data._utils.pin_memory import pin_memory

                return pin_memory(part)
        return part

    def _order(self) -> Iterator[Any]:
        """The indices of this epoch; on several ranks this rank's part of them."""
        ranks = self._run._ranks
        if ranks is None:
            return iter(self.sampler)
        order = ranks.same_order(list(itertools.islice(iter(self.sampler), self.examples)))
        return iter(order[ranks.rank :: ranks.size])

    def _generator(self) -> Any:
        import torch

        return self.dataloader.generator or torch.default_generator

    def open(self) -> None:
        """Starts an epoch, at its beginning or where a checkpoint was made."""
        self.leave_epoch()
        self._collate_fn = self.dataloader.collate_fn  # it may be another one by now
        if not self.seen_in_epoch:
            self.count(self._of_sampler())  # which may be another one in each epoch
            self._begin_pass()
        self._run._opened(self)
        generator = self._generator()
        now = generator.get_state()
        if self._resume_rng is not None:
            generator.set_state(self._resume_rng)
        self._rng = generator.get_state()
        self._start_source(0 if self.begins_anew else self.seen_in_epoch)
        self.is_open = True
        if self._resuming:  # the numbers of the epoch's start were drawn before the checkpoint
            generator.set_state(now)
        self._resuming, self._resume_rng, self.begins_anew = False, None, False

    def end_stream(self, stream: IndexStream | None) -> None:
        """Nobody takes indices from this stream any more: it refers to the loader, and would keep it and its data."""
        if self._stream is stream:
            self._source = self._stream = None

    def leave_epoch(self) -> None:
        """Ends an epoch whose iterator was not asked for more than its windows, or was left early."""
        if self.seen_in_epoch and not self._resuming:
            self._end_epoch()

    def _end_epoch(self) -> None:
        if self._source is not None and self.through and self.examples == self._of_sampler():
            self._source.end()
        self._source = self._stream = None
        super()._end_epoch()

    # ---- checkpoints ----

    def state_dict(self) -> dict[str, Any]:
        """The position after the last step, for a checkpoint; a plain JSON value."""
        epoch, seen, seen_in_epoch = self._stepped
        rng = "" if self._rng is None else base64.b64encode(self._rng.numpy().tobytes()).decode()
        return {
            "epoch": epoch,
            "seen": seen,
            "seen_in_epoch": seen_in_epoch,
            "through": self.is_through(seen_in_epoch),
            "batch": self._batch,
            "accumulate": self._accumulate,
            "rng": rng,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from there: the next epoch iterator starts in the middle of that epoch."""
        import torch

        self.epoch, self.seen, self.seen_in_epoch = state["epoch"], state["seen"], state["seen_in_epoch"]
        self._stepped = (self.epoch, self.seen, self.seen_in_epoch)
        self._pass = None
        self.own_counted = self.own_steps()
        self._run._examples_before = max(0, self._run._examples - self.seen)
        self._batch, self._accumulate = state["batch"], state["accumulate"]
        if state.get("through", self.through):  # the data may be more by now
            self._end_epoch()
            return
        self._resuming = self.seen_in_epoch > 0
        if self._resuming and state.get("rng"):
            data = bytearray(base64.b64decode(state["rng"]))
            self._resume_rng = torch.frombuffer(data, dtype=torch.uint8).clone()


def _of_dataloader(loader: Any, name: str) -> Any:
    """What a program asks of a DataLoader and a loader does not have itself."""
    dataloader = vars(loader).get("dataloader")
    if dataloader is None or name.startswith("_"):
        raise AttributeError(f"{type(loader).__name__} has no attribute {name}")
    return getattr(dataloader, name)


class WatchedLoader:
    """Yields the batches of a DataLoader as they are, each as a Window: their size cannot be changed."""

    def __init__(self, run: Run, dataloader: Any) -> None:
        self._run = run
        self.dataloader = dataloader
        self.accumulate = 1

    @property
    def batch(self) -> Any:
        """Of the DataLoader; None if it has none."""
        return getattr(self.dataloader, "batch_size", None)

    def __len__(self) -> int:
        return len(self.dataloader)

    def __getattr__(self, name: str) -> Any:
        return _of_dataloader(self, name)

    def __iter__(self) -> Iterator[Window]:
        self._run._before_fetch(None)
        iterator = iter(self.dataloader)
        while True:
            with self._run._memory.fetching((), first=True):
                part = next(iterator, _END)
                if part is _END:
                    return
                window = Window(None, [part], [rows_of(part)])
                self._run._account.windows.add(window)
            yield window

    def set_epoch(self, epoch: int) -> None:
        """Passed on to the sampler or the data set."""
        for name in ("sampler", "dataset"):
            owner: Any = getattr(self.dataloader, name, None)
            if hasattr(owner, "set_epoch"):
                owner.set_epoch(epoch)
