# SPDX-License-Identifier: MIT
"""Groups of processes on a pretended GPU, where the kernels of NCCL cannot wait for each other."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any


def stand_in_for_nccl() -> None:
    """Lets Gloo do what the program asks NCCL for, in groups of whatever kind, once torch has been imported.

    DistributedDataParallel, FSDP, accelerate, Lightning and DeepSpeed make their groups by this one function.
    """
    if "BATCHSCOPE_PRETENDED_GPU" not in os.environ:
        return
    from torch import distributed

    if not distributed.is_available():
        return
    from torch.distributed import distributed_c10d

    stock = getattr(distributed_c10d, "_new_process_group_helper", None)
    if stock is None:
        return
    takes = inspect.signature(stock)

    @functools.wraps(stock)
    def helper(*args: Any, **kwargs: Any) -> Any:
        given = takes.bind(*args, **kwargs)
        backend = str(given.arguments["backend"])
        if backend == distributed_c10d.Backend.UNDEFINED:  # NCCL for GPUs
            backend = "cuda:nccl,cpu:gloo"
        if "nccl" in backend:
            if given.arguments["group_size"] > 1:
                raise RuntimeError("a pretended GPU has one process; accepted: one (torchrun --nproc-per-node 1)")
            given.arguments["backend"] = distributed_c10d.Backend(backend.replace("nccl", "gloo"))
            for of_nccl in ("backend_options", "pg_options", "device_id"):
                if of_nccl in given.arguments:
                    given.arguments[of_nccl] = None
        return stock(*given.args, **given.kwargs)

    distributed_c10d._new_process_group_helper = helper
