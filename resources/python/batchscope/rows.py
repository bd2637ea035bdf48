# SPDX-License-Identifier: MIT
"""Finds out whether the examples of a batch know of each other, in a step that the program makes anyway.

While the program computes its loss, each operation of torch is made a second time, on a batch in which most examples
were exchanged for the others. A loss is one of independent examples if what it is the mean or sum over has the same
bits in all rows of the examples that are still there, and others in rows of those that are not. This sees what
gradients do not: statistics that are detached, labels, and what is computed without gradients. The program's own
tensors and random numbers stay as they are. What cannot be followed counts as not seen.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .parts import leaves_of
from .weights import Refused

_OF_SHAPES = {  # take nothing but shapes from their argument
    *("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"),
    *("new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full"),
}
_REDUCTIONS = {
    *("mean", "sum", "nll_loss_forward", "nll_loss2d_forward", "mse_loss", "smooth_l1_loss", "huber_loss"),
    *("binary_cross_entropy", "binary_cross_entropy_with_logits"),
}
_LINEAR = {  # of numbers
    *("add", "sub", "mul", "div", "neg", "_to_copy", "clone", "alias", "view", "squeeze", "unsqueeze", "detach"),
}
_AVERAGES = ("add", "sub", "mul", "div", "lerp")
_KNOWN = ("aten", "prims", "torchvision")
_LEAKS = ("numpy", "tolist", "__array__", "__dlpack__", "data_ptr")  # values leave torch unseen
_HOOKS = ("register_hook", "register_post_accumulate_grad_hook")
_SWEEP = 64  # operations, after which shadows of freed memory are freed


def unchecked(what: str) -> Refused:
    return Refused("unchecked-rows", "cannot determine whether its examples are independent", what)


@dataclass
class _Modes:
    """Of torch, through which operations and calls are seen."""

    operations: Any
    calls: Any
    _stacks: tuple[Any, Any]

    def operations_on_top(self) -> Any:
        """The one that was entered last, of any kind of operations."""
        return next(reversed(self._stacks[0]()), None)

    def calls_on_top(self) -> Any:
        return next(reversed(self._stacks[1]()), None)


@functools.cache
def _modes() -> _Modes:
    """Raises ImportError with a torch that is too old."""
    from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
    from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

    class Operations(TorchDispatchMode):  # type: ignore[misc, unused-ignore]
        def __init__(self, see: Any) -> None:
            super().__init__()
            self._see = see

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return self._see(func, args, kwargs or {})

    class Calls(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        def __init__(self, see: Any) -> None:
            super().__init__()
            self._see = see

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self._see(func, args)
            return func(*args, **(kwargs or {}))

    return _Modes(Operations, Calls, (_get_current_dispatch_mode_stack, _get_current_function_mode_stack))


@dataclass
class _Number:
    """What is known of a number that depends on the batch."""

    why: str  # it is no mean or sum over independent examples; "" if it is one
    is_count: bool = False  # it is a sum over the examples
    changes: bool = False  # with them


class _Memory:
    """What is known of the memory of a tensor. Its address is not used again as long as this lives."""

    def __init__(self, storage: Any) -> None:
        from torch.multiprocessing.reductions import StorageWeakRef

        self.ref = StorageWeakRef(storage)
        self.other: Any = None  # its contents with the other examples; None if they do not depend on the batch
        self.number: _Number | None = None


class Rows:
    """Follows one step from its batch of `size` examples on, of which all but those in `kept` are exchanged for these.

    `own` are tensors that a step changes: parameters and their gradients.
    """

    def __init__(self, batch: Any, size: int, kept: Sequence[int], own: Sequence[Any]) -> None:
        """Raises Refused for a batch that is not of tensors with a row for each example."""
        self._size = size
        self._kept = sorted(set(kept))
        self._changed = [row for row in range(size) if row not in set(kept)]
        self._known: dict[int, _Memory] = {}
        self._own: dict[int, _Memory] = {}
        self.own_too(own)
        self._count = 0  # operations seen
        self._follows = True  # the loss is being computed
        self._paused = False
        self._calls: Any = None  # modes of torch that are entered
        self._operations: Any = None
        self.failure: Refused | None = None
        self.keeps_state = False  # something that was there before has been changed
        self.changes_own = False  # parameters or gradients, by something else than an optimizer
        self._exchange(batch)

    # ---- the other batch ----

    def _exchange(self, batch: Any) -> None:
        leaves = [leaf for _, leaf in leaves_of(batch)]
        if not leaves or not _has_only_tensors(batch):
            raise unchecked("its batch has something else than tensors")
        for leaf in leaves:
            if not _is_plain(leaf) or leaf.requires_grad or leaf.dim() == 0 or leaf.shape[0] != self._size:
                raise unchecked("its batch has tensors without one row for each example")
        for leaf in leaves:
            memory = self._memory_of(leaf)
            if memory.other is None:
                memory.other = leaf.untyped_storage().clone()
        for leaf in leaves:
            order = list(range(self._size))
            for place, row in enumerate(self._changed):
                order[row] = self._kept[place % len(self._kept)]
            _in_memory(leaf, self._memory_of(leaf).other).copy_(leaf[order])

    def _memory_of(self, tensor: Any) -> _Memory:
        storage = tensor.untyped_storage()
        memory = self._known.get(storage._cdata)
        if memory is None:
            memory = self._known[storage._cdata] = _Memory(storage)
        return memory

    def _found(self, tensor: Any) -> _Memory | None:
        return self._known.get(tensor.untyped_storage()._cdata)

    def _depends(self, tensor: Any) -> bool:
        memory = self._found(tensor)
        return memory is not None and memory.other is not None

    # ---- following ----

    def begin(self) -> None:
        """From now on."""
        modes = _modes()
        if self._calls is None:
            self._calls = modes.calls(self._see_call)
            self._calls.__enter__()
        self._operations = modes.operations(self._see)
        self._operations.__enter__()

    def ends_loss(self) -> None:
        """The backward pass begins: from here on only what is changed matters."""
        self._follows = False
        for memory in self._known.values():
            memory.other = None

    def pause(self, paused: bool) -> None:
        """While calls of torch are made that are known to change parameters and gradients."""
        self._paused = paused

    def own_too(self, tensors: Sequence[Any]) -> None:
        """These, which are there by now, are changed by a step, too."""
        for storage in (tensor.untyped_storage() for tensor in tensors if tensor is not None):
            self._own[storage._cdata] = _Memory(storage)

    def end(self) -> bool:
        """Operations are not seen until begin() is called again. False if that is not possible, as the program has
        entered a mode of its own since.
        """
        mode, self._operations = self._operations, None
        if mode is None:
            return True
        if _modes().operations_on_top() is not mode:
            self._paused = True
            self._fail(unchecked("the program has entered a mode of torch"))
            return False
        mode.__exit__(None, None, None)
        return True

    def close(self) -> None:
        """Nothing is seen any more."""
        self.end()
        self._paused = True
        if self._calls is not None and _modes().calls_on_top() is self._calls:
            self._calls.__exit__(None, None, None)
        self._calls = None

    def _fail(self, refused: Refused) -> None:
        self.failure = self.failure or refused.kept()

    def _see_call(self, func: Any, args: Any) -> None:
        if self._paused or self.failure is not None:
            return
        name = getattr(func, "__name__", "")
        if name in _HOOKS:
            self._fail(Refused("unknown-loop", "its loop is not known", "hooks on gradients"))
        elif self._follows and name in _LEAKS and any(_is_plain(item) and self._depends(item) for item in args):
            self._fail(unchecked(f"{name}() reads its batch outside of torch"))

    def _see(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self._paused or self.failure is not None:
            return func(*args, **kwargs)
        try:
            before = self._before(func, args, kwargs)
        except Exception as error:
            self._fail(_failed(func, error))
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        try:
            self._after(func, args, kwargs, result, before)
        except Refused as refused:
            self._fail(refused)
        except Exception as error:
            self._fail(_failed(func, error))
        return result

    def _before(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Before an operation: the shadow of what it writes into, and the random numbers, if it has other results with
        the other examples.
        """
        import torch

        self._count += 1
        if self._count % _SWEEP == 0:
            self._known = {key: memory for key, memory in self._known.items() if not memory.ref.expired()}
        tensors = _tensors_in((args, kwargs))
        written = _written(func, args, kwargs)
        for tensor in written:
            self._look_at_written(tensor)
        if not self._follows:
            self._look_for_average(func, tensors)
        if not self._follows or func._schema.name.split("::")[1] in _OF_SHAPES:
            return None
        if any(not _is_plain(tensor) for tensor in tensors):
            raise unchecked(f"{func} has tensors of another kind")
        if not any(map(self._depends, tensors)):
            return None
        for tensor in written:
            memory = self._memory_of(tensor)
            if memory.other is None:
                memory.other = tensor.untyped_storage().clone()
        if func.namespace not in _KNOWN:
            raise unchecked(f"{func} is no operation of torch")
        number = self._number(func, args, tensors)
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return tensors, number, None
        if kwargs.get("generator") is not None:
            raise unchecked("it draws random numbers by a generator of its own")
        return tensors, number, _random_states()

    def _look_at_written(self, tensor: Any) -> None:
        if tensor.untyped_storage()._cdata in self._own:
            self.changes_own = self.changes_own or not self._follows
            self.keeps_state = self.keeps_state or (self._follows and tensor.requires_grad)
        elif self._found(tensor) is None and (
            self._follows or (tensor.numel() > 1 and tensor.dtype.is_floating_point)
        ):
            self.keeps_state = True

    def _look_for_average(self, func: Any, tensors: list[Any]) -> None:
        """After the update, arithmetic with a parameter and what has its shape is an average of it."""
        name = func._schema.name.split("::")[1].replace("_foreach_", "").rstrip("_")
        if name not in _AVERAGES:
            return
        shapes = {tensor.shape for tensor in tensors if tensor.numel() > 1}
        ours = any(tensor.requires_grad and tensor.untyped_storage()._cdata in self._own for tensor in tensors)
        if ours and (len(shapes) == 1 or "_foreach_" in func._schema.name):
            self.keeps_state = True

    def _after(self, func: Any, args: Any, kwargs: Any, result: Any, before: Any) -> None:
        outputs = _tensors_in(result)
        if before is None:
            for output in outputs:
                self._memory_of(output)
            return
        tensors, number, states = before
        after = None if states is None else _random_states()
        if states is not None:
            _set_random_states(states)
        try:
            writes = "batch_norm" in func._schema.name  # into statistics, without saying so
            others = func(*self._other(args, writes), **self._other(kwargs, writes))
        finally:
            if after is not None:
                _set_random_states(after)
        self._compare_values(result, others)
        inputs = {tensor.untyped_storage()._cdata for tensor in tensors}
        for output, other in zip(outputs, _tensors_in(others)):
            self._remember(output, other, inputs)
            if output.numel() == 1 and number is not None:
                self._memory_of(output).number = number

    def _other(self, values: Any, writes: bool) -> Any:
        from torch.utils._pytree import tree_map

        return tree_map(lambda value: self._other_of(value, writes), values)

    def _other_of(self, value: Any, writes: bool) -> Any:
        if not _is_of_torch(value):
            return value
        memory = self._found(value)
        if memory is None or memory.other is None:
            return value.clone() if writes else value
        return _in_memory(value, memory.other)

    @staticmethod
    def _compare_values(result: Any, others: Any) -> None:
        from torch.utils._pytree import tree_leaves

        first, second = tree_leaves(result), tree_leaves(others)
        if len(first) != len(second):
            raise unchecked("the number of results depends on values of its batch")
        for one, two in zip(first, second):
            if not _is_of_torch(one) and one != two and not (one != one and two != two):  # noqa: PLR0124 - NaN
                raise unchecked("what the program does depends on values of its batch")

    def _remember(self, output: Any, other: Any, inputs: set[int]) -> None:
        if output.untyped_storage()._cdata in inputs:
            return  # written in place, or a view
        if output.shape != other.shape:
            raise unchecked("shapes depend on values of its batch")
        if output.stride() != other.stride() or output.storage_offset() != other.storage_offset():
            raise unchecked("its tensors are laid out in other ways")
        self._memory_of(output).other = other.untyped_storage()

    # ---- what becomes a number ----

    def _number(self, func: Any, args: Any, tensors: list[Any]) -> _Number | None:
        """What the number is that this operation makes, if it makes one."""
        name = func._schema.name.split("::")[1].rstrip("_")
        depending = [tensor for tensor in tensors if self._depends(tensor)]
        if any(tensor.numel() > 1 for tensor in depending):
            return self._of_reduction(name, args, depending)
        numbers = [self._memory_of(tensor).number for tensor in depending]
        if name not in _LINEAR or None in numbers:
            return _Number(name)
        present = [number for number in numbers if number is not None]
        why = next((number.why for number in present if number.why), "")
        if len(present) > 1 and name == "div":
            return _Number(why or ("" if present[1].is_count else name), changes=present[0].changes)
        if len(present) > 1 and name == "mul":
            return _Number(why or name)
        is_count = all(number.is_count for number in present) and name not in ("mul", "div")
        return _Number(why, is_count, all(number.changes for number in present))

    def _of_reduction(self, name: str, args: Any, depending: list[Any]) -> _Number:
        if name not in _REDUCTIONS:
            return _Number(name)
        if not _is_of_torch(args[0]) or not self._depends(args[0]):
            return _Number("the predictions are not seen to depend on the batch")
        if name.startswith("nll_loss") and _is_of_torch(args[2]) and self._depends(args[2]):
            return _Number("interact")
        changed = [self._changes(tensor) for tensor in depending]
        if None in changed:
            return _Number("interact")
        of_first = next(change for tensor, change in zip(depending, changed) if tensor is args[0])
        return _Number("", name == "sum", bool(of_first))

    def _changes(self, tensor: Any) -> bool | None:
        """Whether rows of exchanged examples have other values; None if those of the others have, too."""
        if tensor.dim() == 0 or tensor.shape[0] % self._size:
            return None
        one = tensor.reshape(self._size, -1)
        two = _in_memory(tensor, self._memory_of(tensor).other).reshape(self._size, -1)
        same = ((one == two) | ((one != one) & (two != two))).all(1).tolist()  # noqa: PLR0124
        if not all(same[row] for row in self._kept):
            return None
        return not all(same[row] for row in self._changed)

    def check(self, loss: Any) -> None:
        """Raises Refused unless the loss is one of independent examples."""
        if self.failure is not None:
            raise self.failure
        memory = self._found(loss)
        number = None if memory is None else memory.number
        if number is None:
            raise unchecked("no dependence of the loss on the batch was found")
        if number.why == "interact":
            raise Refused("examples-interact", "the loss depends on the whole batch")
        if number.why or not number.changes:
            raise unchecked(number.why or "other examples have the same loss")
        if self.keeps_state:
            raise kept_state()

    def is_count(self, tensor: Any) -> bool:
        """Whether a number is a sum over independent examples."""
        memory = self._found(tensor)
        number = None if memory is None else memory.number
        return number is not None and number.is_count and not number.why


def kept_state() -> Refused:
    text = "the program changes values at each step that are not its optimizer's, such as averaged weights or buffers"
    return Refused("kept-state", text)


def _failed(func: Any, error: Exception) -> Refused:
    return error if isinstance(error, Refused) else unchecked(f"{func}: {type(error).__name__}")


def _is_of_torch(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_plain(value: Any) -> bool:
    """A tensor of torch itself, whose memory is all that it is."""
    import torch

    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return False
    return value.layout is torch.strided and not (value.is_quantized or value.is_conj() or value.is_neg())


def _has_only_tensors(part: Any) -> bool:
    if part is None or _is_of_torch(part):
        return True
    if hasattr(part, "keys"):
        return all(_has_only_tensors(part[key]) for key in part.keys())  # noqa: SIM118
    return isinstance(part, (list, tuple)) and all(map(_has_only_tensors, part))


def _tensors_in(values: Any) -> list[Any]:
    from torch.utils._pytree import tree_leaves

    return [value for value in tree_leaves(values) if _is_of_torch(value)]


def _written(func: Any, args: Any, kwargs: Any) -> list[Any]:
    """The tensors that an operation writes into."""
    written: list[Any] = []
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            written += _tensors_in(args[place] if place < len(args) else kwargs.get(argument.name))
    return written


def _in_memory(tensor: Any, storage: Any) -> Any:
    """The tensor in other memory of the same layout."""
    import torch

    empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return empty.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())


def _random_states() -> Any:
    import torch

    cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if cuda else []


def _set_random_states(states: Any) -> None:
    import torch

    torch.set_rng_state(states[0])
    if states[1]:
        torch.cuda.set_rng_state_all(states[1])
