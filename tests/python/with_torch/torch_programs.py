"""What the tests with torch share: a run with a pretended BatchScope in the same process, errors at a chosen moment."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(SOURCE, "resources", "python")]

import torch

import batchscope
from pretended_batchscope import PATIENCE, Server

torch.set_num_threads(1)
CLI = os.path.join(SOURCE, "build", "bin", "batchscope-cli")
HOST_ERROR = ("[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
              "allocate 1000 bytes. Error code 12 (Cannot allocate memory)")


LONG = bool(os.environ.get("BATCHSCOPE_TEST_LONG"))
in_soak = unittest.skipUnless(LONG, "a part of `make soak`")


class WithRun(unittest.TestCase):
    """Tests whose program runs in the test's own process."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="batchscope-")
        self.addCleanup(self.folder.cleanup)

    def connect(self, schedule: Any = None, **options: Any) -> Any:
        """A server, and the Run that start() and attach() use from now on."""
        server = Server(**options)
        batchscope.run._current = batchscope.Run(batchscope.wire.Link(server.path, None), None, {}, schedule)
        self.addCleanup(server.kill)
        self.addCleanup(batchscope.run._current.finish)
        return server, batchscope.run._current

    def closed(self, server: Server) -> Server:
        """The same server after everything has arrived."""
        batchscope.run._current.finish()
        return server


def require_cli() -> None:
    if not os.path.exists(CLI):
        raise FileNotFoundError(f"no {CLI}: run make build")


class WithCli(unittest.TestCase):
    """Tests whose programs run under the real batchscope-cli, with a database of their own."""

    def setUp(self) -> None:
        require_cli()
        folder = tempfile.TemporaryDirectory(prefix="batchscope-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BATCHSCOPE_")}
        self.environment.update(XDG_RUNTIME_DIR=self.folder, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive")

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def command(self, verb: str, *arguments: str) -> list[str]:
        return [CLI, verb, "--db", self.path("runs.db"), "--json", *arguments]

    def cli(self, verb: str, *arguments: str, code: int = 0) -> Any:
        """What a verb answers, after its end with this exit status."""
        done = subprocess.run(self.command(verb, *arguments), env=self.environment, text=True, capture_output=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return json.loads(done.stdout)


def digest(model: Any) -> str:
    """The same for models with the same bits."""
    state = hashlib.sha256()
    for value in model.state_dict().values():
        state.update(value.contiguous().numpy().tobytes())
    return state.hexdigest()


def gradients(model: Any) -> list[Any]:
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def difference(one: list[Any], two: list[Any]) -> float:
    """Largest relative difference of the gradients of a parameter, by norm of all gradients."""
    assert len(one) == len(two) > 0
    whole = torch.cat([g.flatten() for g in two]).double()
    return float((torch.cat([g.flatten() for g in one]).double() - whole).norm() / whole.norm())


class _Fails(torch.autograd.Function):
    """Passes values on, and fails on the way there or back if the batch is larger than a limit."""

    @staticmethod
    def forward(context: Any, value: Any, limit: dict[str, Any]) -> Any:
        context.limit, context.rows = limit, value.shape[0]
        if limit["where"] == "forward" and value.shape[0] > limit["rows"]:
            limit["errors"] += 1
            raise RuntimeError(HOST_ERROR)
        return value.clone()

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        if context.limit["where"] == "backward" and context.rows > context.limit["rows"]:
            context.limit["errors"] += 1
            raise RuntimeError(HOST_ERROR)
        return gradient, None


@contextlib.contextmanager
def failing(module: Any, where: str, rows: int) -> Iterator[dict[str, Any]]:
    """Within it, `module` runs out of memory with more than `rows` rows."""
    limit = {"where": where, "rows": rows, "errors": 0}

    def hook(module: Any, arguments: Any, output: Any) -> Any:
        if not torch.is_grad_enabled():
            return output
        first = output if torch.is_tensor(output) else output[0]
        failed = _Fails.apply(first, limit)
        return failed if torch.is_tensor(output) else (failed, *output[1:])

    handle = module.register_forward_hook(hook)
    try:
        yield limit
    finally:
        handle.remove()
