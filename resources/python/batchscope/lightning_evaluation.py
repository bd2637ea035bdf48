# SPDX-License-Identifier: MIT
"""A validation batch of a Lightning module."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .evaluation import Call, Evaluation
from .evaluation_trial import EvaluationTrial, modes_of
from .state import Keeper


class ModuleEvaluation(Evaluation):
    """validation_step: what it logs is averaged over examples by Lightning, what it returns is joined here."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self._keeper, self._other = Keeper(), Keeper()

    def whole(self, call: Call, part: Any) -> Any:
        results = self._hook.trainer._results
        if results is not None:
            results.batch, results.batch_size = part, None  # what self.log averages over
        return self._hook.stock_validation(part, *call.rest, **call.named)

    def snapshot(self) -> Callable[[], None]:
        results = self._hook.trainer._results
        names = set(results)
        saved = self._keeper.keep([self._hook.trainer.lightning_module, *results.values()])

        def undo() -> None:
            for name in set(results) - names:
                del results[name]
            saved.restore()

        return undo

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        keeper, self._keeper = self._keeper, self._other
        undo = self.snapshot()
        self._keeper = keeper
        try:
            with self._hook.logs.silenced():
                yield
        finally:
            undo()

    def numbers(self, result: Any) -> dict[str, float]:
        if isinstance(result, dict):
            return {name: float(value) for name, value in result.items() if _is_single(value)}
        return {"loss": float(result)} if _is_single(result) else {}

    def joined(self, results: Sequence[Any], shares: Sequence[dict[str, float]]) -> Any:
        if isinstance(results[0], dict):
            return {
                name: sum(result[name] * share[name] for result, share in zip(results, shares))
                if _is_single(value)
                else [result[name] for result in results]
                for name, value in results[0].items()
            }
        if _is_single(results[0]):
            return sum(result * share["loss"] for result, share in zip(results, shares))
        return results[-1]


class ModuleEvaluationTrial(EvaluationTrial):
    """validation_step, with the module's validation data."""

    def __init__(self, hook: Any, evaluation: ModuleEvaluation) -> None:
        super().__init__()
        self._hook = hook
        self._evaluation = evaluation

    def device(self) -> Any:
        return self._hook.trainer.strategy.root_device

    def dataloaders(self) -> list[Any]:
        loop = self._hook.trainer.fit_loop.epoch_loop.val_loop
        loop.setup_data()
        return list(loop._combined_loader.flattened) if loop._combined_loader is not None else []

    def run_batch(self, part: Any, number: int) -> int:
        import torch

        trainer = self._hook.trainer
        module = trainer.lightning_module
        several = len(trainer.fit_loop.epoch_loop.val_loop._combined_loader.flattened) > 1
        rest = (0, number) if several else (0,)
        restore = modes_of(module)
        module.eval()
        try:
            with torch.no_grad(), self._evaluation.hidden():
                part = trainer.precision_plugin.convert_input(part)
                part = module._on_before_batch_transfer(part, dataloader_idx=number)
                part = trainer.strategy.batch_to_device(part, dataloader_idx=number)
                self._hook.stock_validation(part, *rest)
        finally:
            restore()
        return 0


def _is_single(value: Any) -> bool:
    return hasattr(value, "numel") and value.numel() == 1
