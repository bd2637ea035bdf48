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
    """After how many steps of the training a scheduler is stepped: nearly always after each."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()  # steps between calls
        self._last = 1

    def called(self, steps: int, of_pass: int) -> None:
        """A call, so many steps after the one before; `of_pass` of them are of the present pass, and counted by a
        program that counts anew in each.
        """
        if steps <= of_pass:
            self._seen[steps] += 2
        else:
            self._seen[steps] += 1
            self._seen[of_pass] += 1
        self._last = min(steps, of_pass)

    @property
    def steps(self) -> int:
        """Between two calls."""
        return max(self._seen, key=lambda n: (self._seen[n], n == self._last), default=1)


class _Follower:
    """What is done in the place of a scheduler's step()."""

    def __init__(self, scheduler: Any, progress: Progress, told: Callable[[str], None], is_called: bool) -> None:
        """`is_called`: for the first time since it was followed, and taken to be as old as its optimizer."""
        self._name = type(scheduler).__name__
        self._scheduler = weakref.ref(scheduler)
        self._most: int | None = getattr(scheduler, "total_steps", None)  # OneCycleLR raises an error beyond
        self._progress = progress
        self._told = told
        self._done = calls_of(scheduler)
        self._due = Fraction(self._done)
        self._own, self._steps = progress.own_steps_before(), progress.steps_before()  # at the last call
        updates = progress.updates_of(scheduler.optimizer)
        if is_called:
            self._steps = max(0, progress.steps() - updates)
        elif self._done == updates + 1:  # a program may step it before each update
            self._own += 1
        self._share = Fraction(0)  # what each call after the last update amounts to
        self._rhythm = _Rhythm()
        self._by_updates = False

    def step(self, stock: Callable[..., None], place: str, args: Any, kwargs: Any) -> None:
        """The program calls step()."""
        if args or kwargs:  # it says itself where its schedule is
            stock(*args, **kwargs)
            return
        if self._progress.updates_of(getattr(self._scheduler(), "optimizer", None)) == 0:
            stock()  # before the first one; or they are not known of
            self._done += 1
            return
        own, steps = self._progress.own_steps(), self._progress.steps()
        made, self._steps = steps - self._steps, steps
        # A program that steps it once an epoch does so after its pass, or with its last batch.
        if not self._by_updates and (place == INSIDE or (place == LAST and made == 1)):
            self._by_updates = True
            self._told(self._name)
        if not self._by_updates:
            stock()
            self._done += 1
            self._due, self._own = Fraction(self._done), own
            return
        if made > 0:
            self._share = self._share_of(made, own)
            self._own = own
        self._due += self._share
        while self._done < int(self._due) and (self._most is None or self._done < self._most):
            stock()
            self._done += 1

    def _share_of(self, made: int, own: int) -> Fraction:
        """Of own steps in a call after so many steps of the training. Those in which it could have been called and was
        not, because its turn had not come, are no part of its schedule.
        """
        self._rhythm.called(made, max(1, self._progress.steps_of_pass()))
        each = self._rhythm.steps
        if made < 2 * each:
            return Fraction(own - self._own, each)
        if each == 1:
            return Fraction(own - self._progress.own_steps_before())
        return Fraction(own - self._own, made)


def calls_of(scheduler: Any) -> int:
    """Of its step() so far, but the first one, by which it was made. ChainedScheduler does not count them."""
    steps = getattr(scheduler, "_step_count", None) or getattr(scheduler, "last_epoch", 0) + 1
    return max(0, int(steps) - 1)


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

    @property
    def is_stepping(self) -> bool:
        """Whether a scheduler computes its rate."""
        return bool(self._inside)

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
                if issubclass(type(item), LRScheduler) and hasattr(item, "optimizer"):
                    self._followers[item] = _Follower(item, self._progress, self._told, is_called=False)

    def _see_steps_of(self, kind: Any) -> None:
        """Of all schedulers of this kind: an attribute of one of them would be saved with its state."""
        stock = kind.step

        @functools.wraps(stock)
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            follower = self._followers.get(scheduler)
            counts = getattr(scheduler, "_step_count", None)
            if self._inside or (follower is None and counts == 0) or not hasattr(scheduler, "optimizer"):
                stock(scheduler, *args, **kwargs)  # of another one; or it is being made
                if not self._inside and counts == 0 == scheduler._step_count:  # it never counts
                    self._followers[scheduler] = _Follower(scheduler, self._progress, self._told, is_called=False)
                return
            if follower is None:  # it is younger than the change
                follower = self._followers[scheduler] = _Follower(scheduler, self._progress, self._told, is_called=True)

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
