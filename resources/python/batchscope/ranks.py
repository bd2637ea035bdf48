# SPDX-License-Identifier: MIT
"""The processes of a training that act together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

_BUCKET = 25 << 20  # bytes of gradients that are averaged at once, as DistributedDataParallel has it


class Ranks:
    """The processes of a training that act together. Every method must be called by all of them, in the same order.

    They talk in a group of their own: the program's may be on the GPUs, and gives up after some minutes, while a pause
    lasts as long as somebody wants. A rank that dies closes its connections, so that the others fail at once.
    """

    def __init__(self) -> None:
        from datetime import timedelta

        import torch
        from torch import distributed

        self._torch, self._distributed = torch, distributed
        self.rank: int = distributed.get_rank()
        self.size: int = distributed.get_world_size()
        self._group = distributed.new_group(backend="gloo", timeout=timedelta(days=365))

    def part(self, examples: int) -> int:
        """How many of so many examples this rank takes: every size-th one, beginning with the rank-th."""
        return (examples - self.rank + self.size - 1) // self.size

    def from_first(self, values: Sequence[float]) -> list[float]:
        """The numbers that rank 0 has given."""
        tensor = self._torch.tensor(values, dtype=self._torch.float64)
        with _telling_of_lost_ranks():
            self._distributed.broadcast(tensor, 0, group=self._group)
        numbers: list[float] = tensor.tolist()
        return numbers

    def gather(self, values: Sequence[float]) -> list[list[float]]:
        """The numbers of all ranks."""
        own = self._torch.tensor(values, dtype=self._torch.float64)
        tensors = [self._torch.empty_like(own) for _ in range(self.size)]
        with _telling_of_lost_ranks():
            self._distributed.all_gather(tensors, own, group=self._group)
        return [tensor.tolist() for tensor in tensors]

    def gather_objects(self, value: Any) -> list[Any]:
        values = [None] * self.size
        self._distributed.all_gather_object(values, value, group=self._group)
        return values

    def same_order(self, order: list[Any]) -> list[Any]:
        """The order of rank 0, which is sent only if the others have drawn another one."""
        sums = self.gather([float(hash(tuple(order)) & (2**52 - 1))])
        if all(number == sums[0] for number in sums):
            return order
        orders = [order]
        self._distributed.broadcast_object_list(orders, 0, group=self._group)
        return orders[0]

    def share_buffers(self, wrapped: Any) -> None:
        """Gives all ranks the buffers of rank 0, as DistributedDataParallel does before a forward pass."""
        if getattr(wrapped, "broadcast_buffers", False):
            with self._torch.no_grad():
                for buffer in wrapped.module.buffers():
                    self._distributed.broadcast(buffer, 0, group=wrapped.process_group)

    def average(self, wrapped: Any, share: float, missing: bool) -> None:
        """Replaces gradients by their mean over the ranks, each of which counts `share` times.

        `missing`: a rank lacks gradients, for parameters that it did not use or because it had no example.
        """
        torch = self._torch
        parameters = [p for p in wrapped.parameters() if p.requires_grad]
        if missing:
            used = torch.tensor([p.grad is not None for p in parameters], dtype=torch.uint8)
            self._distributed.all_reduce(used, self._distributed.ReduceOp.MAX, group=self._group)
            parameters = [p for p, is_used in zip(parameters, used.tolist()) if is_used]
            for p in parameters:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
        for bucket in _buckets([p.grad for p in parameters]):
            flat = torch.cat([gradient.reshape(-1) for gradient in bucket])
            if share != 1.0:
                flat.mul_(share)
            flat.div_(self.size)
            self._distributed.all_reduce(flat, group=wrapped.process_group)
            for gradient, mean in zip(bucket, flat.split([gradient.numel() for gradient in bucket])):
                gradient.copy_(mean.view_as(gradient))

    def mean(self, wrapped: Any, loss: Any, share: float) -> Any:
        """The mean of a loss over the ranks; None where a rank had no example."""
        torch = self._torch
        device = next(wrapped.parameters()).device
        mean = torch.zeros((), device=device) if loss is None else loss.detach().float() * share
        mean = mean / self.size
        self._distributed.all_reduce(mean, group=wrapped.process_group)
        return mean


@contextlib.contextmanager
def _telling_of_lost_ranks() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError("another rank of this training has ended") from error


def _buckets(gradients: list[Any]) -> Iterator[list[Any]]:
    """Neighbours of the same type, of a moderate size together."""
    bucket: list[Any] = []
    size = 0
    for gradient in gradients:
        if bucket and (size >= _BUCKET or gradient.dtype != bucket[0].dtype or gradient.device != bucket[0].device):
            yield bucket
            bucket, size = [], 0
        bucket.append(gradient)
        size += gradient.numel() * gradient.element_size()
    if bucket:
        yield bucket


@contextlib.contextmanager
def without_exchange(wrapped: Any) -> Iterator[None]:
    """Within it, a DistributedDataParallel model talks to no other rank: these may run other numbers of pieces."""
    names = ("require_backward_grad_sync", "require_forward_param_sync")
    before = [getattr(wrapped, name) for name in names]
    try:
        for name in names:
            setattr(wrapped, name, False)
        yield
    finally:
        for name, value in zip(names, before):
            setattr(wrapped, name, value)


def why_not_distributed_model(model: Any, ranks: Ranks) -> str | None:
    """Why the gradients of this model cannot be averaged here; None if they can be."""
    import torch

    if not isinstance(model, torch.nn.parallel.DistributedDataParallel):
        return f"a {type(model).__name__} is no DistributedDataParallel model"
    if model.process_group.size() != ranks.size:
        return "the model is not the same on all ranks"
    if getattr(model, "_comm_hooks", None):
        return "the model has a communication hook of its own"
    return None
