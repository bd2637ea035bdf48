# SPDX-License-Identifier: MIT
"""The limit of the memory that training may use."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from typing import Any, Callable

from .heap import Heap, use_fixed_map_threshold, use_usual_map_threshold
from .memory import OwnFile, return_freed_memory, status_bytes
from .reasons import Reason

SCATTER = 4096  # bytes by which what equal steps need differs from one process to the next: a page
NOTABLE = 1 << 20  # bytes: less is what small objects and caches take
MOST_RETRIES = 3  # of a size, as long as libraries go on taking memory for it
_LARGE = 4 << 20  # bytes of a batch, or of places in the heap
_BUFFERS = 8 << 20  # bytes of a library's buffers for one thread
_MANY = 4096  # examples, whose objects may leave large places in the heap


class Budget:
    """The limit of the memory that training may use.

    On the host it is RLIMIT_DATA: what the process has mapped when the batch of a step is there, less the training's
    own bytes, plus the budget. So each step has the same room. What else has come to stay does not count: the examples
    of a data set, kernels that were compiled for new sizes, buffers of libraries. What steps of a known size leave
    does: they are tensors that the program keeps. While examples are fetched there is no limit. Workers that the
    program forks have the limit it had before.

    `own` tells the bytes that the training holds now, between two steps or after an error; `batch` those of the batches
    that there are.
    """

    def __init__(self, own: Callable[[], int] = lambda: 0, batch: Callable[[], int] = lambda: 0) -> None:
        self.bytes: int | None = None
        self.held = 0  # bytes that the training held when the step began, its batch included
        self._own_now = own
        self._batch_now = batch
        self._base: int | None = None  # bytes of the host's data that do not count
        self._free = True  # there is no limit
        self.room_of_libraries = False  # the present step may take that, too
        self._before: tuple[int, int] | None = None
        self._device: Any = None
        self._heap = Heap()
        self._kept = _Kept(self._heap)
        self._status = OwnFile("status")
        self._pid = os.getpid()
        self._opens = False  # the places in the heap that are closed, after a batch of an evaluation
        self._beside_evaluation = 0  # bytes in use besides when the first batch of an evaluation was there
        self._kept_by_evaluation = 0  # bytes since then
        self._for_updates: int | None = None  # bytes; None: no limit
        self._updated = False  # whether the optimizer has made an update
        self._collects = False  # steps leave garbage, which is no part of what they keep
        self._probing = False  # sizes are tried, each with the same room
        self._exceeded: int | None = None  # the limit of which this was said
        self._earlier: tuple[int | None] | None = None  # the limit before one that no step has been made with

    def set(self, limit: int | None, device: Any) -> None:
        """Sets, changes or removes (None) the limit. Raises nothing if the system refuses."""
        before, self.bytes = self.bytes, limit
        if not self._updated or limit is None or (self._for_updates is not None and limit > self._for_updates):
            self._for_updates = limit
        if self._updated and limit is not None and (before is None or limit < before):
            self._earlier = self._earlier or (before,)
        else:
            self._earlier = None
        if device is not None and device.type == "cuda":
            self._set_cuda(limit, device)
        else:
            self._set_host(limit)

    def least(self, device: Any) -> int:
        """Bytes that training has now, between two steps: no step can be made with less."""
        if not self._updated:
            return 0
        if device is not None and device.type == "cuda":
            import torch

            return int(torch.cuda.memory_allocated(device))
        return self._own_now()

    @property
    def on_host(self) -> bool:
        """Whether there is a limit, of this process."""
        return self.bytes is not None and self._base is not None

    @contextlib.contextmanager
    def for_data(self, sizes: tuple[int, ...], first: bool) -> Iterator[None]:
        """Lifts the limit while a micro batch, the first one of a step or not, is fetched and collated; the step begins
        with it.
        """
        if not self.on_host:
            yield
            return
        if first:
            self._kept.end_step(self._own_now, self._batch_now)
        self._lift()
        many = sum(sizes) >= _MANY
        if many:
            self._heap.open()
        try:
            yield
        except BaseException:
            self._limit(self.bytes)
            raise
        if many and not self._probing:  # else that is done with each step
            return_freed_memory(garbage=False)
        self.begin_step(sizes)

    def begin_step(self, sizes: tuple[int, ...] = ()) -> None:
        """The batch of a step is there: from now on, what the step takes counts."""
        if not self.on_host:
            return
        self._kept_by_evaluation = 0
        if self._collects and self._kept.bytes and not self._probing:
            gc.collect()
            self._kept.forget_garbage(self._own_now, self._batch_now)
        self._make_room(self._kept.begin_step(self._own_now, self._batch_now, sizes), self._wants_settling())

    def begin_evaluation(self, first: bool) -> None:
        """A batch of an evaluation is there, the `first` since the last step or not: from now on, what it takes counts,
        as does what the evaluation has kept of earlier ones.
        """
        if not self.on_host:
            return
        self._kept.evaluated = True
        batch = self._batch_now()
        self._opens = batch >= _LARGE or self._probing
        if not self._opens and not first:
            return  # what its examples leave in the heap is no more than a budget leaves for small blocks
        settle = self._wants_settling()
        own = self._own_now()
        beside = self._heap.used_bytes() - batch - own
        if first:
            self._beside_evaluation = beside
        self._kept_by_evaluation = max(0, beside - self._beside_evaluation)
        self._make_room(own, settle)

    def end_evaluation(self) -> None:
        """A batch of an evaluation is through: the examples of the next one may have the places of its own."""
        if self.on_host and self._opens and self._heap.closed_bytes > _LARGE:
            self._heap.open()

    def _wants_settling(self) -> bool:
        if not self._probing:
            return self._heap.wants_settling()
        self._lift()
        return_freed_memory()  # garbage of earlier sizes might be collected in a step
        return True

    def closed_bytes(self) -> int:
        """Bytes of the heap that nobody can use while there is a limit."""
        return self._heap.closed_bytes

    def first_excess(self) -> bool:
        """False from the second call for the same limit on."""
        first, self._exceeded = self._exceeded != self.bytes, self.bytes
        return first

    def why_exceeded(self) -> Reason:
        """The reason why a step has taken more than the limit."""
        if self._for_updates != self.bytes:
            what = "an optimizer's update can be neither split nor repeated, and has the earlier limit"
            return Reason("update", what)
        if self.counts_libraries:
            what = "another allocator than glibc's is loaded, which does not give memory back"
            return Reason("other-allocator", what)
        return Reason("not-limited", "memory was allocated in a way that the process's data limit does not cover")

    def pause(self) -> int | None:
        """Lifts the limit until resume() or make_room_again(); returns the bytes that count for it now, if it is one of
        the host.
        """
        if self.bytes is None or self._base is None:
            return None
        self._lift()
        return self._data() - self._base

    def resume(self) -> None:
        if self.bytes is not None:
            self._limit(self.bytes)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """For what is no part of training, or handles an error."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def make_room_again(self) -> str:
        """Gives back the memory of a step that failed. Empty, or why there is notably more room now than it had, so
        that the error says nothing of the size: `libraries` have compiled kernels and kept buffers meanwhile, or
        `garbage` of earlier steps, tensors in cycles of references, has been collected.
        """
        if self.bytes is None or self._base is None:
            return_freed_memory()
            return ""
        before, notable = self._base, self.bytes >> 9
        self._lift()
        return_freed_memory()
        collected = self._kept.forget_garbage(self._own_now, self._batch_now)
        self._make_room(self._own_now(), settle=True)
        if collected > notable:
            self._collects = True
            return "garbage"
        if self._base - before > notable:
            return "libraries"
        return ""

    @property
    def counts_libraries(self) -> bool:
        """Whether what libraries keep counts, too: other allocators than glibc's do not give freed memory back, and
        what stays could be either.
        """
        return self._before is not None and not self._heap.known

    def _data(self) -> int:
        return status_bytes("VmData", self._status.read())

    def _make_room(self, own: int, settle: bool) -> None:
        if settle:
            self._lift()
            self._heap.settle()
        self.held = own + self._batch_now() + self._kept.bytes + self._kept_by_evaluation
        if self._base is None or not self.counts_libraries:
            self._base = self._data() - self.held - (SCATTER if self._probing else 0)
        self._limit(self.bytes)

    def begin_update(self) -> None:
        """An update can be neither split nor repeated: it has the largest limit that training has had.

        Before the first one, what torch keeps of a GPU for reuse goes back: the optimizer's state, which it makes,
        would lie among blocks of the first step for good, and leave the second one no room for its own.
        """
        if self._device is not None and not self._updated:
            import torch

            torch.cuda.empty_cache()
        if self.bytes is not None and self._for_updates != self.bytes:
            self._limit(self._for_updates)

    def limit_step(self) -> None:
        """What is not an update has the limit of training; the closure of an optimizer's step() runs inside one."""
        if self.bytes is not None and self._for_updates != self.bytes:
            self._limit(self.bytes)

    def end_update(self) -> None:
        self.limit_step()
        self._updated, self._earlier = True, None

    def take_back(self) -> bool:
        """Returns to the limit before one that no step has been made with."""
        if self._earlier is None:
            return False
        (self.bytes,), self._earlier = self._earlier, None
        self._limit(self.bytes)
        return True

    def _limit(self, limit: int | None) -> None:
        if self._device is not None:
            self._set_cuda(limit, self._device)
        elif self._before is not None and self._base is not None:
            soft, hard = self._before
            more = _of_libraries() if self.room_of_libraries else 0
            self._limit_data(soft if limit is None else self._base + limit + more, hard)

    def _set_cuda(self, limit: int | None, device: Any) -> None:
        import torch

        self._device = device
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(1.0 if limit is None else min(1.0, limit / total), device)

    def _set_host(self, limit: int | None) -> None:
        import resource

        if self._before is None:
            if limit is None:
                return
            self._before = resource.getrlimit(resource.RLIMIT_DATA)
            _start_threads()
            os.register_at_fork(after_in_child=self._lift)
        if limit is None:
            self._heap.open()
            use_usual_map_threshold()
        elif self._free:
            use_fixed_map_threshold()
            return_freed_memory()
            self._make_room(self._own_now(), settle=True)
        self._free = limit is None
        self._limit(limit)

    def begin_probe(self) -> int | None:
        """Bytes that a step may allocate; None without a limit on the host.

        It is the same for each size that is tried, and a little less than in a run, so that the size holds there.
        """
        if self._base is None or self.bytes is None:
            return None
        self._probing = True
        if not gc.get_freeze_count():
            gc.collect()
            gc.freeze()  # all later collections look at what is new only
        return max(0, self.bytes - self._own_now() - self._kept.bytes - SCATTER)

    def room(self) -> int | None:
        """Bytes that may still be allocated in what begin_step() has begun; None without a limit on the host."""
        return None if self._base is None or self.bytes is None else max(0, self.bytes - self.held - SCATTER)

    def end_probes(self) -> None:
        gc.unfreeze()
        if self._probing:
            self._probing = False
            self._limit(self.bytes)

    @staticmethod
    def _limit_data(soft: int, hard: int) -> None:
        """Sets RLIMIT_DATA, as far as the system lets it."""
        import resource

        if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
            soft = hard
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (max(0, soft), hard))

    def _lift(self) -> None:
        if self._before is not None:
            import resource

            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_DATA, self._before)

    def remove(self) -> None:
        if os.getpid() != self._pid:
            return
        self._lift()
        self._heap.open()
        if self._device is not None and self.bytes is not None:
            self._set_cuda(None, self._device)
        self.bytes = None


class _Kept:
    """What the program keeps of its steps: the growth of what is in use, but for what training holds, from the moment
    that a step's batch is there to the moment before the next one is fetched; less what it lets go of until that is
    there. What the fetch adds, examples of a data set, does not count.

    The first two steps of a size do not count: libraries compile kernels for it, and take buffers. So do the first two
    evaluations.
    """

    _NEW = 2

    def __init__(self, heap: Heap) -> None:
        self._heap = heap
        self._sum = 0
        self._last: int | None = None  # bytes in use besides, when that was looked at last
        self._in_step = False
        self._sizes: tuple[int, ...] = ()
        self._steps: dict[tuple[int, ...], int] = {}  # steps that were made of each size
        self._evaluations = 0
        self.evaluated = False  # since the step began

    @property
    def bytes(self) -> int:
        return self._sum if self._sum >= NOTABLE else 0

    def begin_step(self, own: Callable[[], int], batch: Callable[[], int], sizes: tuple[int, ...]) -> int:
        """Returns the training's own bytes."""
        self._sizes, self._in_step = sizes, True
        present, beside = self._beside(own, batch)
        self._follow(beside, counts=False)
        return present

    def end_step(self, own: Callable[[], int], batch: Callable[[], int]) -> None:
        """The step is over, and its batch may still be there."""
        if not self._in_step:
            return
        count = self._steps[self._sizes] = self._steps.get(self._sizes, 0) + 1
        if self.evaluated:
            count = self._evaluations = self._evaluations + 1
        self._follow(self._beside(own, batch)[1], counts=count > self._NEW)
        self._in_step = self.evaluated = False

    def forget_garbage(self, own: Callable[[], int], batch: Callable[[], int]) -> int:
        """Within a step of which nothing is left: what was collected since it began was not kept, but garbage of
        earlier ones. Returns its bytes.
        """
        before = self.bytes
        self._follow(self._beside(own, batch)[1], counts=False)
        return before - self.bytes

    def _follow(self, beside: int, counts: bool) -> None:
        """Growth since the last look, if it `counts`; what was let go of always does."""
        growth = 0 if self._last is None else beside - self._last
        self._last = beside
        if counts or growth < 0:
            self._sum = max(0, self._sum + growth)

    def _beside(self, own: Callable[[], int], batch: Callable[[], int]) -> tuple[int, int]:
        """The training's own bytes, and what is in use beside."""
        present = own()
        return present, self._heap.used_bytes() - batch() - present


def _of_libraries() -> int:
    """Bytes that libraries may come to keep in a step, such as buffers for products of matrices: of each thread."""
    torch = sys.modules.get("torch")
    return _BUFFERS * (1 if torch is None else int(torch.get_num_threads()))


def _start_threads() -> None:
    """Lets torch start the threads that it computes with: their stacks, 8 MB of data each, are no part of training."""
    torch = sys.modules.get("torch")
    if torch is not None:
        grain = 32768  # elements that one thread adds at least
        torch.zeros(grain * torch.get_num_threads(), dtype=torch.float32, device="cpu").add_(1)
