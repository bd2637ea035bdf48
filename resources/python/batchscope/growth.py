# SPDX-License-Identifier: MIT
"""Notices memory that grows from step to step."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

_FIRST = 5  # step that is looked at; before it libraries take buffers
_STEPS = 20  # that are looked at together
_RISES = 16  # of them, at least
_BYTES = 1 << 20  # by which they rise together, at least


@dataclass
class Rise:
    """Of what was in use after a step."""

    step: int
    by: int  # bytes, since the step before


class Growth:
    """Compares what is in use after steps of the same size. It tells of a growth once."""

    def __init__(self) -> None:
        self._rises: deque[Rise] = deque(maxlen=_STEPS)
        self._last: tuple[tuple[int, ...], int] | None = None  # sizes of a step, and bytes after it
        self._told = False

    def saw(self, step: int, used: int, sizes: tuple[int, ...]) -> dict[str, int] | None:
        """A step that took these sizes is over, and so many bytes are in use. Returns what is to be told."""
        if self._told or step < _FIRST:
            return None
        if self._last is not None and self._last[0] == sizes:
            self._rises.append(Rise(step, used - self._last[1]))
        self._last = sizes, used
        return self._found()

    def _found(self) -> dict[str, int] | None:
        rises = list(self._rises)
        grown = sum(rise.by for rise in rises)
        if len(rises) < _STEPS or grown < _BYTES or sum(rise.by > 0 for rise in rises) < _RISES:
            return None
        self._told = True
        typical = sorted(rise.by for rise in rises)[_STEPS // 2]
        start = max(range(_STEPS), key=lambda first: sum(rise.by - typical / 2 for rise in rises[first:]))
        grown = sum(rise.by for rise in rises[start:])
        return {"bytes_per_step": typical, "since_step": rises[start].step, "bytes": grown}
