# SPDX-License-Identifier: MIT
"""Lists the allocations of a step."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any, Callable

from .wire import Message


def bytes_of(tensors: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)


def storages_of(tensors: Any) -> list[tuple[Any, int]]:
    """Each storage once, with the bytes of the tensors in it: these may be parts of something larger."""
    storages: dict[int, tuple[Any, int]] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        _, used = storages.get(storage._cdata, (storage, 0))
        storages[storage._cdata] = storage, used + bytes_of([tensor])
    return list(storages.values())


def tensors_in(value: Any) -> list[Any]:
    """Of a batch, as collators make them."""
    if hasattr(value, "untyped_storage"):
        return [value]
    if hasattr(value, "keys"):
        value = [value[key] for key in value.keys()]  # noqa: SIM118 - as in parts.leaves_of()
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def state_tensors(optimizer: Any) -> list[Any]:
    states = optimizer.state.values() if optimizer is not None else ()
    return [t for state in states if isinstance(state, dict) for t in state.values() if hasattr(t, "element_size")]


class _Profile:
    """Allocations on the host, and marks, from torch's profiler."""

    def __init__(self) -> None:
        import torch

        self.in_use: int | None = None  # of all tensors as it begins, if that is known
        self._torch = torch
        activities = [torch.profiler.ProfilerActivity.CPU]
        self._profile: Any = torch.profiler.profile(activities=activities, profile_memory=True)
        self._profile.start()

    def mark(self, text: str) -> None:
        with self._torch.profiler.record_function("batchscope::" + text):
            pass

    def stop(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, str]]]:
        """Allocations (time, address, bytes; frees below 0) and marks, in order of time."""
        listed = self._listed()
        self._profile = None
        gc.collect()  # it was in cycles of references, whose memory would count as kept by the step
        return listed

    def _listed(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, str]]]:
        from torch._C._profiler import _EventType

        self._profile.stop()
        allocations: list[tuple[int, int, int]] = []
        marks: list[tuple[int, str]] = []
        waiting = list(self._profile.profiler.kineto_results.experimental_event_tree())
        while waiting:
            event = waiting.pop()
            waiting += event.children
            if event.tag == _EventType.Allocation:
                fields = event.extra_fields
                if fields.device.type == "cpu":
                    allocations.append((event.start_time_ns, fields.ptr, fields.alloc_size))
            elif event.name.startswith("batchscope::"):
                marks.append((event.start_time_ns, event.name.split("::", 1)[1]))
        return sorted(allocations, key=lambda item: item[0]), sorted(marks)


class _History:
    """The same on a GPU, from its allocator: the profiler does not see there what no operator frees. A recording of the
    program's own goes on."""

    _SIGNS = {"alloc": 1, "free_completed": -1}

    def __init__(self, device: Any) -> None:
        import torch

        self._memory = torch.cuda.memory
        self._index = torch.cuda.current_device() if device.index is None else device.index
        self._marks: list[tuple[int, str]] = []
        self._own = not torch._C._cuda_isHistoryEnabled()
        if self._own:
            self._memory._record_memory_history(context=None, clear_history=True)
        self._before = 0 if self._own else len(self._entries())
        # What was asked for, as in the entries.
        self.in_use: int | None = self._memory.memory_stats(self._index).get("requested_bytes.all.current")

    def _entries(self) -> list[Any]:
        traces: list[Any] = self._memory._snapshot()["device_traces"]
        return list(traces[self._index])

    def mark(self, text: str) -> None:
        self._marks.append((time.time_ns() // 1000, text))  # as fine as the times of the allocator

    def stop(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, str]]]:
        entries = self._entries()[self._before :]
        if self._own:
            self._memory._record_memory_history(enabled=None)
        signs = ((entry, self._SIGNS.get(entry["action"])) for entry in entries)
        return [(entry["time_us"], entry["addr"], sign * entry["size"]) for entry, sign in signs if sign], self._marks


class Tracer:
    """Lists the allocations of a step, from its making to finish()."""

    def __init__(self, model: Any = None, optimizer: Any = None) -> None:
        parameters = list(model.parameters()) if model is not None else []
        self._device = parameters[0].device.type if parameters else "cpu"
        gradients = [p.grad for p in parameters if p.grad is not None]
        states = [t for t in state_tensors(optimizer) if t.device.type == self._device]
        self._start_by = {
            "parameters": bytes_of(parameters) + bytes_of(model.buffers() if model is not None else ()),
            "gradients": bytes_of(gradients),
            "optimizer": bytes_of(states),
        }
        self._earlier = self._watch(gradients + states)
        self._seen: Any = _History(parameters[0].device) if self._device == "cuda" else _Profile()

    def _watch(self, tensors: list[Any]) -> list[Any]:
        """Marks when memory that the step begins with is freed: blocks from before it are not known."""
        return [weakref.ref(storage, self._when_freed(used)) for storage, used in storages_of(tensors)]

    def _when_freed(self, size: int) -> Callable[[Any], None]:
        return lambda _: self.mark(f"freed {size}")

    def mark(self, phase: str) -> None:
        """The phase of the step that begins now."""
        self._seen.mark(phase)

    def finish(self, batch: int) -> Message:
        """The message for a step that took `batch` examples."""
        self._earlier.clear()
        allocations, marks = self._seen.stop()
        blocks: dict[int, int] = {}
        events: list[Any] = []
        phases: list[list[Any]] = []
        count = 0
        live = highest = 0  # bytes beyond those that the step began with
        left_over = before_peak = 0  # of the step before, freed until now, but for what is marked; until the peak
        for when, address, size in allocations:
            while marks and marks[0][0] <= when:
                phase, _, freed = marks.pop(0)[1].partition(" ")
                if freed:
                    events.append([int(freed)])
                    left_over -= int(freed)
                else:
                    phases.append([len(events), phase])
            if size > 0:
                count += 1
                blocks[address] = count
                events.append(size)
            elif address in blocks:
                events.append(-blocks.pop(address))
            else:
                left_over -= size
            live += size
            if live > highest:
                highest, before_peak = live, left_over
        if self._seen.in_use is not None:
            # What else the program keeps; what was left over from the step before is not there any more at the peak.
            known = sum(self._start_by.values())
            self._start_by["workspace"] = max(0, self._seen.in_use - known - max(0, before_peak))
        if not any(phase == "forward" for _, phase in phases):  # of a loop that nobody tells of it
            phases.insert(0, [0, "forward"])
        return {
            "type": "trace",
            "batch": batch,
            "granularity": 512 if self._device == "cuda" else 64,
            "start_bytes": sum(self._start_by.values()),
            "start_by": self._start_by,
            "events": events,
            "phases": phases,
        }


def trace(step: Callable[[], Any], batch: int = 0, model: Any = None, optimizer: Any = None) -> Message:
    """Runs step() and returns the list of its allocations, as the message `trace` has it."""
    tracer = Tracer(model, optimizer)
    try:
        step()
    finally:
        message = tracer.finish(batch)
    return message
