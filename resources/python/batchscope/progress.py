# SPDX-License-Identifier: MIT
"""How far a training is: in steps of the program's own size, and in passes over its examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .schedulers import OUTSIDE

if TYPE_CHECKING:
    from .run import Run
    from .sizes import Sizes


class Progress:
    """Of all loaders of a training together, one after the other or in turns."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._own_steps = 0  # of the steps that are over
        self._steps = self._of_pass = 0  # that are over, and those of the pass of the last one
        self._pass: tuple[int, int] | None = None  # which
        self._before = 0.0  # passes over examples that were of another number
        self._since = 0  # examples seen since
        self._whole = 1  # examples of a pass

    def count_step(self, loader: Sizes) -> None:
        """A step of this loader is over."""
        own = loader.own_steps()
        self._own_steps += own - loader.own_counted
        loader.own_counted = own
        present = id(loader), loader._stepped[0]
        self._of_pass = self._of_pass + 1 if present == self._pass else 1
        self._pass = present
        self._steps += 1

    def epochs(self, examples: int, whole: int) -> float:
        """Passes after so many more examples of a pass of so many."""
        if whole != self._whole:
            self._before += self._since / self._whole
            self._since, self._whole = 0, whole
        self._since += examples
        return self._before + self._since / self._whole

    # ---- for schedulers ----

    def own_steps_before(self) -> int:
        """Steps of the program's own size that the examples seen amount to, after the last step that is over."""
        return self._own_steps

    def own_steps(self) -> int:
        """The same with the step that is being made."""
        loader = self._loader()
        return self._own_steps if loader is None else self._own_steps + loader.own_steps() - loader.own_counted

    def steps_before(self) -> int:
        """Steps of the training that are over."""
        return self._steps

    def steps(self) -> int:
        """The same with the one that is being made."""
        return self._steps + self._is_made()

    def steps_of_pass(self) -> int:
        """Of the present pass, with the one that is being made."""
        loader = self._loader()
        goes_on = loader is not None and self._pass == (id(loader), loader.epoch)
        return (self._of_pass if goes_on else 0) + self._is_made()

    def _is_made(self) -> bool:
        """Whether an update was made of a step that is not over."""
        loop, loader = self._run._loop, self._run._loader
        if loop is not None:
            return loop.is_updated
        return loader is not None and loader.seen > loader._stepped[1]

    def updates_of(self, optimizer: Any) -> int:
        """That this one has made so far."""
        return self._run._updates.made_by(optimizer)

    def place(self) -> str:
        """Where the program is in a pass: INSIDE, LAST or OUTSIDE."""
        loader = self._loader()
        return OUTSIDE if loader is None else loader.place()

    def _loader(self) -> Sizes | None:
        """Of the step that is being made."""
        loop = self._run._loop
        return self._run._loader if loop is None else loop.present_loader()
