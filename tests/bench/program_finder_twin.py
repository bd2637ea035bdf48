"""`find` on the examples of a Hugging Face Trainer and of Lightning beside the searches that these bring themselves.

- accelerate: the example with the Trainer's own auto_find_batch_size, which is accelerate's find_executable_batch_size:
  starts at four times the size that `find` has found, and goes on with 0.9 of it after each out-of-memory error.
- Lightning: the example's module in Tuner.scale_batch_size, which doubles from 2, and with `binsearch` bisects then and
  takes 5 % off. The module has wide layers, so that a size is a matter of megabytes.
- BatchScope: `find --attach auto` on the example, unchanged, in one process.

Only the largest size is searched for: `find` without timings and without a margin. A size is run for three steps by the
others, for two by BatchScope. All have the same limit, RLIMIT_DATA: what the process has when the training begins, less
the bytes of its model, plus the budget; and the same setting of glibc, that freed tensors are given back, without which
sizes that have fitted fail later. One row is accelerate without that setting.

Seconds are counted from where the program has imported everything, before it makes its model, to the answer: the start
of the interpreter and the imports are not counted for anybody. "one more" is a whole process of its own, that trains
with one example more than the answer: it must fail for the answer to be the largest size; `run` does so for BatchScope.

usage: program_finder_twin.py [--cli FILE] [--budget MB] [--rounds N]
"""

import argparse
import functools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from finder_twin import megabytes_of_data

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
TUNABLES = "glibc.malloc.mmap_threshold=131072:glibc.malloc.hugetlb=1"
WIDTH = "16384"  # of the Lightning module's layers
TEXT = "tests/python/test_protocol.py"
ARGUMENTS = {"hf": ["--text", os.path.join(ROOT, TEXT)], "lightning": ["--width", WIDTH]}
ENDLESS = "1000000"  # epochs: `find` ends the program
OTHERS = {"hf": ["accelerate", "accelerate, glibc as it is"], "lightning": ["Lightning power", "Lightning binsearch"]}
TITLES = {"hf": f"examples/hf_trainer.py --text {TEXT}", "lightning": f"examples/lightning_module.py --width {WIDTH}"}


class Search:
    """What a tool of others does in a process of its own."""

    def __init__(self, budget, size):
        self.budget, self.size = budget, size
        self.tried = []
        self.ooms = 0
        self.found = None

    def count_errors(self, module, name):
        """Counts the out-of-memory errors that a tool's own function recognizes."""
        recognizes = getattr(module, name)

        def counts(error):
            recognized = recognizes(error)
            self.ooms += recognized
            return recognized

        setattr(module, name, counts)

    def limit_memory(self, model):
        own = sum(t.numel() * t.element_size() for t in [*model.parameters(), *model.buffers()])
        bytes_ = int((megabytes_of_data() + self.budget) * 1e6) - own
        resource.setrlimit(resource.RLIMIT_DATA, (bytes_, resource.RLIM_INFINITY))

    def trains(self, size):
        """Notes a size. Lightning makes its loader more than once for one."""
        if self.tried[-1:] != [size]:
            self.tried.append(size)


def hugging_face(search, finds):
    """The example with a Trainer that searches, or that trains three steps of one size."""
    import accelerate.utils.memory
    import hf_trainer
    from transformers import TrainerCallback

    search.count_errors(accelerate.utils.memory, "should_reduce_batch_size")

    class Watch(TrainerCallback):
        def on_train_begin(self, args, state, control, **kwargs):
            search.trains(state.train_batch_size)

    class Trainer(hf_trainer.Trainer):
        def train(self):
            search.limit_memory(self.model)
            self.add_callback(Watch())
            super().train()
            search.found = search.tried[-1]

    def main():
        hf_trainer.Trainer = Trainer
        hf_trainer.TrainingArguments = functools.partial(
            hf_trainer.TrainingArguments, auto_find_batch_size=finds, max_steps=3, disable_tqdm=True)
        sys.argv[1:] = ["--batch", str(search.size), *ARGUMENTS["hf"]]
        hf_trainer.main()

    return main


def lightnings(search, mode):
    """The example's module in the Tuner, or, without a mode, three steps of one size."""
    import lightning
    import lightning_module
    from lightning.pytorch.tuner import Tuner, batch_size_scaling

    search.count_errors(batch_size_scaling, "is_oom_error")

    class Module(lightning_module.Autoencoder):
        def __init__(self):
            super().__init__(int(WIDTH))
            self.batch_size = search.size

        def train_dataloader(self):
            search.trains(self.batch_size)
            return lightning_module.DataLoader(data, batch_size=self.batch_size, shuffle=True)

        def val_dataloader(self):
            return lightning_module.DataLoader(lightning_module.waves(500), batch_size=100)

    def main():
        module = Module()
        with tempfile.TemporaryDirectory() as folder:  # the Tuner leaves a checkpoint behind if the memory runs out
            trainer = lightning.Trainer(max_epochs=1, max_steps=-1 if mode else 3, accelerator="cpu", logger=False,
                                        enable_checkpointing=False, enable_progress_bar=False,
                                        enable_model_summary=False, default_root_dir=folder)
            search.limit_memory(module)
            if mode:
                search.found = Tuner(trainer).scale_batch_size(module, mode=mode, init_val=2)
            else:
                trainer.fit(module)
                search.found = search.size

    data = lightning_module.waves(4000)
    return main


def child(tool, example, budget, size):
    """Prints what the tool has found, or whether a size fits; exits with 1 if it does not."""
    sys.path.append(EXAMPLES)
    search = Search(budget, size)
    if example == "hf":
        main = hugging_face(search, tool != "one size")
    else:
        main = lightnings(search, None if tool == "one size" else tool.split()[1])
    begin = time.perf_counter()
    main()
    print(json.dumps({"found": search.found, "tried": search.tried, "ooms": search.ooms,
                      "seconds": time.perf_counter() - begin}))


def program(example, file):
    """What `find` runs: the example itself, with a note of when it began."""
    sys.path.append(EXAMPLES)
    import importlib
    module = importlib.import_module("hf_trainer" if example == "hf" else "lightning_module")
    if not os.path.exists(file):
        with open(file, "w", encoding="ascii") as note:
            note.write(repr(time.time()))
    sys.argv[1:] = ["--epochs", ENDLESS, *ARGUMENTS[example]]
    module.main()


def environment_of(tool):
    environment = dict(os.environ, PYTHONWARNINGS="ignore")
    if "as it is" not in tool:
        environment["GLIBC_TUNABLES"] = TUNABLES
    return environment


def run_child(tool, environment, example, budget, size):
    command = [sys.executable, __file__, "--child", tool, "--example", example, "--budget", str(budget)]
    command += ["--size", str(size)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def run_other(tool, example, budget, size):
    environment = environment_of(tool)
    done = run_child(tool, environment, example, budget, size)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"found"')]
    if done.returncode != 0 or not lines:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:80]}
    answer = json.loads(lines[-1])
    more = run_child("one size", environment, example, budget, answer["found"] + 1)
    answer["more"] = "fits" if more.returncode == 0 else "fails"
    return answer


def run_find(cli, example, budget):
    with tempfile.TemporaryDirectory() as folder:
        note = os.path.join(folder, "began")
        options = ["--json", "--quiet", "--db", os.path.join(folder, "find.db"), "--attach", "auto",
                   "--memory-budget", f"{budget}MB"]
        itself = [sys.executable, __file__, "--example", example, "--program", note]
        done = subprocess.run([cli, "find", "--no-timings", "--margin", "0", *options, "--", *itself],
                              capture_output=True, text=True, check=False)
        end = time.time()
        if done.returncode != 0:
            return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:80]}
        with open(note, encoding="ascii") as file:
            seconds = end - float(file.read())
        answer = json.loads(done.stdout)
        runs = answer["probes"] + answer["checks"]
        name = "hf_trainer.py" if example == "hf" else "lightning_module.py"
        more = subprocess.run(
            [cli, "run", *options, "--on-oom", "fail", "--batch", str(answer["largest"] + 1), "--", sys.executable,
             os.path.join(EXAMPLES, name), "--epochs", "1", *ARGUMENTS[example]],
            capture_output=True, text=True, check=False)
    return {"found": answer["largest"], "tried": [probe["batch"] for probe in runs], "seconds": seconds,
            "ooms": sum(probe["outcome"] == "oom" for probe in runs),
            "more": "fits" if more.returncode == 0 else "fails"}


def print_row(tool, answers):
    errors = [answer["error"] for answer in answers if "error" in answer]
    if errors:
        print(f"{tool:<28} ends with an error: {errors[0]}", flush=True)
        return
    last = answers[-1]
    seconds = statistics.median(answer["seconds"] for answer in answers)
    print(f"{tool:<28} {len(last['tried']):>6} {last['ooms']:>6} {seconds:>7.2f} s {last['found']:>7} "
          f"{last['more']:>9}   {' '.join(map(str, last['tried']))}", flush=True)


def compare(options, example):
    print(f"\n{TITLES[example]}, {options.budget} MB\n{'':<28} {'sizes':>6} {'OOMs':>6} {'time':>9} {'answer':>7} "
          f"{'one more':>9}   sizes tried")
    tools = ["batchscope find", *OTHERS[example]]
    answers = {tool: [] for tool in tools}
    for _ in range(options.rounds):
        found = run_find(options.cli, example, options.budget)
        answers[tools[0]].append(found)
        for tool in tools[1:]:
            start = 4 * found.get("found", 64) if example == "hf" else 2
            answers[tool].append(run_other(tool, example, options.budget, start))
    for tool in tools:
        print_row(tool, answers[tool])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cli", default=os.path.join(ROOT, "build/bin/batchscope-cli"))
    parser.add_argument("--budget", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3, help="the times are medians")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--example", choices=list(OTHERS), help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.example, options.budget, options.size)
    elif options.program:
        program(options.example, options.program)
    else:
        for example in OTHERS:
            compare(options, example)


if __name__ == "__main__":
    main()
