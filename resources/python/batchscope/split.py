# SPDX-License-Identifier: MIT
"""Runs the examples of a step, in smaller pieces if memory is short."""

from __future__ import annotations

import contextlib
import math
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

from .loader import Window
from .memory import is_out_of_memory, requested_bytes
from .parts import NoRows, chosen_rows, counts_of, cut, labels_of, rows_of
from .ranks import Ranks, why_not_distributed_model, without_exchange
from .wire import Message

if TYPE_CHECKING:
    from .run import Run


MOST_RETRIES = 3  # of a step for which libraries take memory beside it


class Piece:
    """A micro batch, or a part of one."""

    __slots__ = ("divisor", "first", "index", "part", "size")

    def __init__(self, part: Any, size: int, first: int, index: int) -> None:
        self.part = part
        self.size = size
        self.first = first  # its first example within the micro batch
        self.index = index  # of the micro batch
        self.divisor = 1.0  # of its loss


def _evenly(size: int, limit: int | None) -> list[int]:
    """Sizes of at most `limit` that differ by at most 1 and add up to `size`."""
    count = 1 if not limit else -(-size // limit)
    return [size // count + (index < size % count) for index in range(count)]


class Saved:
    """What a failed attempt has changed: random numbers and the statistics of batch norms."""

    def __init__(self, model: Any) -> None:
        import torch

        self._cpu = torch.get_rng_state()
        cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._cuda = torch.cuda.get_rng_state_all() if cuda else None
        norms = (torch.nn.modules.batchnorm._NormBase,)
        self._buffers = [
            (b, b.clone())
            for m in model.modules()
            if isinstance(m, norms) and m.training
            for b in m.buffers(recurse=False)
        ]

    def restore(self) -> None:
        import torch

        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        for buffer, value in self._buffers:
            buffer.copy_(value)


@contextlib.contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode without gradients, and every module as it was afterwards."""
    import torch

    modes = [(module, module.training) for module in model.modules()]
    saved = Saved(model)
    try:
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        saved.restore()


@contextlib.contextmanager
def _shaken(model: Any, strength: float) -> Iterator[None]:
    """Parameters with noise, so that losses of examples differ even before training; exactly restored."""
    import torch

    if strength == 0:
        yield
        return
    generator = torch.Generator().manual_seed(1)
    parameters = [p for p in model.parameters() if p.is_floating_point()]
    saved = [p.detach().clone() for p in parameters]
    try:
        with torch.no_grad():
            for p in parameters:
                noise = torch.randn(p.shape, generator=generator).to(p.device, p.dtype)
                p.add_(noise * (strength * max(0.05, float(p.detach().float().std(unbiased=False)))))
        yield
    finally:
        with torch.no_grad():
            for p, value in zip(parameters, saved):
                p.copy_(value)


class Method:
    """How a framework computes the loss of a micro batch and its gradients."""

    model: Any
    key: Any  # of the loss function
    wrapped: Any = None  # the DistributedDataParallel around the model, on several ranks

    def backward(self, piece: Piece, parts: int) -> Any:
        """Adds the gradients of piece's loss / piece.divisor; returns that loss, detached."""
        raise NotImplementedError

    def measure(self, part: Any) -> float:
        """The loss of a batch as the framework computes it."""
        raise NotImplementedError

    def part_weights(self, window: Window) -> list[float] | None:
        """What each micro batch counts within the window; None if backward() knows it."""
        return None

    def rank_weight(self, window: Window) -> float:
        """What this rank's loss counts among those of all ranks."""
        return float(sum(self.part_weights(window) or window.sizes))

    def counts(self, piece: Piece, window: Window) -> dict[str, float]:
        return counts_of(piece.part, piece.size)


class PlainMethod(Method):
    """A function of the program that returns the mean loss."""

    def __init__(
        self,
        fn: Callable[..., Any],
        model: Any,
        weight: Callable[[list[Any]], float] | None,
        mark: Callable[[str], None],
    ) -> None:
        self._fn = fn
        self._weight = weight
        self._mark = mark
        self.model = self.wrapped = model
        while not hasattr(fn, "__code__") and hasattr(fn, "func"):  # a functools.partial, made anew for each step
            fn = fn.func
        self.key = getattr(fn, "__code__", fn)

    def _loss(self, part: Any) -> Any:
        return self._fn(*part) if isinstance(part, (tuple, list)) else self._fn(part)

    def backward(self, piece: Piece, parts: int) -> Any:
        self._mark("forward")
        loss = self._loss(piece.part)
        if piece.divisor != 1.0:
            loss = loss / piece.divisor
        self._mark("backward")
        loss.backward()
        return loss.detach()

    def measure(self, part: Any) -> float:
        return float(self._loss(part))

    def part_weights(self, window: Window) -> list[float] | None:
        examples = self._weighed(window)
        if self._weight is None or examples is None:
            return [float(size) for size in window.sizes]
        ends = [sum(window.sizes[:index]) for index in range(len(window.sizes) + 1)]
        return [float(self._weight(examples[a:b])) for a, b in zip(ends, ends[1:])]

    def counts(self, piece: Piece, window: Window) -> dict[str, float]:
        counts = counts_of(piece.part, piece.size)
        examples = self._weighed(window)
        if self._weight is not None and examples is not None:
            first = sum(window.sizes[: piece.index]) + piece.first
            counts = {"weight": float(self._weight(examples[first : first + piece.size])), **counts}
        return counts

    def _weighed(self, window: Window) -> list[Any] | None:
        """The examples that the weight counts; None if there is no weight, or the batch is not of Run.loader."""
        if self._weight is None:
            return None
        if window._loader is not None and window.examples is None:
            raise TypeError(
                "batchscope: this weight needs the examples, which are kept only if the first step uses "
                "them; say run.loader(..., examples=True)"
            )
        return window.examples


class Splitter:
    """Runs windows, in pieces where memory is short. What was learnt about the memory is kept."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.limit: int | None = None  # the largest piece that may fit
        self.updating = False  # within optimizer.step
        self._mean_over: dict[Any, str] = {}  # what each loss is the mean over; "sum" if pieces just add up
        self._untold: list[Message] = []  # errors of this step on a rank that rank 0 reports
        self._running = 0  # size of the piece that is being run

    def plain(
        self, window: Window, fn: Callable[..., Any], model: Any, weight: Callable[[list[Any]], float] | None
    ) -> Any:
        tracer = self._run._tracer
        return self.run(window, PlainMethod(fn, model, weight, tracer.mark if tracer else nothing))

    def run(self, window: Window, method: Method) -> Any:
        """Computes the gradients of a window; an out-of-memory error costs time only. On several ranks together."""
        if self._run._ranks is not None:
            return self._together(window, method, self._run._ranks)
        return self._alone(window, method)

    def _together(self, window: Window, method: Method, ranks: Ranks) -> Any:
        """Each rank runs its window, in as many pieces as it must; then the gradients are averaged once.

        Not by DistributedDataParallel, which averages within a backward pass: if that fails on one rank, the others
        would wait for ever.
        """
        wrapped, loss, error = method.wrapped, None, None
        why_not = why_not_distributed_model(wrapped, ranks)
        if why_not is not None:
            raise TypeError(f"batchscope on several ranks {why_not}; use Run.report instead")
        ranks.share_buffers(wrapped)
        self._untold.clear()
        with without_exchange(wrapped):
            if window.parts:
                try:
                    loss = self._alone(window, method)
                except Exception as caught:
                    if not is_out_of_memory(caught):
                        raise
                    error = caught
            else:
                method.model.zero_grad(set_to_none=True)
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

    def _alone(self, window: Window, method: Method) -> Any:
        saved = Saved(method.model)
        retries = 0
        if self.limit is not None and max(window.sizes) > self.limit and method.key not in self._mean_over:
            self._find_mean(window, method)
        while True:
            method.model.zero_grad(set_to_none=True)
            try:
                return self._attempt(window, method)
            except Exception as caught:
                counted = self._run._budget.pause()  # to handle the error takes memory, too
                if not is_out_of_memory(caught) or self.updating:
                    self._run._budget.resume()
                    raise
                error = caught
                in_use = counted or (self._run._memory.allocated() if self._run._memory else None)
                forget_frames(error)
            method.model.zero_grad(set_to_none=True)
            saved.restore()
            if self._run._budget.make_room_again() and retries < MOST_RETRIES:
                retries += 1
                self._run._report_retry(self._running)
            else:
                self._shrink(window, method, error, in_use)
            del error

    def _attempt(self, window: Window, method: Method) -> Any:
        pieces = self._pieces(window, method)
        total = None
        for piece in pieces:
            if piece.divisor == math.inf:
                continue  # nothing of it counts
            self._running = piece.size
            loss = method.backward(piece, len(window.parts))
            if loss is not None:
                total = loss if total is None else total + loss
        self._run._takes = [piece.size for piece in pieces]
        return total

    def _pieces(self, window: Window, method: Method) -> list[Piece]:
        pieces: list[Piece] = []
        weights = method.part_weights(window)
        for index, (part, size) in enumerate(zip(window.parts, window.sizes)):
            own = [Piece(part, size, 0, index)]
            sizes = _evenly(size, self.limit if method.key in self._mean_over else None)
            if len(sizes) > 1:
                firsts = [sum(sizes[:number]) for number in range(len(sizes))]
                own = [Piece(cut(window, index, slice(a, a + n)), n, a, index) for a, n in zip(firsts, sizes)]
                self._share(own, method, window)
            if weights is not None and len(window.parts) > 1:
                for piece in own:
                    piece.divisor *= sum(weights) / weights[index] if weights[index] else math.inf
            pieces += own
        return pieces

    def _share(self, pieces: list[Piece], method: Method, window: Window) -> None:
        name = self._mean_over[method.key]
        if name == "sum":
            return
        counts = [method.counts(piece, window)[name] for piece in pieces]
        for piece, count in zip(pieces, counts):
            piece.divisor = sum(counts) / count if count else math.inf

    def _shrink(self, window: Window, method: Method, error: Exception, in_use: int | None) -> None:
        """Halves the size of pieces, or lets the error go on if that does not help or would change the result."""
        run, size, text = self._run, self._running, f"{type(error).__name__}: {error}"[:500]
        reason = None
        if run.on_oom == "fail":
            reason = "on_oom is fail"
        elif size <= 1:
            reason = "a single example does not fit"
        elif method.key not in self._mean_over:
            reason = self._find_mean(window, method)
        detail: Message = {
            "attempted_batch": size,
            "requested_bytes": requested_bytes(text),
            "in_use_bytes": in_use,
            "limit_bytes": run._budget.bytes,
            "cause": "training step",
            "text": text,
            "action": f"not split: {reason}" if reason else f"split into micro batches of at most {size // 2}",
        }
        if run._ranks is not None and run._rank > 0:
            self._untold.append(detail)
        else:
            run._report_shortage(detail)
        if reason is None:
            self.limit = max(1, size // 2)
        elif not run._take_budget_back(reason):
            raise error from RuntimeError(f"batchscope did not split this step: {reason}")

    # ---- what the loss is the mean over ----

    def _find_mean(self, window: Window, method: Method) -> str | None:
        """Finds out what weights pieces have in their joint loss; returns why that is not possible."""
        index = max(range(len(window.parts)), key=lambda i: window.sizes[i])
        if window.sizes[index] < 2:
            return "a single example does not fit"
        try:
            with self._run._budget.lifted(), evaluating(method.model):
                for strength in (0.0, 0.3, 1.0, 3.0):
                    with _shaken(method.model, strength):
                        answer = self._solve(window, index, method)
                    if answer != "alike":
                        break
        except NoRows:
            return "its batch cannot be cut along the examples"
        except Exception as error:
            forget_frames(error)
            if is_out_of_memory(error):
                return "not even two examples fit"
            return f"its loss cannot be computed for single examples: {type(error).__name__}: {error}"[:300]
        if answer == "alike":
            return "the losses of its examples are too alike to tell what the loss is the mean over"
        if answer is None:
            return "its loss is no mean over its examples"
        self._mean_over[method.key] = answer
        return None

    def _solve(self, window: Window, index: int, method: Method) -> str | None:
        """The name of the count that explains joint losses; "alike" if any would, None if none does."""
        rows = _telling_rows(window, index)
        singles = [self._measured(window, index, [row], method) for row in rows]
        pairs = [(a, b) for a in range(len(rows)) for b in range(a)]
        joint = {pair: self._measured(window, index, [rows[i] for i in pair], method) for pair in pairs}
        low = _low_precision(method, window.parts[index])
        largest = max(abs(loss) for loss, _ in [*singles, *joint.values()])
        noise = (1e-2 if low else 1e-5) * max(largest, 1e-3)
        if not math.isfinite(largest):
            return None
        if all(abs(loss - singles[a][0] - singles[b][0]) < noise for (a, b), (loss, _) in joint.items()):
            return "sum"
        spread = max(abs(singles[a][0] - singles[b][0]) for a, b in pairs)
        fitting = None
        for name in singles[0][1]:
            if all(abs(_joint(singles, a, b, name) - loss) < noise for (a, b), (loss, _) in joint.items()):
                fitting = name
                break
        if fitting is not None and spread < (10 if low else 200) * noise:
            return "alike"
        return fitting

    def _measured(self, window: Window, index: int, rows: list[int], method: Method) -> tuple[float, dict[str, float]]:
        part = cut(window, index, rows)
        piece = Piece(part, len(rows), rows[0], index)
        counts = method.counts(piece, window)
        if len(rows) > 1:
            counts.pop("weight", None)
        return method.measure(part), counts


def nothing(_: str) -> None:
    pass


def _joint(singles: list[tuple[float, dict[str, float]]], a: int, b: int, name: str) -> float:
    """The loss of two examples together if it is the mean over this count."""
    one, two = singles[a][1][name], singles[b][1][name]
    if one + two == 0:
        return math.inf
    return (singles[a][0] * one if one else 0.0) / (one + two) + (singles[b][0] * two if two else 0.0) / (one + two)


def _telling_rows(window: Window, index: int) -> list[int]:
    """The examples with the fewest and the most labels, and one between them."""
    size = window.sizes[index]
    labels = labels_of(window.parts[index])
    order = list(range(size))
    if labels is not None and labels.shape[0] == size and labels.dim() > 1:
        valid = labels.ne(-100).flatten(1).sum(1).tolist()
        order = sorted((row for row in order if valid[row] > 1), key=lambda row: valid[row]) or order
    if len(order) < 2:
        order = list(range(size))
    return list(dict.fromkeys([order[0], order[-1], order[len(order) // 2]]))


def _low_precision(method: Method, part: Any) -> bool:
    """Whether the model computes in 16 bit, where losses are coarse."""
    import torch

    if any(p.dtype in (torch.float16, torch.bfloat16) for p in method.model.parameters()):
        return True
    leaf = next((m for m in method.model.modules() if not list(m.children()) and list(m.parameters())), None)
    if leaf is None:
        return False
    seen: list[bool] = []
    handle = leaf.register_forward_pre_hook(
        lambda *_: seen.append(torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"))
    )
    try:
        method.measure(chosen_rows(part, [0], rows_of(part)))
    except NoRows:
        return False
    finally:
        handle.remove()
    return any(seen)


def forget_frames(error: BaseException) -> None:
    """Frees what the frames of an exception hold: their variables are tensors of the failed attempt."""
    seen = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        traceback.clear_frames(link.__traceback__)
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    error.__cause__ = error.__context__ = None
