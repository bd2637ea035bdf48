"""The loader's time beside that of the DataLoader it wraps: 3 x 224 x 224 floats, with 0, 2 and 4 workers.

Runs in a Python with torch. Rounds of both alternate; the figures are medians, and ratios to the DataLoader.
"""

import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "resources", "python"), os.path.join(ROOT, "tests", "python")]

import torch
from torch.utils.data import DataLoader, Dataset

import batchscope
from pretended_batchscope import Server

EXAMPLES, BATCH, ROUNDS = 2048, 32, 5


class Images(Dataset):
    """Made when they are asked for, as decoding would."""

    def __len__(self):
        return EXAMPLES

    def __getitem__(self, index):
        return torch.full((3, 224, 224), float(index)).add_(1), index


def time_of(loader, between=lambda step: None):
    """Seconds of an epoch, of which every example is looked at."""
    start = time.perf_counter()
    seen = 0
    for step, batch in enumerate(loader):
        images, labels = batch
        seen += len(labels)
        assert float(images[0, 0, 0, 0]) == float(labels[0]) + 1
        between(step)
    assert seen == EXAMPLES
    return time.perf_counter() - start


def main():
    torch.set_num_threads(1)
    server = Server()
    batchscope.run._current = batchscope.Run(batchscope.wire.Link(server.path, None), None, {}, None)
    run = batchscope.start()
    print(f"{EXAMPLES} examples of 3 x 224 x 224 floats in batches of {BATCH}; seconds of an epoch")
    print("workers  DataLoader  unsteered      after a change  a change each step")
    for workers in (0, 2, 4):
        times = {name: [] for name in ("stock", "unsteered", "changed", "changing")}
        for _ in range(ROUNDS):
            stock = DataLoader(Images(), batch_size=BATCH, shuffle=True, num_workers=workers)
            times["stock"].append(time_of(stock))

            def wrapped(batch=BATCH):
                return run.loader(DataLoader(Images(), batch_size=batch, shuffle=True, num_workers=workers))

            unsteered, changed, changing = wrapped(), wrapped(BATCH // 2), wrapped()
            changed.batch = BATCH
            times["unsteered"].append(time_of(unsteered, lambda step: unsteered._count_step()))
            times["changed"].append(time_of(changed, lambda step: changed._count_step()))

            def change(step):
                changing._count_step()
                changing.batch = BATCH + 1 - step % 2

            times["changing"].append(time_of(changing, change))
        stock, *others = (statistics.median(values) for values in times.values())
        print(f"{workers:7}  {stock:10.3f}  " + "  ".join(f"{value:.3f} ({value / stock:.2f} x)" for value in others))
    run.finish()
    server.kill()


if __name__ == "__main__":
    main()
