# SPDX-License-Identifier: MIT
"""Messages, one JSON object a line, and the connection that carries them."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import socket
import time
import weakref
from collections import deque
from typing import Any

VERSION = "1.0.0"
PROTOCOL = 1
LONGEST_LINE = 16 << 20  # bytes
WAIT_FOR_ANSWER = 2.0  # seconds
RECONNECT_EVERY = 5.0  # seconds


Message = dict[str, Any]


def plain(value: Any) -> Any:
    """What json cannot write itself: the number in a tensor or NumPy scalar, else the text."""
    item = getattr(value, "item", None)
    if callable(item):
        with contextlib.suppress(Exception):
            return finite(item())
    return str(value)


def finite(value: Any) -> Any:
    """The same value with NaN and infinities as strings, which JSON has no numbers for."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=plain)


def encode(message: Message) -> bytes:
    try:
        text = _encoder.encode(message)
    except (ValueError, TypeError):  # not finite, or keys that are no texts
        text = _encoder.encode(finite(message))
    return text.encode("utf-8", "replace") + b"\n"


def integer(value: Any, least: int = 0) -> int | None:
    """The value if it is an integer of at least `least` that fits into 64 bits, else None."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63:
        return value
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Connection
# ---------------------------------------------------------------------------------------------------------------------


class Spill:
    """The file that takes lines which BatchScope could not take. Every line in it is whole."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.dropping = False  # what is of a rank that reports nothing of its own
        self.lines = 0  # written to it by this process
        self.lost = 0  # neither sent nor written
        self._file: int | None = None

    def write(self, line: bytes) -> None:
        if self.dropping:
            return
        try:
            if self._file is None:
                if not self.path:
                    raise OSError("no BATCHSCOPE_SPILL")
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._file = os.open(self.path, flags, 0o600)
            size = os.fstat(self._file).st_size
            if os.write(self._file, line) != len(line):
                os.ftruncate(self._file, size)  # the disk is full: no half line may stay
                raise OSError("no space left")
            self.lines += 1
        except OSError:
            self.lost += 1

    def close(self) -> None:
        """BatchScope may take the file away now; the next write makes a new one."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


class Link:
    """The socket, and the lines that BatchScope has not confirmed as stored.

    Never blocks except in wait(), never raises for a fault of the connection. Lines that were sent stay in memory until
    BatchScope has stored them; when the connection is lost they go to the spill file, and so do all later ones until
    it is there again. Messages are numbered, so what arrives twice is recognized.
    """

    def __init__(self, path: str | None, spill: str | None, most_bytes: int = 64 << 20) -> None:
        self.path = path
        self.spill = Spill(spill)
        self.most_bytes = most_bytes
        self.seq = 0
        self.stored = 0  # the last message that BatchScope has confirmed
        self.connections = 0
        self.silent = path is None  # and in a forked process, and after BatchScope refused this program
        _be_silent_in_forks(weakref.ref(self))
        self._socket: socket.socket | None = None
        self._next_try = 0.0
        self._unsent: deque[tuple[int, bytes]] = deque()
        self._sent: deque[tuple[int, bytes]] = deque()
        self._bytes = 0  # of both
        self._offset = 0  # bytes of the first unsent line that are sent
        self._received = bytearray()
        self._discarding = False  # the rest of a line that was too long
        self._in_file = 0  # the last message that went to the file
        self.malformed: str | None = None  # the first line received that is no message

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def connect(self) -> bool:
        """Tries to connect if that is due. True if there is a new connection, which needs a hello."""
        if self.path is None or self.silent or self._socket is not None or time.monotonic() < self._next_try:
            return False
        self._next_try = time.monotonic() + RECONNECT_EVERY
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError:
            return False
        try:
            connection.setblocking(False)
            connection.connect(self.path)
        except (OSError, ValueError):  # nobody there, or a path that is too long
            connection.close()
            return False
        self.spill.close()
        self._socket = connection
        self.connections += 1
        return True

    def post(self, message: Message, numbered: bool = True) -> None:
        """Sends a message, now or later; one without a number is dropped if nobody is there."""
        if self.silent:
            return
        if numbered:
            self.seq += 1
            message["seq"] = self.seq
        line = encode(message)
        if len(line) > LONGEST_LINE:
            self.spill.lost += 1
        elif self._socket is None:
            if numbered:
                self._put_aside(self.seq, line)
        else:
            self._make_room(len(line))
            self._unsent.append((message["seq"] if numbered else 0, line))
            self._bytes += len(line)
            self.flush()

    def _put_aside(self, number: int, line: bytes) -> None:
        """Into the file, which has the lines in their order, each once."""
        if number > max(self.stored, self._in_file):
            self._in_file = number
            self.spill.write(line)

    def _make_room(self, size: int) -> None:
        """Moves the oldest lines to the file while memory is short; BatchScope looks there when it misses one."""
        kept: list[tuple[int, bytes]] = []
        while self._bytes + size > self.most_bytes and (self._sent or self._unsent):
            sent = bool(self._sent)
            number, line = (self._sent if sent else self._unsent).popleft()
            self._put_aside(number, line)
            if not sent and (
                number == 0 or (self._offset > 0 and not kept)
            ):  # a line that was begun is sent to its end
                kept.append((number, line))
            else:
                self._bytes -= len(line)
        self._unsent.extendleft(reversed(kept))

    def flush(self) -> None:
        """Sends what the socket takes without waiting."""
        while self._socket is not None and self._unsent:
            number, line = self._unsent[0]
            try:
                self._offset += self._socket.send(memoryview(line)[self._offset :])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self._lose()
                return
            if self._offset < len(line):
                continue
            self._unsent.popleft()
            self._offset = 0
            if number:
                self._sent.append((number, line))
            else:
                self._bytes -= len(line)

    def receive(self) -> list[Message]:
        """All messages that have arrived; does not wait. Lines that are no messages are skipped."""
        if self._socket is None or self.silent:
            return []
        lost = False
        while True:
            try:
                data = self._socket.recv(65536)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                data = b""
            if not data:
                lost = True
                break
            self._received += data
            if len(data) < 65536:
                break
        messages = self._messages() if self._received else []
        if lost:
            self._lose()
        return messages

    def _messages(self) -> list[Message]:
        messages: list[Message] = []
        *lines, rest = self._received.split(b"\n")
        for line in lines:
            if self._discarding:
                self._discarding = False
                continue
            message = self._parse(bytes(line))
            if message is None:
                continue
            if message["type"] == "stored":
                self._forget(integer(message.get("seq")) or 0)
            else:
                messages.append(message)
        if len(rest) > LONGEST_LINE:
            self._discarding = True
            rest = bytearray()
        self._received = bytearray(rest)
        return messages

    def _parse(self, line: bytes) -> Message | None:
        if len(line) <= LONGEST_LINE:
            with contextlib.suppress(ValueError, RecursionError):
                message = json.loads(line)
                if isinstance(message, dict) and isinstance(message.get("type"), str):
                    return message
        self.complain(line.decode("utf-8", "replace"))
        return None

    def complain(self, line: str) -> None:
        """Keeps the first line that could not be understood; the run reports it once."""
        if self.malformed is None:
            self.malformed = line[:200]

    def _forget(self, seq: int) -> None:
        self.stored = max(self.stored, min(seq, self.seq))
        while self._sent and self._sent[0][0] <= self.stored:
            self._bytes -= len(self._sent.popleft()[1])

    def _lose(self) -> None:
        """The connection is gone: what is not stored goes to the file."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._next_try = time.monotonic() + RECONNECT_EVERY
        for lines in (self._sent, self._unsent):
            for number, line in lines:
                self._put_aside(number, line)
            lines.clear()
        self._bytes = self._offset = 0
        self._received.clear()
        self._discarding = False

    def wait(self, seconds: float | None) -> None:
        """Waits until something arrives, the connection is lost, or the time is over."""
        if self._socket is None or self.silent:
            return
        self.flush()
        end = None if seconds is None else time.monotonic() + seconds
        while self._socket is not None:
            poll = select.poll()
            poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = poll.poll(None if left is None else left * 1000)
            if not ready or any(events & ~select.POLLOUT for _, events in ready):
                return
            self.flush()

    def refuse(self) -> None:
        """BatchScope does not want this program: from now on silent, and nothing goes to the file."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self.silent = True
        self._sent.clear()
        self._unsent.clear()

    def close(self, seconds: float) -> None:
        """Waits until everything is stored, at most `seconds`; then leaves the rest in the file."""
        if self.silent:
            return
        end = time.monotonic() + seconds
        while self._socket is not None and self.stored < self.seq and time.monotonic() < end:
            self.wait(end - time.monotonic())
            self.receive()
        self._lose()
        self.spill.close()
        self.silent = True


def _be_silent_in_forks(link: weakref.ref[Link]) -> None:
    """A look at the process's id in each call would take longer than all else that most of them do."""

    def be_silent() -> None:
        found = link()
        if found is not None:
            found.silent = True

    os.register_at_fork(after_in_child=be_silent)
