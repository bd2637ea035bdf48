# SPDX-License-Identifier: MIT
"""Where the examples of an epoch come from: this process or workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .loader import Loader


CHUNK = 16  # examples that a loader's worker fetches at once


def _tensor_from(array: Any, dtype: Any) -> Any:
    import torch

    tensor = torch.from_numpy(array)
    return tensor if dtype is None else tensor.view(dtype)


def pack(examples: list[Any]) -> bytes:
    """Runs in a worker. Tensors travel by value: shared memory would need a file descriptor for each of them."""
    import io
    import pickle

    import torch

    class Pickler(pickle.Pickler):
        def reducer_override(self, value: Any) -> Any:
            if type(value) is not torch.Tensor or value.device.type != "cpu" or value.requires_grad:
                return NotImplemented
            try:
                if value.dtype == torch.bfloat16:
                    return _tensor_from, (value.contiguous().view(torch.int16).numpy(), torch.bfloat16)
                return _tensor_from, (value.contiguous().numpy(), None)
            except (RuntimeError, TypeError):  # sparse, or a type that NumPy lacks
                return NotImplemented

    buffer = io.BytesIO()
    Pickler(buffer, protocol=5).dump(examples)
    return buffer.getvalue()


class Direct:
    """Fetches in the main process, as a DataLoader without workers does."""

    def __init__(self, loader: Loader, skip: int) -> None:
        import torch

        torch.empty((), dtype=torch.int64).random_(generator=loader.dataloader.generator)  # as DataLoader draws
        self._dataset = loader.dataset
        self._indices = loader._indices(skip)

    def take(self, count: int) -> list[Any]:
        from itertools import islice

        indices = list(islice(self._indices, count))
        if hasattr(self._dataset, "__getitems__") and self._dataset.__getitems__:
            return list(self._dataset.__getitems__(indices))
        return [self._dataset[index] for index in indices]

    def exhaust(self) -> None:
        """A DataLoader goes through its sampler to the end, where samplers may draw random numbers."""
        for _ in self._indices:
            pass


class Chunks:
    """The sampler's order in chunks, which know nothing of batches."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[list[int]]:
        from itertools import islice

        indices = self._loader._indices(self._loader._skip)
        while True:
            chunk = list(islice(indices, CHUNK))
            if not chunk:
                return
            yield chunk

    def __len__(self) -> int:
        return -(-self._loader.examples // (CHUNK * self._loader._sharers))


class FromWorkers:
    """Fetches chunks of raw examples with worker processes."""

    def __init__(self, loader: Loader) -> None:
        self._chunks = iter(loader._worker_loader())
        self._ready: list[Any] = []

    def take(self, count: int) -> list[Any]:
        import pickle

        while len(self._ready) < count:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._ready += pickle.loads(chunk)
        taken, self._ready = self._ready[:count], self._ready[count:]
        return taken

    def exhaust(self) -> None:
        """The workers' order is fetched to its end anyway."""
