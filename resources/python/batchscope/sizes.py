# SPDX-License-Identifier: MIT
"""The sizes of a training's steps, and how far it is: arithmetic without tensors."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .schedulers import INSIDE, OUTSIDE

if TYPE_CHECKING:
    from .run import Run

STEADY = 16  # windows of the same size, after which it is likely to stay for a while


class Sizes:
    """Which examples the next step takes: `batch * accumulate` of those that are left of an epoch.

    On several ranks each takes every R-th example of the same order, `batch` of them for a micro batch, and `seen`,
    `epoch` and `examples` are those of all ranks. The tail of an epoch is divided as evenly as can be.
    """

    can: tuple[str, ...] = ("batch", "accumulate")  # be changed
    may_lead = True  # the steps have its examples, or may have them
    goes_along = True  # with a loader that is iterated over at the same time
    at_once: int | None = None  # micro batches that are fetched together; None: all of a step

    def __init__(self, run: Run, examples: int, batch: int, drop_last: bool) -> None:
        self._run = run
        self.examples = examples  # of the present epoch
        self._most: int | None = None  # of an epoch
        self.drop_last = drop_last
        self._batch, self._accumulate = batch, 1
        self.own_batch, self.own_accumulate = batch, 1  # the program's
        self.epoch = 0  # passes completed
        self.seen = 0  # examples of the whole training
        self.seen_in_epoch = 0
        self.last_size = 0  # the largest micro batch of the last window, before it was split for memory
        self.last_total = 0  # examples of the last window, of all ranks
        self.is_open = False  # an epoch has begun and was not gone through
        self.grain = 1  # the batch is a multiple of it, for its ratio to the batches of other loaders
        self.lead: Sizes | None = None  # whose size this one follows
        self._first_step = True  # is not over
        self._stepped = (0, 0, 0)  # epoch, seen, seen in the epoch, after the last step
        self._used: tuple[int, int, int] | None = None  # the same after the window that the step was seen to use
        self._pass: tuple[int, int, Fraction | int, bool] | None = None  # epoch and so on where the present pass began
        self.own_counted = 0  # own_steps() after the last step
        self._own_before: Fraction | int = 0  # the same at the beginning of the present pass
        self._batches = 0  # micro batches of the present pass
        self._leaves_early = False  # the last pass was not gone through
        self.spans = False  # steps begin in one pass and end in another one
        self._unfinished = 0  # micro batches of the own size before the present pass, of a step that is not over
        self._promised = 0  # a batch size that the next window of this epoch may have
        self._window = (batch, 1)  # batch and accumulation of the last window
        self._unchanged = STEADY  # windows since the size has changed the last time
        self._steady = True  # it is likely to stay for a while
        run._loaders.add(self)
        if self.may_lead:
            self._describe()

    def _describe(self) -> None:
        """What the program can do with this loader."""
        self._run._describe(
            can=self.can,
            examples=self.examples,
            batch=self.own_batch,
            accumulate=self.own_accumulate,
            drop_last=self.drop_last,
        )

    # ---- size ----

    @property
    def batch(self) -> int:
        """Examples of a micro batch. May be set at any time, and holds from the next window on."""
        return self._batch

    @batch.setter
    def batch(self, size: int) -> None:
        size = self._fitting(size)
        most = max(1, self.examples // self._sharers)
        self._batch = self._clamped("batch", size, max(self.grain, most - most % self.grain), self.grain)

    def _fitting(self, size: int) -> int:
        """The size, or the largest one that memory has room for."""
        return size

    @property
    def accumulate(self) -> int:
        """Micro batches of a window. May be set at any time, too."""
        return self._accumulate

    @accumulate.setter
    def accumulate(self, count: int) -> None:
        self._accumulate = self._clamped("accumulate", count, max(1, self.examples))

    def _clamped(self, what: str, asked: int, most: int, grain: int = 1) -> int:
        taken = max(grain, min(round(int(asked) / grain) * grain, most))
        if taken != asked and (self._run._ranks is None or self._run._rank == 0):
            self._run.event("clamp", field=what, asked=asked, taken=taken)
        return taken

    def follow(self, lead: Sizes) -> None:
        """Takes the size of another loader that is iterated over at the same time, in the ratio of their own sizes."""
        self.lead = lead
        self._batch = max(1, min(round(self.own_batch * lead._batch / lead.own_batch), self.examples))
        self._accumulate = lead._accumulate

    @property
    def is_own(self) -> bool:
        """Whether the steps have the program's own size."""
        return (self._batch, self._accumulate) == (self.own_batch, self.own_accumulate)

    @property
    def _sharers(self) -> int:
        """Ranks that take the examples together."""
        return 1 if self._run._ranks is None else self._run._ranks.size

    # ---- windows ----

    def __len__(self) -> int:
        """Windows of an epoch at the present size."""
        return self._windows(self.examples)

    def _windows(self, examples: int) -> int:
        return -(-self._micro_batches(examples) // self._accumulate)

    def _micro_batches(self, examples: int) -> int:
        batch = self._batch * self._sharers
        return examples // batch if self.drop_last else -(-examples // batch)

    @property
    def micro_batches(self) -> int:
        """Of an epoch at the present size."""
        return self._micro_batches(self.examples)

    def own_steps(self) -> int:
        """Steps of the program's own size that the examples seen so far amount to; a tail is one.

        Of a program that leaves its passes early, as it does after a number of batches, they are the steps it made.
        """
        seen = self.seen_in_epoch
        return int(self._own_before + self._own_of_pass(seen, seen > 0 and self.through))

    def _own_of_pass(self, seen: int, through: bool) -> int:
        """The same of a pass of which so many examples are seen."""
        if self._leaves_early and not through:
            return (self._carried + self._batches) // self._accumulate
        begun, done = self._carried, self._own_batches(seen, through)
        if self.spans:
            return (begun + done) // self.own_accumulate
        return -(-done // self.own_accumulate) if through else done // self.own_accumulate

    def _own_batches(self, seen: int, through: bool) -> int:
        """Micro batches of the program's own size that so many examples of a pass amount to."""
        batch = self.own_batch * self._sharers
        whole = self.examples // batch if self.drop_last else -(-self.examples // batch)
        return whole if through else min(seen // batch, whole)

    @property
    def _carried(self) -> int:
        return self._unfinished if self.spans else 0

    def accumulates(self, batches: int) -> None:
        """The program's steps have so many micro batches from the present one on."""
        if self._first_step:  # those of passes before, each taken for a step, are some of its
            self._unfinished, self._own_before = int(self._own_before), 0
        stepped = self._stepped[2] if self._stepped[0] == self.epoch and not self._leaves_early else 0
        self.own_accumulate = batches
        self._own_before = self.own_counted - self._own_of_pass(stepped, False)

    def place(self) -> str:
        """Where a program is in a pass: INSIDE or OUTSIDE; with its last batch, too, as far as a Trainer's is known."""
        return INSIDE if self.is_open and not self.through else OUTSIDE

    def limit(self, batches: int) -> None:
        """Epochs have at most so many micro batches of the program's own size."""
        self._most = batches * self.own_batch * self._sharers
        self.count(self.examples)

    def count(self, examples: int) -> None:
        """An epoch that begins has so many examples."""
        self.examples = examples if self._most is None else min(examples, self._most)
        if self.may_lead:
            self._run._describe(examples=self.examples)

    @property
    def through(self) -> bool:
        """Whether the epoch has no window left at the present size."""
        return self.is_through(self.seen_in_epoch)

    def is_through(self, seen_in_epoch: int) -> bool:
        """The same after so many examples of it."""
        if self._run._probe is not None:
            return False  # it goes round
        left = self.examples - seen_in_epoch
        return left <= 0 or (self.drop_last and left < self._batch * self._sharers)

    def promise(self) -> bool:
        """Whether there is another window; if so there will be one, even if the size changes before."""
        self._promised = 0 if self.through else self._batch
        return self._promised > 0

    def _next_sizes(self) -> list[int]:
        """Examples of the micro batches of the next window, of all ranks together."""
        if self.lead is not None:
            self.follow(self.lead)
        left = self.examples - self.seen_in_epoch
        batch, count = self._batch * self._sharers, self.at_once or self._accumulate
        tries = self._run._probe is not None
        if tries and self.examples >= batch:
            sizes = self._window_of(self.examples, batch, count)
            return sizes if sum(sizes) <= left else []  # then it goes round
        if (self.drop_last or tries) and left < batch and left >= self._promised > 0:
            batch = self._promised
        return self._window_of(left, batch, count)

    def _window_of(self, left: int, batch: int, count: int) -> list[int]:
        whole, rest = divmod(min(batch * count, left), batch)
        return [batch] * whole + ([rest] if rest and not self.drop_last else [])

    def _own(self, sizes: list[int]) -> list[int]:
        """This rank's part of the micro batches; one of which it gets nothing is left out."""
        ranks = self._run._ranks
        return sizes if ranks is None else [part for part in map(ranks.part, sizes) if part]

    def _took(self, sizes: list[int]) -> None:
        self._promised = 0
        changed = self._window[0] != self._batch and self._stepped[1] > 0
        self._steady = self._unchanged >= STEADY if changed else self._steady or self._unchanged + 1 >= STEADY
        self._unchanged = 1 if changed else self._unchanged + 1
        self._window = self._batch, self._accumulate
        self.last_total = sum(sizes)
        self.seen += self.last_total
        self.seen_in_epoch += self.last_total
        self._batches += len(sizes)
        own = self._own(sizes)
        self.last_size = max(own, default=0)
        if self.lead is None and self.at_once is None:  # else a step takes what its gradients are computed from
            self._run._takes += own

    def _goes_round(self) -> bool:
        """While sizes are tried, windows as at the beginning of an epoch are wanted."""
        if self._run._probe is None or self.examples < self._batch * self._sharers:
            return False
        self.seen_in_epoch = 0
        self.epoch += 1
        return True

    def _end_epoch(self) -> None:
        self.is_open = False
        if self.seen_in_epoch or not self.examples:
            self._end_own_steps()
            self.epoch += 1
            self.seen_in_epoch = 0

    def _end_own_steps(self) -> None:
        through = self.through
        self._leaves_early = not through
        begun = self._carried + (self._own_batches(self.seen_in_epoch, True) if through else self._batches)
        self._own_before += self._own_of_pass(self.seen_in_epoch, through)
        self._unfinished = begun % (self.own_accumulate if through else self._accumulate)
        self._batches = 0

    # ---- what is said of a step ----

    def _begin_pass(self) -> None:
        """A pass over the examples in which no step was made was for something else, such as their statistics."""
        if self._pass is not None and self._pass[1] >= self._stepped[1] and self.lead is None:
            self.epoch, self.seen, self._own_before, self._leaves_early = self._pass
        self._pass = self.epoch, self.seen, self._own_before, self._leaves_early

    def total_of(self, takes: list[int]) -> int:
        """Examples of a step of which this rank has taken so many."""
        return sum(takes) if self._run._ranks is None else self.last_total

    def _count_step(self) -> None:
        self._first_step = False
        self._stepped = self._used or (self.epoch, self.seen, self.seen_in_epoch)
        self._used = None

    def _series(self, takes: list[int]) -> dict[str, Any]:
        """Of the last step, of which this rank has taken so many."""
        whole = max(1, self.examples)
        batch, accumulate = self._window
        epoch, seen, seen_in_epoch = self._stepped
        return {
            "examples_seen": self._run._examples_before + seen,
            "epoch_index": epoch,
            "epoch": seen / whole,
            "train_coverage": seen_in_epoch / whole,
            "batch": batch,
            "accumulate": accumulate,
            "takes": takes,
            "effective_batch": self.total_of(takes),
        }
