# SPDX-License-Identifier: MIT
"""Changes of a program that save memory, made without it for a run that is thrown away: what would make it fit?"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any


class _Autocast:
    """Mixed precision: from the first forward pass of a step to its backward pass, as programs write it."""

    def __init__(self) -> None:
        self._on = False

    def forward(self, model: Any) -> None:
        import torch

        if torch.is_autocast_enabled("cuda"):  # the program's own, or on already
            return
        torch.set_autocast_dtype("cuda", torch.bfloat16)
        torch.set_autocast_enabled("cuda", True)
        self._on = True

    def backward(self) -> None:
        import torch

        if self._on:
            torch.set_autocast_enabled("cuda", False)
            torch.clear_autocast_cache()
            self._on = False


class _Checkpointing:
    """Activation checkpointing of each block of a model: those that its library names, or that repeat in it."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def forward(self, model: Any) -> None:
        if id(model) in self._seen:
            return
        self._seen.update(map(id, model.modules()))
        self._change(model)

    def backward(self) -> None:
        pass

    def _change(self, module: Any) -> None:
        if getattr(module, "supports_gradient_checkpointing", False):
            if not module.is_gradient_checkpointing:
                module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            return
        children = list(module.children())
        blocks = [block for block in children if _repeats(block, children)] if _is_list(module) else []
        for block in blocks:
            _checkpoint(block)
        for child in children:
            if child not in blocks:
                self._change(child)


def _is_list(module: Any) -> bool:
    return type(module).__name__ in ("ModuleList", "Sequential")


def _repeats(block: Any, among: list[Any]) -> bool:
    """Whether it is one of several of a kind that have layers of their own."""
    alike = [other for other in among if type(other) is type(block)]
    return len(alike) > 1 and any(True for _ in block.children()) and any(True for _ in block.parameters())


def _checkpoint(block: Any) -> None:
    from torch.utils.checkpoint import checkpoint

    stock = block.forward

    @functools.wraps(stock)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return checkpoint(stock, *args, use_reentrant=False, **kwargs) if block.training else stock(*args, **kwargs)

    block.forward = forward


class _Adam8bit:
    """Adam with its state in 8 bits: what bitsandbytes keeps for each parameter, without what it computes."""

    _BLOCK = 256  # numbers with a common scale
    _LEAST = 4096  # numbers of a parameter; smaller ones keep 32 bits

    def __init__(self) -> None:
        import torch

        for kind in (torch.optim.Adam, torch.optim.AdamW):
            kind.step = self._step

    def forward(self, model: Any) -> None:
        pass

    def backward(self) -> None:
        pass

    @staticmethod
    def _step(optimizer: Any, closure: Any = None) -> Any:
        loss = None if closure is None else closure()
        for parameter in (p for group in optimizer.param_groups for p in group["params"] if p.grad is not None):
            state = optimizer.state[parameter]
            if not state:
                for name in ("exp_avg", "exp_avg_sq"):
                    state.update(_Adam8bit._moment(parameter, name))
        return loss

    @staticmethod
    def _moment(parameter: Any, name: str) -> dict[str, Any]:
        import torch

        count = parameter.numel()
        if count < _Adam8bit._LEAST:
            return {name: torch.zeros(count, device=parameter.device)}
        scales = -(-count // _Adam8bit._BLOCK)
        return {
            name: torch.zeros(count, dtype=torch.uint8, device=parameter.device),
            name + "_scale": torch.zeros(scales, device=parameter.device),
        }


_CHANGES: dict[str, Callable[[], Any]] = {
    "mixed": _Autocast,
    "checkpointing": _Checkpointing,
    "adam8bit": _Adam8bit,
}


def make_changes() -> None:
    """Makes the changes that the environment names, once torch has been imported: only in a run that is thrown away."""
    if not os.environ.get("BATCHSCOPE_TRIAL"):
        return
    changes = [_CHANGES[name]() for name in os.environ.get("BATCHSCOPE_CHANGES", "").split(",") if name in _CHANGES]
    if not changes:
        return
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook

    inside = False  # a backward pass, in which checkpoints make forward passes

    def before_forward(module: Any, args: Any) -> None:
        if torch.is_grad_enabled() and module.training and not inside:
            for change in changes:
                change.forward(module)

    stock = torch.autograd.backward

    @functools.wraps(stock)
    def backward(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        for change in changes:
            change.backward()
        inside = True
        try:
            return stock(*args, **kwargs)
        finally:
            inside = False

    register_module_forward_pre_hook(before_forward)
    torch.autograd.backward = backward
