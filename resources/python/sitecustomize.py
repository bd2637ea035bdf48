# SPDX-License-Identifier: MIT
"""Attaches BatchScope to whatever trains with torch in this program, if BATCHSCOPE_ATTACH is auto.

This folder is in front of PYTHONPATH, so Python runs this file when it starts. It waits for torch, whose calls then
show the steps of any training loop, and for the modules that define Trainers, whose train() or fit() it wraps; then it
runs the sitecustomize that would have run without it. A seed that was given for the training is set as soon as torch is
imported, so that the weights are made with it, too.

A program that is only tried (BATCHSCOPE_TRIAL) changes no files of the user.
"""

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

_METHODS = {
    "transformers.trainer": ("Trainer", "train"),
    "lightning.pytorch.trainer.trainer": ("Trainer", "fit"),
    "pytorch_lightning.trainer.trainer": ("Trainer", "fit"),
}


def _attach_first(method):
    @functools.wraps(method)
    def wrapped(trainer, *args, **kwargs):
        import batchscope
        try:
            batchscope.attach(trainer)
        except Exception as error:  # the program must train, attached or not
            batchscope.start().event("attach", error=f"{type(error).__name__}: {error}"[:500])
        return method(trainer, *args, **kwargs)

    return wrapped


class _Loader(importlib.abc.Loader):
    """The module's own loader, then the wrapping."""

    def __init__(self, loader, name):
        self._loader = loader
        self._name = name

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if _quarantine is not None and self._name in _quarantine.modules:
            with contextlib.suppress(AttributeError):  # of a version that has no such function
                _quarantine.modules[self._name](module)
        if not _attaches:
            return
        if self._name == "torch":
            import batchscope
            getattr(batchscope, "_use_seed", lambda: None)()  # an earlier version may lie beside the program
            with contextlib.suppress(Exception):  # of a version of torch without these calls, which trains as it is
                batchscope._see_every_loop()
            return
        if self._name not in _METHODS:
            return
        class_name, method = _METHODS[self._name]
        kind = getattr(module, class_name, None)
        if hasattr(kind, method):
            setattr(kind, method, _attach_first(getattr(kind, method)))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        quarantined = _quarantine is not None and name in _quarantine.modules
        if not quarantined and not (_attaches and (name in _METHODS or name == "torch")):
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, name)
        return spec


def _run_the_other_one(seen):
    """Runs the next sitecustomize in the path, as if this file and others like it were not there. `seen`: folders."""
    seen.append(os.path.dirname(os.path.abspath(__file__)))
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) not in seen]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _compile_apart():
    """Lets another process compile the client: of the 30 MB that it takes an amount of chance would stay in this one,
    whose memory is measured."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "batchscope.py")
    compiled = importlib.util.cache_from_source(source)
    is_interpreter = os.path.basename(sys.executable or "").startswith("python")  # and no program that has one in it
    if os.path.exists(compiled) or not os.path.exists(source) or not is_interpreter:
        return
    code = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], quiet=2)"
    with contextlib.suppress(OSError):  # it is compiled here, then
        arguments = [sys.executable, "-I", "-S", "-c", code, source, compiled]
        os.waitpid(os.posix_spawn(sys.executable, arguments, os.environ), 0)


# Two copies of this file are in the path where a program that was started so starts another BatchScope.
if not hasattr(sys, "_batchscope_seen"):
    sys._batchscope_seen = []
    _attaches = os.environ.get("BATCHSCOPE_ATTACH") == "auto" and bool(os.environ.get("BATCHSCOPE_SOCKET"))
    _quarantine = None
    if _attaches or os.environ.get("BATCHSCOPE_TRIAL"):
        _compile_apart()
    if os.environ.get("BATCHSCOPE_TRIAL"):
        import batchscope
        _quarantine = batchscope._quarantine()
        _quarantine.begin()
    if _attaches or _quarantine is not None:
        sys.meta_path.insert(0, _Finder())
_run_the_other_one(sys._batchscope_seen)
