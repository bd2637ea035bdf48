"""Evaluations of Trainers: batches that do not fit are evaluated in smaller ones, and the size that fits is found."""

import contextlib
import logging
import os
import sys
import unittest
import warnings

from torch_programs import HOST_ERROR, WithCli, WithRun, batchscope, digest, in_soak

import lightning
import torch
import torchmetrics
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

warnings.simplefilter("ignore")
for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)
numbers = torch.Generator().manual_seed(3)
DATA = TensorDataset(torch.randn(50, 8, generator=numbers), torch.randint(0, 3, (50,), generator=numbers))


class Sentences(Dataset):
    """Of 4 to 12 words, the longest one in the middle."""

    def __init__(self, count=40):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        words = torch.Generator().manual_seed(index)
        length = 12 if index == self.count // 2 else 4 + index % 5
        ids = torch.randint(1, 50, (length,), generator=words)
        return {"input_ids": ids.tolist(), "attention_mask": [1] * length, "labels": index % 3}


@contextlib.contextmanager
def failing_evaluation(module, rows, words=None):
    """Within it, `module` runs out of memory without gradients: with more rows, or more words (rows of the longest)."""
    seen = []

    def hook(module, arguments, keywords, output):
        value = arguments[0] if arguments else keywords["input_ids"]
        if torch.is_grad_enabled():
            return
        seen.append(tuple(value.shape[:2]))
        if value.shape[0] > rows or (words and value.shape[0] * value.shape[1] > words):
            raise RuntimeError(HOST_ERROR)

    handle = module.register_forward_hook(hook, with_kwargs=True)
    try:
        yield seen
    finally:
        handle.remove()


def bert():
    torch.manual_seed(0)
    return BertForSequenceClassification(BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=3,
        max_position_embeddings=16, pad_token_id=0))


def collate(examples):
    longest = max(len(example["input_ids"]) for example in examples)
    batch = {name: torch.tensor([example[name] + [0] * (longest - len(example[name])) for example in examples])
             for name in ("input_ids", "attention_mask")}
    return {**batch, "labels": torch.tensor([example["labels"] for example in examples])}


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.net = torch.nn.Linear(8, 3)
        self.accuracy = torchmetrics.Accuracy("multiclass", num_classes=3)

    def training_step(self, batch, batch_idx):
        return cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, batch_idx):
        scores = self.net(batch[0])
        self.accuracy(scores, batch[1])
        self.log("val_loss", cross_entropy(scores, batch[1]))
        self.log("val_accuracy", self.accuracy)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class WithEvaluations(WithRun):
    def trainer(self, **settings):
        given = {"per_device_train_batch_size": 4, "per_device_eval_batch_size": 16, "max_steps": 8,
                 "eval_strategy": "steps", "eval_steps": 4, **settings}
        return Trainer(bert(), TrainingArguments(self.folder.name, use_cpu=True, report_to=[], save_strategy="no",
                                                 disable_tqdm=True, **given),
                       train_dataset=Sentences(), eval_dataset=Sentences(), data_collator=collate,
                       compute_metrics=accuracy)

    def lightning(self):
        return lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                                 enable_progress_bar=False, enable_model_summary=False)


class InPieces(WithEvaluations):
    def results_of(self, trainer):
        return [(entry["eval_loss"], entry["eval_accuracy"]) for entry in trainer.state.log_history
                if "eval_loss" in entry]

    def test_a_trainers_results_are_the_same(self):
        alone = self.trainer()
        alone.train()
        server, _ = self.connect()
        attached = self.trainer()
        batchscope.attach(attached)
        with failing_evaluation(attached.model.bert, 5) as seen:
            attached.train()
        self.assertEqual(digest(attached.model), digest(alone.model))
        results = self.results_of(attached)
        self.assertEqual(len(results), 2)
        for one, two in zip(results, self.results_of(alone), strict=True):
            self.assertAlmostEqual(one[0], two[0], places=6)
            self.assertEqual(one[1], two[1])
        self.assertLessEqual(max(rows for rows, _ in seen[3:]), 5)
        errors = [event["detail"] for event in self.closed(server).events("oom")]
        self.assertEqual([(error["where"], error["attempted_batch"], error["split_to"]) for error in errors],
                         [("evaluation", 16, 8), ("evaluation", 8, 4)])

    def test_a_lightning_modules_results_are_the_same(self):
        results = []
        for attached in (False, True):
            module, trainer = Module(), self.lightning()
            if attached:
                server, _ = self.connect()
                batchscope.attach(trainer)
            with failing_evaluation(module.net, 7 if attached else 50):
                trainer.fit(module, DataLoader(DATA, 10), DataLoader(DATA, 20))
            results.append((digest(module), float(trainer.callback_metrics["val_accuracy"]),
                            float(trainer.callback_metrics["val_loss"])))
        self.assertEqual(results[0][:2], results[1][:2])
        self.assertAlmostEqual(results[0][2], results[1][2], places=6)
        self.assertIn("evaluation", {event["detail"]["where"] for event in self.closed(server).events("oom")})


class Tried(WithEvaluations):
    """What a program answers when sizes of its evaluation are to be tried."""

    def asking(self, *sizes):
        def answer(record):
            server.send(type="probe", sizes=[{"batch": 4, "steps": 1, "evaluation": size} for size in sizes],
                        then="stop")
            return {}

        server, _ = self.connect(answer=answer, welcome={"hold": 1})
        return server

    def answers(self, server):
        probes = [event["detail"] for event in self.closed(server).events("probe")]
        return [(probe["evaluation"], probe["fits"], probe.get("error")) for probe in probes], probes[-1]

    def test_a_trainers_is_run_with_the_batch_of_its_longest_example(self):
        server = self.asking(8, 11, 3, 9)
        trainer = self.trainer(eval_strategy="no")
        batchscope.attach(trainer)
        with failing_evaluation(trainer.model.bert, 10, 9 * 12 - 1):
            trainer.train()
        answers, _ = self.answers(server)
        self.assertEqual(answers, [(8, True, None), (11, False, None), (3, True, None), (9, False, None)])
        self.assertIn("evaluate", server.of("hello")[-1]["can"])

    def test_what_it_finds_does_not_change_the_training(self):
        weights = []
        for sizes in ((), (40, 7)):
            torch.manual_seed(5)
            server = self.asking(*sizes) if sizes else self.connect(welcome={"hold": 0})[0]
            trainer = self.trainer(eval_strategy="no", max_steps=3 if sizes else 4, learning_rate=0.0)
            batchscope.attach(trainer)
            trainer.train()
            weights.append(digest(trainer.model))
            self.assertTrue(trainer.model.training)
        self.assertEqual(*weights)
        answers, last = self.answers(server)
        self.assertEqual((answers, last["examples"], last["unseen"]), ([(40, True, None), (7, True, None)], 40, 0))

    def test_results_that_are_kept_until_the_end_of_it_count(self):
        trainer = self.trainer(eval_strategy="no")
        self.connect()
        batchscope.attach(trainer)
        trial = batchscope.run._current._evaluation_trial
        trial.open()
        self.assertEqual(trial._sets[0].kept, 3 * 4 + 8)  # scores and a label
        sizes, filled = [], trial._filled
        trial._filled = lambda size: sizes.append(size) or filled(size)
        trial.run(30)
        self.assertEqual(sizes, [10 * 20, 40 * 20])

    def test_a_modules_is_run_and_nothing_of_it_stays(self):
        server = self.asking(30, 31)
        module, trainer = Module(), self.lightning()
        batchscope.attach(trainer)
        with failing_evaluation(module.net, 30):
            trainer.fit(module, DataLoader(DATA, 4), DataLoader(DATA, 4))
        self.assertEqual(self.answers(server)[0], [(30, True, None), (31, False, None)])
        self.assertEqual(int(module.accuracy.tp.sum() + module.accuracy.fn.sum()), 0)

    def test_what_is_no_shortage_of_memory_is_told(self):
        server = self.asking(4)
        trainer = self.trainer(eval_strategy="no")
        trainer.eval_dataset = Subset(Sentences(), [])
        batchscope.attach(trainer)
        trainer.train()
        self.assertEqual(self.answers(server)[0], [(4, False, "ValueError: its evaluation has no examples")])

    def test_a_program_without_an_evaluation_cannot(self):
        server, _ = self.connect()
        trainer = self.trainer(eval_strategy="no")
        trainer.eval_dataset = None
        batchscope.attach(trainer)
        trainer.train()
        self.assertNotIn("evaluate", self.closed(server).of("hello")[-1]["can"])


class Found(WithCli):
    def cli_find(self, *arguments):
        return self.cli("find", "--no-timings", "--quiet", "--attach", "auto", "--evaluation", *arguments)

    def check(self, megabytes, program, largest_training):
        """The size holds in a run, and one that is 5 % larger does not: there the heap is not as tidy as in a trial."""
        command = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluating.py"), program)
        budget = ("--memory-budget", f"{megabytes}MB", "--max-batch", str(largest_training))
        found = self.cli_find(*budget, "--", *command, "8", "100")["evaluation"]
        self.assertEqual(found["largest_is"], "exact")
        self.assertLessEqual([probe["outcome"] for probe in found["probes"]].count("oom"), 3)  # the heap is not equal
        self.assertTrue(0.6 * found["largest"] < found["safe"] < found["largest"], found)
        for size, fits in ((found["largest"], True), (found["largest"] * 21 // 20, False)):
            run = self.cli("run", "--quiet", "--attach", "auto", *budget[:2], "--batch", str(largest_training), "--",
                           *command, str(size), "1")
            self.assertEqual(run["status"], "finished")
            self.assertEqual(run["oom_events"] == 0, fits, f"evaluation batch {size} of {found}")

    @in_soak
    def test_a_trainers_size_holds_in_a_run(self):
        self.check(60, "trainer", 16)

    def test_a_modules_size_holds_in_a_run(self):
        self.check(60, "lightning", 16)


if __name__ == "__main__":
    unittest.main()
