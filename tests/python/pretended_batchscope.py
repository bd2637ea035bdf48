"""A BatchScope that only pretends: the socket's other side, for tests of the client."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from typing import Any, Callable

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENT = os.path.join(SOURCE, "resources", "python")
TESTS = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 300.0  # seconds until a test gives up

Message = dict[str, Any]


def fits(count: int) -> bool:
    """Whether this process may have so many bytes more."""
    try:
        return len(bytearray(count)) == count
    except MemoryError:
        return False


class Server:
    """Listens in a folder of its own and keeps every message. `answer(record)` returns the fields of a `next`."""

    def __init__(self, path: str | None = None, welcome: Message | None = None,
                 answer: Callable[[Message], Message] | None = None, stores: bool = True) -> None:
        self.path = path or os.path.join(self._own_folder(), "socket")
        self.messages: list[Message] = []
        self.lines: list[str] = []
        self.welcome = {"type": "welcome", "protocol": 1, "run": "r", "number": 1, "batch": None, "accumulate": None,
                        "limit_bytes": None, "on_oom": "shrink", "hold": 0, **(welcome or {})}
        self.answer = answer
        self.stores = stores
        self._changed = threading.Condition()
        self._connections: list[socket.socket] = []
        self._leader: socket.socket | None = None  # that of rank 0
        self._standing = threading.Event()
        self._standing.set()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self._listener.bind(self.path)
        self._listener.listen(8)
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @staticmethod
    def _own_folder() -> str:
        """Outlives the server, whose address another one may take over."""
        folder = tempfile.mkdtemp(prefix="batchscope-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        buffer = b""
        while True:
            self._standing.wait()
            try:
                data = connection.recv(1 << 16)
            except ConnectionResetError:  # a program that was killed had not read everything; its lines are still there
                continue
            except OSError:
                return
            if not data:
                return
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                self._take(connection, line.decode())

    def _take(self, connection: socket.socket, line: str) -> None:
        message = json.loads(line, parse_constant=lambda name: 1 / 0)
        with self._changed:
            self.lines.append(line)
            self.messages.append(message)
            self._changed.notify_all()
        if message["type"] == "hello":
            if message["rank"] == 0:
                self._leader = connection
            self._send(connection, self.welcome)
        if message.get("ask") and self.answer is not None:
            self._send(connection, {"type": "next", "step": message["step"] + 1, "hold": 1, **self.answer(message)})
        if self.stores and "seq" in message:
            self._send(connection, {"type": "stored", "seq": message["seq"]})

    def _send(self, connection: socket.socket, message: Message) -> None:
        with contextlib.suppress(OSError):  # the program has ended
            connection.sendall(json.dumps(message).encode() + b"\n")

    def send(self, **message: Any) -> None:
        """To the program that connected last; of several ranks to the first one."""
        self.wait_for(lambda m: m["type"] == "hello" and m["rank"] == 0)
        self._send(self._leader, message)

    def send_bytes(self, data: bytes) -> None:
        self.wait_for(lambda m: m["type"] == "hello")
        self._connections[-1].sendall(data)

    def stand_still(self) -> None:
        """Reads nothing until go_on(). (A read that waits already takes what comes next.)"""
        self._standing.clear()

    def go_on(self) -> None:
        self._standing.set()

    def kill(self) -> None:
        """Goes away as a killed process does: at once, and with the socket's file left behind."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # ends accept(), too
        self._accepting.join()
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        """The first message that is wanted."""
        with self._changed:
            found = self._changed.wait_for(lambda: any(map(wanted, self.messages)), PATIENCE)
            if not found:
                raise AssertionError(f"no such message among {[m['type'] for m in self.messages]}")
            return next(filter(wanted, self.messages))

    def of(self, kind: str) -> list[Message]:
        with self._changed:
            return [message for message in self.messages if message["type"] == kind]

    def events(self, kind: str) -> list[Message]:
        return [message for message in self.of("event") if message["kind"] == kind]

    def environment(self, spill: str | None = None) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("BATCHSCOPE_S")}
        environment.update(BATCHSCOPE_SOCKET=self.path, BATCHSCOPE_RUN="r", PYTHONPATH=f"{CLIENT}:{TESTS}",
                           PYTHONUNBUFFERED="1")
        if spill is not None:
            environment["BATCHSCOPE_SPILL"] = spill
        return environment


def spilled(path: str) -> list[Message]:
    """The messages in a spill file."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


class Program:
    """A Python program, started with the client in its path."""

    def __init__(self, code: str, environment: dict[str, str], python: str = sys.executable) -> None:
        self._process = subprocess.Popen([python, "-c", textwrap.dedent(code)], env=environment, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self, line: str = "") -> None:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def line(self) -> str:
        return self._process.stdout.readline().rstrip("\n")

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._close_pipes()

    def close(self) -> int:
        """Ends its input; returns its exit code."""
        self._process.stdin.close()
        return self.exit_code

    def _close_pipes(self) -> None:
        self._process.wait(timeout=PATIENCE)
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def end(self) -> str:
        """Waits for its end and returns its output; fails unless it exits with 0."""
        self._process.stdin.close()
        output = self._process.stdout.read()
        self._close_pipes()
        if self._process.returncode != 0:
            raise AssertionError(f"exit {self._process.returncode}:\n{output}")
        return output

    @property
    def exit_code(self) -> int:
        code = self._process.wait(timeout=PATIENCE)
        self._close_pipes()
        return code
