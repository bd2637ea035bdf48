"""One side is killed as by `kill -9` at random moments, under the real batchscope-cli: no step is lost, none is there
twice, and nothing is left behind. BATCHSCOPE_TEST_KILLS=50 makes a soak of it."""

import contextlib
import csv
import ctypes
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from torch_programs import CLI, HERE, SOURCE, require_cli

from pretended_batchscope import PATIENCE

PROGRAM = os.path.join(HERE, "kill_programs.py")
KILLS = int(os.environ.get("BATCHSCOPE_TEST_KILLS", "4"))  # of each side
KILLS_OF_A_RUN = max(1, min(5, KILLS // 2))
PR_SET_CHILD_SUBREAPER = 36


def processes_with(text):
    """Numbers of the processes that have a text in their environment; they are alive."""
    found = []
    for file in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(file, "rb") as environment:
                if text.encode() in environment.read():
                    found.append(int(file.split("/")[2]))
        except OSError:  # it has ended, or is somebody else's
            pass
    return [number for number in found if number != os.getpid()]


class Folder:
    """The database and the files of one run."""

    def __init__(self, case, kind):
        self.case, self.kind = case, kind
        folder = tempfile.TemporaryDirectory(prefix="batchscope-")
        case.addCleanup(folder.cleanup)
        self.path = folder.name
        self.sockets = os.path.join(self.path, "sockets")
        os.mkdir(self.sockets, 0o700)
        own = {name: value for name, value in os.environ.items() if not name.startswith("BATCHSCOPE_")}
        self.environment = {**own, "XDG_RUNTIME_DIR": self.sockets, "OMP_NUM_THREADS": "1",
                            "PYTHONPATH": os.path.join(SOURCE, "resources", "python")}

    def cli(self, *arguments):
        verb, *rest = arguments
        return subprocess.Popen([CLI, verb, "--db", os.path.join(self.path, "runs.db"), "--json", *rest],
                                env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def start(self):
        attach = ["--attach", "auto"] if self.kind == "trainer" else []
        return self.cli("run", "--quiet", *attach, "--", sys.executable, PROGRAM, self.kind, self.path)

    def told(self, *arguments):
        """What a command prints."""
        process = self.cli(*arguments)
        output, errors = process.communicate(timeout=PATIENCE)
        self.case.assertEqual(process.returncode, 0, output + errors)
        return json.loads(output)

    def allow_end(self):
        open(os.path.join(self.path, "finish"), "w").close()

    def kept(self):
        """The steps that the program had reported, with their losses."""
        try:
            with open(os.path.join(self.path, "steps")) as file:
                return {int(line.split()[0]): float(line.split()[1]) for line in file if line.endswith("\n")}
        except FileNotFoundError:
            return {}

    def wait_for_steps(self, process, steps):
        end = time.monotonic() + PATIENCE
        while len(self.kept()) < steps:
            if process.poll() is not None or time.monotonic() > end:
                self.case.fail(f"the program does not train: {process.communicate()}")
            time.sleep(0.01)

    def stored(self):
        """The steps of the run's export, in their order, with their losses."""
        file = os.path.join(self.path, "run.csv")
        self.told("export", "1", "--format", "csv", "-o", file, "--force")
        with open(file, newline="") as rows:
            return [(int(row["step"]), float(row["loss"])) for row in csv.DictReader(rows)]

    def check_nothing_is_left(self):
        case = self.case
        case.assertEqual(processes_with(self.path), [])
        case.assertEqual(os.listdir(self.sockets), [])
        for left in glob.glob(os.path.join(self.path, "runs.db-programs", "*")):
            case.assertEqual(os.listdir(left), ["output"])
        case.assertTrue(self.told("check")["sound"])


class Kills(unittest.TestCase):
    def setUp(self):
        """Orphans become children of this process, which finds those that nobody else has waited for."""
        require_cli()
        self.assertEqual(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)

    def check_orphans(self, expected):
        """All of them have ended. A program whose BatchScope was killed is one; others have their parents."""
        found = []
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                found.append(ended)
            self.fail("a process is still there")
        self.assertEqual(len(found), expected)

    def check_steps(self, folder, exactly):
        stored, kept = folder.stored(), folder.kept()
        self.assertEqual([step for step, _ in stored], list(range(1, len(stored) + 1)))
        self.assertGreaterEqual(len(stored), max(kept))
        if exactly:
            self.assertEqual(len(stored), max(kept))
        for step, loss in stored:
            if step in kept:
                self.assertAlmostEqual(loss, kept[step], delta=1e-6 * abs(kept[step]))

    def kill_batchscope(self, kind, kills, seed):
        folder, chance = Folder(self, kind), random.Random(seed)
        process = folder.start()
        folder.wait_for_steps(process, 1)
        for _ in range(kills):
            time.sleep(chance.random() * 0.4)
            process.kill()
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            process = folder.cli("run", "--quiet", "--adopt", "1")
        if kills % 2 == 0:  # the last one is there to the end
            folder.allow_end()
            output, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, output + errors)
        else:  # the program ends alone, and the next run takes in what it has left
            process.kill()
            process.communicate()
            folder.allow_end()
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            folder.told("run", "--", "true")
        self.assertEqual(folder.told("show", "1")["summary"]["status"], "finished")
        self.check_steps(folder, True)
        folder.check_nothing_is_left()
        self.check_orphans(1)

    def kill_program(self, kind, seed):
        folder, chance = Folder(self, kind), random.Random(seed)
        process = folder.start()
        folder.wait_for_steps(process, 1)
        time.sleep(chance.random() * 0.3)
        program, = [number for number in processes_with(f"BATCHSCOPE_SOCKET={folder.sockets}")]
        os.kill(program, signal.SIGKILL)
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 1, output + errors)
        told = json.loads(output)
        self.assertEqual((told["status"], told["program"]["signal"]), ("failed", signal.SIGKILL))
        self.check_steps(folder, False)
        folder.check_nothing_is_left()
        self.check_orphans(0)

    def test_batchscope_is_killed(self):
        for first in range(0, KILLS, KILLS_OF_A_RUN):
            kind = ("plain", "trainer")[first // KILLS_OF_A_RUN % 2]
            with self.subTest(kind=kind, seed=first):
                self.kill_batchscope(kind, min(KILLS_OF_A_RUN, KILLS - first), first)

    def test_the_program_is_killed(self):
        for seed in range(KILLS):
            kind = ("plain", "trainer")[seed % 2]
            with self.subTest(kind=kind, seed=seed):
                self.kill_program(kind, seed)


if __name__ == "__main__":
    unittest.main()
