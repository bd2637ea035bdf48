"""What watching a training costs the training: BatchScope beside W&B (offline), TensorBoard and MLflow (two stores).

One PyTorch loop, a small network with AdamW, trains with steps of about 5 and 50 ms; after each step twelve numbers go
to one of them. With BatchScope the loop is that of the README, level 3: run.loader, run.backward and run.step, under a
real `batchscope-cli run` which stores every step; memory readings and the look for orders are part of it, and so are its
own sizes of the step. The others get the same numbers by their own calls, flushed as they think best.

Each is a process of its own, one after the other in every round, and the order turns from round to round. A step's time
is the median over a process without its first steps; what is printed is the median over the rounds of the difference to
the plain loop of the same round. "worst" is the 99th percentile of the steps, likewise. Their start is not counted.

usage: program_cost.py [--cli FILE] [--rounds N] [--seconds S]
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEPS_OF = [5, 50]  # milliseconds
FIRST = 5  # steps that are not counted
NAMES = ["loss", "accuracy", "learning_rate", "grad_norm", "epoch", "examples_seen", "batch", "seconds", "a", "b", "c",
         "d"]


# --- what the numbers of a step are given to: each returns a function of a step and its numbers, and one for the end ---


def to_nothing(_folder):
    return (lambda step, numbers: None), (lambda: None)


def to_wandb(folder):
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=folder)
    import wandb
    run = wandb.init(project="cost", dir=folder)
    return (lambda step, numbers: run.log(numbers, step=step)), run.finish


def to_tensorboard(folder):
    from torch.utils.tensorboard import SummaryWriter
    writer = SummaryWriter(folder)

    def add(step, numbers):
        for name, value in numbers.items():
            writer.add_scalar(name, value, step)

    return add, writer.close


def to_mlflow(address):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # newer versions ask for it
    import mlflow
    mlflow.set_tracking_uri(address)
    mlflow.start_run()
    return (lambda step, numbers: mlflow.log_metrics(numbers, step=step)), mlflow.end_run


def to_mlflow_files(folder):
    return to_mlflow("file:" + os.path.join(folder, "mlruns"))


def to_mlflow_sqlite(folder):
    return to_mlflow("sqlite:///" + os.path.join(folder, "mlflow.db"))


LOGGERS = {"plain": to_nothing, "BatchScope": None, "W&B offline": to_wandb, "TensorBoard": to_tensorboard,
           "MLflow files": to_mlflow_files, "MLflow SQLite": to_mlflow_sqlite}
PACKAGES = {"W&B offline": "wandb", "TensorBoard": "tensorboard", "MLflow files": "mlflow", "MLflow SQLite": "mlflow"}


# --- the loop, in a process of its own ---


class Training:
    """A network, its optimizer and data for a batch size."""

    def __init__(self, batch):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-3)
        data = TensorDataset(torch.randn(8192, 64), torch.randint(0, 10, (8192,)))
        self.loader = DataLoader(data, batch_size=batch, shuffle=True, drop_last=True)

    def loss(self, x, y):
        return nn.functional.cross_entropy(self.model(x), y)


def numbers_of(step, loss):
    return dict(zip(NAMES, [loss, *(float(step + i) for i in range(1, len(NAMES)))]))


def plain_steps(training, log):
    """The times of the steps, without end."""
    step = 0
    begin = time.perf_counter()
    while True:
        for x, y in training.loader:
            training.optimizer.zero_grad()
            loss = training.loss(x, y)
            loss.backward()
            training.optimizer.step()
            step += 1
            log(step, numbers_of(step, loss.item()))
            end = time.perf_counter()
            yield end - begin
            begin = end


def watched_steps(training):
    """The same with BatchScope's client."""
    sys.path.append(os.path.join(ROOT, "resources", "python"))
    import batchscope
    run = batchscope.start()
    loader = run.loader(training.loader)
    step = 0
    begin = time.perf_counter()
    while True:
        for batch in loader:
            loss = run.backward(batch, training.loss, training.model)
            training.optimizer.step()
            step += 1
            run.step(training.optimizer, **numbers_of(step, loss.item()))
            end = time.perf_counter()
            yield end - begin
            begin = end


def child(logger, batch, seconds, file):
    """Writes the times of steps into a file."""
    torch.set_num_threads(1)
    training = Training(batch)
    with tempfile.TemporaryDirectory() as folder:
        log, end = (LOGGERS[logger] or to_nothing)(folder)
        steps = watched_steps(training) if logger == "BatchScope" else plain_steps(training, log)
        until = None
        times = []
        for taken in steps:
            until = until or time.perf_counter() + seconds
            times.append(taken)
            if time.perf_counter() >= until and len(times) > 2 * FIRST:
                break
        steps.close()
        end()
    with open(file, "w", encoding="ascii") as result:
        json.dump(times[FIRST:], result)


# --- all of them ---


def run_child(options, logger, batch, folder):
    file = os.path.join(folder, "times")
    command = [sys.executable, __file__, "--child", logger, "--batch", str(batch), "--seconds", str(options.seconds),
               "--file", file]
    if logger == "BatchScope":
        command = [options.cli, "run", "--quiet", "--db", os.path.join(folder, "runs.db"), "--", *command]
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{logger} ends with an error: {(done.stderr or done.stdout).strip()[-500:]}")
    with open(file, encoding="ascii") as result:
        return sorted(json.load(result))


def batch_for(milliseconds):
    """A batch whose plain step takes about so long here."""
    torch.set_num_threads(1)
    batch = 256
    for _ in range(3):
        steps = plain_steps(Training(batch), lambda step, numbers: None)
        times = [next(steps) for _ in range(3 * FIRST)][FIRST:]
        batch = max(8, min(2048, round(batch * milliseconds / 1e3 / statistics.median(times))))
    return batch


def measure(options, milliseconds, loggers):
    batch = batch_for(milliseconds)
    medians = {logger: [] for logger in loggers}
    worst = {logger: [] for logger in loggers}
    for turn in range(options.rounds):
        for logger in loggers[turn % len(loggers):] + loggers[:turn % len(loggers)]:
            with tempfile.TemporaryDirectory() as folder:
                times = run_child(options, logger, batch, folder)
            medians[logger].append(statistics.median(times))
            worst[logger].append(times[int(0.99 * (len(times) - 1))])
    plain = statistics.median(medians["plain"])
    print(f"\nbatch {batch}: plain step {1e3 * plain:.2f} ms, its 99 % {1e3 * statistics.median(worst['plain']):.2f} ms")
    print(f"{'':<16} {'a step more':>14} {'of the step':>12} {'lowest to highest':>22} {'99 % more':>12}")
    for logger in loggers[1:]:
        more = sorted(own - other for own, other in zip(medians[logger], medians["plain"]))
        late = statistics.median(own - other for own, other in zip(worst[logger], worst["plain"]))
        middle = statistics.median(more)
        print(f"{logger:<16} {1e6 * middle:>11.0f} us {100 * middle / plain:>10.2f} % "
              f"{1e6 * more[0]:>8.0f} to {1e6 * more[-1]:>7.0f} us {1e6 * late:>9.0f} us", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cli", default=os.path.join(ROOT, "build/bin/batchscope-cli"))
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=2, help="of a process, without its start")
    parser.add_argument("--child", choices=list(LOGGERS), help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.batch, options.seconds, options.file)
        return
    missing = [logger for logger, package in PACKAGES.items() if importlib.util.find_spec(package) is None]
    loggers = [logger for logger in LOGGERS if logger not in missing]
    print("\nWhat a watched step costs the training (goal for BatchScope: at most 1 % of a step above 50 ms)")
    for milliseconds in STEPS_OF:
        measure(options, milliseconds, loggers)
    for logger in missing:
        print(f"{logger}: skipped, as this Python has no package {PACKAGES[logger]}")


if __name__ == "__main__":
    main()
