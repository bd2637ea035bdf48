"""A loop with DistributedDataParallel that knows nothing of BatchScope; each rank prints what it has seen."""

import atexit
import hashlib
import json
import os
import sys

import torch
from torch import distributed, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EXAMPLES = 203


def main():
    distributed.init_process_group("gloo")
    torch.manual_seed(1)
    torch.set_num_threads(1)
    numbers = torch.Generator().manual_seed(3)
    data = TensorDataset(torch.randn(EXAMPLES, 20, generator=numbers),
                         torch.randint(0, 2, (EXAMPLES,), generator=numbers), torch.arange(EXAMPLES))
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
    parallel = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    ids, takes = [], []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y, rows in loader:
            optimizer.zero_grad()
            F.cross_entropy(parallel(x), y).backward()
            optimizer.step()
            ids += rows.tolist()
            takes.append(len(rows))
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
    said = {"rank": distributed.get_rank(), "digest": digest, "takes": takes, "ids": ids}
    everything = [None] * distributed.get_world_size()
    distributed.all_gather_object(everything, said)
    if distributed.get_rank() == 0:
        print(json.dumps(everything))
    distributed.destroy_process_group()
    # One of torch's threads may want Python's lock while the interpreter ends, which aborts the process now and then.
    sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(0)


if __name__ == "__main__":
    main()
