# SPDX-License-Identifier: MIT
"""Frees what an exception holds."""

from __future__ import annotations

import traceback


def forget_frames(error: BaseException) -> None:
    """Frees what the frames of an exception hold: their variables are tensors of the failed attempt."""
    seen = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        traceback.clear_frames(link.__traceback__)
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
    error.__cause__ = error.__context__ = None
