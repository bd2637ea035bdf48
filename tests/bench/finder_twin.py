"""BatchScope's search beside accelerate's and Lightning's: the same net, the same images, the same memory.

accelerate's find_executable_batch_size starts at 1024 and goes on with 0.9 of it after each out-of-memory error; it is
what auto_find_batch_size of Hugging Face's Trainer uses. Lightning's scale_batch_size doubles from 2, and with
`binsearch` bisects then. Each runs in a process of its own whose memory is limited, through RLIMIT_DATA, to the budget
above what it takes with a net and an optimizer that have trained one example. `find` has the budget as its
--memory-budget, which counts tensors; so the sizes that fit differ a little. Counted are the sizes that a tool tried
and the errors that it met.

usage: finder_twin.py [--cli FILE] [--models M ...] [--budget MB]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import python_twin
import torch
from torch.nn import functional

ROOT = python_twin.ROOT
TOOLS = ["accelerate", "lightning power", "lightning binsearch"]


def megabytes_of_data():
    """Private memory of this process, as RLIMIT_DATA counts it."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmData:"):
                return int(line.split()[1]) / 1000
    raise RuntimeError("VmData is missing")


def make_net(model):
    name, options = python_twin.parse_model(model)
    torch.manual_seed(python_twin.SEED)
    return getattr(python_twin, name)(options, 10)


def train(net, optimizer, images, labels):
    optimizer.zero_grad(set_to_none=True)
    functional.cross_entropy(net(images), labels).backward()
    optimizer.step()


def limit_memory(budget):
    bytes_ = int((megabytes_of_data() + budget) * 1e6)
    resource.setrlimit(resource.RLIMIT_DATA, (bytes_, bytes_))


def search_with_accelerate(model, images, labels, budget):
    from accelerate.utils import find_executable_batch_size

    net = make_net(model)
    optimizer = torch.optim.AdamW(net.parameters())
    train(net, optimizer, images[:1], labels[:1])
    tried = []

    @find_executable_batch_size(starting_batch_size=1024)
    def attempt(batch):
        tried.append(batch)
        for _ in range(3):
            train(net, optimizer, images[:batch], labels[:batch])
        return batch

    limit_memory(budget)
    return attempt(), tried


def search_with_lightning(model, images, labels, budget, mode):
    import lightning
    from lightning.pytorch.tuner import Tuner

    tried = []

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = make_net(model)
            self.batch_size = 2

        def training_step(self, batch, _):
            return functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

        def train_dataloader(self):
            tried.append(self.batch_size)
            data = torch.utils.data.TensorDataset(images, labels)
            return torch.utils.data.DataLoader(data, batch_size=self.batch_size)

    warm = make_net(model)
    train(warm, torch.optim.AdamW(warm.parameters()), images[:1], labels[:1])
    del warm
    module = Module()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # into which the tuner writes a checkpoint, which it leaves behind if the memory runs out
        trainer = lightning.Trainer(
            max_epochs=1, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False
        )
        limit_memory(budget)
        found = Tuner(trainer).scale_batch_size(module, mode=mode, init_val=2)
        os.chdir("/")
    return found, tried


def child(tool, model, budget):
    images, labels = python_twin.image_data()[:2]
    begin = time.perf_counter()
    if tool == "accelerate":
        found, tried = search_with_accelerate(model, images, labels, budget)
    else:
        found, tried = search_with_lightning(model, images, labels, budget, tool.split()[1])
    # The same size is tried once, though Lightning makes its loader more than once.
    sizes = [size for i, size in enumerate(tried) if i == 0 or size != tried[i - 1]]
    print(json.dumps({"found": found, "tried": sizes, "seconds": time.perf_counter() - begin}))


def run_tool(tool, model, budget):
    environment = dict(os.environ, MALLOC_ARENA_MAX="1", PYTHONWARNINGS="ignore")
    command = [sys.executable, __file__, "--child", tool, "--models", model, "--budget", str(budget)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return f"{tool:<22} ends with an error: {reason[:80]}"
    answer = json.loads(lines[-1])
    ooms = sum(size > (answer["found"] or 0) for size in answer["tried"])
    return row(tool, answer["found"] or 0, len(answer["tried"]), ooms, answer["seconds"])


def run_find(cli, model, budget):
    with tempfile.TemporaryDirectory() as folder:
        command = [cli, "find", "--json", "--no-timings", "--model", model, "--data", "demo"]
        command += ["--memory-budget", f"{budget}MB", "--db", os.path.join(folder, "find.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    runs = answer["probes"] + answer.get("checks", [])
    ooms = sum(probe["outcome"] == "oom" for probe in runs)
    return row("batchscope find", answer["largest"], len(runs), ooms, answer["seconds"])


def row(tool, found, runs, ooms, seconds):
    return f"{tool:<22} {found:>7} {runs:>10} {ooms:>6} {seconds:>7.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cli", default=os.path.join(ROOT, "build/bin/batchscope-cli"))
    parser.add_argument("--models", nargs="+", default=["cnn", "resnet", "mlp:hidden=1024"])
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--child", choices=TOOLS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.models[0], options.budget)
        return
    for model in options.models:
        print(f"\n{model}, {options.budget} MB\n{'tool':<22} {'largest':>7} {'sizes run':>10} {'OOMs':>6} {'time':>9}")
        for tool in TOOLS:
            print(run_tool(tool, model, options.budget), flush=True)
        print(run_find(options.cli, model, options.budget), flush=True)


if __name__ == "__main__":
    main()
