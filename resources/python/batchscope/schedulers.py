# SPDX-License-Identifier: MIT
"""Lets learning-rate schedulers that count steps follow the progress of a training whose batch size changes."""

from __future__ import annotations

import functools
import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .progress import Progress

INSIDE, LAST, OUTSIDE = "inside", "last", "outside"  # of a pass over the examples, with its last batch, of none


class _Rhythm:
    """How many calls a scheduler gets for how many updates: nearly always one for one."""

    def __init__(self, calls: int, updates: int) -> None:
        """What was seen before: so many calls, of which nothing else is known."""
        self._calls: Counter[int] = Counter()  # together, with no update between them
        self._updates: Counter[int] = Counter([updates // calls] if 0 < calls <= updates else [])  # between calls
        self._together = 0

    def called(self, updates: int) -> None:
        """A call, with so many updates since the one before."""
        if updates == 0:
            self._together += 1
            return
        if self._together:
            self._calls[self._together] += 1
        self._updates[updates] += 1
        self._together = 1

    @property
    def calls_each(self) -> Fraction:
        """Calls after one update."""
        calls, updates = (max(seen, key=lambda n: (seen[n], -n), default=1) for seen in (self._calls, self._updates))
        return Fraction(calls, updates)


class _Follower:
    """What is done in the place of a scheduler's step()."""

    def __init__(self, scheduler: Any, progress: Progress, updates: int, told: Callable[[str], None]) -> None:
        """`updates`: that its optimizer has made since the scheduler was made."""
        self._name = type(scheduler).__name__
        self._scheduler = weakref.ref(scheduler)
        self._most: int | None = getattr(scheduler, "total_steps", None)  # OneCycleLR raises an error beyond
        self._progress = progress
        self._told = told
        steps = getattr(scheduler, "_step_count", None)  # ChainedScheduler has neither
        self._done = self._first = max(0, getattr(scheduler, "last_epoch", 0) if steps is None else steps - 1)
        self._updates = updates  # of its optimizer, at the last call
        # Own steps when it was stepped so often. A program may step it before each update.
        self._since = progress.own_steps_before() + (self._done == updates + 1)
        self._rhythm = _Rhythm(self._done, self._updates)
        self._by_updates = False

    def _made(self) -> int:
        return self._progress.updates_of(getattr(self._scheduler(), "optimizer", None))

    def step(self, stock: Callable[..., None], place: str, args: Any, kwargs: Any) -> None:
        """The program calls step()."""
        if args or kwargs:  # it says itself where its schedule is
            stock(*args, **kwargs)
            return
        before, self._updates = self._updates, self._made()
        if self._updates == 0:  # before the first one; or they are not known of
            stock()
            self._done += 1
            return
        made = self._updates - before
        self._rhythm.called(made)
        own = self._progress.own_steps()
        # A program that steps it once an epoch does so after its pass, or with its last batch.
        if not self._by_updates and (place == INSIDE or (place == LAST and made == 1)):
            self._by_updates = True
            self._told(self._name)
        if not self._by_updates:
            stock()
            self._first = self._done = self._done + 1
            self._since = own
            return
        due = self._first + int(self._rhythm.calls_each * (own - self._since))
        while self._done < due and (self._most is None or self._done < self._most):
            stock()
            self._done += 1


class Schedulers:
    """Schedulers of a training's optimizers, from the first change of its size on.

    A scheduler that is stepped after each update was made for a number of steps of the program's own size. From then on
    it is stepped as often as such steps would have been made for the examples that were seen: several times after a
    larger batch, not at all after some of the smaller ones. One that is stepped once an epoch stays as it is, and so do
    those of optimizers that are not followed.

    `told` is called with the name of a scheduler that follows.
    """

    def __init__(self, progress: Progress, told: Callable[[str], None]) -> None:
        self._progress = progress
        self._told = told
        self._followers: Any = weakref.WeakKeyDictionary()  # of the schedulers
        self._kinds: set[Any] = set()  # whose step() comes by here
        self._inside: list[Any] = []  # those whose own step() is called, and which may call those of others
        self.hold: Callable[[Callable[[], None]], bool] | None = None  # whether a call is held back, for later

    @property
    def follows(self) -> bool:
        """Whether a size has changed."""
        return bool(self._kinds)

    def follow(self) -> None:
        """From now on all schedulers are followed, whenever they are made."""
        from torch.optim.lr_scheduler import LRScheduler

        first = not self.follows
        for kind in (LRScheduler, *_derived_from(LRScheduler)):
            if "step" in vars(kind) and kind not in self._kinds:
                self._kinds.add(kind)
                self._see_steps_of(kind)
        if first:  # it takes 0.1 s in a large program
            for item in gc.get_objects():
                if issubclass(type(item), LRScheduler):
                    self._know(item, self._progress.updates_of(getattr(item, "optimizer", None)))

    def _know(self, scheduler: Any, updates: int) -> _Follower:
        follower = self._followers[scheduler] = _Follower(scheduler, self._progress, updates, self._told)
        return follower

    def _see_steps_of(self, kind: Any) -> None:
        """Of all schedulers of this kind: an attribute of one of them would be saved with its state."""
        stock = kind.step

        @functools.wraps(stock)
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            being_made = getattr(scheduler, "_step_count", None) == 0
            if self._inside or being_made:
                stock(scheduler, *args, **kwargs)
                return
            follower = self._followers.get(scheduler)
            if follower is None:  # it is younger than the change
                follower = self._know(scheduler, 0)

            def once(*args: Any, **kwargs: Any) -> None:
                self._inside.append(scheduler)
                try:
                    stock(scheduler, *args, **kwargs)
                finally:
                    self._inside.pop()

            place = self._progress.place()

            def call() -> None:
                follower.step(once, place, args, kwargs)

            if self.hold is None or not self.hold(call):
                call()

        kind.step = step


def _derived_from(kind: Any) -> Iterator[Any]:
    """All classes derived from this one."""
    for below in kind.__subclasses__():
        yield below
        yield from _derived_from(below)
