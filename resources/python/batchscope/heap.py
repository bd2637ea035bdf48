# SPDX-License-Identifier: MIT
"""Keeps the C library's heap such that equal steps need equal memory."""

from __future__ import annotations

import ctypes
import os
import re
from dataclasses import dataclass
from typing import Any, Callable

from .memory import bytes_in_use, c_function, mallinfo_of_glibc

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
MMAP_THRESHOLD = 131072
_HIGHEST_MMAP_THRESHOLD = 32 << 20  # that glibc goes up to by itself; its trim threshold is twice that


@dataclass
class _Functions:
    """Those of glibc that look after its heap."""

    mallinfo: Callable[[], Any]
    malloc: Callable[[ctypes.c_size_t], int | None]  # addresses; None: no memory
    realloc: Callable[[ctypes.c_void_p, ctypes.c_size_t], int | None]
    free: Callable[[ctypes.c_void_p], None]


def _functions_of_glibc() -> _Functions | None:
    """None if another allocator has taken the place of glibc's."""
    mallinfo = mallinfo_of_glibc()
    malloc, realloc = c_function("malloc", ctypes.c_void_p), c_function("realloc", ctypes.c_void_p)
    free = c_function("free", None)
    if mallinfo is None or malloc is None or realloc is None or free is None:
        return None
    return _Functions(mallinfo, malloc, realloc, free)


class Heap:
    """Keeps glibc's heap as it is from step to step, so that equal steps need equal memory.

    glibc maps a large block only if it finds no place for it in the heap or at the heap's end: such places are closed.
    Small blocks live in the heap, which grows by 2 MiB with huge pages: they get places that it need not grow for.
    """

    SMALL = 4 << 20  # bytes of places for small blocks

    def __init__(self) -> None:
        self.closed_bytes = 0  # which were free, and are taken now
        self._functions = _functions_of_glibc()
        self._plugs: list[int] = []
        self._settled = 0  # bytes of places for small blocks that were missing then

    @property
    def known(self) -> bool:
        return self._functions is not None

    def wants_settling(self) -> bool:
        """Whether small blocks lack places, as what came to stay has taken them, or large ones may have found some."""
        if self._functions is None:
            return False
        missing = self._missing(self._functions)
        lacks = missing > max(self.SMALL // 2, self._settled + self.SMALL // 4)
        return lacks or missing < self._settled - self.SMALL // 2

    def used_bytes(self) -> int:
        """Of all blocks, but for places that are closed; 0 if another allocator has taken the place of glibc's."""
        if self._functions is None:
            return 0
        return bytes_in_use(self._functions.mallinfo()) - self.closed_bytes

    def _missing(self, glibc: _Functions) -> int:
        info = glibc.mallinfo()
        return self.SMALL - int(info.fordblks - info.keepcost)

    def open(self) -> None:
        """Gives the places back that were closed."""
        while self._functions is not None and self._plugs:
            self._functions.free(ctypes.c_void_p(self._plugs.pop()))
        self.closed_bytes = 0

    def settle(self) -> None:
        if self._functions is not None:
            self._close_places(self._functions)
            self._make_small_places(self._functions)
            self._close_end(self._functions)
            self._settled = self._missing(self._functions)

    def _close_places(self, glibc: _Functions) -> None:
        """Takes the places that larger tensors could use."""
        size = 64 << 20
        while size >= MMAP_THRESHOLD:
            if not self._close(glibc, size):
                size //= 2

    def _close(self, glibc: _Functions, size: int, end: bool = False) -> bool:
        """Takes a block of so many bytes if there is a place for it: in the heap, or at its end."""
        before = glibc.mallinfo()
        block = glibc.malloc(ctypes.c_size_t(size))
        after = glibc.mallinfo()
        if (
            block
            and (after.hblks, after.arena) == (before.hblks, before.arena)
            and (end or after.keepcost == before.keepcost)
        ):
            self._plugs.append(block)
            self.closed_bytes += after.uordblks - before.uordblks
            return True
        glibc.free(ctypes.c_void_p(block))
        return False

    def _make_small_places(self, glibc: _Functions) -> None:
        """Blocks are cut to 16 bytes: what is cut off lies between two of them, and never becomes a larger place."""
        missing = self._missing(glibc)
        if missing > self.SMALL // 4:
            blocks = [glibc.malloc(ctypes.c_size_t(MMAP_THRESHOLD - 64)) for _ in range(missing // MMAP_THRESHOLD + 1)]
            small = [glibc.realloc(ctypes.c_void_p(block), ctypes.c_size_t(16)) for block in blocks if block]
            self._plugs += [block for block in small if block]

    def _close_end(self, glibc: _Functions) -> None:
        free = int(glibc.mallinfo().keepcost)
        if free >= MMAP_THRESHOLD:
            self._close(glibc, free - 4096, end=True)


def use_fixed_map_threshold() -> None:
    """Lets glibc give every tensor back when it is freed, so that equal steps need equal memory."""
    _set_thresholds(MMAP_THRESHOLD, MMAP_THRESHOLD)


def use_usual_map_threshold() -> None:
    """Lets glibc keep what is freed, as it does by itself after some steps: equal steps then take less time."""
    _set_thresholds(_HIGHEST_MMAP_THRESHOLD, 2 * _HIGHEST_MMAP_THRESHOLD)


def _set_thresholds(map_from: int, trim_from: int) -> None:
    given = re.findall(r"mmap_threshold=(\d+)", os.environ.get("GLIBC_TUNABLES", ""))
    mallopt = c_function("mallopt", ctypes.c_int)
    if mallopt is not None and (not given or int(given[-1]) == MMAP_THRESHOLD):  # else the user has chosen one
        mallopt(ctypes.c_int(_M_MMAP_THRESHOLD), ctypes.c_int(map_from))
        mallopt(ctypes.c_int(_M_TRIM_THRESHOLD), ctypes.c_int(trim_from))
