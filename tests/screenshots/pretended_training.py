"""A training that only pretends, for pictures: sizes, losses and memory as of a real one, without torch.

With --reports it tells BatchScope of its steps; without, it prints lines that --metric can read. It needs memory in
proportion to its batch size.
"""

import argparse
import math
import os
import random
import sys
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path += [os.path.join(SOURCE, "resources", "python"), os.path.join(SOURCE, "tests", "python")]

MEGABYTE = 1_000_000
MODEL = 12.4  # MB
EXAMPLE = 0.85  # MB
EPOCHS = 3

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--bs", type=int, default=16)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--examples", type=int, default=4096)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--seconds", type=float, default=0.01, help="of a step")
parser.add_argument("--fits", type=int, default=0, help="examples that fit with --reports; more are split")
parser.add_argument("--reports", action="store_true")
arguments = parser.parse_args()
noise = random.Random(arguments.seed)


def loss_after(examples: int, batch: int) -> float:
    progress = examples * arguments.lr / 10
    return 0.35 + 2.1 * math.exp(-progress) + noise.gauss(0, 0.4 / math.sqrt(batch))


def print_steps() -> None:
    for step in range(1, arguments.steps + 1):
        data = bytearray(int(EXAMPLE * MEGABYTE) * arguments.bs)
        for page in range(0, len(data), 4096):
            data[page] = 1
        time.sleep(arguments.seconds * (1 + arguments.bs / 32))
        print(f"step {step} of {arguments.steps} loss={loss_after(step * arguments.bs, arguments.bs):.4f}")
        del data
    scale = math.log2(arguments.bs * 0.01 / arguments.lr / 48)
    print(f"accuracy={0.974 - 0.004 * scale * scale + noise.gauss(0, 0.001):.4f}")


def report_steps() -> None:
    import batchscope
    from pretended_loader import Sizes

    run = batchscope.start(config={"lr": arguments.lr})
    loader = Sizes(run, arguments.bs, arguments.examples)
    run._describe(can=("split",), epochs=EPOCHS, framework="pretended 1.0")
    step, limit, fits = 0, arguments.examples, arguments.fits or arguments.examples
    while loader.epoch < EPOCHS - 1 or not loader.through:
        batch = sum(loader.fetch())
        step += 1
        while min(batch, limit) > fits:
            limit = min(batch, limit) // 2
            run._report_shortage({
                "attempted_batch": batch, "requested_bytes": int(EXAMPLE * batch * MEGABYTE / 4),
                "in_use_bytes": int((MODEL + EXAMPLE * batch * 0.8) * MEGABYTE), "limit_bytes": 100 * MEGABYTE,
                "cause": "training step",
                "text": "RuntimeError: [enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory",
                "action": f"split into micro batches of at most {limit}"})
        pieces = math.ceil(batch / limit)
        run._takes = [batch // pieces + (i < batch % pieces) for i in range(pieces)]
        used = (MODEL + EXAMPLE * batch / pieces) * MEGABYTE
        time.sleep(arguments.seconds)
        print(f"step {step} with {batch} examples")
        run.step(loss=loss_after(loader.seen, batch), learning_rate=arguments.lr * (1 - step / 800),
                 grad_norm=4 / (2 + step), allocated_bytes=int(MODEL * MEGABYTE), reserved_bytes=int(0.9 * used),
                 peak_bytes=int(used + noise.random() * MEGABYTE))


if arguments.reports:
    report_steps()
else:
    print_steps()
