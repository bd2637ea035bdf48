"""A Trainer that knows nothing of BatchScope, started by test_demos.py. Argument 1: drop_last or use_last."""

import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

EXAMPLES = [{"input_ids": ids, "labels": ids} for ids in torch.arange(10 * 8).reshape(10, 8) % 64]

if __name__ == "__main__":
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=8, n_embd=16, n_layer=2, n_head=2))
    with tempfile.TemporaryDirectory() as folder:
        Trainer(model, TrainingArguments(
            folder, use_cpu=True, per_device_train_batch_size=1, num_train_epochs=10, report_to=[], save_strategy="no",
            dataloader_drop_last=sys.argv[1] == "drop_last", disable_tqdm=True), train_dataset=EXAMPLES).train()
