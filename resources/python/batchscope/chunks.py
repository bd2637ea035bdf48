# SPDX-License-Identifier: MIT
"""Carries examples from a worker to the main process, their tensors in one piece of shared memory."""

from __future__ import annotations

import io
import pickle
from typing import Any

_ALIGNMENT = 64  # bytes
_LEAST = 4096  # bytes of a tensor for which shared memory is worth it


class _Pickler(pickle.Pickler):
    """Leaves larger tensors out, and notes them."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=5)
        self.tensors: list[Any] = []

    def persistent_id(self, value: Any) -> Any:
        import torch

        if type(value) is not torch.Tensor or value.layout != torch.strided or value.device.type != "cpu":
            return None
        if value.requires_grad or value.is_quantized or value.is_conj() or value.is_neg():
            return None
        self.tensors.append(value)
        return len(self.tensors) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, tensors: list[Any]) -> None:
        super().__init__(file)
        self._tensors = tensors

    def persistent_load(self, number: Any) -> Any:
        return self._tensors[number]


def pack(examples: list[Any]) -> Any:
    """Runs in a worker. One piece of shared memory needs one file descriptor, whatever the number of tensors."""
    import torch

    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(examples)
    places: list[tuple[int, Any, tuple[int, ...]]] = []
    end = 0
    for tensor in pickler.tensors:
        places.append((end, tensor.dtype, tuple(tensor.shape)))
        end += -(-tensor.numel() * tensor.element_size() // _ALIGNMENT) * _ALIGNMENT
    memory = _shared(end) if end >= _LEAST else torch.empty(end, dtype=torch.uint8)
    for tensor, place in zip(pickler.tensors, places):
        _view(memory, place).copy_(tensor)
    return file.getvalue(), memory if end >= _LEAST else memory.numpy().tobytes(), places


def _shared(size: int) -> Any:
    """Shared memory of so many bytes, which the other process needs not copy."""
    import torch

    return torch.empty(0, dtype=torch.uint8).set_(torch.UntypedStorage._new_shared(size), 0, (size,), (1,))


def unpack(chunk: Any) -> list[Any]:
    """The examples; their tensors are in the memory that the worker has written."""
    import torch

    text, memory, places = chunk
    if isinstance(memory, bytes):
        memory = torch.frombuffer(bytearray(memory), dtype=torch.uint8) if memory else torch.empty(0, dtype=torch.uint8)
    tensors = [_view(memory, place) for place in places]
    return list(_Unpickler(io.BytesIO(text), tensors).load())


def _view(memory: Any, place: tuple[int, Any, tuple[int, ...]]) -> Any:
    import torch

    begin, dtype, shape = place
    elements = 1
    for length in shape:
        elements *= length
    size = elements * torch.empty((), dtype=dtype).element_size()
    return memory[begin : begin + size].view(dtype).view(shape) if size else torch.empty(shape, dtype=dtype)
