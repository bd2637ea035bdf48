"""`find` on a busy machine: which sizes it recommends, and how fast those are when the machine is quiet.

For each case the throughput of all sizes is measured twice on the quiet machine, and the better one counts. Then `find`
runs beside one busy process for each processor. Printed is the throughput of each recommended size as a share of the
best one, both on the quiet machine, and how often it recommended none.

usage: busy_finder.py [--cli FILE] [--tries N] [--python FILE] [CASE ...]
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUSY = "x = 1\nwhile True:\n    x = (x * 1103515245 + 12345) & 0x7fffffff\n"


def cases(python):
    return {
        "mlp": ["--model", "mlp"],
        "cnn": ["--model", "cnn", "--max-batch", "1024"],
        "program": ["--memory-budget", "1GB", "--attach", "auto", "--", python, str(ROOT / "examples/plain_loop.py")],
    }


def find(cli, database, options):
    command = [cli, "--db", database, "--json", "find", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


@contextlib.contextmanager
def busy_machine():
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", default=str(ROOT / "build/bin/batchscope-cli"))
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--python", default=sys.executable, help="a Python with torch, for the case program")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    every = cases(arguments.python)
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "searches.db")
        for name in arguments.cases or every:
            rates = {}
            for _ in range(2):
                for timing in find(arguments.cli, database, every[name])["timings"]:
                    rate = timing["examples_per_second"]
                    rates[timing["batch"]] = max(rate, rates.get(timing["batch"], 0))
            best = max(rates.values())
            with busy_machine():
                found = [find(arguments.cli, database, every[name])["recommended"] for _ in range(arguments.tries)]
            named = [size for size in found if size]
            shares = [rates[size] / best for size in named]
            print(f"{name}: best {best:,.0f} examples/s; recommended {found}; "
                  f"{', '.join(f'{100 * share:.0f} %' for share in shares)} of the best; "
                  f"{sum(share < 0.95 for share in shares)} below 95 %, {len(found) - len(named)} times none",
                  flush=True)


if __name__ == "__main__":
    main()
