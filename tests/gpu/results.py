"""Numbers of the device: the same bits each time, and the CPU's numbers within rounding."""

import hashlib
import os
import signal
import subprocess
import time

from memory import MODELS
from place import Runs, last_line

SMALL = {name: (model.replace("=2048", "=256"), data.replace("5000", "500")) for name, (model, data) in MODELS.items()}


def sum_of(file):
    with open(file, "rb") as opened:
        return hashlib.sha256(opened.read()).hexdigest()


def trained(place, model, data, *more):
    """What a run computed: its losses and gradient norms to the last digit, its weights, its remarks."""
    runs = Runs(place)
    weights = runs.file("weights.safetensors")
    summary = runs.train(model, data, "--save", weights, *more)
    shown = runs.json("show", str(summary["run"]))
    return {"loss": summary["series"]["loss"], "grad_norm": summary["series"]["grad_norm"], "weights": sum_of(weights),
            "remarks": [event["id"] for event in shown["events"] if "determin" in event["id"]]}


def same_bits(place):
    figures, problems = {}, []
    for name, (model, data) in SMALL.items():
        for precision in ("fp32", "bf16"):
            options = ["--batch", "32", "--steps", "12", "--dropout", "0.1", "--precision", precision]
            tries = [trained(place, model, data, *options) for _ in range(3 if place.long else 2)]
            tries.append(trained(place, model, data, *options, "--checkpointing"))
            same = [one["weights"] == tries[0]["weights"] and one["loss"] == tries[0]["loss"] for one in tries]
            figures[f"{name} {precision}"] = {"same": same[:-1], "checkpointed_same": same[-1],
                                              "remarks": tries[0]["remarks"], "loss": tries[0]["loss"][-1]}
            if not all(same):
                problems.append(f"{name} {precision}: same as the first: {same[1:-1]}, checkpointed {same[-1]}")
    return figures, problems


def resumed(place):
    """A run that is killed at some step and resumed ends with the weights of one that is not."""
    figures, problems = {}, []
    options = ["--batch", "16", "--steps", "120", "--dropout", "0.1", "--checkpoint-every", "5"]
    for name, precision in (("gpt", "bf16"), ("cnn", "fp32"), ("bert", "fp16")):
        model, data = SMALL[name]
        whole = trained(place, model, data, "--precision", precision, *options)
        runs = Runs(place)
        weights = runs.file("weights.safetensors")
        command = runs.command("train", "--device", place.device, "--model", model, "--data", data, "--precision",
                               precision, "--save", weights, "--quiet", *options)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            folder = runs.file("runs.db-checkpoints")
            until = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < until and not any(
                    file.startswith("step-") for _, _, files in os.walk(folder) for file in files):
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
        done = runs.start("train", "--resume", "1", "--quiet")
        text = runs.start("show", "1").stdout
        at = [line.strip() for line in text.splitlines() if "resumed" in line]
        same = done.returncode == 0 and sum_of(weights) == whole["weights"]
        figures[f"{name} {precision}"] = {"resumed": at, "same_weights": same}
        if not same:
            problems.append(f"{name} {precision}: {at or last_line(done.stderr)}: other weights than without a stop")
    return figures, problems


def apart(one, other):
    return max(abs(a - b) / max(abs(b), 1e-12) for a, b in zip(one, other))


def parts(place):
    """A batch in 1 and in 4 parts: the same gradient but for rounding."""
    figures, problems = {}, []
    for name in ("mlp", "gpt", "llama", "bert", "vit"):
        model, data = SMALL[name]
        options = ["--steps", "5", "--optimizer", "sgd", "--lr", "0.01"]
        whole = trained(place, model, data, "--batch", "64", *options)
        split = trained(place, model, data, "--batch", "16", "--accumulate", "4", *options)
        figures[name] = {"loss_apart": apart(split["loss"], whole["loss"]),
                         "grad_norm_apart": apart(split["grad_norm"], whole["grad_norm"])}
        if figures[name]["grad_norm_apart"] > 1e-3:
            problems.append(f"{name}: gradient norms of 1 x 64 and 4 x 16 are "
                            f"{figures[name]['grad_norm_apart']:.1e} apart")
    return figures, problems


def against_cpu(place):
    """20 steps of fp32 from the same weights and examples; the first step shows the arithmetic, the last what grows."""
    figures, problems, exact = {}, [], {}
    for name, (model, data) in SMALL.items():
        options = ["--batch", "32", "--steps", "20", "--optimizer", "sgd", "--lr", "0.01"]
        here = exact[name] = trained(place, model, data, *options)
        runs = Runs(place)
        summary = runs.json("train", "--device", "cpu", "--model", model, "--data", data, *options)
        cpu = runs.series(summary["run"])
        figures[name] = {"first_loss_apart": apart(here["loss"][:1], cpu["loss"][:1]),
                         "first_grad_norm_apart": apart(here["grad_norm"][:1], cpu["grad_norm"][:1]),
                         "loss_apart": apart(here["loss"], cpu["loss"])}
        if figures[name]["first_grad_norm_apart"] > 1e-4:
            problems.append(f"{name}: the first gradient norm is "
                            f"{figures[name]['first_grad_norm_apart']:.1e} off the CPU's")
    model, data = SMALL["cnn"]
    quick = trained(place, model, data, "--batch", "32", "--steps", "3", "--precision", "tf32", "--optimizer", "sgd",
                    "--lr", "0.01")
    figures["cnn tf32"] = {"first_grad_norm_apart_from_fp32":
                           apart(quick["grad_norm"][:1], exact["cnn"]["grad_norm"][:1])}
    for precision in ("bf16", "fp16"):
        model, data = SMALL["gpt"]
        lower = trained(place, model, data, "--batch", "32", "--steps", "60", "--precision", precision)
        figures[f"gpt {precision}"] = {"first_loss": lower["loss"][0], "last_loss": lower["loss"][-1]}
        if not lower["loss"][-1] < lower["loss"][0]:
            problems.append(f"gpt {precision}: loss from {lower['loss'][0]} to {lower['loss'][-1]}")
    return figures, problems


def step_times(place):
    """Milliseconds of a step, without the first five."""
    figures = {}
    for name, (model, data) in MODELS.items():
        for precision in ("fp32", "bf16"):
            runs = Runs(place)
            summary = runs.train(model, data, "--batch", "64", "--steps", "60", "--precision", precision)
            seconds = summary["series"]["seconds"]
            steps = sorted(after - before for before, after in zip(seconds[5:], seconds[6:]))
            figures[f"{name} {precision}"] = {"median_ms": round(1000 * steps[len(steps) // 2], 3),
                                              "slowest_ms": round(1000 * steps[-1], 3)}
    return figures, []
