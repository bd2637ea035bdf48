# SPDX-License-Identifier: MIT
"""Records of steps, which wait for numbers that are still on a GPU, or for each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .values import SERIES, Later, number_of, series_of
from .wire import Link, Message


@dataclass
class Record:
    """What is told of a step. The message is made when it is sent: what a step does itself, it waits for."""

    step: int
    seconds: float
    values: dict[str, Any]  # numbers of the program, of which some may be a Later
    about: Message  # all else

    def is_ready(self, wait: bool) -> bool:
        """Whether all numbers are there; waits for them if it is to."""
        for name, value in self.values.items():
            if isinstance(value, Later):
                if not wait and not value.ready():
                    return False
                self.values[name] = value.value()
        return True

    def message(self) -> Message:
        record: Message = {"type": "record", "step": self.step, "seconds": self.seconds}
        more: dict[str, Any] = {}
        for name, number in self.values.items():
            (record if name in SERIES else more)[series_of(name, number)] = number
        if "takes" in self.about:
            record.update(sizes_of(self.about["takes"]))
        record.update(self.about)
        if more:
            record["more"] = more
        return record


def numbers_of(values: dict[str, Any]) -> dict[str, Any]:
    """Those that are numbers, as they are now."""
    numbers = {name: number_of(value) for name, value in values.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def sizes_of(takes: Sequence[int]) -> Message:
    """What a record says of the micro batches of a step."""
    return {"micro_batch": max(takes, default=0), "micro_batches": len(takes), "effective_batch": sum(takes)}


class Records:
    """Sends them in their order."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._waiting: deque[Record] = deque()

    def add(self, record: Record) -> None:
        """It is sent with the next ones."""
        self._waiting.append(record)

    def send(self, wait: bool) -> None:
        """Sends those whose numbers are there, or waits for the numbers of all."""
        while self._waiting and self._waiting[0].is_ready(wait):
            self._link.post(self._waiting.popleft().message())
