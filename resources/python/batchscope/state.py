# SPDX-License-Identifier: MIT
"""What an attempt at a step changes besides gradients, and how it is put back."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Any

_CONTAINERS = (list, dict, set, deque)
_LARGEST_CONTAINER = 256  # items; of a larger one only what is added at its end can be taken away again
_LARGEST_ATTRIBUTE = 16 << 20  # bytes of a tensor that is no buffer: larger ones are data, not state
_NOT_IN_PLACE = frozenset(("_parameters", "_modules", "_buffers", "_non_persistent_buffers_set"))
_LOOK_AGAIN_AFTER = 16  # uses of a Keeper until it looks again which attributes there are
_PLAIN = frozenset((bool, int, float, str, type(None), tuple, OrderedDict))  # put back with the attributes


class RandomState:
    """The state of all random generators that a program is likely to use."""

    def __init__(self) -> None:
        import torch

        self._torch = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
        self._python = random.getstate()
        numpy: Any = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if hasattr(numpy, "random") else None

    def restore(self) -> None:
        import torch

        torch.set_rng_state(self._torch)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        random.setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "untyped_storage")


def _is_leaf(tensor: Any) -> bool:
    """False for one whose history cannot be told: a view of a tensor that was changed in its place since."""
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:
        return False


def _parts_of(roots: list[Any]) -> list[Any]:
    """The modules and all that are part of them, each once."""
    return list({id(module): module for root in roots for module in root.modules()}.values())


def _names_of_state(module: Any) -> list[str]:
    """Attributes of a module whose contents a step may change in their place."""
    return [name for name, value in vars(module).items() if type(value) not in _PLAIN and name not in _NOT_IN_PLACE]


class Keeper:
    """Copies of the buffers and other state of modules; its memory is used again by the next step.

    Buffers of all kinds are kept (statistics, codebooks, averages, the vectors of a spectral norm), and what a module
    keeps besides: tensors, numbers, lists and dicts that are its attributes, such as the state of a metric. Copies of
    what is on a GPU are in pinned host memory and made without waiting, so that neither time nor the peak of the GPU's
    memory changes.
    """

    def __init__(self) -> None:
        self._places: dict[int, tuple[Any, Any]] = {}  # of the newest: by the tensor's identity, it and its copy
        self._earlier: dict[int, tuple[Any, Any]] = {}  # while that is made: of the one before
        self._roots: list[Any] = []
        self._plan: list[tuple[dict[str, Any], list[str]]] = []
        self._uses = 0

    def keep(self, modules: Iterable[Any]) -> Saved:
        """Saves the state of these modules and of all that are part of them."""
        roots = list(modules)
        if list(map(id, roots)) != list(map(id, self._roots)) or self._uses % _LOOK_AGAIN_AFTER == 0:
            self._roots, self._plan = roots, [(vars(module), _names_of_state(module)) for module in _parts_of(roots)]
        self._uses += 1
        # What modules have replaced since, such as a sum that is made anew at each step, is let go of.
        self._earlier, self._places = self._places, {}
        try:
            return Saved(self, self._plan)
        finally:
            self._earlier = {}

    def copy_of(self, tensor: Any) -> Any:
        """The tensor's values now, in the place that they had the last time."""
        import torch

        known = self._places.get(id(tensor)) or self._earlier.get(id(tensor))
        if known is None or known[0] is not tensor or known[1].shape != tensor.shape:
            pinned = tensor.device.type == "cuda"
            known = tensor, torch.empty_like(tensor, device="cpu", pin_memory=pinned, requires_grad=False)
        self._places[id(tensor)] = known
        known[1].copy_(tensor.detach(), non_blocking=True)
        return known[1]


class Saved:
    """The state of modules at one moment, made by a Keeper. Only the newest one of a Keeper may be used."""

    def __init__(self, keeper: Keeper, plan: list[tuple[dict[str, Any], list[str]]]) -> None:
        self.random = RandomState()
        self._keeper = keeper
        self._attributes: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._containers: list[tuple[Any, Any]] = []
        self._tensors: list[tuple[Any, Any]] = []
        for own, names in plan:
            self._attributes.append((own, own.copy()))
            self._keep_buffers(own.get("_buffers"))
            for name in names:
                if name in own:
                    self._keep(own[name])

    def _keep_buffers(self, buffers: Any) -> None:
        if isinstance(buffers, dict):  # not that of a TorchScript module, which cannot get new ones
            self._containers.append((buffers, dict(buffers)))
        for _, tensor in buffers.items() if buffers is not None else ():
            if tensor is not None:
                self._tensors.append((tensor, self._keeper.copy_of(tensor)))

    def _keep(self, value: Any, depth: int = 2) -> None:
        kind = type(value)
        if kind in _CONTAINERS:
            if len(value) > _LARGEST_CONTAINER:
                self._containers.append((value, len(value)))
            elif depth > 0:
                self._containers.append((value, copy.copy(value)))
                for item in value.values() if kind is dict else value:
                    self._keep(item, depth - 1)
        elif _is_tensor(value) and _is_leaf(value) and value.numel() * value.element_size() <= _LARGEST_ATTRIBUTE:
            self._tensors.append((value, self._keeper.copy_of(value)))

    def restore(self) -> None:
        """Puts everything back, and takes away what has appeared since. Leaves parameters and gradients alone."""
        import torch

        self.random.restore()
        for container, before in self._containers:
            _refill(container, before)
        for own, before in self._attributes:
            own.clear()
            own.update(before)
        with torch.no_grad():
            for tensor, value in self._tensors:
                tensor.copy_(value)


def _refill(container: Any, before: Any) -> None:
    """Gives a container the items that it had; `before` is a copy of it, or the number of its items."""
    if isinstance(before, int):
        if isinstance(container, list):
            del container[before:]
        return
    container.clear()
    if isinstance(container, (dict, set)):
        container.update(before)
    else:
        container.extend(before)


class Gradients:
    """The gradients that parameters have at one moment, most of them none."""

    def __init__(self, parameters: Iterable[Any]) -> None:
        self._kept = [(p, None if p.grad is None else p.grad.clone()) for p in parameters]

    def restore(self) -> None:
        for parameter, gradient in self._kept:
            parameter.grad = None if gradient is None else gradient.clone()


@contextlib.contextmanager
def unchanged(keeper: Keeper, modules: Iterable[Any]) -> Iterator[None]:
    """Whatever happens within it to the state of modules and of random generators is undone."""
    saved = keeper.keep(modules)
    try:
        yield
    finally:
        saved.restore()
