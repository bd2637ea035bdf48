"""The programs that test_kills.py kills, or whose BatchScope it kills.

usage: kill_programs.py plain|trainer FOLDER
They train until FOLDER/finish is there. FOLDER/steps gets a line `STEP LOSS` for each step that was sent or spilled.
"""

import os
import sys

import torch

import batchscope

vars(getattr(batchscope, "wire", batchscope))["RECONNECT_EVERY"] = 0.05
torch.set_num_threads(1)
torch.manual_seed(0)
KIND, FOLDER = sys.argv[1:]
STEPS = os.open(os.path.join(FOLDER, "steps"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def keep(step, loss):
    if not batchscope.start()._link._unsent:
        os.write(STEPS, f"{step} {loss!r}\n".encode())


def is_over():
    return os.path.exists(os.path.join(FOLDER, "finish"))


def plain():
    from torch.utils.data import DataLoader, TensorDataset
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    run = batchscope.start()
    loader = run.loader(DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 2)), batch_size=4, shuffle=True))
    step = 0
    while not is_over():
        for batch in loader:
            loss = run.backward(batch, lambda x, y: ((model(x) - y) ** 2).mean(), model)
            optimizer.step()
            run.step(optimizer, loss=loss)
            step += 1
            keep(step, float(loss))


def trainer():
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

    class Own(Trainer):
        def training_step(self, *arguments, **options):
            loss = super().training_step(*arguments, **options)
            self.last_loss = float(loss)
            return loss

    class Keep(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            keep(state.global_step, own.last_loss)
            control.should_training_stop = control.should_training_stop or is_over()

    ids = torch.randint(0, 64, (64, 8))
    own = Own(GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=8, n_embd=8, n_layer=1, n_head=1, bos_token_id=0,
                                         eos_token_id=0)),
              TrainingArguments(os.path.join(FOLDER, "trainer"), per_device_train_batch_size=4, max_steps=10**6,
                                report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True),
              train_dataset=[{"input_ids": row, "labels": row} for row in ids], callbacks=[Keep()])
    own.train()


if __name__ == "__main__":
    {"plain": plain, "trainer": trainer}[KIND]()
