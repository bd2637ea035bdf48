# SPDX-License-Identifier: MIT
"""Lets learning-rate schedulers that count steps follow the progress of a training whose batch size changes."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

_UPDATES_TO_SEE = 2  # updates, after which it is seen how often a scheduler is stepped


class Schedulers:
    """Schedulers of a training's optimizers, from the first change of its size on.

    A scheduler that is stepped after each update was made for a number of steps of the program's own size. From then on
    it is stepped as often as such steps would have been made for the examples that were seen: several times after a
    larger batch, not at all after some of the smaller ones. One that is stepped once an epoch stays as it is.

    `own_steps` tells how many steps of the program's own size the examples seen so far amount to, `epochs` how many
    passes are completed, `through` whether this one is over; `told` is called with the name of a scheduler that
    follows.
    """

    def __init__(
        self,
        own_steps: Callable[[], int],
        epochs: Callable[[], int],
        through: Callable[[], bool],
        told: Callable[[str], None],
    ) -> None:
        self._own_steps = own_steps
        self._epochs = epochs
        self._through = through
        self._told = told
        self._followed: Any = weakref.WeakKeyDictionary()  # what is done in the place of their step()
        self._kinds: set[Any] = set()  # whose step() comes by here
        self._inside: Any = weakref.WeakSet()  # those whose own step() is called
        self._looked: tuple[int, int] | None = None  # the optimizers and passes there were
        self.updates = 0  # made so far
        self.hold: Callable[[Callable[[], None]], bool] | None = None  # whether a call is held back, for later

    def follow(self, optimizers: list[Any]) -> None:
        """Looks for the schedulers of these optimizers, and follows those that are not followed yet. As that takes
        0.1 s in a large program, it is done at the first call, for another optimizer, and once an epoch.
        """
        present = len(optimizers), self._epochs()
        if present == self._looked:
            return
        self._looked = present
        from torch.optim.lr_scheduler import LRScheduler

        every = [item for item in gc.get_objects() if issubclass(type(item), LRScheduler)]
        inner = {id(part) for item in every for part in getattr(item, "_schedulers", ())}
        ours = {id(optimizer) for optimizer in optimizers}
        for item in every:
            if id(getattr(item, "optimizer", None)) in ours and id(item) not in inner and item not in self._followed:
                self._see_steps_of(type(item))
                self._followed[item] = self._step_of(item)

    def _see_steps_of(self, kind: Any) -> None:
        """Of all schedulers of this kind: an attribute of one of them would be saved with its state."""
        kind = next(base for base in kind.__mro__ if "step" in vars(base))
        if kind in self._kinds:
            return
        self._kinds.add(kind)
        stock, inside = kind.step, self._inside

        @functools.wraps(stock)
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            follower = self._followed.get(scheduler)
            if follower is None or scheduler in inside:
                stock(scheduler, *args, **kwargs)
                return

            def once(*args: Any, **kwargs: Any) -> None:
                inside.add(scheduler)
                try:
                    stock(scheduler, *args, **kwargs)
                finally:
                    inside.discard(scheduler)

            follower(once, *args, **kwargs)

        kind.step = step

    def _step_of(self, scheduler: Any) -> Callable[..., None]:
        """In the place of its step(), which is the first argument."""
        name = type(scheduler).__name__
        done = max(0, getattr(scheduler, "_step_count", scheduler.last_epoch + 1) - 1)
        state = {"done": done, "known": self.updates > _UPDATES_TO_SEE, "by_updates": done > self._epochs()}
        often = _calls_after_an_update(done, self.updates) if self.updates > _UPDATES_TO_SEE else 1.0

        def step(stock: Callable[..., None], *args: Any, **kwargs: Any) -> None:
            if self.hold is not None and self.hold(lambda: step(stock, *args, **kwargs)):
                return
            if not state["known"] and not args and not kwargs:
                state["by_updates"], state["known"] = not self._through(), True
                if state["by_updates"]:
                    self._told(name)
            if args or kwargs or not state["by_updates"]:
                stock(*args, **kwargs)
                return
            while state["done"] < int(often * self._own_steps()):
                stock()
                state["done"] += 1

        if state["known"] and state["by_updates"]:
            self._told(name)
        return step


def _calls_after_an_update(calls: int, updates: int) -> float:
    """A whole number, or one part of a whole: a scheduler may be stepped after every other update only."""
    if calls >= updates - 1:
        return float(max(1, round(calls / updates)))
    return 1.0 / max(1, updates // max(1, calls))
