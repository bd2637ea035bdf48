"""Programs with a Lightning Trainer, which know nothing of BatchScope. See common.py for the arguments."""

import logging

import lightning
import torch
import torchmetrics
from lightning.pytorch.callbacks import Callback, EarlyStopping, GradientAccumulationScheduler, ModelCheckpoint
from torch.nn import functional as F
from torch.utils.data import DataLoader

from common import main, network, program, vectors

for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)


class Module(lightning.LightningModule):
    """Notes what its hooks see."""

    def __init__(self, trial, dropout=0.0):
        super().__init__()
        self.seen_by = trial
        self.net = network(dropout=dropout)
        trial.limit(self.net[0])

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.05, momentum=0.9)

    def on_before_optimizer_step(self, optimizer):
        self.seen_by.note("rate", float(optimizer.param_groups[0]["lr"]))

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.seen_by.note("batch_end", [batch_idx, self.trainer.global_step, self.trainer.is_last_batch])

    def on_train_epoch_end(self):
        self.seen_by.note("epoch_end", [self.trainer.current_epoch, self.trainer.num_training_batches,
                                        float(self.trainer.callback_metrics["loss"])])


def fit(trial, module, loader=None, validation=None, datamodule=None, **options):
    trainer = lightning.Trainer(**{
        "max_epochs": 2, "logger": False, "enable_checkpointing": False, "enable_progress_bar": False,
        "enable_model_summary": False, "accelerator": "cpu", "default_root_dir": trial.folder, **options})
    if datamodule is None and loader is None:
        loader = DataLoader(vectors(50), 8, shuffle=True)
    trainer.fit(module, loader, validation, datamodule=datamodule)
    trial.steps = trainer.global_step
    trial.keep(module, *trainer.optimizers)
    trial.note("metrics", {name: float(value) for name, value in trainer.callback_metrics.items()})
    return trainer


@program
def lightning_plain(trial):
    """Automatic optimization with dropout and clipping."""
    fit(trial, Module(trial, dropout=0.1), gradient_clip_val=0.5)


class Validated(Module):
    def __init__(self, trial):
        super().__init__(trial)
        self.right = torchmetrics.Accuracy("multiclass", num_classes=3)
        self.right_in_training = torchmetrics.Accuracy("multiclass", num_classes=3)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.right_in_training(logits.argmax(1), y)
        self.log("right_in_training", self.right_in_training, on_step=True, on_epoch=True)
        loss = F.cross_entropy(logits, y)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.right(logits.argmax(1), y)
        self.log("right", self.right)
        self.log("val_loss", F.cross_entropy(logits, y))

    def on_validation_epoch_end(self):
        self.seen_by.note("validated_at", self.trainer.global_step)


@program
def lightning_validated(trial):
    """Metrics in training and in a validation twice an epoch; it stops early, and the best weights are stored."""
    best = ModelCheckpoint(trial.folder, monitor="val_loss")
    fit(trial, Validated(trial), validation=DataLoader(vectors(20, seed=2), 5), val_check_interval=0.5, max_epochs=4,
        enable_checkpointing=True, callbacks=[EarlyStopping("val_loss", patience=1), best])
    trial.note("best", float(best.best_model_score))


@program
def lightning_manual(trial):
    """Manual optimization, of two batches for each update."""

    class Manual(Module):
        automatic_optimization = False

        def training_step(self, batch, batch_idx):
            loss = super().training_step(batch, batch_idx)
            self.manual_backward(loss / 2)
            if batch_idx % 2:
                optimizer = self.optimizers()
                optimizer.step()
                optimizer.zero_grad()
            return loss

    fit(trial, Manual(trial))


@program
def lightning_two_optimizers(trial):
    """Two networks with an optimizer each, trained in turns by hand."""

    class Adversarial(Module):
        def __init__(self, trial):
            super().__init__(trial)
            self.automatic_optimization = False
            self.judge = network(8, 1)

        def training_step(self, batch, batch_idx):
            x, _ = batch
            makes, judges = self.optimizers()
            made = F.pad(self.net(x), (0, 5))
            loss = F.softplus(-self.judge(made)).mean()
            makes.zero_grad()
            self.manual_backward(loss)
            makes.step()
            of_judge = F.softplus(-self.judge(x)).mean() + F.softplus(self.judge(made.detach())).mean()
            judges.zero_grad()
            self.manual_backward(of_judge)
            judges.step()
            self.log_dict({"loss": loss, "judge": of_judge})

        def configure_optimizers(self):
            return [torch.optim.Adam(part.parameters(), 1e-2) for part in (self.net, self.judge)]

    fit(trial, Adversarial(trial))


@program
def lightning_accumulated(trial):
    """Three batches for each update; the last of an epoch has fewer."""
    fit(trial, Module(trial), accumulate_grad_batches=3)


@program
def lightning_accumulation_schedule(trial):
    """One batch for each update in the first epoch, then two, then three."""
    fit(trial, Module(trial), max_epochs=3, callbacks=[GradientAccumulationScheduler({0: 1, 1: 2, 2: 3})])


@program
def lightning_limited(trial):
    """A part of the batches of each epoch, and a given number of steps."""
    fit(trial, Module(trial), limit_train_batches=4, max_epochs=-1, max_steps=10)


@program
def lightning_rate_by_step(trial):
    """OneCycleLR for the number of steps that the Trainer estimates."""

    class OneCycle(Module):
        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), 1e-2)
            steps = self.trainer.estimated_stepping_batches
            self.seen_by.note("estimated", steps)
            schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=steps)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    fit(trial, OneCycle(trial), accumulate_grad_batches=2)


@program
def lightning_rate_by_epoch(trial):
    """The rate falls when the loss on other examples does not."""

    class Plateau(Validated):
        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), 0.5)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=0.5)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "monitor": "val_loss"}}

    fit(trial, Plateau(trial), validation=DataLoader(vectors(20, seed=2), 5), max_epochs=3, num_sanity_val_steps=0)


@program
def lightning_data_module(trial):
    """A data module, which makes its data in setup() and moves batches itself; a callback looks at them."""

    class Data(lightning.LightningDataModule):
        def setup(self, stage):
            self.data = vectors(50)

        def train_dataloader(self):
            return DataLoader(self.data, 8, shuffle=True, drop_last=True)

        def on_after_batch_transfer(self, batch, dataloader_idx):
            x, y = batch
            return 2 * x, y

    class Looks(Callback):
        def on_train_batch_start(self, trainer, module, batch, batch_idx):
            trial.note("shape", list(batch[0].shape))

    fit(trial, Module(trial), datamodule=Data(), callbacks=[Looks()])


@program
def lightning_several_loaders(trial):
    """Batches of two loaders at once."""

    class Both(Module):
        def training_step(self, batch, batch_idx):
            loss = F.cross_entropy(self.net(batch["one"][0]), batch["one"][1])
            loss = loss + 0.1 * self.net(batch["two"][0]).square().mean()
            self.log("loss", loss)
            return loss

    fit(trial, Both(trial), {"one": DataLoader(vectors(50), 8, shuffle=True),
                             "two": DataLoader(vectors(30, seed=2), 4, shuffle=True)})


if __name__ == "__main__":
    main()
