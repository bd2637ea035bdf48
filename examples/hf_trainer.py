# SPDX-License-Identifier: MIT
"""A Hugging Face Trainer that BatchScope can steer: a tiny GPT-2 learns the letters of the repository's LICENSE.

Needs torch, transformers and accelerate; downloads nothing. Runs by itself, and under BatchScope:
    batchscope-cli run --attach auto -- python examples/hf_trainer.py --batch 16
As two processes, whose batch size is that of each:
    batchscope-cli run --attach auto -- python -m torch.distributed.run --nproc-per-node=2 examples/hf_trainer.py
"""

import argparse
import os
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.append(os.path.join(SOURCE, "resources", "python"))  # not needed after pip install
import batchscope


class Letters(torch.utils.data.Dataset):
    """Stretches of a text, as bytes."""

    def __init__(self, path: str, length: int) -> None:
        with open(path, "rb") as file:
            self.text = torch.tensor(list(file.read()))
        self.length = length

    def __len__(self) -> int:
        return len(self.text) // self.length

    def __getitem__(self, index: int) -> dict:
        letters = self.text[index * self.length:(index + 1) * self.length]
        return {"input_ids": letters, "labels": letters}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--text", default=os.path.join(SOURCE, "LICENSE"))
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder, per_device_train_batch_size=arguments.batch, num_train_epochs=arguments.epochs,
            learning_rate=3e-3, report_to=[], save_strategy="no", logging_steps=20,
            use_cpu=not torch.cuda.is_available())  # else several processes without a GPU train each for itself
        torch.manual_seed(0)
        model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=arguments.length, n_embd=64, n_layer=2,
                                           n_head=4, bos_token_id=0, eos_token_id=0))
        trainer = Trainer(model, settings, train_dataset=Letters(arguments.text, arguments.length))
        batchscope.attach(trainer)  # not needed with --attach auto
        trainer.train()


if __name__ == "__main__":
    main()
