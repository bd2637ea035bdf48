# SPDX-License-Identifier: MIT
"""A LightningModule that BatchScope can steer: an autoencoder of random waves.

Needs torch and lightning. Runs by itself, and under BatchScope:
    batchscope-cli run --attach auto -- python examples/lightning_module.py --batch 32
"""

import argparse
import os
import sys

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "resources", "python"))  # not needed after pip install
import batchscope


class Autoencoder(lightning.LightningModule):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.encode = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 4))
        self.decode = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 64))

    def error(self, batch: list) -> torch.Tensor:
        return torch.nn.functional.mse_loss(self.decode(self.encode(batch[0])), batch[0])

    def training_step(self, batch: list, batch_idx: int) -> torch.Tensor:
        return self.error(batch)

    def validation_step(self, batch: list, batch_idx: int) -> None:
        self.log("val_loss", self.error(batch))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), 1e-3)


def waves(count: int) -> TensorDataset:
    place = torch.linspace(0, 6.28, 64)
    return TensorDataset(torch.sin(place * (1 + 2 * torch.rand(count, 1)) + 6.28 * torch.rand(count, 1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--width", type=int, default=128, help="of the hidden layers")
    arguments = parser.parse_args()

    lightning.seed_everything(0)
    trainer = lightning.Trainer(max_epochs=arguments.epochs, logger=False, enable_checkpointing=False)
    batchscope.attach(trainer)  # not needed with --attach auto
    trainer.fit(Autoencoder(arguments.width), DataLoader(waves(4000), batch_size=arguments.batch, shuffle=True),
                DataLoader(waves(500), batch_size=100))


if __name__ == "__main__":
    main()
