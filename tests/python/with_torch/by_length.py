"""Trains in passes of as many batches as its loader names, which it counts on."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(400, 64), torch.randint(0, 2, (400,)))
    model = nn.Sequential(nn.Linear(64, 2000), nn.ReLU(), nn.Linear(2000, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loader = DataLoader(data, batch_size=25, shuffle=True)
    for _ in range(100):
        for number, (x, y) in enumerate(loader):
            left = len(loader) - number
            loss = nn.functional.cross_entropy(model(x), y) / (left // left)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
