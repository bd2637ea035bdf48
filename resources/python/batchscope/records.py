# SPDX-License-Identifier: MIT
"""Records of steps, which wait for numbers that are still on a GPU."""

from __future__ import annotations

from collections import deque
from typing import Any

from .values import SERIES, Later, number_of, series_of
from .wire import Link, Message


def record_of(step: int, seconds: float, values: dict[str, Any]) -> Message:
    """The message about a step."""
    record: Message = {"type": "record", "step": step, "seconds": seconds}
    more: dict[str, Any] = {}
    for name, value in values.items():
        number = number_of(value)
        if number is not None:
            (record if name in SERIES else more)[series_of(name, number)] = number
    if more:
        record["more"] = more
    return record


class Records:
    """Sends them in their order."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._waiting: deque[Message] = deque()

    def add(self, record: Message) -> None:
        """Sends it and all before it, if their numbers are there; one that asks does not wait for another chance."""
        self._waiting.append(record)
        self.send(wait=bool(record.get("ask")))

    def send(self, wait: bool) -> None:
        """Sends those whose numbers are there, or waits for the numbers of all."""
        while self._waiting:
            record = self._waiting[0]
            for place in (record, record.get("more", {})):
                for name, value in place.items():
                    if isinstance(value, Later):
                        if not wait and not value.ready():
                            return
                        place[name] = value.value()
            self._waiting.popleft()
            self._link.post(record)
