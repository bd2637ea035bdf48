# SPDX-License-Identifier: MIT
"""Attaches to whichever Trainer it is given."""

from __future__ import annotations

from typing import Any

from .run import Run, start, use_seed


def attach(trainer: Any) -> Run:
    """Attaches to a transformers.Trainer or a lightning Trainer, before train() or fit(); returns the Run.

    Changes nothing until something is steered, and nothing at all if nobody listens and start() got no schedule.
    """
    run = start()
    if (not run.active and run._schedule is None) or getattr(trainer, "_batchscope", None) is not None:
        return run
    packages = {kind.__module__.split(".")[0] for kind in type(trainer).__mro__}
    seed = use_seed()  # once more, after all that the program has drawn
    if "transformers" in packages:
        if seed is not None:
            trainer.args.seed = seed % 2**32  # as much as NumPy takes
        from .hf import attach_transformers

        trainer._batchscope = attach_transformers(run, trainer)
    elif packages & {"lightning", "pytorch_lightning"}:
        from .lightning import attach_lightning

        trainer._batchscope = attach_lightning(run, trainer)
    else:
        raise TypeError(f"attach takes a transformers.Trainer or a lightning Trainer, not a {type(trainer).__name__}")
    run._stand_aside()
    return run
