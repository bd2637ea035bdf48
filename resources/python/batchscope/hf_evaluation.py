# SPDX-License-Identifier: MIT
"""A batch of the evaluation of a transformers.Trainer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .evaluation import Call, Evaluation
from .evaluation_trial import EvaluationTrial, modes_of, result_bytes


class TrainerEvaluation(Evaluation):
    """prediction_step of a transformers.Trainer: loss, outputs and labels."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook

    def whole(self, call: Call, part: Any) -> Any:
        return self._hook.stock["prediction_step"](call.named["model"], part, *call.rest)

    def numbers(self, result: Any) -> dict[str, float]:
        return {} if result[0] is None else {"loss": float(result[0].mean())}

    def joined(self, results: Sequence[Any], shares: Sequence[dict[str, float]]) -> Any:
        from transformers.trainer_pt_utils import nested_concat

        loss = None
        if results[0][0] is not None:
            loss = sum(result[0].mean() * share["loss"] for result, share in zip(results, shares) if share["loss"])
        columns = []
        for column in (1, 2):
            joined = results[0][column]
            for result in results[1:]:
                joined = None if joined is None else nested_concat(joined, result[column], padding_index=-100)
            columns.append(joined)
        return (loss, *columns)


class TrainerEvaluationTrial(EvaluationTrial):
    """prediction_step, with the data sets that evaluate() takes."""

    def __init__(self, hook: Any) -> None:
        super().__init__()
        self._hook = hook
        self._trainer = hook.trainer

    def device(self) -> Any:
        return "cpu" if self._trainer.args.eval_accumulation_steps else self._trainer.args.device

    def dataloaders(self) -> list[Any]:
        sets = self._trainer.eval_dataset
        names = list(sets) if isinstance(sets, dict) else [None]
        return [self._trainer.get_eval_dataloader(name) for name in names]

    def run_batch(self, part: Any, number: int) -> int:
        trainer, model = self._trainer, self._trainer.model
        restore = modes_of(model)
        model.eval()
        try:
            only_loss = trainer.compute_metrics is None or trainer.args.prediction_loss_only
            _, outputs, labels = self._hook.stock["prediction_step"](model, part, only_loss, None)
        finally:
            restore()
        if trainer.args.batch_eval_metrics:
            return 0
        if trainer.preprocess_logits_for_metrics is not None and outputs is not None:
            outputs = trainer.preprocess_logits_for_metrics(outputs, labels)
        return result_bytes(outputs, labels)
