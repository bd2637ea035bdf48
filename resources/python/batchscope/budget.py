# SPDX-License-Identifier: MIT
"""The limit of the memory that training may use."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from typing import Any, Callable

from .memory import c_function, mallinfo_of_glibc, return_freed_memory, status_bytes

_M_MMAP_THRESHOLD = -3
MMAP_THRESHOLD = 131072
SCATTER = 1 << 18  # bytes by which what equal steps need differs from one process to the next


class Budget:
    """The limit of the memory that training may use.

    On the host it is RLIMIT_DATA: what the process has mapped already, less the training's own bytes, plus the budget.
    Workers that the program forks have the limit it had before.

    `own` tells the bytes that the training holds now, between two steps or after an error; `batch` those of the examples
    that the last step took, which the next one frees.
    """

    def __init__(self, own: Callable[[], int] = lambda: 0, batch: Callable[[], int] = lambda: 0) -> None:
        self.bytes: int | None = None
        self._own_now = own
        self._batch_now = batch
        self._own: int | None = None  # bytes that the training holds between two steps, after the first update
        self._base: int | None = None  # bytes of the host's data that do not count
        self._before: tuple[int, int] | None = None
        self._device: Any = None
        self._heap = _Heap()
        self._pid = os.getpid()
        self._for_updates: int | None = None  # bytes; None: no limit
        self._updated = False  # whether the optimizer has made an update
        self._probing = False  # sizes are tried, each with the same room
        self._earlier: tuple[int | None] | None = None  # the limit before one that no step has been made with

    def set(self, limit: int | None, device: Any) -> None:
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

    def pause(self) -> int | None:
        """Lifts the limit until resume() or make_room_again(); returns the bytes that count for it now, if it is one of
        the host.
        """
        if self.bytes is None or self._before is None:
            return None
        self._lift()
        return status_bytes("VmData") - self._base

    def resume(self) -> None:
        if self.bytes is not None:
            self._limit(self.bytes)

    def make_room_again(self) -> bool:
        """Gives back the memory of a step that failed. Whether there is notably more room now than it had: libraries have
        compiled kernels and kept buffers meanwhile, so the error says nothing of the size.
        """
        if self.bytes is None or self._before is None:
            return_freed_memory()
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
            return_freed_memory()
            self._heap.settle()
        base = self._base
        if base is None or not self.counts_libraries:
            base = status_bytes("VmData") - own - self._batch_now() - (SCATTER if self._probing else 0)
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
        data = status_bytes("VmData")
        self._lift()
        try:
            yield
        finally:
            return_freed_memory()
            stays = max(0, status_bytes("VmData") - data)
            self._base += stays
            self._limit_data(present if present == resource.RLIM_INFINITY else present + stays)

    def _limit(self, limit: int | None) -> None:
        if self._device is not None:
            self._set_cuda(limit, self._device)
        elif self._before is not None:
            self._limit_data(self._before[0] if limit is None else self._base + limit)

    def _set_cuda(self, limit: int | None, device: Any) -> None:
        import torch

        self._device = device
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(1.0 if limit is None else min(1.0, limit / total), device)

    def _set_host(self, limit: int | None) -> None:
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

    def begin_probe(self) -> int | None:
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
        return max(0, self.bytes - self._own - SCATTER)

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
        self._mallinfo = mallinfo_of_glibc()
        self._malloc = c_function("malloc", ctypes.c_void_p)
        self._realloc = c_function("realloc", ctypes.c_void_p)
        self._free = c_function("free", None)
        self._plugs: list[int] = []

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
        while size >= MMAP_THRESHOLD:
            if not self._close(size):
                size //= 2

    def _close(self, size: int, end: bool = False) -> bool:
        """Takes a block of so many bytes if there is a place for it: in the heap, or at its end."""
        before = self._mallinfo()
        block = self._malloc(ctypes.c_size_t(size))
        after = self._mallinfo()
        if (
            block
            and (after.hblks, after.arena) == (before.hblks, before.arena)
            and (end or after.keepcost == before.keepcost)
        ):
            self._plugs.append(block)
            self.closed_bytes += after.uordblks - before.uordblks
            return True
        self._free(ctypes.c_void_p(block))
        return False

    def _make_small_places(self) -> None:
        """Blocks are cut to 16 bytes: what is cut off lies between two of them, and never becomes a larger place."""
        missing = self._missing()
        if missing > self.SMALL // 4:
            blocks = [self._malloc(ctypes.c_size_t(MMAP_THRESHOLD - 64)) for _ in range(missing // MMAP_THRESHOLD + 1)]
            self._plugs += [self._realloc(ctypes.c_void_p(block), ctypes.c_size_t(16)) for block in blocks if block]

    def _close_end(self) -> None:
        free = self._mallinfo().keepcost
        if free >= MMAP_THRESHOLD:
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
    mallopt = c_function("mallopt", ctypes.c_int)
    if mallopt is not None and "mmap_threshold" not in os.environ.get("GLIBC_TUNABLES", ""):
        mallopt(ctypes.c_int(_M_MMAP_THRESHOLD), ctypes.c_int(MMAP_THRESHOLD))
