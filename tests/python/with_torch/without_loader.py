"""Trains on batches that it draws itself, as many steps as it is told, with the size from its command."""

import sys

import torch
from torch import nn
from torch.nn import functional as F

SYMBOLS, LENGTH, WIDTH = 40, 32, 64


def main(batch, steps):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    text = torch.randint(0, SYMBOLS, (20_000,))
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.1, batch_first=True)
    model = nn.Sequential(nn.Embedding(SYMBOLS, WIDTH), nn.TransformerEncoder(layer, 2), nn.Linear(WIDTH, SYMBOLS))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(steps):
        starts = torch.randint(0, len(text) - LENGTH - 1, (batch,))
        inputs = torch.stack([text[at:at + LENGTH] for at in starts])
        targets = torch.stack([text[at + 1:at + 1 + LENGTH] for at in starts])
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10**6)
