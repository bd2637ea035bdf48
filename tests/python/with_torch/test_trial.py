"""A program that is only tried leaves no trace: files of the user stay as they are, and trackers are off."""

import hashlib
import os
import subprocess
import sys
import unittest

from torch_programs import HERE, WithCli

sys.path.append(os.path.join(os.path.dirname(HERE), "programs"))

import writes
from pretended_batchscope import CLIENT, PATIENCE


def contents(folder):
    """All files of a folder and what is in them, links and times included."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            file = os.path.join(path, name)
            status = os.lstat(file)
            text = os.readlink(file).encode() if os.path.islink(file) else b""
            if os.path.isfile(file) and not text:
                with open(file, "rb") as opened:
                    text = opened.read()
            found[os.path.relpath(file, folder)] = status.st_mode, status.st_mtime_ns, hashlib.sha256(text).hexdigest()
    return found


class Trial(WithCli):
    def setUp(self):
        super().setUp()
        self.work = self.path("work")
        os.mkdir(self.work)

    def test_a_program_sees_what_it_did_and_changes_nothing(self):
        writes.before(self.work)
        before, trial = contents(self.work), self.path("trial")
        os.makedirs(os.path.join(trial, "tmp"))
        environment = dict(self.environment, PYTHONPATH=CLIENT, BATCHSCOPE_TRIAL=trial, PYTHONDONTWRITEBYTECODE="1",
                           TMPDIR=os.path.join(trial, "tmp"))
        done = subprocess.run([sys.executable, writes.__file__, "torch"], cwd=self.work, env=environment, text=True,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "disabled True\n")
        self.assertEqual(contents(self.work), before)

    def test_a_search_leaves_the_folder_as_it_was(self):
        for name, budget in (("loop", "40MB"), ("trainer", "60MB"), ("lightning", "60MB")):
            with self.subTest(name=name):
                for file in ("last.pt", "model.safetensors", "log.csv"):
                    with open(os.path.join(self.work, file), "w") as opened:
                        opened.write("of the user")
                before = contents(self.work)
                found = self.cli("find", "--quiet", "--attach", "auto", "--memory-budget", budget, "--max-batch", "32",
                                 "--no-timings", "--cwd", self.work, "--", sys.executable,
                                 os.path.join(HERE, "saving.py"), name)
                self.assertEqual(found["largest"], 32)
                self.assertEqual(contents(self.work), before)

    def test_a_program_may_count_on_its_loaders_length(self):
        found = self.cli("find", "--quiet", "--attach", "auto", "--memory-budget", "40MB", "--no-timings",
                         "--max-batch", "64", "--", sys.executable, os.path.join(HERE, "by_length.py"))
        self.assertEqual((found["largest"], found["left_out"]), (64, []))

    def test_sizes_in_a_command_cost_few_processes(self):
        """Of a loop without a loader: two small sizes foretell the others, and the largest holds in a run."""
        command = (sys.executable, os.path.join(HERE, "without_loader.py"), "{batch}")
        found = self.cli("find", "--quiet", "--attach", "auto", "--memory-budget", "60MB", "--", *command)
        probes = found["probes"] + found.get("checks", [])
        self.assertLessEqual(len(probes), 6)
        self.assertLessEqual([probe["outcome"] for probe in probes].count("out_of_memory"), 1)
        self.assertEqual(found["largest_is"], "exact")
        self.assertGreater(found["safe"], 0.6 * found["largest"])
        self.assertEqual({timing["batch"] for timing in found["timings"]},
                         {probe["batch"] for probe in probes if probe["outcome"] == "fits"})
        for size, code in ((found["largest"], 0), (found["largest"] * 102 // 100 + 1, 1)):
            run = self.cli("run", "--quiet", "--attach", "auto", "--memory-budget", "60MB", "--batch", str(size), "--",
                           *command, "5", code=code)
            self.assertEqual(run["status"], "failed" if code else "finished")


if __name__ == "__main__":
    unittest.main()
