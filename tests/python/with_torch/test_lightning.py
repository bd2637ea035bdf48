"""attach(lightning Trainer), against the stock Trainer."""

import logging
import os
import time
import unittest
import unittest.mock
import warnings

from torch_programs import WithRun, batchscope, difference, digest, failing, gradients

import lightning
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)
numbers = torch.Generator().manual_seed(1)
DATA = TensorDataset(torch.randn(50, 8, generator=numbers), torch.randint(0, 3, (50,), generator=numbers))


class Module(lightning.LightningModule):
    def __init__(self, dropout=0.2, manual=False):
        super().__init__()
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(dropout), torch.nn.ReLU(),
                                       torch.nn.Linear(16, 3))
        self.automatic_optimization = not manual
        self.validated_at, self.gradients = [], []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = cross_entropy(self.net(x), y)
        self.log("loss", loss)
        if not self.automatic_optimization:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", cross_entropy(self.net(x), y))

    def on_validation_epoch_start(self):
        if not self.trainer.sanity_checking:
            self.validated_at.append(self.trainer.global_step)

    def on_before_optimizer_step(self, optimizer):
        self.gradients.append(gradients(self))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), 1e-2)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, self.trainer.estimated_stepping_batches + 50)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


class OwnTrainer(lightning.Trainer):
    """As projects have one, with their own defaults."""


class WithFit(WithRun):
    def fit(self, attached, module=None, *, kind=lightning.Trainer, workers=0, drop_last=False, batch=4,
            checkpoint=None, data=DATA, **options):
        lightning.seed_everything(3, verbose=False)
        module = module or Module()
        trainer = kind(**{
            "max_epochs": 2, "logger": False, "enable_checkpointing": False, "enable_progress_bar": False,
            "enable_model_summary": False, "accelerator": "cpu", "default_root_dir": self.folder.name, **options})
        if attached:
            batchscope.attach(trainer)
        loader = DataLoader(data, batch_size=batch, shuffle=True, num_workers=workers, drop_last=drop_last)
        trainer.fit(module, loader, DataLoader(DATA, batch_size=10), ckpt_path=checkpoint)
        return module, trainer


class Stock(WithFit):
    def test_the_weights_are_those_of_the_stock_trainer(self):
        cases = (
            {}, {"workers": 2}, {"drop_last": True}, {"max_steps": 20}, {"val_check_interval": 0.5},
            {"drop_last": True, "accumulate_grad_batches": 3, "workers": 2}, {"gradient_clip_val": 0.5},
            {"accumulate_grad_batches": 3}, {"batch": 16, "accumulate_grad_batches": 4},  # short windows and batches
            {"kind": OwnTrainer},
        )
        for case in cases:
            with self.subTest(case=case):
                stock, trainer = self.fit(False, **case)
                server, _ = self.connect()
                own, attached = self.fit(True, **case)
                self.assertEqual(digest(own), digest(stock))
                self.assertEqual(own.validated_at, stock.validated_at)
                self.assertEqual(attached.global_step, trainer.global_step)
                self.assertEqual(attached.callback_metrics["loss"], trainer.callback_metrics["loss"])
                records = self.closed(server).of("record")
                self.assertEqual([r["step"] for r in records], list(range(1, trainer.global_step + 1)))
                self.assertEqual(attached.accumulate_grad_batches, trainer.accumulate_grad_batches)


class Settings(WithFit):
    def test_what_the_training_is_made_with_is_told(self):
        server, _ = self.connect()
        self.fit(True, max_steps=2, accumulate_grad_batches=2, gradient_clip_val=0.5)
        hello = self.closed(server).of("hello")[-1]
        self.assertEqual((hello["batch"], hello["accumulate"], hello["steps"]), (4, 2, 2))
        self.assertAlmostEqual(hello["settings"].pop("learning_rate"), 1e-2)  # to which OneCycleLR goes
        self.assertEqual(hello["settings"], {
            "optimizer": "AdamW", "weight_decay": 0.01, "lr_scheduler_type": "OneCycleLR", "max_grad_norm": 0.5,
            "precision": "fp32", "seed": 3})


    def test_the_time_of_evaluations_is_told(self):
        server, _ = self.connect()
        module = Module()
        step = module.validation_step
        module.validation_step = lambda *batch: (time.sleep(0.02), step(*batch))[1]
        self.fit(True, module, max_epochs=1)
        evaluation, = self.closed(server).events("evaluation")
        self.assertGreaterEqual(evaluation["values"]["evaluation_seconds"], 5 * 0.02)  # of 5 batches


class Again(WithFit):
    def test_a_second_training_goes_on_counting_at_the_size_that_is_wanted(self):
        server, _ = self.connect(welcome={"batch": 10, "hold": 0})
        for _ in range(2):
            self.fit(True, max_epochs=1)
        records = self.closed(server).of("record")
        self.assertEqual([r["takes"] for r in records], [[10]] * 10)
        self.assertEqual([r["step"] for r in records], list(range(1, 11)))
        self.assertEqual([r["examples_seen"] for r in records], list(range(10, 110, 10)))

    def test_an_epoch_that_was_through_at_a_checkpoint_does_not_go_on_with_data_that_were_added(self):
        more, digests = TensorDataset(*(torch.cat([one, one[:30]]) for one in DATA.tensors)), []
        for attached in (False, True):
            server = self.connect()[0] if attached else None
            callback = lightning.pytorch.callbacks.ModelCheckpoint(
                os.path.join(self.folder.name, str(attached)), save_top_k=0, save_last=True)  # after the validation
            self.fit(attached, max_epochs=1, enable_checkpointing=True, callbacks=[callback])
            module, trainer = self.fit(attached, max_epochs=2, data=more, checkpoint=callback.last_model_path)
            digests.append((digest(module), trainer.global_step))
        self.assertEqual(digests[0], digests[1])
        self.assertEqual([r["takes"] for r in self.closed(server).of("record")][13:], [[4]] * 20)

    def test_one_that_goes_on_from_a_checkpoint_without_a_position_knows_its_epoch(self):
        file = os.path.join(self.folder.name, "first.ckpt")
        self.fit(False, max_epochs=1)[1].save_checkpoint(file)
        server, _ = self.connect(welcome={"batch": 10, "hold": 0})
        self.fit(True, max_epochs=2, checkpoint=file)
        records = self.closed(server).of("record")
        self.assertEqual([r["takes"] for r in records], [[10]] * 5)
        self.assertEqual((records[-1]["epoch"], records[-1]["examples_seen"]), (2.0, 100))


class Budget(WithFit):
    def test_the_closure_of_a_step_has_the_limit_of_training(self):
        _, run = self.connect()
        run._budget._limit = lambda limit: setattr(run, "limited", limit)  # a real one would be that of this process
        run._budget.bytes, run._budget._for_updates = 600, 2000
        module, at = Module(), []
        step = module.training_step
        module.training_step = lambda *batch: (at.append(run.limited), step(*batch))[1]
        module.on_before_optimizer_step = lambda optimizer: None
        update = torch.optim.AdamW._init_group
        with unittest.mock.patch.object(torch.optim.AdamW, "_init_group",
                                        lambda *group: (at.append(run.limited), update(*group))[1]):
            self.fit(True, module, max_steps=2)
        self.assertEqual(at, [600, 2000] * 2)
        self.assertEqual(run.limited, 600)
        run._budget.bytes = None


class Steered(WithFit):
    def test_the_size_changes_at_the_next_step(self):
        for workers in (0, 2):
            with self.subTest(workers=workers):
                server, _ = self.connect(answer=lambda record: {"batch": 4 if record["step"] < 5 else 8},
                                         welcome={"hold": 1})
                module, _ = self.fit(True, workers=workers)
                records = self.closed(server).of("record")
                self.assertEqual([r["takes"][0] for r in records], [4] * 5 + [8] * 3 + [6] + [8] * 6 + [2])
                self.assertEqual(module.validated_at, [9, 16])
                self.assertEqual(server.events("scheduler")[0]["detail"], {"name": "OneCycleLR", "follows": "progress"})

    def test_smaller_batches_make_longer_epochs(self):
        server, _ = self.connect(answer=lambda record: {"batch": 2, "accumulate": 2}, welcome={"hold": 1})
        module, _ = self.fit(True, batch=10)
        records = self.closed(server).of("record")
        self.assertEqual([r["takes"] for r in records], [[10]] + [[2, 2]] * 10 + [[2, 2]] * 12 + [[2]])
        self.assertEqual(module.validated_at, [11, 24])

    def test_drop_last_ends_an_epoch_where_it_was_announced(self):
        server, _ = self.connect(answer=lambda record: {"batch": 8 if record["step"] == 11 else 4},
                                 welcome={"hold": 1})
        module, _ = self.fit(True, drop_last=True, max_epochs=1)
        self.assertEqual([r["takes"] for r in self.closed(server).of("record")], [[4]] * 12)
        self.assertEqual(module.validated_at, [12])

    def test_stop_ends_the_training_in_order(self):
        server, _ = self.connect(answer=lambda record: server.send(type="stop", save=True) or {}, welcome={"hold": 1})
        _, trainer = self.fit(True)
        self.assertLess(trainer.global_step, 4)
        self.assertIn("batchscope-stop.ckpt", os.listdir(self.folder.name))

    def test_manual_optimization_is_watched(self):
        server, _ = self.connect()
        self.fit(True, module=Module(manual=True), max_epochs=1)
        self.closed(server)
        self.assertEqual(server.events("level")[0]["detail"]["reason"]["code"], "manual-optimization")
        self.assertEqual(len(server.of("record")), 13)

    def test_a_resumed_training_takes_the_examples_that_are_left(self):
        server, _ = self.connect()
        callback = lightning.pytorch.callbacks.ModelCheckpoint(self.folder.name, "{step}", every_n_train_steps=5,
                                                               save_top_k=-1)
        self.fit(True, max_epochs=1, enable_checkpointing=True, callbacks=[callback])
        whole = self.closed(server).of("record")
        server, _ = self.connect()
        self.fit(True, max_epochs=1, checkpoint=os.path.join(self.folder.name, "step=5.ckpt"))
        again = self.closed(server).of("record")
        for field in ("step", "takes", "examples_seen"):
            self.assertEqual([r[field] for r in again], [r[field] for r in whole[5:]])


class OutOfMemory(WithFit):
    def test_gradients_are_those_of_the_stock_step(self):
        for accumulation in (1, 2):
            options = {"batch": 8, "max_steps": 2, "accumulate_grad_batches": accumulation}
            stock, _ = self.fit(False, module=Module(dropout=0.0), **options)
            for where in ("forward", "backward"):
                with self.subTest(accumulation=accumulation, where=where):
                    server, _ = self.connect()
                    module = Module(dropout=0.0)
                    with failing(module.net, where, 3) as limit:
                        self.fit(True, module=module, **options)
                    self.assertEqual(limit["errors"], 2)
                    for one, two in zip(module.gradients, stock.gradients):
                        self.assertLess(difference(one, two), 1e-6)
                    self.assertEqual(self.closed(server).of("record")[-1]["takes"], [2] * 4 * accumulation)


if __name__ == "__main__":
    unittest.main()
