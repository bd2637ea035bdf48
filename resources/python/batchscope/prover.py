# SPDX-License-Identifier: MIT
"""Runs a few examples of a window together and apart, to find out whether and how its loss can be split."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .basis import TWICE, Basis, ByCount, ByLabel, ByTerms, Label, Ran, Rule, agreeing_counts, labels_of, rules_for
from .frames import forget_frames
from .memory import is_out_of_memory
from .parts import NoRows, cut, features_of, is_of_integers, labels_by_row, leaves_of
from .quiet import Quiet
from .reasons import Reason
from .sketch import Sketch, sketch_of
from .state import Gradients, Keeper, Saved
from .terms import terms_of

if TYPE_CHECKING:
    from .method import Method
    from .window import Window

_EXAMPLES = 8  # that are run together, if they fit
_OF_FIRST_PIECE = 0.6  # of them; pieces of different sizes tell a sum from a mean
_MOST_TRIALS = 8  # of examples, until there are some with gradients
_MOST_LABELS = 1024  # that weights are solved for one by one
_TOLERANCE = {"float64": 1e-11, "float32": 5e-6}  # relative errors of gradients that add up; others compute in 16 bit
_TOLERANCE_OF_16_BIT = 2e-2
_MOST_NOISE = {"float64": 1e-9, "float32": 1e-3}  # which is accepted if the order of the examples makes as much
_NOISE_FACTOR = 4.0
_OF_LOSS = 2e-6  # relative; for pairs that fit without gradients only
_DAMPING = 2.0**-16  # as much as the first scale of a GradScaler
_POWER = 200  # times that, by which two losses have to differ to say anything


class TooLarge(Exception):
    """So many examples do not fit."""

    def __init__(self, error: Exception, examples: int) -> None:
        super().__init__()
        self.error = error
        self.examples = examples


class Enough(Exception):
    """Ends a step once its loss is known."""

    def __init__(self, loss: float, divisors: list[float] | None, unsure: bool = False) -> None:
        super().__init__()
        self.loss = loss
        self.divisors = divisors
        self.unsure = unsure  # of one that is 1


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
            return self._by_losses(window, index, method, known)
        others = Gradients(method.others())
        most = max(2, min(limit // 2, _EXAMPLES, size))  # less than what may fit: an error would cost time
        try:
            answer = self._answer(window, index, method, most, known)
            if isinstance(answer, Reason) and answer.code in ("unclear", "cannot-compute") and most < min(limit, size):
                answer = self._answer(window, index, method, min(limit, size), known)
            return answer
        finally:
            method.model.zero_grad(set_to_none=True)
            others.restore()

    def _answer(self, window: Window, index: int, method: Method, most: int, known: Basis | None) -> Basis | Reason:
        """With so many examples together."""
        try:
            return _Attempt(self, self._keeper, window, index, method).find(most, known)
        except NoRows:
            return Reason("cannot-cut", "its batch cannot be cut along its examples")
        except Exception as error:
            forget_frames(error)
            if is_out_of_memory(error):
                raise TooLarge(error, most) from None
            return cannot_compute(error)

    def _by_losses(self, window: Window, index: int, method: Method, known: Basis | None) -> Basis | Reason:
        """Of two examples which fit together without gradients only: their losses say less."""
        refusal = Reason("pair-does-not-fit", "not even two of its examples fit, so a split cannot be verified")
        attempt = _Attempt(self, self._keeper, window, index, method)
        try:
            return attempt.find_by_losses(known) or refusal
        except Exception as error:
            forget_frames(error)
            return refusal


@dataclass
class _Trial:
    """Examples that were run together and in parts."""

    rows: list[int]
    parts: list[list[int]]
    whole: Ran
    pieces: list[Ran]


class _Attempt:
    """With examples of one micro batch."""

    def __init__(self, prover: Prover, keeper: Keeper, window: Window, index: int, method: Method) -> None:
        self._prover = prover
        self._keeper = keeper
        self._window = window
        self._index = index
        self._method = method
        self._others = method.others()
        self._parameters = [*(p for p in method.model.parameters() if p.requires_grad), *self._others]
        self._saved: Saved | None = None
        self._damping = 1.0  # of the roots, where a GradScaler's scale makes gradients overflow
        self._labels = labels_by_row(window, index)

    def find(self, most: int, known: Basis | None) -> Basis | Reason:
        modules = self._method.modules()
        quiet = self._prover.quiet = Quiet(modules)
        with quiet.entered(), self._method.hidden(), self._kept(modules):
            return self._search(most, known, quiet)

    @contextlib.contextmanager
    def _kept(self, modules: list[Any]) -> Iterator[None]:
        """Lets each run begin with the state that there is now, with norms that are quiet; ends with it, too."""
        self._saved = self._keeper.keep(modules)
        try:
            yield
        finally:
            self._saved.restore()

    def _search(self, most: int, known: Basis | None, quiet: Quiet) -> Basis | Reason:
        if isinstance(known, ByCount) and known.labels:  # only for labels that are new
            basis: Basis | None = self._covered(known, most)
            if basis is not None:
                return basis
            known = None
        trial = self._trial(most, known)
        if isinstance(trial, Reason):
            return trial
        nearest = math.inf
        differs = False  # from label to label
        for tolerance in self._tolerances(trial):
            basis, error = self._by_terms(trial, tolerance, known)
            if basis is None:
                names, error = agreeing_counts(trial.whole, trial.pieces, tolerance)
                basis = self._covered(ByCount(names, self._labels_of(trial.rows)), most) if names else None
                differs = differs or (basis is None and bool(names))
            if basis is None:
                basis = self._by_label(trial, tolerance, known)
            if basis is not None:
                basis.error = max(basis.error, error)
                return basis
            nearest = min(nearest, error)
        if quiet.mixed:
            return Reason("random-mixing", "random numbers decide which of its examples meet")
        if differs:
            return Reason("unclear", "what its loss is divided by depends on which labels its examples have")
        return self._interact(nearest)

    @staticmethod
    def _interact(error: float) -> Reason:
        text = (
            "its loss is no mean over its examples: they depend on each other "
            f"(the gradients of pieces differ from the joint one by {100 * error:.2g} %)"
        )
        return Reason("examples-interact", text, {"relative_error": error})

    def _trial(self, most: int, known: Basis | None) -> _Trial | Reason:
        """Examples together and in two parts, which have gradients; why there are none of the kind."""
        features = self._features(known)
        left = list(range(len(features)))
        second: _Trial | None = None  # one whose parts have losses, but no gradients
        trial: _Trial | None = None
        for _ in range(_MOST_TRIALS):
            if len(left) < 2:
                break
            rows = [left[number] for number in telling_rows([features[row] for row in left], most)]
            trial = self._run_apart(rows)
            if all(piece.has_gradients for piece in trial.pieces):
                return trial
            if all(piece.is_finite for piece in trial.pieces):
                second = second or trial
            silent = {row for part, piece in zip(trial.parts, trial.pieces) if not piece.has_gradients for row in part}
            alike = {features[row] for row in silent if features[row]}
            left = [row for row in left if row not in silent and features[row] not in alike]
        if second is not None:
            return second
        if trial is not None and trial.whole.has_gradients:
            return self._interact(1.0)
        return Reason("unclear", "its examples have no gradients of their own")

    def _run_apart(self, rows: list[int]) -> _Trial:
        first = min(len(rows) - 1, max(1, round(len(rows) * _OF_FIRST_PIECE)))
        parts = [rows[:first], rows[first:]]
        return _Trial(rows, parts, self._run(rows), [self._run(part) for part in parts])

    def _features(self, known: Basis | None) -> list[tuple[float, ...]]:
        """What tells examples apart: labels and sizes, and what the loss may be the mean over if that was ambiguous."""
        features = features_of(self._window, self._index)
        if isinstance(known, ByCount):
            for row in range(len(features)):
                counts = self._method.counts(cut(self._window, self._index, [row]), [row], self._window, self._index)
                features[row] = (*(counts.get(name, 0.0) for name in known.names), *features[row])
        return features

    def _labels_of(self, rows: Iterable[int]) -> set[Label]:
        return labels_of(self._labels[row] for row in rows)

    def _covered(self, basis: ByCount, most: int) -> ByCount | None:
        """The basis, once it was seen with all labels of the window; None if it does not hold for one of them.

        A loss whose graph is hidden may weigh each label in its own way.
        """
        while missing := basis.labels_in(self._labels) - basis.labels:
            rows = self._rows_with(missing, most)
            if len(rows) < 2:
                break
            trial = self._run_apart(rows)
            names, error = agreeing_counts(trial.whole, trial.pieces, next(iter(self._tolerances(trial))))
            basis = ByCount([name for name in basis.names if name in names], basis.labels | self._labels_of(rows))
            basis.error = max(basis.error, error)
            if not basis.names:
                return None
        return basis

    def _rows_with(self, missing: set[Label], most: int) -> list[int]:
        """Examples that have labels which were not seen, and one more; or several with the same label."""
        new = sorted(
            (row for row in range(len(self._labels)) if self._labels[row] & missing),
            key=lambda row: -len(self._labels[row] & missing),
        )
        if not new:
            place, value = min(missing)
            label = place[: -len(TWICE)], value
            return [row for row in range(len(self._labels)) if label in self._labels[row]][:most]
        old = [row for row in range(len(self._labels)) if row not in new]
        return sorted([*new[: most - 1], *(old or new[most - 1 :])[:1]])

    def _tolerances(self, trial: _Trial) -> Iterator[float]:
        """What precision allows; then, if rounding errors of this network are larger, those."""
        names = {str(parameter.dtype).rpartition(".")[2] for parameter in self._parameters}
        tolerance = max((_TOLERANCE.get(name, _TOLERANCE_OF_16_BIT) for name in names), default=_TOLERANCE["float32"])
        yield tolerance
        most = max((_MOST_NOISE.get(name, _TOLERANCE_OF_16_BIT) for name in names), default=0.0)
        noise = trial.whole.sketch.error([(1.0, self._run(trial.rows[::-1]).sketch)])
        if tolerance < _NOISE_FACTOR * noise and noise <= most:
            yield _NOISE_FACTOR * noise

    def _run(self, rows: list[int], scaled: Callable[[Any], Any] | None = None, clear: bool = True) -> Ran:
        """Forward and backward pass of some examples."""
        method = self._method
        assert self._saved is not None
        self._saved.restore()
        if clear:
            self._clear()
        part = cut(self._window, self._index, rows)
        terms: list[Any] = [None]
        unsure: list[bool] = [False]

        def see(loss: Any) -> Any:
            found = terms_of(loss)
            unsure[0] = any(term.is_unsure for term in found or ())
            terms[0] = None if found is None else [(term.name, term.divisor) for term in found]
            root = loss if scaled is None else scaled(loss)
            return root if self._damping == 1.0 else root * self._damping

        loss = method.run(part, len(self._window.sizes), see)
        counts = method.counts(part, rows, self._window, self._index)
        ran = Ran(0.0 if loss is None else float(loss), self._sketch(), terms[0], counts, unsure[0])
        if math.isfinite(ran.loss) and not ran.is_finite and self._damping == 1.0 and clear:
            self._damping = _DAMPING
            return self._run(rows, scaled)
        return ran

    def _sketch(self) -> Sketch:
        return Sketch(sketch_of(self._parameters).projections / self._damping)

    def _clear(self) -> None:
        self._method.model.zero_grad(set_to_none=True)
        for parameter in self._others:
            parameter.grad = None

    def _by_terms(self, trial: _Trial, tolerance: float, known: Basis | None) -> tuple[Basis | None, float]:
        """The terms that the graph shows, if they explain the joint gradient."""
        whole, pieces = trial.whole, trial.pieces
        nearest = math.inf
        for rules in rules_for(whole, pieces, counted=not isinstance(known, ByTerms)):
            basis = ByTerms(rules, whole.divisors())
            seen = [piece.divisors() for piece in pieces] if basis.looks_ahead else []
            factors = basis.factors([piece.counts for piece in pieces], seen)
            single = [each.single for each in factors]
            if None in single:
                self._clear()
                for part, each in zip(trial.parts, factors):
                    both = self._run(part, each.apply, clear=False)
                error = whole.sketch.error([(1.0, both.sketch)])
            else:
                error = whole.sketch.error([(f or 0.0, piece.sketch) for f, piece in zip(single, pieces)])
            if error <= tolerance:
                return basis, error
            nearest = min(nearest, error)
        return None, nearest

    def _by_label(self, trial: _Trial, tolerance: float, known: Basis | None) -> Basis | None:
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
            shares = [sum(weights[labels[row]] for row in part) for part in trial.parts]
            factors = [share / sum(shares) for share in shares]
            apart = [(f, piece.sketch) for f, piece in zip(factors, trial.pieces)]
            if trial.whole.sketch.error(apart) <= tolerance:
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
            if not (math.isfinite(share_of_two) and share_of_one > 0 and share_of_two >= 0):
                return False
            weights[label] = weights[reference] * share_of_two / share_of_one
        return True

    def find_by_losses(self, known: Basis | None) -> Basis | None:
        """From the losses of pairs of examples, of which only single ones fit with their gradients."""
        modules = self._method.modules()
        quiet = self._prover.quiet = Quiet(modules)
        rows = telling_rows(self._features(known), 3 * _EXAMPLES)
        with quiet.entered(), self._method.hidden(), self._kept(modules):
            rows = [row for row in rows if math.isfinite(self._loss([row]).loss)]  # some may count for nothing
            rows = _spread(rows, _EXAMPLES)
            pairs = [self._pair(one, two) for one, two in zip(rows, rows[::-1]) if one < two]
            pairs = [pair for pair in pairs if pair.tells]
            if not pairs:
                return None
            candidates = [*pairs[0].counts[0], "sum"]
            names = [name for name in candidates if all(pair.is_mean_over(name) for pair in pairs)]
            if names and self._pairs_cover(names, pairs):
                return ByCount(names, labels_of(self._labels))
            if all(pair.is_mean_by_terms() for pair in pairs):
                divisors = pairs[0].single[0].divisors or []
                return ByTerms([Rule("mean")] * len(divisors), divisors)
            return None

    def _pairs_cover(self, names: list[str], pairs: list[_Pair]) -> bool:
        """Whether what the losses are the mean over is the same with all labels of the window."""
        seen = self._labels_of(row for pair in pairs for row in pair.rows)
        reference = pairs[0].rows[0]
        for row, labels in enumerate(self._labels):
            if labels <= seen:
                continue
            pair = self._pair(reference, row)
            if math.isfinite(pair.single[1].loss):
                left = [name for name in names if pair.tells and pair.is_mean_over(name)]
            else:  # a label that is left out
                left = [name for name in names if pair.counts[1].get(name) == 0]
            if not left:
                return False
            names[:] = left
            seen |= labels
        for place, value in ByCount(names, set()).labels_in(self._labels) - set().union(*self._labels):
            label = place[: -len(TWICE)], value
            one, two = [row for row, labels in enumerate(self._labels) if label in labels][:2]
            if "sum" in names and not self._pair(one, two).is_mean_over("sum"):
                names.remove("sum")
        return bool(names)

    def _pair(self, one: int, two: int) -> _Pair:
        import torch

        counts = [
            self._method.counts(cut(self._window, self._index, [row]), [row], self._window, self._index)
            for row in (one, two)
        ]
        with torch.no_grad():
            joint = self._loss([one, two]).loss
        return _Pair([one, two], counts, joint, [self._loss([one]), self._loss([two])])

    def _loss(self, rows: list[int]) -> Enough:
        assert self._saved is not None
        self._saved.restore()
        return loss_of(self._method, cut(self._window, self._index, rows), len(self._window.sizes))


@dataclass
class _Pair:
    """Two examples: their loss together, and that of each."""

    rows: list[int]
    counts: list[dict[str, float]]
    joint: float
    single: list[Enough]

    @property
    def _scale(self) -> float:
        return max(abs(self.joint), *(abs(one.loss) for one in self.single))

    @property
    def tells(self) -> bool:
        """Whether the losses differ enough to say what the joint one is made of."""
        one, two = (single.loss for single in self.single)
        return abs(one - two) >= _POWER * _OF_LOSS * self._scale

    def is_mean_over(self, name: str) -> bool:
        """Whether the joint loss is the mean over a count."""
        values = [1.0, 1.0] if name == "sum" else [count.get(name, 0.0) for count in self.counts]
        return self._is_mean(values, name == "sum")

    def is_mean_by_terms(self) -> bool:
        """Whether it is the mean over what the graph of each loss shows, the same for all of its terms."""
        one, two = (single.divisors or [] for single in self.single)
        if not one or len(one) != len(two) or 0 in one:
            return False
        ratios = [other / own for own, other in zip(one, two)]
        if max(ratios) - min(ratios) > _OF_LOSS * max(ratios):
            return False
        return self._is_mean([1.0, ratios[0]], False)

    def _is_mean(self, values: list[float], adds: bool) -> bool:
        whole = 1.0 if adds else sum(values)
        if whole == 0:
            return False
        joint = sum(value / whole * single.loss for value, single in zip(values, self.single) if value)
        return abs(joint - self.joint) <= _OF_LOSS * self._scale


def loss_of(method: Method, part: Any, parts: int) -> Enough:
    """The loss of a part, and the divisors of its terms, without a backward pass."""

    def end(loss: Any) -> Any:
        terms = terms_of(loss) if loss.grad_fn is not None else None
        if terms is None:
            raise Enough(float(loss.detach()), None)
        raise Enough(float(loss.detach()), [t.divisor for t in terms], any(t.is_unsure for t in terms))

    try:
        method.run(part, parts, end)
    except Enough as enough:
        forget_frames(enough)
        return enough
    return Enough(0.0, [])  # the framework leaves this batch out


def cannot_compute(error: Exception) -> Reason:
    """The loss of a few examples raises an error."""
    text = f"{type(error).__name__}: {error}"[:300]
    return Reason("cannot-compute", f"its loss cannot be computed for a few examples: {text}", {"error": text})


def hooked(method: Method) -> bool:
    """Whether parameters have hooks that act once their gradient is there, such as an optimizer's step."""
    return any(getattr(p, "_post_accumulate_grad_hooks", None) for p in method.model.parameters())


def telling_rows(features: Sequence[tuple[float, ...]], most: int) -> list[int]:
    """Examples whose features differ, in an order by these: the first and the last by each of them, then others."""
    order = sorted(range(len(features)), key=lambda row: (features[row], row))
    distinct = [row for at, row in enumerate(order) if at == 0 or features[row] != features[order[at - 1]]]
    extremes = [
        choose(order, key=lambda row: features[row][column])
        for column in range(len(features[0]) if features else 0)
        for choose in (min, max)
    ]
    chosen: dict[int, None] = {}
    for row in [*extremes, *_spread(distinct, most), *order]:
        if len(chosen) < most:
            chosen[row] = None
    return [row for row in order if row in chosen]


def _spread(rows: Sequence[int], most: int) -> list[int]:
    """At most so many, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    if most == 1:
        return [rows[0]]
    return [rows[round(at * (len(rows) - 1) / (most - 1))] for at in range(most)]
