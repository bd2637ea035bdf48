# SPDX-License-Identifier: MIT
"""What a Lightning module logs in a training step that is run in pieces: the means over all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .lightning import Lightning
    from .run import Run


class Logs:
    """Stands for the `log` of a module while it is fitted."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._hook: Any = None
        self._stock: Any = None
        self._silent = False
        self._number = -1  # of the micro batch that is run
        self._seen: list[tuple[str, Any, float, tuple[Any, ...], dict[str, Any]]] = []
        self._told = False

    def attach(self, hook: Lightning, module: Any) -> None:
        """Takes the place of a module's `log`, until the hook puts it back."""
        self._hook = hook
        self._stock = hook.replace(module, "log", self._log)

    def leave(self) -> None:
        """The training is over."""
        self.forget()

    @contextlib.contextmanager
    def silenced(self) -> Iterator[None]:
        """Nothing is logged meanwhile."""
        before, self._silent = self._silent, True
        try:
            yield
        finally:
            self._silent = before

    def forget(self) -> None:
        """What was logged in pieces of a micro batch does not count."""
        self._seen.clear()
        self._number = -1

    def begin(self, number: int) -> None:
        """A micro batch, or a piece of it, is run next."""
        if number != self._number:
            self.forget()
        self._number = number

    def end(self) -> None:
        """All pieces of a micro batch have been run: their means are logged."""
        module = self._hook.trainer.lightning_module
        before, module._current_fx_name = module._current_fx_name, "training_step"
        for name, mean, size, args, kwargs in _joined(self._seen):
            self._stock(name, mean, *args, **{"batch_size": int(size), **kwargs})
        module._current_fx_name = before
        self.forget()

    def _log(self, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        if self._silent:
            return
        in_step = self._hook.trainer.lightning_module._current_fx_name == "training_step"
        if in_step and kwargs.get("sync_dist") and self._run._ranks is not None:
            kwargs["sync_dist"] = False  # a mean would wait for ever where one rank runs more pieces than another
            if not self._told and self._run._rank == 0:
                self._told = True
                self._run.event("lint", text="self.log in training_step: each rank logs its own value, not the mean")
        if in_step and self._number >= 0 and self._is_split() and _is_number(value):
            self._seen.append((name, value, float(self._size()), args, kwargs))
            return
        self._stock(name, value, *args, **kwargs)

    def _is_split(self) -> bool:
        window, limit = self._hook.window, self._run._splitter.limit
        return window is not None and limit is not None and window.sizes[self._number] > limit

    def _size(self) -> int:
        return self._run._splitter.running


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "numel") and value.numel() == 1)


def _joined(
    seen: list[tuple[str, Any, float, tuple[Any, ...], dict[str, Any]]],
) -> Iterator[tuple[str, Any, float, tuple[Any, ...], dict[str, Any]]]:
    """One entry for each name, with the mean of its values."""
    for name in dict.fromkeys(entry[0] for entry in seen):
        own = [entry for entry in seen if entry[0] == name]
        size = sum(entry[2] for entry in own)
        mean = sum(entry[1] * (entry[2] / size) for entry in own)
        yield name, mean, size, own[-1][3], own[-1][4]
