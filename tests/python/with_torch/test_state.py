"""What the client keeps of a training: enough to put a step back, and no more of a thousand steps than of ten."""

import gc
import json
import logging
import os
import sys
import unittest
import warnings
import weakref

from torch_programs import HERE, WithCli, WithRun, batchscope

import lightning
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset
from transformers import Trainer, TrainerCallback, TrainingArguments

warnings.simplefilter("ignore")
for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)
numbers = torch.Generator().manual_seed(2)
X, Y = torch.randn(64, 8, generator=numbers), torch.randint(0, 3, (64,), generator=numbers)
EPOCHS = 5


class Net(torch.nn.Module):
    """Its statistics are new tensors at each call, as those of many metrics and codebooks are."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)
        self.seen = torch.zeros(3)
        self.sums = [torch.zeros(3)]
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x, labels):
        scores = self.layer(x)
        self.seen = self.seen + scores.detach().sum(0)
        self.sums[0] = self.sums[0] + 1
        self.mean = 0.9 * self.mean + 0.1 * scores.detach().mean(0)
        return {"loss": cross_entropy(scores, labels), "logits": scores}


class Module(lightning.LightningModule):
    def __init__(self, counts):
        super().__init__()
        self.net, self.counts = Net(), counts

    def training_step(self, batch, batch_idx):
        return self.net(*batch)["loss"]

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.net(*batch)["loss"])

    def on_train_epoch_end(self):
        self.counts.append(tensors())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def tensors():
    gc.collect()
    return sum(issubclass(type(item), torch.Tensor) for item in gc.get_objects())


class Kept(WithRun):
    def check(self, counts):
        self.assertEqual(len(counts), EPOCHS)
        self.assertLess(counts[-1] - counts[1], 8, f"tensors after each epoch: {counts}")

    def test_by_a_plain_loop(self):
        _, run = self.connect()
        model, counts = Net(), []
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        loader = run.loader(DataLoader(TensorDataset(X, Y), 4), epochs=EPOCHS)
        for _ in range(EPOCHS):
            for batch in loader:
                optimizer.zero_grad()
                loss = run.backward(batch, lambda x, y: model(x, y)["loss"], model)
                optimizer.step()
                run.step(optimizer, loss=loss)
            counts.append(tensors())
        self.check(counts)

    def test_by_a_lightning_module(self):
        self.connect()
        counts = []
        trainer = lightning.Trainer(max_epochs=EPOCHS, accelerator="cpu", logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False)
        batchscope.attach(trainer)
        data = DataLoader(TensorDataset(X, Y), 4)
        trainer.fit(Module(counts), data, data)
        self.check(counts)

    def test_by_a_trainer(self):
        self.connect()
        counts = []

        class Count(TrainerCallback):
            def on_epoch_end(self, *args, **kwargs):
                counts.append(tensors())

        data = [{"x": x, "labels": y} for x, y in zip(X, Y)]
        trainer = Trainer(Net(), TrainingArguments(self.folder.name, use_cpu=True, report_to=[], save_strategy="no",
                                                   disable_tqdm=True, num_train_epochs=EPOCHS, eval_strategy="epoch",
                                                   per_device_train_batch_size=4, per_device_eval_batch_size=4),
                          train_dataset=data, eval_dataset=data, callbacks=[Count()])
        batchscope.attach(trainer)
        trainer.train()
        self.check(counts)


class LetGoOf(WithCli):
    """By what steers a program that knows nothing of it, without waiting for the collection of garbage."""

    def check(self, way, workers):
        file = self.path("counts.json")
        run = self.cli("run", "--quiet", "--attach", "auto", "--batch", "16", "--", sys.executable,
                       os.path.join(HERE, "new_loaders.py"), way, str(workers), file)
        self.assertEqual((run["status"], run["batch"]), ("finished", 16))  # its loaders are steered
        with open(file, encoding="utf-8") as counted:
            counts = json.load(counted)
        self.assertLessEqual(max(data for data, _ in counts), 2, counts)
        self.assertLess(counts[-1][1] - counts[1][1], 8, counts)

    def test_data_of_an_epoch(self):
        self.check("whole", 0)

    def test_data_of_an_epoch_that_is_left(self):
        self.check("broken", 0)

    def test_data_that_workers_fetch(self):
        self.check("whole", 2)


class Put(unittest.TestCase):
    """Back, by what keeps it."""

    def test_state_that_is_made_anew_is_put_back_and_let_go_of(self):
        net, keeper = Net(), batchscope.state.Keeper()
        replaced = []
        for _ in range(40):
            before = (net.seen.clone(), net.sums[0].clone(), net.mean.clone())
            saved = keeper.keep([net])
            net(X, Y)
            saved.restore()
            for value, kept in zip((net.seen, net.sums[0], net.mean), before, strict=True):
                self.assertTrue(torch.equal(value, kept))
            net(X, Y)
            replaced += [weakref.ref(net.seen), weakref.ref(net.sums[0]), weakref.ref(net.mean)]
        gc.collect()
        self.assertLessEqual(sum(tensor() is not None for tensor in replaced), 6)  # of the newest and the one before

    def test_state_that_is_changed_in_its_place_has_one_copy(self):
        net, keeper = torch.nn.BatchNorm1d(8), batchscope.state.Keeper()
        places = set()
        for _ in range(10):
            saved = keeper.keep([net])
            places.add(keeper.copy_of(net.running_mean).data_ptr())
            before = net.running_mean.clone()
            net(X)
            saved.restore()
            self.assertTrue(torch.equal(net.running_mean, before))
            net(X)
        self.assertEqual(len(places), 1)


if __name__ == "__main__":
    unittest.main()
