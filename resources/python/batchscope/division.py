# SPDX-License-Identifier: MIT
"""Finds the order and the size in which a DataLoader takes its examples, if it can be changed."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

from .ranks import Ranks
from .reasons import Reason


class _WholeOrder:
    """What all DistributedSamplers of the ranks go through together, without examples that are there twice."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        examples = len(sampler.dataset)
        self._length = examples - examples % sampler.num_replicas if sampler.drop_last else examples

    def __iter__(self) -> Iterator[Any]:
        whole = copy.copy(self._sampler)  # at the epoch that the program has set by now
        whole.rank, whole.num_replicas, whole.drop_last = 0, 1, False
        whole.num_samples = whole.total_size = len(whole.dataset)
        return iter(whole)

    def __len__(self) -> int:
        return self._length

    def set_epoch(self, epoch: int) -> None:
        self._sampler.set_epoch(epoch)


class Unknown(Exception):
    """It is not known how a DataLoader makes its batches."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


def check_divided(dataloader: Any, ranks: Ranks | None) -> None:
    """Raises Unknown if it is not known how the ranks divide the examples of a DataLoader."""
    if ranks is None:
        return
    from torch.utils.data.distributed import DistributedSampler

    batches: Any = getattr(dataloader, "batch_sampler", None)
    sampler: Any = getattr(batches, "sampler", None)
    place = ranks.rank, ranks.size
    if type(sampler) is DistributedSampler and (sampler.rank, sampler.num_replicas) == place:
        return
    if (
        type(batches).__name__ == "BatchSamplerShard"
        and not batches.split_batches
        and (batches.process_index, batches.num_processes) == place
    ):
        return
    what = "its DataLoader has neither a DistributedSampler nor accelerate's division among these ranks"
    raise Unknown(Reason("several-ranks", what, {"what": what}))


def sampler_of(dataloader: Any, ranks: Ranks | None = None) -> tuple[Any, bool, int]:
    """Sampler, drop_last and batch size of a DataLoader. Raises Unknown.

    With `ranks` the sampler is that of all examples, of which each rank takes its part.
    """
    from torch.utils.data import BatchSampler, DataLoader, IterableDataset

    name = type(dataloader).__name__
    if not isinstance(dataloader, DataLoader) and not hasattr(dataloader, "batch_sampler"):
        text = f"a {name} is no DataLoader of torch"
        raise Unknown(Reason("not-a-dataloader", text, {"class": name}))
    if isinstance(dataloader.dataset, IterableDataset):
        text = "the batch size of an IterableDataset can only be set before it begins"
        raise Unknown(Reason("iterable-dataset", text))
    batches = batch_sampler_of(dataloader)
    own = type(batches).__name__ if batches is not None else "a data set of batches"
    text = f"{own} makes batches of its own"
    if not isinstance(batches, BatchSampler) or type(batches).__iter__ is not BatchSampler.__iter__:
        raise Unknown(Reason("own-batch-sampler", text, {"class": own}))
    if not hasattr(batches.sampler, "__len__"):
        name = type(batches.sampler).__name__
        raise Unknown(Reason("own-batch-sampler", f"{name} has no length", {"class": name}))
    if hasattr(batches.sampler, "batch_size"):  # such as that of GRPO, which puts the completions of a prompt together
        name = type(batches.sampler).__name__
        text = f"{name} orders the examples for batches of one size"
        raise Unknown(Reason("sampler-for-a-size", text, {"class": name}))
    whole = ranks is not None and hasattr(batches.sampler, "num_replicas")
    return _WholeOrder(batches.sampler) if whole else batches.sampler, batches.drop_last, batches.batch_size


def batch_sampler_of(dataloader: Any) -> Any:
    """That of the whole batches, where accelerate divides them among ranks. What else has a batch sampler in it may
    leave some out, or repeat them.
    """
    batches = dataloader.batch_sampler
    while type(batches).__name__ == "BatchSamplerShard" and type(batches).__module__.startswith("accelerate."):
        batches = batches.batch_sampler
    return batches


def base_of(dataloader: Any) -> Any:
    """The DataLoader itself, of one that accelerate has wrapped."""
    while hasattr(dataloader, "base_dataloader"):
        dataloader = dataloader.base_dataloader
    return dataloader


def with_size(dataloader: Any, size: int) -> Any:
    """The same DataLoader over an iterable data set with batches of another size; itself if it has none."""
    from torch.utils.data import DataLoader

    given = dataloader
    if type(given) is not DataLoader or given.batch_size in (None, size):
        return given
    return DataLoader(
        given.dataset,
        batch_size=size,
        num_workers=given.num_workers,
        collate_fn=given.collate_fn,
        pin_memory=given.pin_memory,
        drop_last=given.drop_last,
        timeout=given.timeout,
        worker_init_fn=given.worker_init_fn,
        multiprocessing_context=given.multiprocessing_context,
        generator=given.generator,
        prefetch_factor=given.prefetch_factor,
        persistent_workers=given.persistent_workers,
    )


def grain_of(lead: int, follower: int) -> int:
    """Sizes of the lead for which another loader's size has the same ratio are multiples of this."""
    return lead // math.gcd(lead, follower)
