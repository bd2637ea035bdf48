"""attach(transformers.Trainer), against the stock Trainer."""

import os
import shutil
import unittest

from torch_programs import WithRun, batchscope, difference, digest, failing, gradients

import torch
import transformers
from torch.nn.functional import cross_entropy, pad
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.utils import logging

from batchscope.hf import version_of

logging.set_verbosity_error()
numbers = torch.Generator().manual_seed(1)


def text():
    length = int(torch.randint(3, 16, (1,), generator=numbers))
    ids = torch.randint(0, 64, (length,), generator=numbers)
    labels = ids.clone()
    labels[:length // 3] = -100  # ragged
    return {"input_ids": ids, "labels": labels}


IS_5 = version_of(transformers) >= (5, 0)
TEXTS = [text() for _ in range(50)]
CLASSES = [{"input_ids": example["input_ids"], "labels": torch.tensor(i % 3)} for i, example in enumerate(TEXTS)]


def collate(examples):
    width = max(len(example["input_ids"]) for example in examples)

    def padded(values, filler):
        return torch.stack([pad(value, (0, width - len(value)), value=filler) for value in values])

    ids = [example["input_ids"] for example in examples]
    labels = [example["labels"] for example in examples]
    return {"input_ids": padded(ids, 0), "attention_mask": padded([torch.ones_like(i) for i in ids], 0),
            "labels": padded(labels, -100) if labels[0].dim() else torch.stack(labels)}


def gpt(kind=GPT2LMHeadModel, dropout=0.0):
    torch.manual_seed(0)
    return kind(GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2, resid_pdrop=dropout,
                           embd_pdrop=dropout, attn_pdrop=dropout, num_labels=3, pad_token_id=0))


def bert():
    torch.manual_seed(0)
    return BertForSequenceClassification(BertConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, hidden_dropout_prob=0, attention_probs_dropout_prob=0, num_labels=3))


class Own(torch.nn.Module):
    """A module that knows nothing of transformers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.last = torch.nn.Embedding(64, 8), torch.nn.Linear(8, 64)

    def forward(self, input_ids, attention_mask, labels):
        logits = self.last(self.table(input_ids))
        return {"loss": cross_entropy(logits.flatten(0, 1), labels.flatten()), "logits": logits}


def own_loss(outputs, labels, num_items_in_batch=None):
    logits = outputs.logits
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum") / num_items_in_batch


def contrastive(outputs, labels, num_items_in_batch=None):
    h = torch.nn.functional.normalize(outputs.logits.mean(1), dim=-1)
    return cross_entropy(5 * h @ h.T, torch.arange(len(h)))


def last_layer(model):
    return {"GPT2LMHeadModel": lambda: model.transformer.h[1], "Own": lambda: model.last,
            "GPT2ForSequenceClassification": lambda: model.transformer.h[1],
            "BertForSequenceClassification": lambda: model.bert.encoder.layer[1]}[type(model).__name__]()


class Stream(torch.utils.data.IterableDataset):
    """Without a length."""

    def __iter__(self):
        return iter(TEXTS)


class WithTrainer(WithRun):
    def trainer(self, model, data=TEXTS, loss=None, callbacks=(), **arguments):
        options = {"output_dir": self.folder.name, "per_device_train_batch_size": 4, "num_train_epochs": 2,
                   "report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True,
                   "use_cpu": True, **arguments}
        trainer = Trainer(model, TrainingArguments(**options), train_dataset=data, eval_dataset=data[:10],
                          data_collator=collate, compute_loss_func=loss, callbacks=list(callbacks))
        trainer.remove_callback(PrinterCallback)
        return trainer

    def attached(self, *arguments, **options):
        trainer = self.trainer(*arguments, **options)
        batchscope.attach(trainer)
        return trainer


class Stock(WithTrainer):
    def test_the_weights_are_those_of_the_stock_trainer(self):
        cases = (
            {}, {"gradient_accumulation_steps": 3}, {"dataloader_drop_last": True}, {"dataloader_num_workers": 2},
            {"data_seed": 7}, {"warmup_steps": 5, "lr_scheduler_type": "cosine"}, {"max_steps": 20},
            {"eval_strategy": "epoch"}, {"num_train_epochs": 1.5},
            {"gradient_accumulation_steps": 3, "dataloader_drop_last": True, "dataloader_num_workers": 2,
             "eval_strategy": "steps", "eval_steps": 3},
        )
        for case in cases:
            with self.subTest(case=case):
                stock = self.trainer(gpt(dropout=0.1), **case)
                stock.train()
                server, _ = self.connect()
                own = self.attached(gpt(dropout=0.1), **case)
                own.train()
                self.assertEqual(digest(own.model), digest(stock.model))
                self.assertEqual(own.state.global_step, stock.state.global_step)
                self.assertEqual(own.state.total_flos, stock.state.total_flos)
                records = self.closed(server).of("record")
                self.assertEqual([r["step"] for r in records], list(range(1, stock.state.global_step + 1)))

    def test_nothing_is_attached_when_nobody_listens(self):
        batchscope.run._current = batchscope.Run(batchscope.wire.Link(None, None), None, {}, None)
        trainer = self.attached(gpt())
        self.assertNotIn("training_step", vars(trainer))

    def test_arguments_are_as_they_were_afterwards(self):
        self.connect()
        trainer = self.attached(gpt(), gradient_accumulation_steps=2)
        trainer.train()
        self.assertEqual((trainer.args.gradient_accumulation_steps, trainer.args.ignore_data_skip), (2, False))


class Settings(WithTrainer):
    def told(self, trainer):
        self.server, _ = self.connect()
        batchscope.attach(trainer)
        trainer.train()
        hellos = self.closed(self.server).of("hello")
        self.assertEqual(len({str(hello["settings"]) for hello in hellos}), 1)
        return hellos[-1]

    def test_what_the_training_is_made_with_is_told(self):
        hello = self.told(self.trainer(gpt(), max_steps=2, learning_rate=1e-3, warmup_steps=5, weight_decay=0.1,
                                       lr_scheduler_type="cosine", gradient_accumulation_steps=2, seed=7))
        self.assertEqual((hello["batch"], hello["accumulate"], hello["steps"]), (4, 2, 2))
        settings = hello["settings"]
        self.assertEqual(settings.pop("optimizer"), str(TrainingArguments("x", use_cpu=True).optim.value))
        self.assertEqual(settings, {
            "learning_rate": 1e-3, "lr_scheduler_type": "cosine", "warmup_steps": 5, "weight_decay": 0.1,
            "max_grad_norm": 1.0, "label_smoothing": 0.0, "precision": "fp32", "gradient_checkpointing": False,
            "seed": 7})

    def test_an_optimizer_of_the_programs_own_goes_before_the_arguments(self):
        trainer = self.trainer(gpt(), max_steps=2, **{"warmup_steps" if IS_5 else "warmup_ratio": 0.5})
        trainer.optimizer = torch.optim.SGD(trainer.model.parameters(), 0.25, momentum=0.5)
        settings = self.told(trainer)["settings"]
        self.assertEqual((settings["optimizer"], settings["learning_rate"], settings["momentum"]), ("SGD", 0.25, 0.5))
        self.assertEqual((settings["warmup_ratio"], "warmup_steps" in settings), (0.5, False))

    def test_a_trainer_that_is_only_watched_tells_them_too(self):
        trainer = self.trainer(gpt(), max_steps=2)
        trainer.train_dataset = Stream()
        trainer.args.gradient_accumulation_steps = 2
        hello = self.told(trainer)
        self.assertNotIn("batch", hello["can"])
        self.assertEqual((hello["batch"], hello["settings"]["learning_rate"]), (4, 5e-5))
        for record in self.server.of("record"):
            self.assertEqual((record["batch"], record["accumulate"], record["effective_batch"]), (4, 2, 8))


class Steered(WithTrainer):
    def test_the_size_changes_at_the_next_step_and_the_rate_ends_with_the_training(self):
        for workers in (0, 4):
            with self.subTest(workers=workers):
                server, _ = self.connect(answer=lambda record: {"batch": 4 if record["step"] < 5 else 8},
                                         welcome={"hold": 1})
                trainer = self.attached(gpt(), dataloader_num_workers=workers)
                trainer.train()
                records = self.closed(server).of("record")
                self.assertEqual([r["takes"][0] for r in records], [4] * 5 + [8] * 3 + [6] + [8] * 6 + [2])
                self.assertEqual((trainer.state.global_step, trainer.state.max_steps), (16, 16))
                self.assertEqual(trainer.state.epoch, 2.0)
                self.assertEqual(set(trainer.lr_scheduler.get_last_lr()), {0.0})
                rates = [r["learning_rate"] for r in records]
                self.assertEqual(rates, sorted(rates, reverse=True))

    def test_accumulation_changes_at_the_next_step(self):
        server, _ = self.connect(answer=lambda record: {"accumulate": 2 if record["step"] < 2 else 3},
                                 welcome={"hold": 1})
        self.attached(gpt(), gradient_accumulation_steps=2, num_train_epochs=1).train()
        records = self.closed(server).of("record")
        self.assertEqual([r["takes"] for r in records], [[4, 4], [4, 4], [4, 4, 4], [4, 4, 4], [4, 4, 2]])

    def test_the_programs_own_schedule_works_without_batchscope(self):
        batchscope.run._current = batchscope.Run(batchscope.wire.Link(None, None), None, {},
                                             lambda step, batch: batch + (step % 5 == 0))
        sizes = []
        trainer = self.attached(gpt(), data=TEXTS[:10], per_device_train_batch_size=1)
        step = trainer.training_step

        def training_step(model, inputs, *rest):
            sizes.append(sum(inputs.sizes))
            return step(model, inputs, *rest)

        trainer.training_step = training_step
        trainer.train()
        self.assertEqual(sizes, [1, 1, 1, 1, 1, 2, 2, 1, 2, 2, 3, 3])

    def test_stop_ends_the_training_in_order(self):
        for save in (False, True):
            server, _ = self.connect(answer=lambda record: server.send(type="stop", save=save) or {},
                                     welcome={"hold": 1})
            trainer = self.attached(gpt())
            trainer.train()
            self.assertLess(trainer.state.global_step, 4)
            self.assertEqual(any(name.startswith("checkpoint") for name in os.listdir(self.folder.name)), save)

    def test_what_is_only_watched_says_why(self):
        class OwnBatches(Trainer):
            def get_batch_samples(self, *arguments):
                return super().get_batch_samples(*arguments)

        server, _ = self.connect()
        trainer = self.attached(gpt(), max_steps=3)
        trainer = OwnBatches(gpt(), trainer.args, train_dataset=TEXTS, data_collator=collate)
        trainer.remove_callback(PrinterCallback)
        batchscope.attach(trainer)
        trainer.train()
        self.closed(server)
        self.assertEqual(server.events("level")[0]["detail"]["reason"]["args"], {"methods": "get_batch_samples"})
        self.assertEqual(len([r for r in server.of("record") if "loss" in r]), 3)

    def test_auto_find_batch_size_is_switched_off(self):
        server, _ = self.connect()
        trainer = self.attached(gpt(), auto_find_batch_size=True)
        self.assertFalse(trainer.args.auto_find_batch_size)
        self.assertEqual(len(self.closed(server).events("lint")), 1)

    def test_a_head_that_ignores_the_count_is_told_of(self):
        server, _ = self.connect()
        self.attached(bert(), data=CLASSES, gradient_accumulation_steps=2, max_steps=2).train()
        told = len(self.closed(server).events("loss-scale"))
        self.assertEqual(told, 1 if IS_5 else 0)


class Again(WithTrainer):
    def test_a_second_training_goes_on_counting_at_the_size_that_is_wanted(self):
        server, _ = self.connect(welcome={"batch": 10, "hold": 0})
        first = self.attached(gpt(), num_train_epochs=1)
        first.train()
        first.train()
        self.attached(gpt(), num_train_epochs=1).train()
        records = self.closed(server).of("record")
        self.assertEqual([r["takes"] for r in records], [[10]] * 15)
        self.assertEqual([r["step"] for r in records], list(range(1, 16)))
        self.assertEqual([r["examples_seen"] for r in records], list(range(10, 160, 10)))

    def test_one_that_goes_on_from_the_first_ones_checkpoint_is_the_same_training(self):
        server, _ = self.connect()
        self.attached(gpt(), max_steps=6, save_strategy="steps", save_steps=6).train()
        self.attached(gpt(), max_steps=10).train(resume_from_checkpoint=os.path.join(self.folder.name, "checkpoint-6"))
        records = self.closed(server).of("record")
        self.assertEqual([r["step"] for r in records], list(range(1, 11)))
        self.assertEqual([r["examples_seen"] for r in records], list(range(4, 44, 4)))


class Prediction(WithTrainer):
    def test_estimates_and_traces_are_made_when_asked_for(self):
        server, _ = self.connect(
            answer=lambda record: server.send(type="estimate", batches=[4, 8]) or server.send(
                type="probe", sizes=[{"batch": 3, "steps": 2, "trace": True}], then="stop") or {},
            welcome={"hold": 1})
        model = gpt()
        before = digest(model)
        self.attached(model, learning_rate=0.0, weight_decay=0.0).train()
        self.closed(server)
        estimate = server.of("estimate")[0]
        if IS_5:
            self.assertEqual([size for size, _, _ in estimate["curve"]], [4, 8])
            self.assertLess(estimate["curve"][0][1], estimate["curve"][1][1])
        else:  # reads the attention mask
            self.assertIn("reads values of its tensors", estimate["error"])
        self.assertEqual(digest(model), before)
        trace, = server.of("trace")
        self.assertEqual(trace["batch"], 3)
        self.assertEqual([name for _, name in trace["phases"]], ["forward", "backward", "update"])


class OutOfMemory(WithTrainer):
    def gradients(self, model, where, **options):
        found = []

        class Keep(TrainerCallback):
            def on_pre_optimizer_step(self, args, state, control, **kwargs):
                found.append(gradients(model))

        make = self.trainer if where is None else self.attached
        trainer = make(model, callbacks=[Keep()], per_device_train_batch_size=8, max_steps=2, max_grad_norm=0.0,
                       **options)
        with failing(last_layer(model), where, 3) as limit:
            trainer.train()
        return found, limit["errors"]

    def test_gradients_are_those_of_the_stock_step(self):
        cases = {
            "causal": (gpt, {}), "label smoothing": (gpt, {"label_smoothing_factor": 0.1}),
            "classification of GPT-2": (lambda: gpt(GPT2ForSequenceClassification), {"data": CLASSES}),
            "classification of BERT": (bert, {"data": CLASSES}), "own module": (Own, {}),
            "own loss": (gpt, {"loss": own_loss}),
        }
        for name, (make, options) in cases.items():
            for accumulation in (1, 2):
                stock, _ = self.gradients(make(), None, gradient_accumulation_steps=accumulation, **options)
                for where in ("forward", "backward"):
                    with self.subTest(name=name, accumulation=accumulation, where=where):
                        server, _ = self.connect()
                        own, errors = self.gradients(make(), where, gradient_accumulation_steps=accumulation, **options)
                        self.assertEqual(errors, 2)
                        for one, two in zip(own, stock):
                            self.assertLess(difference(one, two), 1e-6)
                        takes = self.closed(server).of("record")[-1]["takes"]
                        self.assertEqual(takes, [2] * 4 * accumulation)

    def test_a_loss_that_is_no_mean_is_not_split(self):
        self.connect()
        with self.assertRaisesRegex(RuntimeError, "DefaultCPUAllocator") as raised:
            self.gradients(gpt(), "backward", loss=contrastive)
        self.assertIn("no mean over its examples", str(raised.exception.__cause__))


class Resume(WithTrainer):
    options = {"save_strategy": "steps", "save_steps": 1, "gradient_accumulation_steps": 2}

    def answer(self, record):
        return {"batch": 4 if record["step"] < 3 else 5}

    def test_a_resumed_training_is_the_same_training(self):
        """Dropout, a size that changed, an error that was survived; resumed within an epoch, at its end, and after."""
        server, _ = self.connect(answer=self.answer, welcome={"hold": 1})
        whole = self.attached(gpt(dropout=0.1), **self.options)
        whole.train()
        expected = self.closed(server).of("record")
        end = [r["epoch_index"] for r in expected].index(1)
        kept = os.path.join(self.folder.name, "kept")
        for step in (2, end, end + 2):
            with self.subTest(step=step):
                shutil.copytree(os.path.join(self.folder.name, f"checkpoint-{step}"), f"{kept}-{step}")
                server, _ = self.connect(answer=self.answer, welcome={"hold": 1})
                again = self.attached(gpt(dropout=0.1), **self.options)
                again.train(resume_from_checkpoint=f"{kept}-{step}")
                self.assertEqual(digest(again.model), digest(whole.model))
                for one, two in zip(self.closed(server).of("record"), expected[step:]):
                    for field in ("step", "takes", "examples_seen", "loss", "learning_rate", "epoch_index"):
                        self.assertEqual(one[field], two[field], field)

    def test_a_checkpoint_of_the_stock_trainer_is_resumed_where_it_was(self):
        stock = self.trainer(gpt(), **self.options)
        stock.train()
        kept = os.path.join(self.folder.name, "kept")
        shutil.copytree(os.path.join(self.folder.name, "checkpoint-3"), kept)
        self.connect()
        again = self.attached(gpt(), **self.options)
        again.train(resume_from_checkpoint=kept)
        self.assertEqual(digest(again.model), digest(stock.model))
        self.assertEqual(again.state.global_step, stock.state.global_step)

    def resumed(self, welcome, attached_before, **options):
        """The first record of a training that goes on from step 6 of one with batches of 4."""
        kind = self.attached if attached_before else self.trainer
        self.connect()
        kind(gpt(), max_steps=6, save_strategy="steps", save_steps=6).train()
        server, _ = self.connect(welcome=welcome)
        kept = os.path.join(self.folder.name, "checkpoint-6")
        self.attached(gpt(), num_train_epochs=2, **options).train(resume_from_checkpoint=kept)
        return self.closed(server).of("record")[0]

    def test_the_examples_of_a_stock_checkpoint_do_not_count_at_a_told_size(self):
        first = self.resumed({"batch": 10, "hold": 0}, attached_before=False)
        self.assertEqual((first["step"], first["takes"], first["examples_seen"]), (7, [10], 6 * 4 + 10))

    def test_an_unsteered_checkpoint_leaves_the_size_to_the_program(self):
        first = self.resumed({}, attached_before=True, per_device_train_batch_size=8)
        size = 8 if IS_5 else 4  # before, a Trainer goes on with the size of its checkpoint
        self.assertEqual((first["step"], first["takes"], first["examples_seen"]), (7, [size], 6 * 4 + size))

    def test_the_time_of_evaluations_is_told(self):
        server, _ = self.connect()
        self.attached(gpt(), max_steps=2, eval_strategy="steps", eval_steps=2).train()
        values = self.closed(server).events("evaluation")[0]["values"]
        self.assertGreater(values["evaluation_seconds"], 0)
        self.assertEqual(values["evaluation_seconds"], values["eval_runtime"])


if __name__ == "__main__":
    unittest.main()
