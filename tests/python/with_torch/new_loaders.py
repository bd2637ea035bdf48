"""Makes new data and a new DataLoader in each epoch. Arguments: to the end or not (whole, broken); workers; a file for
what there is after each epoch: data sets, tensors.
"""

import gc
import json
import sys
import weakref

import torch
from torch.utils.data import DataLoader, Dataset

EPOCHS = 6


class Data(Dataset):
    alive = weakref.WeakSet()

    def __init__(self):
        self.x = torch.randn(200, 8)
        Data.alive.add(self)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], index % 3


def main(way, workers, file):
    gc.disable()  # nobody is to wait for it
    net = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    counts = []
    for _ in range(EPOCHS):
        for number, (x, y) in enumerate(DataLoader(Data(), 8, shuffle=True, num_workers=int(workers))):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
            if way == "broken" and number == 10:
                break
        tensors = sum(issubclass(type(item), torch.Tensor) for item in gc.get_objects())
        counts.append([len(Data.alive), tensors])
    with open(file, "w", encoding="utf-8") as out:
        json.dump(counts, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
