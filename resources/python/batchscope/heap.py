# SPDX-License-Identifier: MIT
"""Keeps the C library's heap such that equal steps need equal memory."""

from __future__ import annotations

import ctypes
import os

from .memory import c_function, mallinfo_of_glibc

_M_MMAP_THRESHOLD = -3
MMAP_THRESHOLD = 131072


class Heap:
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
        self._settled = 0  # bytes of places for small blocks that were missing then

    @property
    def known(self) -> bool:
        return self._mallinfo is not None

    def wants_settling(self) -> bool:
        """Whether small blocks lack places, as what came to stay has taken them, or large ones may have found some."""
        if not self.known:
            return False
        missing = self._missing()
        lacks = missing > max(self.SMALL // 2, self._settled + self.SMALL // 4)
        return lacks or missing < self._settled - self.SMALL // 2

    def used_bytes(self) -> int:
        """Of all blocks, but for places that are closed; 0 if another allocator has taken the place of glibc's."""
        if self._mallinfo is None:
            return 0
        info = self._mallinfo()
        return int(info.uordblks + info.hblkhd) - self.closed_bytes

    def _missing(self) -> int:
        info = self._mallinfo()
        return self.SMALL - (info.fordblks - info.keepcost)

    def open(self) -> None:
        """Gives the places back that were closed."""
        while self._plugs:
            self._free(ctypes.c_void_p(self._plugs.pop()))
        self.closed_bytes = 0

    def settle(self) -> None:
        if self.known:
            self._close_places()
            self._make_small_places()
            self._close_end()
            self._settled = self._missing()

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


def use_fixed_map_threshold() -> None:
    """Lets glibc give every tensor back when it is freed, so that equal steps need equal memory."""
    mallopt = c_function("mallopt", ctypes.c_int)
    if mallopt is not None and "mmap_threshold" not in os.environ.get("GLIBC_TUNABLES", ""):
        mallopt(ctypes.c_int(_M_MMAP_THRESHOLD), ctypes.c_int(MMAP_THRESHOLD))
