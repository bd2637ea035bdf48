# SPDX-License-Identifier: MIT
"""Keeps what a program does while it is only tried away from the user: its files, and the trackers that it reports to.

Files go to the folder of the trial (overlay.py), those of libraries that open them themselves, too, as far as they are
known here: torch, safetensors, SQLite, OpenCV, and what pyarrow maps. Trackers are off. What another program does that
this one starts, and what other libraries write on their own (HDF5, pyarrow), is not held back.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from .overlay import Overlay

_SETTINGS = {
    "WANDB_MODE": "disabled",
    "WANDB_SILENT": "true",
    "COMET_AUTO_LOG_DISABLE": "1",
    "NEPTUNE_MODE": "offline",  # which both of its clients know
    "CLEARML_OFFLINE_MODE": "1",
    "SWANLAB_MODE": "disabled",
    "TRACKIO_DIR": "trackio",
    "MLFLOW_TRACKING_URI": "mlflow",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
_IN_FOLDER = ("TRACKIO_DIR", "MLFLOW_TRACKING_URI")


class Quarantine:
    """Of this process, from its start on."""

    def __init__(self, root: str) -> None:
        self._overlay = Overlay(root)
        self._root = self._overlay.root
        # What is done with a module when it has been imported.
        self.modules: dict[str, Callable[[Any], None]] = {
            "torch": self._torch,
            "safetensors": self._safetensors,
            "sqlite3": lambda module: self._written(module, "connect", "database", keep=True),
            "pyarrow": lambda module: self._read(module, "memory_map", "path"),
            "cv2": lambda module: self._written(module, "imwrite", "filename"),
            "wandb": lambda module: _call_with(module, "init", mode="disabled"),
            "mlflow": lambda module: _do_nothing(module, "set_tracking_uri"),
            "trackio": lambda module: _call_with(module, "init", space_id=None),
            "huggingface_hub": lambda module: _do_nothing(
                module.HfApi, "create_repo", "upload_file", "upload_folder", "create_commit", "delete_repo"
            ),
        }

    def begin(self) -> None:
        """Before anything of the program is run."""
        for name, value in _SETTINGS.items():
            os.environ[name] = os.path.join(self._root, value) if name in _IN_FOLDER else value
        self._overlay.install()
        for name, change in self.modules.items():
            if name in sys.modules:
                change(sys.modules[name])

    def _torch(self, torch: Any) -> None:
        self._written(torch, "save", "f", place=1)
        self._written(torch.jit, "save", "f", place=1)
        self._read(torch, "load", "f")

    def _safetensors(self, module: Any) -> None:
        self._written(module, "serialize_file", "filename", place=1)
        self._read(module, "safe_open", "filename")

    def _written(self, owner: Any, name: str, argument: str, place: int = 0, keep: bool = False) -> None:
        self._map(owner, name, argument, place, lambda path: self._overlay.for_writing(path, keep))

    def _read(self, owner: Any, name: str, argument: str, place: int = 0) -> None:
        self._map(owner, name, argument, place, self._overlay.for_reading)

    @staticmethod
    def _map(owner: Any, name: str, argument: str, place: int, mapped: Callable[[Any], Any]) -> None:
        stock = getattr(owner, name, None)
        if stock is None:
            return

        def elsewhere(path: Any) -> Any:
            is_path = isinstance(path, (str, bytes, os.PathLike)) and not str(path).startswith((":", "file:"))
            return mapped(path) if is_path else path

        @functools.wraps(stock, updated=())
        def function(*args: Any, **kwargs: Any) -> Any:
            if argument in kwargs:
                kwargs[argument] = elsewhere(kwargs[argument])
            elif len(args) > place:
                args = (*args[:place], elsewhere(args[place]), *args[place + 1 :])
            return stock(*args, **kwargs)

        setattr(owner, name, function)


def _call_with(owner: Any, name: str, **settings: Any) -> None:
    stock = getattr(owner, name, None)
    if stock is not None:
        setattr(owner, name, functools.wraps(stock)(lambda *args, **kwargs: stock(*args, **{**kwargs, **settings})))


def _do_nothing(owner: Any, *names: str) -> None:
    for name in names:
        if hasattr(owner, name):
            setattr(owner, name, lambda *_, **__: None)


def quarantine() -> Quarantine | None:
    """That of this process, if the program is only tried."""
    folder = os.environ.get("BATCHSCOPE_TRIAL")
    return Quarantine(folder) if folder else None
