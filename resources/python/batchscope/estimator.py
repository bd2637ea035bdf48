# SPDX-License-Identifier: MIT
"""The memory of steps that are not run."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Sequence
from typing import Any, Callable

from .tracer import bytes_of, state_tensors


def _ledger() -> Any:
    """A dispatch mode that counts the bytes of all storages that are made under it, while they live."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Ledger(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.live = self.peak = 0
            self._known: dict[int, Any] = {}

        def see(self, tensor: Any) -> None:
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key in self._known:
                return
            size = -(-storage.nbytes() // 64) * 64
            self._known[key] = weakref.finalize(storage, self._free, key, size)
            self._known[key].atexit = False
            self.live += size
            self.peak = max(self.peak, self.live)

        def _free(self, key: int, size: int) -> None:
            self._known.pop(key, None)
            self.live -= size

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            for leaf in tree_leaves(result):
                if hasattr(leaf, "untyped_storage"):
                    self.see(leaf)
            return result

    return Ledger()


def _fake_optimizer(optimizer: Any, fakes: dict[int, Any]) -> Any:
    """An optimizer of the same class and settings over the copies of its parameters."""
    import inspect

    while not hasattr(optimizer, "defaults") and hasattr(optimizer, "optimizer"):
        optimizer = optimizer.optimizer
    inner = getattr(optimizer, "optimizer", None)
    optimizer = inner if inner is not None else optimizer
    accepted = inspect.signature(type(optimizer).__init__).parameters
    groups = [
        {
            **{key: value for key, value in group.items() if key in accepted},
            "params": [fakes[id(p)] for p in group["params"] if id(p) in fakes],
        }
        for group in optimizer.param_groups
    ]
    defaults = {key: value for key, value in optimizer.defaults.items() if key in accepted}
    return type(optimizer)(groups, **defaults)


def _fake_peak(model: Any, batch: Any, loss: Callable[[Any, Any], Any], optimizer: Any) -> tuple[int, dict[str, int]]:
    """Peak bytes of the second step on tensors without data, and what is in use between steps."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._pytree import tree_leaves, tree_map

    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fakes: dict[int, Any] = {}
        for parameter in model.parameters():
            fakes[id(parameter)] = torch.nn.Parameter(mode.from_tensor(parameter.detach()), parameter.requires_grad)
        for buffer in model.buffers():
            fakes[id(buffer)] = mode.from_tensor(buffer)
        own = copy.deepcopy(model, dict(fakes))
        given = tree_map(lambda t: mode.from_tensor(t) if isinstance(t, torch.Tensor) else t, batch)
        steps = _fake_optimizer(optimizer, fakes)
        with _ledger() as ledger:
            for tensor in fakes.values():
                ledger.see(tensor)
            parameters = ledger.live
            for tensor in tree_leaves(given):
                if isinstance(tensor, torch.Tensor):
                    ledger.see(tensor)
            inputs = ledger.live - parameters
            for _ in range(2):
                ledger.peak = ledger.live
                value = loss(own, given)
                value.backward()
                del value
                steps.step()
                steps.zero_grad(set_to_none=True)
            state = bytes_of(state_tensors(steps))
            return ledger.peak, {"parameters": parameters, "optimizer": state, "batch": inputs}


def estimate(
    model: Any,
    batch_of: Callable[[int], Any],
    loss: Callable[[Any, Any], Any],
    optimizer: Any,
    batches: Sequence[int] = (8, 16),
) -> list[list[Any]]:
    """Peak memory of training steps that are not run: [batch, peak bytes, {use: bytes}] for each size.

    `batch_of(n)` makes a collated batch of n examples, `loss(model, batch)` returns the loss. Nothing of the model,
    the optimizer and the random numbers is changed.
    """
    import torch

    state = torch.get_rng_state()
    try:
        curve: list[list[Any]] = []
        for size in batches:
            peak, by = _fake_peak(model, batch_of(size), loss, optimizer)
            curve.append([size, peak, by])
        return curve
    finally:
        torch.set_rng_state(state)


def estimate_trainer(trainer: Any, batches: Sequence[int]) -> list[list[Any]]:
    """The same for a transformers.Trainer, with examples of its own data."""
    dataset = trainer.train_dataset

    def batch_of(size: int) -> Any:
        return dict(trainer.data_collator([dataset[index % len(dataset)] for index in range(size)]))

    def loss(model: Any, batch: Any) -> Any:
        return trainer.compute_loss(model, dict(batch))

    return estimate(trainer.model, batch_of, loss, trainer.optimizer, batches)
