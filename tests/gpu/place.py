"""Where the checks run: the programs, the device, and what they share for starting processes."""

import dataclasses
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TESTS = os.path.join(ROOT, "build", "release", "tests", "bin")
PRETENDED = os.path.join(ROOT, "build", "lib", "pretended-gpu")


class NotRun(Exception):
    """A check that cannot be made here; the text says why."""


class Failed(Exception):
    """What a check needs did not work; the text says what."""


@dataclasses.dataclass(frozen=True)
class Card:
    """What a pretended GPU takes over of a real one."""

    name: str
    memory_bytes: int
    capability: int  # 10 * major + minor
    multiprocessors: int


@dataclasses.dataclass(frozen=True)
class Place:
    """The programs and the GPU that are checked."""

    cli: str
    python: str  # with torch for this GPU; empty: there is none
    device: str = "cuda:0"
    tests: str = TESTS  # folder of the programs of the tests
    pretended_libraries: str = PRETENDED
    pretended: bool = False  # the device itself is a pretended one
    long: bool = False  # more of everything that takes long

    @property
    def index(self):
        return int(self.device.split(":")[1])


def on_pretended(place, card, python=False):
    """Environment of a process that sees this card pretended. A Python brings its own libraries of CUDA."""
    folder = place.pretended_libraries
    library = "libbatchscope_pretended_gpu.so"
    if not os.path.exists(os.path.join(folder, library)):
        raise NotRun(f"{library} is not there: this torch has no CUDA part")
    searched = [folder, *([] if python else [f"{folder}/cuda"]), os.environ.get("LD_LIBRARY_PATH", "")]
    return {
        "LD_LIBRARY_PATH": ":".join(path for path in searched if path),
        "LD_PRELOAD": library,
        "BATCHSCOPE_PRETENDED_GPU": f"name={card.name}\nmemory={card.memory_bytes}\n"
                                    f"capability={card.capability}\nmultiprocessors={card.multiprocessors}\n"
                                    f"count={place.index + 1}",
    }


def start(command, environment=None, limit=300):
    """The finished process: status, what it printed. Throws Failed after `limit` seconds."""
    try:
        return subprocess.run(command, env={**os.environ, **(environment or {})}, text=True, capture_output=True,
                              timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"no end after {limit} s: {' '.join(command)[-300:]}") from error


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing printed"


class Runs:
    """The command line with a run database of its own, in a folder that goes with the object."""

    def __init__(self, place, environment=None):
        self._place = place
        self._environment = environment
        self._folder = tempfile.TemporaryDirectory(prefix="batchscope-gpu-")

    def file(self, name):
        return os.path.join(self._folder.name, name)

    def command(self, *arguments):
        verb, *rest = arguments
        return [self._place.cli, verb, "--db", self.file("runs.db"), *rest]

    def start(self, *arguments, limit=300):
        return start(self.command(*arguments), self._environment, limit)

    def json(self, *arguments, limit=300):
        """The document that a verb prints. Throws Failed with the program's last line."""
        verb, *rest = arguments
        done = self.start(verb, "--json", *rest, limit=limit)  # not behind a command of the user's own
        if done.returncode:
            raise Failed(f"status {done.returncode}: {last_line(done.stderr)} ({' '.join(arguments)[-300:]})")
        return json.loads(done.stdout)

    def train(self, model, data, *more, limit=300):
        """The summary of a run on the device, with its series of values."""
        summary = self.json("train", "--device", self._place.device, "--model", model, "--data", data, *more,
                            limit=limit)
        return {**summary, "series": self.series(summary["run"])}

    def series(self, run):
        """Each series' values, in the order of steps."""
        file = self.file(f"run-{run}.json")
        done = self.start("export", str(run), "--format", "json", "--force", "-o", file)
        if done.returncode:
            raise Failed(last_line(done.stderr))
        with open(file, encoding="utf-8") as opened:
            series = json.load(opened)["runs"][0]["series"]
        return {name: [value for _, value in points] for name, points in series.items()}


def torch_program(place, code_file, *arguments, environment=None, limit=300):
    """What a program with the place's Python prints as JSON in its last line."""
    if not place.python:
        raise NotRun("no Python with torch for this GPU was given (--python)")
    client = os.path.join(ROOT, "resources", "python")
    done = start([place.python, code_file, *arguments], {"PYTHONPATH": client, **(environment or {})}, limit)
    if done.returncode:
        raise Failed(f"status {done.returncode}: {last_line(done.stderr)} ({' '.join(arguments)})")
    return json.loads(last_line(done.stdout))


def sees_gpu(python, device):
    """Whether this Python has torch, and torch the device."""
    code = f"import torch; torch.zeros(1, device={device!r})"
    try:
        return start([python, "-c", code], limit=120).returncode == 0
    except (OSError, Failed):
        return False
