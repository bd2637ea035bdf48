# SPDX-License-Identifier: MIT
"""Tries batch sizes for BatchScope, one after the other, in the training itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .evaluation_trial import TriedEvaluation
from .wire import Message, integer

if TYPE_CHECKING:
    from .run import Run
    from .sizes import Sizes

_TAILS = 2  # smaller steps of a probe that may be tails


def size_of(takes: Sequence[int]) -> int:
    """Of the micro batches of a step, if all but a smaller last one have the same; else 0."""
    if not takes or takes[-1] > takes[0]:
        return 0
    return takes[0] if all(take == takes[0] for take in takes[:-1]) else 0


def sizes_in(message: Message) -> list[Message]:
    """The valid entries of the sizes that a message asks to try."""
    sizes = message.get("sizes")
    entries = sizes if isinstance(sizes, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and integer(entry.get("batch"), 1)]


class Probe:
    """Sizes that are tried, and the one that was set before. The accumulation stays.

    A size may have come to the program by its command: then it is not `set`, and each step is one of it. One that is
    for `timing` has no limit, and no limit comes after it.
    """

    def __init__(self, run: Run, sizes: list[Message], then: str, before: int) -> None:
        self.sizes = sizes
        self.before = before
        self.fits = True
        self._run = run
        self._then = then
        self._steps = 0
        self._peak = 0
        self._took: Sequence[int] = ()  # examples of the micro batches of the last step, as far as they are known
        # Of a size that stands in the command, a step is whole if it has the most examples so far: a smaller one is the
        # tail of an epoch, unless several come, as of a program whose batches differ.
        self._most = run._largest_step
        self._smaller = 0
        self._traces = False  # the present step is listed
        self._room: int | None = None  # bytes
        self._seconds = 0.0  # of the steps that count
        self._first = 0.0  # of the first of them
        self._began = time.monotonic()  # the present step

    @property
    def batch(self) -> int:
        """The size that is tried."""
        return int(self.sizes[0]["batch"])

    @property
    def _loader(self) -> Sizes | None:
        """Which has the size; None if it stands in the command."""
        return self._run._loader if self.sizes[0].get("set", True) else None

    @property
    def _taken(self) -> int:
        return self.batch if self._loader is None else self._loader.batch

    def start(self) -> None:
        """The next size, from the next step on."""
        run = self._run
        if self._loader is not None:
            self._loader.batch = self.batch
        if self.sizes[0].get("timing"):
            run._memory.want_limit(None)
            run._memory.apply_limit()
        self._steps, self.fits, self._peak = 0, True, 0
        self._seconds = self._first = 0.0
        self._room = run._budget.begin_probe()
        run._forget_limit()
        self._trace_if_due()
        self._began = time.monotonic()

    def _wanted(self) -> int:
        return integer(self.sizes[0].get("steps"), 1) or 1

    def _trace_if_due(self) -> None:
        run = self._run
        if self.sizes[0].get("evaluation"):
            return  # that is what is listed
        if self.lists and self._steps == self._wanted() - 1 and run._account.model is not None:
            run._begin_trace()
            self._traces = True

    def saw(self, peak_bytes: Any, takes: Sequence[int]) -> None:
        """The peak of a step and the sizes of its micro batches, which may have been fetched before others; the peak of
        one that is listed has the list, too.
        """
        self._took = takes
        if not self._traces and not (self.begins_size and self._run._budget.room_of_libraries):
            self._peak = max(self._peak, peak_bytes or 0)
        self._traces = False

    def traced_size(self, takes: Sequence[int]) -> int:
        """The batch of a step that is listed; 0 if it is the tail of an epoch."""
        if self._loader is not None:
            return size_of(takes)
        return self.batch if self._counts(sum(takes)) else 0

    @property
    def lists(self) -> bool:
        """Whether allocations are listed at this size."""
        return bool(self.sizes[0].get("trace"))

    @property
    def begins_size(self) -> bool:
        """Whether the present step is the first of several after a change of the size."""
        return self._steps == 0 and self._loader is not None and self._wanted() > 1

    def _is_whole(self) -> bool:
        """Whether the last step was not the tail of an epoch."""
        if self._loader is not None:
            return size_of(self._took) == self._loader.batch
        if self._counts(sum(self._took)):
            self._most = max(self._most, sum(self._took))
            return True
        self._smaller += 1
        return False

    def _counts(self, examples: int) -> bool:
        return examples >= self._most or self._smaller >= _TAILS

    def _step_examples(self) -> int:
        passes = self._run._loop.passes if self._run._loop is not None else 1
        return sum(self._took) or self.batch * passes

    def advance(self) -> None:
        """Counts a step of the size, and goes on to the next one when it has enough of them."""
        run = self._run
        now = time.monotonic()
        if self._is_whole() or not self.fits:
            self._steps += 1
            self._seconds += now - self._began
        if self._steps == 1:
            self._first = self._seconds
        self._began = now
        if self.fits and self._steps < self._wanted():
            if run._tracer is None:
                self._trace_if_due()
            return
        answer: Message = {
            "batch": self.batch,
            "taken": self._taken,
            "fits": self.fits,
            "steps": self._steps,
            "step_examples": self._step_examples(),
            "seconds": self._seconds,
            "first_seconds": self._first,
            "peak_bytes": self._peak,
            "room_bytes": self._room,
        }
        if self._loader is None and hasattr(run._account.memory, "most_reserved"):
            answer["reserved_bytes"] = run._account.memory.most_reserved()
        evaluation = integer(self.sizes[0].get("evaluation"), 1)
        if self.fits and evaluation:
            answer.update(TriedEvaluation(run, evaluation).run(bool(self.sizes[0].get("trace"))))
        run.event("probe", **answer)
        self.sizes.pop(0)
        if self.sizes:
            self.start()
            return
        run._end_probe(self)
        if run._loader is not None:
            run._loader.batch = self.before
        if self._then == "stop":
            run._stop = True
