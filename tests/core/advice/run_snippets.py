"""Reads snippets as JSON from standard input, [{"for", "text", "settings"}, ...], and parses each; with `construct`,
also runs each whose package is installed, with a small model, and compares what it makes with the settings. Prints a
line for each."""

import ast
import importlib.util
import json
import sys

PACKAGES = {"transformers": "transformers", "accelerate": "accelerate", "lightning": "lightning", "pytorch": "torch",
            "unsloth": "trl"}


def equal(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what} is {got!r}, not {wanted!r}")


def check_arguments(names, settings):
    arguments = names["training_args"]
    equal("batch", arguments.per_device_train_batch_size, settings["micro_batch"])
    equal("accumulation", arguments.gradient_accumulation_steps, settings["accumulate"])
    equal("rate", arguments.learning_rate, settings["learning_rate"])
    equal("weight decay", arguments.weight_decay, settings["weight_decay"])
    if settings["optimizer"] != "adam":  # the Trainer has none of that name; a remark says what to pass
        equal("optimizer", arguments.optim.value.split("_")[0], settings["optimizer"])
    equal("warm-up", arguments.warmup_steps, settings["warmup_steps"])
    if settings["epochs"] is None:
        equal("steps", arguments.max_steps, settings["steps"])
    else:
        equal("epochs", arguments.num_train_epochs, settings["epochs"])


def check_trainer(names, settings):
    import torch

    equal("accumulation", names["trainer"].accumulate_grad_batches, settings["accumulate"])
    made = names["configure_optimizers"](torch.nn.Linear(2, 2))
    check_optimizer(made["optimizer"], settings, "initial_lr")
    equal("batch", names["batch_size"], settings["micro_batch"])


def check_optimizer(optimizer, settings, rate):
    equal("optimizer", type(optimizer).__name__.lower(), settings["optimizer"])
    equal("rate", optimizer.param_groups[0][rate], settings["learning_rate"])
    equal("weight decay", optimizer.param_groups[0]["weight_decay"], settings["weight_decay"])


def check_loop(names, settings):
    loss = "MSELoss" if settings["predicts_numbers"] else "CrossEntropyLoss"
    equal("loss", type(names["loss_function"]).__name__, loss)
    optimizer = getattr(names["optimizer"], "optimizer", names["optimizer"])
    equal("optimizer", type(optimizer).__name__.lower(), settings["optimizer"])
    equal("steps", int(names["step"]), settings["steps"])
    at_end = settings["learning_rate"] * names["rate"](settings["steps"] - 1)
    equal("last rate", optimizer.param_groups[0]["lr"], at_end)


def construct(snippet):
    import torch

    names = {
        "model": torch.nn.Linear(2, 2),
        "dataset": torch.utils.data.TensorDataset(
            torch.randn(64, 2),
            torch.randn(64, 2) if snippet["settings"]["predicts_numbers"] else torch.randint(0, 2, (64,))),
    }
    text = snippet["text"]
    if not torch.cuda.is_available():  # which TrainingArguments expects for 16 bit, unless told so
        text = text.replace("    bf16=True,\n", "    bf16=True,\n    use_cpu=True,\n")
        text = text.replace("    tf32=True,\n", "")  # which it refuses
    exec(compile(text, snippet["for"], "exec"), names)
    check = {"transformers": check_arguments, "unsloth": check_arguments, "lightning": check_trainer}
    check.get(snippet["for"], check_loop)(names, snippet["settings"])


for snippet in json.load(sys.stdin):
    kind = snippet["for"]
    ast.parse(snippet["text"], kind)
    print("parsed", kind)
    if sys.argv[1:] == ["construct"] and importlib.util.find_spec(PACKAGES[kind]):
        construct(snippet)
        print("constructed", kind)
