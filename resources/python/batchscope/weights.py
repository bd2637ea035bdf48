# SPDX-License-Identifier: MIT
"""What the loss of a batch was divided by, as its own graph has it.

The gradient of the mean over several batches is the mean of their gradients, each weighted by what its loss was divided
by: examples, tokens that count, or the sum of their class weights. Nothing is assumed of a loss whose graph does not
tell.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .reasons import Reason

_MOST_FUNCTIONS = 200_000
_OF_ELEMENTS = (
    "MseLossBackward0",
    "SmoothL1LossBackward0",
    "HuberLossBackward0",
    "BinaryCrossEntropyBackward0",
    "BinaryCrossEntropyWithLogitsBackward0",
)
_SAME_VALUE = (
    *("AliasBackward0", "CloneBackward0", "ReshapeAliasBackward0", "ViewBackward0", "UnsafeViewBackward0"),
    *("SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2", "UnsqueezeBackward0"),
)
_FACTORS = ("MulBackward0", "MulBackward1", "DivBackward0", "DivBackward1")
_MEAN, _SUM = 1, 2  # as torch numbers reductions


class Refused(Exception):
    """Parts cannot be made exact."""

    def __init__(self, code: str, text: str, what: str = "") -> None:
        super().__init__(text)
        self.reason = Reason(code, f"{text}: {what}" if what else text, {"what": what} if what else {})

    def kept(self) -> Refused:
        """Itself without the frames that it came through: their variables are gradients and batches."""
        self.__traceback__ = self.__cause__ = self.__context__ = None
        return self


def unknown_loss(what: str) -> Refused:
    return Refused("unknown-loss", "its loss is not a mean or sum with known weights", what)


@dataclass
class Weight:
    """Of a loss among those of other parts of its batch."""

    is_mean: bool
    value: Any = 1.0  # what the mean was divided by: a number, or a tensor with one, so that no GPU is waited for
    elements: int = 1  # about as large as the value
    factors: tuple[float, ...] = ()  # that the program has applied; the same for all batches, or nothing is known
    ratios: tuple[float, ...] = ()  # of the values of the other terms to that of the first; the same, too
    dividends: tuple[tuple[Any, float], ...] = ()  # nodes of sums that were divided by a count; factors applied since

    @property
    def is_empty(self) -> bool:
        """Whether nothing counts, so that the loss is no number; only of one that was divided by a count."""
        return bool(self.dividends) and not float(self.value)


def weight_of(loss: Any, is_count: Callable[[Any], bool]) -> Weight:
    """`is_count` tells of a tensor whether it is a sum over the examples. Raises Refused."""
    if getattr(loss, "grad_fn", None) is None or loss.numel() != 1:
        raise unknown_loss("backward() begins with something else than a number")
    return _of_node(loss.grad_fn, is_count)


def _of_node(node: Any, is_count: Callable[[Any], bool]) -> Weight:
    name = node.name()
    if name in _SAME_VALUE:
        return _of_only(node, is_count)
    if name == "NegBackward0":
        return _times(-1.0, _of_only(node, is_count))
    if name == "AddBackward0":
        return _of_terms(node, is_count)
    if name in _FACTORS:
        return _of_factor(node, is_count)
    return _of_reduction(node, name)


def _of_reduction(node: Any, name: str) -> Weight:
    if name in ("NllLossBackward0", "NllLoss2DBackward0"):
        return _of_labels(node)
    if name in _OF_ELEMENTS:
        return _of_elements(node)
    if name in ("SumBackward0", "SumBackward1"):
        return Weight(False)
    if name in ("MeanBackward0", "MeanBackward1"):
        count = math.prod(int(size) for size in node._saved_self_sym_sizes)
        return Weight(True, float(count), count)
    raise unknown_loss(name)


def _of_labels(node: Any) -> Weight:
    """A cross entropy: the labels that count, each with the weight of its class."""
    if node._saved_reduction == _SUM:
        return Weight(False)
    total = node._saved_total_weight
    if node._saved_reduction != _MEAN or str(total.dtype) not in ("torch.float32", "torch.float64"):
        raise unknown_loss(f"the weight of {node.name()} is not exact")
    return Weight(True, total.detach(), max(1, int(node._saved_target.numel())))


def _of_elements(node: Any) -> Weight:
    if node._saved_reduction == _SUM:
        return Weight(False)
    count = int(node._saved_self.numel())
    if node._saved_reduction != _MEAN or int(node._saved_target.numel()) != count:
        raise unknown_loss(f"the shapes of {node.name()} differ")
    return Weight(True, float(count), count)


def _children(node: Any) -> list[Any]:
    return [child for child, _ in node.next_functions if child is not None]


def _of_only(node: Any, is_count: Callable[[Any], bool]) -> Weight:
    children = _children(node)
    if len(children) != 1:
        raise unknown_loss(node.name())
    return _of_node(children[0], is_count)


def _times(factor: float, weight: Weight) -> Weight:
    dividends = tuple((node, factor * own) for node, own in weight.dividends)
    return replace(weight, factors=(factor, *weight.factors), dividends=dividends)


def _of_factor(node: Any, is_count: Callable[[Any], bool]) -> Weight:
    """A loss that was multiplied with a number or divided by one; or a sum by what it has counted."""
    weight = _of_only(node, is_count)
    first = node.next_functions[0][0] is not None
    divides = node.name().startswith("Div")
    other = getattr(node, "_saved_other" if first else "_saved_self", None)
    if other is None or (divides and not first):
        raise unknown_loss(node.name())
    if isinstance(other, (int, float)):
        return _times(float(other), weight)
    if other.numel() != 1 or other.requires_grad:
        raise unknown_loss(node.name())
    if divides and not weight.is_mean and is_count(other):
        if str(other.dtype) in ("torch.float16", "torch.bfloat16"):
            raise unknown_loss("its count is not exact")
        count = other.detach().reshape(())
        return Weight(True, count, 1, weight.factors, weight.ratios, ((_children(node)[0], 1.0),))
    if other.device.type != "cpu":
        raise unknown_loss(f"a factor of {node.name()} that is not known")
    return _times(float(other), weight)


def _of_terms(node: Any, is_count: Callable[[Any], bool]) -> Weight:
    """A sum of losses: their weights must be in the same ratio in all parts."""
    children = _children(node)
    terms = [_of_node(child, is_count) for child in children]
    if not all(term.is_mean == terms[0].is_mean for term in terms):
        raise unknown_loss("a sum of means and sums")
    if not terms[0].is_mean and len(terms) < len(node.next_functions):
        raise unknown_loss("a sum with a number added to it")
    first = terms[0]
    factors = [float(node._saved_alpha), *(factor for term in terms for factor in term.factors)]
    ratios: list[float] = []
    if first.is_mean and len(terms) > 1:
        values = [float(term.value) for term in terms]
        if values[0] <= 0 and any(values):
            raise unknown_loss("a sum of losses of which one has no weight")
        ratios = [value / values[0] if values[0] else 1.0 for value in values[1:]]
    ratios += [ratio for term in terms for ratio in term.ratios]
    plain = all(factor == 1.0 for factor in factors)
    dividends = [term.dividends for term in terms[:1]]
    dividends += [tuple((of, factors[0] * factor) for of, factor in term.dividends) for term in terms[1:]]
    return Weight(
        first.is_mean,
        first.value,
        first.elements,
        () if plain else tuple(factors),
        tuple(ratios),
        tuple(itertools.chain(*dividends)),
    )


@dataclass
class Graph:
    """What is below a loss."""

    signature: int  # the same for the same operations in the same order
    leaves: list[Any]  # that get gradients
    functions: list[str]  # of the program's own, or of a compiler


def graph_of(loss: Any) -> Graph:
    """Raises Refused for one that is too large to look at."""
    from torch.autograd.function import BackwardCFunction

    order: dict[Any, int] = {loss.grad_fn: 0}
    waiting = [loss.grad_fn]
    found: list[Any] = []
    graph = Graph(0, [], [])
    for node in waiting:
        if len(waiting) > _MOST_FUNCTIONS:
            raise unknown_loss("its graph is too large")
        for child, _ in node.next_functions:
            if child is not None and child not in order:
                order[child] = len(order)
                waiting.append(child)
        name = node.name().replace("ReshapeAlias", "View")  # the same, seen through rows.py or not
        found.append((name, *(order.get(child, -1) for child, _ in node.next_functions)))
        if hasattr(node, "variable"):
            graph.leaves.append(node.variable)
        elif isinstance(node, BackwardCFunction):
            graph.functions.append(node.name())
    graph.signature = hash(tuple(found))
    return graph
