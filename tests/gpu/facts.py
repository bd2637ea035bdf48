"""What the card is, whether its library opens, and what is taken before anything is trained."""

import functools
import glob
import os

from place import ROOT, Card, Failed, NotRun, Runs, start, torch_program

QUERY = ["name", "memory.total", "memory.used", "driver_version", "compute_cap", "mig.mode.current", "display_active"]
TINY = ("mlp:hidden=32", "synthetic:examples=400,shape=16,classes=4")
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.py")
# Multiprocessors of cards by compute capability, where no Python with torch tells them.
USUAL_MULTIPROCESSORS = 132


def asked(place):
    """What nvidia-smi tells of the card."""
    try:
        done = start(["nvidia-smi", f"--id={place.index}", f"--query-gpu={','.join(QUERY)}",
                      "--format=csv,noheader,nounits"], limit=60)
    except FileNotFoundError as error:
        raise NotRun("nvidia-smi is not there") from error
    if done.returncode:
        raise Failed(done.stdout.strip() or done.stderr.strip())
    return dict(zip(QUERY, (value.strip() for value in done.stdout.split(","))))


@functools.lru_cache(maxsize=1)
def card_of(place):
    """What a pretended GPU takes over of the card."""
    if place.pretended:
        return Card("NVIDIA A100 80GB PCIe", 80_000_000_000, 80, 108)
    if place.python:
        properties = torch_program(place, PROGRAM, "properties", place.device)
        return Card(properties["name"], properties["total"], properties["capability"], properties["multiprocessors"])
    facts = asked(place)
    major, minor = facts["compute_cap"].split(".")
    return Card(facts["name"], int(facts["memory.total"]) << 20, 10 * int(major) + int(minor), USUAL_MULTIPROCESSORS)


def card(place):
    figures = {} if place.pretended else asked(place)
    figures["environment"] = {name: value for name, value in os.environ.items()
                              if name.startswith(("PYTORCH_", "CUDA_", "CUBLAS_", "NVIDIA_TF32"))}
    runs = Runs(place)
    summary = runs.train(*TINY, "--batch", "16", "--steps", "4")
    shown = runs.json("show", str(summary["run"]))
    figures["program"] = shown["environment"]
    figures["budget_bytes"] = shown["start"]["budget_bytes"]
    return figures, []


def opens(place):
    """The device is found in each order of events, and each reason why it cannot be used has its text."""
    problems = []
    runs = Runs(place)
    runs.json("sweep", "--model", TINY[0], "--data", TINY[1], "--batch", "16", "--steps", "4", "--vary",
              f"device=cpu,{place.device}")
    finished = [run["status"] for run in runs.json("list")["runs"]].count("finished")
    if finished != 2:
        problems.append(f"of a sweep over cpu and {place.device}, {finished} of 2 runs finished")
    texts = {}
    wrong = [("index", "cuda:99", {}), ("hidden", place.device, {"CUDA_VISIBLE_DEVICES": "-1"})]
    for name, device, environment in wrong:
        done = Runs(place, environment).start("train", "--device", device, "--model", TINY[0], "--data", TINY[1],
                                              "--batch", "16", "--steps", "1")
        texts[name] = done.stderr.strip().splitlines()[-1:]
        if done.returncode != 2:
            problems.append(f"{name}: status {done.returncode} in the place of 2: {texts[name]}")
    return {"texts": texts}, problems


def own_tests(place):
    """The project's tests that need a GPU: tests/**/tst_*_gpu.cpp."""
    figures, problems = {}, []
    for file in sorted(glob.glob(os.path.join(ROOT, "tests", "**", "tst_*_gpu.cpp"), recursive=True)):
        folder, name = os.path.split(os.path.relpath(file, os.path.join(ROOT, "tests")))
        test = name[len("tst_"):-len(".cpp")]
        program = os.path.join(place.tests, folder.replace(os.sep, "_"))
        if not os.path.exists(program):
            raise NotRun(f"{program} was not built")
        environment = {"BATCHSCOPE_TEST_GPU": "1", "BATCHSCOPE_TEST_PART": "0", "QT_QPA_PLATFORM": "offscreen"}
        done = start([program, test], environment, limit=200)
        figures[test] = [line for line in done.stdout.splitlines() if line.startswith("Totals:")]
        problems += [f"{test}: {line}" for line in done.stdout.splitlines() if line.startswith("FAIL!")]
        if done.returncode and not problems:
            problems.append(f"{test}: status {done.returncode}")
    return figures, problems


def bytes_before_training(place):
    """Of the device's memory, what is taken before and beside tensors: by the context, libraries and first kernels."""
    return torch_program(place, PROGRAM, "bytes", place.device), []
