"""A lightning Trainer for several ranks, started by test_ranks_lightning.py; prints JSON lines."""

import json
import os
import sys
import warnings

from torch_programs import batchscope, difference, failing, gradients

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        self.examples, self.gradients = [], []

    def training_step(self, batch, batch_idx):
        index, x, y = batch
        if torch.is_grad_enabled():
            self.examples.append(index.tolist())
        loss = (self.net(x) - y).square().mean()
        self.log("loss", loss, sync_dist=True)
        return loss

    def on_before_optimizer_step(self, optimizer):
        self.gradients.append(gradients(self.net))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def tell(**values):
    line = json.dumps({"rank": torch.distributed.get_rank(), **values}) + "\n"
    os.write(1, line.encode())  # whole lines, whatever the other ranks write


def fit(examples, batch, attached=True, rows=100, **options):
    """Trains; `rows` is for how many examples rank 1 has memory."""
    numbers = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.arange(examples), torch.randn(examples, 6, generator=numbers),
                         torch.randn(examples, 2, generator=numbers))
    module = Module()
    trainer = lightning.Trainer(devices=2, accelerator="cpu", strategy="ddp", logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                                **options)
    if attached:
        batchscope.attach(trainer)
    with failing(module.net[0], "backward", rows if trainer.global_rank else 100) as limit:
        trainer.fit(module, DataLoader(data, batch_size=batch, shuffle=True))
    return module, trainer, limit["errors"]


def demo():
    """One of the commands of the document on AdaptiveBatchSizeTrainer."""
    module, trainer, _ = fit(10, 1, max_epochs=10)
    tell(examples=module.examples, steps=trainer.global_step, epochs=trainer.current_epoch)


def memory():
    """Gradients with errors on rank 1 alone, against those of the stock Trainer on the same ranks."""
    for accumulation in (1, 2):
        options = {"max_steps": 2, "accumulate_grad_batches": accumulation}
        stock, _, _ = fit(16, 4, attached=False, **options)
        for rows in (100, 2):
            own, _, errors = fit(16, 4, rows=rows, **options)
            tell(errors=errors, rows=rows, accumulation=accumulation,
                 difference=max(difference(*both) for both in zip(own.gradients, stock.gradients, strict=True)))


def watched():
    """Each rank has all examples: only Lightning itself knows how it divides them."""
    _, trainer, _ = fit(16, 4, use_distributed_sampler=False, max_steps=2)
    tell(steps=trainer.global_step)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
