# SPDX-License-Identifier: MIT
"""Gives a program that is tried the same batch again, where only its shapes matter."""

from __future__ import annotations

from typing import Any

from .parts import NoRows, chosen_rows, leaves_of

_ENOUGH = 3  # batches that show that all have the same shapes
_FIRST_TAIL, _TAIL_EACH = 2, 4  # steps, before a batch is as small as the last of an epoch, and from one to the next


class Again:
    """The last batch in the place of new ones, if all so far had its shapes: to read and decode examples would take
    most of the time of a step that computes nothing.
    """

    def __init__(self) -> None:
        self._seen = 0  # batches
        self._tail_at: int | None = None  # step
        self._kept: tuple[int, list[Any], Any, Any] | None = None  # rows, shapes, the batch, its examples

    def saw(self, size: int, part: Any, examples: Any) -> None:
        """A batch that was read. One on a GPU is not kept, as it would count as memory of the program."""
        leaves = [leaf for _, leaf in leaves_of(part)]
        shapes = [(tuple(leaf.shape), str(leaf.dtype)) for leaf in leaves]
        alike = not self._seen or (self._kept is not None and self._kept[1] == shapes)
        on_host = not any(getattr(leaf, "is_cuda", False) for leaf in leaves)
        own = _copied(part, size, size) if alike and on_host else None
        self._kept = None if own is None else (size, shapes, own, examples)
        self._seen += 1

    def size(self, size: int, tail: int, step: int) -> int:
        """Examples of the next batch of a step: the size, or now and then that of the epoch's smaller last batch (0 if
        it has none). What such a batch leaves between the tensors may be too much for the full ones of the next epoch,
        which is far away.
        """
        if not tail or not self._repeats(size):
            return size
        if self._tail_at is None:
            self._tail_at = step + _FIRST_TAIL
        if step < self._tail_at:
            return size
        self._tail_at = step + _TAIL_EACH
        return min(tail, size)

    def batch(self, size: int) -> tuple[Any, Any] | None:
        """A batch of at most as many examples as before with what is known of them; None if one has to be read."""
        if not self._repeats(size):
            return None
        assert self._kept is not None
        part = _copied(self._kept[2], self._kept[0], size)
        return (part, self._kept[3]) if part is not None else None

    def _repeats(self, size: int) -> bool:
        return self._kept is not None and self._seen >= _ENOUGH and size <= self._kept[0]


def _copied(part: Any, size: int, rows: int) -> Any:
    """So many rows of a batch, in containers of its own, as programs take things out of them; None if that cannot be
    made.
    """
    try:
        return chosen_rows(part, slice(0, rows), size)
    except NoRows:
        return None
