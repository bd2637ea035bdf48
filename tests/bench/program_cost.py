"""What watching a training costs the training: BatchScope beside W&B (offline), TensorBoard and MLflow (two stores).

One PyTorch loop, a small network with AdamW, trains with steps of about 5 and 60 ms; after each step twelve numbers go
to one of them. With BatchScope the loop is that of docs/own-training.md: run.loader, run.backward and run.step, under a
real `batchscope-cli run` which stores every step; memory readings and the look for orders are part of it, and so are
its own sizes of the step. "unchanged loop" is the plain loop itself, attached to by `--attach auto`. The others get the
same numbers by their own calls, flushed as they think best.

Each is a process of its own in every round, in which the training is logged and is plain by turns, a few steps each;
which of them begins changes from round to round. So a machine that gets slower, and memory that happens to lie well,
count for both: two plain trainings in two processes differ by more than what is to be measured. The row "nothing" is a
training that is plain in both turns: its figures show what this machine's noise is. A step's time is the median over a
process; what is printed is the median over the rounds of the difference to the plain steps of the same process. "99 %
more" is the difference of the 99th percentiles, likewise; with few steps it would show only which of the two Python's
garbage collector happened to stop. Starts are not counted.

With a memory budget on the CPU, all memory that is freed goes back to the system, also that of the plain steps of the
process: the row "with a budget" is the difference to the plain steps of "nothing", in another process, and less exact.

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
STEPS_OF = [5, 60]  # milliseconds
EXAMPLES = 32768  # so that an epoch has several steps of any size
# Freed memory stays with the process. Else it depends on what lies at the end of the heap whether each step gives its
# tensors back and takes them anew, which costs some steps of 60 ms two milliseconds more than others.
KEEP_FREED = "glibc.malloc.trim_threshold=8589934592:glibc.malloc.mmap_threshold=33554432"
BLOCK = 5  # steps until the other training takes its turn; the first of a block finds cold caches and is not counted
ENOUGH_FOR_LATE = 100  # steps of a process
NAMES = ["loss", "accuracy", "learning_rate", "grad_norm", "epoch", "examples_seen", "batch", "seconds", "a", "b", "c",
         "d"]


# --- what the numbers of a step are given to: each returns a function of a step and its numbers, one for the end ---


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


WITH_BUDGET = "with a budget"
UNCHANGED = "unchanged loop"
OPTIONS = {"BatchScope": [], UNCHANGED: ["--attach", "auto"],
           WITH_BUDGET: ["--attach", "auto", "--memory-budget", "4GB"]}  # of batchscope-cli run
LOGGERS = {"nothing": to_nothing, "BatchScope": None, UNCHANGED: None, WITH_BUDGET: None, "W&B offline": to_wandb,
           "TensorBoard": to_tensorboard, "MLflow files": to_mlflow_files, "MLflow SQLite": to_mlflow_sqlite}
PACKAGES = {"W&B offline": "wandb", "TensorBoard": "tensorboard", "MLflow files": "mlflow", "MLflow SQLite": "mlflow"}


# --- the loop, in a process of its own ---


class Training:
    """A network, its optimizer and data for a batch size."""

    def __init__(self, batch):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-3)
        data = TensorDataset(torch.randn(EXAMPLES, 64), torch.randint(0, 10, (EXAMPLES,)))
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


def in_turns(training, run, loop):
    """Plain steps, which `loop` of BatchScope follows, or nobody, for a block each."""
    steps = plain_steps(training, lambda step, numbers: None)
    while True:
        run._loop = loop
        yield from block_of(steps)


def child(options):
    """Writes the times of logged and of plain steps into a file."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        log, end = (LOGGERS[options.child] or to_nothing)(folder)
        training = Training(options.batch)
        makers = {"plain": lambda: plain_steps(training, to_nothing(folder)[0]),
                  "logged": lambda: (watched_steps(training) if options.child in ("BatchScope", WITH_BUDGET)
                                     else plain_steps(training, log))}
        if options.child == UNCHANGED:
            import batchscope
            next(plain_steps(training, to_nothing(folder)[0]))  # now it is known that there is a training
            run = batchscope.start()
            loop = run._loop
            makers = {"plain": lambda: in_turns(training, run, None), "logged": lambda: in_turns(training, run, loop)}
        order = ["plain", "logged"] if options.plain_first else ["logged", "plain"]
        steps = {kind: makers[kind]() for kind in order}
        for kind in order:
            block_of(steps[kind])  # starts
        times = {kind: [] for kind in order}
        until = time.perf_counter() + options.seconds
        while time.perf_counter() < until or not times["plain"]:
            for kind in order:
                times[kind] += block_of(steps[kind])[1:]
        for one in steps.values():
            one.close()
        end()
    with open(options.file, "w", encoding="ascii") as result:
        json.dump(times, result)


def block_of(steps):
    """The times of a block of steps, the first of which includes what lay between."""
    return [next(steps) for _ in range(BLOCK)]


# --- all of them ---


def run_child(options, logger, batch, turn, folder):
    """Sorted times of the logged and the plain steps of one process."""
    file = os.path.join(folder, "times")
    command = [sys.executable, __file__, "--child", logger, "--batch", str(batch), "--seconds", str(options.seconds),
               "--file", file] + (["--plain-first"] if turn % 2 else [])
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore", GLIBC_TUNABLES=KEEP_FREED)
    if logger in OPTIONS:
        command = [options.cli, "run", "--quiet", "--db", os.path.join(folder, "runs.db"), *OPTIONS[logger], "--",
                   *command]
    if logger == WITH_BUDGET:
        del environment["GLIBC_TUNABLES"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{logger} ends with an error: {(done.stderr or done.stdout).strip()[-500:]}")
    with open(file, encoding="ascii") as result:
        return {kind: sorted(times) for kind, times in json.load(result).items()}


def batch_for(milliseconds):
    """A batch whose plain step takes about so long here."""
    torch.set_num_threads(1)
    batch = 256
    for _ in range(3):
        steps = plain_steps(Training(batch), lambda step, numbers: None)
        times = [next(steps) for _ in range(3 * BLOCK)][BLOCK:]
        batch = max(8, min(EXAMPLES // 4, round(batch * milliseconds / 1e3 / statistics.median(times))))
    return batch


def late(times):
    return times[int(0.99 * (len(times) - 1))]


def worst_text(rounds):
    """How much later the 99th percentile is, for people."""
    if min(len(kind) for times in rounds for kind in times.values()) < ENOUGH_FOR_LATE:
        return "-"
    return f"{1e6 * statistics.median(late(times['logged']) - late(times['plain']) for times in rounds):.0f} us"


def measure(options, milliseconds, loggers):
    batch = batch_for(milliseconds)
    rounds = {logger: [] for logger in loggers}
    for turn in range(options.rounds):
        for logger in loggers[turn % len(loggers):] + loggers[:turn % len(loggers)]:
            with tempfile.TemporaryDirectory() as folder:
                rounds[logger].append(run_child(options, logger, batch, turn, folder))
    plain = statistics.median(statistics.median(times["plain"]) for some in rounds.values() for times in some)
    print(f"\nbatch {batch}: plain step {1e3 * plain:.2f} ms")
    print(f"{'':<16} {'a step more':>14} {'of the step':>12} {'lowest to highest':>22} {'99 % more':>12}")
    for logger, some in rounds.items():
        beside = rounds["nothing"] if logger == WITH_BUDGET else some
        more = sorted(statistics.median(times["logged"]) - statistics.median(other["plain"])
                      for times, other in zip(some, beside))
        middle = statistics.median(more)
        late_text = worst_text(some) if beside is some else "-"
        print(f"{logger:<16} {1e6 * middle:>11.0f} us {100 * middle / plain:>10.2f} % "
              f"{1e6 * more[0]:>8.0f} to {1e6 * more[-1]:>7.0f} us {late_text:>12}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cli", default=os.path.join(ROOT, "build/bin/batchscope-cli"))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=4, help="of a process, without its start")
    parser.add_argument("--only", action="append", choices=list(LOGGERS), help="one of them; may be repeated")
    parser.add_argument("--child", choices=list(LOGGERS), help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--plain-first", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    missing = [logger for logger, package in PACKAGES.items() if importlib.util.find_spec(package) is None]
    loggers = [logger for logger in options.only or LOGGERS if logger not in missing]
    if WITH_BUDGET in loggers and "nothing" not in loggers:
        loggers.insert(0, "nothing")
    print("\nWhat a watched step costs the training (goal for BatchScope: at most 1 % of a step above 50 ms)")
    for milliseconds in STEPS_OF:
        measure(options, milliseconds, loggers)
    for logger in missing:
        print(f"{logger}: skipped, as this Python has no package {PACKAGES[logger]}")


if __name__ == "__main__":
    main()
