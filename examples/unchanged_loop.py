# SPDX-License-Identifier: MIT
"""A training loop as most are: it knows nothing of BatchScope, which follows and steers it all the same.

Needs torch. Alone:  python examples/unchanged_loop.py --epochs 3
Under BatchScope:    batchscope-cli run --attach auto -- python examples/unchanged_loop.py --epochs 3
"""

import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset


class Clocks(Dataset):
    """Pictures of 28 x 28 points of a clock's hand, and the hour that it points at."""

    def __init__(self, count: int, seed: int) -> None:
        numbers = torch.Generator().manual_seed(seed)
        self.hours = torch.randint(0, 12, (count,), generator=numbers)
        angles = (self.hours + 0.7 * torch.rand(count, generator=numbers)) * torch.pi / 6
        points = torch.linspace(-1, 1, 28)
        y, x = torch.meshgrid(-points, points, indexing="ij")
        along = x * angles.sin()[:, None, None] + y * angles.cos()[:, None, None]
        across = x * angles.cos()[:, None, None] - y * angles.sin()[:, None, None]
        hand = ((along > 0) & (along < 0.9) & (across.abs() < 0.08)).float()
        self.pictures = (hand + 0.9 * torch.randn(count, 28, 28, generator=numbers))[:, None]

    def __len__(self) -> int:
        return len(self.hours)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.pictures[index], self.hours[index]


class Net(nn.Module):
    """Two convolutions and two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.dropout = nn.Dropout(0.25)
        self.fc1, self.fc2 = nn.Linear(2304, 64), nn.Linear(64, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(self.dropout(x), 1))))


def train(model: nn.Module, loader: DataLoader, optimizer: optim.Optimizer, epoch: int) -> None:
    model.train()
    for step, (pictures, hours) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(pictures), hours)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"epoch {epoch}, step {step}: loss {loss.item():.4f}")


def test(model: nn.Module, loader: DataLoader) -> None:
    model.eval()
    with torch.no_grad():
        right = sum((model(pictures).argmax(1) == hours).sum().item() for pictures, hours in loader)
    print(f"test: {100 * right / len(loader.dataset):.1f} % right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    training = DataLoader(Clocks(6000, 1), batch_size=arguments.batch_size, shuffle=True)
    held_out = DataLoader(Clocks(1000, 2), batch_size=500)
    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(1, arguments.epochs + 1):
        train(model, training, optimizer, epoch)
        test(model, held_out)
        scheduler.step()


if __name__ == "__main__":
    main()
