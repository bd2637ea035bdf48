# SPDX-License-Identifier: MIT
"""Watches a few steps of a loop, to find out whether its batches may be handed out in parts.

A loop of the simple shape fetches one batch, clears the gradients of one optimizer by zero_grad(), makes one backward
pass and one update. Its graph is looked at in each of these steps; in all but the first one its rows are compared, too
(rows.py), in batches of two sizes, so that what is a constant in all of them is known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .parts import has_rows
from .rows import Rows, kept_state, unchecked
from .weights import Graph, Refused, Weight, graph_of, weight_of

_CHECKS = 3  # steps in which rows are compared
_MOST_STEPS = 24  # until it is given up


def unknown_loop(what: str) -> Refused:
    return Refused("unknown-loop", "the loop does not have one batch, one backward pass and one update per step", what)


def own_accumulation() -> Refused:
    return Refused("own-accumulation", "the program accumulates gradients itself")


def kept_rows(size: int, check: int) -> list[int]:
    """Examples that are kept: one, so that nothing of the others is left; some; and half of them."""
    step = (size, 4, 2)[check % 3]
    return list(range(check * 7 % min(size, step), size, step)) or [0]


def parameters_of(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def is_plain_backward(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether backward() was called for its gradients alone; torch passes on `retain_graph` and the like."""
    return all(value is None or value is False for value in (*args, *kwargs.values()))


class Found:
    """What all steps must have in common with those that were watched."""

    def __init__(self) -> None:
        self.signatures: set[int] = set()
        self.weight: Weight | None = None  # of one of them
        self.counts = False  # the loss is divided by what it has counted

    def matches(self, weight: Weight) -> bool:
        """Whether a loss has the same kind of weight as those that were watched."""
        known = self.weight
        if known is None or (known.is_mean, known.factors) != (weight.is_mean, weight.factors):
            return False
        return known.ratios == weight.ratios or weight.is_empty


class Shape:
    """The steps that are watched, until `found` has all that must be known, or `refused` says why parts cannot be."""

    def __init__(self, modules: Callable[[], list[Any]]) -> None:
        self._modules = modules
        self.found = Found()
        self.refused: Refused | None = None
        self.optimizer: Any = None
        self.checks = 0  # made
        self._sizes: set[int] = set()  # of batches whose rows were compared
        self._steps = 0
        self._rows: Rows | None = None
        self._batch: Any = None
        self._size = 0
        self._updated_before = False  # in a step that was watched
        self._backwards = self._updates = 0  # in this step
        self._cleared = False  # since the last update

    @property
    def wants_other_size(self) -> bool:
        """Whether the next batch should have another size than those before: a factor of the loss may depend on it."""
        weight = self.found.weight
        return weight is not None and bool(weight.factors or weight.ratios) and len(self._sizes) == 1

    @property
    def wants_check(self) -> bool:
        """Whether the next step takes about twice the memory, as all of its loss is computed twice."""
        return self.optimizer is not None and self._updated_before

    @property
    def is_done(self) -> bool:
        return self.checks >= _CHECKS and not self.wants_other_size

    # ---- what the program does ----

    def fetched(self, batch: Any, size: int, is_ready: bool) -> bool:
        """A batch is there. `is_ready`: there is memory to check it. Returns whether it is checked."""
        self.end_step()
        if self.refused is not None:
            return False
        self._batch, self._size = batch, size
        self._steps += 1
        if not has_rows(batch, size):
            self.refuse(Refused("cannot-cut", "the batch cannot be cut along its examples"))
        elif is_ready and self.wants_check and size > 1 and not self.is_done:
            own = parameters_of(self.optimizer)
            with self._noting():
                self._rows = Rows(batch, size, kept_rows(size, self.checks), [*own, *(p.grad for p in own)])
                self._rows.begin()
        return self._rows is not None

    def loss_made(self) -> None:
        """Before anything else is done for the backward pass."""
        if self._rows is not None:
            self._rows.end()

    def backward_begins(self, tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A backward pass of the loss begins."""
        self._backwards += 1
        if self.refused is not None or self._batch is None:
            return
        with self._noting():
            self._look_at(tensors, args, kwargs)
            if self._rows is not None:
                self.checks += 1
                self._sizes.add(self._size)
        if self._rows is not None:
            self._rows.ends_loss()

    def backward_ended(self) -> None:
        rows = self._rows
        if rows is None or self.refused is not None:
            return
        rows.own_too([p.grad for p in parameters_of(self.optimizer)])
        rows.begin()

    def cleared(self, parameters: list[Any]) -> None:
        """The gradients of these are cleared by zero_grad()."""
        if self.optimizer is not None:
            ids = set(map(id, parameters))
            self._cleared = self._cleared or all(id(p) in ids for p in parameters_of(self.optimizer))

    def updated(self, optimizer: Any, is_seen: bool) -> None:
        """An optimizer has made an update. `is_seen`: by a call of step() that can be held back."""
        self._updates += 1
        if self._batch is not None and not self._backwards:
            self.refuse(unknown_loop("gradients without a backward pass"))
        if self.optimizer is not None and not is_seen:
            self.refuse(unknown_loop("step() is called in another way"))
        self._cleared = False
        if self.optimizer is not None and optimizer is not self.optimizer:
            self.refuse(unknown_loop("several optimizers"))
        self.optimizer = optimizer

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Within calls that may change parameters and gradients."""
        rows = self._rows
        if rows is None:
            yield
            return
        rows.pause(True)
        try:
            yield
        finally:
            rows.pause(False)

    def end_step(self) -> None:
        """The next batch is asked for, or an evaluation begins."""
        rows, self._rows, self._batch = self._rows, None, None
        if rows is not None:
            with self._noting():
                rows.close()
                if rows.failure is not None:
                    raise rows.failure
                if rows.changes_own:
                    raise unknown_loop("the program changes gradients or parameters itself")
                if rows.keeps_state:
                    raise kept_state()
        if self._backwards and self.refused is None:
            self._end_training_step()
        self._backwards = self._updates = 0

    def _end_training_step(self) -> None:
        if self._backwards > 1:
            self.refuse(unknown_loop("several backward passes"))
        elif not self._updates:
            self.refuse(own_accumulation())
        elif self._updates > 1:
            self.refuse(unknown_loop("several updates"))
        elif self._steps >= _MOST_STEPS and not self.is_done:
            self.refuse(unchecked("too few of its batches have several examples"))
        self._updated_before = True

    # ---- what is looked at ----

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            self.refuse(refused)
        except Exception as error:  # whatever a newer torch does in another way
            self.refuse(unchecked(f"{type(error).__name__}: {error}"[:200]))

    def refuse(self, refused: Refused) -> None:
        """Parts are not possible; the first reason counts."""
        self.refused = self.refused or refused.kept()

    def _look_at(self, tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        loss = only_loss(tensors, args, kwargs)
        graph = graph_of(loss)
        if graph.functions:
            raise unchecked(f"{graph.functions[0]} is no operation of torch")
        if self._rows is not None:
            self._rows.check(loss)
            weight = weight_of(loss, self._rows.is_count)
            if self.found.weight is not None and self.found.signatures and not self.found.matches(weight):
                raise unchecked("the loss has factors that differ from step to step")
            self.found.weight = weight
            self.found.signatures.add(graph.signature)
        if self.optimizer is not None:
            self._look_at_gradients(graph)
        self._look_for_hooks(graph)

    def _look_at_gradients(self, graph: Graph) -> None:
        parameters = parameters_of(self.optimizer)
        ids = set(map(id, parameters))
        if any(id(leaf) not in ids for leaf in graph.leaves):
            raise unknown_loop("gradients of tensors that its optimizer does not have")
        if self._updated_before and not self._cleared:
            if all(p.grad is None for p in parameters):
                raise unknown_loop("gradients are cleared by hand")
            raise own_accumulation()

    def _look_for_hooks(self, graph: Graph) -> None:
        for leaf in graph.leaves:
            if leaf._backward_hooks or getattr(leaf, "_post_accumulate_grad_hooks", None):
                raise unknown_loop("hooks on gradients")
        from torch.nn.modules import module as of_all

        if of_all._global_backward_hooks or of_all._global_backward_pre_hooks:
            raise unknown_loop("hooks on gradients")
        for module in self._modules():
            if module._backward_hooks or getattr(module, "_backward_pre_hooks", None):
                raise unknown_loop("hooks on gradients")


def only_loss(tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The loss of a backward pass that computes gradients alone. Raises Refused for others."""
    if isinstance(tensors, (list, tuple)):
        if len(tensors) != 1:
            raise unknown_loop("backward() of several tensors")
        tensors = tensors[0]
    if not is_plain_backward(args, kwargs):
        raise unknown_loop("backward() with gradients, inputs or a graph that is kept")
    return tensors
