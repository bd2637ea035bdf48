# SPDX-License-Identifier: MIT
"""Follows the updates of the training's optimizers, and scales their learning rates."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any


class _PutBack(dict[str, Any]):
    """The keyword arguments of a step(); calls a function when the step is over, even by an exception.

    torch has hooks before and after a step, of which the second is not called if the step raises. Its arguments live as
    long as the call.
    """

    def __init__(self, arguments: dict[str, Any], function: Callable[[], None]) -> None:
        super().__init__(arguments)
        self._function = function

    def __del__(self) -> None:
        self._function()


class _Update:
    """The present or last update of an optimizer."""

    def __init__(self) -> None:
        self.runs = False
        self.count = 0  # of them
        self.rate: Any = None  # of the first group
        self.own_rates: list[Any] | None = None  # of all groups, while they have others


class Updates:
    """The optimizers of a training. `begins` and `ends` are called around each update."""

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self._begins = begins
        self._ends = ends
        self._made: Any = weakref.WeakKeyDictionary()  # _Update of each optimizer
        self._last_made = _Update()  # of the last one
        self._wanted: tuple[Callable[[Any], bool], Callable[[Any], None]] | None = None  # optimizers to be known
        self.is_told = False  # look_at() is called with each update of any optimizer
        self.last: Any = None  # optimizer that was known or stepped
        self.rate_factor = 1.0  # on the rates of all of them, while they step

    def wait_for(self, is_ours: Callable[[Any], bool], know: Callable[[Any], None]) -> None:
        """Lets an optimizer be known from its first update on, if it is one of this training."""
        waits, self._wanted = self._wanted is not None or self.is_told, (is_ours, know)
        if waits:
            return
        with contextlib.suppress(ImportError):  # before torch 2.0 an optimizer has to be named
            from torch.optim.optimizer import register_optimizer_step_pre_hook

            register_optimizer_step_pre_hook(lambda optimizer, *_: self.look_at(optimizer))

    def look_at(self, optimizer: Any) -> None:
        """An optimizer begins an update."""
        if self._wanted is None or optimizer in self._made:
            return
        is_ours, know = self._wanted
        if is_ours(optimizer):
            know(optimizer)

    def know(self, optimizer: Any) -> bool:
        """Follows an optimizer, or the one in a wrapper. Whether it is another one than the last."""
        optimizer = unwrapped(optimizer)
        if optimizer is self.last or not hasattr(optimizer, "register_step_pre_hook"):
            return False
        self.last = optimizer
        if optimizer not in self._made:
            self._made[optimizer] = _Update()
            optimizer.register_step_pre_hook(self._before(optimizer, self._made[optimizer]))
        self._last_made = self._made[optimizer]
        return True

    def _before(self, optimizer: Any, update: _Update) -> Callable[..., Any]:
        owner = weakref.ref(optimizer)

        def put_back() -> None:
            if not update.runs:
                return
            update.runs = False
            if update.own_rates is not None:
                found = owner()
                for group, rate in zip([] if found is None else found.param_groups, update.own_rates):
                    group["lr"] = rate
                update.own_rates = None
            self._ends()

        def before(stepped: Any, args: Any, kwargs: Any) -> Any:
            if update.runs:  # a step() that calls its base class's comes by here twice
                return None
            update.runs = True
            update.count += 1
            if self.rate_factor != 1.0:
                update.own_rates = [group["lr"] for group in stepped.param_groups]
                for group, rate in zip(stepped.param_groups, update.own_rates):
                    group["lr"] = rate * self.rate_factor
            update.rate = stepped.param_groups[0]["lr"] if stepped.param_groups else None
            self._begins()
            return args, _PutBack(kwargs, put_back)

        return before

    def made_by(self, optimizer: Any) -> int:
        """Updates of an optimizer, from the first one on that was followed."""
        made = None if optimizer is None else self._made.get(optimizer)
        return 0 if made is None else made.count

    def rate_of(self, optimizer: Any) -> Any:
        """The learning rate of an optimizer's first group in its last update; None if there was none."""
        made = self._last_made if optimizer is self.last else self._made.get(optimizer)
        return None if made is None else made.rate

    @property
    def rate(self) -> Any:
        """The learning rate of the last optimizer's first group in its last update; None if there is none."""
        if self.last is None or not self.last.param_groups:
            return None
        if self._last_made.rate is not None:  # the one that it has now may be that of the next update
            return self._last_made.rate
        return self.last.param_groups[0]["lr"] * self.rate_factor


def unwrapped(optimizer: Any) -> Any:
    """The optimizer of torch in those of frameworks."""
    while not hasattr(optimizer, "register_step_pre_hook") and hasattr(optimizer, "optimizer"):
        optimizer = optimizer.optimizer
    inner = getattr(optimizer, "optimizer", None)  # accelerate's wrapper is an Optimizer itself
    return inner if inner is not None and hasattr(inner, "register_step_pre_hook") else optimizer
