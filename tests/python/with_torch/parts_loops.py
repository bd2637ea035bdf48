"""Loops of one batch, one backward pass and one update a step, and others that look like it."""

import contextlib
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

EXAMPLES, BATCH, CLASSES, TOKENS = 120, 12, 3, 5


def points():
    numbers = torch.Generator().manual_seed(3)
    x = torch.randn(EXAMPLES, 6, generator=numbers, dtype=torch.float64)
    labels = torch.randint(0, CLASSES, (EXAMPLES,), generator=numbers)
    return TensorDataset(x, labels, torch.randn(EXAMPLES, CLASSES, generator=numbers, dtype=torch.float64))


def texts():
    numbers = torch.Generator().manual_seed(4)
    tokens = torch.randint(1, 20, (EXAMPLES, TOKENS), generator=numbers)
    labels = tokens.clone()
    for row, length in enumerate(torch.randint(1, TOKENS + 1, (EXAMPLES,), generator=numbers).tolist()):
        labels[row, length:] = -100
    return TensorDataset(tokens, labels)


def network(norm=None):
    return nn.Sequential(nn.Linear(6, 8), norm or nn.Identity(), nn.Tanh(), nn.Linear(8, CLASSES))


class OfTokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(20, 8), nn.Linear(8, 20)
        self.attention = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)

    def forward(self, tokens):
        return self.head(self.attention(self.embedding(tokens)))


class Training:
    """What a loop is told: batches of which sizes or examples, if it is not attached to, and rates."""

    def __init__(self, sizes=None, rates=None, data=None, batches=None, **settings):
        self.data, self.rates, self.settings = data or points(), list(rates or ()), settings
        self.batches = batches
        if sizes is not None:
            ends = [sum(sizes[:index + 1]) for index in range(len(sizes))]
            self.batches = [[row % EXAMPLES for row in range(end - size, end)] for end, size in zip(ends, sizes)]
        torch.manual_seed(7)
        self.model = (OfTokens() if data else network()).double()

    def loader(self):
        if self.batches is None:
            return DataLoader(self.data, batch_size=BATCH, **self.settings)
        return DataLoader(self.data, batch_sampler=self.batches)

    @property
    def epochs(self):
        return range(2 if self.batches is None else 1)

    def passes(self):
        for _ in self.epochs:
            yield from self.loader()

    def scheduler(self, optimizer):
        """One that is stepped with each update; or one that repeats rates."""
        if not self.rates:
            return torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2 * EXAMPLES // BATCH + 1,
                                                       cycle_momentum=False)
        optimizer.param_groups[0]["lr"] = self.rates.pop(0)
        return self

    def repeat_rate(self, optimizer):
        optimizer.param_groups[0]["lr"] = self.rates.pop(0) if self.rates else 0.0


def ce(model, x, y, z):
    return F.cross_entropy(model(x), y)


def weighted(model, x, y, z):
    return F.cross_entropy(model(x), y, weight=torch.tensor([0.2, 1.0, 3.0], dtype=torch.float64))


def smoothed(model, x, y, z):
    return F.cross_entropy(model(x), y, label_smoothing=0.1)


def mse(model, x, y, z):
    return F.mse_loss(model(x), z)


def huber(model, x, y, z):
    return F.huber_loss(model(x), z)


def bce(model, x, y, z):
    return F.binary_cross_entropy_with_logits(model(x), z.sigmoid())


def summed(model, x, y, z):
    return 0.02 * F.mse_loss(model(x), z, reduction="sum")


def mean_of_rows(model, x, y, z):
    return F.cross_entropy(model(x), y, reduction="none").mean()


def scaled(model, x, y, z):
    return 0.25 * F.cross_entropy(model(x), y)


def two_terms(model, x, y, z):
    out = model(x)
    return F.cross_entropy(out, y) + 0.1 * F.mse_loss(out, z)


def masked(model, x, y, z):
    mask = (y > 0).double()
    return (F.cross_entropy(model(x), y, reduction="none") * mask).sum() / mask.sum()


def of_tokens(model, tokens, labels):
    return F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


# ---- losses in which examples meet, or whose weight is not known ----


def contrastive(model, x, y, z):
    return F.cross_entropy(model(x) @ model(2 * x).T, torch.arange(len(x)))


def ranked(model, x, y, z):
    scores = model(x)[:, 0]
    return F.relu(1 - scores[:, None] + scores[None]).mean()


def standardized(model, x, y, z):
    return F.cross_entropy(model((x - x.mean(0)) / x.std(0)), y)


def centered(model, x, y, z):
    out = model(x)
    return F.mse_loss(out - out.mean(0).detach(), z)


def balanced(model, x, y, z):
    return F.cross_entropy(model(x), y, weight=1 / (1 + torch.bincount(y, minlength=CLASSES).to(x.dtype)))


def penalized(model, x, y, z):
    return F.cross_entropy(model(x), y) + 0.01 * sum(p.square().sum() for p in model.parameters())


def divided_by_size(model, x, y, z):
    return F.mse_loss(model(x), z, reduction="sum") / len(x)


def by_numpy(model, x, y, z):
    return F.mse_loss(model(torch.from_numpy(x.numpy() * 2)), z)


class Loud(torch.autograd.Function):
    @staticmethod
    def forward(context, value):
        return value.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient / gradient.norm()


def own_function(model, x, y, z):
    return F.mse_loss(Loud.apply(model(x)), z)


# ---- loops ----


def sgd(model):
    return torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)


def adamw(model):
    return torch.optim.AdamW(model.parameters(), 0.01)


def plain(t, loss=ce, *, make=sgd, clears="before", clips=None, to_none=True, schedules=False):
    optimizer = make(t.model)
    owner = t.model if clears.endswith("by the model") else optimizer
    scheduler = t.scheduler(optimizer) if schedules else None
    for _ in t.epochs:
        for batch in t.loader():
            if clears.startswith("before"):
                owner.zero_grad(set_to_none=to_none)
            value = loss(t.model, *batch)
            value.backward()
            if clips == "norm":
                nn.utils.clip_grad_norm_(t.model.parameters(), 0.05)
            elif clips == "value":
                nn.utils.clip_grad_value_(t.model.parameters(), 0.01)
            optimizer.step()
            if scheduler is t:
                t.repeat_rate(optimizer)
            elif scheduler is not None:
                scheduler.step()
            if clears.startswith("after"):
                owner.zero_grad(set_to_none=to_none)


def norm(t):
    t.model = network(nn.BatchNorm1d(8)).double()
    plain(t)


def lbfgs(t):
    optimizer = torch.optim.LBFGS(t.model.parameters(), max_iter=2)
    for batch in t.loader():
        def closure():
            optimizer.zero_grad()
            value = ce(t.model, *batch)
            value.backward()
            return value
        optimizer.step(closure)


def two_optimizers(t):
    one, two = torch.optim.SGD(t.model[0].parameters(), 0.1), torch.optim.SGD(t.model[3].parameters(), 0.1)
    for _ in t.epochs:
        for batch in t.loader():
            one.zero_grad()
            two.zero_grad()
            ce(t.model, *batch).backward()
            one.step()
            two.step()


def accumulates(t):
    optimizer = sgd(t.model)
    for _ in t.epochs:
        for number, batch in enumerate(t.loader(), 1):
            (ce(t.model, *batch) / 2).backward()
            if number % 2 == 0:
                optimizer.step()
                optimizer.zero_grad()


def cleared_by_hand(t):
    optimizer = sgd(t.model)
    for _ in t.epochs:
        for batch in t.loader():
            for p in t.model.parameters():
                p.grad = None
            ce(t.model, *batch).backward()
            optimizer.step()


def scaled_by_hand(t):
    optimizer = sgd(t.model)
    for _ in t.epochs:
        for batch in t.loader():
            optimizer.zero_grad()
            ce(t.model, *batch).backward()
            for p in t.model.parameters():
                p.grad.data.clamp_(-0.01, 0.01)
            optimizer.step()


def averages_weights(t):
    optimizer = sgd(t.model)
    average = [p.detach().clone() for p in t.model.parameters()]
    for _ in t.epochs:
        for batch in t.loader():
            optimizer.zero_grad()
            ce(t.model, *batch).backward()
            optimizer.step()
            with torch.no_grad():
                for own, p in zip(average, t.model.parameters()):
                    own.mul_(0.9).add_(p, alpha=0.1)


def averages_anew(t):
    """The same with new tensors each time."""
    optimizer = sgd(t.model)
    average = [p.detach().clone() for p in t.model.parameters()]
    for batch in t.passes():
        optimizer.zero_grad()
        ce(t.model, *batch).backward()
        optimizer.step()
        average = [0.9 * own + 0.1 * p for own, p in zip(average, t.model.parameters())]
        average = [own.detach() for own in average]


def compiled(t):
    t.model = torch.compile(t.model, backend="aot_eager")
    plain(t)


def grad_scaler(t):
    optimizer, scaler = sgd(t.model), torch.amp.GradScaler("cpu", init_scale=8.0)
    for _ in t.epochs:
        for batch in t.loader():
            optimizer.zero_grad()
            scaler.scale(ce(t.model, *batch)).backward()
            scaler.step(optimizer)
            scaler.update()


def hooks_on_gradients(t):
    for p in t.model.parameters():
        p.register_hook(lambda gradient: gradient / (1 + gradient.norm()))
    plain(t)


def keeps_graph(t):
    optimizer = sgd(t.model)
    for _ in t.epochs:
        for batch in t.loader():
            optimizer.zero_grad()
            ce(t.model, *batch).backward(retain_graph=True)
            optimizer.step()


def takes_gradients(t):
    optimizer, parameters = sgd(t.model), list(t.model.parameters())
    for _ in t.epochs:
        for batch in t.loader():
            for p, gradient in zip(parameters, torch.autograd.grad(ce(t.model, *batch), parameters)):
                p.grad = gradient
            optimizer.step()


def two_trainings(t):
    """One optimizer after the other, over the same parameters."""
    for make in (sgd, adamw):
        optimizer = make(t.model)
        for batch in t.passes():
            optimizer.zero_grad()
            ce(t.model, *batch).backward()
            optimizer.step()


def centers_later(t, until):
    """From some batch on, inputs are centered: examples meet."""
    optimizer = sgd(t.model)
    for number, (x, y, z) in enumerate(t.passes()):
        optimizer.zero_grad()
        ce(t.model, x if number < until else x - x.mean(0), y, z).backward()
        optimizer.step()


def evaluates(t):
    """With batches of its own, in the middle of everything."""
    optimizer = sgd(t.model)
    for number, batch in enumerate(t.passes()):
        optimizer.zero_grad()
        ce(t.model, *batch).backward()
        optimizer.step()
        if number % 4 == 1:
            with torch.no_grad():
                t.model.eval()
                for other in DataLoader(t.data, batch_size=50):
                    ce(t.model, *other)
                t.model.train()


def keeps_batches(t):
    """To see which examples it had."""
    t.seen = []
    optimizer = sgd(t.model)
    for batch in t.passes():
        t.seen.append(batch[2])
        optimizer.zero_grad()
        ce(t.model, *batch).backward()
        optimizer.step()


# ---- loops that leave a batch in the middle ----


def leaves(t, after):
    """A pass is left after so many batches."""
    optimizer = sgd(t.model)
    for _ in range(3 if t.batches is None else 1):
        for number, batch in enumerate(t.loader(), 1):
            optimizer.zero_grad()
            ce(t.model, *batch).backward()
            optimizer.step()
            if number == after:
                break


def goes_on(t, where, at, clears_before=True):
    """Batch number `at` has an error: in its loss, or in its backward pass."""
    optimizer = sgd(t.model)
    for number, batch in enumerate(t.loader(), 1):
        if clears_before:
            optimizer.zero_grad()
        with contextlib.suppress(RuntimeError):
            value = ce(t.model, *batch)
            if number == at and where == "loss":
                raise RuntimeError("an error")
            if number == at:
                fails = t.model[0].weight.register_hook(raise_error)
            try:
                value.backward()
            finally:
                if number == at:
                    fails.remove()
            optimizer.step()
            if not clears_before:
                optimizer.zero_grad()


def bound_before(t):
    """Calls that are looked up once."""
    optimizer = sgd(t.model)
    step, clear = optimizer.step, optimizer.zero_grad
    for _ in t.epochs:
        for batch in t.loader():
            clear()
            ce(t.model, *batch).backward()
            step()


def clears_otherwise_later(t):
    """From some step on, gradients are cleared by hand."""
    optimizer = sgd(t.model)
    for number, batch in enumerate(t.passes()):
        if number < 20:
            optimizer.zero_grad()
        else:
            for p in t.model.parameters():
                p.grad = None
        ce(t.model, *batch).backward()
        optimizer.step()


def raise_error(gradient):
    raise RuntimeError("an error")


def wide(examples=7000):
    """Needs about 130 kB for each example of a batch."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x = torch.randn(examples, 12)
    model = nn.Sequential(nn.Linear(12, 8000), nn.GELU(), nn.LayerNorm(8000), nn.Linear(8000, 2))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    for inputs, labels in DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=64, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def heavy(examples=1200):
    """Its weights, their gradients and momenta take 17 MB each, an example 24 kB."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x = torch.randn(examples, 64)
    model = nn.Sequential(nn.Linear(64, 2048), nn.GELU(), nn.Linear(2048, 2048), nn.GELU(), nn.Linear(2048, 5))
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    for _ in range(4):
        for inputs, labels in DataLoader(TensorDataset(x, x[:, :5].argmax(1)), batch_size=60, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(model(inputs), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    {"wide": wide, "heavy": heavy}[sys.argv[1]]()
