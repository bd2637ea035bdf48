# SPDX-License-Identifier: MIT
"""What a record says of a step: numbers, their series, and settings."""

from __future__ import annotations

import contextlib
from typing import Any

SERIES = frozenset(
    (
        "examples_seen",
        "epoch_index",
        "epoch",
        "train_coverage",
        "batch",
        "micro_batch",
        "micro_batches",
        "accumulate",
        "effective_batch",
        "loss",
        "learning_rate",
        "grad_norm",
        "allocated_bytes",
        "reserved_bytes",
        "peak_bytes",
        "device_bytes",
    )
)


_SCORES = {
    f"{prefix}{name}": f"validation_{score}"
    for prefix in ("val_", "val/", "valid_", "valid/", "eval_", "eval/", "validation_", "validation/")
    for name, score in (("loss", "loss"), ("accuracy", "accuracy"), ("acc", "accuracy"))
}


def series_of(name: str, value: Any) -> str:
    """The series of a value that a program names in its own way: `val_acc` is `validation_accuracy`, from 0 to 1."""
    series = _SCORES.get(name, name)
    percent = series == "validation_accuracy" and isinstance(value, (int, float)) and value > 1
    return name if percent else series


class Later:
    """A number on a GPU: copied without waiting, read when the copy is done."""

    def __init__(self, tensor: Any) -> None:
        import torch

        self._host = torch.empty((), dtype=tensor.dtype, pin_memory=True)
        self._host.copy_(tensor.detach().reshape(()), non_blocking=True)
        self._copied = torch.cuda.Event()
        self._copied.record(torch.cuda.current_stream(tensor.device))  # which need not be the current device

    def ready(self) -> bool:
        return bool(self._copied.query())

    def value(self) -> float:
        self._copied.synchronize()
        return float(self._host)


def number_of(value: Any) -> Any:
    """A Python number, a Later, or None for anything else."""
    if isinstance(value, (int, float)):
        return value
    if getattr(value, "is_cuda", False) and value.numel() == 1:
        return Later(value)
    item = getattr(value, "item", None)
    if callable(item):
        with contextlib.suppress(Exception):
            return number_of(item())
    return None


def known(settings: dict[Any, Any]) -> dict[Any, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def settings_of_optimizer(optimizer: Any, begins: bool = False) -> dict[str, Any]:
    """As its first group has them; the rate is its scheduler's.

    `begins`: no update was made and no scheduler acts on it that a Trainer does not know, so without one the rate is
    that of the group. In a plain loop that may be one of a warm-up.
    """
    groups = getattr(optimizer, "param_groups", None) or [{}]

    def number(value: Any) -> Any:  # at once: a rate may be a tensor
        value = value.item() if callable(getattr(value, "item", None)) else value
        return value if isinstance(value, (int, float)) else None

    rates = [groups[0].get(name) for name in ("max_lr", "initial_lr", *(["lr"] if begins else []))]
    decays = known({at: number(group.get("weight_decay")) for at, group in enumerate(groups)})
    return known(
        {
            "optimizer": type(optimizer).__name__,
            "learning_rate": next((number(rate) for rate in rates if rate is not None), None),
            "weight_decay": max(decays.values(), default=None),
            "momentum": number(groups[0].get("momentum")),
        }
    )
