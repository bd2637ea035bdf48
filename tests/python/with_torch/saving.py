"""Trainings that save what they have learnt in their folder, at every step.

usage: saving.py loop|trainer|lightning
"""

import os
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

EXAMPLES = 64


class Points(Dataset):
    def __init__(self):
        numbers = torch.Generator().manual_seed(1)
        self.x, self.y = torch.randn(EXAMPLES, 400, generator=numbers), torch.randint(0, 2, (EXAMPLES,))

    def __len__(self):
        return EXAMPLES

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def network():
    return nn.Sequential(nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 2))


def loop():
    from safetensors.torch import save_file

    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    step = 0
    for _ in range(50):
        for x, y in DataLoader(Points(), batch_size=8, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, "last.pt")
            save_file(model.state_dict(), "model.safetensors")
            numpy.save("losses.npy", numpy.array([float(loss.detach())]))
            with open("log.csv", "a") as log:
                log.write(f"{step},{float(loss.detach())}\n")
            assert torch.load("last.pt")["step"] == step


def trainer():
    from transformers import Trainer, TrainingArguments

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = network()

        def forward(self, x, labels):
            logits = self.net(x)
            return {"loss": F.cross_entropy(logits, labels), "logits": logits}

    def collate(items):
        return {"x": torch.stack([x for x, _ in items]), "labels": torch.stack([y for _, y in items])}

    arguments = TrainingArguments("checkpoints", num_train_epochs=50, save_steps=1, save_total_limit=2, use_cpu=True,
                                  disable_tqdm=True, report_to="none", logging_steps=1)
    Trainer(Model(), arguments, train_dataset=Points(), data_collator=collate).train()


def lightning():
    import lightning as pl
    from lightning.pytorch.callbacks import ModelCheckpoint
    from lightning.pytorch.loggers import CSVLogger

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = network()

        def training_step(self, batch, _):
            loss = F.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    saves = ModelCheckpoint("checkpoints", every_n_train_steps=1, save_top_k=2, monitor="loss", save_last=True)
    fit = pl.Trainer(max_epochs=50, accelerator="cpu", callbacks=[saves], logger=CSVLogger("logs"),
                     enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1)
    fit.fit(Module(), DataLoader(Points(), batch_size=8, shuffle=True))


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)
    if not os.path.exists("last.pt"):
        sys.exit("not the folder of the test")
    {"loop": loop, "trainer": trainer, "lightning": lightning}[sys.argv[1]]()
