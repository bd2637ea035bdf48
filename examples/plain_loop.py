# SPDX-License-Identifier: MIT
"""A plain training loop that BatchScope can steer: digits of a clock, read by a small network.

Needs torch. Runs by itself, and under BatchScope:  batchscope-cli run -- python examples/plain_loop.py
"""

import argparse
import os
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "resources", "python"))  # not needed after pip install
import batchscope


def segments(count: int) -> TensorDataset:
    """Noisy pictures of seven-segment digits, and the digits."""
    lit = torch.tensor([[1, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1, 0], [1, 0, 1, 1, 1, 0, 1], [1, 0, 1, 1, 0, 1, 1],
                        [0, 1, 1, 1, 0, 1, 0], [1, 1, 0, 1, 0, 1, 1], [1, 1, 0, 1, 1, 1, 1], [1, 0, 1, 0, 0, 1, 0],
                        [1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 1, 1]], dtype=torch.float32)
    digits = torch.randint(0, 10, (count,))
    return TensorDataset(lit[digits] + 0.4 * torch.randn(count, 7), digits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=5)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(7, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    run = batchscope.start(name="plain loop")
    loader = run.loader(DataLoader(segments(4000), batch_size=arguments.batch, shuffle=True),
                        epochs=arguments.epochs)
    for epoch in range(arguments.epochs):
        for batch in loader:
            # optimizer.zero_grad()  # not needed: run.backward does it
            loss = run.backward(batch, lambda x, y: torch.nn.functional.cross_entropy(model(x), y), model)
            optimizer.step()
            run.step(optimizer, loss=loss)
        print(f"epoch {epoch + 1}: loss {loss:.3f} with batch {loader.batch}")


if __name__ == "__main__":
    main()
