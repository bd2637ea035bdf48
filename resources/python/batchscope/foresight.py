# SPDX-License-Identifier: MIT
"""Keeps a loop of the program's own from a batch that does not fit: there, an error could not be undone.

The peak of a size that was not run yet is foretold by a straight line through two that were, one of at most half
as many examples. Without two such sizes, half of what lives between steps is taken to be there at the peak, as it may
have gradients that are not, and all else to grow with the batch. Much larger sizes are gone up to step by step: each
of them shows more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .reasons import Reason

if TYPE_CHECKING:
    from .run import Run

_INEXACT = 0.02  # of a peak: pages, and buffers of libraries
_PAGES_BESIDE = 2 << 20  # bytes, of the same; more where a budget is small
_FARTHEST = 4  # times as many examples as were run
_SIZES = 64  # that are remembered
_NEVER = 1 << 62  # examples


class Foresight:
    """What steps of other sizes need, by the peaks of those that were made. `between` tells the bytes between steps."""

    def __init__(self, between: Callable[[], int]) -> None:
        self._between = between
        self._peaks: dict[int, int] = {}  # bytes by examples of the largest micro batch
        self._left_out = False  # the present step
        self._read_once: set[int] = set()  # sizes whose peak was read no more than that

    def leave_out_next(self) -> None:
        """The step that begins takes more memory than others of its size."""
        self._left_out = True

    def saw(self, size: int, peak_bytes: int) -> None:
        """A step was made. The first one of a size counts until there is another: it may lack states of an optimizer,
        and have what libraries come to keep.
        """
        left_out, self._left_out = self._left_out, False
        if left_out:
            return
        if size > 0 and peak_bytes > 0:
            before = self._peaks.pop(size, 0)
            if size in self._read_once:
                self._read_once.discard(size)
                before = 0
            elif not before:
                self._read_once.add(size)
            self._peaks[size] = max(peak_bytes, before)
            while len(self._peaks) > _SIZES:
                del self._peaks[next(iter(self._peaks))]

    def wants(self, size: int) -> bool:
        """Whether the peak of this size should be read once more."""
        return size > 0 and (size not in self._peaks or size in self._read_once)

    def _line(self, share: float = 0.5) -> tuple[float, float] | None:
        """Bytes of no example, and of each. `share`: of what lives between steps, which is there at a peak."""
        if not self._peaks:
            return None
        large = max(self._peaks)
        small = max((size for size in self._peaks if 2 * size <= large), default=None)
        if small is not None:
            slope = (self._peaks[large] - self._peaks[small]) / (large - small)
            if slope > 0:
                return self._peaks[large] - slope * large, slope
        own = min(self._between(), self._peaks[large]) * share
        return own, (self._peaks[large] - own) / large

    def largest_within(self, limit: int) -> int:
        """Examples of a micro batch that surely fit."""
        line = self._line()
        if line is None or line[1] <= 0:
            return _NEVER
        fixed, each = line
        made = max((size for size in self._peaks if self.has_made(size, limit)), default=1)
        return max(made, int((_room(limit) - fixed) / each))

    def surely_fits(self, size: int, limit: int) -> bool:
        """Whether enough is known to say so."""
        return size <= self.largest_within(limit) < _NEVER

    def has_made(self, size: int, limit: int) -> bool:
        """Whether steps of this size were made within the limit, as far as is known."""
        return size in self._peaks and (self._peaks[size] <= limit or size in self._read_once)

    def nearest(self, size: int) -> int:
        """The size, or the next one on the way to it."""
        return size if not self._peaks else min(size, _FARTHEST * max(self._peaks))

    def largest_beside(self, kept: int, limit: int) -> int:
        """The same beside so many bytes that are kept through the step; 0 if not even one does."""
        line = self._line(1.0)  # with gradients
        if line is None:
            return _NEVER
        if line[1] <= 0:
            return 0
        return max(0, int((_room(limit) - kept - line[0]) / line[1]))

    def peak_of(self, size: int) -> int:
        """Foretold bytes; 0 if nothing is known."""
        line = self._line()
        return 0 if line is None else int(line[0] + line[1] * size)


def _room(limit: int) -> float:
    """Bytes of a limit that a foretold peak may have."""
    return limit / (1 + _INEXACT) - min(_PAGES_BESIDE, limit // 8)


def limit_of(run: Run) -> int | None:
    """Bytes that training may use now: its budget, or what is free on its GPU; None: not known."""
    device: Any = run._account.device
    budget = run._budget.bytes
    if device is None or device.type != "cuda":
        return budget if run._budget.on_host else None
    cuda = sys.modules["torch"].cuda
    free, _ = cuda.mem_get_info(device)
    room = int(free + cuda.memory_reserved(device))
    return room if budget is None else min(budget, room)


def within(run: Run, size: int) -> tuple[int, Reason | None]:
    """The size that was asked for, or the largest one that fits, and why."""
    limit = None if run._probe is not None else limit_of(run)
    if limit is None:
        return size, None
    most = max(1, run._foresight.largest_within(limit))
    if size <= most:
        return size, None
    needed = run._foresight.peak_of(size)
    values = {"needed_bytes": needed, "limit_bytes": limit}
    return most, Reason("would-not-fit", f"it would need {needed} bytes of {limit}", values)
