# SPDX-License-Identifier: MIT
"""Lets a program that is only tried write wherever it likes, without a trace: its files go to a folder of the trial.

What it writes, replaces, moves or removes is seen so by the program itself, as it would be; the files of the user stay
as they are. This holds for what Python's own functions do. Libraries that open files themselves are told the other
place where they are known (quarantine.py).
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

_FREE = ("/dev", "/proc", "/sys")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _caches() -> list[str]:
    """Folders of what is fetched once and kept for all programs."""
    home = os.path.expanduser("~")
    names = ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")
    return [os.path.join(home, ".cache"), *(os.environ[name] for name in names if os.environ.get(name))]


class Overlay:
    """A folder that lies over all others. One for a process; used by all of its threads."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._free = [os.path.realpath(path) for path in (self.root, *_FREE, *_caches())]
        self._removed: set[str] = set()
        self._raw = threading.local()  # `now`: the functions below are themselves at work
        self._stock: dict[str, Any] = {}

    # ---- places ----

    def _full(self, path: Any, folder: int | None = None) -> str:
        """The absolute path of what is meant, links followed but for the last part."""
        text = os.fsdecode(path)
        if folder is not None and not os.path.isabs(text):
            text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)
        head, tail = os.path.split(os.path.abspath(text))
        self._raw.now = True
        try:
            return os.path.join(os.path.realpath(head), tail) if tail else head
        finally:
            self._raw.now = False

    def _is_free(self, full: str) -> bool:
        return "__pycache__" in full or any(full == free or full.startswith(free + os.sep) for free in self._free)

    def _place(self, full: str) -> str:
        return self.root + "/files" + full

    def _is_removed(self, full: str) -> bool:
        while self._removed and full != os.sep:
            if full in self._removed:
                return True
            full = os.path.dirname(full)
        return False

    def _lexists(self, path: str) -> bool:
        try:
            self._stock["lstat"](path)
        except OSError:
            return False
        return True

    def _is_folder(self, full: str) -> bool:
        return os.path.isdir(full)  # by the stat that looks here, too

    def _mirrored(self, full: str) -> str:
        """The place of a path, whose folder is made."""
        place = self._place(full)
        folder = os.path.dirname(place)
        missing = []
        while not self._lexists(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for name in reversed(missing):
            with contextlib.suppress(FileExistsError):
                self._stock["mkdir"](name)
        return place

    def for_reading(self, path: Any, folder: int | None = None) -> Any:
        """Where the program finds what it wrote to this path; else the path."""
        if isinstance(path, int):
            return path
        full = self._full(path, folder)
        if self._is_free(full):
            return path if folder is None else full
        place = self._place(full)
        if self._lexists(place) or self._is_removed(full):
            return place
        return path if folder is None else full

    def for_writing(self, path: Any, keep: bool = False, folder: int | None = None) -> Any:
        """Where it may write in the place of this path. `keep`: with what is there."""
        if isinstance(path, int):
            return path
        full = self._full(path, folder)
        if os.path.islink(full):
            full = os.path.realpath(full)
        if self._is_free(full) or not self._is_folder(os.path.dirname(full)) or self._is_folder(full):
            return path if folder is None else full  # which fails as it would
        place = self._mirrored(full)
        if not self._lexists(place):
            if keep and self._lexists(full) and not self._is_removed(full):
                self._copy(full, place)
            self._removed.discard(full)
        return place

    def for_changing(self, path: Any, folder: int | None = None) -> Any:
        """Where it may change what is there, which may be a folder."""
        if isinstance(path, int):
            return path
        full = self._full(path, folder)
        if self._is_free(full) or not self._is_folder(full):
            return self.for_writing(path, True, folder)
        place = self._mirrored(full)
        if not self._lexists(place):
            self._stock["mkdir"](place)
        return place

    def _copy(self, source: str, place: str) -> None:
        with self._stock["open"](source, "rb") as file, self._stock["open"](place, "wb") as copy:
            shutil.copyfileobj(file, copy)

    # ---- what stands in the place of Python's functions ----

    def install(self) -> None:
        """From now on all of this process's Python code writes to the folder."""
        self._stock["open"] = builtins.open
        os.makedirs(self.root + "/files", exist_ok=True)
        reads = ("stat", "lstat", "access", "readlink", "chdir", "statvfs", "getxattr", "listxattr")
        writes = ("truncate", "chmod", "utime", "chown", "setxattr", "removexattr")
        for name in (*reads, *writes, "mkdir", "remove", "unlink", "rmdir", "listdir", "scandir", "open"):
            if hasattr(os, name):
                self._stock["os.open" if name == "open" else name] = getattr(os, name)
        for name in ("rename", "replace", "link", "symlink"):
            self._stock[name] = getattr(os, name)
        for name in reads:
            if name in self._stock:
                self._put(name, self._one(name, self.for_reading))
        for name in writes:
            if name in self._stock:
                self._put(name, self._one(name, self.for_changing))
        for name in ("remove", "unlink", "rmdir"):
            self._put(name, self._remover(name))
        for name in ("rename", "replace"):
            self._put(name, self._mover(name))
        for name in ("link", "symlink"):
            self._put(name, self._linker(name))
        self._put("mkdir", self._mkdir)
        self._put("listdir", self._listdir)
        self._put("scandir", self._scandir)
        self._put("open", self._os_open)
        builtins.open = io.open = cast("Any", _Function(self._open))
        for name in ("supports_dir_fd", "supports_follow_symlinks", "supports_fd"):
            kinds: set[Any] = getattr(os, name)
            kinds |= {getattr(os, key) for key, stock in self._stock.items() if key in vars(os) and stock in kinds}

    @staticmethod
    def _put(name: str, function: Any) -> None:
        stock = getattr(os, name)
        ours = _Function(function)
        setattr(os, name, ours)
        # Classes of the library that have taken the function already.
        for module, kind in (("pathlib", "_NormalAccessor"), ("glob", "_StringGlobber")):
            owner = getattr(sys.modules.get(module), kind, None)
            if owner is not None and getattr(owner, name, None) is stock:
                setattr(owner, name, ours)

    def _one(self, name: str, mapped: Callable[[Any, int | None], Any]) -> Any:
        stock = self._stock[name]

        def function(path: Any = ".", *args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:
            if getattr(self._raw, "now", False):
                return stock(path, *args, **kwargs)
            return stock(mapped(path, dir_fd), *args, **kwargs)

        return function

    def _open(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not isinstance(file, int) and kwargs.get("opener") is None and isinstance(mode, str):
            if set(mode) & set("wax+"):
                if "x" in mode and os.path.lexists(file):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), file)
                file = self.for_writing(file, keep="w" not in mode)
            else:
                file = self.for_reading(file)
        return self._stock["open"](file, mode, *args, **kwargs)

    def _os_open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & _WRITES:
            if flags & os.O_CREAT and flags & os.O_EXCL and os.path.lexists(self._full(path, dir_fd)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            mapped = self.for_writing(path, not flags & os.O_TRUNC, dir_fd)
        else:
            mapped = self.for_reading(path, dir_fd)
        return int(self._stock["os.open"](mapped, flags, mode))

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        full = self._full(path, dir_fd)
        if self._is_free(full) or os.path.lexists(full) or not self._is_folder(os.path.dirname(full)):
            if os.path.lexists(full):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            self._stock["mkdir"](full, mode)
            return
        self._stock["mkdir"](self._mirrored(full), mode)

    def _remover(self, name: str) -> Any:
        stock = self._stock[name]

        def remove(path: Any, *, dir_fd: int | None = None) -> None:
            full = self._full(path, dir_fd)
            if self._is_free(full):
                stock(full)
                return
            place = self._place(full)
            here, there = self._lexists(place), self._lexists(full) and not self._is_removed(full)
            if here:
                stock(place)
            elif not there:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            if there:
                self._removed.add(full)

        return remove

    def _mover(self, name: str) -> Any:
        stock = self._stock[name]

        def move(src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
            source, target = self._full(src, src_dir_fd), self._full(dst, dst_dir_fd)
            if self._is_free(source) and self._is_free(target):
                stock(source, target)
                return
            there = not self._is_free(source) and self._lexists(source) and not self._is_removed(source)
            found = self.for_reading(source)
            to = target if self._is_free(target) else self._mirrored(target)
            if found == source and there:
                (shutil.copytree if os.path.isdir(source) else self._copy)(source, to)
            else:
                self._rename(stock, found, to)
            if there:
                self._removed.add(source)
            self._removed.discard(target)

        return move

    def _rename(self, stock: Any, found: str, to: str) -> None:
        try:
            stock(found, to)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy(found, to)
            self._stock["unlink"](found)

    def _linker(self, name: str) -> Any:
        stock = self._stock[name]

        def link(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            source = self.for_reading(src) if name == "link" else src
            stock(source, self.for_writing(dst), *args, **kwargs)

        return link

    def _listdir(self, path: Any = ".") -> list[Any]:
        if isinstance(path, int):
            return list(self._stock["listdir"](path))
        names = [entry.name for entry in self._entries(path)]
        return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names

    def _scandir(self, path: Any = ".") -> Any:
        if isinstance(path, int):
            return self._stock["scandir"](path)
        return _Entries(self._entries(path))

    def _entries(self, path: Any) -> list[Any]:
        """What is in a folder and was not removed, with what the program has added."""
        full = os.path.realpath(os.fsdecode(path))
        place = self._place(full)
        if self._is_free(full) or not (self._lexists(place) or self._removed):
            with self._stock["scandir"](os.fsdecode(path)) as entries:
                return list(entries)
        found: dict[str, Any] = {}
        if not self._is_removed(full):
            with contextlib.suppress(FileNotFoundError), self._stock["scandir"](os.fsdecode(path)) as entries:
                found = {entry.name: entry for entry in entries if not self._is_removed(os.path.join(full, entry.name))}
        elif not self._lexists(place):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if self._lexists(place):
            with self._stock["scandir"](place) as entries:
                found.update({entry.name: entry for entry in entries})
        return list(found.values())


class _Function:
    """As the functions of os are, it does not become a method where a class takes it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


class _Entries:
    """As os.scandir returns them; of a path of bytes with texts."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open."""
