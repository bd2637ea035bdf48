# SPDX-License-Identifier: MIT
"""Cuts a collated batch along its examples."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from .memory import is_out_of_memory

if TYPE_CHECKING:
    from .loader import Window


def rows_of(part: Any) -> int:
    """Examples of a collated batch: the rows of its first tensor."""
    values = part.values() if hasattr(part, "values") and hasattr(part, "keys") else part
    if hasattr(values, "shape"):
        return int(values.shape[0]) if len(values.shape) else 1
    for value in values if hasattr(values, "__iter__") and not isinstance(values, str) else ():
        rows = rows_of(value)
        if rows > 0:
            return rows
    return 0


class NoRows(Exception):
    """A batch has a tensor without one row for each example."""


def has_rows(part: Any, size: int) -> bool:
    """Whether examples of a collated batch of `size` can be taken out of it."""
    try:
        chosen_rows(part, slice(0, 0), size)
    except NoRows:
        return False
    return True


def chosen_rows(part: Any, rows: Any, size: int) -> Any:
    """These rows (a slice or a list) of everything in a collated batch of `size` examples. Raises NoRows."""
    try:
        return _select(part, rows, size)
    except NoRows:
        raise
    except Exception as error:  # sparse and nested tensors, objects of the program's own
        if is_out_of_memory(error):
            raise
        raise NoRows from error


def _select(value: Any, rows: Any, size: int) -> Any:
    shape = getattr(value, "shape", None)
    if shape is not None:
        if len(shape) == 0:
            return value
        if shape[0] != size:
            raise NoRows
        return value[rows]
    if hasattr(value, "keys"):
        chosen = {key: _select(value[key], rows, size) for key in value.keys()}
        return chosen if type(value) is dict else _like(value, chosen)
    if isinstance(value, tuple):
        items = [_select(item, rows, size) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        if any(hasattr(item, "shape") or hasattr(item, "keys") or isinstance(item, (list, tuple)) for item in value):
            return [_select(item, rows, size) for item in value]
        if len(value) != size:
            raise NoRows
        return value[rows] if isinstance(rows, slice) else [value[row] for row in rows]
    return value


def _like(value: Any, chosen: dict[str, Any]) -> Any:
    """A mapping of the type of `value`; a dict if that cannot be made."""
    with contextlib.suppress(Exception):
        return type(value)(chosen)
    return chosen


def labels_of(part: Any) -> Any:
    """The labels of a collated batch: its entry of that name, or the last tensor of integers."""
    if hasattr(part, "keys"):
        for name in ("shift_labels", "labels", "label", "label_ids", "targets", "target"):
            if name in part and hasattr(part[name], "ne"):
                return part[name]
        return None
    items = part if isinstance(part, (list, tuple)) else []
    tensors = [t for t in items if hasattr(t, "is_floating_point") and not t.is_floating_point() and t.dim() > 0]
    return tensors[-1] if tensors else None


def counts_of(part: Any, examples: int) -> dict[str, float]:
    """What the loss of a batch may be the mean over, most likely first."""
    labels = labels_of(part)
    counts: dict[str, float] = {}
    if labels is not None:
        counts["labels"] = float(labels.ne(-100).sum())
        if labels.dim() > 1:
            counts["shifted labels"] = float(labels[..., 1:].ne(-100).sum())
    counts["examples"] = float(examples)
    return counts


def cut(window: Window, index: int, rows: Any) -> Any:
    """Some examples of a micro batch: its very inputs, or collated anew if these have no row for each example."""
    size = window.sizes[index]
    loader, examples = window._loader, window._examples
    if loader is None or examples is None:
        return chosen_rows(window.parts[index], rows, size)
    if loader.cuttable:
        with contextlib.suppress(NoRows):
            return chosen_rows(window.parts[index], rows, size)
    first = sum(window.sizes[:index])
    own = examples[first : first + size]
    return loader._collate(own[rows] if isinstance(rows, slice) else [own[row] for row in rows])
