# SPDX-License-Identifier: MIT
"""Lists the allocations of a step."""

from __future__ import annotations

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


class Tracer:
    """Lists the allocations of a step, from its making to finish()."""

    def __init__(self, model: Any = None, optimizer: Any = None) -> None:
        import torch

        self._torch = torch
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
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self._device == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities, profile_memory=True)
        self._profile.start()

    def _watch(self, tensors: list[Any]) -> list[Any]:
        """Marks when memory that the step begins with is freed: the profiler does not know blocks from before it."""
        return [weakref.ref(storage, self._when_freed(used)) for storage, used in storages_of(tensors)]

    def _when_freed(self, size: int) -> Callable[[Any], None]:
        return lambda _: self.mark(f"freed {size}")

    def mark(self, phase: str) -> None:
        """The phase of the step that begins now."""
        with self._torch.profiler.record_function("batchscope::" + phase):
            pass

    def finish(self, batch: int) -> Message:
        """The message for a step that took `batch` examples."""
        self._profile.stop()
        self._earlier.clear()
        allocations, marks = self._events()
        blocks: dict[int, int] = {}
        events: list[Any] = []
        phases: list[list[Any]] = []
        count = 0
        for when, address, size in allocations:
            while marks and marks[0][0] <= when:
                phase, _, freed = marks.pop(0)[1].partition(" ")
                if freed:
                    events.append([int(freed)])
                else:
                    phases.append([len(events), phase])
            if size > 0:
                count += 1
                blocks[address] = count
                events.append(size)
            elif address in blocks:  # else it is no part of what the step begins with, or is marked
                events.append(-blocks.pop(address))
        return {
            "type": "trace",
            "batch": batch,
            "granularity": 512 if self._device == "cuda" else 64,
            "start_bytes": sum(self._start_by.values()),
            "start_by": self._start_by,
            "events": events,
            "phases": phases,
        }

    def _events(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, str]]]:
        """Allocations (time, address, bytes; frees below 0) and marks, in order of time."""
        from torch._C._profiler import _EventType

        allocations: list[tuple[int, int, int]] = []
        marks: list[tuple[int, str]] = []
        waiting = list(self._profile.profiler.kineto_results.experimental_event_tree())
        while waiting:
            event = waiting.pop()
            waiting += event.children
            if event.tag == _EventType.Allocation:
                fields = event.extra_fields
                if fields.device.type == self._device:
                    allocations.append((event.start_time_ns, fields.ptr, fields.alloc_size))
            elif event.name.startswith("batchscope::"):
                marks.append((event.start_time_ns, event.name.split("::", 1)[1]))
        return sorted(allocations, key=lambda item: item[0]), sorted(marks)


def trace(step: Callable[[], Any], batch: int = 0, model: Any = None, optimizer: Any = None) -> Message:
    """Runs step() and returns the list of its allocations, as the message `trace` has it."""
    tracer = Tracer(model, optimizer)
    try:
        step()
    finally:
        message = tracer.finish(batch)
    return message
