# SPDX-License-Identifier: MIT
"""Runs the examples of a step, in smaller pieces if memory is short."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .basis import EXACT, Basis, ByCount, Changed, Factors
from .blame import mark_reported
from .budget import MOST_RETRIES
from .contrastive import Contrastive
from .frames import forget_frames
from .memory import is_out_of_memory, requested_bytes
from .method import Method, times
from .parts import cut, labels_by_row
from .prover import Prover, TooLarge, cannot_compute, loss_of
from .ranks import Ranks, why_not_distributed_model, without_exchange
from .reasons import Reason
from .state import Gradients, Keeper, RandomState
from .wire import Message

if TYPE_CHECKING:
    from .run import Run
    from .window import Window

_SHARE_OF_CHECKS = 0.01  # of the time, for verifying again what was verified
_MOST_VERDICTS = 64
_MOST_SURPRISES = 2  # of one window


class Piece:
    """A micro batch, or a part of one."""

    __slots__ = ("counts", "factors", "first", "index", "size", "times", "whole", "window")

    def __init__(self, window: Window, index: int, first: int, size: int) -> None:
        self.window = window
        self.index = index  # of the micro batch
        self.first = first  # its first example within the micro batch
        self.size = size
        self.whole = size == window.sizes[index]
        self.times = 1.0  # what the micro batch counts within the window
        self.factors: Factors | None = None  # what the piece counts within the micro batch; None: it is all of it
        self.counts: dict[str, float] = {}

    def part(self) -> Any:
        """Its inputs. Those that have to be collated anew are made each time, and not kept."""
        if self.whole:
            return self.window.parts[self.index]
        return cut(self.window, self.index, slice(self.first, self.first + self.size))

    def rows(self) -> list[int]:
        """Its examples within the micro batch."""
        return list(range(self.first, self.first + self.size))

    @property
    def is_left_out(self) -> bool:
        """Nothing of it counts."""
        return self.times == 0 or (self.factors is not None and self.factors.are_zero)


def _evenly(size: int, limit: int | None) -> list[int]:
    """Sizes of at most `limit` that differ by at most 1 and add up to `size`."""
    count = 1 if not limit else -(-size // limit)
    return [size // count + (index < size % count) for index in range(count)]


@dataclass
class Verdict:
    """What was found out about a loss."""

    answer: Basis | Reason
    seconds: float = 0.0  # that finding it took
    steps: int = 0  # since then
    in_doubt: bool = False  # another window has shown that it does not hold


class Splitter:
    """Runs windows, in pieces where memory is short. What was learnt about the memory is kept."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.limit: int | None = None  # the largest piece that may fit
        self.updating = False  # within optimizer.step
        self.verdicts: dict[Any, Verdict] = {}  # by the key of a Method
        self.keeper = Keeper()
        self._prover = Prover(Keeper())
        self._look_ahead_keeper = Keeper()
        self._takes: dict[int, list[int]] = {}  # examples of the pieces of each micro batch
        self._told: dict[Any, str] = {}  # what was said of each loss
        self.losses: list[Any] = []  # of the last window's micro batches
        self._ended: set[int] = set()  # micro batches of this window
        self._untold: list[Message] = []  # errors of this step on a rank that rank 0 reports
        self.running = 0  # size of the piece that is being run
        self._proved = False  # something about this window's loss was found out
        self._step_began = 0.0
        self._step_seconds = 0.0  # of the last split step

    def run(self, window: Window, method: Method, first: int = 0) -> Any:
        """Computes the gradients of a window; an out-of-memory error costs time only. On several ranks together.

        Of a window whose micro batches come one by one, those before `first` have been run already, and are run again
        only after an error. Returns the loss of what was run this time.
        """
        if self._run._never_split is not None:
            return self._whole(window, method, self._run._never_split)
        if self._run._ranks is not None:
            return self._together(window, method, self._run._ranks, first)
        return self._alone(window, method, first)

    def _whole(self, window: Window, method: Method, why: Reason) -> Any:
        """As plain torch runs it: there is nothing to be done about an error."""
        run = self._run
        run._tell_once("split", why)
        run._memory.begin_computing(tuple(window.sizes))
        try:
            return method.run_plainly(window)
        except Exception as error:
            if is_out_of_memory(error):
                mark_reported(error)
                self._report_error(max(window.sizes), error, None, why)
            raise

    # ---- several ranks ----

    def _together(self, window: Window, method: Method, ranks: Ranks, begin: int) -> Any:
        """Each rank runs its window, in as many pieces as it must; then the gradients are averaged once.

        Not by DistributedDataParallel, which averages within a backward pass: if that fails on one rank, the others
        would wait for ever.
        """
        wrapped, loss, error = method.wrapped, None, None
        why_not = why_not_distributed_model(wrapped, ranks)
        if why_not is not None:
            self._run._tell_once("together", Reason("several-ranks", why_not, {"what": why_not}))
            return method.run_plainly(window)
        if begin == 0:
            ranks.share_buffers(wrapped)
            self._untold.clear()
        with without_exchange(wrapped):
            if window.parts:
                try:
                    loss = self._alone(window, method, begin)
                except Exception as caught:
                    if not is_out_of_memory(caught):
                        raise
                    error = caught
            else:
                method.model.zero_grad(set_to_none=True)
        if len(window.parts) < len(window.sizes) and error is None:
            return loss  # the others come later
        share, missing = self._agree(window, method, ranks, error)
        ranks.average(wrapped, share, missing)
        return ranks.mean(wrapped, loss, share)

    def _agree(self, window: Window, method: Method, ranks: Ranks, error: Exception | None) -> tuple[float, bool]:
        """How many times this rank's gradients count, and whether a rank lacks some; raises if a rank has failed."""
        loader = self._run._loader
        sizes = [] if loader is None else [*loader._window, loader.seen]
        missing = any(p.requires_grad and p.grad is None for p in method.wrapped.parameters())
        weight = method.rank_weight(window)
        answers = ranks.gather([error is not None, weight, missing, len(self._untold), *sizes])
        if any(answer[3] for answer in answers):
            self._tell_of_ranks(ranks)
        if error is not None:
            raise error
        failed = [rank for rank, answer in enumerate(answers) if answer[0]]
        if failed:
            raise RuntimeError(f"batchscope: rank {failed[0]} has run out of memory")
        if any(answer[4:] != answers[0][4:] for answer in answers):
            raise RuntimeError(
                "batchscope: the program has set another batch size on some ranks: "
                + ", ".join(f"{int(answer[4])} on rank {rank}" for rank, answer in enumerate(answers))
            )
        whole = sum(answer[1] for answer in answers)
        equal = all(answer[1] == weight for answer in answers)
        return 1.0 if equal else weight * ranks.size / whole, any(answer[2] for answer in answers)

    def _tell_of_ranks(self, ranks: Ranks) -> None:
        """Rank 0 reports the errors that other ranks have survived or not."""
        run = self._run
        for rank, details in enumerate(ranks.gather_objects(self._untold)):
            for detail in details if run._rank == 0 else ():
                run._report_shortage({"rank": rank, **detail})

    # ---- one process ----

    def _alone(self, window: Window, method: Method, begin: int) -> Any:
        self._run._memory.begin_computing(tuple(window.sizes))
        if begin == 0:
            self._ended.clear()
            self._takes.clear()
            window.saved = self.keeper.keep(method.modules()), method.snapshot(), Gradients(method.others())
        retries = surprises = 0
        refusal: Reason | None = None  # it cannot be split: it is run whole, which may fit
        self._step_began = time.monotonic()
        if begin == 0 and not method.clears_gradients:
            method.model.zero_grad(set_to_none=True)
        while True:
            try:
                return self._attempt(window, method, begin, refusal is not None)
            except _Restart:
                begin = self._begin_again(window, method)
                continue
            except (Changed, _NotSplit) as unexpected:
                forget_frames(unexpected)
                surprises += 1
                if isinstance(unexpected, _NotSplit):
                    refusal = unexpected.refusal
                elif surprises > _MOST_SURPRISES:
                    refusal = Reason("unclear", "what its loss is the mean over differs from piece to piece")
                self._doubt(method)
                begin = self._begin_again(window, method)
                continue
            except Exception as caught:
                counted = self._run._budget.pause()  # to handle the error takes memory, too
                if isinstance(caught, TooLarge):
                    self.running, caught = caught.examples, caught.error
                if not is_out_of_memory(caught) or self.updating:
                    self._run._budget.resume()
                    raise
                error = caught
                memory = self._run._account.memory
                in_use = counted or (memory.allocated() if memory else None)
                forget_frames(error)
            begin = self._begin_again(window, method)
            why = self._run._budget.make_room_again()
            if why and retries < MOST_RETRIES:
                retries += 1
                self._run._report_retry(self.running, why)
            else:
                self._shrink(window, method, error, in_use, refusal)
            del error

    @staticmethod
    def _begin_again(window: Window, method: Method) -> int:
        """Undoes what the window has done; returns the micro batch that it begins with, the first one."""
        method.model.zero_grad(set_to_none=True)
        saved, undo, others = window.saved
        undo()
        others.restore()
        saved.restore()
        return 0

    def _attempt(self, window: Window, method: Method, begin: int, whole: bool) -> Any:
        fits = whole or self.limit is None or max(window.sizes) <= self.limit
        if not fits and self._run._probe is not None:
            return self._taste(window, method)
        if isinstance(method, Contrastive):
            return self._run_together(window, method, fits)
        if fits:
            return self._run_all(self._whole_parts(window, method, begin), window, method, [])
        pieces = self._pieces(window, method, begin)
        self._proved = False
        randoms = self._weigh(pieces, window, method)
        if self._proved and begin > 0:
            raise _Restart  # the gradients of earlier micro batches are gone
        loss = self._run_all(pieces, window, method, randoms)
        self._step_seconds = time.monotonic() - self._step_began
        return loss

    def _run_all(self, pieces: list[Piece], window: Window, method: Method, randoms: list[RandomState]) -> Any:
        parts = len(window.sizes)
        losses: list[Any] = [None] * parts
        for number, piece in enumerate(pieces):
            index = piece.index
            if not piece.is_left_out:
                if randoms:
                    randoms[number].restore()
                self.running = piece.size
                method.begins(index, parts)
                losses[index] = _added(losses[index], self._run_piece(piece, parts, method))
            last = piece.first + piece.size == window.sizes[index]
            if last and index not in self._ended:
                self._ended.add(index)
                method.ended(index, parts)
        for index in {piece.index for piece in pieces}:
            self._takes[index] = [piece.size for piece in pieces if piece.index == index]
        self._run._takes = [size for index in sorted(self._takes) for size in self._takes[index]]
        self.losses = [loss for loss in losses if loss is not None]
        return functools.reduce(_added, losses)

    def _run_together(self, window: Window, method: Contrastive, whole: bool) -> Any:
        pieces = self._whole_parts(window, method) if whole else self._pieces(window, method)
        if len(pieces) > len(window.parts):
            self._verdict(pieces, window, method)

        def running(piece: Piece) -> None:
            self.running = piece.size

        loss = method.run_together(pieces, window.saved[0], running)
        self._run._takes = [piece.size for piece in pieces]
        return loss

    def _run_piece(self, piece: Piece, parts: int, method: Method) -> Any:
        """Adds the gradients of a piece; returns what it has of the window's loss."""
        factors = piece.factors
        if factors is None:
            loss = method.run(piece.part(), parts, times(piece.times))
            return None if loss is None else times(piece.times)(loss)
        with factors.watched() as value_of:
            try:
                loss = method.run(piece.part(), parts, lambda loss: factors.apply(loss, piece.times))
            except Exception as error:
                if isinstance(error, Changed) or is_out_of_memory(error):
                    raise
                raise _NotSplit(cannot_compute(error)) from None  # such as statistics of a single example
            return None if loss is None else times(piece.times)(value_of(loss))

    def _taste(self, window: Window, method: Method) -> Any:
        """A size that is tried has failed, and its gradients are thrown away: a few of its examples go on."""
        piece = Piece(window, 0, 0, min(self.limit or 1, window.sizes[0]))
        self.running = piece.size
        loss = method.run(piece.part(), len(window.parts), lambda loss: loss)
        self._run._takes = list(window.sizes)
        return loss

    def _whole_parts(self, window: Window, method: Method, begin: int = 0) -> list[Piece]:
        weights = method.part_weights(window) if len(window.sizes) > 1 else None
        pieces = [Piece(window, index, 0, window.sizes[index]) for index in range(begin, len(window.parts))]
        if weights is not None:
            total = sum(weights) or 1.0
            for piece in pieces:
                piece.times = weights[piece.index] / total
        return pieces

    def _pieces(self, window: Window, method: Method, begin: int = 0) -> list[Piece]:
        """Of micro batches that are too large, pieces; they are not weighed yet."""
        pieces: list[Piece] = []
        for part in self._whole_parts(window, method, begin):
            sizes = _evenly(part.size, self.limit)
            if len(sizes) == 1:
                pieces.append(part)
                continue
            for number, size in enumerate(sizes):
                piece = Piece(window, part.index, sum(sizes[:number]), size)
                piece.times = part.times
                pieces.append(piece)
        return pieces

    def _weigh(self, pieces: list[Piece], window: Window, method: Method) -> list[RandomState]:
        """Gives each piece its factors. Returns the random numbers that each begins with, if that matters. Raises
        Changed or _NotSplit.
        """
        split = [piece for piece in pieces if not piece.whole]
        if not split:
            return []
        verdict = self._verdict(pieces, window, method)
        basis = verdict.answer
        assert isinstance(basis, Basis)
        for piece in split:
            part = piece.part()
            piece.counts = method.counts(part, piece.rows(), window, piece.index)
            basis.extend(piece.counts, part)
        randoms: list[RandomState] = []
        divisors: dict[int, list[float]] = {}
        if basis.looks_ahead:
            randoms, divisors = self._look_ahead(pieces, window, method)
        for index in {piece.index for piece in split}:
            own = [(number, piece) for number, piece in enumerate(pieces) if piece.index == index]
            seen = [divisors[number] for number, _ in own] if basis.looks_ahead else []
            for (_, piece), factors in zip(own, basis.factors([piece.counts for _, piece in own], seen)):
                piece.factors = factors
        verdict.steps += 1
        return randoms

    def _look_ahead(
        self, pieces: list[Piece], window: Window, method: Method
    ) -> tuple[list[RandomState], dict[int, list[float]]]:
        """Runs all pieces forward for what their means divide by."""
        randoms: list[RandomState] = []
        divisors: dict[int, list[float]] = {}
        before = self._look_ahead_keeper.keep(method.modules())
        for number, piece in enumerate(pieces):
            randoms.append(RandomState())
            self.running = piece.size
            with method.hidden():
                found = loss_of(method, piece.part(), len(window.sizes))
                if found.divisors is None or (found.unsure and not self._adds_up(piece, method)):
                    raise Changed
            divisors[number] = found.divisors
        before.restore()
        return randoms, divisors

    @staticmethod
    def _adds_up(piece: Piece, method: Method) -> bool:
        """Whether the divisors of a piece's examples add up to its own; of a single example with one beside it."""
        window, rows = piece.window, piece.rows()
        if len(rows) == 1:
            rows.append(rows[0] + 1 if rows[0] + 1 < window.sizes[piece.index] else rows[0] - 1)
        half = len(rows) // 2
        whole, one, two = (
            loss_of(method, cut(window, piece.index, some), len(window.sizes)).divisors
            for some in (rows, rows[:half], rows[half:])
        )
        if whole is None or one is None or two is None or not len(whole) == len(one) == len(two):
            return False
        return all(math.isclose(a + b, both, rel_tol=EXACT) for a, b, both in zip(one, two, whole))

    # ---- what is known of a loss ----

    def _verdict(self, pieces: list[Piece], window: Window, method: Method) -> Verdict:
        key = method.key()
        verdict = self.verdicts.get(key)
        split = [piece for piece in pieces if not piece.whole]
        if verdict is not None and not self._is_due(verdict, window, split):
            return verdict
        known = None if verdict is None else verdict.answer
        if verdict is not None and verdict.in_doubt and isinstance(known, ByCount):
            known.labels.clear()  # and is to be seen with all of them again
        index = max({piece.index for piece in split}, key=lambda number: window.sizes[number])
        self._proved = True
        began = time.monotonic()
        limit = self.limit or 1
        answer = self._prover.find(window, index, method, limit, known if isinstance(known, Basis) else None)
        if isinstance(answer, Reason):
            self.verdicts.pop(key, None)
            raise _NotSplit(answer)
        verdict = Verdict(answer, time.monotonic() - began)
        self._remember(key, verdict)
        self._tell(key, verdict, len(split))
        return verdict

    def _remember(self, key: Any, verdict: Verdict) -> None:
        self.verdicts[key] = verdict
        while len(self.verdicts) > _MOST_VERDICTS:
            self.verdicts.pop(next(iter(self.verdicts)))

    def _is_due(self, verdict: Verdict, window: Window, split: list[Piece]) -> bool:
        """Whether to verify again: every so often, and for labels that a loss with a hidden graph has not had."""
        if verdict.in_doubt or verdict.steps * self._step_seconds * _SHARE_OF_CHECKS > verdict.seconds:
            return True
        if not isinstance(verdict.answer, ByCount):
            return False
        return any(
            not verdict.answer.labels_in(labels_by_row(window, index)) <= verdict.answer.labels
            for index in {piece.index for piece in split}
        )

    def _doubt(self, method: Method) -> None:
        """What was found does not hold for this window: it is found anew."""
        verdict = self.verdicts.get(method.key())
        if verdict is not None:
            verdict.in_doubt = True

    def _tell(self, key: Any, verdict: Verdict, pieces: int) -> None:
        """Says once how a loss is split, and again when that is another way."""
        basis, quiet = verdict.answer, self._prover.quiet
        assert isinstance(basis, Basis)
        if self._told.get(key) == basis.name or self._run._rank > 0:
            return
        self._told[key] = basis.name
        self._run._event_at(
            self._run._step + 1,
            "split",
            {
                "mean_over": basis.name,
                "relative_error": basis.error,
                "pieces": pieces,
                "batch_norm": bool(quiet and quiet.batch_norm),
                "random": bool(quiet and quiet.drew),
            },
        )

    # ---- after an error ----

    def _shrink(
        self, window: Window, method: Method, error: Exception, in_use: int | None, refusal: Reason | None
    ) -> None:
        """Halves the size of pieces, or lets the error go on if that does not help or would change the result."""
        run, size = self._run, self.running
        larger: TooLarge | None = None
        if refusal is not None:
            pass
        elif run.on_oom == "fail":
            refusal = Reason("on-oom-fail", "on_oom is fail")
        elif size <= 1:
            refusal = Reason("single-example", "a single example does not fit")
        elif run._probe is None:
            try:
                refusal = self._why_not(window, method, size // 2)
            except TooLarge as too_large:
                larger = too_large
        self._report_error(size, error, in_use, refusal)
        if refusal is None:
            self.limit = max(1, size // 2)
        elif not run._memory.take_budget_back(refusal.text):
            mark_reported(error)
            raise error from RuntimeError(f"batchscope did not split this step: {refusal.text}")
        if larger is not None:
            self.running = larger.examples
            self._shrink(window, method, larger.error, None, None)

    def _report_error(self, size: int, error: Exception, in_use: int | None, refusal: Reason | None) -> None:
        run, text = self._run, f"{type(error).__name__}: {error}"[:500]
        detail: Message = {
            "attempted_batch": size,
            "requested_bytes": requested_bytes(text),
            "in_use_bytes": in_use,
            "limit_bytes": run._budget.bytes,
            "where": "training",
            "outcome": "not-survived" if refusal else "split",
            "error": text,
        }
        if refusal is None:
            detail["split_to"] = max(1, size // 2)
        else:
            detail["reason"] = refusal.message()
        if run._ranks is not None and run._rank > 0:
            self._untold.append(detail)
        else:
            run._report_shortage(detail)

    def _why_not(self, window: Window, method: Method, limit: int) -> Reason | None:
        """Why the window cannot be split into pieces of this size; None if it can be."""
        before, self.limit = self.limit, max(1, limit)
        try:
            self._verdict(self._pieces(window, method), window, method)
        except _NotSplit as not_split:
            return not_split.refusal
        finally:
            self.limit = before
        return None


class _Restart(Exception):
    """The window has to be run from its beginning."""


class _NotSplit(Exception):
    def __init__(self, refusal: Reason) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def _added(one: Any, two: Any) -> Any:
    return two if one is None else one if two is None else one + two
