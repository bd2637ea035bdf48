# SPDX-License-Identifier: MIT
"""Cuts a collated batch along its examples, and finds what tells its examples apart."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .memory import is_out_of_memory

if TYPE_CHECKING:
    from .window import Window

_MOST_CLASSES = 256  # of labels that every element of an example has
IGNORED = -100  # the label that PyTorch's losses leave out unless they are told another one


class NoRows(Exception):
    """A batch has something without one row for each example."""


def leaves_of(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors and arrays of a collated batch, each with its place in it."""
    if isinstance(part, type):
        return  # dict itself has keys, too
    if hasattr(part, "shape"):
        yield path, part
    elif hasattr(part, "keys"):
        for key in part.keys():  # noqa: SIM118 - not every mapping of a collator iterates over its keys
            yield from leaves_of(part[key], f"{path}.{key}")
    elif isinstance(part, (list, tuple)):
        for index, item in enumerate(part):
            yield from leaves_of(item, f"{path}.{index}")
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            yield from leaves_of(getattr(part, field.name, None), f"{path}.{field.name}")


def rows_of(part: Any) -> int:
    """Examples of a collated batch: the rows of its first tensor; 1 if that has none, 0 without a tensor."""
    for _, leaf in leaves_of(part):
        return int(leaf.shape[0]) if len(leaf.shape) else 1
    return 0


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
    except Exception as error:  # sparse and nested tensors
        if is_out_of_memory(error):
            raise
        raise NoRows from error


def _select(value: Any, rows: Any, size: int) -> Any:
    if hasattr(value, "shape"):
        return _rows_of_tensor(value, rows, size)
    if hasattr(value, "keys"):
        chosen = {key: _select(value[key], rows, size) for key in value.keys()}  # noqa: SIM118
        return chosen if type(value) is dict else _like(value, chosen)
    if isinstance(value, tuple):
        items = [_select(item, rows, size) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return _rows_of_list(value, rows, size)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        chosen = {field.name: _select(getattr(value, field.name), rows, size) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **chosen)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value  # of the whole batch
    raise NoRows


def _rows_of_tensor(value: Any, rows: Any, size: int) -> Any:
    if len(value.shape) == 0:
        return value
    if value.shape[0] != size:
        raise NoRows
    return value[rows]


def _rows_of_list(value: list[Any], rows: Any, size: int) -> list[Any]:
    """Columns, each with a row for each example; or, of texts and numbers, one item for each example."""
    if any(not isinstance(item, (bool, int, float, str, bytes)) for item in value):
        return [_select(item, rows, size) for item in value]
    if len(value) != size:
        raise NoRows
    return value[rows] if isinstance(rows, slice) else [value[row] for row in rows]


def _like(value: Any, chosen: dict[str, Any]) -> Any:
    """A mapping of the type of `value`; a dict if that cannot be made."""
    with contextlib.suppress(Exception):
        return type(value)(chosen)
    return chosen


def cut(window: Window, index: int, rows: Any) -> Any:
    """Some examples of a micro batch: its very inputs, or collated anew if these have no row for each example."""
    size = window.sizes[index]
    loader = window._loader
    if loader is None or window._examples is None:
        return chosen_rows(window.parts[index], rows, size)
    if loader.cuttable:
        with contextlib.suppress(NoRows):
            return chosen_rows(window.parts[index], rows, size)
    own = examples_of(window, index)
    part = loader.collate(own[rows] if isinstance(rows, slice) else [own[row] for row in rows])
    return part if window.prepare is None else window.prepare(part)


def examples_of(window: Window, index: int) -> list[Any]:
    """The examples of a micro batch, not collated. Only of a window that keeps them."""
    first = sum(window.sizes[:index])
    return list((window.raw() or [])[first : first + window.sizes[index]])


def is_of_integers(leaf: Any) -> bool:
    """Whether the tensor or array has integers or truth values."""
    kind = str(leaf.dtype)
    return "int" in kind or "bool" in kind


def _valid(labels: Any) -> Any:
    """Which labels count for a loss. Types without a sign cannot have the one that does not."""
    unsigned = str(labels.dtype).rpartition(".")[2] in ("bool", "uint8")
    return labels == labels if unsigned else labels != IGNORED  # noqa: PLR0124


# ---- what the loss of a batch may be the mean over ----


def counts_of(part: Any, size: int) -> dict[str, float]:
    """Numbers that grow with the examples of a batch, most likely first: what its loss may be the mean over."""
    counts: dict[str, float] = {}
    integers = [(path, leaf) for path, leaf in leaves_of(part) if is_of_integers(leaf) and len(leaf.shape)]
    for path, leaf in sorted(integers, key=lambda item: "label" not in item[0].lower()):
        valid = _valid(leaf)
        counts[f"labels{path}"] = float(valid.sum())
        if len(leaf.shape) > 1:
            counts[f"shifted labels{path}"] = float(valid[..., 1:].sum())
    counts["examples"] = float(size)
    for path, leaf in integers:
        counts[f"marked{path}"] = float((leaf > 0).sum())
    for path, leaf in leaves_of(part):
        if len(leaf.shape):
            counts[f"rows{path}"] = float(leaf.shape[0])
        if len(leaf.shape) == 1 and not is_of_integers(leaf):
            counts[f"sum{path}"] = float(leaf.sum())
    return counts


# ---- what tells examples apart ----


def labels_by_row(window: Window, index: int) -> list[set[tuple[str, int]]]:
    """For each example of a micro batch the values of what may be its labels, with their place in the batch.

    These are of tensors of integers with one for each example, or with few different ones, such as those of pixels; ids
    of tokens are too many to look at each.
    """
    size = window.sizes[index]
    found: list[set[tuple[str, int]]] = [set() for _ in range(size)]
    for place, leaf in leaves_of(window.parts[index]):
        if not is_of_integers(leaf) or len(leaf.shape) == 0 or leaf.shape[0] != size:
            continue
        rows = [set(row) for row in leaf.reshape(size, -1).tolist()]
        if len(leaf.shape) == 1 or len(set().union(*rows)) <= _MOST_CLASSES:
            for row, values in enumerate(rows):
                found[row].update((place, int(value)) for value in values)
    return found


def features_of(window: Window, index: int) -> list[tuple[float, ...]]:
    """For each example of a micro batch numbers that differ where examples do: its labels and sizes."""
    size = window.sizes[index]
    columns = list(_features_of_columns(window.parts[index], size))
    if not columns and window._examples is not None:
        return [tuple(_features_of_example(example)) for example in examples_of(window, index)]
    return list(zip(*columns)) if columns else [()] * size


def _features_of_columns(part: Any, size: int) -> Iterator[list[float]]:
    for _, leaf in leaves_of(part):
        if len(leaf.shape) == 0 or leaf.shape[0] != size:
            continue
        flat = leaf.reshape(size, -1)
        if len(leaf.shape) == 1:
            yield [float(value) for value in leaf.tolist()]
        elif is_of_integers(leaf):
            yield [float(value) for value in _valid(flat).sum(1).tolist()]
            yield [float(value) for value in (flat > 0).sum(1).tolist()]


def _features_of_example(example: Any) -> Iterator[float]:
    if isinstance(example, (bool, int, float)):
        yield float(example)
    for _, leaf in itertools.islice(leaves_of(example), 4):
        if math.prod(leaf.shape) == 1:
            yield float(leaf.reshape(-1)[0])
        else:
            yield float(leaf.shape[0])
