# SPDX-License-Identifier: MIT
"""TrainingArguments that show a Trainer's own loop other values than everybody else."""

from __future__ import annotations

import copyreg
import inspect
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

_LOOPS = ("_inner_training_loop", "_run_epoch")
_SKIPS = ("_init_training_state",)  # where the loop looks whether to skip batches after a resume


class LoopArguments:
    """While it is entered, the Trainer's loop reads an accumulation of 1 (a window is one training_step) and that it
    has not to skip batches; callbacks, the program and checkpoints read what they would read without BatchScope, with
    the accumulation of the plan.

    Who reads is seen by the code that asks: the loop reads these fields of the same object as everybody else, and has
    no method in between that could be replaced.
    """

    def __init__(self, trainer: Any, accumulate: Callable[[], int | None]) -> None:
        self._trainer = trainer
        self._accumulate = accumulate
        self._stock: Any = None  # the class of the arguments
        self._codes = _codes_of(trainer, _LOOPS)
        self._skipping = self._codes | _codes_of(trainer, _SKIPS)

    def is_asking(self, depth: int = 2) -> bool:
        """Whether the loop is the caller of the caller."""
        return sys._getframe(depth).f_code in self._codes

    def enter(self) -> None:
        """From now on the loop reads other values."""
        args = self._trainer.args
        if self._stock is None:
            self._stock = type(args)
            args.__class__ = self._class_of(self._stock)

    def leave(self) -> None:
        """The arguments are again what they were."""
        if self._stock is not None:
            self._trainer.args.__class__ = self._stock
            self._stock = None

    def _class_of(self, stock: Any) -> Any:
        loop = self

        def accumulation(args: Any) -> Any:
            if sys._getframe(1).f_code in loop._codes:
                return 1
            planned = loop._accumulate()
            return vars(args)["gradient_accumulation_steps"] if planned is None else planned

        def skips(args: Any) -> Any:
            return sys._getframe(1).f_code in loop._skipping or vars(args)["ignore_data_skip"]

        def setter(name: str) -> Callable[[Any, Any], None]:
            return lambda args, value: vars(args).__setitem__(name, value)

        def reduced(args: Any, protocol: Any) -> Any:
            return copyreg._reconstructor, (stock, object, None), dict(vars(args))  # type: ignore[attr-defined]

        own = {
            "gradient_accumulation_steps": property(accumulation, setter("gradient_accumulation_steps")),
            "ignore_data_skip": property(skips, setter("ignore_data_skip")),
            "__reduce_ex__": reduced,
            "__module__": stock.__module__,
            "__qualname__": stock.__qualname__,
            "__doc__": stock.__doc__,
        }
        return type(stock.__name__, (stock,), own)


def _codes_of(trainer: Any, names: tuple[str, ...]) -> frozenset[CodeType]:
    methods = [inspect.unwrap(getattr(type(trainer), name)) for name in names if hasattr(type(trainer), name)]
    return frozenset(method.__code__ for method in methods if hasattr(method, "__code__"))
