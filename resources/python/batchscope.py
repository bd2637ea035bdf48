"""Reports a training program to BatchScope, and lets BatchScope steer it.

    run = batchscope.start()
    loader = run.loader(DataLoader(data, batch_size=32, shuffle=True), epochs=10)
    for epoch in range(10):
        for batch in loader:                               # all examples of one optimizer step
            loss = run.backward(batch, lambda x, y: criterion(model(x), y), model)
            optimizer.step()
            run.step(optimizer, loss=loss)

One file without dependencies: torch, transformers and lightning are imported only by the functions that need them. No
threads, no signal handlers, no output. Without BATCHSCOPE_SOCKET in the environment nothing is sent and the loop above
trains as it would with a plain DataLoader. A fault of the connection never raises an exception: what cannot be sent is
appended to the file BATCHSCOPE_SPILL. Processes forked by this one are silent.

Of several ranks (DistributedDataParallel) the first one reports and decides; the others hear of it from that one.

The parts of this file: messages, connection, memory, ranks, run, loader, backward, transformers, lightning, trace,
estimate.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import copy
import ctypes
import gc
import json
import math
import os
import random
import re
import select
import socket
import sys
import time
import traceback
import weakref
from collections import deque
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

__version__ = "1.0.0"
__all__ = [
    "Loader", "Run", "Stop", "Window", "attach", "estimate", "is_out_of_memory", "start", "trace",
]

PROTOCOL = 1
LONGEST_LINE = 16 << 20  # bytes
WAIT_FOR_ANSWER = 2.0  # seconds
RECONNECT_EVERY = 5.0  # seconds
CHUNK = 16  # examples that a loader's worker fetches at once
MOST_RETRIES = 3  # of a step for which libraries take memory beside it

Message = Dict[str, Any]


# ---------------------------------------------------------------------------------------------------------------------
# Messages: one JSON object a line
# ---------------------------------------------------------------------------------------------------------------------

def _plain(value: Any) -> Any:
    """What json cannot write itself: the number in a tensor or NumPy scalar, else the text."""
    item = getattr(value, "item", None)
    if callable(item):
        with contextlib.suppress(Exception):
            return _finite(item())
    return str(value)


def _finite(value: Any) -> Any:
    """The same value with NaN and infinities as strings, which JSON has no numbers for."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain)


def _encode(message: Message) -> bytes:
    try:
        text = _encoder.encode(message)
    except (ValueError, TypeError):  # not finite, or keys that are no texts
        text = _encoder.encode(_finite(message))
    return text.encode("utf-8", "replace") + b"\n"


def _integer(value: Any, least: int = 0) -> Optional[int]:
    """The value if it is an integer of at least `least` that fits into 64 bits, else None."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63:
        return value
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Connection
# ---------------------------------------------------------------------------------------------------------------------

class _Spill:
    """The file that takes lines which BatchScope could not take. Every line in it is whole."""

    def __init__(self, path: Optional[str]) -> None:
        self.path = path
        self.dropping = False  # what is of a rank that reports nothing of its own
        self.lines = 0  # written to it by this process
        self.lost = 0  # neither sent nor written
        self._file: Optional[int] = None

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


class _Link:
    """The socket, and the lines that BatchScope has not confirmed as stored.

    Never blocks except in wait(), never raises for a fault of the connection. Lines that were sent stay in memory until
    BatchScope has stored them; when the connection is lost they go to the spill file, and so do all later ones until
    it is there again. Messages are numbered, so what arrives twice is recognized.
    """

    def __init__(self, path: Optional[str], spill: Optional[str], most_bytes: int = 64 << 20) -> None:
        self.path = path
        self.spill = _Spill(spill)
        self.most_bytes = most_bytes
        self.seq = 0
        self.stored = 0  # the last message that BatchScope has confirmed
        self.connections = 0
        self._pid = os.getpid()
        self._closed = path is None
        self._socket: Optional[socket.socket] = None
        self._next_try = 0.0
        self._unsent: deque[Tuple[int, bytes]] = deque()
        self._sent: deque[Tuple[int, bytes]] = deque()
        self._bytes = 0  # of both
        self._offset = 0  # bytes of the first unsent line that are sent
        self._received = bytearray()
        self._discarding = False  # the rest of a line that was too long
        self._in_file = 0  # the last message that went to the file
        self.malformed: Optional[str] = None  # the first line received that is no message

    @property
    def silent(self) -> bool:
        """True in a forked process, and after BatchScope refused this program."""
        return self._closed or os.getpid() != self._pid

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def connect(self) -> bool:
        """Tries to connect if that is due. True if there is a new connection, which needs a hello."""
        if self.silent or self._socket is not None or time.monotonic() < self._next_try:
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
        line = _encode(message)
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
        kept: List[Tuple[int, bytes]] = []
        while self._bytes + size > self.most_bytes and (self._sent or self._unsent):
            sent = bool(self._sent)
            number, line = (self._sent if sent else self._unsent).popleft()
            self._put_aside(number, line)
            if not sent and (number == 0 or (self._offset > 0 and not kept)):  # a line that was begun is sent to its end
                kept.append((number, line))
            else:
                self._bytes -= len(line)
        self._unsent.extendleft(reversed(kept))

    def flush(self) -> None:
        """Sends what the socket takes without waiting."""
        while self._socket is not None and self._unsent:
            number, line = self._unsent[0]
            try:
                self._offset += self._socket.send(memoryview(line)[self._offset:])
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

    def receive(self) -> List[Message]:
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

    def _messages(self) -> List[Message]:
        messages: List[Message] = []
        *lines, rest = self._received.split(b"\n")
        for line in lines:
            if self._discarding:
                self._discarding = False
                continue
            message = self._parse(bytes(line))
            if message is None:
                continue
            if message["type"] == "stored":
                self._forget(_integer(message.get("seq")) or 0)
            else:
                messages.append(message)
        if len(rest) > LONGEST_LINE:
            self._discarding = True
            rest = bytearray()
        self._received = bytearray(rest)
        return messages

    def _parse(self, line: bytes) -> Optional[Message]:
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

    def wait(self, seconds: Optional[float]) -> None:
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
        self._closed = True
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
        self._closed = True


# ---------------------------------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------------------------------

_OUT_OF_MEMORY = re.compile(
    r"out of memory|CUBLAS_STATUS_ALLOC_FAILED|NVML_SUCCESS == r INTERNAL ASSERT"
    r"|Unable to find a valid cuDNN algorithm|can't allocate memory|could not create a primitive"
    r"|Unable to allocate .* for an array|can't start new thread|Thread creation failed|std::bad_alloc",
    re.IGNORECASE)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception means that a device or the host had no memory left."""
    if isinstance(error, MemoryError) or type(error).__name__ in ("OutOfMemoryError", "_ArrayMemoryError"):
        return True
    return isinstance(error, (RuntimeError, OSError)) and bool(_OUT_OF_MEMORY.search(str(error)))


def _requested_bytes(text: str) -> Optional[int]:
    """What an out-of-memory error says that it asked for."""
    host = re.search(r"you tried to allocate (\d+) bytes", text)
    if host:
        return int(host[1])
    other = re.search(r"(?:Tried|Unable) to allocate ([\d.]+) ([KMGT]?)i?B", text)
    if not other:
        return None
    return int(float(other[1]) * 1024 ** " KMGT".index(other[2] or " "))


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def _c_function(name: str, result: Any) -> Optional[Any]:
    with contextlib.suppress(OSError, AttributeError, TypeError):
        function = getattr(ctypes.CDLL(None), name)
        function.restype = result
        return function
    return None


def _mallinfo() -> Optional[Callable[[], _Mallinfo]]:
    """What glibc says of its heap; none if another allocator has been loaded in its place."""
    info, malloc, free = (_c_function(*function) for function in (
        ("mallinfo2", _Mallinfo), ("malloc", ctypes.c_void_p), ("free", None)))
    if info is None or malloc is None or free is None:
        return None
    size = 65536  # of a block that is neither mapped nor taken from a cache of small ones
    before = info().uordblks
    block = malloc(ctypes.c_size_t(size))
    seen = info().uordblks - before >= size
    free(ctypes.c_void_p(block))
    return info if seen else None


def _own_file(name: str) -> bytes:
    """What the system says about this process; nothing if it has no such file."""
    with contextlib.suppress(OSError):
        with open("/proc/self/" + name, "rb") as file:
            return file.read()
    return b""


class _OwnFile:
    """The same for every step: kept open, as opening it takes longer than reading it."""

    def __init__(self, name: str) -> None:
        self._path = "/proc/self/" + name
        self._file = -1
        self._process = 0

    def read(self) -> bytes:
        for again in (False, True):
            with contextlib.suppress(OSError):
                if again or self._process != os.getpid():  # another process's, or closed with all files by a daemon
                    self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
                    self._process = os.getpid()
                return os.pread(self._file, 8192, 0)
        return b""


def _status_bytes(name: str, status: Optional[bytes] = None) -> int:
    """A size in /proc/self/status; 0 if the system has none."""
    with contextlib.suppress(ValueError, IndexError):
        text = _own_file("status") if status is None else status
        return int(text.split(name.encode() + b":", 1)[1].split(None, 1)[0]) * 1024
    return 0


class _HostMemory:
    """What this process uses beyond what it used when the training began, parameters included; and but for `closed`."""

    def __init__(self, own_bytes: int, closed: Callable[[], int] = lambda: 0) -> None:
        self._closed = closed
        self._mallinfo = _mallinfo()
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._statm = _OwnFile("statm")
        self._status = _OwnFile("status")
        self.begin(own_bytes)

    def begin(self, own_bytes: int) -> None:
        """A training begins, with a model of so many bytes."""
        self._resets = 1  # steps from one reset of the peak to the next
        self._steps = 0
        self._first = 16  # steps at which the peak is read whatever it costs: a search may make no more
        self._base_used = self._used() - own_bytes
        self._base_resident = self._resident() - own_bytes
        self._began = time.monotonic()
        self.start_step()

    def _used(self) -> int:
        if self._mallinfo is None:
            return self._resident()
        info = self._mallinfo()
        return int(info.uordblks + info.hblkhd) - self._closed()

    def _resident(self) -> int:
        with contextlib.suppress(ValueError, IndexError):
            return int(self._statm.read().split(None, 2)[1]) * self._page
        return 0

    def start_step(self) -> None:
        with contextlib.suppress(OSError):
            refs = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)  # at many steps: half of open()'s time
            try:
                os.write(refs, b"5")
            finally:
                os.close(refs)

    def allocated(self) -> int:
        return max(0, self._used() - self._base_used)

    def read(self, peak: bool = False) -> Dict[str, int]:
        """The fields of a record. The peak, since it was last read, for 0.3 % of the time; or if asked for."""
        start = time.monotonic()
        self._steps += 1
        self._first -= 1
        takes_peak = peak or self._first >= 0 or self._steps >= self._resets
        status = self._status.read() if takes_peak else b""
        resident = (_status_bytes("VmRSS", status) if status else self._resident()) - self._base_resident
        fields = {"allocated_bytes": self.allocated(), "reserved_bytes": max(0, resident)}
        if takes_peak:
            fields["peak_bytes"] = max(fields["reserved_bytes"], _status_bytes("VmHWM", status) - self._base_resident)
            self.start_step()
            cost, step = time.monotonic() - start, (start - self._began) / self._steps
            self._resets = max(1, min(1000, math.ceil(cost / max(0.003 * step, 1e-9))))
            self._steps, self._began = 0, time.monotonic()
        return fields


class _CudaMemory:
    """The same from torch's CUDA allocator."""

    def __init__(self, device: Any) -> None:
        import torch
        self._cuda, self._device = torch.cuda, device
        self._cuda.reset_peak_memory_stats(device)

    def allocated(self) -> int:
        return int(self._cuda.memory_allocated(self._device))

    def read(self, peak: bool = True) -> Dict[str, int]:
        del peak  # costs nothing here
        stats = self._cuda.memory_stats(self._device)
        free, total = self._cuda.mem_get_info(self._device)
        self._cuda.reset_peak_memory_stats(self._device)
        return {
            "allocated_bytes": stats.get("allocated_bytes.all.current", 0),
            "reserved_bytes": stats.get("reserved_bytes.all.current", 0),
            "peak_bytes": stats.get("allocated_bytes.all.peak", 0),
            "device_bytes": total - free,
        }


_M_MMAP_THRESHOLD = -3
_MMAP_THRESHOLD = 131072
_SCATTER = 1 << 18  # bytes by which what equal steps need differs from one process to the next


def _return_freed_memory() -> None:
    """Gives back what glibc and torch keep of freed blocks."""
    gc.collect()
    trim = _c_function("malloc_trim", ctypes.c_int)
    if trim is not None:
        trim(ctypes.c_size_t(0))
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        with contextlib.suppress(RuntimeError):
            torch.cuda.empty_cache()


class _Budget:
    """The limit of the memory that training may use.

    On the host it is RLIMIT_DATA: what the process has mapped already, less the training's own bytes, plus the budget.
    Workers that the program forks have the limit it had before.

    `own` tells the bytes that the training holds now, between two steps or after an error; `batch` those of the examples
    that the last step took, which the next one frees.
    """

    def __init__(self, own: Callable[[], int] = lambda: 0, batch: Callable[[], int] = lambda: 0) -> None:
        self.bytes: Optional[int] = None
        self._own_now = own
        self._batch_now = batch
        self._own: Optional[int] = None  # bytes that the training holds between two steps, after the first update
        self._base: Optional[int] = None  # bytes of the host's data that do not count
        self._before: Optional[Tuple[int, int]] = None
        self._device: Any = None
        self._heap = _Heap()
        self._pid = os.getpid()
        self._for_updates: Optional[int] = None  # bytes; None: no limit
        self._updated = False  # whether the optimizer has made an update
        self._probing = False  # sizes are tried, each with the same room
        self._earlier: Optional[Tuple[Optional[int]]] = None  # the limit before one that no step has been made with

    def set(self, limit: Optional[int], device: Any) -> None:
        """Sets, changes or removes (None) the limit. Raises nothing if the system refuses."""
        before, self.bytes = self.bytes, limit
        if not self._updated or limit is None or (self._for_updates is not None and limit > self._for_updates):
            self._for_updates = limit
        if self._updated and limit is not None and (before is None or limit < before):
            self._earlier = self._earlier or (before,)
        else:
            self._earlier = None
        if device is not None and device.type == "cuda":
            self._set_cuda(limit, device)
        else:
            self._set_host(limit)

    def least(self, device: Any) -> int:
        """Bytes that training has now, between two steps: no step can be made with less."""
        if not self._updated:
            return 0
        if device is not None and device.type == "cuda":
            import torch
            return int(torch.cuda.memory_allocated(device))
        return self._own_now()

    def between_steps(self) -> None:
        """Gives each step the same room. What else has come to stay does not count: kernels that were compiled for new
        sizes, buffers of libraries, and what small tensors have left unused in glibc's heap, which large ones cannot
        use. Else a run whose sizes change would have less and less.
        """
        if self.bytes is None or self._before is None or not self._updated or self._probing:
            return
        first = self._own is None
        if first:
            self._own = self._own_now()
        self._make_room(self._own, settle=first or self._heap.is_short())

    def closed_bytes(self) -> int:
        """Bytes of the heap that nobody can use while there is a limit."""
        return self._heap.closed_bytes

    def pause(self) -> Optional[int]:
        """Lifts the limit until resume() or make_room_again(); returns the bytes that count for it now, if it is one of
        the host.
        """
        if self.bytes is None or self._before is None:
            return None
        self._lift()
        return _status_bytes("VmData") - self._base

    def resume(self) -> None:
        if self.bytes is not None:
            self._limit(self.bytes)

    def make_room_again(self) -> bool:
        """Gives back the memory of a step that failed. Whether there is notably more room now than it had: libraries have
        compiled kernels and kept buffers meanwhile, so the error says nothing of the size.
        """
        if self.bytes is None or self._before is None:
            _return_freed_memory()
            return False
        before = self._base
        self._make_room(self._own_now(), settle=True)
        return self._base - before > self.bytes >> 9

    @property
    def counts_libraries(self) -> bool:
        """Whether what libraries keep counts, too: other allocators than glibc's do not give freed memory back, and what
        stays could be either.
        """
        return self._before is not None and not self._heap.known

    def _make_room(self, own: int, settle: bool) -> None:
        if settle:
            self._lift()
            _return_freed_memory()
            self._heap.settle()
        base = self._base
        if base is None or not self.counts_libraries:
            base = _status_bytes("VmData") - own - self._batch_now() - (_SCATTER if self._probing else 0)
        if settle or base != self._base:
            self._base = base
            self._limit(self.bytes)

    def begin_update(self) -> None:
        """An update can be neither split nor repeated: it has the largest limit that training has had."""
        if self.bytes is not None and self._for_updates != self.bytes:
            self._limit(self._for_updates)

    def limit_step(self) -> None:
        """What is not an update has the limit of training; the closure of an optimizer's step() runs inside one."""
        if self.bytes is not None and self._for_updates != self.bytes:
            self._limit(self.bytes)

    def end_update(self) -> None:
        self.limit_step()
        self._updated, self._earlier = True, None

    def take_back(self) -> bool:
        """Returns to the limit before one that no step has been made with."""
        if self._earlier is None:
            return False
        (self.bytes,), self._earlier = self._earlier, None
        self._limit(self.bytes)
        return True

    @contextlib.contextmanager
    def lifted(self) -> Iterator[None]:
        """For what is no part of training, with what stays of it (kernels that were compiled, say).

        A GPU has no memory for that beyond its own.
        """
        if self._before is None:
            yield
            return
        import resource
        present = resource.getrlimit(resource.RLIMIT_DATA)[0]
        data = _status_bytes("VmData")
        self._lift()
        try:
            yield
        finally:
            _return_freed_memory()
            stays = max(0, _status_bytes("VmData") - data)
            self._base += stays
            self._limit_data(present if present == resource.RLIM_INFINITY else present + stays)

    def _limit(self, limit: Optional[int]) -> None:
        if self._device is not None:
            self._set_cuda(limit, self._device)
        elif self._before is not None:
            self._limit_data(self._before[0] if limit is None else self._base + limit)

    def _set_cuda(self, limit: Optional[int], device: Any) -> None:
        import torch
        self._device = device
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(1.0 if limit is None else min(1.0, limit / total), device)

    def _set_host(self, limit: Optional[int]) -> None:
        import resource
        if self._before is None:
            if limit is None:
                return
            self._before = resource.getrlimit(resource.RLIMIT_DATA)
            _start_threads()
            _use_fixed_map_threshold()
            os.register_at_fork(after_in_child=self._lift)
            self._make_room(self._own_now(), settle=True)
        self._limit(limit)

    def begin_probe(self) -> Optional[int]:
        """Bytes that a step may allocate; None without a limit on the host.

        It is the same for each size that is tried, and a little less than in a run, so that the size holds there.
        """
        if self._base is None or self.bytes is None:
            return None
        if self._own is None:
            self._own = self._own_now()
        self._probing = True
        self._make_room(self._own, settle=True)  # garbage of earlier sizes might be collected in a step
        if not gc.get_freeze_count():
            gc.freeze()  # all later collections look at what is new only
        return max(0, self.bytes - self._own - _SCATTER)

    def end_probes(self) -> None:
        gc.unfreeze()
        if self._probing:
            self._probing = False
            self._limit(self.bytes)

    def _limit_data(self, soft: int) -> None:
        """Sets RLIMIT_DATA, as far as the system lets it."""
        import resource
        hard = self._before[1]
        if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
            soft = hard
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

    def _lift(self) -> None:
        if self._before is not None:
            import resource
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_DATA, self._before)

    def remove(self) -> None:
        if os.getpid() != self._pid:
            return
        self._lift()
        self._heap.release()
        if self._device is not None and self.bytes is not None:
            self._set_cuda(None, self._device)
        self.bytes = None


class _Heap:
    """Keeps glibc's heap as it is from step to step, so that equal steps need equal memory.

    glibc maps a large block only if it finds no place for it in the heap or at the heap's end: such places are closed.
    Small blocks live in the heap, which grows by 2 MiB with huge pages: they get places that it need not grow for.
    """

    SMALL = 4 << 20  # bytes of places for small blocks

    def __init__(self) -> None:
        self.closed_bytes = 0  # which were free, and are taken now
        self._mallinfo = _mallinfo()
        self._malloc = _c_function("malloc", ctypes.c_void_p)
        self._realloc = _c_function("realloc", ctypes.c_void_p)
        self._free = _c_function("free", None)
        self._plugs: List[int] = []

    @property
    def known(self) -> bool:
        return self._mallinfo is not None

    def is_short(self) -> bool:
        """Of places for small blocks: what came to stay has taken them."""
        return self.known and self._missing() > self.SMALL // 2

    def _missing(self) -> int:
        info = self._mallinfo()
        return self.SMALL - (info.fordblks - info.keepcost)

    def settle(self) -> None:
        if self.known:
            self._close_places()
            self._make_small_places()
            self._close_end()

    def _close_places(self) -> None:
        """Takes the places that larger tensors could use."""
        size = 64 << 20
        while size >= _MMAP_THRESHOLD:
            if not self._close(size):
                size //= 2

    def _close(self, size: int, end: bool = False) -> bool:
        """Takes a block of so many bytes if there is a place for it: in the heap, or at its end."""
        before = self._mallinfo()
        block = self._malloc(ctypes.c_size_t(size))
        after = self._mallinfo()
        if block and (after.hblks, after.arena) == (before.hblks, before.arena) and \
                (end or after.keepcost == before.keepcost):
            self._plugs.append(block)
            self.closed_bytes += after.uordblks - before.uordblks
            return True
        self._free(ctypes.c_void_p(block))
        return False

    def _make_small_places(self) -> None:
        """Blocks are cut to 16 bytes: what is cut off lies between two of them, and never becomes a larger place."""
        missing = self._missing()
        if missing > self.SMALL // 4:
            blocks = [self._malloc(ctypes.c_size_t(_MMAP_THRESHOLD - 64)) for _ in range(missing // _MMAP_THRESHOLD + 1)]
            self._plugs += [self._realloc(ctypes.c_void_p(block), ctypes.c_size_t(16)) for block in blocks if block]

    def _close_end(self) -> None:
        free = self._mallinfo().keepcost
        if free >= _MMAP_THRESHOLD:
            self._close(free - 4096, end=True)

    def release(self) -> None:
        while self._plugs:
            self._free(ctypes.c_void_p(self._plugs.pop()))
        self.closed_bytes = 0


def _start_threads() -> None:
    """Lets torch start the threads that it computes with: their stacks, 8 MB of data each, are no part of training."""
    torch = sys.modules.get("torch")
    if torch is not None:
        grain = 32768  # elements that one thread adds at least
        torch.zeros(grain * torch.get_num_threads(), dtype=torch.float32, device="cpu").add_(1)


def _use_fixed_map_threshold() -> None:
    """Lets glibc give every tensor back when it is freed, so that equal steps need equal memory."""
    mallopt = _c_function("mallopt", ctypes.c_int)
    if mallopt is not None and "mmap_threshold" not in os.environ.get("GLIBC_TUNABLES", ""):
        mallopt(ctypes.c_int(_M_MMAP_THRESHOLD), ctypes.c_int(_MMAP_THRESHOLD))


# ---------------------------------------------------------------------------------------------------------------------
# Ranks
# ---------------------------------------------------------------------------------------------------------------------

_BUCKET = 25 << 20  # bytes of gradients that are averaged at once, as DistributedDataParallel has it


class _Ranks:
    """The processes of a training that act together. Every method must be called by all of them, in the same order.

    They talk in a group of their own: the program's may be on the GPUs, and gives up after some minutes, while a pause
    lasts as long as somebody wants. A rank that dies closes its connections, so that the others fail at once.
    """

    def __init__(self) -> None:
        from datetime import timedelta

        import torch
        import torch.distributed as distributed
        self._torch, self._distributed = torch, distributed
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self._group = distributed.new_group(backend="gloo", timeout=timedelta(days=365))

    def part(self, examples: int) -> int:
        """How many of so many examples this rank takes: every size-th one, beginning with the rank-th."""
        return (examples - self.rank + self.size - 1) // self.size

    def from_first(self, values: Sequence[float]) -> List[float]:
        """The numbers that rank 0 has given."""
        tensor = self._torch.tensor(values, dtype=self._torch.float64)
        with _telling_of_lost_ranks():
            self._distributed.broadcast(tensor, 0, group=self._group)
        return tensor.tolist()

    def gather(self, values: Sequence[float]) -> List[List[float]]:
        """The numbers of all ranks."""
        own = self._torch.tensor(values, dtype=self._torch.float64)
        tensors = [self._torch.empty_like(own) for _ in range(self.size)]
        with _telling_of_lost_ranks():
            self._distributed.all_gather(tensors, own, group=self._group)
        return [tensor.tolist() for tensor in tensors]

    def gather_objects(self, value: Any) -> List[Any]:
        values = [None] * self.size
        self._distributed.all_gather_object(values, value, group=self._group)
        return values

    def same_order(self, order: List[Any]) -> List[Any]:
        """The order of rank 0, which is sent only if the others have drawn another one."""
        sums = self.gather([float(hash(tuple(order)) & (2**52 - 1))])
        if all(number == sums[0] for number in sums):
            return order
        orders = [order]
        self._distributed.broadcast_object_list(orders, 0, group=self._group)
        return orders[0]

    def share_buffers(self, wrapped: Any) -> None:
        """Gives all ranks the buffers of rank 0, as DistributedDataParallel does before a forward pass."""
        if getattr(wrapped, "broadcast_buffers", False):
            with self._torch.no_grad():
                for buffer in wrapped.module.buffers():
                    self._distributed.broadcast(buffer, 0, group=wrapped.process_group)

    def average(self, wrapped: Any, share: float, missing: bool) -> None:
        """Replaces gradients by their mean over the ranks, each of which counts `share` times.

        `missing`: a rank lacks gradients, for parameters that it did not use or because it had no example.
        """
        torch = self._torch
        parameters = [p for p in wrapped.parameters() if p.requires_grad]
        if missing:
            used = torch.tensor([p.grad is not None for p in parameters], dtype=torch.uint8)
            self._distributed.all_reduce(used, self._distributed.ReduceOp.MAX, group=self._group)
            parameters = [p for p, is_used in zip(parameters, used.tolist()) if is_used]
            for p in parameters:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
        for bucket in _buckets([p.grad for p in parameters]):
            flat = torch.cat([gradient.reshape(-1) for gradient in bucket])
            if share != 1.0:
                flat.mul_(share)
            flat.div_(self.size)
            self._distributed.all_reduce(flat, group=wrapped.process_group)
            for gradient, mean in zip(bucket, flat.split([gradient.numel() for gradient in bucket])):
                gradient.copy_(mean.view_as(gradient))

    def mean(self, wrapped: Any, loss: Any, share: float) -> Any:
        """The mean of a loss over the ranks; None where a rank had no example."""
        torch = self._torch
        device = next(wrapped.parameters()).device
        mean = torch.zeros((), device=device) if loss is None else loss.detach().float() * share
        mean = mean / self.size
        self._distributed.all_reduce(mean, group=wrapped.process_group)
        return mean


@contextlib.contextmanager
def _telling_of_lost_ranks() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError("another rank of this training has ended") from error


def _buckets(gradients: List[Any]) -> Iterator[List[Any]]:
    """Neighbours of the same type, of a moderate size together."""
    bucket: List[Any] = []
    size = 0
    for gradient in gradients:
        if bucket and (size >= _BUCKET or gradient.dtype != bucket[0].dtype or gradient.device != bucket[0].device):
            yield bucket
            bucket, size = [], 0
        bucket.append(gradient)
        size += gradient.numel() * gradient.element_size()
    if bucket:
        yield bucket


@contextlib.contextmanager
def _without_exchange(wrapped: Any) -> Iterator[None]:
    """Within it, a DistributedDataParallel model talks to no other rank: these may run other numbers of pieces."""
    names = ("require_backward_grad_sync", "require_forward_param_sync")
    before = [getattr(wrapped, name) for name in names]
    try:
        for name in names:
            setattr(wrapped, name, False)
        yield
    finally:
        for name, value in zip(names, before):
            setattr(wrapped, name, value)


def _why_not_distributed_model(model: Any, ranks: _Ranks) -> Optional[str]:
    """Why the gradients of this model cannot be averaged here; None if they can be."""
    import torch
    if not isinstance(model, torch.nn.parallel.DistributedDataParallel):
        return f"takes a DistributedDataParallel model, not a {type(model).__name__}"
    if model.process_group.size() != ranks.size:
        return "takes a model that is the same on all ranks"
    if getattr(model, "_comm_hooks", None):
        return "knows nothing of the model's own communication hook"
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Run
# ---------------------------------------------------------------------------------------------------------------------

_SERIES = frozenset((
    "examples_seen", "epoch_index", "epoch", "train_coverage", "batch", "micro_batch", "micro_batches", "accumulate",
    "effective_batch", "loss", "learning_rate", "grad_norm", "allocated_bytes", "reserved_bytes", "peak_bytes",
    "device_bytes"))


_NOTHING_SAID = -2  # about a limit


class Stop(SystemExit):
    """Raised at a step boundary when BatchScope stops the run; ends the program with exit code 0."""

    def __init__(self) -> None:
        super().__init__(0)


def _leave_group(models: List[Any]) -> None:
    """What a program does after its training, and cannot when it is stopped: gloo's threads would abort the process.

    The group ends its threads when nothing holds it any more, distributed models included.
    """
    distributed = sys.modules["torch"].distributed
    if distributed.is_initialized():
        for model in models:
            for name in ("logger", "reducer", "process_group"):
                vars(model).pop(name, None)
        with contextlib.suppress(RuntimeError):
            distributed.destroy_process_group()
        gc.collect()


_SCORES = {f"{prefix}{name}": f"validation_{score}"
           for prefix in ("val_", "val/", "valid_", "valid/", "eval_", "eval/", "validation_", "validation/")
           for name, score in (("loss", "loss"), ("accuracy", "accuracy"), ("acc", "accuracy"))}


def _series_of(name: str, value: Any) -> str:
    """The series of a value that a program names in its own way: `val_acc` is `validation_accuracy`, from 0 to 1."""
    series = _SCORES.get(name, name)
    percent = series == "validation_accuracy" and isinstance(value, (int, float)) and value > 1
    return name if percent else series


class _Later:
    """A number on a GPU: copied without waiting, read when the copy is done."""

    def __init__(self, tensor: Any) -> None:
        import torch
        self._host = torch.empty((), dtype=tensor.dtype, pin_memory=True)
        self._host.copy_(tensor.detach().reshape(()), non_blocking=True)
        self._copied = torch.cuda.Event()
        self._copied.record()

    def ready(self) -> bool:
        return bool(self._copied.query())

    def value(self) -> float:
        self._copied.synchronize()
        return float(self._host)


def _number(value: Any) -> Any:
    """A Python number, a _Later, or None for anything else."""
    if isinstance(value, (int, float)):
        return value
    if getattr(value, "is_cuda", False) and value.numel() == 1:
        return _Later(value)
    item = getattr(value, "item", None)
    if callable(item):
        with contextlib.suppress(Exception):
            return _number(item())
    return None


def _known(settings: Dict[Any, Any]) -> Dict[Any, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _settings_of_optimizer(optimizer: Any, begins: bool = False) -> Dict[str, Any]:
    """As its first group has them; the rate is its scheduler's.

    `begins`: no update was made and no scheduler acts on it that a Trainer does not know, so without one the rate is
    that of the group. In a plain loop that may be one of a warm-up.
    """
    groups = getattr(optimizer, "param_groups", None) or [{}]

    def number(value: Any) -> Any:  # at once: a rate may be a tensor
        value = value.item() if callable(getattr(value, "item", None)) else value
        return value if isinstance(value, (int, float)) else None

    rates = [groups[0].get(name) for name in ("max_lr", "initial_lr", *(["lr"] if begins else []))]
    decays = _known({at: number(group.get("weight_decay")) for at, group in enumerate(groups)})
    return _known({
        "optimizer": type(optimizer).__name__,
        "learning_rate": next((number(rate) for rate in rates if rate is not None), None),
        "weight_decay": max(decays.values(), default=None), "momentum": number(groups[0].get("momentum"))})


class _Probe:
    """Sizes to try, one after the other, and what was set before."""

    def __init__(self, sizes: List[Message], then: str, loader: "Loader") -> None:
        self.sizes = sizes
        self.then = then
        self.before = loader.batch, loader.accumulate
        self.steps = 0
        self.fits = True
        self.peak = 0
        self.room: Optional[int] = None  # bytes
        self.began = time.monotonic()


def _probe_sizes(sizes: Any) -> List[Message]:
    """The valid entries of a list of sizes."""
    entries = sizes if isinstance(sizes, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and _integer(entry.get("batch"), 1)]


class Run:
    """One training, as BatchScope sees it. Made by start(); used by the thread that trains."""

    def __init__(self, link: _Link, name: Optional[str], config: Dict[str, Any],
                 schedule: Optional[Callable[[int, int], Optional[int]]]) -> None:
        self._link = link
        self._schedule = schedule
        self._rank = int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0)  # Lightning sets the second
        self._world = int(os.environ.get("WORLD_SIZE", "1") or 1)
        self._link.spill.dropping = self._rank > 0  # the file has the messages of one connection
        self._ranks: Optional[_Ranks] = None  # set if all ranks of this training act together
        self._met = False  # whether rank 0 has told the first size
        self._limit_told: Optional[int] = _NOTHING_SAID  # bytes
        self._probes = 0
        self._can = ["report", "pause", "stop"]
        self._about: Message = {
            "type": "hello", "protocol": PROTOCOL, "client": f"python {__version__}", "pid": os.getpid(),
            "rank": self._rank, "world": self._world, "run": os.environ.get("BATCHSCOPE_RUN"),
            "framework": None, "torch": None, "device": "cpu", "device_name": None, "device_bytes": None,
            "examples": None, "batch": None, "accumulate": None, "epochs": None, "steps": None, "drop_last": None,
            "parameters": None, "batch_norm": False, "name": name, "config": config,
            "settings": _known({"seed": _seed()}), "can": self._possible(),
        }
        self._changed = True  # since the last hello
        self._unanswered = 0  # hellos on the present connection that got no welcome yet
        self._waited = False  # for a welcome
        self._step = 0
        self._steps_before = 0  # of earlier trainings in this process
        self._examples = self._examples_before = 0  # seen so far, and in earlier trainings
        self._told_size: Message = {}  # the last batch and accumulation that BatchScope has asked for
        self._began = time.monotonic()
        self._pauses = 0.0
        self._loader: Optional[Loader] = None
        self._takes: List[int] = []
        self._records: deque[Message] = deque()  # with numbers that are still on a GPU
        self._asks_at: Optional[int] = None  # the step whose record asks; None: no record does
        self._answered = False
        self._answer_step = 0
        self._late = False
        self._paused = False
        self._permits = 0  # steps that may be made while paused
        self._stop = False
        self._save = False
        self._watched = False  # the program looks at `stopping` itself
        self._ended = False
        self._faults = [0, False]  # lost lines reported, malformed line reported
        self._probe: Optional[_Probe] = None
        self._tracer: Optional[_Tracer] = None
        self._estimator: Optional[Callable[[List[int]], List[Any]]] = None
        self._model: Any = None  # the newest one
        self._models: Any = weakref.WeakSet()  # several may take turns
        self._awaits_optimizer = False
        self._optimizer: Any = None  # of the last update
        self._optimizers: Any = weakref.WeakSet()  # whose updates are known of
        self._own_bytes = 0
        self._memory: Any = None
        self._budget = _Budget(self._bytes_between_steps, self._bytes_of_batch)
        self._wanted_limit: Optional[Tuple[Optional[int]]] = None
        self._splitter = _Splitter(self)
        self.rate_factor = 1.0
        self.on_oom = "shrink"

    # ---- what a program calls ----

    @property
    def active(self) -> bool:
        """Whether there is a BatchScope to report to, connected now or not."""
        return not self._link.silent

    @property
    def stopping(self) -> bool:
        """Whether BatchScope has asked the program to stop. A program that looks at this ends by itself."""
        self._watched = True
        return self._stop

    def report(self, step: int, **values: Any) -> None:
        """Sends the values of a step. Without a loader this is a step boundary: a pause is waited for here.

        `val_loss` and `val_accuracy` (from 0 to 1), also as `eval_...` or `valid_...`, are the run's scores.
        """
        if self._link.silent or self._ended:
            return
        if self._loader is not None:
            self._post_record(self._record(step, values))
            return
        self._greet()
        self._step = step
        self._end_step(self._record(step, values))
        self._raise_stop()

    def event(self, kind: str, **detail: Any) -> None:
        """Sends something that happened. Numbers in a dict `values` become series."""
        self._event_at(self._step, kind, detail)

    def _event_at(self, step: int, kind: str, detail: Message) -> None:
        if self._link.silent or self._ended:
            return
        self._greet()
        values = detail.pop("values", {})
        self._link.post({"type": "event", "step": step, "seconds": self._seconds(), "kind": kind,
                         "detail": detail, "values": values})

    def _report_shortage(self, detail: Message) -> None:
        """An out-of-memory error in the step that is being made."""
        self._event_at(self._step + 1, "oom", detail)
        if self._probe is not None:
            self._probe.fits = False

    def _report_retry(self, size: int) -> None:
        if self._rank == 0 and self._probe is None:
            self._event_at(self._step + 1, "retry", {
                "text": f"a micro batch of {size} ran out of memory while libraries compiled kernels or took buffers, "
                        "and is tried again now that they have them"})

    def finish(self, status: str = "finished", reason: Optional[str] = None) -> None:
        """Ends the run; what is sent later is ignored. Called when the interpreter ends, if not before."""
        if self._ended or self._link.silent:
            return
        self._send_records(wait=True)
        self._greet()
        self._report_faults()
        self._ended = True
        self._budget.remove()
        if self._stop and status == "finished":
            status = "stopped"  # it ends because it was asked to
        message: Message = {"type": "bye", "status": status, "reason": reason}
        if self._link.spill.lines:
            message["spilled"] = self._link.spill.lines
        self._link.post(message)
        self._link.close(WAIT_FOR_ANSWER)

    def loader(self, dataloader: Any, epochs: Optional[float] = None, examples: bool = False) -> "Loader":
        """Wraps a DataLoader over a map-style dataset, so that its batch size may change at every step.

        `epochs`: how many the program will make, if it knows; a schedule can then grow over the whole training.
        `examples`: keep them in Window.examples beside the collated batch at every step, which costs time and memory.
        Without it they are kept if the first step uses them (a `weight` does), or a batch cannot be cut without them.
        On several ranks `batch` is the size of each of them; every example is taken by one rank, once an epoch.
        """
        reason = self._join_ranks() or _why_not_divided(dataloader, self._ranks)
        if reason is not None:
            self._ranks = None
            self._describe()
            _only_level_1(self, reason)
        if epochs is not None:
            self._describe(epochs=epochs)
        try:
            self._loader = Loader(self, dataloader, examples)
        except TypeError as error:
            raise TypeError(f"{error}: report its steps with Run.report instead") from None
        self._begin_training(self._step)
        return self._loader

    def backward(self, window: Any, fn: Callable[..., Any], model: Any,
                 weight: Optional[Callable[[List[Any]], float]] = None) -> Any:
        """Computes the gradients of a whole window, in smaller pieces if memory is short; returns the mean loss.

        `fn(*part)` (for a dict `fn(part)`) returns the mean loss of a micro batch. The loss is the mean over all
        examples, or over what `weight(examples)` counts. Old gradients are discarded first.

        On several ranks that act together the model must be a DistributedDataParallel one; loss and gradients are then
        those of all examples of all ranks, which may be run in other numbers of pieces.
        """
        self._know_model(model)
        if not isinstance(window, Window):
            window = Window(None, [window], [_rows(window)])
        return self._splitter.plain(window, fn, model, weight)

    def step(self, optimizer: Any = None, loss: Any = None, **values: Any) -> None:
        """Counts an optimizer step, reports it and does what BatchScope asks for. Raises Stop if told to stop."""
        if optimizer is not None:
            self._know_optimizer(optimizer)
        if loss is not None:
            values["loss"] = loss
        self._step_done(values)
        self._raise_stop()

    # ---- trainings ----

    def _keep_size(self) -> None:
        """A loader that is made later than the first one, or had another size in a checkpoint, has the size told."""
        if self._probe is not None:
            self._loader.batch, self._loader.accumulate = self._probe.sizes[0]["batch"], 1
        self._apply(self._told_size)

    def _begin_training(self, done: int) -> None:
        """A training begins whose own count is at `done` steps; those of earlier ones of this process go before."""
        self._steps_before = max(0, self._step - done)
        self._step = self._steps_before + done
        if self._loader is not None:
            self._examples_before = max(0, self._examples - self._loader.seen)
            self._keep_size()
            self._met = False  # the other ranks have their own size, or a checkpoint's

    # ---- what the program is ----

    def _describe(self, can: Sequence[str] = (), **fields: Any) -> None:
        before = dict(self._about)
        self._about.update(fields)
        self._can = list(dict.fromkeys([*self._can, *can]))
        self._about["can"] = self._possible()
        self._changed = self._changed or self._about != before

    def _possible(self) -> List[str]:
        """What BatchScope may ask of this process."""
        if self._world == 1 or (self._ranks is not None and self._rank == 0):
            return self._can
        return ["report"] if self._ranks is not None else ["report", "pause"]

    def _join_ranks(self, one_machine: bool = False) -> Optional[str]:
        """Lets the ranks of this training act together; returns why they cannot. All of them must call it.

        `one_machine`: it is known that all of them run on this one.
        """
        distributed = getattr(sys.modules.get("torch"), "distributed", None)
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            self._rank, self._world = distributed.get_rank(), distributed.get_world_size()
            self._link.spill.dropping = self._rank > 0
            self._describe(rank=self._rank, world=self._world)
        elif self._world > 1:
            return "torch.distributed was not initialized before"
        if self._world == 1 or self._ranks is not None:
            return None
        if not one_machine and os.environ.get("LOCAL_WORLD_SIZE") != str(self._world):  # where no BatchScope is
            return "its ranks run on several machines, or LOCAL_WORLD_SIZE is not set"
        self._ranks = _Ranks()
        self._describe()
        return None

    def _know_model(self, model: Any) -> None:
        if model is None or model in self._models:
            return
        import torch
        self._model = model
        self._models.add(model)
        parameters = list(model.parameters())
        self._own_bytes = sum(t.numel() * t.element_size() for t in [*parameters, *model.buffers()])
        if self.active and not self._awaits_optimizer:
            self._awaits_optimizer = True
            with contextlib.suppress(ImportError):  # before torch 2.0 step() tells of it, after the first update
                from torch.optim.optimizer import register_optimizer_step_pre_hook
                register_optimizer_step_pre_hook(self._before_update)
        device = parameters[0].device if parameters else torch.device("cpu")
        norms = torch.nn.modules.batchnorm._BatchNorm
        self._describe(
            can=("rate", "split", "trace"), torch=torch.__version__, device=str(device),
            parameters=sum(p.numel() for p in parameters),
            batch_norm=any(isinstance(module, norms) for module in model.modules()))
        if device.type == "cuda":
            properties = torch.cuda.get_device_properties(device)
            self._describe(device_name=properties.name, device_bytes=properties.total_memory)
        if self.active:
            if device.type == "cuda":
                self._memory = _CudaMemory(device)
            elif isinstance(self._memory, _HostMemory):
                self._memory.begin(self._own_bytes)
            else:
                self._memory = _HostMemory(self._own_bytes, self._budget.closed_bytes)
            self._apply_limit()

    def _before_update(self, optimizer: Any, *_: Any) -> None:
        """An optimizer is known from its first update on if it is one of the models'."""
        if optimizer in self._optimizers or self._link.silent:
            return
        ours = {id(parameter) for model in self._models for parameter in model.parameters()}
        if any(id(parameter) in ours for group in optimizer.param_groups for parameter in group["params"]):
            self._know_optimizer(optimizer)

    def _device(self) -> Any:
        parameter = next(iter(self._model.parameters()), None) if self._model is not None else None
        return None if parameter is None else parameter.device

    def _know_optimizer(self, optimizer: Any) -> None:
        while not hasattr(optimizer, "register_step_pre_hook") and hasattr(optimizer, "optimizer"):
            optimizer = optimizer.optimizer
        inner = getattr(optimizer, "optimizer", None)  # accelerate's wrapper is an Optimizer itself
        if inner is not None and hasattr(inner, "register_step_pre_hook"):
            optimizer = inner
        if optimizer is self._optimizer or not hasattr(optimizer, "register_step_pre_hook"):
            return
        self._optimizer = optimizer
        known = self._about["settings"]
        self._describe(settings={**known, **_settings_of_optimizer(optimizer), **known})
        if optimizer in self._optimizers:
            return
        self._optimizers.add(optimizer)
        rates: List[Any] = []

        def scale(*_: Any) -> None:
            if not rates and self.rate_factor != 1.0:  # a step() that calls its base class's comes by here twice
                rates[:] = [group["lr"] for group in optimizer.param_groups]
                for group, rate in zip(optimizer.param_groups, rates):
                    group["lr"] = rate * self.rate_factor
            self._splitter.updating = True
            self._budget.begin_update()
            if self._tracer is not None:
                self._tracer.mark("update")

        def restore(*_: Any) -> None:
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate
            rates.clear()
            self._splitter.updating = False
            self._budget.end_update()

        optimizer.register_step_pre_hook(scale)
        optimizer.register_step_post_hook(restore)

    # ---- messages out ----

    def _seconds(self) -> float:
        return time.monotonic() - self._began - self._pauses

    def _greet(self, wait: bool = False) -> None:
        """Says hello on a new connection, or again if what the program can do has changed."""
        if self._link.silent:
            return
        new = self._link.connect()
        if not self._link.connected:
            if self._changed and self._link.connections == 0:  # whoever takes the file in knows what it is of
                self._changed = False
                self._link.spill.write(_encode({**self._about, "step": self._step}))
            return
        if new:
            self._unanswered = 0
        if new or self._changed:
            self._changed = False
            self._unanswered += 1
            self._link.post({**self._about, "step": self._step}, numbered=False)
        if wait and not self._waited:
            self._waited = True
            end = time.monotonic() + WAIT_FOR_ANSWER
            while self._unanswered > 0 and self._link.connected and time.monotonic() < end:
                self._link.wait(end - time.monotonic())
                self._take_all()

    def _before_fetch(self) -> None:
        """The first batch size comes with BatchScope's answer to the hello, which has the program's own sizes."""
        if not self._waited:
            if self._loader is not None:
                self._describe(batch=self._loader.batch, accumulate=self._loader.accumulate)
            self._greet(wait=True)
        if self._ranks is not None and not self._met:
            self._share_orders()

    def _share_orders(self) -> None:
        """Rank 0 tells the others what holds from the next step on. All ranks call it at the same step boundaries."""
        loader = self._loader
        if loader is None:
            return
        self._met = True
        limit = -1 if self._limit_told is None else self._limit_told
        batch, accumulate, factor, stop, save, fails, probes, limit = self._ranks.from_first([
            loader.batch, loader.accumulate, self.rate_factor, self._stop, self._save, self.on_oom == "fail",
            self._probes, limit])
        if self._rank == 0:
            return
        loader._batch, loader._accumulate, self.rate_factor = int(batch), int(accumulate), factor
        self._stop, self._save = bool(stop), bool(save)
        self.on_oom = "fail" if fails else "shrink"
        if probes != self._probes:
            self._probes, self._splitter.limit = int(probes), None
        told = None if limit == -1 else int(limit)
        if told != self._limit_told:
            self._want_limit(told)
            self._apply_limit()

    def _report_faults(self) -> None:
        lost = self._link.spill.lost
        if lost > self._faults[0] and (self._link.connected or self._ended):
            self._faults[0] = lost
            self.event("lost", lines=lost)
        if self._link.malformed is not None and not self._faults[1]:
            self._faults[1] = True
            self.event("protocol", line=self._link.malformed)

    def _record(self, step: int, values: Dict[str, Any]) -> Message:
        record: Message = {"type": "record", "step": step, "seconds": self._seconds()}
        more: Dict[str, Any] = {}
        for name, value in values.items():
            number = _number(value)
            if number is not None:
                (record if name in _SERIES else more)[_series_of(name, number)] = number
        if more:
            record["more"] = more
        return record

    def _post_record(self, record: Message) -> None:
        self._greet()
        self._records.append(record)
        self._send_records(wait=bool(record.get("ask")))

    def _send_records(self, wait: bool) -> None:
        while self._records:
            record = self._records[0]
            for place in (record, record.get("more", {})):
                for name, value in place.items():
                    if isinstance(value, _Later):
                        if not wait and not value.ready():
                            return
                        place[name] = value.value()
            self._records.popleft()
            self._link.post(record)

    # ---- a step ----

    def _step_done(self, values: Dict[str, Any]) -> None:
        self._greet()
        self._step += 1
        if self._tracer is not None:
            self._finish_trace()
        sizes = self._sizes()
        if self._schedule is not None and self._loader is not None and (self._ranks is None or self._rank == 0):
            size = self._schedule(self._step, self._loader.batch)
            if size is not None:
                self._loader.batch = size
        if not self._link.silent and not self._ended:
            self._report_step(values, sizes)
        if self._ranks is not None:
            self._share_orders()

    def _report_step(self, values: Dict[str, Any], sizes: Message) -> None:
        if self._rank > 0:  # only rank 0 reports the training
            values = {}
        record = self._record(self._step, values)
        if self._rank == 0:
            record.update(sizes)
            if self._optimizer is not None and "learning_rate" not in record:
                record["learning_rate"] = self._optimizer.param_groups[0]["lr"] * self.rate_factor
        if self._memory is not None:
            record.update(self._memory.read(peak=self._probe is not None))
        self._end_step(record)

    def _sizes(self) -> Message:
        """What the step that was just made has taken."""
        if self._loader is None:
            return {}
        self._loader._count_step()
        takes, self._takes = self._takes, []
        series = self._loader._series()
        self._examples = series["examples_seen"]
        return {**series, "takes": takes, "micro_batch": max(takes, default=0),
                "micro_batches": len(takes),
                "effective_batch": sum(takes) if self._ranks is None else self._loader.last_total}

    def _end_step(self, record: Message) -> None:
        """Sends the record and does what BatchScope asks for. Every step boundary comes by here once."""
        asks = (self._asks_at is not None and self._step >= self._asks_at and self._loader is not None
                and self._probe is None and self._link.connected)
        if asks:
            record["ask"] = True
            self._answered = False
        probe = self._probe  # one that is asked for now begins with the next step
        if probe is not None:
            probe.peak = max(probe.peak, record.get("peak_bytes") or 0)
        self._post_record(record)
        self._report_faults()
        self._take_all()
        if asks:
            self._await_answer()
        self._wait_while_paused()
        if probe is not None and self._probe is probe:
            self._advance_probe()
        self._apply_limit()
        self._budget.between_steps()

    def _await_answer(self) -> None:
        end = time.monotonic() + (0 if self._late else WAIT_FOR_ANSWER)
        while not self._answered and not self._stop and self._link.connected:
            left = end - time.monotonic()
            if left <= 0:
                if not self._late:
                    self._late = True
                    self.event("late", seconds=WAIT_FOR_ANSWER)
                return
            self._link.wait(left)
            self._take_all()

    def _wait_while_paused(self) -> None:
        if not self._paused or self._permits > 0:
            self._permits = max(0, self._permits - 1)
            return
        start = time.monotonic()
        self._send_records(wait=True)
        self.event("status", status="paused")
        while self._paused and not self._permits and not self._stop and self._link.connected:
            self._link.wait(None)
            self._take_all()
        if not self._link.connected:  # nobody could end the pause
            self._paused = False
        self._permits = max(0, self._permits - 1)
        self._pauses += time.monotonic() - start
        self.event("status", status="running")

    def _raise_stop(self) -> None:
        if self._stop and not self._watched:
            self.finish("stopped")
            if self._ranks is not None:
                atexit.register(_leave_group, list(self._models))
            raise Stop()

    # ---- messages in ----

    def _take_all(self) -> None:
        for message in self._link.receive():
            self._unanswered -= message["type"] == "welcome"
            if self._ranks is not None and self._rank > 0 and message["type"] != "refuse":
                continue  # rank 0 tells what holds
            handler = getattr(self, "_take_" + message["type"].replace("-", "_"), None)
            if handler is None:
                continue  # of a later version
            try:
                handler(message)
            except (TypeError, ValueError, KeyError, AttributeError):  # fields of wrong types
                self._link.complain(json.dumps(message)[:200])
        self._report_faults()

    def _take_welcome(self, message: Message) -> None:
        if message.get("on_oom") in ("shrink", "fail"):
            self.on_oom = message["on_oom"]
        if message.get("limit_bytes") is not None:
            self._want_limit(message["limit_bytes"])
            self._apply_limit()
        self._apply(message)
        self._set_hold(message.get("hold", 0), _integer(message.get("step"), 1) or self._step + 1)

    def _take_refuse(self, message: Message) -> None:
        self._link.refuse()
        self._budget.remove()

    def _take_next(self, message: Message) -> None:
        step = _integer(message.get("step"), 0) or self._step + 1
        self._answered = True
        self._late = False
        if step < self._answer_step:
            return  # an answer that is older than one that was followed
        self._answer_step = step
        self._apply(message)
        self._set_hold(message.get("hold", 1), step)

    def _take_edit(self, message: Message) -> None:
        self._apply(message)
        if "limit_bytes" in message:
            self._want_limit(message["limit_bytes"])
            self._apply_limit()
        if "hold" in message:
            self._set_hold(message["hold"], self._step + 1)
        loader = self._loader
        self._link.post({
            "type": "applied", "id": message.get("id"), "step": self._step,
            "batch": loader.batch if loader else None, "accumulate": loader.accumulate if loader else None,
            "rate_factor": self.rate_factor, "limit_bytes": self._budget.bytes})

    def _take_pause(self, message: Message) -> None:
        self._paused = True
        self._permits = 0

    def _take_continue(self, message: Message) -> None:
        self._paused = False
        self._permits = 0

    def _take_step(self, message: Message) -> None:
        self._paused = True
        self._permits += 1

    def _take_stop(self, message: Message) -> None:
        self._stop = True
        self._save = bool(message.get("save"))

    def _take_probe(self, message: Message) -> None:
        sizes = _probe_sizes(message.get("sizes"))
        if self._loader is not None and sizes:
            before = self._probe.before if self._probe is not None else None
            self._probe = _Probe(sizes, str(message.get("then", "go-on")), self._loader)
            self._probe.before = before or self._probe.before
            self._start_probe()

    def _take_estimate(self, message: Message) -> None:
        answer: Message = {"type": "estimate", "method": "fake"}
        batches = [size for size in message.get("batches") or [] if _integer(size, 1)]
        try:
            if self._estimator is None:
                raise ValueError("only a Trainer that is attached to can be estimated")
            answer["curve"] = self._estimator(batches)
        except Exception as error:  # whatever the model does on tensors without data
            answer["error"] = f"{type(error).__name__}: {error}"[:500]
            if type(error).__name__ == "DataDependentOutputException":
                answer["error"] = ("the model reads values of its tensors, which have no data in an estimate (with "
                                   "transformers before 5: those of an attention mask)")
        self._link.post(answer)

    def _apply(self, message: Message) -> None:
        """Takes over the sizes and the rate of a message; what is not possible is clamped."""
        if self._loader is not None and (self._probe is None):
            batch, accumulate = message.get("batch"), message.get("accumulate")
            self._told_size = {**self._told_size, **_known({"batch": batch, "accumulate": accumulate})}
            if isinstance(batch, int):
                self._loader.batch = batch
            if isinstance(accumulate, int):
                self._loader.accumulate = accumulate
        factor = message.get("rate_factor")
        if isinstance(factor, (int, float)) and math.isfinite(factor) and factor >= 0:
            self.rate_factor = float(factor)

    def _set_hold(self, hold: Any, step: int) -> None:
        """The next `hold` steps from `step` on need no asking; 0: none does."""
        steps = _integer(hold) or 0
        self._asks_at = step + steps - 1 if steps else None

    # ---- memory ----

    def _want_limit(self, limit: Any) -> None:
        if limit is None or _integer(limit, 1):
            self._wanted_limit = (limit,)
            self._limit_told = limit

    def _apply_limit(self) -> None:
        if self._wanted_limit is None or (self._model is None and self._loader is not None):
            return  # the model's own bytes are not known yet
        limit = self._wanted_limit[0]
        self._wanted_limit = None
        if self._ranks is None and limit is not None and limit <= self._budget.least(self._device()):
            return  # the answer to BatchScope has the limit that stays
        before = self._budget.bytes
        self._budget.set(limit, self._device())
        if before is None and limit is not None and self._budget.counts_libraries:
            self.event("lint", text="another allocator than glibc's is loaded (LD_PRELOAD?): the budget counts what it and "
                                    "libraries keep, and is less exact")
        if limit is None or (before is not None and limit > before):
            self._splitter.limit = None  # larger pieces may fit now

    def _bytes_between_steps(self) -> int:
        """Bytes of the newest model and its gradients, and of the states of all optimizers."""
        gradients = [p.grad for p in self._model.parameters()] if self._model is not None else []
        states = [tensor for optimizer in self._optimizers for tensor in _state_tensors(optimizer)]
        return self._own_bytes + _bytes_of(gradients) + _bytes_of(states)

    def _bytes_of_batch(self) -> int:
        """Bytes of the last window, while the program holds it."""
        window = self._loader.last_window() if self._loader is not None else None
        tensors = _tensors_in(window.parts) if window is not None else []
        here = [t for t in tensors if t.device.type == "cpu" and str(t.layout) == "torch.strided"]
        return sum(min(used, storage.nbytes()) for storage, used in _storages_of(here))

    def _take_budget_back(self, reason: str) -> bool:
        """After an error with a lower budget; false if the budget has not been lowered since the last step."""
        lower = self._budget.bytes
        if self._ranks is not None or not self._budget.take_back():
            return False
        self._splitter.limit = None
        self._event_at(self._step + 1, "budget", {
            "before_bytes": lower, "budget_bytes": self._budget.bytes,
            "message": f"the step could not be made: {reason}; the budget is the earlier one again"})
        return True

    # ---- probes ----

    def _start_probe(self) -> None:
        probe, loader = self._probe, self._loader
        loader.batch, loader.accumulate = probe.sizes[0]["batch"], 1
        probe.steps, probe.fits, probe.peak, probe.first = 0, True, 0, 0.0
        probe.room = self._budget.begin_probe()
        self._forget_limit()
        self._start_trace()
        probe.began = time.monotonic()

    def _forget_limit(self) -> None:
        self._splitter.limit = None
        self._probes += 1  # other ranks forget theirs, too

    def _start_trace(self) -> None:
        probe = self._probe
        entry = probe.sizes[0]
        if entry.get("trace") and probe.steps == (_integer(entry.get("steps"), 1) or 1) - 1 and self._model is not None:
            self._tracer = _Tracer(self._model, self._optimizer)

    def _finish_trace(self) -> None:
        tracer, self._tracer = self._tracer, None
        message = tracer.finish(self._takes[0] if len(self._takes) == 1 else 0)
        if message["batch"]:
            self._link.post(message)

    def _advance_probe(self) -> None:
        """Counts a step of the size that is tried, and goes on to the next one when it has enough of them."""
        probe, loader = self._probe, self._loader
        entry = probe.sizes[0]
        if loader.last_size == loader.batch or not probe.fits:
            probe.steps += 1
        if probe.steps == 1:
            probe.first = time.monotonic() - probe.began
        if probe.fits and probe.steps < (_integer(entry.get("steps"), 1) or 1):
            if self._tracer is None:
                self._start_trace()
            return
        self.event("probe", batch=entry["batch"], taken=loader.batch, fits=probe.fits, steps=probe.steps,
                   seconds=time.monotonic() - probe.began, first_seconds=probe.first, peak_bytes=probe.peak,
                   room_bytes=probe.room)
        probe.sizes.pop(0)
        if probe.sizes:
            self._start_probe()
            return
        self._probe = None
        self._budget.end_probes()
        self._forget_limit()
        loader.batch, loader.accumulate = probe.before
        if probe.then == "stop":
            self._stop = True


def _seed() -> Optional[int]:
    """The seed that was given for this training; None: the program has its own."""
    text = os.environ.get("BATCHSCOPE_SEED", "")
    return int(text) if text.isdecimal() and os.environ.get("BATCHSCOPE_SOCKET") else None


def _use_seed() -> Optional[int]:
    """Sets the random generators with the seed that was given, if there is one; returns it."""
    seed = _seed()
    if seed is None:
        return None
    random.seed(seed)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if hasattr(numpy, "random"):
        numpy.random.seed(seed % 2**32)
    if hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)
    return seed


_current: Optional[Run] = None


def start(name: Optional[str] = None, config: Optional[Dict[str, Any]] = None,
          schedule: Optional[Callable[[int, int], Optional[int]]] = None) -> Run:
    """Starts reporting; the Run of a second call is that of the first one.

    `config` is stored with the run. `schedule(step, batch)` is called after every optimizer step, with the steps done
    and the present batch size, and returns the next size: the program's own schedule. Of several ranks only the first
    one calls it; a program that sets `loader.batch` itself does so on all of them.
    """
    global _current
    if _current is None:
        link = _Link(os.environ.get("BATCHSCOPE_SOCKET") or None, os.environ.get("BATCHSCOPE_SPILL"))
        _current = Run(link, name, config or {}, schedule)
        _use_seed()
        if _current.active:
            atexit.register(_at_exit, _current)
    elif schedule is not None:
        _current._schedule = schedule
    return _current


def _at_exit(run: Run) -> None:
    error = getattr(sys, "last_value", None)
    if error is not None and not isinstance(error, SystemExit):
        run.finish("failed", f"{type(error).__name__}: {error}"[:500])
    else:
        run.finish("stopped" if run._stop else "finished")


# ---------------------------------------------------------------------------------------------------------------------
# Loader
# ---------------------------------------------------------------------------------------------------------------------

class Window:
    """The examples of one optimizer step: collated micro batches. As a mapping or sequence it is its first part."""

    __slots__ = ("parts", "sizes", "_examples", "_loader", "__weakref__")

    def __init__(self, examples: Optional[List[Any]], parts: List[Any], sizes: List[int],
                 loader: Optional["Loader"] = None) -> None:
        self.parts = parts
        self.sizes = sizes
        self._examples = examples
        self._loader = loader

    @property
    def examples(self) -> Optional[List[Any]]:
        """Not collated. None if the batch is not of Run.loader, or the loader does not keep them (Run.loader)."""
        if self._loader is not None:
            self._loader._examples_used = True
        return self._examples

    def __getitem__(self, key: Any) -> Any:
        return self.parts[0][key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts[0])

    def __len__(self) -> int:
        return len(self.parts[0])

    def __contains__(self, key: Any) -> bool:
        return key in self.parts[0]

    def keys(self) -> Any:
        return self.parts[0].keys()

    def get(self, key: Any, default: Any = None) -> Any:
        return self.parts[0][key] if key in self.parts[0] else default


class _WholeOrder:
    """What all DistributedSamplers of the ranks go through together, without examples that are there twice."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        examples = len(sampler.dataset)
        self._length = examples - examples % sampler.num_replicas if sampler.drop_last else examples

    def __iter__(self) -> Iterator[Any]:
        whole = copy.copy(self._sampler)  # at the epoch that the program has set by now
        whole.rank, whole.num_replicas, whole.drop_last = 0, 1, False
        whole.num_samples = whole.total_size = len(whole.dataset)
        return iter(whole)

    def __len__(self) -> int:
        return self._length

    def set_epoch(self, epoch: int) -> None:
        self._sampler.set_epoch(epoch)


def _why_not_divided(dataloader: Any, ranks: Optional[_Ranks]) -> Optional[str]:
    """Why it is not known how the ranks divide the examples of a DataLoader; None if it is, or for one process."""
    if ranks is None:
        return None
    from torch.utils.data.distributed import DistributedSampler
    batches = getattr(dataloader, "batch_sampler", None)
    sampler = getattr(batches, "sampler", None)
    place = ranks.rank, ranks.size
    if type(sampler) is DistributedSampler and (sampler.rank, sampler.num_replicas) == place:
        return None
    if type(batches).__name__ == "BatchSamplerShard" and not batches.split_batches and (
            batches.process_index, batches.num_processes) == place:
        return None
    return "its DataLoader has neither a DistributedSampler nor accelerate's division among these ranks"


def _sampler_of(dataloader: Any, ranks: Optional[_Ranks] = None) -> Tuple[Any, bool, int]:
    """Sampler, drop_last and batch size of a DataLoader. Raises TypeError if it cannot be wrapped.

    With `ranks` the sampler is that of all examples, of which each rank takes its part.
    """
    from torch.utils.data import BatchSampler, DataLoader, IterableDataset
    if not isinstance(dataloader, DataLoader) and not hasattr(dataloader, "batch_sampler"):
        raise TypeError(f"batchscope wraps a torch DataLoader, not a {type(dataloader).__name__}")
    if isinstance(dataloader.dataset, IterableDataset):
        raise TypeError("the batch size of an IterableDataset cannot be changed")
    batches = dataloader.batch_sampler
    while batches is not None and hasattr(batches, "batch_sampler"):  # accelerate's shards
        batches = batches.batch_sampler
    if type(batches) is not BatchSampler:
        raise TypeError("a DataLoader with a batch_sampler of its own makes its own batches")
    whole = ranks is not None and hasattr(batches.sampler, "num_replicas")
    return _WholeOrder(batches.sampler) if whole else batches.sampler, batches.drop_last, batches.batch_size


def _tensor_from(array: Any, dtype: Any) -> Any:
    import torch
    tensor = torch.from_numpy(array)
    return tensor if dtype is None else tensor.view(dtype)


def _pack(examples: List[Any]) -> bytes:
    """Runs in a worker. Tensors travel by value: shared memory would need a file descriptor for each of them."""
    import io
    import pickle

    import torch

    class Pickler(pickle.Pickler):
        def reducer_override(self, value: Any) -> Any:
            if type(value) is not torch.Tensor or value.device.type != "cpu" or value.requires_grad:
                return NotImplemented
            try:
                if value.dtype == torch.bfloat16:
                    return _tensor_from, (value.contiguous().view(torch.int16).numpy(), torch.bfloat16)
                return _tensor_from, (value.contiguous().numpy(), None)
            except (RuntimeError, TypeError):  # sparse, or a type that NumPy lacks
                return NotImplemented

    buffer = io.BytesIO()
    Pickler(buffer, protocol=5).dump(examples)
    return buffer.getvalue()


class _Direct:
    """Fetches in the main process, as a DataLoader without workers does."""

    def __init__(self, loader: "Loader", skip: int) -> None:
        import torch
        torch.empty((), dtype=torch.int64).random_(generator=loader.dataloader.generator)  # as DataLoader draws
        self._dataset = loader.dataset
        self._indices = loader._indices(skip)

    def take(self, count: int) -> List[Any]:
        from itertools import islice
        indices = list(islice(self._indices, count))
        if hasattr(self._dataset, "__getitems__") and self._dataset.__getitems__:
            return list(self._dataset.__getitems__(indices))
        return [self._dataset[index] for index in indices]

    def exhaust(self) -> None:
        """A DataLoader goes through its sampler to the end, where samplers may draw random numbers."""
        for _ in self._indices:
            pass


class _Chunks:
    """The sampler's order in chunks, which know nothing of batches."""

    def __init__(self, loader: "Loader") -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[List[int]]:
        from itertools import islice
        indices = self._loader._indices(self._loader._skip)
        while True:
            chunk = list(islice(indices, CHUNK))
            if not chunk:
                return
            yield chunk

    def __len__(self) -> int:
        return -(-self._loader.examples // (CHUNK * self._loader._sharers))


class _FromWorkers:
    """Fetches chunks of raw examples with worker processes."""

    def __init__(self, loader: "Loader") -> None:
        self._chunks = iter(loader._worker_loader())
        self._ready: List[Any] = []

    def take(self, count: int) -> List[Any]:
        import pickle
        while len(self._ready) < count:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._ready += pickle.loads(chunk)
        taken, self._ready = self._ready[:count], self._ready[count:]
        return taken

    def exhaust(self) -> None:
        """The workers' order is fetched to its end anyway."""


class _Epoch:
    """The windows of one pass over the examples."""

    def __init__(self, loader: "Loader") -> None:
        self._loader = loader
        self._source = loader._source = loader._open()

    def __iter__(self) -> "_Epoch":
        return self

    def __next__(self) -> Window:
        loader = self._loader
        loader._run._before_fetch()
        sizes = loader._next_sizes()
        if not sizes:
            loader._end_epoch()
            raise StopIteration
        examples: List[Any] = []
        parts: List[Any] = []
        own = loader._own(sizes)
        for size in own:
            taken = self._source.take(size)
            examples += taken
            parts.append(loader._collate(taken))
        loader._took(sizes)
        # A list of 3 images in a batch of 3 looks like columns: what was seen once holds.
        loader.cuttable = loader.cuttable and all(map(_has_rows, parts, own))
        keeps = loader._keeps_examples or not loader.cuttable
        window = Window(examples if keeps else None, parts, own, loader)
        loader.last_window = weakref.ref(window)
        return window


class Loader:
    """Yields a Window for each optimizer step: `batch * accumulate` examples, as these stand at that moment.

    Wraps the DataLoader's dataset, sampler, collate_fn, drop_last and workers; examples come in the same order and
    random numbers are drawn as by the DataLoader itself. Workers fetch single examples, which are collated in the main
    process, so that a new size holds for the very next window.

    On several ranks each takes every R-th example of the same order, `batch` of them for a micro batch, and `seen`,
    `epoch` and `examples` are those of all ranks. The tail of an epoch is divided as evenly as can be: a rank that gets
    nothing of it has a Window without parts.
    """

    def __init__(self, run: "Run", dataloader: Any, examples: bool = False) -> None:
        self._run = run
        self.dataloader = dataloader
        self._examples_used = examples
        self._first_step = True  # is not over
        self.cuttable = True  # examples can be taken out of a collated batch
        self.sampler, self.drop_last, self._batch = _sampler_of(dataloader, run._ranks)
        self.dataset = dataloader.dataset
        self.examples = len(self.sampler)  # of an epoch
        self._accumulate = 1
        self.epoch = 0  # passes completed
        self.seen = 0  # examples of the whole training
        self.seen_in_epoch = 0
        self.last_size = 0  # the largest micro batch of the last window, before it was split for memory
        self.last_total = 0  # examples of the last window, of all ranks
        self.last_window: Callable[[], Optional[Window]] = lambda: None  # while the program holds it
        self._stepped = (0, 0, 0)  # epoch, seen, seen in the epoch, after the last step
        self._skip = 0
        self._promised = 0  # a batch size that the next window of this epoch may have
        self._window = (self._batch, 1)  # batch and accumulation of the last window
        self._rng: Any = None
        self._resuming = False  # the next epoch iterator starts in the middle of an epoch
        self._resume_rng: Any = None
        self._workers: Any = None
        self._source: Any = None  # of the present epoch
        self._pins = bool(dataloader.pin_memory)
        run._describe(can=("batch", "accumulate"), examples=self.examples, batch=self._batch, accumulate=1,
                      drop_last=self.drop_last)

    @property
    def batch(self) -> int:
        """Examples of a micro batch. May be set at any time, and holds from the next window on."""
        return self._batch

    @batch.setter
    def batch(self, size: int) -> None:
        self._batch = self._clamped("batch", size, max(1, self.examples // self._sharers))

    @property
    def accumulate(self) -> int:
        """Micro batches of a window. May be set at any time, too."""
        return self._accumulate

    @accumulate.setter
    def accumulate(self, count: int) -> None:
        self._accumulate = self._clamped("accumulate", count, max(1, self.examples))

    def _clamped(self, what: str, asked: int, most: int) -> int:
        taken = max(1, min(int(asked), most))
        if taken != asked and (self._run._ranks is None or self._run._rank == 0):
            self._run.event("clamp", field=what, asked=asked, taken=taken)
        return taken

    @property
    def _sharers(self) -> int:
        """Ranks that take the examples together."""
        return 1 if self._run._ranks is None else self._run._ranks.size

    def __len__(self) -> int:
        """Windows of an epoch at the present size."""
        return self._windows(self.examples)

    def _windows(self, examples: int) -> int:
        batch = self._batch * self._sharers
        micro = examples // batch if self.drop_last else -(-examples // batch)
        return -(-micro // self._accumulate)

    def __iter__(self) -> Iterator[Window]:
        return _Epoch(self)

    def set_epoch(self, epoch: int) -> None:
        """Passed on to the sampler, for programs that call it."""
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)

    @property
    def through(self) -> bool:
        """Whether the epoch has no window left at the present size."""
        left = self.examples - self.seen_in_epoch
        return left <= 0 or (self.drop_last and left < self._batch * self._sharers)

    def _promise(self) -> bool:
        """Whether there is another window; if so there will be one, even if the size changes before."""
        self._promised = 0 if self.through else self._batch
        return self._promised > 0

    def _next_sizes(self) -> List[int]:
        """Examples of the micro batches of the next window, of all ranks together."""
        left = self.examples - self.seen_in_epoch
        batch, count = self._batch * self._sharers, self._accumulate
        if self.drop_last:
            if left < batch and left >= self._promised > 0:
                batch = self._promised
            return [batch] * min(count, left // batch)
        whole, rest = divmod(min(batch * count, left), batch)
        return [batch] * whole + ([rest] if rest else [])

    def _own(self, sizes: List[int]) -> List[int]:
        """This rank's part of the micro batches; one of which it gets nothing is left out."""
        ranks = self._run._ranks
        return sizes if ranks is None else [part for part in map(ranks.part, sizes) if part]

    def _took(self, sizes: List[int]) -> None:
        self._promised = 0
        self._window = self._batch, self._accumulate
        self.last_total = sum(sizes)
        self.seen += self.last_total
        self.seen_in_epoch += self.last_total
        own = self._own(sizes)
        self.last_size = max(own, default=0)
        self._run._takes = list(own)

    def _end_epoch(self) -> None:
        if self._source is not None and self.through:
            self._source.exhaust()
        self._source = None
        if self.seen_in_epoch or not self.examples:
            self.epoch += 1
            self.seen_in_epoch = 0

    @property
    def _keeps_examples(self) -> bool:
        """Thousands of objects that live through a step are slow to keep: 1 ms for 2,000 small ones."""
        return self._examples_used or self._first_step

    def _count_step(self) -> None:
        self._first_step = False
        self._stepped = (self.epoch, self.seen, self.seen_in_epoch)

    def _series(self) -> Dict[str, Any]:
        whole = max(1, self.examples)
        batch, accumulate = self._window
        return {"examples_seen": self._run._examples_before + self.seen, "epoch_index": self.epoch,
                "epoch": self.seen / whole, "train_coverage": self.seen_in_epoch / whole, "batch": batch,
                "accumulate": accumulate}

    def _collate(self, examples: List[Any]) -> Any:
        part = self.dataloader.collate_fn(examples)
        if self._pins:
            import torch
            if torch.cuda.is_available():
                from torch.utils.data._utils.pin_memory import pin_memory
                return pin_memory(part)
        return part

    # ---- where the examples come from ----

    def _indices(self, skip: int) -> Iterator[Any]:
        """The order of this epoch without its first `skip` examples; on several ranks this rank's part of it."""
        from itertools import islice
        ranks = self._run._ranks
        if ranks is not None:
            order = ranks.same_order(list(islice(iter(self.sampler), self.examples)))
            return iter(order[ranks.rank::ranks.size][skip // ranks.size:])
        indices = iter(self.sampler)
        for _ in islice(indices, skip):
            pass
        return indices

    def _generator(self) -> Any:
        import torch
        return self.dataloader.generator or torch.default_generator

    def _open(self) -> Any:
        """Starts an epoch, at its beginning or where a checkpoint was made."""
        self._leave_epoch()
        generator = self._generator()
        now = generator.get_state()
        if self._resume_rng is not None:
            generator.set_state(self._resume_rng)
        self._rng = generator.get_state()
        self._skip = self.seen_in_epoch
        source = _FromWorkers(self) if self.dataloader.num_workers > 0 else _Direct(self, self._skip)
        if self._resuming:  # the numbers of the epoch's start were drawn before the checkpoint
            generator.set_state(now)
        self._resuming, self._resume_rng = False, None
        return source

    def _leave_epoch(self) -> None:
        """Ends an epoch whose iterator was not asked for more than its windows, or was left early."""
        if self.seen_in_epoch and not self._resuming:
            self._end_epoch()

    def _worker_loader(self) -> Any:
        if self._workers is None:
            from torch.utils.data import DataLoader
            given = self.dataloader
            ahead = (given.prefetch_factor or 2) * self._batch * self._accumulate
            self._workers = DataLoader(
                self.dataset, batch_sampler=_Chunks(self), collate_fn=_pack, num_workers=given.num_workers,
                timeout=given.timeout, worker_init_fn=given.worker_init_fn, generator=given.generator,
                multiprocessing_context=given.multiprocessing_context, persistent_workers=given.persistent_workers,
                prefetch_factor=max(2, -(-ahead // CHUNK)))
        return self._workers

    # ---- checkpoints ----

    def state_dict(self) -> Dict[str, Any]:
        """The position after the last step, for a checkpoint; a plain JSON value."""
        epoch, seen, seen_in_epoch = self._stepped
        rng = "" if self._rng is None else base64.b64encode(self._rng.numpy().tobytes()).decode()
        return {"epoch": epoch, "seen": seen, "seen_in_epoch": seen_in_epoch, "batch": self._batch,
                "accumulate": self._accumulate, "rng": rng}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on from there: the next epoch iterator starts in the middle of that epoch."""
        import torch
        self.epoch, self.seen, self.seen_in_epoch = state["epoch"], state["seen"], state["seen_in_epoch"]
        self._stepped = (self.epoch, self.seen, self.seen_in_epoch)
        self._run._examples_before = max(0, self._run._examples - self.seen)
        self._batch, self._accumulate = state["batch"], state["accumulate"]
        if self.through:
            self._end_epoch()
            return
        self._resuming = self.seen_in_epoch > 0
        if self._resuming and state.get("rng"):
            data = bytearray(base64.b64decode(state["rng"]))
            self._resume_rng = torch.frombuffer(data, dtype=torch.uint8).clone()


# ---------------------------------------------------------------------------------------------------------------------
# Backward: a window in pieces
# ---------------------------------------------------------------------------------------------------------------------

def _rows(part: Any) -> int:
    """Examples of a collated batch: the rows of its first tensor."""
    values = part.values() if hasattr(part, "values") and hasattr(part, "keys") else part
    if hasattr(values, "shape"):
        return int(values.shape[0]) if len(values.shape) else 1
    for value in values if hasattr(values, "__iter__") and not isinstance(values, str) else ():
        rows = _rows(value)
        if rows > 0:
            return rows
    return 0


class _NoRows(Exception):
    """A batch has a tensor without one row for each example."""


def _has_rows(part: Any, size: int) -> bool:
    """Whether examples of a collated batch of `size` can be taken out of it."""
    try:
        _chosen(part, slice(0, 0), size)
    except _NoRows:
        return False
    return True


def _chosen(part: Any, rows: Any, size: int) -> Any:
    """These rows (a slice or a list) of everything in a collated batch of `size` examples. Raises _NoRows."""
    try:
        return _select(part, rows, size)
    except _NoRows:
        raise
    except Exception as error:  # sparse and nested tensors, objects of the program's own
        if is_out_of_memory(error):
            raise
        raise _NoRows from error


def _select(value: Any, rows: Any, size: int) -> Any:
    shape = getattr(value, "shape", None)
    if shape is not None:
        if len(shape) == 0:
            return value
        if shape[0] != size:
            raise _NoRows
        return value[rows]
    if hasattr(value, "keys"):
        chosen = {key: _select(value[key], rows, size) for key in value.keys()}
        return chosen if type(value) is dict else _like(value, chosen)
    if isinstance(value, tuple):
        items = [_select(item, rows, size) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        if any(hasattr(item, "shape") or hasattr(item, "keys") or isinstance(item, (list, tuple)) for item in value):
            return [_select(item, rows, size) for item in value]
        if len(value) != size:
            raise _NoRows
        return value[rows] if isinstance(rows, slice) else [value[row] for row in rows]
    return value


def _like(value: Any, chosen: Dict[str, Any]) -> Any:
    """A mapping of the type of `value`; a dict if that cannot be made."""
    with contextlib.suppress(Exception):
        return type(value)(chosen)
    return chosen


def _labels(part: Any) -> Any:
    """The labels of a collated batch: its entry of that name, or the last tensor of integers."""
    if hasattr(part, "keys"):
        for name in ("shift_labels", "labels", "label", "label_ids", "targets", "target"):
            if name in part and hasattr(part[name], "ne"):
                return part[name]
        return None
    items = part if isinstance(part, (list, tuple)) else []
    tensors = [t for t in items if hasattr(t, "is_floating_point") and not t.is_floating_point() and t.dim() > 0]
    return tensors[-1] if tensors else None


def _counts(part: Any, examples: int) -> Dict[str, float]:
    """What the loss of a batch may be the mean over, most likely first."""
    labels = _labels(part)
    counts: Dict[str, float] = {}
    if labels is not None:
        counts["labels"] = float(labels.ne(-100).sum())
        if labels.dim() > 1:
            counts["shifted labels"] = float(labels[..., 1:].ne(-100).sum())
    counts["examples"] = float(examples)
    return counts


class _Piece:
    """A micro batch, or a part of one."""

    __slots__ = ("part", "size", "first", "index", "divisor")

    def __init__(self, part: Any, size: int, first: int, index: int) -> None:
        self.part = part
        self.size = size
        self.first = first  # its first example within the micro batch
        self.index = index  # of the micro batch
        self.divisor = 1.0  # of its loss


def _evenly(size: int, limit: Optional[int]) -> List[int]:
    """Sizes of at most `limit` that differ by at most 1 and add up to `size`."""
    count = 1 if not limit else -(-size // limit)
    return [size // count + (index < size % count) for index in range(count)]


class _Saved:
    """What a failed attempt has changed: random numbers and the statistics of batch norms."""

    def __init__(self, model: Any) -> None:
        import torch
        self._cpu = torch.get_rng_state()
        cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._cuda = torch.cuda.get_rng_state_all() if cuda else None
        norms = (torch.nn.modules.batchnorm._NormBase,)
        self._buffers = [(b, b.clone()) for m in model.modules() if isinstance(m, norms) and m.training
                         for b in m.buffers(recurse=False)]

    def restore(self) -> None:
        import torch
        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        for buffer, value in self._buffers:
            buffer.copy_(value)


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode without gradients, and every module as it was afterwards."""
    import torch
    modes = [(module, module.training) for module in model.modules()]
    saved = _Saved(model)
    try:
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        saved.restore()


@contextlib.contextmanager
def _shaken(model: Any, strength: float) -> Iterator[None]:
    """Parameters with noise, so that losses of examples differ even before training; exactly restored."""
    import torch
    if strength == 0:
        yield
        return
    generator = torch.Generator().manual_seed(1)
    parameters = [p for p in model.parameters() if p.is_floating_point()]
    saved = [p.detach().clone() for p in parameters]
    try:
        with torch.no_grad():
            for p in parameters:
                noise = torch.randn(p.shape, generator=generator).to(p.device, p.dtype)
                p.add_(noise * (strength * max(0.05, float(p.detach().float().std(unbiased=False)))))
        yield
    finally:
        with torch.no_grad():
            for p, value in zip(parameters, saved):
                p.copy_(value)


class _Method:
    """How a framework computes the loss of a micro batch and its gradients."""

    model: Any
    key: Any  # of the loss function
    wrapped: Any = None  # the DistributedDataParallel around the model, on several ranks

    def backward(self, piece: _Piece, parts: int) -> Any:
        """Adds the gradients of piece's loss / piece.divisor; returns that loss, detached."""
        raise NotImplementedError

    def measure(self, part: Any) -> float:
        """The loss of a batch as the framework computes it."""
        raise NotImplementedError

    def part_weights(self, window: Window) -> Optional[List[float]]:
        """What each micro batch counts within the window; None if backward() knows it."""
        return None

    def rank_weight(self, window: Window) -> float:
        """What this rank's loss counts among those of all ranks."""
        return float(sum(self.part_weights(window) or window.sizes))

    def counts(self, piece: _Piece, window: Window) -> Dict[str, float]:
        return _counts(piece.part, piece.size)


class _PlainMethod(_Method):
    """A function of the program that returns the mean loss."""

    def __init__(self, fn: Callable[..., Any], model: Any, weight: Optional[Callable[[List[Any]], float]],
                 mark: Callable[[str], None]) -> None:
        self._fn = fn
        self._weight = weight
        self._mark = mark
        self.model = self.wrapped = model
        while not hasattr(fn, "__code__") and hasattr(fn, "func"):  # a functools.partial, made anew for each step
            fn = fn.func
        self.key = getattr(fn, "__code__", fn)

    def _loss(self, part: Any) -> Any:
        return self._fn(*part) if isinstance(part, (tuple, list)) else self._fn(part)

    def backward(self, piece: _Piece, parts: int) -> Any:
        self._mark("forward")
        loss = self._loss(piece.part)
        if piece.divisor != 1.0:
            loss = loss / piece.divisor
        self._mark("backward")
        loss.backward()
        return loss.detach()

    def measure(self, part: Any) -> float:
        return float(self._loss(part))

    def part_weights(self, window: Window) -> Optional[List[float]]:
        examples = self._weighed(window)
        if self._weight is None or examples is None:
            return [float(size) for size in window.sizes]
        ends = [sum(window.sizes[:index]) for index in range(len(window.sizes) + 1)]
        return [float(self._weight(examples[a:b])) for a, b in zip(ends, ends[1:])]

    def counts(self, piece: _Piece, window: Window) -> Dict[str, float]:
        counts = _counts(piece.part, piece.size)
        examples = self._weighed(window)
        if self._weight is not None and examples is not None:
            first = sum(window.sizes[:piece.index]) + piece.first
            counts = {"weight": float(self._weight(examples[first:first + piece.size])), **counts}
        return counts

    def _weighed(self, window: Window) -> Optional[List[Any]]:
        """The examples that the weight counts; None if there is no weight, or the batch is not of Run.loader."""
        if self._weight is None:
            return None
        if window._loader is not None and window.examples is None:
            raise TypeError("batchscope: this weight needs the examples, which are kept only if the first step uses "
                            "them; say run.loader(..., examples=True)")
        return window.examples


class _Splitter:
    """Runs windows, in pieces where memory is short. What was learnt about the memory is kept."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        self.limit: Optional[int] = None  # the largest piece that may fit
        self.updating = False  # within optimizer.step
        self._mean_over: Dict[Any, str] = {}  # what each loss is the mean over; "sum" if pieces just add up
        self._untold: List[Message] = []  # errors of this step on a rank that rank 0 reports
        self._running = 0  # size of the piece that is being run

    def plain(self, window: Window, fn: Callable[..., Any], model: Any,
              weight: Optional[Callable[[List[Any]], float]]) -> Any:
        tracer = self._run._tracer
        return self.run(window, _PlainMethod(fn, model, weight, tracer.mark if tracer else _nothing))

    def run(self, window: Window, method: _Method) -> Any:
        """Computes the gradients of a window; an out-of-memory error costs time only. On several ranks together."""
        if self._run._ranks is not None:
            return self._together(window, method, self._run._ranks)
        return self._alone(window, method)

    def _together(self, window: Window, method: _Method, ranks: _Ranks) -> Any:
        """Each rank runs its window, in as many pieces as it must; then the gradients are averaged once.

        Not by DistributedDataParallel, which averages within a backward pass: if that fails on one rank, the others
        would wait for ever.
        """
        wrapped, loss, error = method.wrapped, None, None
        why_not = _why_not_distributed_model(wrapped, ranks)
        if why_not is not None:
            raise TypeError(f"batchscope on several ranks {why_not}; use Run.report instead")
        ranks.share_buffers(wrapped)
        self._untold.clear()
        with _without_exchange(wrapped):
            if window.parts:
                try:
                    loss = self._alone(window, method)
                except Exception as caught:
                    if not is_out_of_memory(caught):
                        raise
                    error = caught
            else:
                method.model.zero_grad(set_to_none=True)
        share, missing = self._agree(window, method, ranks, error)
        ranks.average(wrapped, share, missing)
        return ranks.mean(wrapped, loss, share)

    def _agree(self, window: Window, method: _Method, ranks: _Ranks, error: Optional[Exception]) -> Tuple[float, bool]:
        """How many times this rank's gradients count, and whether a rank lacks some; raises if a rank has failed."""
        loader = self._run._loader
        sizes = [] if loader is None else [*loader._window, loader.seen]
        missing = any(p.requires_grad and p.grad is None for p in method.wrapped.parameters())
        weight = method.rank_weight(window)
        answers = ranks.gather([error is not None, weight, missing, len(self._untold), *sizes])
        if any(answer[3] for answer in answers):
            self._tell_of_ranks(ranks)
        if error is not None:
            raise error
        failed = [rank for rank, answer in enumerate(answers) if answer[0]]
        if failed:
            raise RuntimeError(f"batchscope: rank {failed[0]} has run out of memory")
        if any(answer[4:] != answers[0][4:] for answer in answers):
            raise RuntimeError("batchscope: the program has set another batch size on some ranks: "
                               + ", ".join(f"{int(answer[4])} on rank {rank}" for rank, answer in enumerate(answers)))
        whole = sum(answer[1] for answer in answers)
        equal = all(answer[1] == weight for answer in answers)
        return 1.0 if equal else weight * ranks.size / whole, any(answer[2] for answer in answers)

    def _tell_of_ranks(self, ranks: _Ranks) -> None:
        """Rank 0 reports the errors that other ranks have survived or not."""
        run = self._run
        for rank, details in enumerate(ranks.gather_objects(self._untold)):
            for detail in details if run._rank == 0 else ():
                run._report_shortage({"rank": rank, **detail})

    def _alone(self, window: Window, method: _Method) -> Any:
        saved = _Saved(method.model)
        retries = 0
        if self.limit is not None and max(window.sizes) > self.limit and method.key not in self._mean_over:
            self._find_mean(window, method)
        while True:
            method.model.zero_grad(set_to_none=True)
            try:
                return self._attempt(window, method)
            except Exception as caught:
                counted = self._run._budget.pause()  # to handle the error takes memory, too
                if not is_out_of_memory(caught) or self.updating:
                    self._run._budget.resume()
                    raise
                error = caught
                in_use = counted or (self._run._memory.allocated() if self._run._memory else None)
                _forget_frames(error)
            method.model.zero_grad(set_to_none=True)
            saved.restore()
            if self._run._budget.make_room_again() and retries < MOST_RETRIES:
                retries += 1
                self._run._report_retry(self._running)
            else:
                self._shrink(window, method, error, in_use)
            del error

    def _attempt(self, window: Window, method: _Method) -> Any:
        pieces = self._pieces(window, method)
        total = None
        for piece in pieces:
            if piece.divisor == math.inf:
                continue  # nothing of it counts
            self._running = piece.size
            loss = method.backward(piece, len(window.parts))
            if loss is not None:
                total = loss if total is None else total + loss
        self._run._takes = [piece.size for piece in pieces]
        return total

    def _pieces(self, window: Window, method: _Method) -> List[_Piece]:
        pieces: List[_Piece] = []
        weights = method.part_weights(window)
        for index, (part, size) in enumerate(zip(window.parts, window.sizes)):
            own = [_Piece(part, size, 0, index)]
            sizes = _evenly(size, self.limit if method.key in self._mean_over else None)
            if len(sizes) > 1:
                firsts = [sum(sizes[:number]) for number in range(len(sizes))]
                own = [_Piece(_cut(window, index, slice(a, a + n)), n, a, index) for a, n in zip(firsts, sizes)]
                self._share(own, method, window)
            if weights is not None and len(window.parts) > 1:
                for piece in own:
                    piece.divisor *= sum(weights) / weights[index] if weights[index] else math.inf
            pieces += own
        return pieces

    def _share(self, pieces: List[_Piece], method: _Method, window: Window) -> None:
        name = self._mean_over[method.key]
        if name == "sum":
            return
        counts = [method.counts(piece, window)[name] for piece in pieces]
        for piece, count in zip(pieces, counts):
            piece.divisor = sum(counts) / count if count else math.inf

    def _shrink(self, window: Window, method: _Method, error: Exception, in_use: Optional[int]) -> None:
        """Halves the size of pieces, or lets the error go on if that does not help or would change the result."""
        run, size, text = self._run, self._running, f"{type(error).__name__}: {error}"[:500]
        reason = None
        if run.on_oom == "fail":
            reason = "on_oom is fail"
        elif size <= 1:
            reason = "a single example does not fit"
        elif method.key not in self._mean_over:
            reason = self._find_mean(window, method)
        detail: Message = {
            "attempted_batch": size, "requested_bytes": _requested_bytes(text), "in_use_bytes": in_use,
            "limit_bytes": run._budget.bytes, "cause": "training step", "text": text,
            "action": f"not split: {reason}" if reason else f"split into micro batches of at most {size // 2}"}
        if run._ranks is not None and run._rank > 0:
            self._untold.append(detail)
        else:
            run._report_shortage(detail)
        if reason is None:
            self.limit = max(1, size // 2)
        elif not run._take_budget_back(reason):
            raise error from RuntimeError(f"batchscope did not split this step: {reason}")

    # ---- what the loss is the mean over ----

    def _find_mean(self, window: Window, method: _Method) -> Optional[str]:
        """Finds out what weights pieces have in their joint loss; returns why that is not possible."""
        index = max(range(len(window.parts)), key=lambda i: window.sizes[i])
        if window.sizes[index] < 2:
            return "a single example does not fit"
        try:
            with self._run._budget.lifted(), _evaluating(method.model):
                for strength in (0.0, 0.3, 1.0, 3.0):
                    with _shaken(method.model, strength):
                        answer = self._solve(window, index, method)
                    if answer != "alike":
                        break
        except _NoRows:
            return "its batch cannot be cut along the examples"
        except Exception as error:
            _forget_frames(error)
            if is_out_of_memory(error):
                return "not even two examples fit"
            return f"its loss cannot be computed for single examples: {type(error).__name__}: {error}"[:300]
        if answer == "alike":
            return "the losses of its examples are too alike to tell what the loss is the mean over"
        if answer is None:
            return "its loss is no mean over its examples"
        self._mean_over[method.key] = answer
        return None

    def _solve(self, window: Window, index: int, method: _Method) -> Optional[str]:
        """The name of the count that explains joint losses; "alike" if any would, None if none does."""
        rows = _telling_rows(window, index)
        singles = [self._measured(window, index, [row], method) for row in rows]
        pairs = [(a, b) for a in range(len(rows)) for b in range(a)]
        joint = {pair: self._measured(window, index, [rows[i] for i in pair], method) for pair in pairs}
        low = _low_precision(method, window.parts[index])
        largest = max(abs(loss) for loss, _ in [*singles, *joint.values()])
        noise = (1e-2 if low else 1e-5) * max(largest, 1e-3)
        if not math.isfinite(largest):
            return None
        if all(abs(loss - singles[a][0] - singles[b][0]) < noise for (a, b), (loss, _) in joint.items()):
            return "sum"
        spread = max(abs(singles[a][0] - singles[b][0]) for a, b in pairs)
        fitting = None
        for name in singles[0][1]:
            if all(abs(_joint(singles, a, b, name) - loss) < noise for (a, b), (loss, _) in joint.items()):
                fitting = name
                break
        if fitting is not None and spread < (10 if low else 200) * noise:
            return "alike"
        return fitting

    def _measured(self, window: Window, index: int, rows: List[int], method: _Method) -> Tuple[float, Dict[str, float]]:
        part = _cut(window, index, rows)
        piece = _Piece(part, len(rows), rows[0], index)
        counts = method.counts(piece, window)
        if len(rows) > 1:
            counts.pop("weight", None)
        return method.measure(part), counts


def _nothing(_: str) -> None:
    pass


def _joint(singles: List[Tuple[float, Dict[str, float]]], a: int, b: int, name: str) -> float:
    """The loss of two examples together if it is the mean over this count."""
    one, two = singles[a][1][name], singles[b][1][name]
    if one + two == 0:
        return math.inf
    return (singles[a][0] * one if one else 0.0) / (one + two) + (singles[b][0] * two if two else 0.0) / (one + two)


def _telling_rows(window: Window, index: int) -> List[int]:
    """The examples with the fewest and the most labels, and one between them."""
    size = window.sizes[index]
    labels = _labels(window.parts[index])
    order = list(range(size))
    if labels is not None and labels.shape[0] == size and labels.dim() > 1:
        valid = labels.ne(-100).flatten(1).sum(1).tolist()
        order = sorted((row for row in order if valid[row] > 1), key=lambda row: valid[row]) or order
    if len(order) < 2:
        order = list(range(size))
    return list(dict.fromkeys([order[0], order[-1], order[len(order) // 2]]))


def _low_precision(method: _Method, part: Any) -> bool:
    """Whether the model computes in 16 bit, where losses are coarse."""
    import torch
    if any(p.dtype in (torch.float16, torch.bfloat16) for p in method.model.parameters()):
        return True
    leaf = next((m for m in method.model.modules() if not list(m.children()) and list(m.parameters())), None)
    if leaf is None:
        return False
    seen: List[bool] = []
    handle = leaf.register_forward_pre_hook(
        lambda *_: seen.append(torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")))
    try:
        method.measure(_chosen(part, [0], _rows(part)))
    except _NoRows:
        return False
    finally:
        handle.remove()
    return any(seen)


def _cut(window: Window, index: int, rows: Any) -> Any:
    """Some examples of a micro batch: its very inputs, or collated anew if these have no row for each example."""
    size = window.sizes[index]
    loader, examples = window._loader, window._examples
    if loader is None or examples is None:
        return _chosen(window.parts[index], rows, size)
    if loader.cuttable:
        with contextlib.suppress(_NoRows):
            return _chosen(window.parts[index], rows, size)
    first = sum(window.sizes[:index])
    own = examples[first:first + size]
    return loader._collate(own[rows] if isinstance(rows, slice) else [own[row] for row in rows])


def _forget_frames(error: BaseException) -> None:
    """Frees what the frames of an exception hold: their variables are tensors of the failed attempt."""
    seen = set()
    link: Optional[BaseException] = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        traceback.clear_frames(link.__traceback__)
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    error.__cause__ = error.__context__ = None


# ---------------------------------------------------------------------------------------------------------------------
# transformers
# ---------------------------------------------------------------------------------------------------------------------

_ENDLESS = 2**31  # a length that an epoch never reaches; it ends when the loader says so


def attach(trainer: Any) -> Run:
    """Attaches to a transformers.Trainer or a lightning Trainer, before train() or fit(); returns the Run.

    Changes nothing until something is steered, and nothing at all if nobody listens and start() got no schedule.
    """
    run = start()
    if (not run.active and run._schedule is None) or getattr(trainer, "_batchscope", None) is not None:
        return run
    packages = {kind.__module__.split(".")[0] for kind in type(trainer).__mro__}
    seed = _use_seed()  # once more, after all that the program has drawn
    if "transformers" in packages:
        if seed is not None:
            trainer.args.seed = seed % 2**32  # as much as NumPy takes
        trainer._batchscope = _attach_transformers(run, trainer)
    elif packages & {"lightning", "pytorch_lightning"}:
        trainer._batchscope = _attach_lightning(run, trainer)
    else:
        raise TypeError(f"attach takes a transformers.Trainer or a lightning Trainer, not a {type(trainer).__name__}")
    return run


def _version(package: Any) -> Tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", package.__version__)[:2])


def _only_level_1(run: Run, reason: str) -> None:
    if run._rank == 0:
        run.event("level", level=1, reason=reason)


class _Endless:
    """What the Trainer iterates over: windows, without a length that matters."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __len__(self) -> int:
        return _ENDLESS

    def __iter__(self) -> Iterator[Window]:
        self._loader._leave_epoch()
        self._loader.set_epoch(self._loader.epoch)
        return iter(self._loader)

    def set_epoch(self, epoch: int) -> None:
        """The loader counts epochs itself: the Trainer's own count starts again after a resume."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader.dataloader, name)


class _StockLength:
    """Stands for the stock loader where the Trainer computes its steps."""

    def __init__(self, loader: Loader) -> None:
        self.dataset = loader.dataset
        batch = loader.batch * loader._sharers
        self._length = loader.examples // batch if loader.drop_last else -(-loader.examples // batch)

    def __len__(self) -> int:
        return self._length


class _TrainerMethod(_Method):
    """The Trainer's own training_step on micro batches and pieces of them."""

    key = "transformers"

    def __init__(self, hook: "_Transformers", model: Any, items: Any) -> None:
        self._hook = hook
        self.wrapped = model
        self._called = model if hook.run._ranks is None else hook.trainer.model
        self._items = items
        self.model = hook.trainer.model

    def rank_weight(self, window: Window) -> float:
        if self._items is not None and self._hook.counts_over_ranks():
            return 1.0  # the loss was divided by what all ranks have together
        return super().rank_weight(window)

    def backward(self, piece: _Piece, parts: int) -> Any:
        trainer = self._hook.trainer
        trainer.current_gradient_accumulation_steps = parts
        tracer = self._hook.run._tracer
        if piece.divisor == 1.0 and tracer is None:
            return self._hook.stock["training_step"](self._called, piece.part, self._items)
        mark = tracer.mark if tracer else _nothing
        backward = trainer.accelerator.backward

        def divided(loss: Any, **kwargs: Any) -> Any:
            mark("backward")
            return backward(loss / piece.divisor if piece.divisor != 1.0 else loss, **kwargs)

        trainer.accelerator.backward = divided
        mark("forward")
        try:
            return self._hook.stock["training_step"](self._called, piece.part, self._items) / piece.divisor
        finally:
            del trainer.accelerator.backward

    def measure(self, part: Any) -> float:
        return self.loss(part, self._items)

    def loss(self, part: Any, items: Any) -> float:
        trainer = self._hook.trainer
        inputs = trainer._prepare_inputs(part)
        with trainer.compute_loss_context_manager():
            return float(trainer.compute_loss(self._called, inputs, num_items_in_batch=items))


def _why_not_transformers(trainer: Any) -> Optional[str]:
    """Why this Trainer can be watched only; None if its size can be steered."""
    import transformers
    args = trainer.args
    strategy = str(getattr(args, "train_sampling_strategy", "") or "")
    own_loop = [name for name in ("_inner_training_loop", "get_batch_samples", "_run_epoch")
                if _overrides(trainer, name, transformers.Trainer)]
    reasons = (
        (_version(transformers) < (4, 57), f"transformers {transformers.__version__} is older than 4.57"),
        (args.n_gpu > 1, "DataParallel over several GPUs"),
        (trainer.is_deepspeed_enabled, "DeepSpeed"),
        (trainer.is_fsdp_enabled, "FSDP"),
        (bool(getattr(args, "group_by_length", False)) or "group" in strategy or "rebalance" in strategy,
         "batches grouped by length"),
        (str(args.optim).split(".")[-1].lower() in ("lomo", "adalomo"), "an optimizer that steps in backward"),
        (bool(own_loop), f"the Trainer has its own {', '.join(own_loop)}"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _why_not_ranks_of(trainer: Any) -> Optional[str]:
    """Why the processes of this Trainer cannot be steered together; None if they can be."""
    args, accelerator = trainer.args, trainer.accelerator
    reasons = (
        (getattr(accelerator, "parallelism_config", None) is not None, "processes that share the examples"),
        (bool(accelerator.split_batches), "split_batches"),
        (bool(accelerator.dispatch_batches), "dispatch_batches"),
        (str(args.include_num_input_tokens_seen) not in ("no", "False"), "include_num_input_tokens_seen"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _overrides(instance: Any, name: str, base: type) -> bool:
    own, stock = getattr(type(instance), name, None), getattr(base, name, None)
    return own is not None and stock is not None and own is not stock


def _settings_of_transformers(trainer: Any) -> Dict[str, Any]:
    """Those that matter for a batch size, most of them under the names of TrainingArguments."""
    args = trainer.args
    ratio = args.warmup_steps if 0 < args.warmup_steps < 1 else getattr(args, "warmup_ratio", None)
    settings = {
        "learning_rate": args.learning_rate, "lr_scheduler_type": _text(args.lr_scheduler_type),
        **({"warmup_ratio": ratio} if ratio and args.warmup_steps < 1 else {"warmup_steps": int(args.warmup_steps)}),
        "optimizer": _text(args.optim), "weight_decay": args.weight_decay, "max_grad_norm": args.max_grad_norm,
        "label_smoothing": args.label_smoothing_factor,
        "precision": "bf16" if args.bf16 else "fp16" if args.fp16 else "fp32",
        "gradient_checkpointing": bool(args.gradient_checkpointing), "seed": args.seed}
    if trainer.optimizer is not None:  # made by the program
        settings.update(_settings_of_optimizer(trainer.optimizer, begins=True))
    if trainer.lr_scheduler is not None:
        settings.update(lr_scheduler_type=type(trainer.lr_scheduler).__name__, warmup_steps=None, warmup_ratio=None)
    return _known(settings)


def _text(value: Any) -> str:
    """A text, or the one of an enumeration."""
    return str(getattr(value, "value", value))


class _Transformers:
    """Attached to one transformers.Trainer: replaces methods of that instance, and calls them."""

    def __init__(self, run: Run, trainer: Any) -> None:
        self.run = run
        self.trainer = trainer
        self.stock: Dict[str, Any] = {}
        self.loader: Optional[Loader] = None
        self.loss: Any = None
        self.grad_norm: Any = None
        self._own_sizes = (0, 0)  # the program's own batch and accumulation
        self._first = (0, 0)  # those that the rate schedule was made for
        self._changed = False  # whether the size was ever another one
        self._epochs = 0.0
        self._stock_epochs = 0
        self._schedule_steps = 0
        self._own_args: Dict[str, Any] = {}
        self._checked_scale = False

    # ---- methods of the Trainer ----

    def replace(self, name: str) -> None:
        self.stock[name] = getattr(self.trainer, name)
        setattr(self.trainer, name, getattr(self, name))

    def get_train_dataloader(self) -> Any:
        dataloader = self.stock["get_train_dataloader"]()
        try:
            reason = _why_not_divided(dataloader, self.run._ranks)
            if reason is not None:
                raise TypeError(reason)
            loader = Loader(self.run, dataloader)
        except TypeError as error:
            self.loader = self.run._loader = self.run._ranks = None
            self.run._describe()
            _only_level_1(self.run, str(error))
            return dataloader
        self._restore_args()
        args = self.trainer.args
        self.run._splitter = _Splitter(self.run)  # what was learnt of another model does not hold for this one
        self.loader = self.run._loader = loader
        loader.batch, loader.accumulate = self.trainer._train_batch_size, args.gradient_accumulation_steps
        self._own_sizes = loader.batch, loader.accumulate
        self.run._know_model(self.trainer.model)
        self.run._describe(
            batch=loader.batch, accumulate=loader.accumulate,
            epochs=None if args.max_steps > 0 else args.num_train_epochs,
            steps=args.max_steps if args.max_steps > 0 else None)
        self.run._greet(wait=True)
        self.run._keep_size()
        if self.run._ranks is not None:
            self.run._share_orders()
        self._first = loader.batch, loader.accumulate
        self._changed = False
        return _Endless(loader)

    def set_initial_training_values(self, args: Any, dataloader: Any, *rest: Any) -> Any:
        if not isinstance(dataloader, _Endless):
            return self.stock["set_initial_training_values"](args, dataloader, *rest)
        trainer, loader = self.trainer, self.loader
        self._own_args = {"gradient_accumulation_steps": args.gradient_accumulation_steps,
                          "ignore_data_skip": args.ignore_data_skip}
        args.gradient_accumulation_steps = loader.accumulate
        trainer._train_batch_size = loader.batch
        rest = tuple(trainer.get_total_train_batch_size(args) for _ in rest)
        values = list(self.stock["set_initial_training_values"](args, _StockLength(loader), *rest))
        self._stock_epochs = values[0]
        self._epochs = math.inf if args.max_steps > 0 else float(args.num_train_epochs)
        values[0], values[1], values[5] = _ENDLESS, _ENDLESS, _ENDLESS
        args.gradient_accumulation_steps = 1  # a window is one training_step
        args.ignore_data_skip = True  # the loader knows its position
        return tuple(values)

    def _restore_args(self) -> None:
        for name, value in self._own_args.items():
            setattr(self.trainer.args, name, value)
        self._own_args = {}

    def create_scheduler(self, num_training_steps: int, *args: Any, **kwargs: Any) -> Any:
        self._schedule_steps = num_training_steps
        return self.stock["create_scheduler"](num_training_steps, *args, **kwargs)

    def get_batch_samples(self, iterator: Any, count: int, *rest: Any) -> Any:
        if self.loader is None:
            return self.stock["get_batch_samples"](iterator, count, *rest)
        window = next(iterator, None)
        if window is None:
            return [], None
        if self.run._ranks is not None:
            return [window], self._items_of_ranks(window, *rest)
        _, items = self.stock["get_batch_samples"](iter(window.parts), len(window.parts), *rest)
        return [window], items

    def counts_over_ranks(self) -> bool:
        """Whether a loss is divided by the number of labels of all ranks, and not of its own."""
        trainer = self.trainer
        return bool(trainer.args.average_tokens_across_devices
                    and (trainer.model_accepts_loss_kwargs or trainer.compute_loss_func))

    def _items_of_ranks(self, window: Window, *rest: Any) -> Any:
        """The Trainer's count of labels. It would ask all ranks itself, but not one that has no example."""
        args = self.trainer.args
        over_ranks = args.average_tokens_across_devices
        args.average_tokens_across_devices = False
        try:
            _, items = self.stock["get_batch_samples"](iter(window.parts), len(window.parts), *rest)
        finally:
            args.average_tokens_across_devices = over_ranks
        if not over_ranks:
            return items
        answers = self.run._ranks.gather([items is not None, 0.0 if items is None else float(items)])
        if not any(counted for counted, _ in answers):
            return None
        import torch
        return torch.tensor(sum(count for _, count in answers), dtype=torch.float32, device=args.device)

    def training_step(self, model: Any, inputs: Any, *rest: Any, **kwargs: Any) -> Any:
        if not isinstance(inputs, Window):
            loss = self.stock["training_step"](model, inputs, *rest, **kwargs)
            self.loss = loss if self.loss is None else self.loss + loss
            return loss
        items = rest[0] if rest else kwargs.get("num_items_in_batch")
        method = _TrainerMethod(self, model, items)
        factor = len(inputs.parts)
        if self.run._ranks is not None and self.counts_over_ranks():
            factor *= self.run._ranks.size
        if not self._checked_scale and inputs.parts and factor > 1 and items is not None:
            self._check_scale(method, inputs, factor)
        self.loss = self.run._splitter.run(inputs, method)
        return self.loss

    def floating_point_ops(self, inputs: Any) -> Any:
        parts = inputs.parts if isinstance(inputs, Window) else [inputs]
        return sum(self.stock["floating_point_ops"](part) for part in parts)

    def _track_num_input_tokens(self, inputs: Any) -> None:
        for part in inputs.parts if isinstance(inputs, Window) else [inputs]:
            self.stock["_track_num_input_tokens"](part)

    def _check_scale(self, method: _TrainerMethod, window: Window, factor: int) -> None:
        """Tells of a head that takes the count of labels and ignores it: its gradients grow with accumulation."""
        self._checked_scale = True
        if not self.run.active:
            return
        try:
            with _evaluating(method.model):
                one, two = (method.loss(window.parts[0], method._items * times) for times in (1, 2))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return
        if one == two and one != 0 and self.trainer.model_accepts_loss_kwargs:
            self.run.event("loss-scale", factor=factor,
                           text="the model ignores num_items_in_batch: gradients are too large by this factor")

    # ---- moments of the training ----

    def began(self, state: Any, control: Any, name: str) -> None:
        run, loader = self.run, self.loader
        run._know_model(self.trainer.model)
        run._know_optimizer(self.trainer.optimizer)
        if loader is None:
            run._begin_training(state.global_step)
            return
        state.num_train_epochs = self._stock_epochs
        if state.global_step > 0:  # resumed
            self._resume(state.global_step, (state.stateful_callbacks or {}).get(name))
        run._begin_training(state.global_step)
        state.stateful_callbacks[name] = self.position()
        run._changed = run._changed or state.global_step > 0

    def _resume(self, steps: int, saved: Any) -> None:
        """Goes on at the checkpoint's position; for one made without BatchScope, at the one its steps amount to."""
        loader = self.loader
        saved = saved[-1] if isinstance(saved, list) and saved else saved
        attributes = saved.get("attributes", {}) if isinstance(saved, dict) else {}
        if attributes.get("loader"):
            self._changed = attributes["changed"]
            own = {} if self._changed else {"batch": loader.batch, "accumulate": loader.accumulate}
            loader.load_state_dict({**attributes["loader"], **own})  # an unchanged size is the program's: of today
            if self._changed:
                self._first = tuple(attributes["first"])
            self.run._splitter.limit = attributes["limit"]
            self.run._splitter._mean_over.update(attributes["mean_over"])
            return
        sizes = {"batch": loader.batch, "accumulate": loader.accumulate}
        loader.batch, loader.accumulate = self._own_sizes  # those of the steps that were made
        epoch, windows = divmod(steps, max(1, len(loader)))
        seen = min(windows * loader.batch * loader.accumulate * loader._sharers, loader.examples)
        loader.load_state_dict({"epoch": epoch, "seen": epoch * loader.examples + seen, "seen_in_epoch": seen, **sizes})

    def position(self) -> Dict[str, Any]:
        """What a checkpoint keeps."""
        splitter = self.run._splitter
        return {"args": {}, "attributes": {} if self.loader is None else {
            "loader": self.loader.state_dict(), "first": list(self._first), "changed": self._changed,
            "limit": splitter.limit,
            "mean_over": {key: name for key, name in splitter._mean_over.items() if isinstance(key, str)}}}

    def stepped(self, state: Any, control: Any) -> None:
        run, loader = self.run, self.loader
        run._step = run._steps_before + state.global_step - 1
        values = {"loss": self.loss, "grad_norm": self.grad_norm}
        self.loss = None
        if loader is None:
            args = self.trainer.args
            batch, accumulate = self.trainer._train_batch_size, args.gradient_accumulation_steps
            values.update(batch=batch, accumulate=accumulate, effective_batch=batch * accumulate * args.world_size)
        run._step_done({name: value for name, value in values.items() if value is not None})
        if loader is not None:
            through = loader.through
            place = loader.epoch + (1.0 if through else loader.seen_in_epoch / loader.examples)
            state.epoch = place
            control.should_epoch_stop = control.should_epoch_stop or through
            self._follow_size(state, place, through)
        if run._stop:
            control.should_training_stop = True
            control.should_save = control.should_save or run._save

    def _follow_size(self, state: Any, place: float, through: bool) -> None:
        """From the first change of the size on, training ends with its examples and the rate follows progress."""
        loader = self.loader
        self._changed = self._changed or (loader.batch, loader.accumulate) != self._first
        if not self._changed or math.isinf(self._epochs):
            return
        state.max_steps = state.global_step + self._steps_left(through)
        schedule = self.trainer.lr_scheduler
        import torch
        if isinstance(schedule, torch.optim.lr_scheduler.LambdaLR):
            done = state.global_step >= state.max_steps
            progress = 1.0 if done else min(1.0, place / self._epochs)
            schedule.last_epoch = progress * self._schedule_steps - 1
            schedule.step()

    def _steps_left(self, through: bool) -> int:
        loader = self.loader
        last = math.ceil(self._epochs)  # epochs, the last of them perhaps in part
        in_last = math.ceil((self._epochs - (last - 1)) * loader.examples)
        epoch, seen = (loader.epoch + 1, 0) if through else (loader.epoch, loader.seen_in_epoch)
        if epoch >= last:
            return 0
        if epoch == last - 1:
            return loader._windows(max(0, in_last - seen))
        return loader._windows(loader.examples - seen) + (last - epoch - 2) * len(loader) + loader._windows(in_last)


def _attach_transformers(run: Run, trainer: Any) -> Any:
    import transformers
    from transformers.trainer_callback import ExportableState, TrainerCallback
    hook = _Transformers(run, trainer)

    class BatchScopeCallback(TrainerCallback, ExportableState):
        """In front of all others, so that they see the epoch and the steps of the present size."""

        def state(self) -> Dict[str, Any]:
            return hook.position()

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            callbacks = trainer.callback_handler.callbacks
            callbacks.insert(0, callbacks.pop(callbacks.index(self)))  # a restored one comes last
            hook.began(state, control, type(self).__name__)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            hook.stepped(state, control)

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
            values = {_series_of(name, value): value for name, value in (metrics or {}).items()
                      if isinstance(value, (int, float)) and name != "epoch"}
            values["evaluation_seconds"] = sum(value for name, value in values.items() if name.endswith("_runtime"))
            run.event("evaluation", values=values)

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            hook._restore_args()

    trainer.callback_handler.callbacks.insert(0, BatchScopeCallback())
    run._describe(
        framework=f"transformers {transformers.__version__}", settings=_settings_of_transformers(trainer),
        batch=trainer.args.train_batch_size, accumulate=trainer.args.gradient_accumulation_steps)
    run.stopping  # the Trainer ends by itself
    clip = trainer.accelerator.clip_grad_norm_

    def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
        hook.grad_norm = clip(*args, **kwargs)
        return hook.grad_norm

    trainer.accelerator.clip_grad_norm_ = clip_grad_norm
    reason = _why_not_transformers(trainer)
    if reason is None and trainer.args.world_size > 1:
        reason = _why_not_ranks_of(trainer) or run._join_ranks()
    elif reason is None and run._world > 1:
        reason = f"{run._world} processes train each for itself (on the CPU, a Trainer needs use_cpu for more)"
    if reason is not None:
        hook.replace("training_step")
        _only_level_1(run, reason)
        return hook
    if trainer.args.auto_find_batch_size:
        trainer.args.auto_find_batch_size = False
        run.event("lint", text="auto_find_batch_size is switched off: it restarts at step 0 with the trained weights")
    if getattr(trainer.args, "torch_compile", False):
        run.event("lint", text="torch.compile compiles again when the batch size changes")
    for name in ("get_train_dataloader", "set_initial_training_values", "create_scheduler", "get_batch_samples",
                 "training_step", "floating_point_ops", "_track_num_input_tokens"):
        if hasattr(trainer, name):
            hook.replace(name)
    run._describe(can=("estimate",))
    run._estimator = lambda batches: _estimate_trainer(trainer, batches)
    return hook


# ---------------------------------------------------------------------------------------------------------------------
# lightning
# ---------------------------------------------------------------------------------------------------------------------

class _LightningLoader:
    """What Lightning takes for the training loader."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._checked = False

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Window]:
        if not self._checked:  # Lightning only looks whether it can be iterated over
            self._checked = True
            return iter(())
        return iter(self._loader)

    @property
    def worker_init_fn(self) -> Any:
        return self._loader.dataloader.worker_init_fn

    @worker_init_fn.setter
    def worker_init_fn(self, function: Any) -> None:
        self._loader.dataloader.worker_init_fn = function

    @property
    def sampler(self) -> Any:
        return self._loader.sampler

    @property
    def dataset(self) -> Any:
        return self._loader.dataset

    def state_dict(self) -> Dict[str, Any]:
        return self._loader.state_dict()

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self._loader.load_state_dict(state)


class _LightningMethod(_Method):
    """The module's own training_step on micro batches and pieces of them."""

    key = "lightning"

    def __init__(self, trainer: Any, arguments: Any, backward: Any, mark: Callable[[str], None],
                 divisor: Optional[int]) -> None:
        self._trainer = trainer
        self._arguments = arguments
        self._divisor = divisor  # of each micro batch's loss; None: by their sizes
        self._backward = backward
        self.mark = mark
        self.model = trainer.lightning_module
        self.wrapped = trainer.strategy.model
        self.extra: Dict[str, Any] = {}

    def _output(self, part: Any) -> Any:
        trainer = self._trainer
        arguments = type(self._arguments)(self._arguments)
        arguments["batch"] = part
        trainer._results.batch, trainer._results.batch_size = part, None  # what self.log averages over
        return trainer.fit_loop.epoch_loop.automatic_optimization._training_step(arguments)

    def backward(self, piece: _Piece, parts: int) -> Any:
        self.mark("forward")
        output = self._output(piece.part)
        if output.closure_loss is None:
            return None
        self.mark("backward")
        divisor = piece.divisor * (self._divisor or 1)
        loss = output.closure_loss if divisor == 1.0 else output.closure_loss / divisor
        self._backward(loss)
        self.extra = output.extra
        return loss.detach()

    def measure(self, part: Any) -> float:
        module = self.model
        hidden = {name: vars(module).get(name) for name in ("log", "log_dict")}
        try:
            for name in hidden:
                setattr(module, name, lambda *args, **kwargs: None)
            return float(self._output(part).closure_loss)
        finally:
            for name, value in hidden.items():
                delattr(module, name) if value is None else setattr(module, name, value)

    def part_weights(self, window: Window) -> Optional[List[float]]:
        return None if self._divisor else [float(size) for size in window.sizes]


def _why_not_lightning(trainer: Any, module: Any) -> Optional[str]:
    """Why this Trainer can be watched only; None if its size can be steered."""
    fit_loop = trainer.fit_loop
    private = (
        (fit_loop, "setup_data"), (fit_loop, "_data_source"), (fit_loop, "_data_fetcher"), (fit_loop, "max_batches"),
        (fit_loop.epoch_loop.automatic_optimization, "_make_closure"),
        (fit_loop.epoch_loop.automatic_optimization, "_training_step"),
        (module, "_on_before_batch_transfer"), (trainer.strategy, "batch_to_device"),
        (trainer._data_connector, "_prepare_dataloader"))
    missing = [name for owner, name in private if not hasattr(owner, name)]
    limit = trainer.limit_train_batches
    schedules = [c.scheduling for c in trainer.callbacks if type(c).__name__ == "GradientAccumulationScheduler"]
    reasons = (
        (bool(missing), f"this version of lightning has no {', '.join(missing)}"),
        (not module.automatic_optimization, "manual optimization"),
        (trainer.world_size > 1 and type(trainer.strategy).__name__ != "DDPStrategy",
         f"several processes with {type(trainer.strategy).__name__}; with DDPStrategy their size can be changed"),
        (trainer.num_nodes > 1, "its ranks run on several machines"),
        (not (isinstance(limit, float) and limit == 1.0), "limit_train_batches"),
        (bool(trainer.overfit_batches), "overfit_batches"),
        (any(len(schedule) > 1 for schedule in schedules), "its own schedule of accumulate_grad_batches"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _settings_of_lightning(trainer: Any) -> Dict[str, Any]:
    """Those that matter for a batch size, under the names that those of a transformers.Trainer have."""
    precision = re.match(r"(bf)?(16|32|64)", str(trainer.precision))
    schedulers = [type(config.scheduler).__name__ for config in trainer.lr_scheduler_configs]
    own = os.environ.get("PL_GLOBAL_SEED", "")  # what seed_everything leaves
    seed = _seed() if _seed() is not None else int(own) if own.isdecimal() else None
    return _known({
        **(_settings_of_optimizer(trainer.optimizers[0], begins=True) if trainer.optimizers else {}),
        "lr_scheduler_type": schedulers[0] if schedulers else None, "max_grad_norm": trainer.gradient_clip_val,
        "precision": f"{precision[1] or 'fp'}{precision[2]}" if precision else None,
        "seed": seed})


class _Lightning:
    """Attached to one lightning Trainer: replaces methods of its loops while it fits, and calls them."""

    def __init__(self, run: Run, trainer: Any, fetcher: Any, closure: Any, result: Any) -> None:
        self.run = run
        self.trainer = trainer
        self.loader: Optional[Loader] = None
        self._fetcher_class = fetcher
        self._closure_class = closure
        self._result_class = result
        self._replaced: List[Tuple[Any, str, Any]] = []
        self._first = (0, 0)
        self._told_rate = self._told_log = False
        self._steps = 0
        self.validation_began = 0.0  # by the monotonic clock

    def replace(self, owner: Any, name: str, function: Any) -> Any:
        """Puts a function in the place of an instance's method; returns the method."""
        stock = getattr(owner, name)
        self._replaced.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, function)
        return stock

    def restore(self) -> None:
        for owner, name, value in reversed(self._replaced):
            delattr(owner, name) if value is None else setattr(owner, name, value)
        self._replaced.clear()

    def setup(self, module: Any) -> None:
        trainer, run = self.trainer, self.run
        fit_loop = trainer.fit_loop
        run._know_model(module)
        run._splitter = _Splitter(run)  # what was learnt of another module does not hold for this one
        reason = _why_not_lightning(trainer, module) or run._join_ranks(one_machine=True)
        if reason is not None:
            run._rank, run._world = trainer.global_rank, trainer.world_size
            run._link.spill.dropping = run._rank > 0
            run._describe(rank=run._rank, world=run._world)
            _only_level_1(run, reason)
            return
        if run._ranks is not None:
            self._stock_log = self.replace(module, "log", self.log)
        optimization = fit_loop.epoch_loop.automatic_optimization
        self._stock_loader = self.replace(fit_loop._data_source, "dataloader", self.dataloader)
        self._stock_setup = self.replace(fit_loop, "setup_data", self.setup_data)
        self._stock_closure = self.replace(optimization, "_make_closure", self.make_closure)
        for owner, name in ((trainer.precision_plugin, "convert_input"), (module, "_on_before_batch_transfer"),
                            (trainer.strategy, "batch_to_device")):
            self._for_each_part(owner, name)

    def _for_each_part(self, owner: Any, name: str) -> None:
        def for_each(batch: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(batch, Window):
                return stock(batch, *args, **kwargs)
            batch.parts = [stock(part, *args, **kwargs) for part in batch.parts]
            return batch

        stock = self.replace(owner, name, for_each)

    def log(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """A mean over the ranks would wait for ever where one runs more pieces than another."""
        if kwargs.get("sync_dist") and self.trainer.lightning_module._current_fx_name == "training_step":
            kwargs["sync_dist"] = False
            if not self._told_log and self.run._rank == 0:
                self._told_log = True
                self.run.event("lint", text="self.log in training_step: each rank logs its own value, not the mean")
        return self._stock_log(name, value, *args, **kwargs)

    def dataloader(self) -> Any:
        trainer, run = self.trainer, self.run
        dataloader = self._stock_loader()
        try:
            if run._ranks is not None:  # with the sampler that Lightning would set later
                dataloader = trainer._data_connector._prepare_dataloader(dataloader, True, trainer.state.stage)
            reason = _why_not_divided(dataloader, run._ranks)
            if reason is not None:
                raise TypeError(reason)
            loader = Loader(run, dataloader)
        except TypeError as error:
            run._ranks = None
            run._describe()
            _only_level_1(run, str(error))
            return dataloader
        self.loader = run._loader = loader
        loader.accumulate = trainer.accumulate_grad_batches
        self._one_window_a_step()
        steps = trainer.max_steps if trainer.max_steps > 0 else None
        run._describe(accumulate=loader.accumulate, epochs=None if steps else trainer.max_epochs, steps=steps,
                      settings=_settings_of_lightning(trainer))
        run._greet(wait=True)
        run._keep_size()
        if run._ranks is not None:
            run._share_orders()
        self._first = loader.batch, loader.accumulate
        return _LightningLoader(loader)

    def _one_window_a_step(self) -> None:
        self._accumulation = self.trainer.accumulate_grad_batches
        self.trainer.accumulate_grad_batches = 1
        for callback in self.trainer.callbacks:
            if type(callback).__name__ == "GradientAccumulationScheduler":
                self._replaced.append((callback, "scheduling", callback.scheduling))
                callback.scheduling = {0: 1}

    def setup_data(self) -> None:
        """Lightning's own, then a fetcher that fetches nothing ahead."""
        self._stock_setup()
        fit_loop = self.trainer.fit_loop
        fetcher = fit_loop._data_fetcher
        if self.loader is None or fetcher is None or isinstance(fetcher, self._fetcher_class):
            return
        own = self._fetcher_class(self)
        own._combined_loader, own.iterator = fetcher._combined_loader, fetcher.iterator
        own.reset()
        fit_loop._data_fetcher = own
        own._combined_loader.limits = None
        if own._combined_loader._iterator is not None:
            own._combined_loader._iterator.limits = None
        if isinstance(self.trainer.val_check_interval, float) and self.trainer.val_check_interval == 1.0:
            self.trainer.val_check_batch = math.inf  # at the real end of an epoch

    def resume(self) -> None:
        """Lightning leaves a checkpoint's position out if the loader was made before the checkpoint was read."""
        fit_loop = self.trainer.fit_loop
        if self.loader is not None and getattr(fit_loop, "_combined_loader_states_to_load", None) and fit_loop.restarting:
            fit_loop._load_combined_loader_states()
            iter(fit_loop._data_fetcher)
        elif self.loader is not None and self.loader.seen == 0:  # begun, or resumed without a position
            epochs, loader = self.trainer.current_epoch, self.loader
            loader.load_state_dict({"epoch": epochs, "seen": epochs * loader.examples, "seen_in_epoch": 0,
                                    "batch": loader.batch, "accumulate": loader.accumulate})

    def fetched(self) -> bool:
        """Called after each fetch; returns whether that was the epoch's last window."""
        loader, fit_loop = self.loader, self.trainer.fit_loop
        more = loader._promise()
        left = loader._windows(loader.examples - loader.seen_in_epoch) if more else 0
        fit_loop.max_batches = fit_loop.epoch_loop.batch_progress.current.ready + 1 + left
        return not more

    def make_closure(self, arguments: Any, optimizer: Any, batch_idx: int) -> Any:
        window = arguments.get("batch")
        if not isinstance(window, Window):
            return self._stock_closure(arguments, optimizer, batch_idx)
        optimization = self.trainer.fit_loop.epoch_loop.automatic_optimization
        zero_grad = optimization._make_zero_grad_fn(batch_idx, optimizer)
        backward = optimization._make_backward_fn(optimizer) or _nothing
        tracer = self.run._tracer
        # Lightning divides each micro batch's loss by their number, also that of a short one and in a short window.
        own = (self.loader.batch, self.loader.accumulate) == self._first
        divisor = self.loader.accumulate if own else None
        method = _LightningMethod(self.trainer, arguments, backward, tracer.mark if tracer else _nothing, divisor)

        def compute() -> Any:
            if zero_grad is not None:
                zero_grad()
            updating, self.run._splitter.updating = self.run._splitter.updating, False  # a closure of step()
            self.run._budget.limit_step()
            try:
                loss = self.run._splitter.run(window, method)
            finally:
                self.run._splitter.updating = updating
                if updating:
                    self.run._budget.begin_update()
                    method.mark("update")
            if divisor is not None and loss is not None and len(window.parts) != divisor:
                loss = loss * (divisor / len(window.parts))  # as it is reported: the mean
            return self._result_class(closure_loss=loss, extra=method.extra)

        return self._closure_class(step_fn=compute)

    def stepped(self, outputs: Any) -> None:
        run, trainer = self.run, self.trainer
        if trainer.global_step == self._steps and self.loader is None:
            return  # a micro batch of a longer accumulation
        self._steps = trainer.global_step
        run._step = run._steps_before + max(0, trainer.global_step - 1)
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        run._step_done({} if loss is None else {"loss": loss})
        loader = self.loader
        by_steps = any(config.interval == "step" for config in trainer.lr_scheduler_configs)
        if loader is not None and by_steps and not self._told_rate and (loader.batch, loader.accumulate) != self._first:
            self._told_rate = True
            run.event("rate-by-steps", text="the program's own rate scheduler goes on counting steps")
        if run._stop:
            trainer.should_stop = True
            if run._save:
                trainer.save_checkpoint(os.path.join(trainer.default_root_dir, "batchscope-stop.ckpt"))

    def ended(self) -> None:
        if self.loader is not None:
            self.trainer.accumulate_grad_batches = self._accumulation
        self.restore()


def _attach_lightning(run: Run, trainer: Any) -> Any:
    import importlib
    package = "lightning.pytorch" if type(trainer).__module__.startswith("lightning.") else "pytorch_lightning"
    lightning = importlib.import_module(package)
    automatic = importlib.import_module(package + ".loops.optimization.automatic")
    fetchers = importlib.import_module(package + ".loops.fetchers")

    class Fetcher(fetchers._DataFetcher):
        """Fetches nothing ahead, and asks the loader whether a window was the last one."""

        def __init__(self, owner: _Lightning) -> None:
            super().__init__()
            self._owner = owner

        def __next__(self) -> Any:
            batch = super().__next__()
            self.done = self._owner.fetched()
            return batch

        def reset(self) -> None:
            super().reset()
            self.length, self.done = None, False

    hook = _Lightning(run, trainer, Fetcher, automatic.Closure, automatic.ClosureResult)

    class BatchScopeCallback(lightning.Callback):
        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                hook.setup(pl_module)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            hook.resume()
            run._describe(settings=_settings_of_lightning(trainer))
            if trainer.optimizers:
                run._know_optimizer(trainer.optimizers[0])
            hook._steps = trainer.global_step
            run._begin_training(trainer.global_step)
            run._changed = run._changed or trainer.global_step > 0

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            hook.stepped(outputs)

        def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
            hook.validation_began = time.monotonic()

        def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
            if trainer.sanity_checking:
                return
            numbers = {_series_of(key, float(value)): float(value) for key, value in trainer.callback_metrics.items()}
            numbers["evaluation_seconds"] = time.monotonic() - hook.validation_began
            run.event("evaluation", values=numbers)

        def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if stage == "fit":
                hook.ended()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            hook.ended()

    trainer.callbacks.insert(0, BatchScopeCallback())
    run._describe(framework=f"lightning {lightning.__version__}")
    run.stopping  # the Trainer ends by itself
    return hook


# ---------------------------------------------------------------------------------------------------------------------
# Trace
# ---------------------------------------------------------------------------------------------------------------------

def _bytes_of(tensors: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)


def _storages_of(tensors: Any) -> List[Tuple[Any, int]]:
    """Each storage once, with the bytes of the tensors in it: these may be parts of something larger."""
    storages: Dict[int, Tuple[Any, int]] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        _, used = storages.get(storage._cdata, (storage, 0))
        storages[storage._cdata] = storage, used + _bytes_of([tensor])
    return list(storages.values())


def _tensors_in(value: Any) -> List[Any]:
    """Of a batch, as collators make them."""
    if hasattr(value, "untyped_storage"):
        return [value]
    if hasattr(value, "keys"):
        value = [value[key] for key in value.keys()]
    return [tensor for item in value for tensor in _tensors_in(item)] if isinstance(value, (list, tuple)) else []


def _state_tensors(optimizer: Any) -> List[Any]:
    states = optimizer.state.values() if optimizer is not None else ()
    return [t for state in states if isinstance(state, dict) for t in state.values() if hasattr(t, "element_size")]


class _Tracer:
    """Lists the allocations of a step, from its making to finish()."""

    def __init__(self, model: Any = None, optimizer: Any = None) -> None:
        import torch
        self._torch = torch
        parameters = list(model.parameters()) if model is not None else []
        self._device = parameters[0].device.type if parameters else "cpu"
        gradients = [p.grad for p in parameters if p.grad is not None]
        states = [t for t in _state_tensors(optimizer) if t.device.type == self._device]
        self._start_by = {
            "parameters": _bytes_of(parameters) + _bytes_of(model.buffers() if model is not None else ()),
            "gradients": _bytes_of(gradients),
            "optimizer": _bytes_of(states),
        }
        self._earlier = self._watch(gradients + states)
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self._device == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities, profile_memory=True)
        self._profile.start()

    def _watch(self, tensors: List[Any]) -> List[Any]:
        """Marks when memory that the step begins with is freed: the profiler does not know blocks from before it."""
        return [weakref.ref(storage, lambda _, size=used: self.mark(f"freed {size}"))
                for storage, used in _storages_of(tensors)]

    def mark(self, phase: str) -> None:
        """The phase of the step that begins now."""
        with self._torch.profiler.record_function("batchscope::" + phase):
            pass

    def finish(self, batch: int) -> Message:
        """The message for a step that took `batch` examples."""
        self._profile.stop()
        self._earlier.clear()
        allocations, marks = self._events()
        blocks: Dict[int, int] = {}
        events: List[Any] = []
        phases: List[List[Any]] = []
        count = 0
        for when, address, size in allocations:
            while marks and marks[0][0] <= when:
                phase, _, freed = marks.pop(0)[1].partition(" ")
                if freed:
                    events.append([int(freed)])
                else:
                    phases.append([len(events), phase])
            if size > 0:
                count += 1
                blocks[address] = count
                events.append(size)
            elif address in blocks:  # else it is no part of what the step begins with, or is marked
                events.append(-blocks.pop(address))
        return {"type": "trace", "batch": batch, "granularity": 512 if self._device == "cuda" else 64,
                "start_bytes": sum(self._start_by.values()), "start_by": self._start_by, "events": events,
                "phases": phases}

    def _events(self) -> Tuple[List[Tuple[int, int, int]], List[Tuple[int, str]]]:
        """Allocations (time, address, bytes; frees below 0) and marks, in order of time."""
        from torch._C._profiler import _EventType
        allocations: List[Tuple[int, int, int]] = []
        marks: List[Tuple[int, str]] = []
        waiting = list(self._profile.profiler.kineto_results.experimental_event_tree())
        while waiting:
            event = waiting.pop()
            waiting += event.children
            if event.tag == _EventType.Allocation:
                fields = event.extra_fields
                if fields.device.type == self._device:
                    allocations.append((event.start_time_ns, fields.ptr, fields.alloc_size))
            elif event.name.startswith("batchscope::"):
                marks.append((event.start_time_ns, event.name.split("::", 1)[1]))
        return sorted(allocations, key=lambda item: item[0]), sorted(marks)


def trace(step: Callable[[], Any], batch: int = 0, model: Any = None, optimizer: Any = None) -> Message:
    """Runs step() and returns the list of its allocations, as the message `trace` has it."""
    tracer = _Tracer(model, optimizer)
    try:
        step()
    finally:
        message = tracer.finish(batch)
    return message


# ---------------------------------------------------------------------------------------------------------------------
# Estimate
# ---------------------------------------------------------------------------------------------------------------------

def _ledger() -> Any:
    """A dispatch mode that counts the bytes of all storages that are made under it, while they live."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Ledger(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.live = self.peak = 0
            self._known: Dict[int, Any] = {}

        def see(self, tensor: Any) -> None:
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key in self._known:
                return
            size = -(-storage.nbytes() // 64) * 64
            self._known[key] = weakref.finalize(storage, self._free, key, size)
            self._known[key].atexit = False
            self.live += size
            self.peak = max(self.peak, self.live)

        def _free(self, key: int, size: int) -> None:
            self._known.pop(key, None)
            self.live -= size

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            for leaf in tree_leaves(result):
                if hasattr(leaf, "untyped_storage"):
                    self.see(leaf)
            return result

    return Ledger()


def _fake_optimizer(optimizer: Any, fakes: Dict[int, Any]) -> Any:
    """An optimizer of the same class and settings over the copies of its parameters."""
    import inspect
    while not hasattr(optimizer, "defaults") and hasattr(optimizer, "optimizer"):
        optimizer = optimizer.optimizer
    inner = getattr(optimizer, "optimizer", None)
    optimizer = inner if inner is not None else optimizer
    accepted = inspect.signature(type(optimizer).__init__).parameters
    groups = [{**{key: value for key, value in group.items() if key in accepted},
               "params": [fakes[id(p)] for p in group["params"] if id(p) in fakes]} for group in optimizer.param_groups]
    defaults = {key: value for key, value in optimizer.defaults.items() if key in accepted}
    return type(optimizer)(groups, **defaults)


def _fake_peak(model: Any, batch: Any, loss: Callable[[Any, Any], Any], optimizer: Any) -> Tuple[int, Dict[str, int]]:
    """Peak bytes of the second step on tensors without data, and what is in use between steps."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._pytree import tree_leaves, tree_map
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fakes: Dict[int, Any] = {}
        for parameter in model.parameters():
            fakes[id(parameter)] = torch.nn.Parameter(mode.from_tensor(parameter.detach()), parameter.requires_grad)
        for buffer in model.buffers():
            fakes[id(buffer)] = mode.from_tensor(buffer)
        own = copy.deepcopy(model, dict(fakes))
        given = tree_map(lambda t: mode.from_tensor(t) if isinstance(t, torch.Tensor) else t, batch)
        steps = _fake_optimizer(optimizer, fakes)
        with _ledger() as ledger:
            for tensor in fakes.values():
                ledger.see(tensor)
            parameters = ledger.live
            for tensor in tree_leaves(given):
                if isinstance(tensor, torch.Tensor):
                    ledger.see(tensor)
            inputs = ledger.live - parameters
            for _ in range(2):
                ledger.peak = ledger.live
                value = loss(own, given)
                value.backward()
                del value
                steps.step()
                steps.zero_grad(set_to_none=True)
            state = _bytes_of(_state_tensors(steps))
            return ledger.peak, {"parameters": parameters, "optimizer": state, "batch": inputs}


def estimate(model: Any, batch_of: Callable[[int], Any], loss: Callable[[Any, Any], Any], optimizer: Any,
             batches: Sequence[int] = (8, 16)) -> List[List[Any]]:
    """Peak memory of training steps that are not run: [batch, peak bytes, {use: bytes}] for each size.

    `batch_of(n)` makes a collated batch of n examples, `loss(model, batch)` returns the loss. Nothing of the model,
    the optimizer and the random numbers is changed.
    """
    import torch
    state = torch.get_rng_state()
    try:
        curve: List[List[Any]] = []
        for size in batches:
            peak, by = _fake_peak(model, batch_of(size), loss, optimizer)
            curve.append([size, peak, by])
        return curve
    finally:
        torch.set_rng_state(state)


def _estimate_trainer(trainer: Any, batches: Sequence[int]) -> List[List[Any]]:
    """The same for a transformers.Trainer, with examples of its own data."""
    dataset = trainer.train_dataset

    def batch_of(size: int) -> Any:
        return dict(trainer.data_collator([dataset[index % len(dataset)] for index in range(size)]))

    def loss(model: Any, batch: Any) -> Any:
        return trainer.compute_loss(model, dict(batch))

    return estimate(trainer.model, batch_of, loss, trainer.optimizer, batches)
