"""Writes the small files of this folder with the tools whose formats are imported.

Needs torch, lightning, transformers, tensorboard and mlflow (with sqlalchemy and alembic) from PyPI. Run it in this
folder:  python make_files.py  for all of them, or with the names of some:  python make_files.py mlflow
"""
import json
import math
import os
import pathlib
import shutil
import sqlite3
import sys

here = pathlib.Path(__file__).parent


def losses():
    return [1.0 / (step + 1) for step in range(20)]


def tensorboard():
    import torch
    from torch.utils.tensorboard import SummaryWriter

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
    from lightning.pytorch.loggers import CSVLogger

    logger = CSVLogger(here, name="lightning", version=0, flush_logs_every_n_steps=1)
    for step, loss in enumerate(losses()):
        logger.log_metrics({"train_loss": loss, "lr": 0.1}, step=step)
    logger.log_metrics({"val_loss": 0.5, "val_acc": 0.75}, step=19)
    logger.save()


def transformers():
    from transformers import TrainerState

    state = TrainerState(max_steps=20, num_train_epochs=2, train_batch_size=8, global_step=20, epoch=2.0)
    for step, loss in enumerate(losses(), start=1):
        state.log_history.append(
            {"epoch": step / 10, "grad_norm": math.nan if step == 3 else 1.5, "learning_rate": 1e-3 / step,
             "loss": loss, "step": step})
    state.log_history.append({"epoch": 2.0, "eval_accuracy": 0.75, "eval_loss": 0.5, "eval_runtime": 1.2, "step": 20})
    state.log_history.append({"epoch": 2.0, "step": 20, "total_flos": 0.0, "train_loss": 0.2, "train_runtime": 3.4})
    folder = here / "transformers" / "checkpoint-20"
    folder.mkdir(parents=True, exist_ok=True)
    state.save_to_json(str(folder / "trainer_state.json"))
    json.loads((folder / "trainer_state.json").read_text())


def early_stopping():
    """A training that EarlyStoppingCallback has stopped, without a loss of a step (`logging_strategy="no"`)."""
    from transformers import EarlyStoppingCallback, TrainerState

    callback = EarlyStoppingCallback(early_stopping_patience=2)
    callback.early_stopping_patience_counter = 2
    state = TrainerState(max_steps=100, num_train_epochs=10, train_batch_size=8, global_step=30, epoch=3.0,
                         stateful_callbacks=[callback], best_metric=0.5, best_global_step=10)
    for step, loss in [(10, 0.5), (20, 0.6), (30, 0.7)]:
        state.log_history.append({"epoch": step / 10, "eval_loss": loss, "step": step})
    state.log_history.append({"epoch": 3.0, "step": 30, "train_loss": 1.5, "train_runtime": 3.4})
    folder = here / "early_stopping"
    folder.mkdir(exist_ok=True)
    state.save_to_json(str(folder / "trainer_state.json"))


def log_mlflow_runs():
    """A finished run, one that goes on, one that failed and one that was deleted."""
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    client = MlflowClient()
    experiment = client.create_experiment("digits")
    start = 1_700_000_000_000
    for name, status in [("steady", "FINISHED"), ("growing", None), ("broken", "FAILED"), ("gone", "FINISHED")]:
        run = client.create_run(experiment, start_time=start, run_name=name).info.run_id
        params = {"batch_size": "16", "learning_rate": "0.003", "optimizer": "adam", "note": "a 'quoted' text"}
        client.log_batch(run, params=[Param(key, value) for key, value in params.items()])
        steps = losses() if name == "steady" else losses()[:5]
        client.log_batch(
            run, metrics=[Metric("train/loss", loss, start + 500 * step, step) for step, loss in enumerate(steps)])
        client.log_metric(run, "train/loss", steps[2], start + 60_000, 2)  # once more, with the same value
        for value, time in [(0.5, 1), (0.75, 2)]:  # two values at a step: the later one counts
            client.log_metric(run, "val_acc", value, start + time, 19)
        for step, value in enumerate([math.nan, math.inf, -math.inf]):
            client.log_metric(run, "odd", value, start, step)
        if status:
            client.set_terminated(run, status, end_time=start + 30_000)
        if name == "gone":
            client.delete_run(run)


def mlflow():
    import mlflow as tool

    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    folder = here / "mlflow"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    os.chdir(folder)
    tool.set_tracking_uri("file:mlruns")
    log_mlflow_runs()
    tool.set_tracking_uri("sqlite:///mlflow.db")
    log_mlflow_runs()
    # The database has 50 tables for other things and takes a megabyte: its text with the tables that are read.
    with sqlite3.connect("mlflow.db") as database:
        database.execute("PRAGMA foreign_keys = OFF")
        kept = ("experiments", "runs", "metrics", "params", "tags")
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if name not in kept and not name.startswith("sqlite_"):
                database.execute(f"DROP TABLE {name}")
        (folder / "mlflow.sql").write_text("\n".join(database.iterdump()) + "\n")
    pathlib.Path("mlflow.db").unlink()
    for file in [folder / "mlflow.sql", *folder.rglob("meta.yaml")]:
        file.write_text(file.read_text().replace(str(folder), "/home/user/project"))


for make in sys.argv[1:] or ["tensorboard", "lightning", "transformers", "early_stopping", "mlflow"]:
    globals()[make]()
