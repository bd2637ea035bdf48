# SPDX-License-Identifier: MIT
"""Frees what an exception holds."""

from __future__ import annotations

import sys
import traceback


def forget_frames(error: BaseException) -> None:
    """Frees what the frames of an exception hold: their variables are tensors of the failed attempt. And what a failed
    backward pass holds.
    """
    seen = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        traceback.clear_frames(link.__traceback__)
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    error.__cause__ = error.__context__ = None
    _forget_ready_nodes()


def _forget_ready_nodes() -> None:
    """A backward pass on the CPU that fails leaves its other ready nodes in the thread's queue, with all tensors of
    their branches. The next pass drops them.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return
    with torch.inference_mode(False), torch.enable_grad():
        torch.zeros(1, device="cpu", requires_grad=True).sum().backward()
