# SPDX-License-Identifier: MIT
"""Puts BatchScope's eyes into torch: the calls that every training loop makes, whoever has written it.

Only functions of torch are wrapped, never modules or frames of the program. Each wrapper does what it wraps, and tells
a Loop of it; without a BatchScope, and in other processes, that does nothing.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from .changes import make_changes
from .feeds import Feeds
from .loop import Loop
from .nccl import stand_in_for_nccl
from .run import start


class Hooks:
    """What stands in torch's functions. The Run begins with the first sign of a training."""

    def __init__(self) -> None:
        self.loop: Loop | None = None  # of this process, if a training has begun in it
        self._feeds: Feeds | None = None
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self.loop = self._feeds = None

    def _begun(self) -> Loop:
        """A training is there: its Run, which may be that of the program itself."""
        if self.loop is None:
            run = start()
            self.loop = Loop(run)
            self._feeds = Feeds(run, self.loop)
            run._updates.is_told = True  # as torch's list of hooks must not grow while one of them is called
            if run._loop is None and not run._reports_itself:
                run._loop = self.loop
        return self.loop

    def iterator_of(self, dataloader: Any, stock: Callable[[Any], Any]) -> Any:
        """An iterator over a DataLoader."""
        import torch

        if torch.utils.data.get_worker_info() is not None:
            return stock(dataloader)
        if not torch.is_grad_enabled():
            if self.loop is not None:
                self.loop.evaluation_begins()
            return stock(dataloader)
        loop = self._begun()
        assert self._feeds is not None
        if loop.follows:
            return self._feeds.pass_over(dataloader, stock)
        loop.fetches_elsewhere = True
        return stock(dataloader)

    def install(self) -> None:
        """Wraps torch's functions, once, when torch is imported."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        kind: Any = torch.utils.data.DataLoader
        stock = kind.__iter__

        @functools.wraps(stock)
        def iterate(dataloader: Any) -> Any:
            return self.iterator_of(dataloader, stock)

        iterate._batchscope_stock = stock  # type: ignore[attr-defined]
        kind.__iter__ = iterate
        self._wrap_length(kind)
        self._wrap_backward(torch.autograd)
        self._wrap_grad(torch.autograd)
        for module in (torch.nn.utils, torch.nn.utils.clip_grad):
            self._wrap_clip(module, "clip_grad_norm_", Loop.clip_norm)
            self._wrap_clip(module, "clip_grad_value_", Loop.clip_value)
        self._wrap_scaler(getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler)
        register_optimizer_step_pre_hook(lambda optimizer, *_: (self.loop or self._begun()).update_begins(optimizer))
        register_optimizer_step_post_hook(lambda optimizer, *_: (self.loop or self._begun()).updated(optimizer))

    def _wrap_length(self, kind: Any) -> None:
        stock = kind.__len__

        @functools.wraps(stock)
        def length(dataloader: Any) -> int:
            """A program that compares the number of a batch with this one finds the last batch of its pass."""
            own: int = stock(dataloader)
            if self._feeds is None or self.loop is None or not self.loop.follows:
                return own
            return self._feeds.length_of(dataloader, own)

        kind.__len__ = length

    def _wrap_backward(self, autograd: Any) -> None:
        stock = autograd.backward

        @functools.wraps(stock)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            loop = self.loop or self._begun()
            if not loop.backward_begins(tensors):
                return stock(tensors, *args, **kwargs)
            try:
                if loop.is_in_parts:
                    return loop.parts.backward(stock, tensors, args, kwargs)
                return stock(tensors, *args, **kwargs)
            finally:
                loop.backward_ends()

        autograd.backward = backward

    def _wrap_grad(self, autograd: Any) -> None:
        stock = autograd.grad

        @functools.wraps(stock)
        def grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if self.loop is not None:
                self.loop.grad_called(outputs)
            return stock(outputs, *args, **kwargs)

        autograd.grad = grad

    def _wrap_clip(self, module: Any, name: str, clip: Callable[..., Any]) -> None:
        stock = getattr(module, name)

        @functools.wraps(stock)
        def clipped(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            if self.loop is None:
                return stock(parameters, *args, **kwargs)
            return clip(self.loop, stock, parameters, args, kwargs)

        setattr(module, name, clipped)

    def _wrap_scaler(self, kind: Any) -> None:
        scale, step = kind.scale, kind.step

        @functools.wraps(scale)
        def scaled(scaler: Any, outputs: Any) -> Any:
            result = scale(scaler, outputs)
            self._begun().scaled(outputs, result)
            return result

        @functools.wraps(step)
        def stepped(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            loop = self._begun()
            before = loop.updates
            result = step(scaler, optimizer, *args, **kwargs)
            if loop.updates == before:  # left out, because gradients are infinite
                loop.update_begins(optimizer)
                loop.updated(optimizer)
            return result

        kind.scale, kind.step = scaled, stepped


def install() -> None:
    """Called by sitecustomize when torch has been imported."""
    Hooks().install()
    make_changes()
    stand_in_for_nccl()
