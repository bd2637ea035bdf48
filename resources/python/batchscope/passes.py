# SPDX-License-Identifier: MIT
"""The batches of one pass over a DataLoader of a program that knows nothing of BatchScope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .parts import cut, rows_of
from .reasons import Reason
from .sources import fetched
from .window import Window

if TYPE_CHECKING:
    from .feeds import Feed
    from .followed import FollowedLoader
    from .in_parts import Parts
    from .loop import Loop
    from .run import Run


class Pass:
    """The batches of one pass over a followed loader, as a DataLoader's own iterator."""

    def __init__(self, loader: FollowedLoader, dataloader: Any, loop: Loop, feed: Feed) -> None:
        self._loader = loader
        self._dataloader = dataloader
        self._loop = loop
        self._feed = feed
        self._window: Window | None = None  # counts as memory in use
        self._rest: Any = None  # indices, of a pass that was not gone through when another one began
        self.has_begun = False
        self._dealt: Iterator[tuple[int, int, int, Any]] | None = None  # parts of the present batch
        self._stream: Any = None  # of its indices
        loader.open()
        self._stream = loader._stream

    def __iter__(self) -> Pass:
        return self

    def __len__(self) -> int:
        return len(self._dataloader)

    def __next__(self) -> Any:
        if self._dealt is not None:
            for dealt in self._dealt:
                return self._hand_out(*dealt)
        self._dealt = self._window = None
        if self._rest is None and self._loader.is_altered:
            self.leave()
            self._feed.loader, self._feed.reason = None, ALTERED
        if self._rest is not None:
            return self._next_of_rest()
        loader, loop = self._loader, self._loop
        if loop.parts.wanted and loader.leads_steps:
            loop.parts.begin_batch(loader)
        loop.boundary()
        if not self.has_begun and not loop.has_stepped:
            loader.is_asked_first()
        self.has_begun = True
        if loop.parts.wanted and loader.leads_steps:
            return self._next_in_parts(loop.parts)
        part = loader.next_alike()
        if part is not loader.NOT_ALIKE:
            loop.fetched(self._feed, loader.last_size, self)
            return part
        return self._whole(self._begin_window())

    def _begin_window(self) -> Window:
        window = self._loader.begin_window()
        if window is None:
            self._loop.exhausted(self._feed)
            raise StopIteration
        return window

    def _whole(self, window: Window) -> Any:
        part = self._loader.fetch_part(window)
        self._window = window
        self._loop.fetched(self._feed, window.sizes[0], self)
        return part

    def _next_in_parts(self, parts: Parts) -> Any:
        """The next batch, or its first part."""
        window = self._begin_window()
        plan = parts.divided(window.sizes)
        if plan is not None:
            self._window = window
            self._dealt = _deal(self._loader, parts, window, plan)
            return self._hand_out(*next(self._dealt))
        part = self._whole(window)
        parts.fetched(part, window.sizes[0])
        return part

    def _hand_out(self, number: int, count: int, rows: int, part: Any) -> Any:
        self._loop.fetched(self._feed, rows, self, is_further=number > 1)
        self._loop.parts.begin_part(number, count, part, rows)
        return part

    def _shutdown_workers(self) -> None:
        """As programs end the workers of an iterator that they leave."""
        source = self._loader._source if self._loader._stream is self._stream else None
        end = getattr(getattr(source, "_iterator", None), "_shutdown_workers", None)
        if end is not None:
            end()

    def __del__(self) -> None:
        if self._dealt is not None and self._loop.follows:
            self._loop.parts.release()
        self._loader.end_stream(self._stream)

    def leave(self) -> None:
        """Another pass begins. This one may go on, with batches of the program's own size."""
        if self._dealt is not None:
            self._dealt = None
            self._loop.parts.release()
        stream, source = self._loader._stream, self._loader._source
        if stream is not None and source is not None:
            source.leave()
            self._rest = stream

    def _next_of_rest(self) -> Any:
        # torch's sampler looks at its size for each batch, but for one that drops the last.
        size = self._loader.own_batch if self._loader.drop_last else self._loader.given()[2]
        indices = self._rest.take(size)
        if not indices or (len(indices) < size and self._loader.drop_last):
            raise StopIteration
        return self._loader.collate(fetched(self._loader.dataset, indices))


def _deal(
    loader: FollowedLoader, parts: Parts, window: Window, plan: list[list[int]]
) -> Iterator[tuple[int, int, int, Any]]:
    """The parts of the micro batches of a window: their number, how many there are, their examples, themselves."""
    number, count = 0, sum(map(len, plan))
    for index, sizes in enumerate(plan):
        whole = loader.fetch_part(window)
        parts.fetched(whole, sum(sizes))
        first = 0
        for rows in sizes:
            number += 1
            yield number, count, rows, whole if len(sizes) == 1 else cut(window, index, slice(first, first + rows))
            first += rows
        del whole
        window.parts[index] = None


class WatchedPass:
    """The batches of a DataLoader as they are, which are counted."""

    def __init__(self, run: Run, loop: Loop, feed: Feed, iterator: Any) -> None:
        self._run = run
        self._loop = loop
        self._feed = feed
        self._iterator = iterator
        self._window: Window | None = None

    def __iter__(self) -> WatchedPass:
        return self

    def __len__(self) -> int:
        return len(self._iterator)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._iterator, name)

    def __next__(self) -> Any:
        self._window = None
        self._loop.boundary()
        self._run._before_fetch(None)
        with self._run._memory.fetching((), first=True):
            try:
                part = next(self._iterator)
            except StopIteration:
                self._loop.exhausted(self._feed)
                raise
            self._window = Window(None, [part], [rows_of(part)])
            self._run._account.windows.add(self._window)
        self._loop.fetched(self._feed, self._window.sizes[0], self)
        return part


ALTERED = Reason(
    "own-batch-sampler",
    "a batch sampler that the program changes makes batches of its own",
    {"class": "a batch sampler that the program changes"},
)
