# SPDX-License-Identifier: MIT
"""Lets steps be compared with each other: the same parts of them have the same random numbers and full precision."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

_MIXING = ("randperm", "multinomial")  # the result says how examples are mixed, not what noise one has
_DEVICES = ("cpu", "cuda")


class Quiet:
    """Every random number is a constant while it is entered, so that examples do not depend on how many there are.

    Dropout drops nothing. Statistics of batch norms are the running ones: those of a batch would mix its examples.
    """

    def __init__(self, modules: Iterable[Any]) -> None:
        self.drew = False  # random numbers, dropout included
        self.mixed = False  # examples by random numbers
        self.batch_norm = False  # there is one that mixes examples
        self._modules = list(modules)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """For one or several steps. Everything is as before afterwards."""
        import torch

        norms = [
            module
            for root in self._modules
            for module in root.modules()
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)
            and module.training
            and module.running_mean is not None
        ]
        self.batch_norm = bool(norms)
        try:
            for module in norms:
                module.training = False
            with _full_precision(), torch.autograd.set_multithreading_enabled(False), self._mode():
                yield
        finally:
            for module in norms:
                module.training = True

    def _mode(self) -> Any:
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode

        quiet = self

        class Mode(TorchDispatchMode):  # type: ignore[misc]
            def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                kwargs = kwargs or {}
                if function is torch.ops.aten._local_scalar_dense.default and isinstance(args[0], (int, float)):
                    return args[0]  # a number in a saved tensor is unpacked before it comes here
                if torch.Tag.nondeterministic_seeded not in function.tags:
                    return function(*args, **kwargs)
                return quiet._constant(function, args, kwargs)

        return Mode()

    def _constant(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        import torch

        schema = function._schema
        names = [argument.name for argument in schema.arguments]
        name = schema.name.partition("::")[2]
        if "dropout_p" in names:  # attention
            place = names.index("dropout_p")
            self.drew = self.drew or bool(args[place] if place < len(args) else kwargs.get("dropout_p"))
            args = (*args[:place], 0.0, *args[place + 1 :]) if place < len(args) else args
            return function(*args, **({**kwargs, "dropout_p": 0.0} if place >= len(args) else kwargs))
        self.drew = True
        if name in _MIXING:
            self.mixed = True
            return function(*args, **kwargs)
        if name == "native_dropout":
            return args[0].clone(), torch.ones_like(args[0], dtype=torch.bool)
        result = function(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            if name.startswith("randint"):
                low = args[0] if "low" in names else 0
                return result.fill_(low)
            return result.fill_(1) if name.startswith("bernoulli") or result.dtype == torch.bool else result.fill_(0.5)
        return result


@contextlib.contextmanager
def _full_precision() -> Iterator[None]:
    """Without autocast, also where the program turns it on."""
    import torch

    autocast = torch.amp.autocast_mode.autocast
    enter = autocast.__enter__

    def without(self: Any) -> Any:
        self._enabled = False
        return enter(self)

    with contextlib.ExitStack() as off:
        for device in _DEVICES:
            if torch.is_autocast_enabled(device):
                off.enter_context(torch.autocast(device, enabled=False))
        autocast.__enter__ = without
        try:
            yield
        finally:
            autocast.__enter__ = enter
