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
    steps: int  # since what was in use was looked at before
    by: int  # bytes, since then


class Growth:
    """Compares what is in use after steps of the same size. It tells of a growth once."""

    def __init__(self) -> None:
        self._rises: deque[Rise] = deque(maxlen=_STEPS)
        self._last: tuple[tuple[int, ...], int, int] | None = None  # sizes of a step, itself, and bytes after it
        self._grown = 0  # bytes, of all of these rises
        self._told = False

    def saw(self, step: int, used: int, sizes: tuple[int, ...]) -> dict[str, int] | None:
        """A step that took these sizes is over, and so many bytes are in use. Returns what is to be told."""
        if self._told or step < _FIRST:
            return None
        if self._last is not None and self._last[0] == sizes:
            if len(self._rises) == _STEPS:
                self._grown -= self._rises[0].by
            self._rises.append(Rise(step, step - self._last[1], used - self._last[2]))
            self._grown += self._rises[-1].by
        self._last = sizes, step, used
        return None if len(self._rises) < _STEPS or self._grown < _BYTES else self._found()

    def _found(self) -> dict[str, int] | None:
        """They have grown by enough; what is to be told if most of them rise."""
        rises = list(self._rises)
        if sum(rise.by > 0 for rise in rises) < _RISES:
            return None
        self._told = True
        typical = sorted(rise.by / max(1, rise.steps) for rise in rises)[_STEPS // 2]
        start = max(
            range(_STEPS), key=lambda first: sum(rise.by - rise.steps * typical / 2 for rise in rises[first:])
        )
        grown, since = sum(rise.by for rise in rises[start:]), rises[start].step - rises[start].steps + 1
        return {"bytes_per_step": round(typical), "since_step": since, "bytes": grown}
