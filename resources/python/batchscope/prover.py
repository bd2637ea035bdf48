# SPDX-License-Identifier: MIT
"""Runs a few examples of a window together and apart, to find out whether and how its loss can be split."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .basis import Basis, ByCount, ByLabel, ByTerms, Ran, agreeing_counts, rules_for
from .frames import forget_frames
from .memory import is_out_of_memory
from .parts import NoRows, cut, features_of, is_of_integers, leaves_of
from .quiet import Quiet
from .reasons import Reason
from .sketch import sketch_of
from .state import Keeper, Saved
from .terms import terms_of

if TYPE_CHECKING:
    from .loader import Window
    from .method import Method

_EXAMPLES = 8  # that are run together, if they fit
_OF_FIRST_PIECE = 0.6  # of them; pieces of different sizes tell a sum from a mean
_MOST_LABELS = 1024  # that weights are solved for one by one
_TOLERANCE = {"float64": 1e-11, "float32": 5e-6}  # relative errors of gradients that add up; others compute in 16 bit
_TOLERANCE_OF_16_BIT = 2e-2
_MOST_NOISE = {"float64": 1e-9, "float32": 1e-3}  # which is accepted if the order of the examples makes as much
_NOISE_FACTOR = 4.0
_OF_LOSS = 1e-6  # relative; for pairs that fit without gradients only
_TELLING = 200  # times that, by which two losses have to differ to say anything


class TooLarge(Exception):
    """So many examples do not fit."""

    def __init__(self, error: Exception, examples: int) -> None:
        super().__init__()
        self.error = error
        self.examples = examples


class Enough(Exception):
    """Ends a step once its loss is known."""

    def __init__(self, loss: float, divisors: list[float] | None) -> None:
        super().__init__()
        self.loss = loss
        self.divisors = divisors


class Prover:
    """Finds the basis of a loss. Leaves nothing behind but gradients that are none."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self.quiet: Quiet | None = None  # of the last time

    def find(self, window: Window, index: int, method: Method, limit: int, known: Basis | None) -> Basis | Reason:
        """How the loss of a micro batch is made of those of its pieces; `limit`: examples that may fit together.

        `known`: what was found before, which does not hold for this window. Raises TooLarge.
        """
        size = window.sizes[index]
        if hooked(method):
            return Reason("steps-in-backward", "its parameters are updated in the backward pass")
        if limit < 2:
            return self._by_losses(window, index, method)
        most = max(2, min(limit // 2, _EXAMPLES, size))  # less than what may fit: an error would cost time
        try:
            return _Attempt(self, self._keeper, window, index, method).find(most, known)
        except NoRows:
            return Reason("cannot-cut", "its batch cannot be cut along its examples")
        except Exception as error:
            forget_frames(error)
            if is_out_of_memory(error):
                raise TooLarge(error, most) from None
            text = f"{type(error).__name__}: {error}"[:300]
            return Reason("cannot-compute", f"its loss cannot be computed for a few examples: {text}", {"error": text})
        finally:
            method.model.zero_grad(set_to_none=True)

    def _by_losses(self, window: Window, index: int, method: Method) -> Basis | Reason:
        """Of two examples which fit together without gradients only: their losses say less."""
        import torch

        refusal = Reason("pair-does-not-fit", "not even two of its examples fit, so a split cannot be verified")
        attempt = _Attempt(self, self._keeper, window, index, method)
        try:
            with torch.no_grad():
                return attempt.find_by_losses() or refusal
        except Exception as error:
            forget_frames(error)
            return refusal


class _Attempt:
    """With examples of one micro batch."""

    def __init__(self, prover: Prover, keeper: Keeper, window: Window, index: int, method: Method) -> None:
        self._prover = prover
        self._keeper = keeper
        self._window = window
        self._index = index
        self._method = method
        self._parameters = [p for p in method.model.parameters() if p.requires_grad]
        self._saved: Saved | None = None

    def find(self, most: int, known: Basis | None) -> Basis | Reason:
        modules = self._method.modules()
        quiet = self._prover.quiet = Quiet(modules)
        self._saved = self._keeper.keep(modules)
        try:
            with quiet.entered(), self._method.hidden():
                return self._search(most, known, quiet)
        finally:
            self._saved.restore()

    def _search(self, most: int, known: Basis | None, quiet: Quiet) -> Basis | Reason:
        rows = telling_rows(self._window, self._index, most)
        first = min(len(rows) - 1, max(1, round(len(rows) * _OF_FIRST_PIECE)))
        parts = [rows[:first], rows[first:]]
        whole = self._run(rows)
        pieces = [self._run(part) for part in parts]
        if not math.isfinite(whole.sketch.norm):
            return Reason("not-finite", "its gradients are not finite")
        nearest = math.inf
        for tolerance in self._tolerances(whole, rows):
            basis, error = self._by_terms(whole, pieces, parts, tolerance, known)
            if basis is None:
                names, error = agreeing_counts(whole, pieces, tolerance)
                basis = ByCount(names) if names else self._by_label(whole, pieces, parts, tolerance, known)
            if basis is not None:
                basis.error = error
                return basis
            nearest = min(nearest, error)
        if quiet.mixed:
            return Reason("random-mixing", "random numbers decide which of its examples meet")
        return Reason(
            "examples-interact",
            "its loss is no mean over its examples: they depend on each other "
            f"(the gradients of pieces differ from the joint one by {100 * nearest:.2g} %)",
            {"relative_error": nearest},
        )

    def _tolerances(self, whole: Ran, rows: list[int]) -> Any:
        """What precision allows; then, if rounding errors of this network are larger, those."""
        names = {str(parameter.dtype).rpartition(".")[2] for parameter in self._parameters}
        tolerance = max((_TOLERANCE.get(name, _TOLERANCE_OF_16_BIT) for name in names), default=_TOLERANCE["float32"])
        yield tolerance
        most = max((_MOST_NOISE.get(name, _TOLERANCE_OF_16_BIT) for name in names), default=0.0)
        noise = whole.sketch.error([(1.0, self._run(rows[::-1]).sketch)])
        if tolerance < _NOISE_FACTOR * noise and noise <= most:
            yield _NOISE_FACTOR * noise

    def _run(self, rows: list[int], scaled: Callable[[Any], Any] | None = None, clear: bool = True) -> Ran:
        """Forward and backward pass of some examples."""
        method = self._method
        assert self._saved is not None
        self._saved.restore()
        if clear:
            method.model.zero_grad(set_to_none=True)
        part = cut(self._window, self._index, rows)
        terms: list[Any] = [None]

        def see(loss: Any) -> Any:
            found = terms_of(loss)
            terms[0] = None if found is None else [(term.name, term.divisor) for term in found]
            return loss if scaled is None else scaled(loss)

        loss = method.run(part, len(self._window.sizes), see)
        counts = method.counts(part, rows, self._window, self._index)
        return Ran(0.0 if loss is None else float(loss), sketch_of(self._parameters), terms[0], counts)

    def _by_terms(
        self, whole: Ran, pieces: list[Ran], parts: list[list[int]], tolerance: float, known: Basis | None
    ) -> tuple[Basis | None, float]:
        """The terms that the graph shows, if they explain the joint gradient."""
        nearest = math.inf
        for rules in rules_for(whole, pieces, counted=not isinstance(known, ByTerms)):
            basis = ByTerms(rules, whole.divisors())
            factors = basis.factors(
                [piece.counts for piece in pieces], [piece.divisors() for piece in pieces] if basis.looks_ahead else []
            )
            if all(len(set(each.each)) == 1 for each in factors):
                error = whole.sketch.error([(f.each[0], piece.sketch) for f, piece in zip(factors, pieces)])
            else:
                self._method.model.zero_grad(set_to_none=True)
                for part, each in zip(parts, factors):
                    both = self._run(part, each.apply, clear=False)
                error = whole.sketch.error([(1.0, both.sketch)])
            if error <= tolerance:
                return basis, error
            nearest = min(nearest, error)
        return None, nearest

    def _by_label(
        self, whole: Ran, pieces: list[Ran], parts: list[list[int]], tolerance: float, known: Basis | None
    ) -> Basis | None:
        """Weights of labels, solved for from pairs of examples, if they explain the joint gradient."""
        size = self._window.sizes[self._index]
        for place, leaf in leaves_of(self._window.parts[self._index]):
            if not is_of_integers(leaf) or tuple(leaf.shape) != (size,):
                continue
            labels = leaf.tolist()
            if not 1 < len(set(labels)) <= _MOST_LABELS:
                continue
            weights = known.weights if isinstance(known, ByLabel) and known.place == place else {}
            if not self._solve(labels, weights):
                continue
            shares = [sum(weights[labels[row]] for row in part) for part in parts]
            factors = [share / sum(shares) for share in shares]
            if whole.sketch.error([(f, piece.sketch) for f, piece in zip(factors, pieces)]) <= tolerance:
                return ByLabel(place, weights)
        return None

    def _solve(self, labels: list[int], weights: dict[int, float]) -> bool:
        """Adds the weights of labels that have none, relative to the first one that has. False if there are none."""
        reference = next(iter(weights), Counter(labels).most_common(1)[0][0])
        if reference not in labels:
            return False
        weights.setdefault(reference, 1.0)
        row = labels.index(reference)
        one = self._run([row])
        for label in dict.fromkeys(labels):
            if label in weights:
                continue
            other = labels.index(label)
            two = self._run([other])
            share_of_two, share_of_one = self._run([row, other]).sketch.factors(two.sketch, one.sketch)
            if not (share_of_one > 0 and share_of_two >= 0):
                return False
            weights[label] = weights[reference] * share_of_two / share_of_one
        return True

    def find_by_losses(self) -> Basis | None:
        modules = self._method.modules()
        quiet = self._prover.quiet = Quiet(modules)
        self._saved = self._keeper.keep(modules)
        rows = telling_rows(self._window, self._index, 2)
        try:
            with quiet.entered(), self._method.hidden():
                whole, one, two = self._loss(rows), self._loss(rows[:1]), self._loss(rows[1:])
        finally:
            self._saved.restore()
        scale = max(abs(one), abs(two), abs(whole))
        if abs(one - two) < _TELLING * _OF_LOSS * scale:
            return None
        counts = [
            self._method.counts(cut(self._window, self._index, [row]), [row], self._window, self._index) for row in rows
        ]
        names = []
        for name in [*counts[0], "sum"]:
            values = [count.get(name, 0.0) for count in counts]
            shares = [1.0, 1.0] if name == "sum" else [value / (sum(values) or 1.0) for value in values]
            if abs(shares[0] * one + shares[1] * two - whole) <= _OF_LOSS * scale:
                names.append(name)
        return ByCount(names) if names else None

    def _loss(self, rows: list[int]) -> float:
        assert self._saved is not None
        self._saved.restore()
        return loss_of(self._method, cut(self._window, self._index, rows), len(self._window.sizes)).loss


def loss_of(method: Method, part: Any, parts: int) -> Enough:
    """The loss of a part, and the divisors of its terms, without a backward pass."""

    def end(loss: Any) -> Any:
        terms = terms_of(loss) if loss.grad_fn is not None else None
        raise Enough(float(loss), None if terms is None else [term.divisor for term in terms])

    try:
        method.run(part, parts, end)
    except Enough as enough:
        forget_frames(enough)
        return enough
    return Enough(0.0, [])  # the framework leaves this batch out


def hooked(method: Method) -> bool:
    """Whether parameters have hooks that act once their gradient is there, such as an optimizer's step."""
    return any(getattr(p, "_post_accumulate_grad_hooks", None) for p in method.model.parameters())


def telling_rows(window: Window, index: int, most: int) -> list[int]:
    """Examples of a micro batch that differ in labels and sizes, in an order by these."""
    features = features_of(window, index)
    order = sorted(range(window.sizes[index]), key=lambda row: (features[row], row))
    distinct = [row for at, row in enumerate(order) if at == 0 or features[row] != features[order[at - 1]]]
    chosen = set(_spread(distinct, most))
    for row in _spread(order, len(order)):
        if len(chosen) >= most:
            break
        chosen.add(row)
    return [row for row in order if row in chosen]


def _spread(rows: Sequence[int], most: int) -> list[int]:
    """At most so many, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    if most == 1:
        return [rows[0]]
    return [rows[round(at * (len(rows) - 1) / (most - 1))] for at in range(most)]
