"""What the programs of this folder share: arguments, a run or a plain twin of it, and what they saw, written as JSON.

usage: python FILE NAME [--plain] [--rows N] [--where forward|backward] [--times N] [--width N] [--out FILE]

Every file has several programs, each a function that trains something small. Plain loops call the client, which does
nothing where nobody listens; with --plain they do the same in plain torch, without importing it. Programs with a
Trainer know nothing of BatchScope. With --rows the memory of one layer is pretended to be short: more rows do not fit.
With --times and --width the data and the perceptrons are so many times as large: their memory is then worth a search.
"""

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import warnings
import weakref

import numpy
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.data import TensorDataset

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "resources", "python")
ERROR = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1000 bytes. Error code 12"
programs = {}
_factors = {"examples": 1, "width": 1}


def program(function):
    """Makes a function one of the programs of its file."""
    programs[function.__name__] = function
    return function


class Plain:
    """What a Run does, in plain torch."""

    stopping = False

    def loader(self, dataloader, **_):
        return dataloader

    def backward(self, batch, fn, model, weight=None, scale=None):
        if not hasattr(model, "backward"):
            model.zero_grad(set_to_none=True)
        loss = fn(*batch) if isinstance(batch, (tuple, list)) else fn(batch)
        own = next((owner for owner in (scale, model) if hasattr(owner, "backward")), None)
        if own is not None:
            own.backward(loss)
        elif scale is None:
            loss.backward()
        else:
            scale.scale(loss).backward()
        return loss.detach()

    def backward_contrastive(self, batch, embed, loss, model, scale=None):
        return self.backward(batch, lambda *part: loss(*embed(*part)), model, scale=scale)

    def step(self, optimizer=None, loss=None, **values):
        pass

    def report(self, step, **values):
        pass


class _Fails(torch.autograd.Function):
    """Passes values on; fails if they have too many rows."""

    @staticmethod
    def forward(context, value, rows, trial):
        context.rows, context.trial = rows, trial
        trial.check(rows, "forward")
        return value.clone()

    @staticmethod
    def backward(context, gradient):
        context.trial.check(context.rows, "backward")
        return gradient, None, None


class Trial:
    """One run of a program: `run` is the client's Run or its plain twin, `seen` is what is written at the end."""

    def __init__(self, options):
        self._options = options
        self._owners = []
        self._errors = 0
        self.steps = 0
        self.examples = 0
        self.seen = {}
        self._run = None
        self._rates = weakref.WeakKeyDictionary()  # in the last update of each optimizer
        register_optimizer_step_pre_hook(self._note_rate)
        self._folder = tempfile.TemporaryDirectory(prefix="program-")
        self.folder = self._folder.name

    @property
    def run(self):
        if self._run is None:
            if self._options.plain:
                self._run = Plain()
            else:
                sys.path.append(CLIENT)
                import batchscope

                self._run = batchscope.start()
        return self._run

    def limit(self, module, rows=len):
        """The layer whose memory is short. `rows`: how many its output has."""
        if self._options.rows is None:
            return

        def hook(module, arguments, output):
            if not torch.is_grad_enabled():
                return output
            first = output if torch.is_tensor(output) else output[0]
            failing = _Fails.apply(first, rows(first), self)
            return failing if torch.is_tensor(output) else (failing, *output[1:])

        module.register_forward_hook(hook)

    def check(self, rows, where):
        if where == self._options.where and rows > self._options.rows:
            self._errors += 1
            raise RuntimeError(ERROR)

    def note(self, name, value):
        self.seen.setdefault(name, []).append(value)

    def _note_rate(self, optimizer, *_):
        self._rates[optimizer] = float(optimizer.param_groups[0]["lr"])

    def step(self, loss, optimizer, examples):
        """After an update, of a loop of one's own."""
        self.steps += 1
        self.examples += examples
        self.note("loss", float(loss.detach() if torch.is_tensor(loss) else loss))
        rate = self._rates.get(getattr(optimizer, "optimizer", optimizer), optimizer.param_groups[0]["lr"])
        self.note("rate", float(rate))
        self.note("examples", self.examples)

    def write(self):
        """Into the file that was asked for."""
        print(self._options.name, self.steps, "steps")
        if self._options.out:
            with open(self._options.out, "w") as file:
                json.dump(self.result(), file)

    def keep(self, *owners):
        """Modules, optimizers and whatever else has a state_dict, whose bits are compared."""
        self._owners += owners

    def result(self):
        tensors = [t for owner in self._owners for t in tensors_in(owner.state_dict())]
        floating = [t.detach().flatten().double() for t in tensors if t.is_floating_point()]
        return {
            "weights": digest(tensors),
            "numbers": torch.cat(floating).tolist() if floating else [],
            "random": digest([torch.get_rng_state(), *map(ord, repr(random.getstate()) + repr(numpy.random.rand(2)))]),
            "steps": self.steps,
            "errors": self._errors,
            "seen": self.seen,
        }


def rows(batch):
    """Examples of a collated batch, or of one of the client's loader."""
    part = batch.parts[0] if hasattr(batch, "parts") else batch
    return len(next(iter(part.values())) if isinstance(part, dict) else part if torch.is_tensor(part) else part[0])


def tensors_in(value):
    """Of a state_dict; numbers as tensors, too."""
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value, dtype=torch.float64)]
    if isinstance(value, dict):
        return [t for key in value for t in tensors_in(value[key])]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return []


def digest(values):
    """The same for the same bits."""
    state = hashlib.sha256()
    for value in values:
        state.update(value.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
                     if torch.is_tensor(value) else repr(value).encode())
    return state.hexdigest()


def vectors(count, features=8, classes=3, seed=1):
    """Random examples with labels, of which the first class has most."""
    count *= _factors["examples"]
    numbers = torch.Generator().manual_seed(seed)
    x = torch.randn(count, features, generator=numbers)
    y = (torch.rand(count, generator=numbers) ** 2 * classes).long()
    return TensorDataset(x + y[:, None] * 0.5, y)


def texts(count, vocabulary=20, shortest=3, longest=11, seed=1):
    """Token ids of random lengths."""
    count *= _factors["examples"]
    numbers = torch.Generator().manual_seed(seed)
    lengths = torch.randint(shortest, longest + 1, (count,), generator=numbers).tolist()
    return [torch.randint(1, vocabulary, (length,), generator=numbers) for length in lengths]


def network(features=8, classes=3, width=16, dropout=0.0):
    """A perceptron; its first layer is `[0]`."""
    width *= _factors["width"]
    layers = [torch.nn.Linear(features, width), torch.nn.Tanh(), torch.nn.Linear(width, classes)]
    if dropout:
        layers.insert(2, torch.nn.Dropout(dropout))
    return torch.nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=programs)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--where", choices=("forward", "backward"), default="backward")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--width", type=int, default=1)
    parser.add_argument("--out")
    options = parser.parse_args()
    _factors.update(examples=options.times, width=options.width)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)
    trial = Trial(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        programs[options.name](trial)
    trial.seen["warnings"] = sorted({f"{w.category.__name__}: {str(w.message)[:200]}" for w in caught})
    trial.write()
