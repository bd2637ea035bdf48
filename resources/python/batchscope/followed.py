# SPDX-License-Identifier: MIT
"""The DataLoaders of a program that knows nothing of BatchScope, with batches whose size may change."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .again import Again
from .division import batch_sampler_of
from .foresight import limit_of, within
from .loader import Loader
from .pass_sizes import PassSizes
from .passes import Pass
from .reasons import Reason
from .schedulers import INSIDE, LAST, OUTSIDE
from .sizes import STEADY, Sizes
from .window import Window

if TYPE_CHECKING:
    from .feeds import Feed
    from .in_parts import Parts
    from .loop import Loop
    from .run import Run


class FollowedLoader(Loader):
    """Gives the program of a DataLoader the batches that it would get from it, in the size that is asked for.

    A step takes as many batches as the program likes. On several ranks each has its own sampler, and all have the same
    size, so that they make the same number of steps.
    """

    can = ("batch", "rate", "trace")
    may_lead = False  # it is an evaluation's until it leads
    has_led = False  # its batch was the first one of a step
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
        # Of a pass. A program that is tried may count on the number that its loader names.
        own_length = os.environ.get("BATCHSCOPE_PASSES") == "own"
        self._longest = len(dataloader) if own_length else sys.maxsize
        self._asked = self._batch, self._accumulate  # what was asked for, which may have to wait
        self._sizes = PassSizes()
        self._described = {1}  # the program's own accumulations, which BatchScope repeats when nothing else is asked
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
        repeated = count in self._described and max(count, self.own_accumulate) > 1
        if count == self._accumulate or parts is None or repeated:
            return
        if not parts.has_room(self._batch):
            self._say_no_accumulation(_NO_ROOM)
            return
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
        if reason is not None and self._parts is not None and self._parts.has_room(size):
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

    def begin_window(self) -> Window | None:
        if self._batches >= self._longest:
            self._end_epoch()
            return None
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
            or self._batches >= self._longest
            or run._loader is not self
            or run._probe is not None
            or run._ranks is not None
            or self.lead is not None
            or run._budget.bytes is not None
            or (run._account.on_gpu and self._unchanged % STEADY == 0)  # what is free there may have changed
        ):
            return self.NOT_ALIKE
        self._batches += 1
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

    def leads(self, batches: int, spans: bool) -> None:
        """The step that was made is one of this loader, of so many batches; `spans`: of more than one pass."""
        run = self._run
        run._fetched.add(id(self))
        self.has_led = True
        if run._loader is not self:
            self.take_over()
        self.makes_steps_of(batches, spans)

    def makes_steps_of(self, batches: int, spans: bool) -> None:
        """The program accumulates the gradients of so many. The last step of a pass may have fewer."""
        self.spans = self.spans or spans
        of_tail = batches < self.own_accumulate and (self.through or not self._is_under_way)
        if batches == self.own_accumulate or of_tail:
            return
        self.accumulates(batches)
        self._accumulate = batches
        self._window = self._window[0], batches
        self._described.add(batches)
        self._run._describe(accumulate=batches)

    def trained_again(self, batches: int, rows: list[int]) -> list[int]:
        """A step has no new batches: it takes those of the step before, of so many rows, or if its pass is over, those
        that the program has kept of it. Returns their sizes.
        """
        if not self.is_open:
            rows = self._sizes.again(batches) or rows
            self._run._tell_once("kept", _KEPT)
        self._own_before += Fraction(sum(rows), self.own_batch * self.own_accumulate)
        return rows

    def _took(self, sizes: list[int]) -> None:
        self._sizes.took(self._batches, sizes[0])
        super()._took(sizes)

    def _end_epoch(self) -> None:
        self._sizes.end(self._batches)
        super()._end_epoch()

    @property
    def _is_under_way(self) -> bool:
        """Whether a program has a pass that has begun and is not over."""
        newest = self.newest
        return self.is_open and newest is not None and newest.has_begun

    def place(self) -> str:
        """Where the program is in a pass."""
        return OUTSIDE if not self._is_under_way else LAST if self.through else INSIDE

    def batches_of_pass(self) -> int | None:
        """Of the present pass, as its sizes were and are; None if there is no such pass."""
        if not self._is_under_way:
            return None
        return self._batches + self._micro_batches(self.examples - self.seen_in_epoch)

    def _begin_pass(self) -> None:
        feed, loop = None if self.feed is None else self.feed(), self._run._loop
        if loop is not None and loop.accumulates_from(feed):
            self._pass = None  # its batches are those of a step that goes on
        super()._begin_pass()

    def _series(self, takes: list[int]) -> dict[str, Any]:
        """What was seen is counted by steps: passes may be left early, be of several loaders, or be kept."""
        total, series = self.total_of(takes), super()._series(takes)
        series["examples_seen"] = self._run._examples + total
        series["epoch"] = self._run._progress.epochs(total, max(1, self.examples))
        return series

    def take_over(self) -> None:
        """The steps have the examples of this loader from now on."""
        run, earlier = self._run, self._run._loader
        if earlier is not None and self.goes_on_from(earlier) and run._step and not self.seen:
            self.epoch, self.seen = earlier.epoch + bool(earlier.seen_in_epoch), earlier.seen
        if isinstance(earlier, FollowedLoader):
            self._described |= earlier._described
            self._kept_to = earlier._kept_to
        self.may_lead = True
        run._lead(self)
        run._begin_training(run._step)
        if not (isinstance(earlier, FollowedLoader) and earlier.is_open and run._step):  # else they take turns
            self._describe()

    def is_asked_first(self) -> None:
        """The first batch of the training is one of this loader, though another one was opened before it: that one goes
        along, as in zip(a, itertools.cycle(b)).
        """
        other = self._run._loader
        if other is self or not isinstance(other, FollowedLoader) or not other.is_open or other.has_begun():
            return
        self.take_over()
        other.may_lead = False
        self._run._opened(other)

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


_NO_ROOM = Reason("no-room-for-parts", "there is no room for a part beside the gradients of another one")
_KEPT = Reason(
    "kept-batches",
    "the program keeps its batches and trains on them again (itertools.cycle, a list): no other size is possible then",
)
