"""Runs programs such as people write alone and attached, which has to make no difference, and short of memory.

Each program of ../programs runs alone, attached to a BatchScope that steers nothing, and with a memory that is
pretended to be short, which it has to survive, or to say why not. Those with calls of the client run in plain torch,
too. ../programs/expected.py has what is to come out.

usage: test_programs.py [--results] [unittest's own arguments]; with --results, ../RESULTS.md gets the table.
"""

import ast
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "programs")
RESULTS = os.path.join(os.path.dirname(HERE), "RESULTS.md")
sys.path[:0] = [os.path.dirname(HERE), PROGRAMS]

from expected import EXPECTED
from pretended_batchscope import CLIENT, Server

MOST_SECONDS = 180.0  # of one run
# `make soak` runs all programs, `make test` every second one, for all of them take minutes.
ALL_OF_THEM = bool(os.environ.get("BATCHSCOPE_TEST_LONG")) or "--results" in sys.argv
SAME = 1e-5  # relative difference of weights after steps that were split
ALIKE = 1e-3  # of what a program sees of such steps; losses may be small
TIMES = re.compile(r"('?(?:train|eval)_(?:runtime|samples_per_second|steps_per_second)'?: )'?[\d.e+-]+'?")


def contents(path):
    with open(path) as file:
        return file.read()


class Outcome:
    """How a run of a program has ended."""

    def __init__(self, status, output, result, server=None):
        self.status, self.result, self.server = status, result, server
        self.out, self.err = (TIMES.sub(r"\1-", contents(output + end)) for end in (".out", ".err"))

    @property
    def seen(self):
        return {key: value for key, value in self.result.items() if key != "numbers"}

    def events(self, kind):
        return [event["detail"] for event in self.server.events(kind)]


class Runner:
    """Runs programs in processes that are forked from one that has imported everything they need."""

    def __init__(self, **environment):
        own = {name: value for name, value in os.environ.items() if not name.startswith("BATCHSCOPE_")}
        own.pop("PYTHONPATH", None)
        own.update(environment, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", CUDA_VISIBLE_DEVICES="")
        self._folder = tempfile.TemporaryDirectory(prefix="programs-")
        self._count = 0
        self._process = subprocess.Popen([sys.executable, os.path.join(PROGRAMS, "forked.py")], env=own, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def run(self, program, *options, environment=None, server=None):
        self._count += 1
        output = os.path.join(self._folder.name, str(self._count))
        written = output + ".json"
        request = {"argv": [os.path.join(PROGRAMS, program.file), program.name, *options, "--out", written],
                   "environment": environment or {}, "output": output, "seconds": MOST_SECONDS}
        if self._count == 1:
            self._process.stdout.readline()
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = json.loads(self._process.stdout.readline())["status"]
        result = None
        if os.path.exists(written):
            with open(written) as file:
                result = json.load(file)
        return Outcome(status, output, result, server)

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._folder.cleanup()


class Runners:
    """One without BatchScope and one that is attached to whatever Trainer is imported; made when they are needed."""

    alone = attached = None

    @classmethod
    def start(cls):
        if cls.alone is None:
            cls.alone = Runner()
            cls.attached = Runner(PYTHONPATH=CLIENT, BATCHSCOPE_ATTACH="auto", BATCHSCOPE_SOCKET="set for each program")

    @classmethod
    def close(cls):
        for runner in (cls.alone, cls.attached):
            if runner is not None:
                runner.close()
        cls.alone = cls.attached = None


def attached(program, *options, **server_options):
    """A run that is connected to a server, after everything has arrived."""
    server = Server(**server_options)
    try:
        environment = {"BATCHSCOPE_SOCKET": server.path, "BATCHSCOPE_RUN": "r"}
        outcome = Runners.attached.run(program, *options, environment=environment, server=server)
        if server.of("hello"):
            server.wait_for(lambda message: message["type"] == "bye")
        return outcome
    finally:
        server.kill()


def _is_nan(*values):
    return all(isinstance(value, float) and math.isnan(value) for value in values)


def _is_close(one, two, tolerance):
    numbers = isinstance(one, float) and isinstance(two, float)
    return bool(tolerance and numbers and math.isclose(one, two, rel_tol=tolerance, abs_tol=tolerance))


def differences(one, two, tolerance=0.0, path=""):
    """Where two values made of dicts and lists differ, in words; numbers may by a relative tolerance."""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = [*one, *(key for key in two if key not in one)]
        pairs = [(f"{path}.{key}", one.get(key, "nothing"), two.get(key, "nothing")) for key in keys]
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = [(f"{path}[{number}]", *both) for number, both in enumerate(zip(one, two))]
    elif one == two or _is_nan(one, two) or _is_close(one, two, tolerance):
        return []
    else:
        return [f"{path.lstrip('.')}: {str(one)[:200]} -> {str(two)[:200]}"]
    return [text for place, left, right in pairs for text in differences(left, right, tolerance, place)]


def relative(one, two):
    """Norm of a difference, by the norm of the second."""
    if len(one) != len(two):
        return math.inf
    return math.dist(one, two) / (math.hypot(*two) or 1.0)


def level_of(server):
    """As the core tells it from a program's hello."""
    hellos = server.of("hello")
    if not hellos:
        return 0
    can = hellos[-1]["can"]
    return 1 if "batch" not in can else 2 if "split" not in can else 3


class Table:
    """What was found, one line a program."""

    lines = {}

    @classmethod
    def note(cls, program, **fields):
        cls.lines.setdefault(program.name, {}).update(fields)

    @classmethod
    def write(cls):
        """Puts the table in the place of an earlier one in RESULTS.md."""
        lines = ["| program | what it is | level | attached = alone | memory short | what cannot be done |",
                 "|---|---|---|---|---|---|"]
        for name, program in ALL.items():
            line = {"level": "", "same": "", "short": "", "why": "", **cls.lines.get(name, {})}
            lines.append(f"| `{name}` | {program.about} | {line['level']} | {line['same']} | {line['short']} | "
                         f"{line['why']} |")
        write_section("programs", "Programs", "Written by `with_torch/test_programs.py --results`. ", lines)


def write_section(name, title, about, lines):
    """Puts a section in the place of an earlier one in RESULTS.md, or at its end."""
    import accelerate
    import lightning
    import torch
    import transformers

    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (torch, transformers, accelerate, lightning))
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    text = f"{begin}## {title}\n\nPython {sys.version.split()[0]}, {versions}, on the CPU. {about.strip()}\n\n"
    text += "\n".join(lines) + "\n" + end
    before = after = ""
    if os.path.exists(RESULTS):
        with open(RESULTS) as file:
            before, _, rest = file.read().partition(begin)
            after = rest.partition(end)[2]
    with open(RESULTS, "w") as file:
        file.write(before + text + after)


class Program:
    """A function with @program in one of the files."""

    def __init__(self, file, function):
        self.file, self.name = file, function.name
        self.about = ast.get_docstring(function).replace("\n", " ").replace("|", "\\|")
        self.is_plain = file.startswith("plain")
        self.expected = EXPECTED[self.name]


def programs_in(file):
    with open(os.path.join(PROGRAMS, file)) as source:
        tree = ast.parse(source.read())
    return [Program(file, item) for item in tree.body if isinstance(item, ast.FunctionDef)
            and any(getattr(d, "id", None) == "program" for d in item.decorator_list)]


FILES = sorted(os.path.basename(path) for path in glob.glob(os.path.join(PROGRAMS, "*.py")))
ALL = {program.name: program for file in FILES for program in programs_in(file)}


class Programs(unittest.TestCase):
    """One test for each program; the methods are made below."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        Runners.start()

    @classmethod
    def tearDownClass(cls):
        Runners.close()

    def check(self, program):
        alone = Runners.alone.run(program)
        self.assertEqual(alone.status, 0, alone.err[-3000:])
        self.assertGreater(alone.result["steps"], 0)
        if program.is_plain:
            with self.subTest(run="without the client"):
                self.same(Runners.alone.run(program, "--plain"), alone)
        with self.subTest(run="attached"):
            Table.note(program, same="no")
            self.check_attached(program, alone)
        if program.expected.rows is not None:
            with self.subTest(run="memory is short"):
                Table.note(program, short="wrong")
                self.check_shortage(program, alone)

    def same(self, one, two):
        """All of it, bit for bit: weights, random numbers, what the program saw, and what it printed."""
        self.assertEqual(one.status, two.status, one.err[-3000:])
        self.assertEqual(differences(two.seen, one.seen)[:12], [])
        self.assertEqual(one.out, two.out)

    def check_attached(self, program, alone):
        expected = program.expected
        outcome = attached(program)
        reasons = [event["reason"] for event in outcome.events("level")]
        Table.note(program, level=level_of(outcome.server), why="; ".join(reason["text"] for reason in reasons))
        self.same(outcome, alone)
        Table.note(program, same="to the bit")
        self.assertEqual(level_of(outcome.server), expected.level)
        self.assertEqual(sorted({reason["code"] for reason in reasons}), sorted(expected.watched))
        self.assertEqual([event for event in outcome.server.of("event") if event["kind"] in ("attach", "oom")], [])
        self.assertEqual(outcome.server.of("bye")[-1]["status"], "finished")
        self.check_records(expected, outcome)

    def check_records(self, expected, outcome):
        """Each step was reported once, with its own loss, rate and examples."""
        records = outcome.server.of("record")
        if expected.level >= 2:
            records = [record for record in records if "takes" in record]
        elif not expected.counts_itself:
            records = list({record["step"]: record for record in reversed(records)}.values())[::-1]
        steps = outcome.result["steps"]
        first = 0 if expected.counts_from_0 else 1
        self.assertEqual([record["step"] for record in records],
                         list(range(first, first + steps))[expected.updates - 1 :: expected.updates])
        seen = outcome.result["seen"]
        for name, of_record in (("loss", "loss"), ("rate", "learning_rate"), ("examples", "examples_seen")):
            if name in seen and of_record in records[0] and name not in expected.not_told:
                told = [record[of_record] for record in records]
                self.assertEqual(differences(seen[name], told, path=name)[:5], [])
        if expected.level >= 2 and "examples" in seen and "takes" not in expected.not_told:
            taken = [sum(record["takes"]) for record in records]
            self.assertEqual(taken, [b - a for a, b in zip([0, *seen["examples"]], seen["examples"])], "takes")

    def check_shortage(self, program, alone):
        expected = program.expected
        options = ["--rows", str(expected.rows), "--where", expected.where]
        outcome = attached(program, *options, welcome={"hold": 1}, answer=lambda record: {})
        shortages = outcome.events("oom")
        last = shortages[-1] if shortages else {}
        found = last.get("outcome", "not reported")
        code, text = (last.get("reason") or {}).get("code"), (last.get("reason") or {}).get("text", "")
        what = f"{outcome.err[-1500:]}\n{json.dumps(shortages)[:1500]}"
        Table.note(program, short=f"{found}{': ' + text if text else ''}")
        if expected.codes:
            self.assertEqual((found, outcome.status), ("not-survived", 1), what)
            self.assertIn(code, expected.codes, what)
            self.assertIn("DefaultCPUAllocator", outcome.err)
            self.assertEqual(outcome.server.of("bye")[-1]["status"], "failed")
            return
        self.assertEqual((found, outcome.status), ("split", 0), what)
        self.assertGreater(outcome.result["errors"], 0)
        self.assertEqual(outcome.result["steps"], alone.result["steps"])
        if not expected.exact:
            Table.note(program, short="split; other random numbers or statistics")
            return
        error = relative(outcome.result["numbers"], alone.result["numbers"])
        Table.note(program, short=f"split, weights differ by {error:.1g}")
        self.assertLessEqual(error, SAME)
        warnings = [both.result["seen"].pop("warnings", None) for both in (alone, outcome)]
        for both in (outcome, alone):
            for name in ("weights", "errors", "random"):
                del both.result[name]
        with self.subTest(run="memory is short: warnings"):
            self.assertEqual(*warnings)
        self.assertEqual(differences(alone.seen, outcome.seen, ALIKE)[:12], [])


def _test_of(program):
    def test(self):
        self.check(program)

    test.__doc__ = program.about
    return test


for _number, _program in enumerate(ALL.values()):
    if ALL_OF_THEM or _number % 2 == 0:
        setattr(Programs, f"test_{_program.name}", _test_of(_program))


if __name__ == "__main__":
    writes = "--results" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--results"]
    tests = unittest.main(exit=False)
    if writes:
        Table.write()
    sys.exit(not tests.result.wasSuccessful())
