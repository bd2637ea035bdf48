# SPDX-License-Identifier: MIT
"""Tries sizes of evaluation batches for BatchScope, between two steps of the training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .budget import MOST_RETRIES
from .frames import forget_frames
from .memory import is_out_of_memory
from .parts import leaves_of
from .tracer import Tracer
from .wire import Message

if TYPE_CHECKING:
    from .run import Run

_LOOKING = 2.0  # seconds for the lengths of examples


class Examples:
    """The examples of one evaluation, in the order in which it takes them."""

    def __init__(self, dataloader: Any) -> None:
        self._dataset = dataloader.dataset
        self._collate = dataloader.collate_fn
        self._extents: dict[int, int] = {}  # elements, by example; of as many as there was time for
        self.kept = 0  # bytes that an evaluation keeps of the result of each

    def __len__(self) -> int:
        return len(self._dataset)

    def look(self) -> int:
        """Looks at the lengths of examples, and returns of how many it knows them."""
        end = time.monotonic() + _LOOKING
        for index in _all_indices(len(self)):
            self._extents[index] = _extent(self._dataset[index])
            if time.monotonic() > end:
                break
        return len(self._extents)

    def largest_batch(self, size: int) -> Any:
        """Collated: of the batches of this size, the one that a collator that pads makes largest."""
        count = len(self)

        def bounds(number: int) -> tuple[int, int]:
            return number * size, min(count, (number + 1) * size)

        def elements(index: int) -> int:
            first, end = bounds(index // size)
            return (end - first) * self._extents[index]

        first, end = bounds(max(self._extents, key=elements) // size)
        rows = list(range(first, end))
        fetch = getattr(self._dataset, "__getitems__", None)  # as torch's loaders do
        return self._collate(fetch(rows) if fetch else [self._dataset[row] for row in rows])


def _all_indices(count: int) -> Iterator[int]:
    """All indices once, the first ones far apart."""
    stride = 1 << max(0, count - 1).bit_length()
    yield 0
    while stride > 1:
        stride //= 2
        yield from range(stride, count, 2 * stride)


def _extent(example: Any) -> int:
    """Elements of an example that is not collated yet: of its tensors and arrays, and of lists of numbers."""
    total = 0
    for _, leaf in leaves_of(example):
        elements = 1
        for length in leaf.shape:
            elements *= int(length)
        total += elements
    return total + _numbers_in(example)


def _numbers_in(value: Any) -> int:
    if hasattr(value, "shape"):
        return 0
    if hasattr(value, "keys"):
        return sum(_numbers_in(value[key]) for key in value.keys())  # noqa: SIM118
    if isinstance(value, (list, tuple)):
        plain = not value or isinstance(value[0], (bool, int, float))
        return len(value) if plain else sum(_numbers_in(item) for item in value)
    return 0


class EvaluationTrial:
    """The evaluations of a Trainer, of which a batch can be run when it is asked for."""

    def __init__(self) -> None:
        self._sets: list[Examples] = []
        self._device: Any = None
        self.unseen = 0  # examples whose lengths are not known

    @property
    def examples(self) -> int:
        """Of the largest evaluation: no batch is larger."""
        return max(map(len, self._sets), default=0)

    def open(self) -> None:
        """Finds the examples, and runs a small batch of each evaluation: libraries take what they need.

        Raises ValueError for an evaluation whose examples cannot be chosen.
        """
        if self._sets:
            return
        dataloaders = self.dataloaders()
        if not dataloaders:
            raise ValueError("it has no evaluation data")
        for dataloader in dataloaders:
            if not hasattr(dataloader, "collate_fn") or not hasattr(dataloader.dataset, "__len__"):
                raise ValueError("the examples of its evaluation are no map-style data set of a DataLoader")
            if len(dataloader.dataset) == 0:
                raise ValueError("its evaluation has no examples")
        sets = [Examples(dataloader) for dataloader in dataloaders]
        self.unseen = sum(len(examples) - examples.look() for examples in sets)
        for number, examples in enumerate(sets):
            size = min(2, len(examples))
            examples.kept = -(-self.run_batch(examples.largest_batch(size), number) // size)
        self._sets = sets

    def run(self, size: int, begin: Callable[[Any, int], Any] = lambda part, size: None) -> None:
        """Runs a batch of each evaluation. What an evaluation has kept of all other examples by then is in memory, too,
        and is joined with what it keeps of these. `begin` is called with the first batch of an evaluation and its size,
        then with the one that is run; what it returns lives as long as the batch.
        """
        for number, examples in enumerate(self._sets):
            begin(None, 0)
            rows = min(size, len(examples))
            others = self._filled(examples.kept * (len(examples) - rows))
            part = examples.largest_batch(rows)
            begun = begin(part, rows)
            self.run_batch(part, number)
            self._filled(examples.kept * len(examples))
            del others, part, begun

    def _filled(self, size: int) -> Any:
        import torch

        return torch.ones(size, dtype=torch.uint8, device=self.device())

    def device(self) -> Any:
        """Where results are kept."""
        raise NotImplementedError

    def dataloaders(self) -> list[Any]:
        """Of all evaluations of the training."""
        raise NotImplementedError

    def run_batch(self, part: Any, number: int) -> int:
        """Evaluates a collated batch of an evaluation; returns the bytes that are kept of its result."""
        raise NotImplementedError


class TriedEvaluation:
    """A size of an evaluation's batches, tried within the budget of a run."""

    def __init__(self, run: Run, size: int) -> None:
        self._run = run
        self._size = size
        self._room: int | None = None

    def run(self, trace: bool) -> Message:
        """What came out, as fields of the event."""
        trial = self._run._evaluation_trial
        answer: Message = {"evaluation": self._size, "fits": False, "first_seconds": 0.0, "peak_bytes": 0}
        if trial is None:
            return {**answer, "error": "it has no evaluation whose batches can be chosen"}
        try:
            with self._run._budget.paused():
                trial.open()
            answer.update(self._try(trial))
            if answer["fits"] and trace and self._run._account.model is not None:
                self._trace(trial)
        except Exception as error:
            with self._run._budget.paused():
                forget_frames(error)
            answer["error"] = f"{type(error).__name__}: {error}"[:500]
        self._run._budget.begin_step()  # what has happened since the last one is nothing that the program keeps
        return {**answer, "room_bytes": self._room, "examples": trial.examples, "unseen": trial.unseen}

    def _try(self, trial: EvaluationTrial) -> Message:
        run = self._run
        retries = 0
        while True:
            began = time.monotonic()
            try:
                trial.run(self._size, self._begin)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                with run._budget.paused():
                    forget_frames(error)
            else:
                seconds, memory = time.monotonic() - began, run._account.memory
                peak = 0 if memory is None else memory.read(peak=True).get("peak_bytes", 0)
                return {"fits": True, "seconds": seconds, "peak_bytes": peak}
            if not run._budget.make_room_again() or retries == MOST_RETRIES:
                return {"seconds": time.monotonic() - began}
            retries += 1

    def _begin(self, part: Any, size: int) -> Any:
        """As in an evaluation of the program; without a batch an evaluation begins."""
        run = self._run
        if part is None:
            run._memory.forget_evaluation()
        window = run._memory.begin_evaluating(part, size)
        run._memory.begin_reading(part is None)
        if part is None:
            self._room = run._budget.room()
        return window

    def _trace(self, trial: EvaluationTrial) -> None:
        """The same once more, listed. The list is no part of the budget."""
        run = self._run
        with run._budget.paused():
            tracer = Tracer(run._account.model, run._updates.last)
            tracer.mark("forward")
            try:
                trial.run(self._size)
            finally:
                message = tracer.finish(self._size)
        run._link.post(message)


def result_bytes(*results: Any) -> int:
    """Of all tensors."""
    return sum(leaf.numel() * leaf.element_size() for _, leaf in leaves_of(results) if hasattr(leaf, "element_size"))


def modes_of(module: Any) -> Callable[[], None]:
    """Keeps which modules train; returns what puts that back."""
    modes = [(each, each.training) for each in module.modules()]

    def restore() -> None:
        for each, mode in modes:
            each.training = mode

    return restore
