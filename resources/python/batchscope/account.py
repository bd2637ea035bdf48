# SPDX-License-Identifier: MIT
"""The bytes that a training holds between two steps: its models, gradients, optimizers and last batch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from .memory import CudaMemory, HostMemory
from .tracer import bytes_of, state_tensors, storages_of, tensors_in


class EveryModule:
    """All modules of the process, for a program that does not say which one it trains."""

    def __init__(self) -> None:
        import torch

        found = [item for item in gc.get_objects() if issubclass(type(item), torch.nn.Module)]
        self._modules = [weakref.ref(module) for module in found]

    def modules(self) -> Iterator[Any]:
        """Those that are still there."""
        for reference in self._modules:
            module = reference()
            if module is not None:
                yield module

    def parameters(self) -> Iterator[Any]:
        """Of all of them, each once."""
        return _once(p for module in self.modules() for p in module._parameters.values())

    def buffers(self) -> Iterator[Any]:
        """Of all of them, each once."""
        return _once(b for module in self.modules() for b in module._buffers.values())


def _once(tensors: Iterable[Any]) -> Iterator[Any]:
    """As far as they are asked for: the first one is, at each step."""
    seen: set[int] = set()
    for tensor in tensors:
        if tensor is not None and id(tensor) not in seen:
            seen.add(id(tensor))
            yield tensor


class Account:
    """What belongs to the training."""

    def __init__(self) -> None:
        self.model: Any = None  # the newest one
        self.models: Any = weakref.WeakSet()  # several may take turns
        self.optimizers: Any = weakref.WeakSet()
        self.memory: Any = None  # HostMemory or CudaMemory, once there is a model
        self.on_gpu = False  # which of them it is
        self.of_model = 0  # bytes of the newest one: parameters and buffers
        self.windows: Any = weakref.WeakSet()  # those that there are

    def know(self, model: Any) -> None:
        """Another model takes its turn."""
        self.model = model
        self.models.add(model)
        self.of_model = bytes_of([*model.parameters(), *model.buffers()])

    @property
    def device(self) -> Any:
        """Of the model's first parameter; None without one."""
        parameter = next(iter(self.model.parameters()), None) if self.model is not None else None
        return None if parameter is None else parameter.device

    def measure(self, closed_bytes: Any) -> None:
        """Begins to measure memory, or begins anew for another model."""
        self.on_gpu = self.device is not None and self.device.type == "cuda"
        if self.on_gpu:
            self.memory = CudaMemory(self.device)
        elif isinstance(self.memory, HostMemory):
            self.memory.begin(self.of_model)
        else:
            self.memory = HostMemory(self.of_model, closed_bytes)

    def owns(self, optimizer: Any) -> bool:
        """Whether it updates parameters of a known model."""
        ours = {id(parameter) for model in self.models for parameter in model.parameters()}
        return any(id(parameter) in ours for group in optimizer.param_groups for parameter in group["params"])

    def between_steps(self) -> int:
        """Bytes of the newest model and its gradients, and of the states of all optimizers."""
        gradients = [p.grad for p in self.model.parameters()] if self.model is not None else []
        states = [tensor for optimizer in self.optimizers for tensor in state_tensors(optimizer)]
        return self.of_model + bytes_of(gradients) + bytes_of(states)

    def of_batch(self) -> int:
        """Bytes of all windows in the host's memory, as long as the program holds them."""
        tensors = [tensor for window in self.windows for tensor in tensors_in(window.parts)]
        here = [t for t in tensors if t.device.type == "cpu" and str(t.layout) == "torch.strided"]
        return sum(min(used, storage.nbytes()) for storage, used in storages_of(here))
