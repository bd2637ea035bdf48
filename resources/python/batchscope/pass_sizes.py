# SPDX-License-Identifier: MIT
"""The sizes of the batches of one pass, for programs that keep them and train on them again."""

from __future__ import annotations

import bisect


class PassSizes:
    """Of the pass that was gone through last. It takes no more memory for more batches of the same size."""

    def __init__(self) -> None:
        self._changes: list[tuple[int, int]] = []  # number of a batch, from 0 on, and the size from there on
        self._batches = 0
        self._next = 0

    def took(self, number: int, size: int) -> None:
        """A batch of the present pass has this size, and those before it had that of the last one that was told."""
        if number == 0:
            self._changes, self._next = [], 0
        if not self._changes or self._changes[-1][1] != size:
            self._changes.append((number, size))

    def end(self, batches: int) -> None:
        """The pass is over, and had so many."""
        self._batches = batches

    def again(self, count: int) -> list[int]:
        """The sizes of the next ones that are trained on again, in their order; nothing if there was no pass."""
        if not self._changes or not self._batches:
            return []
        numbers = [(self._next + place) % self._batches for place in range(count)]
        self._next = (numbers[-1] + 1) % self._batches
        first = [number for number, _ in self._changes]
        return [self._changes[bisect.bisect_right(first, number) - 1][1] for number in numbers]
