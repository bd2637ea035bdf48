# SPDX-License-Identifier: MIT
"""Reports a training program to BatchScope, and lets BatchScope steer it.

    run = batchscope.start()
    loader = run.loader(DataLoader(data, batch_size=32, shuffle=True), epochs=10)
    for epoch in range(10):
        for batch in loader:                               # all examples of one optimizer step
            loss = run.backward(batch, lambda x, y: criterion(model(x), y), model)
            optimizer.step()
            run.step(optimizer, loss=loss)

Without dependencies: torch, transformers and lightning are imported only by the functions that need them. No threads,
no signal handlers, no output. Without BATCHSCOPE_SOCKET in the environment nothing is sent and the loop above trains as
it would with a plain DataLoader. A fault of the connection never raises an exception: what cannot be sent is appended
to the file BATCHSCOPE_SPILL. Processes forked by this one are silent.

Of several ranks (DistributedDataParallel) the first one reports and decides; the others hear of it from that one.
"""

from __future__ import annotations

from .attach import attach
from .estimator import estimate
from .hooks import install
from .loader import Loader
from .memory import is_out_of_memory
from .quarantine import quarantine
from .run import Run, Stop, start, use_seed
from .tracer import trace
from .window import Window
from .wire import VERSION

__version__ = VERSION
_use_seed, _see_every_loop = use_seed, install  # called by sitecustomize as soon as torch is imported
_quarantine = quarantine  # called by it at once
__all__ = ["Loader", "Run", "Stop", "Window", "attach", "estimate", "is_out_of_memory", "start", "trace"]
