# SPDX-License-Identifier: MIT
"""Where the examples of an epoch come from: this process, or workers.

All sources take indices from one stream, to which they give back what they have not delivered: the size of a batch
may change at any time, and another source may go on with the rest of the epoch.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .chunks import pack, unpack

CHUNK = 16  # examples that a worker fetches at once where batches change their size


class Misfit(Exception):
    """A source cannot make a batch of this size."""


class IndexStream:
    """The order of an epoch. Nothing is asked of the sampler before it is needed, as a DataLoader has it."""

    def __init__(self, order: Callable[[], Iterable[Any]], skip: int = 0) -> None:
        self._order = order
        self._skip = skip  # indices at its beginning
        self._iterator: Iterator[Any] | None = None
        self._front: deque[Any] = deque()

    def take(self, count: int) -> list[Any]:
        """The next indices; fewer at the end."""
        if not self._front:
            return list(itertools.islice(self._iterator or self._begun(), count))
        taken = [self._front.popleft() for _ in range(min(count, len(self._front)))]
        if len(taken) < count:
            taken += itertools.islice(self._begun(), count - len(taken))
        return taken

    def _begun(self) -> Iterator[Any]:
        if self._iterator is None:
            self._iterator = iter(self._order())
            for _ in itertools.islice(self._iterator, self._skip):
                pass
        return self._iterator

    def begin(self) -> None:
        """Asks the sampler for its order now."""
        self._begun()

    def give_back(self, indices: Iterable[Any]) -> None:
        """Puts indices in front of all others, in their order."""
        self._front.extendleft(reversed(list(indices)))

    def exhaust(self) -> None:
        """A DataLoader goes through its sampler to the end, where samplers may draw random numbers."""
        for _ in self._iterator or ():
            pass


def fetched(dataset: Any, indices: list[Any]) -> list[Any]:
    """These examples, fetched in this process."""
    if hasattr(dataset, "__getitems__") and dataset.__getitems__:
        return list(dataset.__getitems__(indices))
    return [dataset[index] for index in indices]


class Source:
    """Makes batches of the next examples of a stream."""

    def batch(self, count: int) -> tuple[Any, Any]:
        """A collated batch of so many examples, and these: a list, or a function that fetches them again. Raises
        Misfit if it cannot make this size.
        """
        raise NotImplementedError

    def end(self) -> None:
        """The epoch is through."""

    def leave(self) -> None:
        """Gives back to the stream what was not delivered."""


class Direct(Source):
    """Fetches in this process, as a DataLoader without workers does."""

    def __init__(self, dataloader: Any, stream: IndexStream, collate: Callable[[list[Any]], Any]) -> None:
        import torch

        torch.empty((), dtype=torch.int64).random_(generator=dataloader.generator)  # as DataLoader draws
        self._dataset = dataloader.dataset
        self._stream = stream
        self._collate = collate

    def batch(self, count: int) -> tuple[Any, Any]:
        examples = fetched(self._dataset, self._stream.take(count))
        return self._collate(examples), examples

    def end(self) -> None:
        self._stream.exhaust()


class _Batches:
    """Stands for the sampler of batches of a DataLoader, which workers fetch ahead."""

    def __init__(self) -> None:
        self.stream: IndexStream | None = None
        self.size = 1
        self.keeps_tail = True
        self.ahead: deque[list[Any]] = deque()  # fetched by workers and not delivered

    def __iter__(self) -> Iterator[list[Any]]:
        stream, ahead, size, keeps_tail = self.stream, self.ahead, self.size, self.keeps_tail
        while stream is not None:
            indices = stream.take(size)
            if not indices or (len(indices) < size and not keeps_tail):
                stream.give_back(indices)
                return
            ahead.append(indices)
            yield indices

    def __len__(self) -> int:
        return 1 << 40  # a DataLoader warns of more batches than that


class FromWorkers(Source):
    """Batches of one size, collated by the workers of the program's own DataLoader."""

    def __init__(self, dataloader: Any, stream: IndexStream, size: int, keeps_tail: bool) -> None:
        self._dataset = dataloader.dataset
        plan = vars(dataloader).get("_batchscope_batches")
        if plan is None:  # persistent workers keep it
            plan = vars(dataloader)["_batchscope_batches"] = _Batches()
        plan.stream, plan.size, plan.keeps_tail, plan.ahead = stream, size, keeps_tail, deque()
        self._plan = plan
        self._stream = stream
        self._iterator = _iterator_over(dataloader, plan)

    def batch(self, count: int) -> tuple[Any, Any]:
        ahead = self._plan.ahead
        if not ahead or len(ahead[0]) != count:
            raise Misfit
        part = next(self._iterator)
        indices = ahead.popleft()
        return part, functools.partial(fetched, self._dataset, indices)  # which does not refer to this source

    def end(self) -> None:
        next(self._iterator, None)
        self._stream.exhaust()

    def leave(self) -> None:
        self._plan.stream = None
        self._stream.give_back(itertools.chain(*self._plan.ahead))
        self._plan.ahead = deque()
        self._iterator = iter(())


def _iterator_over(dataloader: Any, plan: _Batches) -> Iterator[Any]:
    """An iterator of the DataLoader itself, with all of its settings, that takes its batches from the plan."""
    from torch.utils.data import DataLoader

    own = vars(dataloader)
    before = own["batch_sampler"]
    own["batch_sampler"] = plan
    try:
        stock: Any = getattr(DataLoader.__iter__, "_batchscope_stock", DataLoader.__iter__)  # not what watches it
        iterator: Iterator[Any] = stock(dataloader)
        return iterator
    finally:
        own["batch_sampler"] = before


class InChunks(Source):
    """Examples of workers that know nothing of batches, collated in this process: the size may change each time."""

    def __init__(self, dataloader: Any, stream: IndexStream, collate: Callable[[list[Any]], Any], ahead: int) -> None:
        plan = vars(dataloader).get("_batchscope_chunks")
        if plan is None:
            plan = vars(dataloader)["_batchscope_chunks"] = _Batches(), _loader_of_chunks(dataloader, ahead)
        self._plan, loader = plan
        self._plan.stream, self._plan.size, self._plan.ahead = stream, CHUNK, deque()
        self._stream = stream
        self._collate = collate
        self._ready: deque[tuple[Any, Any]] = deque()  # indices and examples
        self._iterator = _iterator_over(loader, self._plan)

    def batch(self, count: int) -> tuple[Any, Any]:
        while len(self._ready) < count:
            chunk = next(self._iterator, None)
            if chunk is None:
                break
            self._ready.extend(zip(self._plan.ahead.popleft(), unpack(chunk)))
        examples = [self._ready.popleft()[1] for _ in range(min(count, len(self._ready)))]
        return self._collate(examples), examples

    def end(self) -> None:
        self._stream.exhaust()

    def leave(self) -> None:
        self._plan.stream = None
        left = [index for index, _ in self._ready]
        self._stream.give_back(itertools.chain(left, *self._plan.ahead))
        self._plan.ahead = deque()
        self._ready.clear()
        self._iterator = iter(())


def _loader_of_chunks(given: Any, ahead: int) -> Any:
    """Workers like those of the DataLoader, which fetch about so many examples ahead each."""
    from torch.utils.data import DataLoader

    return DataLoader(
        given.dataset,
        batch_sampler=[],
        collate_fn=pack,
        num_workers=given.num_workers,
        timeout=given.timeout,
        worker_init_fn=given.worker_init_fn,
        generator=given.generator,
        multiprocessing_context=given.multiprocessing_context,
        persistent_workers=given.persistent_workers,
        prefetch_factor=max(2, -(-ahead // CHUNK)),
    )
