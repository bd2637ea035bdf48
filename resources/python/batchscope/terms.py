# SPDX-License-Identifier: MIT
"""Reads from the graph of a loss what it is the sum of: means and sums over examples, each with what it divides by."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_PASSED_THROUGH = (
    "ToCopy",
    "View",
    "ReshapeAlias",
    "Squeeze",
    "Unsqueeze",
    "Clone",
    "Alias",
    "Select",
    "AsStrided",
    "Expand",
    "Permute",
    "Neg",
    "Slice",
)  # of one element, which stays what it is but for its sign
_REDUCTION_MEAN, _REDUCTION_SUM = 1, 2
_MOST_NODES = 1000


@dataclass
class Term:
    """A part of a loss: the sum over something, divided by a number."""

    node: Any  # of autograd, where the gradient of this part begins
    divisor: float
    coefficient: float = 1.0  # of the node's value in the loss
    is_unsure: bool = False  # a sum by 1, which may be a number of positives, or 1 where there are none

    @property
    def name(self) -> str:
        """The operation that the node belongs to."""
        return str(self.node.name())


def terms_of(loss: Any) -> list[Term] | None:
    """The terms that a loss of one element is the sum of; None if its graph shows something else.

    A divisor is 0 for a mean over nothing. It is known up to a factor that is the same for all batches. Nothing is said
    about the operations below the sums: whether the terms are what they look like is to be verified.
    """
    terms: list[Term] = []
    waiting: list[tuple[Any, float]] = [(loss.grad_fn, 1.0)]
    by_one: set[Any] = set()
    seen = 0
    while waiting:
        node, coefficient = waiting.pop()
        seen += 1
        if node is None or seen > _MOST_NODES or math.isnan(coefficient):
            return None
        if coefficient == 0:
            continue  # nothing of it counts
        below = _below(node, coefficient)
        if below is not None:
            waiting += below
            if len(below) == 1 and _kind(node) in ("Mul", "Div") and below[0][1] == coefficient:
                by_one.add(below[0][0])
            continue
        divisor = _divisor(node)
        if divisor is None:
            return None
        terms.append(Term(node, divisor / abs(coefficient), coefficient, node in by_one and divisor == 1))
    return terms[::-1]


def _inputs(node: Any) -> list[Any]:
    return [child for child, _ in node.next_functions if child is not None]


def _kind(node: Any) -> str:
    return str(node.name()).rstrip("0123456789").replace("Backward", "")


def _below(node: Any, coefficient: float) -> list[tuple[Any, float]] | None:
    """The nodes that a linear operation on single numbers adds up; None for any other operation."""
    kind, inputs = _kind(node), _inputs(node)
    if kind in ("Add", "Sub", "Rsub"):
        return _summands(node, kind, coefficient)
    if kind in ("Mul", "Div") and len(inputs) == 1:
        factor = _constant(node, kind)
        if factor is None:
            return None
        return [(inputs[0], coefficient * factor if kind == "Mul" else coefficient / factor if factor else math.inf)]
    if kind in _PASSED_THROUGH and len(inputs) == 1 and _elements_of_input(node) in (None, 1):
        return [(inputs[0], -coefficient if kind == "Neg" else coefficient)]
    if kind in ("Sum", "Mean") and len(inputs) == 1 and _kind(inputs[0]) in ("Stack", "Cat"):
        single = _inputs(inputs[0])
        if len(single) == _elements_of_input(node):  # a list of losses
            return [(child, coefficient / (len(single) if kind == "Mean" else 1)) for child in single]
    return None


def _summands(node: Any, kind: str, coefficient: float) -> list[tuple[Any, float]]:
    alpha = float(getattr(node, "_saved_alpha", 1) or 1)
    factors = {"Add": (1.0, alpha), "Sub": (1.0, -alpha), "Rsub": (-alpha, 1.0)}[kind]
    return [
        (child, coefficient * factor) for (child, _), factor in zip(node.next_functions, factors) if child is not None
    ]


def _constant(node: Any, kind: str) -> float | None:
    """The number by which a loss is multiplied or divided, which needs no gradient itself."""
    for name in ("_saved_other", "_saved_self"):
        value = getattr(node, name, None)
        if value is None or (kind == "Div" and name == "_saved_self"):
            continue
        if hasattr(value, "numel"):
            return float(value.item()) if value.numel() == 1 else None
        return float(value)
    return None


def _divisor(node: Any) -> float | None:
    """What a reduction of many elements to one divides by; None for any other operation."""
    kind = _kind(node)
    total = getattr(node, "_saved_total_weight", None)
    reduction = getattr(node, "_saved_reduction", None)
    if reduction == _REDUCTION_MEAN and total is not None and kind.startswith("NllLoss"):
        return float(total)
    if reduction == _REDUCTION_MEAN or (reduction is None and kind == "Mean"):
        elements = _elements_of_input(node)
        return None if elements is None else float(elements)
    if reduction == _REDUCTION_SUM or (reduction is None and kind == "Sum"):
        return 1.0
    return None


def _elements_of_input(node: Any) -> int | None:
    """How many elements the operation of the node works on; None if the node does not say."""
    sizes = getattr(node, "_saved_self_sym_sizes", None)
    if sizes is not None:
        return math.prod(int(length) for length in sizes)
    numel = getattr(node, "_saved_self_sym_numel", None)
    if numel is not None:
        return int(numel)
    for name in ("_saved_self", "_saved_input", "_saved_target"):
        saved: Any = getattr(node, name, None)
        if hasattr(saved, "numel"):
            return int(saved.numel())
    return None


@contextlib.contextmanager
def values_of_scalars() -> Iterator[dict[Any, Any]]:
    """The values of all results of one element that are computed meanwhile, by the nodes of their gradients."""
    from torch.overrides import TorchFunctionMode

    values: dict[Any, Any] = {}

    class Mode(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            node = getattr(result, "grad_fn", None)
            if node is not None and result.numel() == 1:
                values[node] = result.detach()
            return result

    with Mode():
        yield values
