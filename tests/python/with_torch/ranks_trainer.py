"""A transformers.Trainer for several ranks, started by test_ranks_trainer.py; prints JSON lines."""

import atexit
import json
import os
import shutil
import sys
import tempfile

from torch_programs import batchscope, difference, failing, gradients

import torch
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

RANK = int(os.environ["RANK"])


def tell(**values):
    os.write(1, (json.dumps({"rank": RANK, **values}) + "\n").encode())  # whole lines


def example(index, length):
    numbers = torch.Generator().manual_seed(index)
    ids = torch.randint(0, 64, (length,), generator=numbers)
    labels = ids.clone()
    labels[:1 + index % 3] = -100  # ragged
    return {"input_ids": ids, "labels": labels}


class Language(GPT2LMHeadModel):
    def __init__(self):
        torch.manual_seed(0)
        super().__init__(GPT2Config(vocab_size=64, n_positions=8, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0.0,
                                    embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
        self.taken = []

    def forward(self, input_ids=None, labels=None, **kwargs):
        if torch.is_grad_enabled():
            self.taken.append({"input_ids": input_ids, "labels": labels})
        return super().forward(input_ids=input_ids, labels=labels, **kwargs)


class Pooled(torch.nn.Module):
    """Returns the mean over its examples; knows nothing of counts."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.last, self.taken = torch.nn.Embedding(64, 8), torch.nn.Linear(8, 64), []

    def forward(self, input_ids, labels):
        if torch.is_grad_enabled():
            self.taken.append({"input_ids": input_ids, "labels": labels})
        logits = self.last(self.table(input_ids).mean(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels[:, -1]), "logits": logits}


class Keep(TrainerCallback):
    def __init__(self):
        self.gradients, self.epochs, self.rates, self.lengths = [], [], [], []

    def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
        self.gradients.append(gradients(model))

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "learning_rate" in logs:
            self.epochs.append(round(logs["epoch"], 5))
            self.rates.append(logs["learning_rate"])
            self.lengths.append(state.max_steps)


def trainer(model, examples, batch, attached=True, **options):
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = TrainingArguments(
        output_dir=folder, per_device_train_batch_size=batch, report_to=[], save_strategy="no", logging_steps=1,
        disable_tqdm=True, use_cpu=True, **options)
    keep = Keep()
    made = Trainer(model, settings, train_dataset=[example(i, 8) for i in range(examples)], callbacks=[keep])
    made.remove_callback(PrinterCallback)
    if attached:
        batchscope.attach(made)
    return made, keep


def demo(drop_last):
    """One of the commands of the document on AdaptiveBatchSizeTrainer."""
    model = Language()
    made, keep = trainer(model, 10, 1, num_train_epochs=10, dataloader_drop_last=drop_last)
    made.train()
    tell(takes=[len(part["labels"]) for part in model.taken], epochs=keep.epochs, rates=keep.rates,
         max_steps=keep.lengths, steps=made.state.global_step)


def drop_last():
    demo(True)


def use_last():
    demo(False)


def memory():
    """Gradients with errors on rank 1 alone, against those of the stock Trainer on the same ranks; then a tail."""
    batchscope.start()
    for case, make, options in (("counts", Language, {}), ("mean", Pooled, {}),
                                ("accumulated", Language, {"gradient_accumulation_steps": 2}),
                                ("own counts", Language, {"average_tokens_across_devices": False})):
        stock, expected = trainer(make(), 16, 4, attached=False, max_steps=2, max_grad_norm=0.0, **options)
        stock.train()
        for failed in (False, True):
            model = make()
            own, found = trainer(model, 16, 4, max_steps=2, max_grad_norm=0.0, **options)
            layer = model.last if make is Pooled else model.transformer.h[1]
            with failing(layer, "backward", 2 if RANK and failed else 100) as limit:
                own.train()
            if case == "own counts" and not failed:  # the mean of the ranks' means: it depends on who has what
                expected = found
            tell(case=case, failed=failed, errors=limit["errors"],
                 difference=max(difference(*both) for both in zip(found.gradients, expected.gradients)))


def tails():
    """An epoch's last step, of which rank 1 gets nothing, against one process; labels counted or not."""
    batchscope.start()
    for make in (Language, Pooled):
        model = make()
        own, found = trainer(model, 9, 4, num_train_epochs=1, max_grad_norm=0.0, learning_rate=0.0)
        own.train()
        ranks = [None, None]
        torch.distributed.all_gather_object(ranks, model.taken)
        steps = [ranks[0][:1] + ranks[1], ranks[0][1:]]
        alone = make()
        expected = []
        for parts in steps:
            alone.zero_grad()
            alone(**{name: torch.cat([part[name] for part in parts]) for name in parts[0]})["loss"].backward()
            expected.append(gradients(alone))
        tell(model=make.__name__, examples=[len(part["labels"]) for part in model.taken],
             difference=[difference(*both) for both in zip(found.gradients, expected)])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
