"""The programs of test_budget.py, in double precision: they keep the examples and the gradients of every step.

usage: budget_programs.py plain|trainer FILE [STEPS]
Writes the gradients to FILE, as numbers of 8 bytes step by step, and the rest to FILE.json. Ends after so many steps;
without STEPS after four more than it had made when its budget became smaller.
"""

import json
import os
import resource
import sys

from torch_programs import SOURCE, batchscope, gradients

import torch
from torch.utils.data import DataLoader, Dataset

torch.set_default_dtype(torch.float64)
sys.path.append(os.path.join(SOURCE, "examples"))
STEPS_AFTER = 4


class Kept:
    """What is kept of each step, and when it is enough."""

    def __init__(self, path, file, steps):
        self.path, self.steps = path, steps
        self.gradients = file  # in memory they would count for the budget
        self.examples, self.limited, self.budgets = [], [], []

    def keep(self, model):
        """The gradients of the step that is being made, and whether the memory of the process is limited."""
        self.gradients.write(torch.cat([gradient.flatten() for gradient in gradients(model)]).numpy().tobytes())
        self.limited.append(resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY)

    def enough(self):
        """Whether the step that has just been made is the last one."""
        made = len(self.limited)
        if made == 3:
            open(self.path + ".begun", "w").close()
        budget = batchscope.start()._budget.bytes
        if not self.budgets or budget != self.budgets[-1][1]:
            self.budgets.append((made, budget))
        if self.steps is not None:
            return made >= self.steps
        return len(self.budgets) > 1 and made >= self.budgets[-1][0] + STEPS_AFTER

    def write(self):
        with open(self.path + ".json", "w") as file:
            json.dump({"examples": self.examples, "limited": self.limited}, file)


class Rows(Dataset):
    """Rows of random numbers that are drawn from their index."""

    def __init__(self, kept):
        self.kept = kept

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        self.kept.examples.append(index)
        return torch.randn(16, generator=torch.Generator().manual_seed(index))


def plain(kept):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 1024), *[torch.nn.Tanh() for _ in range(6)],
                                torch.nn.Linear(1024, 16))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    run = batchscope.start()
    loader = run.loader(DataLoader(Rows(kept), batch_size=512, shuffle=True))
    while True:
        for window in loader:
            loss = run.backward(window, lambda x: (model(x) - x).square().mean(), model)
            kept.keep(model)
            optimizer.step()
            run.step(optimizer, loss=loss)
            if kept.enough():
                return


def trainer(kept):
    """The example itself, with a callback and without dropout, which draws other numbers for pieces."""
    import hf_trainer
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
            kept.keep(model)

        def on_step_end(self, args, state, control, **kwargs):
            control.should_training_stop = kept.enough()

    class Watched(hf_trainer.Trainer):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, callbacks=[Watch()], **kwargs)
            for module in self.model.modules():
                if isinstance(module, torch.nn.Dropout):
                    module.p = 0.0

    class Letters(hf_trainer.Letters):
        def __getitem__(self, index):
            kept.examples.append(index)
            return super().__getitem__(index)

    hf_trainer.Trainer, hf_trainer.Letters = Watched, Letters
    sys.argv[1:] = ["--batch", "16", "--epochs", "1000"]
    hf_trainer.main()


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as file:
        what = Kept(sys.argv[2], file, int(sys.argv[3]) if len(sys.argv) > 3 else None)
        {"plain": plain, "trainer": trainer}[sys.argv[1]](what)
    what.write()
