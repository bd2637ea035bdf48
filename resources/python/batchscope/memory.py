# SPDX-License-Identifier: MIT
"""The memory that training uses, as the system and torch report it."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import os
import re
import sys
import time
from typing import Any, Callable

_OUT_OF_MEMORY = re.compile(
    r"out of memory|(CUBLAS|CUSOLVER|CUSPARSE|CUDNN)_STATUS_ALLOC_FAILED|CUFFT_ALLOC_FAILED"
    r"|CUDNN_STATUS_INTERNAL_ERROR_(DEVICE|HOST)_ALLOCATION_FAILED|Failed to CUDA calloc"
    r"|NVML_SUCCESS == r INTERNAL ASSERT|Unable to find a valid cuDNN algorithm|can't allocate memory"
    r"|DefaultCPUAllocator: not enough memory|could not (create|execute) a primitive"
    r"|Unable to allocate .* for an array|can't start new thread|Thread creation failed|std::bad_alloc"
    r"|^Resource temporarily unavailable$",  # which std::thread says
    re.IGNORECASE,
)
_OF_A_FULL_GPU = re.compile(  # if it has no memory for a library's handle, or for any of the ways to compute something
    r"(CUBLAS|CUDNN|CUSOLVER)_STATUS_NOT_INITIALIZED|was unable to find an engine"
)
_NEARLY_NOTHING = 0.03  # of a GPU's memory, that is free


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception means that a device or the host had no memory left."""
    if isinstance(error, MemoryError) or type(error).__name__ in ("OutOfMemoryError", "_ArrayMemoryError"):
        return True
    if not isinstance(error, (RuntimeError, OSError)):
        return False
    text = str(error)
    return bool(_OUT_OF_MEMORY.search(text)) or (bool(_OF_A_FULL_GPU.search(text)) and _is_gpu_full())


def _is_gpu_full() -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return False
    try:
        free, total = torch.cuda.mem_get_info()
    except RuntimeError:  # the device does nothing any more, which is another fault
        return False
    return bool(free < _NEARLY_NOTHING * total)


def requested_bytes(text: str) -> int | None:
    """What an out-of-memory error says that it asked for."""
    host = re.search(r"you tried to allocate (\d+) bytes", text)
    if host:
        return int(host[1])
    other = re.search(r"(?:Tried|Unable) to allocate ([\d.]+) ([KMGT]?)i?B", text)
    if not other:
        return None
    return int(float(other[1]) * 1024 ** " KMGT".index(other[2] or " "))


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


def c_function(name: str, result: Any) -> Any | None:
    with contextlib.suppress(OSError, AttributeError, TypeError):
        function = getattr(ctypes.CDLL(None), name)
        function.restype = result
        return function
    return None


def bytes_in_use(info: _Mallinfo) -> int:
    """Of all blocks, in the heap and mapped."""
    return int(info.uordblks + info.hblkhd)


def mallinfo_of_glibc() -> Callable[[], _Mallinfo] | None:
    """What glibc says of its heap; none if another allocator has been loaded in its place."""
    info, malloc, free = (
        c_function(*function) for function in (("mallinfo2", _Mallinfo), ("malloc", ctypes.c_void_p), ("free", None))
    )
    if info is None or malloc is None or free is None:
        return None
    size = 65536  # of a block that is neither mapped nor taken from a cache of small ones
    before = info().uordblks
    block = malloc(ctypes.c_size_t(size))
    seen = info().uordblks - before >= size
    free(ctypes.c_void_p(block))
    return info if seen else None


def own_file(name: str) -> bytes:
    """What the system says about this process; nothing if it has no such file."""
    with contextlib.suppress(OSError), open("/proc/self/" + name, "rb") as file:
        return file.read()
    return b""


class OwnFile:
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


def status_bytes(name: str, status: bytes | None = None) -> int:
    """A size in /proc/self/status; 0 if the system has none."""
    with contextlib.suppress(ValueError, IndexError):
        text = own_file("status") if status is None else status
        return int(text.split(name.encode() + b":", 1)[1].split(None, 1)[0]) * 1024
    return 0


class HostMemory:
    """What this process uses beyond what it used when the training began, parameters included; and but for `closed`.

    Pages of files do not count: code of libraries, and mapped data. The system can drop them.
    """

    def __init__(self, own_bytes: int, closed: Callable[[], int] = lambda: 0) -> None:
        self._closed = closed
        self._mallinfo = mallinfo_of_glibc()
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._next_return = 0.0  # when freed memory may be given back again, of the monotonic clock
        self._statm = OwnFile("statm")
        self._status = OwnFile("status")
        self.begin(own_bytes)

    def begin(self, own_bytes: int) -> None:
        """A training begins, with a model of so many bytes."""
        self._resets = 1  # steps from one reset of the peak to the next
        self._steps = 0
        self._first = 16  # steps at which the peak is read whatever it costs: a search may make no more
        return_freed_memory(garbage=False)  # what is free and resident would hide what a step takes
        self._base_used = self._used() - own_bytes
        status = self._status.read()
        self._base_resident = status_bytes("VmRSS", status) - own_bytes
        self._base_files = status_bytes("RssFile", status)
        self._of_files = 0  # bytes of files that have become resident since then
        self._began = time.monotonic()
        self._begun: tuple[int, int, int] | None = None  # bytes held, resident, of files when the present step began
        self._peak = 0  # of its earlier micro batches
        self.start_step()

    def _used(self) -> int:
        if self._mallinfo is None:
            return self._resident()
        return bytes_in_use(self._mallinfo()) - self._closed()

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

    def end_evaluation(self) -> None:
        """What it took is no step's. Memory that it has freed would hide what a step takes, and goes back, for 1 % of
        the time.
        """
        start = time.monotonic()
        if start >= self._next_return:
            return_freed_memory(garbage=False)
            now = time.monotonic()
            self._next_return = now + 100 * (now - start)
        self.start_step()

    def allocated(self) -> int:
        return max(0, self._used() - self._base_used)

    def begin_step(self, held: int, first: bool, peak: bool = False) -> None:
        """Training holds so many bytes as a micro batch, the `first` one of a step or not, begins: the peak is that and
        what it takes.
        """
        if first:
            self._begun, self._peak = None, 0
        if self._is_due(peak):
            if self._begun is not None:
                self._peak = self._peak_since_begin(self._status.read())
            self.start_step()
            status = self._status.read()
            self._begun = held, status_bytes("VmRSS", status), status_bytes("RssFile", status)

    def _is_due(self, asked: bool) -> bool:
        """Whether the peak is read at the end of the present step."""
        return asked or self._first > 0 or self._steps + 1 >= self._resets

    def _peak_since_begin(self, status: bytes) -> int:
        """Of the present step; 0 if it was not begun."""
        if self._begun is None:
            return 0
        held, resident, files = self._begun
        resident += max(0, status_bytes("RssFile", status) - files)
        return max(self._peak, held + max(0, status_bytes("VmHWM", status) - resident))

    def read(self, peak: bool = False) -> dict[str, int]:
        """The fields of a record. The peak, since it was last read, for 0.1 % of the time; or if asked for."""
        start = time.monotonic()
        takes_peak = self._is_due(peak)
        self._steps += 1
        self._first -= 1
        status = self._status.read() if takes_peak else b""
        if status:
            self._of_files = max(0, status_bytes("RssFile", status) - self._base_files)
        before = self._base_resident + self._of_files
        resident = (status_bytes("VmRSS", status) if status else self._resident()) - before
        fields = {"allocated_bytes": self.allocated(), "reserved_bytes": max(0, resident)}
        if takes_peak:
            resident_peak = status_bytes("VmHWM", status) - before
            of_process = max(fields["reserved_bytes"], fields["allocated_bytes"], resident_peak)
            fields["peak_bytes"] = self._peak_since_begin(status) or of_process
            self._begun, self._peak = None, 0
            self.start_step()
            cost, step = time.monotonic() - start, (start - self._began) / self._steps
            self._resets = max(1, min(1000, math.ceil(cost / max(0.001 * step, 1e-9))))
            self._steps, self._began = 0, time.monotonic()
        return fields


class _CudaPeaks:
    """Peaks of torch's CUDA allocator from step to step. The program reads them as if they had not been begun anew."""

    @classmethod
    def of_torch(cls) -> _CudaPeaks:
        """The one of this process."""
        import torch

        found = getattr(torch._C._cuda_memoryStats, "__self__", None)
        return found if isinstance(found, cls) else cls(torch._C)

    def __init__(self, functions: Any) -> None:
        self._stats, self._reset = functions._cuda_memoryStats, functions._cuda_resetPeakMemoryStats
        self._highest: dict[int, Any] = {}  # of each device, since the program has reset them
        functions._cuda_memoryStats, functions._cuda_resetPeakMemoryStats = self.shown, self.reset

    def begin(self, device: int) -> dict[str, Any]:
        """What there was since the last call; then peaks begin anew."""
        stats: dict[str, Any] = self._stats(device)
        self._highest[device] = self._with_highest(stats, self._highest.get(device))
        self._reset(device)
        return stats

    def shown(self, device: int) -> Any:
        return self._with_highest(self._stats(device), self._highest.get(device))

    def reset(self, device: int) -> None:
        self._highest.pop(device, None)
        self._reset(device)

    def _with_highest(self, stats: Any, highest: Any) -> Any:
        if highest is None or not isinstance(stats, dict):
            return stats
        return {
            name: max(value, highest.get(name, 0)) if name == "peak" else self._with_highest(value, highest.get(name))
            for name, value in stats.items()
        }


class CudaMemory:
    """The same from torch's CUDA allocator."""

    def __init__(self, device: Any) -> None:
        import torch

        self._cuda, self._device = torch.cuda, device
        self._index = torch.cuda.current_device() if device.index is None else device.index
        self._peaks = _CudaPeaks.of_torch()
        self._peaks.begin(self._index)

    def begin_step(self, held: int, first: bool, peak: bool = False) -> None:
        """The device's allocator knows what a step takes."""

    def end_evaluation(self) -> None:
        """What it took is no step's."""
        self._peaks.begin(self._index)

    def allocated(self) -> int:
        return int(self._cuda.memory_allocated(self._device))

    def most_reserved(self) -> int:
        """What the allocator has had of the device's memory at most, since the program began or has asked anew."""
        return int(self._cuda.max_memory_reserved(self._device))

    def read(self, peak: bool = True) -> dict[str, int]:
        del peak  # costs nothing here
        stats = self._peaks.begin(self._index)
        free, total = self._cuda.mem_get_info(self._device)
        return {
            "allocated_bytes": stats["allocated_bytes"]["all"]["current"],
            "reserved_bytes": stats["reserved_bytes"]["all"]["current"],
            "peak_bytes": stats["allocated_bytes"]["all"]["peak"],
            "device_bytes": total - free,
        }


def return_freed_memory(garbage: bool = True) -> None:
    """Gives back what glibc and torch keep of freed blocks, after collecting `garbage`."""
    if garbage:
        gc.collect()
    trim = c_function("malloc_trim", ctypes.c_int)
    if trim is not None:
        trim(ctypes.c_size_t(0))
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        with contextlib.suppress(RuntimeError):
            torch.cuda.empty_cache()
