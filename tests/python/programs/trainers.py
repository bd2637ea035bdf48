"""Programs with a transformers.Trainer, which know nothing of BatchScope. See common.py for the arguments."""

import numpy
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, Sampler, WeightedRandomSampler
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

from common import main, network, program, texts, vectors


class Classifier(torch.nn.Module):
    """A model of one's own, with the arguments and results that a Trainer wants."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.net = network(dropout=dropout)

    def forward(self, x, labels=None):
        logits = self.net(x)
        loss = None if labels is None else F.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


class Recorder(TrainerCallback):
    """Notes what callbacks see."""

    def __init__(self, trial):
        self.trial = trial

    def on_pre_optimizer_step(self, args, state, control, optimizer=None, **_):
        self.trial.note("rate", float(optimizer.param_groups[0]["lr"]))

    def on_step_end(self, args, state, control, **_):
        self.trial.steps = state.global_step
        self.trial.note("epoch", state.epoch)

    def on_train_end(self, args, state, control, **_):
        self.trial.seen["logged"] = [{key: value for key, value in entry.items() if "second" not in key
                                      and "runtime" not in key} for entry in state.log_history]


def examples(count=50, seed=1):
    return [{"x": x, "labels": y} for x, y in vectors(count, seed=seed)]


def language_model(dropout=0.0):
    return GPT2LMHeadModel(GPT2Config(vocab_size=20, n_positions=16, n_embd=16, n_layer=1, n_head=2, pad_token_id=0,
                                      resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout))


def padded(items):
    """Texts of different lengths, whose padding is left out of the loss."""
    ids = torch.nn.utils.rnn.pad_sequence([item["ids"] for item in items], batch_first=True)
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": ids.masked_fill(ids == 0, -100)}


def train(trial, model, limited, *, kind=Trainer, data=None, arguments=None, **others):
    """Makes a Trainer and trains. `limited`: the layer whose memory is short."""
    trial.limit(limited)
    options = {"output_dir": trial.folder, "per_device_train_batch_size": 8, "num_train_epochs": 2, "report_to": [],
               "save_strategy": "no", "logging_steps": 1, "disable_tqdm": True, "use_cpu": True, **(arguments or {})}
    trainer = kind(model, TrainingArguments(**options), train_dataset=examples() if data is None else data, **others)
    trainer.add_callback(Recorder(trial))
    trainer.train()
    trial.keep(model, trainer.optimizer)
    return trainer


def train_classifier(trial, *, dropout=0.0, **others):
    model = Classifier(dropout)
    return train(trial, model, model.net[0], **others)


def train_language_model(trial, **others):
    model = language_model()
    data = [{"ids": ids} for ids in texts(50)]
    arguments = {"remove_unused_columns": False, **others.pop("arguments", {})}
    return train(trial, model, model.transformer.h[0].mlp.c_fc, data=data, data_collator=padded, arguments=arguments,
                 **others)


@program
def trainer_class_weights(trial):
    """Its own compute_loss weighs the classes; dropout, clipping, and metrics on other examples after each epoch."""

    class Weighted(Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, **_):
            outputs = model(x=inputs["x"])
            loss = F.cross_entropy(outputs["logits"], inputs["labels"], weight=torch.tensor([0.1, 1.0, 3.0]))
            return (loss, outputs) if return_outputs else loss

    def metrics(predicted):
        return {"right": float((numpy.argmax(predicted.predictions, 1) == predicted.label_ids).mean())}

    train_classifier(trial, kind=Weighted, dropout=0.1, eval_dataset=examples(20, seed=2), compute_metrics=metrics,
                     arguments={"eval_strategy": "epoch", "label_names": ["labels"]})


@program
def trainer_smoothed(trial):
    """Label smoothing of a language model."""
    train_language_model(trial, arguments={"label_smoothing_factor": 0.1})


@program
def trainer_accumulated(trial):
    """Three batches for each update, whose loss is divided by the tokens of all of them; a cosine with warm-up."""
    train_language_model(trial, arguments={"gradient_accumulation_steps": 3, "per_device_train_batch_size": 4,
                                           "lr_scheduler_type": "cosine", "warmup_steps": 2})


@program
def trainer_loss_function(trial):
    """A compute_loss_func that sums and divides by num_items_in_batch itself."""

    def loss_of(outputs, labels, num_items_in_batch=None):
        logits = outputs.logits[:, :-1].flatten(0, 1)
        return F.cross_entropy(logits, labels[:, 1:].flatten(), reduction="sum") / num_items_in_batch

    train_language_model(trial, compute_loss_func=loss_of, arguments={"gradient_accumulation_steps": 2})


@program
def trainer_callbacks(trial):
    """Callbacks look at all sizes; one evaluates and one stops the training early."""

    class Sizes(TrainerCallback):
        def on_train_begin(self, args, state, control, train_dataloader=None, **_):
            trial.note("begin", [len(train_dataloader), train_dataloader.batch_size, state.max_steps,
                                 state.num_train_epochs, state.train_batch_size])

        def on_step_end(self, args, state, control, train_dataloader=None, **_):
            trial.note("sizes", [args.gradient_accumulation_steps, args.train_batch_size, len(train_dataloader)])
            control.should_evaluate = state.global_step % 4 == 0
            control.should_training_stop = state.global_step == 9

    train_classifier(trial, callbacks=[Sizes()], eval_dataset=examples(20, seed=2), arguments={
        "gradient_accumulation_steps": 2, "per_device_train_batch_size": 4, "label_names": ["labels"]})


@program
def trainer_own_optimizer(trial):
    """An optimizer and a OneCycleLR of the program's own."""
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=14)
    train(trial, model, model.net[0], optimizers=(optimizer, schedule))


@program
def trainer_grouped(trial):
    """Batches of examples of similar lengths."""
    fields = TrainingArguments.__dataclass_fields__
    arguments = {"train_sampling_strategy": "group_by_length"} if "train_sampling_strategy" in fields else {
        "group_by_length": True}

    class Texts(list):
        column_names = ("ids", "length")

    model = language_model()
    data = [{"ids": ids, "input_ids": ids, "length": len(ids)} for ids in texts(50)]
    train(trial, model, model.transformer.h[0].mlp.c_fc, data=data, data_collator=padded,
          arguments={"remove_unused_columns": False, **arguments})


@program
def trainer_stream(trial):
    """An IterableDataset without a length, for a given number of steps."""

    class Stream(IterableDataset):
        def __iter__(self):
            yield from examples()

    train_classifier(trial, data=Stream(), arguments={"max_steps": 9, "gradient_accumulation_steps": 2})


@program
def trainer_own_loader(trial):
    """get_train_dataloader makes a DataLoader with another batch size than the arguments have."""

    class Own(Trainer):
        def get_train_dataloader(self):
            return DataLoader(self.train_dataset, 5, shuffle=True, drop_last=True)

    train_classifier(trial, kind=Own, arguments={"max_steps": 13})


@program
def trainer_own_batches(trial):
    """Batches without two examples of one class after each other, by a batch sampler, as sentence-transformers does."""

    class NoDuplicates(Sampler):
        def __init__(self, labels):
            self.labels, self.epoch = labels, 0

        def set_epoch(self, epoch):
            self.epoch = epoch

        def __len__(self):
            return len(self.labels) // 8

        def __iter__(self):
            order = torch.randperm(len(self.labels), generator=torch.Generator().manual_seed(self.epoch)).tolist()
            order.sort(key=lambda index: index % 3 == self.labels[index])
            yield from (order[8 * number : 8 * number + 8] for number in range(len(self)))

    class Own(Trainer):
        def get_train_dataloader(self):
            labels = [int(item["labels"]) for item in self.train_dataset]
            loader = DataLoader(self.train_dataset, batch_sampler=NoDuplicates(labels))
            return self.accelerator.prepare(loader)

    train_classifier(trial, kind=Own)


@program
def trainer_own_sampler(trial):
    """Examples are drawn with weights, by a sampler of the Trainer's own."""

    class Own(Trainer):
        def _get_train_sampler(self, *_):
            return WeightedRandomSampler([1.0 + int(item["labels"]) for item in self.train_dataset], 44,
                                         generator=torch.Generator().manual_seed(3))

    train_classifier(trial, kind=Own, arguments={"dataloader_num_workers": 1})


@program
def trainer_own_step(trial):
    """training_step looks at the gradients and the inputs, and adds a penalty by a second backward pass."""

    class Own(Trainer):
        def training_step(self, model, inputs, *rest):
            loss = super().training_step(model, inputs, *rest)
            penalty = 1e-3 * sum(p.square().sum() for p in model.parameters())
            self.accelerator.backward(penalty)
            return loss + penalty.detach()

    train_classifier(trial, kind=Own)


if __name__ == "__main__":
    main()
