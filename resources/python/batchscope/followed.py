# SPDX-License-Identifier: MIT
"""The DataLoaders of a program that knows nothing of BatchScope, with batches whose size may change."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .again import Again
from .division import Unknown, batch_sampler_of, with_size
from .foresight import limit_of, within
from .loader import Loader
from .parts import cut, rows_of
from .reasons import Reason
from .run import distributed_models
from .sizes import STEADY, Sizes
from .sources import fetched
from .window import Window

if TYPE_CHECKING:
    from .in_parts import Parts
    from .loop import Loop
    from .run import Run


class Feed:
    """A DataLoader that was iterated over with gradients enabled. It is among that one's attributes and goes with it:
    a program may make another one, over other data, in each epoch. Copies of the DataLoader are looked at anew.
    """

    _NAME = "_batchscope_feed"

    def __init__(self, feeds: Feeds, dataloader: Any) -> None:
        self._feeds = feeds
        self._dataloader = weakref.ref(dataloader)
        self.loader, self.reason = feeds.look_at(dataloader)  # None if its size cannot be changed, and why it cannot
        if self.loader is not None:
            self.loader.feed = weakref.ref(self)
        self.trains = False  # a backward pass has followed a batch
        self.evaluates = False  # none has
        self.looked_at = 0  # batches without a backward pass since the last one with one
        self.is_ahead = False  # a batch is fetched before the one before it is used
        self.ahead: Any = None  # such a batch
        vars(dataloader)[self._NAME] = self

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of the DataLoader has none

    @classmethod
    def of(cls, dataloader: Any, feeds: Feeds) -> Feed:
        """The one that the DataLoader has, or a new one."""
        found = vars(dataloader).get(cls._NAME)
        if isinstance(found, cls) and found._feeds is feeds and found._dataloader() is dataloader:
            return found
        return cls(feeds, dataloader)


class FollowedLoader(Loader):
    """Gives the program of a DataLoader the batches that it would get from it, in the size that is asked for.

    A step takes as many batches as the program likes. On several ranks each has its own sampler, and all have the same
    size, so that they make the same number of steps.
    """

    can = ("batch", "rate", "trace")
    may_lead = False  # it is an evaluation's until it leads
    at_once = 1  # batches that are fetched together
    NOT_ALIKE: Any = object()  # in the place of a batch

    def __init__(self, run: Run, dataloader: Any) -> None:
        """Raises Unknown for a DataLoader whose batches are not known of."""
        ranks, run._ranks = run._ranks, None  # the sampler of this rank
        try:
            super().__init__(run, dataloader)
        finally:
            run._ranks = ranks
        self.count(self._of_sampler())
        self._given = self.given()
        self._kept_to = 0  # the largest size that fits, as it was said last
        self._newest: Any = None  # weak reference
        self.feed: Any = None  # weak reference, too
        self._begun = 0  # batches of the present pass
        # Of a pass. A program that is tried may count on the number that its loader names.
        own_length = os.environ.get("BATCHSCOPE_PASSES") == "own"
        self._longest = len(dataloader) if own_length else sys.maxsize
        self._asked = self._batch, self._accumulate  # what was asked for, which may have to wait
        self._again = Again() if os.environ.get("BATCHSCOPE_BATCHES") == "again" else None

    @property
    def dataloader(self) -> Any:
        """None as soon as neither the program nor a pass has it any more."""
        return self._dataloader()

    @dataloader.setter
    def dataloader(self, dataloader: Any) -> None:
        self._dataloader = weakref.ref(dataloader)

    def given(self) -> tuple[Any, ...]:
        """How the DataLoader makes its batches, as the program has it by now: by what, in which order, how large, and
        whether without an incomplete one.
        """
        batches = batch_sampler_of(self.dataloader)
        return batches, batches.sampler, batches.batch_size, batches.drop_last

    @property
    def is_altered(self) -> bool:
        """Whether that is not what it was."""
        return self.given() != self._given

    def _of_sampler(self) -> int:
        return len(self.sampler) * self._sharers

    def _order(self) -> Iterator[Any]:
        return iter(self.sampler)

    def total_of(self, takes: list[int]) -> int:
        return sum(takes) * self._sharers

    @property
    def accumulate(self) -> int:
        """Batches of a step, as the program has it."""
        return self._accumulate

    @accumulate.setter
    def accumulate(self, count: int) -> None:
        self._asked = self._asked[0], count
        parts = self._parts
        if count == self._accumulate or parts is None or (count == 1 and self.own_accumulate > 1):
            return  # 1 is said when nothing is asked for
        parts.want(self)
        if parts.is_ready:
            self._accumulate = self._clamped("accumulate", count, max(1, self.examples))
        elif parts.refused is not None:
            self._say_no_accumulation(parts.refused)

    def _say_no_accumulation(self, reason: Reason) -> None:
        asked, taken, parts = self._asked[1], self._accumulate, self._parts
        if parts is not None and asked != taken and (asked, reason.code) not in parts.said and self._run._rank == 0:
            parts.said.add((asked, reason.code))
            self._run.event("clamp", field="accumulate", asked=asked, taken=taken, reason=reason.message())

    def _fitting(self, size: int) -> int:
        self._asked = size, self._asked[1]
        taken, reason = within(self._run, size)
        if reason is not None and self._parts is not None:
            self._parts.want(self)
            if self._parts.is_ready:
                return size
            if self._parts.refused is not None:
                self._run._tell_once("parts", self._parts.refused)
        news = 10 * abs(taken - self._kept_to) > self._kept_to  # it is foretold anew before each size
        if reason is not None and news and self._run._rank == 0:
            self._run.event("clamp", field="batch", asked=size, taken=taken, reason=reason.message())
        if news or reason is None:
            self._kept_to = taken if reason is not None else 0
        return taken

    # ---- parts ----

    @property
    def may_cut(self) -> bool:  # type: ignore[override]
        """Whether examples may be taken out of the next batch."""
        loop = self._run._loop
        return loop is not None and loop.parts.wanted

    @property
    def leads_steps(self) -> bool:
        """Whether the steps have its examples, as far as is known."""
        return self._run._loader is self and self._run._loop is not None

    @property
    def _parts(self) -> Parts | None:
        """In which its batches are handed out, if the steps have its examples."""
        loop = self._run._loop
        return loop.parts if loop is not None and self.leads_steps else None

    def parts_allowed(self) -> None:
        """What was asked for is possible."""
        self._run._describe(can=("accumulate",))
        self.batch, self.accumulate = self._asked

    def parts_refused(self, reason: Reason | None) -> None:
        """It is not; without a reason it may be later."""
        asked, self._accumulate = self._asked, self.own_accumulate
        self._kept_to = 0
        self.batch = asked[0]
        if reason is not None:
            self._say_no_accumulation(reason)

    def open(self) -> None:
        super().open()
        self._begun = 0

    def begin_window(self) -> Window | None:
        if self._begun >= self._longest:
            self._end_epoch()
            return None
        self._begun += 1
        return super().begin_window()

    def next_alike(self) -> Any:
        """The next batch, if it is a whole one like the last, of a loop of which nothing is asked that would have to
        be looked at; else NOT_ALIKE, and it takes begin_window() and fetch_part(). Nearly all batches come from here,
        as each call that a step makes is felt: after some milliseconds of computing its code is in no cache.
        """
        run, size = self._run, self._batch
        if (
            size != self.last_size
            or size > self.examples - self.seen_in_epoch
            or self._unchanged < STEADY
            or self._window != (size, self._accumulate)
            or self._begun >= self._longest
            or run._loader is not self
            or run._probe is not None
            or run._ranks is not None
            or self.lead is not None
            or run._budget.bytes is not None
            or (run._account.on_gpu and self._unchanged % STEADY == 0)  # what is free there may have changed
        ):
            return self.NOT_ALIKE
        self._begun += 1
        self._unchanged += 1
        self._promised = 0
        self.seen += size
        self.seen_in_epoch += size
        self.last_total = size
        return self._fetch(size)[0]

    def _fetch(self, size: int) -> tuple[Any, Any]:
        again = self._again
        repeated = None if again is None else again.batch(size)
        if repeated is not None:
            return repeated
        part, examples = super()._fetch(size)
        if again is not None:
            again.saw(size, part, examples)
        return part, examples

    def _next_sizes(self) -> list[int]:
        parts = self._parts
        if parts is None:
            return self._with_tail(super()._next_sizes())
        foresight, limit = self._run._foresight, limit_of(self._run)
        if limit is not None and not foresight.has_made(self._batch, limit):
            self.batch = self._asked[0]  # the last steps have shown more
        asked = self._batch
        self.at_once = self._accumulate if parts.is_ready and self.own_accumulate == 1 else 1
        goes_up = limit is not None and self._run._probe is None
        self._batch = parts.size_to_watch(foresight.nearest(asked) if goes_up else asked)
        try:
            return self._with_tail(super()._next_sizes())
        finally:
            self._batch = asked

    def _with_tail(self, sizes: list[int]) -> list[int]:
        """Of a program that is tried with few batches: some of them are as small as the last of an epoch. Not of those
        whose allocations are listed, nor where another loader has batches of the same steps.
        """
        run, again = self._run, self._again
        if again is None or len(sizes) != 1 or run._probe is None or run._probe.lists:
            return sizes
        if any(other is not self and other.is_open for other in run._loaders):
            return sizes
        tail = 0 if self.drop_last else self.examples % self._batch
        return [again.size(sizes[0], tail, run._step)]

    def leads(self, parts: int) -> None:
        """The step that was made is one of this loader, of so many batches."""
        run = self._run
        run._fetched.add(id(self))
        if run._loader is not self:
            self.take_over()
        if parts != self.own_accumulate:
            self._accumulate = self.own_accumulate = parts
            self._window = self._window[0], parts
            run._describe(accumulate=parts)

    def take_over(self) -> None:
        """The steps have the examples of this loader from now on."""
        run, earlier = self._run, self._run._loader
        if earlier is not None and self.goes_on_from(earlier) and run._step and not self.seen:
            self.epoch, self.seen = earlier.epoch + bool(earlier.seen_in_epoch), earlier.seen
        self.may_lead = True
        run._lead(self)
        run._begin_training(run._step)
        self._describe()

    def goes_on_from(self, earlier: Sizes) -> bool:
        """Whether it takes the place of another one over the same examples, in each epoch for example."""
        same = getattr(earlier, "dataset", None) is self.dataset or earlier.examples == self.examples
        return same and earlier.own_batch == self.own_batch

    @property
    def newest(self) -> Pass | None:
        """The last pass that was opened, as long as the program has it."""
        return None if self._newest is None else self._newest()

    def has_begun(self) -> bool:
        """Whether no pass was opened that has had no batch yet: two at once cannot be followed."""
        return self.newest is None or self.newest.has_begun

    def begin_pass(self, loop: Loop, feed: Feed) -> Pass:
        """The batches of one pass."""
        if self.newest is not None:
            self.newest.leave()
        begun = Pass(self, self.dataloader, loop, feed)
        self._newest = weakref.ref(begun)
        return begun


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
            self._feed.loader, self._feed.reason = None, _ALTERED
        if self._rest is not None:
            return self._next_of_rest()
        loader, loop = self._loader, self._loop
        if loop.parts.wanted and loader.leads_steps:
            loop.parts.begin_batch(loader)
        loop.boundary()
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


class Feeds:
    """All DataLoaders of the process that were iterated over with gradients enabled."""

    def __init__(self, run: Run, loop: Loop) -> None:
        self._run = run
        self._loop = loop

    def pass_over(self, dataloader: Any, stock: Any) -> Any:
        """An iterator in the place of that which `stock(dataloader)` makes."""
        if self._loop.parts.is_ready and not self._loop.parts.holds:
            self._loop.boundary()  # a step that was made when the pass before was left is one of its loader
        if not self._run._account.models:  # before the first step, as its memory is that beyond what is in use now
            self._run._know_all_modules(early=True)
        feed = Feed.of(dataloader, self)
        if feed.evaluates:
            return stock(dataloader)
        loader = feed.loader
        if loader is None:
            return WatchedPass(self._run, self._loop, feed, stock(self._in_first_size(dataloader, feed)))
        reason = _ALTERED if loader.is_altered else None if loader.has_begun() else _TWO_PASSES
        if reason is not None:
            feed.loader, feed.reason = None, reason
            return WatchedPass(self._run, self._loop, feed, stock(dataloader))
        self._lead(loader, feed)
        return loader.begin_pass(self._loop, feed)

    def look_at(self, dataloader: Any) -> tuple[FollowedLoader | None, Reason | None]:
        """What gives its batches; or why their size cannot be changed."""
        from torch.utils.data import DataLoader

        kind: Any = type(dataloader)
        if kind._get_iterator is not DataLoader._get_iterator:
            text = f"{kind.__name__} has iterators of its own"
            return None, Reason("own-loader", text, {"class": kind.__name__})
        try:
            reason = self._join_ranks(dataloader)
            return (None, reason) if reason is not None else (FollowedLoader(self._run, dataloader), None)
        except Unknown as unknown:
            return None, unknown.reason

    def _join_ranks(self, dataloader: Any) -> Reason | None:
        """Why the ranks of this training cannot be steered; None if they can, or there is one."""
        from torch import distributed
        from torch.utils.data.distributed import DistributedSampler

        run = self._run
        begun = distributed.is_available() and distributed.is_initialized()
        if (distributed.get_world_size() if begun else run._world) == 1:
            return None
        if type(getattr(dataloader, "sampler", None)) is not DistributedSampler:
            what = "its DataLoader has no DistributedSampler"
            return Reason("several-ranks", what, {"what": what})
        if not distributed_models():
            what = "its ranks have no DistributedDataParallel model"
            return Reason("several-ranks", what, {"what": what})
        return run._join_ranks()

    def _in_first_size(self, dataloader: Any, feed: Feed) -> Any:
        """Batches of an iterable data set have the size that is told before they begin."""
        reason, run = feed.reason, self._run
        if reason is None or reason.code != "iterable-dataset" or getattr(dataloader, "batch_size", None) is None:
            return dataloader
        run._describe(can=("first batch",), batch=dataloader.batch_size)
        run._greet(wait=True)
        size = run._told_size.get("batch")
        return dataloader if not isinstance(size, int) else with_size(dataloader, size)

    def _lead(self, loader: FollowedLoader, feed: Feed) -> None:
        """Who leads is known with the first step; until then it is the newest loader, unless both begin at once. A
        loader that comes later over other examples, which may be those of an evaluation, leads from its first step on.
        """
        run = self._run
        present = run._loader
        if present is loader:
            return
        # One that is opened in the middle of a pass may be that of an evaluation.
        loader.goes_along = feed.trains or not isinstance(present, FollowedLoader) or not present.has_begun()
        if self._leads(present):
            return
        if self._loop.has_stepped and not feed.trains and present is not None and not loader.goes_on_from(present):
            return
        before_first = run._waited and not self._loop.has_stepped
        loader.take_over()
        if before_first:  # the answer was one for another loader
            loader.batch, run._told_size, run._waited = loader.own_batch, {}, False

    def _leads(self, present: Any) -> bool:
        """Whether a loader that has begun goes on leading when another one begins."""
        if not isinstance(present, FollowedLoader) or not present.is_open:
            return False
        if present.newest is None:
            return False
        feed = present.feed()
        return not present.has_begun() or (feed is not None and feed.trains)


_ALTERED = Reason(
    "own-batch-sampler",
    "a batch sampler that the program changes makes batches of its own",
    {"class": "a batch sampler that the program changes"},
)
_TWO_PASSES = Reason("two-passes", "two passes over its DataLoader run at the same time")
