# SPDX-License-Identifier: MIT
"""Says what was being done when memory ran out somewhere in a program."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from .memory import is_out_of_memory, requested_bytes
from .parts import leaves_of, rows_of
from .wire import Message

_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}", f"{os.sep}lib{os.sep}python")


_MARK = "_batchscope_has_reported"


def mark_reported(error: BaseException) -> None:
    """It need not be reported once more, should it end the program. It is not kept: a program may survive it, and its
    frames hold tensors.
    """
    with contextlib.suppress(AttributeError):
        setattr(error, _MARK, True)


def shortage_in(error: BaseException, models: Iterable[Any], updating: bool) -> Message | None:
    """The detail of an `oom` for an error that ends the program; None if it is another error, or was reported."""
    if not is_out_of_memory(error) or hasattr(error, _MARK):
        return None
    text = f"{type(error).__name__}: {error}"[:500]
    batch = None
    with contextlib.suppress(Exception):  # the variables of a program may be anything
        batch = _batch_of(error)
    evaluates = any(not model.training for model in models if hasattr(model, "training"))
    where = "update" if updating else "evaluation" if evaluates else "outside"
    return {
        "where": where,
        "outcome": "not-survived",
        "attempted_batch": batch,
        "requested_bytes": requested_bytes(text),
        "in_use_bytes": None,
        "reason": {"code": where, "args": {}, "text": _TEXTS[where]},
        "error": text,
    }


_TEXTS = {
    "update": "the optimizer's update cannot be split",
    "evaluation": "the program evaluates in a loop of its own; give that smaller batches",
    "outside": "it happened outside of run.backward, which cannot undo it",
}


def _batch_of(error: BaseException) -> int | None:
    """Examples of the batch that the program's own code was working on: of its largest variable there."""
    best: tuple[int, int] | None = None
    for frame in _own_frames(error):
        for value in frame.f_locals.values():
            if not isinstance(value, (tuple, list, dict)) and not hasattr(value, "shape"):
                continue
            size = sum(_bytes(leaf) for _, leaf in leaves_of(value))
            if size > 0 and not getattr(value, "requires_grad", False) and (best is None or size > best[0]):
                best = size, rows_of(value)
    return best[1] if best is not None and best[1] > 0 else None


def _own_frames(error: BaseException) -> Iterator[FrameType]:
    link = error.__traceback__
    while link is not None:
        name = link.tb_frame.f_code.co_filename
        if not any(part in name for part in _LIBRARIES) and os.path.dirname(__file__) != os.path.dirname(name):
            yield link.tb_frame
        link = link.tb_next


def _bytes(leaf: Any) -> int:
    size = getattr(leaf, "nbytes", 0)
    return size if isinstance(size, int) else 0
