"""Budgets of programs under the real batchscope-cli: halved while they train, and filled by a size that is found."""

import json
import os
import subprocess
import sys
import textwrap
import time
import unittest

from torch_programs import HERE, SOURCE, WithCli, difference, in_soak

import torch

from pretended_batchscope import PATIENCE

PROGRAM = os.path.join(HERE, "budget_programs.py")


class Halved(WithCli):
    """The budgets are about one and a half times what a step takes, so that half of it is too little."""

    def wait_for(self, process, path):
        end = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if process.poll() is not None or time.monotonic() > end:
                self.fail(f"the program has not begun: {process.communicate()}")
            time.sleep(0.02)

    def halved(self, what, megabytes):
        """Runs the program and halves its budget; returns the run, with what the program has kept."""
        kept = self.path("halved")
        process = subprocess.Popen(
            self.command("run", "--quiet", "--attach", "auto", "--memory-budget", f"{megabytes}MB", "--",
                         sys.executable, PROGRAM, what, kept), env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.wait_for(process, kept + ".begun")
            self.cli("steer", "1", "budget", f"{megabytes // 2}MB")
            output, errors = process.communicate(timeout=PATIENCE)
        finally:
            if process.poll() is None:
                process.terminate()  # the run and its program end in order
                process.communicate()
        self.assertEqual(process.returncode, 0, output + errors)
        return self.cli("show", "1"), self.kept("halved")

    def kept(self, name):
        """What a program has kept; the gradients of each step as one tensor."""
        with open(self.path(name + ".json")) as file:
            kept = json.load(file)
        with open(self.path(name), "rb") as file:
            numbers = torch.frombuffer(bytearray(file.read()), dtype=torch.float64)
        return {**kept, "gradients": numbers.reshape(len(kept["limited"]), -1)}

    def check(self, what, megabytes, batch):
        run, halved = self.halved(what, megabytes)
        steps = len(halved["gradients"])
        subprocess.run([sys.executable, PROGRAM, what, self.path("enough"), str(steps)], env=self.environment,
                       stdout=subprocess.DEVNULL, check=True)
        enough = self.kept("enough")
        series = self.series("micro_batches", "effective_batch", "examples_seen")
        self.assertEqual(list(series["micro_batches"]), list(range(1, steps + 1)))
        self.check_events(run, megabytes, {step: count for step, count in series["micro_batches"].items()
                                           if series["effective_batch"][step] == batch})  # but for an epoch's tail
        self.assertEqual((set(halved["limited"]), set(enough["limited"])), ({True}, {False}))
        seen = int(series["examples_seen"][steps])
        self.assertGreaterEqual(min(len(halved["examples"]), len(enough["examples"])), seen)
        self.assertEqual(halved["examples"][:seen], enough["examples"][:seen])
        for step, both in enumerate(zip(halved["gradients"], enough["gradients"], strict=True), 1):
            self.assertLess(difference(*([gradient] for gradient in both)), 1e-6, f"step {step} of {steps}")

    def series(self, *names):
        shown = self.cli("show", "1", "--series", ",".join(names))["series"]
        return {name: dict(shown[name]) for name in names}

    def check_events(self, run, megabytes, micro_batches):
        changed, = [event for event in run["events"] if event["kind"] == "budget"]
        self.assertEqual(changed["budget_bytes"], megabytes // 2 * 1_000_000)
        errors = [event for event in run["events"] if event["kind"] == "oom"]
        self.assertEqual(errors[0]["step"], changed["applies_from_step"])
        for error in errors:
            self.assertEqual(error["limit_bytes"], changed["budget_bytes"])
            self.assertEqual(error["outcome"], "split")
        for step, count in micro_batches.items():
            self.assertEqual(count > 1, step >= changed["applies_from_step"], f"step {step}")

    def test_a_plain_loop_goes_on_with_the_same_gradients(self):
        self.check("plain", 60, 512)

    @in_soak
    def test_a_trainer_goes_on_with_the_same_gradients(self):
        self.check("trainer", 60, 16)


# Steps take about 10 kB an example, and 5 MB in all.
BY_COMMAND = """
    import sys
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(3500, 256), torch.randint(0, 10, (3500,)))
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    for epoch in range(3):
        for x, y in DataLoader(data, int(sys.argv[1]), shuffle=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
"""


class Found(WithCli):
    def check(self, megabytes, *program):
        """One process and at most one error to find it; it is the largest; and no step of a run with it is split."""
        attached = ("--quiet", "--attach", "auto", "--memory-budget", f"{megabytes}MB")
        command = ("--", sys.executable, os.path.join(SOURCE, "examples", program[0]), *program[1:], "--epochs")
        found = self.cli("find", "--no-timings", *attached, *command, "1000")
        self.assertEqual(len({probe["pid"] for probe in found["probes"]}), 1)
        failed = [probe["batch"] for probe in found["probes"] if probe["outcome"] == "oom"]
        self.assertLessEqual(len(failed), 1)
        self.assertEqual(found["largest_is"], "exact")
        run = self.cli("run", *attached, "--batch", str(found["largest"]), *command, "1")
        self.assertEqual(run["oom_events"], 0)
        shown = self.cli("show", "1", "--series", "batch,micro_batches")["series"]
        self.assertGreater(len(shown["batch"]), 2)
        self.assertEqual({count for _, count in shown["micro_batches"]}, {1})

    def check_program(self, file, name):
        """The same of a program whose steps leave memory behind, and one that is slightly larger does not hold."""
        attached = ("--quiet", "--attach", "auto", "--memory-budget", "30MB")
        command = ("--", sys.executable, os.path.join(SOURCE, "tests", "python", "programs", file), name,
                   "--times", "400", "--width", "64")
        found = self.cli("find", "--no-timings", *attached, *command)
        self.assertLessEqual([probe["outcome"] for probe in found["probes"]].count("oom"), 2)
        self.assertTrue(0.7 * found["largest"] <= found["safe"] <= 0.82 * found["largest"], found)
        for size, fits in ((found["largest"], True), (found["largest"] * 101 // 100, False)):
            run = self.cli("run", *attached, "--batch", str(size), *command)
            self.assertEqual(run["oom_events"] == 0, fits, f"{size} of {found['largest']}")

    def test_what_a_failed_backward_pass_leaves_is_not_in_the_way(self):
        self.check_program("plain_models.py", "adversarial")  # its loss has two branches

    @in_soak
    def test_garbage_of_earlier_steps_is_not_in_the_way(self):
        self.check_program("plain_losses.py", "second_order")  # its graphs refer to themselves

    @in_soak
    def test_a_size_that_was_found_for_steps_of_several_batches_holds(self):
        self.check_program("plain_loaders.py", "accumulated_by_the_loader")

    @in_soak
    def test_a_size_that_was_found_for_a_trainer_holds(self):
        self.check(60, "hf_trainer.py")

    def test_sizes_that_stand_in_the_command_have_the_same_room(self):
        """Each is tried in a process of its own, whose steps are listed."""
        program = self.path("plain.py")
        with open(program, "w") as file:
            file.write(textwrap.dedent(BY_COMMAND))
        found = self.cli("find", "--no-timings", "--quiet", "--attach", "auto", "--memory-budget", "20MB", "--strategy",
                         "halving", "--start", "1300", "--", sys.executable, program, "{batch}")
        self.assertEqual(found["largest"], 1300)  # of about 1,900
        self.assertLess(found["probes"][0]["peak_bytes"], 17e6)

    def test_a_size_that_was_found_for_lightning_holds(self):
        self.check(200, "lightning_module.py", "--width", "8192")


if __name__ == "__main__":
    unittest.main()
