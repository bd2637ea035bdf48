"""Records what real programs and a real BatchScope say to each other, for tests/core/program/run/tst_recorded.cpp.

usage: record.py [plain|trainer|lightning ...]
Run it with a Python that has torch, transformers and lightning, after make build; without a name it records all. It
writes tests/core/program/files/NAME.jsonl: a line about the recording, then each message as {"program": MESSAGE} or
{"batchscope": MESSAGE}, in the order in which they passed a socket between the two. The uid of the run is RUN in all of
them. Each program is paused in a step, given another size, makes one step, and goes on; with sizes above four it runs
out of memory.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
CLI = os.path.join(SOURCE, "build", "bin", "batchscope-cli")
FILES = os.path.join(SOURCE, "tests", "core", "program", "files")
PATIENCE = 120  # seconds
FITS = 4  # examples
# What `run` is asked for, and the options for it.
ASKED = {
    "plain": {"batch": 3, "schedule": "constant"},
    "trainer": {"batch": 2, "schedule": "step:interval=2,increment=1"},
    "lightning": {"batch": 2, "schedule": "formula:2 + step / 4 + 0 * loss"},
}
PAUSED_AFTER = 4  # steps
STEERED_TO = 6  # examples


# --- between the two: a process that is started as the program, and starts it ---


class Between:
    """Passes lines on in both directions, and notes them."""

    def __init__(self, file, command):
        self.file = file
        self.lock = threading.Lock()
        self.folder = tempfile.TemporaryDirectory()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.folder.name, "socket"))
        self.listener.listen()
        self.command = command

    def run(self):
        environment = dict(os.environ, BATCHSCOPE_SOCKET=self.listener.getsockname())
        program = subprocess.Popen(self.command, env=environment)
        theirs, _ = self.listener.accept()
        ours = socket.socket(socket.AF_UNIX)
        ours.connect(os.environ["BATCHSCOPE_SOCKET"])
        threads = [threading.Thread(target=self.carry, args=way) for way in
                   ((theirs, ours, "program"), (ours, theirs, "batchscope"))]
        for thread in threads:
            thread.start()
        code = program.wait()
        for thread in threads:
            thread.join()
        self.folder.cleanup()
        return code

    def carry(self, source, target, who):
        for line in source.makefile("rb"):
            with self.lock:
                self.file.write(json.dumps({who: json.loads(line)}, separators=(",", ":")) + "\n")
                target.sendall(line)
        target.shutdown(socket.SHUT_WR)


# --- the programs ---


def wait_when_paused(steps, folder):
    """So that the pause comes at this step."""
    if steps == PAUSED_AFTER:
        open(os.path.join(folder, "there"), "w").close()
        wait_for(lambda: os.path.exists(os.path.join(folder, "paused")))


def plain(folder):
    from torch_programs import batchscope, failing

    import torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    run = batchscope.start(name="plain loop", config={"lr": 0.1})
    loader = run.loader(DataLoader(TensorDataset(torch.randn(20, 6), torch.randn(20, 2)), batch_size=2), epochs=2)
    with failing(model[0], "backward", FITS):
        steps = 0
        for epoch in range(2):
            for window in loader:
                loss = run.backward(window, lambda x, y: (model(x) - y).square().mean(), model)
                optimizer.step()
                steps += 1
                wait_when_paused(steps, folder)
                run.step(optimizer, loss=loss)
            run.event("evaluation", values={"validation_loss": 1 / (epoch + 1)})


def trainer(folder):
    from torch_programs import batchscope, failing

    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

    class Watch(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, **kwargs):
            wait_when_paused(state.global_step + 1, folder)

    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0,
                                       eos_token_id=0))
    texts = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 64, (20, 16))]
    settings = TrainingArguments(output_dir=folder, per_device_train_batch_size=2, num_train_epochs=2, report_to=[],
                                 save_strategy="no", eval_strategy="epoch", disable_tqdm=True, use_cpu=True)
    made = Trainer(model, settings, train_dataset=texts, eval_dataset=texts[:5], callbacks=[Watch()])
    batchscope.attach(made)
    with failing(model.transformer.h[1], "backward", FITS):
        made.train()


def lightning(folder):
    from torch_programs import batchscope, failing

    import lightning as package
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Module(package.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

        def training_step(self, batch, batch_idx):
            return (self.net(batch[0]) - batch[1]).square().mean()

        def validation_step(self, batch, batch_idx):
            self.log("val_loss", (self.net(batch[0]) - batch[1]).square().mean())

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

        def on_before_optimizer_step(self, optimizer):
            wait_when_paused(self.trainer.global_step + 1, folder)

    package.seed_everything(0, verbose=False)
    data = TensorDataset(torch.randn(20, 6), torch.randn(20, 2))
    module = Module()
    made = package.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                           enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
    batchscope.attach(made)
    with failing(module.net[0], "backward", FITS):
        made.fit(module, DataLoader(data, batch_size=2), DataLoader(data, batch_size=10))


PROGRAMS = {"plain": plain, "trainer": trainer, "lightning": lightning}


# --- the user: runs and steers the program, and writes the file ---


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("waited too long")
        time.sleep(0.01)


class User:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.file = self.path("messages")

    def path(self, name):
        return os.path.join(self.folder, name)

    def lines(self):
        """The messages so far; the last line may not be whole yet."""
        if not os.path.exists(self.file):
            return []
        with open(self.file, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def wait_for_message(self, kind, **fields):
        def has_come():
            messages = [line["program"] for line in self.lines() if "program" in line]
            return any(m["type"] == kind and fields.items() <= {**m, **m.get("detail", {})}.items() for m in messages)

        wait_for(has_come)

    def cli(self, *arguments):
        return [CLI, *arguments, "--db", self.path("runs.db"), "--json", "--quiet"]

    def steer(self, *arguments):
        subprocess.run(self.cli("steer", "1", *arguments), check=True, stdout=subprocess.DEVNULL)

    def run(self):
        asked = ASKED[self.name]
        itself = [sys.executable, os.path.abspath(__file__)]
        command = self.cli("run", "--attach", "auto", "--schedule", asked["schedule"], "--batch", str(asked["batch"]))
        process = subprocess.Popen([*command, "--", *itself, "--between", self.file, *itself, "--program", self.name,
                                    self.folder], stdout=subprocess.PIPE, text=True)
        wait_for(lambda: os.path.exists(self.path("there")) or process.poll() is not None)
        if process.poll() is None:
            self.steer("pause")
            wait_for(lambda: any(line.get("batchscope", {}).get("type") == "pause" for line in self.lines()))
            open(self.path("paused"), "w").close()
            self.wait_for_message("event", status="paused")
            self.steer("schedule", "constant", "--batch", str(STEERED_TO))
            self.wait_for_message("applied")
            self.steer("step")
            self.wait_for_message("record", step=PAUSED_AFTER + 1)
            self.steer("continue")
        output, _ = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"{self.name} has failed: {output}")
        return json.loads(output)

    def write(self, result):
        """Leaves out what is of this machine."""
        lines = self.lines()
        hellos = [line["program"] for line in lines if line.get("program", {}).get("type") == "hello"]
        run = hellos[0]["run"]
        for hello in hellos:
            hello["pid"] = 1
        about = {"asked": ASKED[self.name], "steered_to": STEERED_TO, "level": result["program"]["level"],
                 "framework": result["program"]["framework"] or "", "versions": versions(), "status": result["status"]}
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [{"recorded": about}, *lines])
        text = text.replace(run, "RUN")
        for path in (SOURCE, self.folder, os.path.expanduser("~")):
            if path in text:
                raise SystemExit(f"{self.name}: the messages name {path}")
        os.makedirs(FILES, exist_ok=True)
        with open(os.path.join(FILES, self.name + ".jsonl"), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{self.name}: {len(lines)} messages, {len(text)} bytes")


def versions():
    import accelerate
    import lightning as package
    import torch
    import transformers
    return {"python": sys.version.split()[0],
            **{module.__name__: module.__version__ for module in (torch, transformers, accelerate, package)}}


def main():
    if sys.argv[1:2] == ["--between"]:
        with open(sys.argv[2], "w", encoding="utf-8", buffering=1) as file:
            sys.exit(Between(file, sys.argv[3:]).run())
    if sys.argv[1:2] == ["--program"]:
        PROGRAMS[sys.argv[2]](sys.argv[3])
        return
    for name in sys.argv[1:] or PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            user = User(name, folder)
            user.write(user.run())


if __name__ == "__main__":
    main()
