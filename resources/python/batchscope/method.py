# SPDX-License-Identifier: MIT
"""How a framework, or a program of its own, computes the loss of a micro batch and its gradients."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .parts import counts_of, examples_of
from .reasons import Reason

if TYPE_CHECKING:
    from .window import Window

Scaled = Callable[[Any], Any]  # gets the loss of a part, returns what its backward pass begins with


class Method:
    """Runs parts of a window."""

    model: Any
    clears_gradients = False  # itself, before the first backward pass of a window
    wrapped: Any = None  # the DistributedDataParallel around the model, on several ranks

    def key(self) -> Any:
        """Of the loss function and its settings: what was found out about one loss holds for it alone."""
        raise NotImplementedError

    def modules(self) -> list[Any]:
        """Those whose state a step may change."""
        return [self.model]

    def others(self) -> list[Any]:
        """Parameters beside the model's that may get gradients; those that they have are added to."""
        return []

    def run(self, part: Any, parts: int, scaled: Scaled) -> Any:
        """Forward and backward pass of a part of a window that has so many micro batches; adds its gradients.

        Returns the loss, detached and as the framework has it; None if it leaves the part out.
        """
        raise NotImplementedError

    def snapshot(self) -> Callable[[], None]:
        """Keeps what a step changes besides modules; returns what puts it back."""
        return _nothing_to_do

    def hidden(self) -> contextlib.AbstractContextManager[None]:
        """While it is entered, passes are made to find something out: nobody is to hear of them."""
        return contextlib.nullcontext()

    def begins(self, number: int, parts: int) -> None:
        """Before a micro batch of a window, or a piece of it, is run."""

    def ended(self, number: int, parts: int) -> None:
        """Once for each micro batch of a window, when it has been run."""

    def part_weights(self, window: Window) -> list[float] | None:
        """What each micro batch counts within the window; None if run() knows it."""
        return None

    def rank_weight(self, window: Window) -> float:
        """What this rank's loss counts among those of all ranks."""
        return float(sum(self.part_weights(window) or window.sizes))

    def counts(self, part: Any, rows: list[int], window: Window, index: int) -> dict[str, float]:
        """What the loss of a part may be the mean over, most likely first; it has these rows of a micro batch."""
        return counts_of(part, len(rows))

    def run_plainly(self, window: Window) -> Any:
        """What plain torch does, micro batch after micro batch; gradients are exchanged with other ranks at the end."""
        if not _is_engine(self.model):  # which clears them after its step
            self.model.zero_grad(set_to_none=True)
        weights = self.part_weights(window) if len(window.parts) > 1 else None
        whole = sum(weights or [1.0]) or 1.0
        total = None
        for number, part in enumerate(window.parts):
            factor = 1.0 if weights is None else weights[number] / whole
            last = number == len(window.parts) - 1
            waits = contextlib.nullcontext() if last or not hasattr(self.model, "no_sync") else self.model.no_sync()
            with waits:
                loss = self.run(part, len(window.parts), times(factor))
            if loss is not None:
                loss = times(factor)(loss)
                total = loss if total is None else total + loss
        return total


class PlainMethod(Method):
    """A function of the program that returns the mean loss."""

    def __init__(
        self,
        fn: Callable[..., Any],
        model: Any,
        weight: Callable[[list[Any]], float] | None,
        mark: Callable[[str], None],
        backward: Callable[[Any], None],
    ) -> None:
        self._fn = fn
        self._weight = weight
        self._mark = mark
        self._backward = backward
        self.model = self.wrapped = model

    def key(self) -> Any:
        return key_of(self._fn)

    def modules(self) -> list[Any]:
        return modules_of(self.model, self._fn)

    def others(self) -> list[Any]:
        return parameters_beside(self.model, self._fn)

    def run(self, part: Any, parts: int, scaled: Scaled) -> Any:
        self._mark("forward")
        loss = self._fn(*part) if isinstance(part, (tuple, list)) else self._fn(part)
        root = scaled(loss)
        self._mark("backward")
        self._backward(root)
        return loss.detach()

    def part_weights(self, window: Window) -> list[float] | None:
        if self._weight is None or window.raw() is None:
            return [float(size) for size in window.sizes]
        return [float(self._weight(examples_of(window, index))) for index in range(len(window.sizes))]

    def counts(self, part: Any, rows: list[int], window: Window, index: int) -> dict[str, float]:
        counts = counts_of(part, len(rows))
        if self._weight is not None and window.raw() is not None:
            examples = examples_of(window, index)
            counts = {"weight": float(self._weight([examples[row] for row in rows])), **counts}
        return counts


def key_of(*functions: Any) -> tuple[int, ...]:
    """The same for the same functions; parameters may be made anew at each step."""
    return tuple(id(item) for function in functions for item in used_by(function) if not _is_parameter(item))


def modules_of(model: Any, *functions: Any) -> list[Any]:
    """The model, and other modules that the functions use."""
    used = [item for function in functions for item in used_by(function) if hasattr(item, "named_modules")]
    return list({id(item): item for item in [model, *used]}.values())


def parameters_beside(model: Any, *functions: Any) -> list[Any]:
    """Those that the functions use, in other modules or alone, and which are not the model's."""
    own = set(map(id, model.parameters()))
    found: dict[int, Any] = {}
    for item in (item for function in functions for item in used_by(function)):
        used = item.parameters() if hasattr(item, "named_modules") else [item] if _is_parameter(item) else []
        found.update((id(p), p) for p in used if p.requires_grad and id(p) not in own)
    return list(found.values())


def used_by(function: Any, depth: int = 2) -> Iterator[Any]:
    """The function's code, and the modules, parameters and functions that it uses, as far as seen without a call."""
    while hasattr(function, "func") and not hasattr(function, "__code__"):  # a functools.partial
        yield from (item for item in (*function.args, *function.keywords.values()) if _matters(item))
        function = function.func
    function = getattr(function, "_torchdynamo_orig_callable", function)  # compiled: its code is the compiler's
    code = getattr(function, "__code__", None)
    if code is None:
        yield function
        return
    yield code
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    names = function.__globals__
    used = [*cells, *(names[name] for name in code.co_names if name in names), *(function.__defaults__ or ())]
    owner = getattr(function, "__self__", None)
    several = [item for items in used if isinstance(items, (list, tuple)) for item in items if _is_parameter(item)]
    for item in [*([] if owner is None else [owner]), *used, *several]:
        if _matters(item):
            yield item
            if depth > 1 and hasattr(item, "__code__"):
                yield from used_by(item, depth - 1)


def _matters(item: Any) -> bool:
    return hasattr(item, "named_modules") or hasattr(item, "__code__") or _is_parameter(item)


def _is_parameter(item: Any) -> bool:
    return hasattr(item, "untyped_storage") and item.is_leaf and item.requires_grad


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _nothing_to_do() -> None:
    pass


def nothing(_: Any) -> None:
    """A mark that nobody looks at."""


def _is_engine(model: Any) -> bool:
    """Of DeepSpeed."""
    return type(model).__module__.startswith("deepspeed")


def why_never_split(model: Any) -> Reason | None:
    """Why no step of this model is run in pieces or again: its passes are exchanges; one that fails is half done."""
    if _is_engine(model):
        return Reason("deepspeed", "DeepSpeed performs the steps")
    fsdp = sys.modules.get("torch.distributed.fsdp")
    kinds = tuple(getattr(fsdp, name) for name in ("FullyShardedDataParallel", "FSDPModule") if hasattr(fsdp, name))
    if any(isinstance(module, kinds) for module in model.modules()):
        return Reason("fsdp", "FSDP divides the model among the ranks")
    return None


def backward_of(model: Any, scale: Any) -> Callable[[Any], None]:
    """How the gradients of a loss are computed: with a GradScaler, by an Accelerator, a function, or by an engine that
    is the model.
    """
    if scale is not None and not hasattr(scale, "backward"):
        scaled = scale.scale if hasattr(scale, "scale") else scale
        return lambda loss: scaled(loss).backward()
    if scale is None and not _is_engine(model):
        return lambda loss: loss.backward()
    backward: Callable[[Any], None] = (model if scale is None else scale).backward
    return backward


def times(factor: float) -> Scaled:
    """Multiplies a loss, if there is anything to do."""
    return lambda loss: loss if factor == 1.0 else loss * factor
