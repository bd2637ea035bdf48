# SPDX-License-Identifier: MIT
"""The memory of a run: its budget as BatchScope wants it, and what its steps take."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .account import Account
from .budget import Budget
from .growth import Growth
from .heap import Heap
from .window import Window
from .wire import integer

if TYPE_CHECKING:
    from .run import Run

NOTHING_SAID = -2  # about a limit
_STEPS_OF_LIBRARIES = 2  # of a loop whose sizes are not known
_READS_EVERY = 0.2  # seconds, at least
_FIRST_STEPS = 16  # of which each is read: a run may make no more
_CLEARLY = 1.05  # times a budget, and places for small blocks that are touched: readings from outside are not exact


class RunMemory:
    """The account and the budget of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.account = Account()
        self.budget = Budget(self.account.between_steps, self.account.of_batch)
        self.told: int | None = NOTHING_SAID  # the limit that BatchScope has asked for last, bytes
        self._wanted: tuple[int | None] | None = None  # one that does not hold yet
        self._growth = Growth()
        self._size = 0  # examples of the largest micro batch of the present step, if it is one of a loader
        self.reads_at = 0.0  # seconds of the run, before which steps of a loop need not
        self._steps_read = 0
        self._unread: set[int] = set()  # sizes of steps since then, of which the next peak is, too
        self._evaluated_at: int | None = None  # the step after which the present evaluation runs

    @property
    def wants_peak(self) -> bool:
        """Whether the peak of the present step is to be read, whatever that costs."""
        helps = self.budget.on_host or self.account.on_gpu
        return self._run._probe is not None or (helps and self._run._foresight.wants(self._size))

    def of_step(self, takes: tuple[int, ...], seconds: float) -> dict[str, int]:
        """The fields of the record of a step that was made; none if a step of the same loop was looked at a moment ago
        and nothing depends on it.
        """
        peak = self.wants_peak
        if self._run._loop is not None and not peak and self.budget.bytes is None:
            if seconds < self.reads_at and self._steps_read >= _FIRST_STEPS:
                self._unread.add(max(takes, default=0))
                return {}
            self.reads_at = seconds + _READS_EVERY
        self._steps_read += 1
        fields: dict[str, int] = self.account.memory.read(peak=peak)
        self._look_at(fields, takes)
        self._unread.clear()
        return fields

    def notes(self, sizes: Sequence[int], first: bool) -> None:
        """A micro batch is fetched, the first one of a step or not; with a budget of the host, fetching() does this."""
        self._size = max((0 if first else self._size, *sizes))

    @property
    def waits_for_model(self) -> bool:
        """Whether there is a limit that cannot hold before a model is known."""
        return self._wanted is not None and self.account.model is None

    @contextlib.contextmanager
    def fetching(self, sizes: tuple[int, ...], first: bool) -> Iterator[None]:
        """The same within what it returns, where there is a budget of the host; what comes then belongs to the step."""
        self.notes(sizes, first)
        self._let_libraries_in()
        with self.budget.for_data(sizes, first):
            yield
        self.begin_reading(first)

    def begin_computing(self, sizes: tuple[int, ...]) -> None:
        """The same for what computes gradients, perhaps not the first to do so in its step: by now the program has let
        go of the last batch.
        """
        self._let_libraries_in()
        self.budget.begin_step(sizes)
        self.begin_reading(first=False)

    def begin_evaluating(self, part: Any, size: int) -> Window:
        """A batch of an evaluation is there; it counts as long as what is returned lives."""
        window = Window(None, [part], [size])
        self.account.windows.add(window)
        first, self._evaluated_at = self._evaluated_at != self._run._step, self._run._step
        self.budget.begin_evaluation(first)
        return window

    def _let_libraries_in(self) -> None:
        """In the first steps of a size, libraries take memory that they keep. In a loop of the program's own an error
        for want of that could not be undone, so there is room for it until it is known.
        """
        run = self._run
        if run._probe is not None:
            new = run._probe.begins_size
        else:
            new = run._foresight.wants(self._size) if self._size else run._step < _STEPS_OF_LIBRARIES
        self.budget.room_of_libraries = new and run._loop is not None

    def begin_reading(self, first: bool) -> None:
        if self.budget.on_host and self.account.memory is not None:
            self.account.memory.begin_step(self.budget.held, first, peak=self.wants_peak)

    def want_limit(self, limit: Any) -> None:
        if limit is None or integer(limit, 1):
            self._wanted = (limit,)
            self.told = limit

    def apply_limit(self) -> None:
        account = self.account
        if self._wanted is None or (account.model is None and self._run._loader is not None):
            return  # the model's own bytes are not known yet
        limit = self._wanted[0]
        self._wanted = None
        if self._run._ranks is None and limit is not None and limit <= self.budget.least(account.device):
            return  # the answer to BatchScope has the limit that stays
        before = self.budget.bytes
        self.budget.set(limit, account.device)
        if before is None and limit is not None and self.budget.counts_libraries:
            text = (
                "another allocator than glibc's is loaded (LD_PRELOAD?): the budget counts what it and libraries keep, "
                "and is less exact"
            )
            self._run.event("lint", text=text)
        if limit is None or (before is not None and limit > before):
            self._run._splitter.limit = None  # larger pieces may fit now

    def take_budget_back(self, reason: str) -> bool:
        """After an error with a lower budget; false if the budget has not been lowered since the last step."""
        lower = self.budget.bytes
        if self._run._ranks is not None or not self.budget.take_back():
            return False
        self._run._splitter.limit = None
        text = f"the step could not be made: {reason}; the budget is the earlier one again"
        detail = {"before_bytes": lower, "budget_bytes": self.budget.bytes, "message": text}
        self._run._event_at(self._run._step + 1, "budget", detail)
        return True

    def _look_at(self, fields: dict[str, int], takes: tuple[int, ...]) -> None:
        """Says what is not as it should be: memory that grows with each step, or more of it than the budget."""
        if self._run._probe is not None:
            return
        size = max(takes, default=0)
        if self._unread <= {size}:
            self._run._foresight.saw(size, fields.get("peak_bytes", 0))
        growth = self._growth.saw(self._run._step, fields["allocated_bytes"], takes)
        if growth is not None:
            self._run.event("growing", **growth)
        peak, limit = fields.get("peak_bytes", 0), self.budget.bytes
        if limit is not None and peak > limit * _CLEARLY + Heap.SMALL and self.budget.first_excess():
            reason = self.budget.why_exceeded()
            self._run.event("budget-not-kept", reason=reason.message(), limit_bytes=limit, needed_bytes=peak)

    def forget_evaluation(self) -> None:
        """The next batch of an evaluation is its first one."""
        self.budget.end_evaluation()
        self._evaluated_at = None
