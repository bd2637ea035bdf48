"""Checks BatchScope on a GPU: `make test-gpu`. Each check is a process of its own with a time limit; the next one runs
whatever became of it. Writes gpu-report.json and gpu-report.txt into --out, to be read or sent in.

usage: report.py [--device cuda:N] [--python FILE] [--out DIR] [--only NAME,...] [--long] [--pretended]
"""

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import traceback

import client
import facts
import memory
import results
from place import PRETENDED, ROOT, TESTS, Failed, NotRun, Place, sees_gpu


@dataclasses.dataclass(frozen=True)
class Check:
    """What is checked, within how many seconds, and whether a pretended GPU can show it."""

    title: str
    run: object  # of a Place: figures and problems
    seconds: int = 240
    needs_numbers: bool = False


CHECKS = {
    "card": Check("the card, its driver and a first run", facts.card, 120),
    "opens": Check("the device opens in any order; reasons have their texts", facts.opens, 120),
    "bytes": Check("bytes of context, libraries and first kernels", facts.bytes_before_training, 120, True),
    "tests": Check("the project's own tests that need a GPU", facts.own_tests, 300),
    "pretended": Check("memory of 7 models beside a pretended GPU", memory.pretended_against_real, 420, True),
    "large": Check("memory of GPT-2 124M and of a ResNet beside a pretended GPU", memory.large_against_real, 240, True),
    "programs": Check("memory of programs with torch beside a pretended GPU", client.programs_against_real, 420, True),
    "sizes": Check("sizes found hold in fresh runs, one more does not fit", memory.found_sizes, 420),
    "changing": Check("a schedule between 1 and far more than fits", memory.changing_sizes, 240),
    "bits": Check("the same bits three times, and with checkpointing", results.same_bits, 300, True),
    "resumed": Check("killed and resumed: the same weights", results.resumed, 240, True),
    "parts": Check("gradients of 1 x 64 and 4 x 16", results.parts, 120, True),
    "cpu": Check("20 steps beside the CPU; half precisions learn", results.against_cpu, 240, True),
    "times": Check("milliseconds of a step", results.step_times, 180, True),
    "attached": Check("attaching changes no weights; its time", client.attached, 240, True),
    "searched": Check("sizes found for an unchanged program hold", client.searched, 420, True),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--python", default="", help="a Python with torch for this GPU")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "gpu-report"))
    parser.add_argument("--only", default="", help=f"some of {', '.join(CHECKS)}")
    parser.add_argument("--cli", default=os.path.join(ROOT, "build", "bin", "batchscope-cli"))
    parser.add_argument("--tests", default=TESTS, help="folder of the built tests")
    parser.add_argument("--pretended-libraries", default=PRETENDED)
    parser.add_argument("--pretended", action="store_true", help="the device is pretended: without numbers")
    parser.add_argument("--long", action="store_true", help="more models and programs, in about 20 minutes")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(check, place):
    """A check's entry of the report."""
    begun = time.monotonic()
    try:
        figures, problems = check.run(place)
        entry = {"outcome": "failed" if problems else "held", "problems": problems, "figures": figures}
    except NotRun as why:
        entry = {"outcome": "not run", "problems": [str(why)], "figures": {}}
    except Failed as why:
        entry = {"outcome": "failed", "problems": [str(why)], "figures": {}}
    except Exception:
        entry = {"outcome": "failed", "problems": [traceback.format_exc()], "figures": {}}
    return {**entry, "seconds": round(time.monotonic() - begun, 1)}


def in_a_process(name, limit):
    """The entry of a check that is made in a process of its own, which is ended with all that it started."""
    begun = time.monotonic()
    with subprocess.Popen([sys.executable, *sys.argv, "--one", name], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            printed, _ = process.communicate(timeout=limit)
            return json.loads(printed.splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
            why = f"no end within {limit} s" if isinstance(error, subprocess.TimeoutExpired) else "it broke off"
            seconds = round(time.monotonic() - begun, 1)
            return {"outcome": "failed", "problems": [why], "figures": {}, "seconds": seconds}
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def page(report):
    """The report for people."""
    lines = []
    for name, entry in report["checks"].items():
        lines.append(f"{entry['outcome']:8} {entry['seconds']:6.1f} s  {name}: {CHECKS[name].title}")
        lines += [f"    {line}" for problem in entry["problems"] for line in problem.splitlines()]
    return "\n".join(lines) + "\n"


def main():
    asked = arguments()
    place = Place(asked.cli, asked.python, asked.device, asked.tests, asked.pretended_libraries, asked.pretended,
                  asked.long)
    if asked.one:
        print(json.dumps(make(CHECKS[asked.one], place)))
        return 0
    names = [name for name in asked.only.split(",") if name] or list(CHECKS)
    if unknown := [name for name in names if name not in CHECKS]:
        sys.exit(f"report.py: --only: {', '.join(unknown)} is not accepted; accepted: {', '.join(CHECKS)}")
    if asked.python and not sees_gpu(asked.python, asked.device):
        print(f"{asked.python} has no torch that sees {asked.device}: checks of programs in Python are not run")
        sys.argv += ["--python", ""]
    os.makedirs(asked.out, exist_ok=True)
    report = {"version": 1, "device": asked.device, "pretended": asked.pretended, "checks": {}}
    for name in names:
        check = CHECKS[name]
        if asked.pretended and check.needs_numbers:
            continue
        report["checks"][name] = in_a_process(name, check.seconds * (3 if asked.long else 1))
        text = page({"checks": {name: report["checks"][name]}})
        print(text, end="", flush=True)
        with open(os.path.join(asked.out, "gpu-report.json"), "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
        with open(os.path.join(asked.out, "gpu-report.txt"), "w", encoding="utf-8") as file:
            file.write(page(report))
    return 1 if any(entry["outcome"] == "failed" for entry in report["checks"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
