"""Writes the small files of this folder with the tools whose formats are imported.

Needs torch, lightning, transformers and tensorboard from PyPI. Run it in this folder:  python make_files.py
"""
import json
import math
import pathlib
import shutil

import torch
from lightning.pytorch.loggers import CSVLogger
from torch.utils.tensorboard import SummaryWriter
from transformers import TrainerState

here = pathlib.Path(__file__).parent


def losses():
    return [1.0 / (step + 1) for step in range(20)]


def tensorboard():
    folder = here / "tensorboard"
    shutil.rmtree(folder, ignore_errors=True)
    writer = SummaryWriter(folder, filename_suffix=".test")
    for step, loss in enumerate(losses()):
        writer.add_scalar("train/loss", loss, step)
    writer.add_scalar("val/accuracy", 0.75, 19)
    writer.add_scalar("other", math.nan, 3)
    writer.add_scalar("as_tensor", torch.tensor(2.5), 4, new_style=True)
    writer.add_text("note", "not a scalar", 1)
    writer.close()


def lightning():
    logger = CSVLogger(here, name="lightning", version=0, flush_logs_every_n_steps=1)
    for step, loss in enumerate(losses()):
        logger.log_metrics({"train_loss": loss, "lr": 0.1}, step=step)
    logger.log_metrics({"val_loss": 0.5, "val_acc": 0.75}, step=19)
    logger.save()


def transformers():
    state = TrainerState(max_steps=20, num_train_epochs=2, train_batch_size=8, global_step=20, epoch=2.0)
    for step, loss in enumerate(losses(), start=1):
        state.log_history.append(
            {"epoch": step / 10, "grad_norm": math.nan if step == 3 else 1.5, "learning_rate": 1e-3 / step, "loss": loss, "step": step})
    state.log_history.append({"epoch": 2.0, "eval_accuracy": 0.75, "eval_loss": 0.5, "eval_runtime": 1.2, "step": 20})
    state.log_history.append({"epoch": 2.0, "step": 20, "total_flos": 0.0, "train_loss": 0.2, "train_runtime": 3.4})
    folder = here / "transformers" / "checkpoint-20"
    folder.mkdir(parents=True, exist_ok=True)
    state.save_to_json(str(folder / "trainer_state.json"))
    json.loads((folder / "trainer_state.json").read_text())


tensorboard()
lightning()
transformers()
