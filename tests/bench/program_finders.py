"""`find` on the programs of tests/python/programs, made large enough for it, beside the searches that others have.

For each program: what `find --attach auto` answers, with how many sizes and errors, in how many seconds, timings
included; whether a run of that size in a process of its own makes all steps whole; and whether one with slightly more
does not. Beside it, accelerate's find_executable_batch_size around the same program in plain torch (it starts at four
times what `find` has found, and goes on with 0.9 of it), without timings. All have the same budget, RLIMIT_DATA: what
the process has when the training begins, plus the budget.

usage: program_finders.py [--results] [--budget MB] [NAME...]; with --results, tests/python/RESULTS.md gets the table.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(ROOT, "tests", "python", "programs")
sys.path[:0] = [PROGRAMS, os.path.join(ROOT, "tests", "python", "with_torch"), os.path.join(ROOT, "tests", "bench")]
CLI = os.path.join(ROOT, "build", "bin", "batchscope-cli")
TIMES, WIDTH = 400, 64  # 20,000 examples, and about 16 KB for each of them in a perceptron
LARGE = 5000  # examples of a loader whose size is searched for
STEPS = 3  # with which a size fits, for others
TUNABLES = "glibc.malloc.mmap_threshold=131072:glibc.malloc.hugetlb=1"


# --- what others do, in a process of its own ---


class Enough(Exception):
    """The size has made its steps."""


def set_sizes(size, begin):
    """All large loaders of the program get this size from now on; `begin` is called when one is made."""
    from torch.utils.data import DataLoader

    stock = DataLoader.__init__

    def init(self, dataset, *args, **kwargs):
        if hasattr(dataset, "__len__") and len(dataset) > LARGE:
            begin()
            if args:
                args = (size[0], *args[1:])
            elif "batch_sampler" not in kwargs:
                kwargs["batch_size"] = size[0]
        stock(self, dataset, *args, **kwargs)

    DataLoader.__init__ = init


def other(path, name, budget, start):
    """Prints what accelerate finds, how many sizes it tries, and its seconds."""
    import importlib
    import resource

    import accelerate.utils.memory
    import torch
    from finder_twin import megabytes_of_data
    from torch.optim.optimizer import register_optimizer_step_post_hook

    importlib.import_module(os.path.splitext(os.path.basename(path))[0])
    import common

    common._factors.update(examples=TIMES, width=WIDTH)
    torch.set_num_threads(1)
    size, sizes, limit, steps = [8], [], [], [0]
    options = argparse.Namespace(plain=True, rows=None, where="backward", out=None, name=name)

    def begin():
        if not limit:
            limit.append(int((megabytes_of_data() + budget) * 1e6))
        resource.setrlimit(resource.RLIMIT_DATA, (limit[0], resource.RLIM_INFINITY))

    def count(*_):
        steps[0] += 1
        if steps[0] >= STEPS:
            raise Enough

    @accelerate.utils.memory.find_executable_batch_size(starting_batch_size=start)
    def train(batch_size):
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        size[0], steps[0] = batch_size, 0
        sizes.append(batch_size)
        torch.manual_seed(0)
        with contextlib.suppress(Enough):
            common.programs[name](common.Trial(options))
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return batch_size

    set_sizes(size, begin)
    register_optimizer_step_post_hook(count)
    began = time.perf_counter()
    found = train()
    if not limit:
        raise SystemExit("no loader whose size could be set")
    print(json.dumps({"found": found, "sizes": len(sizes), "errors": len(sizes) - 1,
                      "seconds": time.perf_counter() - began}))


# --- all of them ---


def environment(folder):
    own = {name: value for name, value in os.environ.items() if not name.startswith("BATCHSCOPE_")}
    return {**own, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore",
            "XDG_RUNTIME_DIR": folder}


def command(program):
    return [sys.executable, os.path.join(PROGRAMS, program.file), program.name, "--times", str(TIMES), "--width",
            str(WIDTH)]


def cli(folder, verb, budget, *arguments):
    """The JSON of a verb, or the line that it ends with."""
    done = subprocess.run([CLI, verb, "--db", os.path.join(folder, "runs.db"), "--json", "--quiet", "--attach", "auto",
                           "--memory-budget", f"{budget}MB", *arguments], env=environment(folder), text=True,
                          capture_output=True, timeout=600, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return (done.stderr.strip().splitlines() or ["no answer"])[-1]


def run_of(folder, program, budget, batch):
    """Whether a run of that size makes all steps whole: yes, no, or what else came out."""
    run = cli(folder, "run", budget, "--batch", str(batch), "--", *command(program))
    if isinstance(run, str):
        return run[:80]
    if run["status"] == "finished":
        return "no" if run["oom_events"] else "yes"
    return "no" if run["oom_events"] else re.sub(r"\s+", " ", run.get("reason") or run["status"])[:80]


def others_of(folder, program, budget, largest):
    done = subprocess.run([sys.executable, __file__, "--other", program.file, "--budget", str(budget), "--start",
                           str(4 * largest), program.name],
                          env={**environment(folder), "GLIBC_TUNABLES": TUNABLES}, text=True, capture_output=True,
                          timeout=600, check=False)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return (done.stderr.strip().splitlines() or ["no answer"])[-1][:80]


def line_of(program, budget):
    with tempfile.TemporaryDirectory(prefix="find-") as folder:
        found = cli(folder, "find", budget, "--", *command(program))
        if isinstance(found, str):
            return [found.replace("batchscope-cli: ", "")[:160], *[""] * 7]
        tried = [*found["probes"], *found["checks"]]
        errors = sum(probe["outcome"] == "oom" for probe in tried)
        largest = found["largest"]
        if not largest:
            return [found["reason"][:160], *[""] * 7]
        more = largest + max(1, largest // 200)
        is_all = found["largest_is"] == "exact" and errors == 0 and all(p["outcome"] == "fits" for p in tried)
        twin = others_of(folder, program, budget, largest)
        if isinstance(twin, dict):
            twin = f"{twin['found']}; {twin['sizes']}; {twin['errors']}; {twin['seconds']:.1f}"
        return [str(largest) + ("" if found["largest_is"] == "exact" else " (tried)"), str(found["safe"]),
                str(found["recommended"]), f"{len(tried)}; {errors}", f"{found['seconds']:.1f}",
                run_of(folder, program, budget, largest),
                "all examples" if is_all and largest >= LARGE else run_of(folder, program, budget, more), twin or ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--budget", type=int, default=30, help="megabytes")
    parser.add_argument("--results", action="store_true")
    parser.add_argument("--other", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.other:
        other(options.other, options.names[0], options.budget, options.start)
        return
    from test_programs import ALL, write_section

    head = ["program", "largest", "safe", "recommended", "sizes; errors", "seconds", "it fits in a run",
            "0.5 % more fits", "accelerate: answer; sizes; errors; seconds"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print(lines[0])
    for program in [ALL[name] for name in options.names or ALL]:
        lines.append("| " + " | ".join([f"`{program.name}`", *line_of(program, options.budget)]) + " |")
        print(lines[-1], flush=True)
    if options.results:
        write_section("find", "Batch sizes found", "Written by `tests/bench/program_finders.py --results`, with a "
                      f"budget of {options.budget} MB, on {os.cpu_count()} cores of a shared machine. The data are "
                      f"{TIMES} times and the perceptrons {WIDTH} times as large as in the table above. A size that "
                      "does not fit in a run is one of a program whose steps differ: `frozen_then_thawed` trains more "
                      "layers in its second epoch, `one_after_another` has a second training. What ends with an error "
                      "of Python or the system is not caught by accelerate. ", lines)


if __name__ == "__main__":
    main()
