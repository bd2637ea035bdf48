# SPDX-License-Identifier: MIT
"""Evaluations of Trainers: a batch that does not fit is evaluated in smaller ones, with the same result."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .blame import mark_reported
from .budget import MOST_RETRIES
from .frames import forget_frames
from .memory import is_out_of_memory, requested_bytes
from .parts import NoRows, chosen_rows, counts_of, features_of, rows_of
from .reasons import Reason
from .window import Window

if TYPE_CHECKING:
    from .run import Run

_MOST_EXAMPLES = 64  # that are evaluated together and in two parts to see what the results are made of
_SAME_RESULT = 1e-5  # relative difference of results


class Evaluation:
    """How a framework evaluates a batch."""

    def whole(self, call: Call, part: Any) -> Any:
        """The framework's own step, on a batch or a part of it."""
        raise NotImplementedError

    def numbers(self, result: Any) -> dict[str, float]:
        """Of a result, what is a mean over its batch."""
        raise NotImplementedError

    def joined(self, results: Sequence[Any], shares: Sequence[dict[str, float]]) -> Any:
        """The result of a batch from those of its pieces; `shares`: what each counts, for each of its numbers."""
        raise NotImplementedError

    def snapshot(self) -> Callable[[], None]:
        """Keeps what a step changes; returns what puts it back."""
        return lambda: None

    def hidden(self) -> contextlib.AbstractContextManager[None]:
        """While it is entered, steps are made to find something out: nothing of them stays."""
        return contextlib.nullcontext()


class Call:
    """One batch of an evaluation, as the framework has asked for it."""

    def __init__(self, part: Any, rest: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.part = part
        self.size = rows_of(part)
        self.rest = rest
        self.named = named


class Evaluations:
    """Runs the batches of evaluations, in pieces where memory is short."""

    def __init__(self, run: Run, evaluation: Evaluation) -> None:
        self._run = run
        self._evaluation = evaluation
        self.limit: int | None = None  # examples that may fit

    def run(self, part: Any, *rest: Any, **named: Any) -> Any:
        """Evaluates a batch."""
        call = Call(part, rest, named)
        if not self._run.active:
            return self._evaluation.whole(call, part)
        window = self._run._memory.begin_evaluating(part, call.size)
        try:
            return self._evaluate(call, part)
        finally:
            del window
            self._run._budget.end_evaluation()

    def _evaluate(self, call: Call, part: Any) -> Any:
        undo = self._evaluation.snapshot()
        whole = False  # it cannot be evaluated in pieces
        retries = 0
        while True:
            try:
                if whole or self.limit is None or call.size <= self.limit:
                    return self._evaluation.whole(call, part)
                return self._in_pieces(call, self.limit)
            except _NotInPieces as not_split:
                undo()
                whole, refusal = True, not_split.reason
                try:
                    return self._evaluation.whole(call, part)
                except Exception as error:
                    if is_out_of_memory(error):
                        self._report(error, call.size, refusal)
                    raise
            except Exception as caught:
                if not is_out_of_memory(caught):
                    raise
                with self._run._budget.paused():
                    forget_frames(caught)
                    undo()
                    size = min(call.size, self.limit or call.size)
                    why = self._run._budget.make_room_again()
                    if why and retries < MOST_RETRIES:
                        retries += 1
                        self._run._report_retry(size, why)
                    else:
                        self._shrink(caught, size)
                del caught

    def _shrink(self, error: Exception, size: int) -> None:
        reason = None
        if self._run.on_oom == "fail":
            reason = Reason("on-oom-fail", "on_oom is fail")
        elif size <= 1:
            reason = Reason("single-example", "a single example does not fit")
        else:
            self.limit = size // 2
        self._report(error, size, reason)
        if reason is not None:
            raise error

    def _report(self, error: Exception, size: int, reason: Reason | None) -> None:
        run, text = self._run, f"{type(error).__name__}: {error}"[:500]
        detail: dict[str, Any] = {
            "where": "evaluation",
            "attempted_batch": size,
            "requested_bytes": requested_bytes(text),
            "in_use_bytes": None,
            "limit_bytes": run._budget.bytes,
            "outcome": "not-survived" if reason else "smaller",
            "error": text,
        }
        if reason is None:
            detail["split_to"] = self.limit
        else:
            mark_reported(error)
            detail["reason"] = reason.message()
        run._event_at(run._step, "oom", detail)

    def _in_pieces(self, call: Call, limit: int) -> Any:
        with self._evaluation.hidden():
            names = self._means(call, limit)
        count = -(-call.size // limit)
        bounds = [call.size * number // count for number in range(count + 1)]
        results, counts = [], []
        for first, end in zip(bounds, bounds[1:]):
            piece = _cut(call, slice(first, end))
            results.append(self._evaluation.whole(call, piece))
            counts.append(counts_of(piece, end - first))
        shares = [
            {name: count[over] / (sum(other[over] for other in counts) or 1.0) for name, over in names.items()}
            for count in counts
        ]
        return self._evaluation.joined(results, shares)

    def _means(self, call: Call, limit: int) -> dict[str, str]:
        """What each number of the result is the mean over, seen on a few examples. Raises _NotInPieces."""
        rows = _telling(call, max(2, min(_MOST_EXAMPLES, limit)))
        first = max(1, round(len(rows) * 0.6))
        parts = [rows, rows[:first], rows[first:]]
        pieces = [_cut(call, chosen) for chosen in parts]
        whole, one, two = [self._evaluation.numbers(self._evaluation.whole(call, piece)) for piece in pieces]
        counts = [counts_of(piece, len(chosen)) for piece, chosen in zip(pieces[1:], parts[1:])]
        found = {}
        for name, value in whole.items():
            over = _mean_over(value, [one.get(name), two.get(name)], counts)
            if over is None:
                text = f"{name} is no mean over the examples of a batch"
                raise _NotInPieces(Reason("examples-interact", text, {"what": name}))
            found[name] = over
        return found


def _mean_over(whole: float, values: list[float | None], counts: list[dict[str, float]]) -> str | None:
    if None in values:
        return None
    one, two = (float(value) for value in values if value is not None)
    scale = max(abs(whole), abs(one), abs(two))
    for name in counts[0]:
        total = sum(count.get(name, 0.0) for count in counts)
        if total == 0:
            continue
        shares = [count.get(name, 0.0) / total for count in counts]
        if abs(shares[0] * one + shares[1] * two - whole) <= _SAME_RESULT * scale:
            return name
    return None


def _telling(call: Call, most: int) -> list[int]:
    """Examples that differ in labels and sizes, in an order by these."""
    size = call.size
    features = features_of(Window(None, [call.part], [size]), 0)
    order = sorted(range(size), key=lambda row: (features[row], row))
    return [order[round(at * (size - 1) / max(1, most - 1))] for at in range(min(most, size))]


def _cut(call: Call, rows: Any) -> Any:
    try:
        return chosen_rows(call.part, rows, call.size)
    except NoRows:
        raise _NotInPieces(Reason("cannot-cut", "its batch cannot be cut along its examples")) from None


class _NotInPieces(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason
