# SPDX-License-Identifier: MIT
"""Hands a batch to a loop of the program's own in parts, of which it makes one update.

The loader gives the parts as batches of their own. Each backward pass begins with the weight of its part among the
others (weights.py), and until the last one is through, the program's calls of the optimizer's step() and zero_grad(),
of clip_grad_norm_(), clip_grad_value_() and schedulers are held back. Then the gradients are divided by the sum of the
weights, so that what the program does next is done to the gradient of the whole batch.

That is done only in loops that were seen to allow it (shape.py), for batches of independent examples (rows.py). Others
are trained with batches that fit, and an event says why.

If a part of a batch is not trained on, because the program leaves its loop, goes on to the next batch or survives an
error outside of a backward pass, the others are an update of their own: the calls that were held back after the last
one of them are made when the next batch is asked for, or the iterator goes away. After an error in a backward pass,
whose gradients may be there in part, and where something differs from the steps that were watched, the gradients of all
parts so far are dropped. No update is made with gradients that are not divided.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .foresight import limit_of, within
from .reasons import Reason
from .rows import Rows, unchecked
from .shape import Shape, kept_rows, only_loss, own_accumulation, parameters_of, unknown_loop
from .tracer import bytes_of, tensors_in
from .weights import Refused, Weight, graph_of, weight_of

if TYPE_CHECKING:
    from .followed import FollowedLoader
    from .loop import Loop
    from .run import Run

_MOST_WATCHED = 3  # times that a loop whose graph changes is watched anew
_CHECKED_AGAIN = 64  # updates of parts, after which rows are compared again
_NOT_SCALED = 1.0
_NO_LIMIT = 1 << 62  # examples
_SPARE = 0.05  # of a limit, which parts leave free: smaller ones cost little


@dataclass
class _Whole:
    """A batch that is handed out in parts."""

    count: int
    number: int = 0  # of the present part, from 1 on
    trained: int = 0  # parts with a backward pass
    unit: float = 1.0  # what weights are divided by, to keep gradients in range
    total: Any = 0.0  # sum of the weights so far
    is_mean: bool = True
    has_backward: bool = False  # the present part
    calls: list[Callable[[], Any]] = field(default_factory=list)  # held back since the last backward pass
    gradients: list[tuple[Any, Any, int]] = field(default_factory=list)  # parameter, gradient, its version


class Parts:
    """Of the batches of a loop. Nothing of torch is replaced before parts are wanted."""

    def __init__(self, run: Run, loop: Loop) -> None:
        self._run = run
        self._loop = loop
        self.wanted = False  # before that, nothing is to be told here but updates
        self._loader: FollowedLoader | None = None  # that has asked
        self._shape: Shape | None = None  # being watched
        self._found: Any = None  # what the steps that were watched have in common
        self._whole: _Whole | None = None
        self._of_optimizer: Any = None  # weak reference to that whose calls come by here
        self._watched = 0  # times that a shape was watched
        self._updates = 0  # of parts, since rows were compared
        self._checks = 0  # of rows of parts
        self._rows: Rows | None = None  # that are compared now
        self._ended: Rows | None = None  # that were
        self._updated_last: Any = None  # weak reference to an optimizer
        self._is_over = False  # the training that was watched
        self._sees_modules = False  # their zero_grad() comes by here
        self._stepping = False  # in a call of step() that comes by here
        self._cleared = True  # gradients, since the last update
        self.said: set[tuple[int, str]] = set()  # accumulations that are not possible, and why
        self._bytes_each = 0  # of an example in the memory of the host
        self.refused: Reason | None = None

    # ---- what is asked for ----

    @property
    def is_ready(self) -> bool:
        """Whether batches can be handed out in parts."""
        return self._found is not None and self.refused is None

    @property
    def holds(self) -> bool:
        """Whether gradients of some parts wait for those of others."""
        return self._whole is not None and self._whole.trained > 0

    @property
    def is_idle(self) -> bool:
        return self._shape is None and self._whole is None

    @property
    def _optimizer(self) -> Any:
        return None if self._of_optimizer is None else self._of_optimizer()

    @property
    def _last(self) -> Any:
        """The optimizer that has made the last update; the one that leads until that is known."""
        return self._loop.lead if self._updated_last is None else self._updated_last()

    def _parameters(self) -> list[Any]:
        optimizer = self._optimizer
        return [] if optimizer is None else parameters_of(optimizer)

    def want(self, loader: FollowedLoader) -> None:
        """Watches the next steps, unless that was done."""
        if self.refused is not None or self.is_ready or self._shape is not None:
            return
        self._loader, self.wanted = loader, True
        if self._run._world > 1:
            self._refuse(Refused("several-ranks", "several ranks train together"))
        else:
            self._watch()

    def _watch(self) -> None:
        self._watched += 1
        self._shape = Shape(self._modules)
        optimizer = self._last
        if optimizer is not None:
            self._shape.optimizer = optimizer
            self._replace_calls(optimizer)

    def _watch_again(self) -> None:
        """It is another training, or has another graph."""
        self._found = None
        self._run._cannot("accumulate")
        if self._loader is not None:
            self._loader.parts_refused(None)
        if self._shape is None:
            self._watch()

    def _modules(self) -> list[Any]:
        return list({id(m): m for model in self._run._account.models for m in model.modules()}.values())

    def _refuse(self, refused: Refused) -> None:
        self._shape = None
        self._found = None
        self.refused = refused.reason
        if self._loader is not None:
            self._run._cannot("accumulate")
            self._loader.parts_refused(refused.reason)

    def refuse_scaler(self) -> None:
        """A GradScaler is used, which looks at the gradients of each backward pass."""
        if self._shape is not None:
            self._shape.refuse(unknown_loop("a GradScaler"))

    # ---- sizes ----

    def size_to_watch(self, size: int) -> int:
        """The size of the next batch while its loop is watched: its loss is computed twice, which must fit, too."""
        shape = self._shape
        if self._run._probe is not None:
            return size
        if shape is None or not shape.wants_check:
            return size if shape is None else within(self._run, size)[0]
        limit = limit_of(self._run)
        most = _NO_LIMIT if limit is None else max(1, self._run._foresight.largest_within(limit) // 2)
        size = min(max(2, size), most)  # of one example, nothing can be seen
        if shape.wants_other_size:
            size += -1 if size > 2 else 1
        return min(size, most)

    def divided(self, sizes: list[int]) -> list[list[int]] | None:
        """The parts of each micro batch of these sizes; None if there is one that fits, or parts do not fit either."""
        if not self.is_ready or self._run._probe is not None:
            return None if len(sizes) == 1 else [[size] for size in sizes]
        parts = [self._divided(size) for size in sizes]
        return parts if sum(map(len, parts)) > 1 else None

    def _divided(self, size: int) -> list[int]:
        limit = limit_of(self._run)
        times = 2 if self._is_due else 1  # what is compared takes twice the memory
        if limit is None or size * times <= self._run._foresight.largest_within(limit):
            return [size]
        most = self._most_in_part(size, limit) // times
        if most == 0:
            return [size]
        count = -(-size // most)
        least, more = divmod(size, count)
        return [least + 1] * more + [least] * (count - more)

    def has_room(self, size: int) -> bool:
        """Whether memory has room for a part of a batch of this size, beside the gradients of the parts before."""
        limit = limit_of(self._run)
        return limit is None or self._most_in_part(size, limit) > 0

    def _most_in_part(self, size: int, limit: int) -> int:
        """Examples of a part; 0 if not even one fits."""
        optimizer = self._optimizer or self._loop.lead
        parameters = [] if optimizer is None else parameters_of(optimizer)
        kept = bytes_of([p for p in parameters if p.requires_grad])  # gradients of other parts
        if self._run._account.device is not None and self._run._account.device.type == "cpu":
            kept += self._bytes_each * size
        return self._run._foresight.largest_beside(kept + int(limit * _SPARE), limit)

    # ---- batches ----

    def begin_batch(self, loader: FollowedLoader) -> None:
        """A batch of the loader that leads is asked for; it is no further part of the one before."""
        if self._loader is not None:
            self._loader = loader  # for each epoch there may be another one
        self.release()
        self.rest()
        if self._is_over or (self.is_ready and self._last is not self._optimizer):
            self._is_over = False
            self._watch_again()
        shape = self._shape
        if shape is None:
            return
        if shape.refused is not None:
            self._refuse(shape.refused)
        elif shape.is_done:
            self._shape, self._found = None, shape.found
            if self._loader is not None:
                self._run._schedulers.hold = self.hold
                self._run._follow_schedulers()
                self._loader.parts_allowed()

    def rest(self) -> None:
        """Steps are interrupted, perhaps by an evaluation."""
        for rows in (self._rows, self._ended):
            if rows is not None:
                rows.close()
        self._rows = self._ended = None
        if self._shape is not None:
            self._shape.end_step()

    def fetched(self, batch: Any, size: int) -> None:
        """A batch is there that is whole."""
        if self._shape is None and self._found is None:
            return
        self._bytes_each = -(-bytes_of([t for t in tensors_in(batch) if t.device.type == "cpu"]) // max(1, size))
        if self._shape is not None and self._run._probe is None:
            limit = limit_of(self._run)
            fits = limit is None or self._run._foresight.surely_fits(2 * size, limit)
            if self._shape.fetched(batch, size, fits):
                self._run._foresight.leave_out_next()

    def begin_part(self, number: int, count: int, part: Any, rows: int) -> None:
        """Part `number` of so many is there, from 1 on."""
        if number == 1:
            self._whole = _Whole(count)
            if self._is_due and rows > 1:
                self._begin_check(part, rows)
        if self._whole is not None:
            self._whole.number = number
            self._whole.has_backward = False

    @property
    def _is_due(self) -> bool:
        """Whether rows are compared again, in the next first part of a batch."""
        return self._updates >= _CHECKED_AGAIN

    def _begin_check(self, part: Any, rows: int) -> None:
        own, limit = self._parameters(), limit_of(self._run)
        if limit is not None and 2 * rows > self._run._foresight.largest_within(limit):
            return
        try:
            self._rows = Rows(part, rows, kept_rows(rows, self._checks), [*own, *(p.grad for p in own)])
        except Refused as refused:
            self._give_up(refused)
        else:
            self._run._foresight.leave_out_next()
            self._rows.begin()

    def _end_check(self, loss: Any) -> None:
        """Raises Refused if examples are no longer independent."""
        rows, self._rows = self._rows, None
        if rows is not None:
            self._ended = rows
            rows.check(loss)
            rows.ends_loss()
            self._updates, self._checks = 0, self._checks + 1

    # ---- backward passes ----

    def loss_made(self) -> None:
        """A backward pass is asked for; before anything else is done for it."""
        if self._rows is not None:
            self._rows.end()
        if self._shape is not None:
            self._shape.loss_made()

    def backward(self, stock: Callable[..., Any], tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """In the place of torch.autograd.backward."""
        if self._shape is not None:
            shape = self._shape
            if self._loop.trained_fetches != 1:
                shape.refuse(unknown_loop("several batches"))
            shape.backward_begins(tensors, args, kwargs)
            result = stock(tensors, *args, **kwargs)
            shape.backward_ended()
            return result
        whole = self._whole
        if whole is None:
            return stock(tensors, *args, **kwargs)
        try:
            loss, weight = self._weight(whole, tensors, args, kwargs)
            root = self._root(whole, loss, weight)
        except Exception as error:  # Refused, or whatever a newer torch does in another way
            self._give_up(error if isinstance(error, Refused) else unchecked(type(error).__name__))
            return stock(tensors, *args, **kwargs)
        try:
            result = stock(*root)
        except BaseException:
            self._drop(present=True)
            raise
        self._backward_made(whole, weight)
        return result

    def _weight(self, whole: _Whole, tensors: Any, args: Any, kwargs: Any) -> tuple[Any, Weight]:
        """Of the present part. Raises Refused if something differs from the steps that were watched."""
        import torch

        if whole.has_backward:
            raise unknown_loop("several backward passes")
        if any(p.grad is not gradient or gradient._version != version for p, gradient, version in whole.gradients):
            raise unknown_loop("gradients are changed by hand")
        if whole.trained == 0 and not self._cleared and any(p.grad is not None for p in self._parameters()):
            raise own_accumulation()
        if self._loop.trained_fetches != whole.trained + 1:
            raise unknown_loop("several batches")
        loss = only_loss(tensors, args, kwargs)
        self._end_check(loss)
        weight = weight_of(loss, lambda _: True)
        graph, ours = graph_of(loss), set(map(id, self._parameters()))
        if not all(id(leaf) in ours for leaf in graph.leaves):
            raise unknown_loop("gradients of tensors that its optimizer does not have")
        if not self._found.matches(weight) or graph.signature not in self._found.signatures:
            raise Refused("unchecked-rows", "cannot determine whether its examples are independent", _OTHER_GRAPH)
        if hasattr(weight.value, "to"):
            exact = loss.dtype if str(loss.dtype) == "torch.float64" else torch.float32
            weight.value = weight.value.to(exact)
        return loss, weight

    @staticmethod
    def _root(whole: _Whole, loss: Any, weight: Weight) -> tuple[Any, Any]:
        """Where the backward pass begins, and with which gradient."""
        import torch

        if not weight.is_mean:
            return loss, None
        if whole.trained == 0:
            whole.unit = float(weight.elements)
        if weight.is_empty:  # the loss is no number, but what was summed up for it has gradients
            edges = [torch.autograd.graph.GradientEdge(node, 0) for node, _ in weight.dividends]
            factors = [factor / whole.unit for _, factor in weight.dividends]
            return edges, [torch.full((), f, dtype=loss.dtype, device=loss.device) for f in factors]
        root = torch.as_tensor(weight.value / whole.unit, dtype=loss.dtype, device=loss.device)
        return loss, root.reshape(loss.shape)

    def _backward_made(self, whole: _Whole, weight: Weight) -> None:
        whole.trained += 1
        whole.has_backward = True
        whole.is_mean = weight.is_mean
        whole.total = whole.total + weight.value
        whole.calls = []
        self._loop.weigh_loss(weight.value, weight.is_mean)
        if whole.number == whole.count:
            self._divide()
            self._whole = None
            self._updates += 1
        else:
            self._note_gradients(whole)

    def _note_gradients(self, whole: _Whole) -> None:
        parameters = self._parameters()
        whole.gradients = [(p, p.grad, p.grad._version) for p in parameters if p.grad is not None]

    def _factor(self, whole: _Whole) -> Any:
        """From the sum of weighted gradients to that of the parts so far together."""
        if not whole.is_mean:
            return _NOT_SCALED
        if isinstance(whole.total, float):
            return whole.unit / whole.total if whole.total else _NOT_SCALED
        import torch

        return torch.where(whole.total == 0, 1.0, whole.unit / whole.total)  # nothing counts: all gradients are 0

    def _divide(self) -> None:
        import torch

        whole = self._whole
        assert whole is not None
        factor = self._factor(whole)
        if factor is _NOT_SCALED:
            return
        with torch.no_grad():
            for parameter in self._parameters():
                if parameter.grad is not None:
                    own = factor.to(parameter.grad.device) if hasattr(factor, "to") else factor
                    parameter.grad.mul_(own)

    # ---- ends that are not that of the last part ----

    def release(self) -> None:
        """The parts so far are an update of their own: what was held back is done."""
        whole = self._whole
        if whole is None:
            return
        if whole.trained:
            self._divide()
        self._whole = None
        for call in whole.calls:
            call()

    def _give_up(self, refused: Refused) -> None:
        """The present part is a batch of its own; the gradients of those before are dropped."""
        self._drop(present=False)
        if refused.reason.values.get("what") == _OTHER_GRAPH and self._watched < _MOST_WATCHED:
            self._watch_again()
        else:
            self._refuse(refused)

    def _drop(self, present: bool) -> None:
        """Drops the gradients of the parts before the present one, or of that, too."""
        whole, self._whole = self._whole, None
        if whole is None or not (whole.trained or present):
            return
        for parameter in self._parameters():
            parameter.grad = None
        self._loop.forget_parts(present)
        if whole.trained:
            self._say_dropped(whole.trained)

    def _say_dropped(self, count: int) -> None:
        self._run.event("watched", reason=Reason("parts-dropped", _DROPPED, {"parts": count}).message())

    # ---- calls of the program ----

    def hold(self, call: Callable[[], Any]) -> bool:
        """Whether a call is held back; it is made later, if no further part comes."""
        if not self.holds:
            return False
        assert self._whole is not None
        self._whole.calls.append(call)
        return True

    def norm_so_far(self, parameters: list[Any], norm_type: float) -> Any:
        """Of the gradients of the parts so far, for a call of clip_grad_norm_ that is held back."""
        import torch

        assert self._whole is not None
        norms = [torch.linalg.vector_norm(p.grad.detach(), norm_type) for p in parameters if p.grad is not None]
        if not norms:
            return torch.tensor(0.0)
        return torch.linalg.vector_norm(torch.stack([n.to(norms[0].device) for n in norms]), norm_type) * self._factor(
            self._whole
        )

    def clip(self, call: Callable[[], Any]) -> Any:
        """A call that clips gradients and is not held back."""
        if self._shape is None:
            return call()
        with self._shape.paused():
            return call()

    def update_begins(self, optimizer: Any) -> None:
        """An update that was not held back: the parts so far are one of their own."""
        if self.holds and not self._stepping:
            assert self._whole is not None
            self._whole.calls = []
            self.release()
            if optimizer is not self._optimizer and self._watched < _MOST_WATCHED:
                self._is_over = True
            else:
                self._refuse(unknown_loop("step() is called in another way"))

    def updated(self, optimizer: Any) -> None:
        """An optimizer has made an update."""
        self._cleared = False
        self._updated_last = weakref.ref(optimizer)
        if self._shape is not None:
            self._shape.updated(optimizer, self._stepping)
            self._replace_calls(optimizer)

    def _replace_calls(self, optimizer: Any) -> None:
        """From now on, calls of this optimizer come by here."""
        if optimizer is self._optimizer:
            return
        self._of_optimizer = weakref.ref(optimizer)
        for name, function in (("step", self._step), ("zero_grad", self._zero_grad)):
            vars(optimizer)[name] = _bound(optimizer, getattr(optimizer, name), function)
        if not self._sees_modules:
            self._sees_modules = True
            _watch_modules(self)

    def _step(self, optimizer: Any, stock: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if optimizer is not self._optimizer:
            return stock(*args, **kwargs)
        if self.hold(lambda: stock(*args, **kwargs)):
            return None
        if self._shape is not None and (args or kwargs):
            self._shape.refuse(unknown_loop("the optimizer is given a closure"))
        self._stepping = True
        try:
            return self.clip(lambda: stock(*args, **kwargs))
        finally:
            self._stepping = False

    def _zero_grad(self, optimizer: Any, stock: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.clear(parameters_of(optimizer), lambda: stock(*args, **kwargs))

    def clear(self, parameters: list[Any], call: Callable[[], Any]) -> Any:
        """zero_grad() of these is called."""
        if self.is_idle and self._found is None:
            return call()
        ours = set(map(id, self._parameters()))
        if not any(id(p) in ours for p in parameters):
            return call()
        if self.hold(call):
            return None
        self._cleared = self._cleared or ours <= set(map(id, parameters))
        if self._shape is not None:
            self._shape.cleared(parameters)
        return self.clip(call)


_OTHER_GRAPH = "its graph differs from those observed before"
_DROPPED = "gradients of some parts of a batch were dropped, because the rest of the batch could not be added to them"


def _bound(optimizer: Any, stock: Any, function: Callable[..., Any]) -> Any:
    """A method in the place of one of an optimizer's, which a scheduler may replace in turn."""

    @functools.wraps(stock)
    def method(owner: Any, *args: Any, **kwargs: Any) -> Any:
        return function(owner, stock, *args, **kwargs)

    return types.MethodType(method, optimizer)


def _watch_modules(parts: Parts) -> None:
    """From now on, zero_grad() of all modules comes by here."""
    import torch

    kind: Any = torch.nn.Module
    stock = kind.zero_grad

    @functools.wraps(stock)
    def zero_grad(module: Any, *args: Any, **kwargs: Any) -> Any:
        return parts.clear(list(module.parameters()), lambda: stock(module, *args, **kwargs))

    kind.zero_grad = zero_grad
