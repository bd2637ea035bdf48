"""What is to come out of each program, for with_torch/test_programs.py."""

import dataclasses
from collections.abc import Sequence
from typing import Optional


@dataclasses.dataclass
class Expected:
    level: int = 3  # when it is attached
    watched: Sequence[str] = ()  # codes of the reasons why its size cannot be changed
    rows: Optional[int] = 3  # that fit when memory is short; None: that is not tried
    where: str = "backward"
    codes: Sequence[str] = ()  # of the reasons why a shortage is not survived, each of them true; none: it is
    exact: bool = True  # weights after a split are those of the whole, as no random numbers or statistics differ
    counts_itself: bool = False  # it reports the number of each step
    counts_from_0: bool = False
    updates: int = 1  # that a record counts for
    not_told: Sequence[str] = ()  # what the records have in another way than the program saw it


def report_only(**others):
    return Expected(level=1, rows=None, counts_itself=True, **others)


def stream(**others):
    """The first size can be told, and each step is reported with its batch."""
    return Expected(watched=["iterable-dataset"], **others)


EXPECTED = {
    # plain_losses.py
    "class_weights": Expected(),
    "smoothed_and_ignored": Expected(where="forward"),
    "multi_task": Expected(),
    "detection": Expected(codes=["unclear"]),  # 1 is divided by where there are no positives
    "summed": Expected(where="forward"),
    "weighed_by_tokens": Expected(),
    "graphs": Expected(rows=30),
    "packed": Expected(rows=30),
    "preferences": Expected(rows=6),
    "contrastive": Expected(codes=["examples-interact"]),
    "contrastive_with_cache": Expected(exact=False),
    "variational": Expected(exact=False),
    "triplets": Expected(),
    "regularised": Expected(),
    "second_order": Expected(),
    # plain_models.py
    "teacher_in_forward": Expected(exact=False),
    "sharded": Expected(level=2, codes=["fsdp"]),
    "sharded_flat": Expected(level=2, codes=["fsdp"]),
    "engine": Expected(level=2, codes=["deepspeed"]),
    "teacher_after_update": Expected(exact=False),
    "spectral_norm": Expected(exact=False),
    "batch_norm": Expected(codes=["cannot-compute"], not_told=["takes"]),  # the tail is fetched, but nothing takes it
    "codebook": Expected(codes=["examples-interact"]),  # its table moves before it is looked into
    "carried_state": Expected(level=1, rows=2, codes=["cannot-compute", "cannot-cut"], counts_itself=True),
    "adversarial": Expected(exact=False),
    "actor_and_critic": Expected(),
    "frozen_then_thawed": Expected(),
    "checkpointed": Expected(exact=False),
    "cleared_by_hand": Expected(),
    "updated_in_backward": Expected(codes=["steps-in-backward"]),
    "sharpness_aware": Expected(),
    "mixup": Expected(),
    # plain_rates.py
    "one_cycle": Expected(),
    "cosine_per_epoch": Expected(),
    "warm_up": Expected(),
    "one_after_the_other": Expected(where="forward"),
    "chained": Expected(),
    "plateau": Expected(),
    "restarts_by_fraction": Expected(),
    "averaged_weights": Expected(rows=5, exact=False),
    "half_precision": Expected(exact=False),
    "scaled_loss": Expected(exact=False),
    "double_precision": Expected(),
    "accelerated": Expected(),
    "accelerated_accumulation": Expected(level=2, rows=None),
    "fabric": Expected(),
    # plain_loaders.py
    "augmented": Expected(exact=False),
    "augmented_by_workers": Expected(exact=False),
    "persistent_workers": Expected(rows=None),
    "random_collate": Expected(),
    "random_collate_by_workers": Expected(rows=None),
    "weighted_sampler": Expected(where="forward"),
    "hard_examples_first": Expected(rows=None),
    "sampler_by_epoch": Expected(rows=None),
    "growing_data": Expected(rows=None),
    "chosen_each_epoch": Expected(rows=None),
    "without_end": Expected(level=1, watched=["own-batch-sampler"]),
    "left_early": Expected(),
    "by_steps": Expected(rows=None),
    "own_batch_sampler": Expected(level=1, watched=["own-batch-sampler"]),
    "sampler_for_a_size": Expected(level=1, watched=["sampler-for-a-size"]),
    "stock_batch_sampler": Expected(rows=None),
    "data_set_of_batches": Expected(level=1, watched=["own-batch-sampler"]),
    "stream": Expected(level=1, watched=["iterable-dataset"]),
    "stream_by_workers": Expected(level=1, watched=["iterable-dataset"]),
    "two_together": Expected(codes=["cannot-cut"]),
    "one_goes_round": Expected(rows=None, not_told=["examples", "takes"]),  # the first that is opened leads
    "evaluated_within": Expected(exact=False),
    "looked_at_before": Expected(rows=None),
    "asked_about": Expected(rows=None),
    "asked_about_a_stream": Expected(level=1, watched=["iterable-dataset"], rows=None),
    "moved": Expected(),
    "fetched_ahead": Expected(),
    "one_after_another": Expected(where="forward"),
    "keeps_its_losses": Expected(level=2, codes=["outside"]),
    "accumulated_by_hand": Expected(level=2, codes=["outside"]),
    "accumulated_by_the_loader": Expected(),
    "in_a_thread": Expected(),
    "without_loader": Expected(level=1),
    "second_optimiser_order": report_only(),
    "policy_gradient": report_only(counts_from_0=True),
    "ended_by_exit": Expected(),
    # trainers.py
    "trainer_class_weights": Expected(exact=False),
    "trainer_smoothed": Expected(),
    "trainer_accumulated": Expected(),
    "trainer_loss_function": Expected(),
    "trainer_callbacks": Expected(),
    "trainer_own_optimizer": Expected(),
    "trainer_grouped": Expected(level=1, watched=["grouped-batches"], rows=None),
    "trainer_stream": Expected(level=1, watched=["iterable-dataset"], rows=None),
    "trainer_own_loader": Expected(),
    "trainer_own_batches": Expected(level=1, watched=["own-batch-sampler"], rows=None),
    "trainer_own_sampler": Expected(),
    "trainer_own_step": Expected(),
    # lightnings.py
    "lightning_plain": Expected(exact=False),
    "lightning_validated": Expected(),
    "lightning_manual": Expected(level=1, watched=["manual-optimization"], rows=None),
    "lightning_two_optimizers": Expected(level=1, updates=2, not_told=["rate"], watched=["manual-optimization"],
                                         rows=None),
    "lightning_accumulated": Expected(),
    "lightning_accumulation_schedule": Expected(),
    "lightning_limited": Expected(),
    "lightning_rate_by_step": Expected(),
    "lightning_rate_by_epoch": Expected(),
    "lightning_data_module": Expected(),
    "lightning_several_loaders": Expected(level=1, watched=["zipped-loaders"], rows=None),
}
