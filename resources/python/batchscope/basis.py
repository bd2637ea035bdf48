# SPDX-License-Identifier: MIT
"""Finds how the loss of a batch is made of those of its pieces, and verifies it on pieces of the batch itself.

A batch may be split only if its gradient is a sum of gradients of pieces with known factors. Whether it is depends on
the loss: a mean over examples, over labels that count, a mean that is weighted by class, a sum of several such means;
but not one in which examples meet each other. So nothing is assumed: a few examples are run together and in two parts,
in a size that fits, and the gradients of the parts must add up to the joint one within the precision of the numbers.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .parts import leaves_of
from .sketch import Sketch
from .terms import Term, terms_of, values_of_scalars

Label = tuple[str, int]  # its place in a batch, and its value
TWICE = " twice"
ADDS, STAYS = (
    "adds",
    "stays",
)  # of a term without a divisor: a sum over examples, or a part that does not depend on them
EXACT = 1e-6  # relative error of divisors, which are computed in single precision
_MOST_SINGLE_TERMS = 3  # whose meaning is found by trying


def labels_of(rows: Iterable[set[Label]], twice: bool = True) -> set[Label]:
    """All labels of some examples; those that several have are there once more, under another place."""
    counts = Counter(label for labels in rows for label in labels)
    several = {(place + TWICE, value) for (place, value), count in counts.items() if count > 1}
    return set(counts) | (several if twice else set())


class Changed(Exception):
    """A loss is not what it was found to be."""


@dataclass
class Ran:
    """What a forward and backward pass of some examples has shown."""

    loss: float
    sketch: Sketch
    terms: list[tuple[str, float]] | None  # names and divisors; None: the graph does not show them
    counts: dict[str, float]
    unsure: bool = False  # of a divisor that is 1

    @property
    def is_finite(self) -> bool:
        """Whether there is a loss: of labels that are all left out, there may be none."""
        return math.isfinite(self.loss) and math.isfinite(self.sketch.norm)

    @property
    def has_gradients(self) -> bool:
        """Whether the examples say anything of how they are put together."""
        return self.is_finite and self.sketch.norm > 0

    def divisors(self) -> list[float]:
        """Of its terms."""
        return [divisor for _, divisor in self.terms or []]


class Basis:
    """How a loss is put together. `error`: relative, of the gradients that it was verified on."""

    name = ""
    error = 0.0
    looks_ahead = False  # whether all pieces have to be run forward before the first backward pass

    def factors(self, counts: Sequence[dict[str, float]], divisors: Sequence[list[float]]) -> list[Factors]:
        """For each piece what its loss is multiplied with. `divisors` are empty unless it looks ahead. Raises Changed
        where the loss may be another one than was verified.
        """
        raise NotImplementedError

    def extend(self, counts: dict[str, float], part: Any) -> None:
        """Adds to the counts of a piece what only this knows. Raises Changed, too."""


@dataclass
class Factors:
    """What a piece's loss is multiplied with: one number, or one for each term."""

    each: list[float]
    expected: list[float] | None = None  # divisors of the terms; another one means that the loss has changed

    share: float = 1.0  # of the piece, in what is no term

    @property
    def are_zero(self) -> bool:
        """Nothing of the piece counts, so it need not be run; its loss may be none at all."""
        return all(factor == 0 for factor in self.each)

    @property
    def single(self) -> float | None:
        """The factor, if there is one for all terms."""
        return self.each[0] if all(_equal(factor, self.each[0]) for factor in self.each) else None

    def apply(self, loss: Any, times: float = 1.0) -> Any:
        """The loss that the backward pass begins with. Raises Changed."""
        terms = terms_of(loss) if self.expected is not None else None
        if self.expected is not None:
            self._check(terms)
        if self.single is not None:
            factor = self.single * times
            return loss if factor == 1.0 else loss * factor
        self._terms = terms or []
        for term, factor in zip(self._terms, self.each):
            term.node.register_prehook(_multiplied(factor))
        return loss if times == 1.0 else loss * times

    @contextlib.contextmanager
    def watched(self) -> Iterator[Callable[[Any], Any]]:
        """For a pass of the piece: gives the function that turns its loss into its part of the whole loss."""
        factor = self.single
        if factor is not None:
            yield lambda loss: loss if factor == 1.0 else loss * factor
            return
        with values_of_scalars() as values:
            self._values = values
            yield self._part_of

    def _part_of(self, loss: Any) -> Any:
        """Each term with its factor. If not all are known, the loss by the piece's share of the examples."""
        counted = [(term, factor) for term, factor in zip(self._terms, self.each) if factor]
        if any(term.node not in self._values for term, _ in counted):
            return loss * self.share
        parts = [(self._values[term.node] * term.coefficient, factor) for term, factor in counted]
        rest = loss - sum(part for part, _ in parts)  # what needs no gradient
        whole = len(counted) == len(self._terms)
        return sum(part * factor for part, factor in parts) + (rest * self.share if whole else 0.0)

    def _check(self, terms: list[Term] | None) -> None:
        expected = self.expected or []
        if terms is None or len(terms) != len(expected):
            raise Changed
        for term, divisor in zip(terms, expected):
            if not _equal(term.divisor, divisor):
                raise Changed


def _multiplied(factor: float) -> Callable[..., Any]:
    def hook(gradients: Any) -> Any:
        if factor == 0:  # the gradient of a mean over nothing is none
            return tuple(None if gradient is None else gradient.new_zeros(gradient.shape) for gradient in gradients)
        return tuple(None if gradient is None else gradient * factor for gradient in gradients)

    return hook


def _equal(one: float, two: float) -> bool:
    return abs(one - two) <= EXACT * max(abs(one), abs(two))


def _shares(values: Sequence[float]) -> list[float]:
    total = sum(values)
    return [value / total if total else 0.0 for value in values]


class ByCount(Basis):
    """A mean over something that is counted in the inputs; or a plain sum."""

    def __init__(self, names: Sequence[str], labels: set[Label]) -> None:
        self.names = list(names)  # that agree so far, most likely first
        self.labels = labels  # with which that was seen

    def labels_in(self, rows: Iterable[set[Label]]) -> set[Label]:
        """What has to be seen of the labels of some examples. For a sum also two examples of the same one: what is
        divided by a number of positives, at least by 1, is a sum as long as there is one of them.
        """
        return labels_of(rows, twice="sum" in self.names)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The first one, without the place of its tensor."""
        return self.names[0].partition(".")[0]

    def factors(self, counts: Sequence[dict[str, float]], divisors: Sequence[list[float]]) -> list[Factors]:
        if self.names[0] == "sum":
            return [Factors([1.0]) for _ in counts]
        ways = [_shares([count.get(name, 0.0) for count in counts]) for name in self.names if name in counts[0]]
        if not ways or any(not all(map(_equal, way, ways[0])) for way in ways[1:]):
            raise Changed  # those that agreed so far do not here
        return [Factors([share]) for share in ways[0]]


class ByLabel(Basis):
    """A mean in which the weight of an example depends on its label, in a loss whose graph does not show it."""

    name = "label weights"

    def __init__(self, place: str, weights: dict[int, float]) -> None:
        self.place = place  # of the labels in a batch
        self.weights = weights

    def factors(self, counts: Sequence[dict[str, float]], divisors: Sequence[list[float]]) -> list[Factors]:
        return [Factors([share]) for share in _shares([count[self.name] for count in counts])]

    def extend(self, counts: dict[str, float], part: Any) -> None:
        labels = dict(leaves_of(part))[self.place].tolist()
        try:
            counts[self.name] = sum(self.weights[label] for label in labels)
        except KeyError:
            raise Changed from None


@dataclass
class Rule:
    """What a term is divided by: so many times a count, or a number that the forward pass shows, or nothing."""

    kind: str  # "mean", ADDS or STAYS
    count: str | None = None
    times: float = 1.0

    def factors(self, counts: Sequence[dict[str, float]], divisors: Sequence[float] | None) -> list[float]:
        """For each piece."""
        if self.kind == ADDS:
            return [1.0] * len(counts)
        if self.kind == STAYS:
            return _shares([count["examples"] for count in counts])
        if self.count is not None:
            return _shares([count.get(self.count, 0.0) for count in counts])
        return _shares(list(divisors or []))


class ByTerms(Basis):
    """A sum of means and sums that its graph shows. Each piece is held against it when it is run."""

    name = "terms"

    def __init__(self, rules: Sequence[Rule], divisors: Sequence[float]) -> None:
        self.rules = list(rules)
        self._divisors = list(divisors)  # of the terms that are no means
        self.looks_ahead = any(rule.kind == "mean" and rule.count is None for rule in rules)
        names = {(rule.count or "terms").partition(".")[0] if rule.kind == "mean" else "sum" for rule in rules}
        self.name = names.pop() if len(names) == 1 else "terms"

    def factors(self, counts: Sequence[dict[str, float]], divisors: Sequence[list[float]]) -> list[Factors]:
        columns: list[list[float]] = []
        expected: list[list[float]] = []
        for number, rule in enumerate(self.rules):
            known = [piece[number] for piece in divisors] if divisors else None
            columns.append(rule.factors(counts, known))
            if known is not None:
                expected.append(known)
            elif rule.kind == "mean":
                expected.append([rule.times * count.get(rule.count or "", 0.0) for count in counts])
            else:
                expected.append([self._divisors[number]] * len(counts))
        shares = _shares([count["examples"] for count in counts])
        return [
            Factors(list(each), list(wanted), share)
            for each, wanted, share in zip(zip(*columns), zip(*expected), shares)
        ]


def rules_for(whole: Ran, pieces: Sequence[Ran], counted: bool) -> Iterator[list[Rule]]:
    """What the terms of a loss may be, by their divisors in some examples and in the pieces of these.

    `counted`: take a count of the inputs where it explains a divisor; else the forward pass has to show it.
    """
    if whole.terms is None or any(piece.terms is None for piece in pieces):
        return
    names = [name for name, _ in whole.terms]
    if any([name for name, _ in piece.terms or []] != names for piece in pieces):
        return
    choices: list[list[Rule]] = []
    for number in range(len(names)):
        divisor = whole.divisors()[number]
        parts = [piece.divisors()[number] for piece in pieces]
        means = _equal(divisor, sum(parts))
        alike = all(_equal(divisor, part) for part in parts)
        if means:
            choices.append([_mean(divisor, parts, whole, pieces, counted)])
        elif alike and not whole.unsure:
            choices.append([Rule(ADDS), Rule(STAYS)])
        else:
            return
    if sum(len(choice) > 1 for choice in choices) <= _MOST_SINGLE_TERMS:
        yield from (list(rules) for rules in itertools.product(*choices))


def _mean(divisor: float, parts: Sequence[float], whole: Ran, pieces: Sequence[Ran], counted: bool) -> Rule:
    for name, count in whole.counts.items() if counted else ():
        times = divisor / count if count else math.inf
        if math.isfinite(times) and all(
            _equal(times * piece.counts.get(name, 0.0), part) for piece, part in zip(pieces, parts)
        ):
            return Rule("mean", name, times)
    return Rule("mean")


def agreeing_counts(whole: Ran, pieces: Sequence[Ran], tolerance: float) -> tuple[list[str], float]:
    """The counts with which the gradients of the pieces add up to the joint one, and the largest error of one."""
    found: list[str] = []
    worst, nearest = 0.0, math.inf
    known: dict[tuple[float, ...], float] = {}
    for name in [*whole.counts, "sum"]:
        shares = [1.0] * len(pieces) if name == "sum" else _shares([piece.counts.get(name, 0.0) for piece in pieces])
        if sum(shares) == 0:
            continue
        key = tuple(shares)
        if key not in known:
            known[key] = whole.sketch.error([(share, piece.sketch) for share, piece in zip(shares, pieces)])
        nearest = min(nearest, known[key])
        if known[key] <= tolerance:
            found.append(name)
            worst = max(worst, known[key])
    return found, worst if found else nearest
