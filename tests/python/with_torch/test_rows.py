"""Whether the examples of a batch know of each other, and what its loss was divided by."""

import unittest

import torch_programs  # noqa: F401 - where the client is

import torch
from torch import nn
from torch.nn import functional as F

import parts_loops as loops
from batchscope.rows import Rows
from batchscope.shape import kept_rows
from batchscope.weights import Refused, weight_of

SIZE = 8


def points():
    torch.manual_seed(1)
    return torch.randn(SIZE, 6), torch.randint(0, 3, (SIZE,)), torch.randn(SIZE, 3)


def images():
    torch.manual_seed(1)
    return torch.randn(SIZE, 3, 8, 8), torch.randint(0, 3, (SIZE,)), torch.randn(SIZE, 3)


def texts():
    return tuple(column[:SIZE] for column in loops.texts().tensors)


def with_dropout():
    return nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.3), nn.Linear(16, 3))


def convolutions():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4),
                         nn.Flatten(), nn.Linear(36, 3))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(20, 8), nn.Linear(8, 20)
        self.recurrent = nn.LSTM(8, 8, 2, dropout=0.2, batch_first=True)

    def forward(self, tokens):
        return self.head(self.recurrent(self.embedding(tokens))[0])


def filled(model, x, y, z):
    out = torch.empty(len(x), 3)
    for row in range(len(x)):
        out[row] = model(x[row])
    return F.cross_entropy(out, y)


def mixed(model, x, y, z):
    return F.cross_entropy(model(0.7 * x + 0.3 * x[torch.randperm(len(x))]), y)


def by_a_number(model, x, y, z):
    return F.cross_entropy(model(x / x.max().item()), y)


def broadcast(model, x, y, z):
    return F.mse_loss(model(x)[:, :1].expand(-1, len(x)), z[:, 0].expand(len(x), -1))


def pooled(model, x, y, z):
    return model(x).mean(0).square().mean()


def clamped(model, x, y, z):
    return F.cross_entropy(model(x), y, reduction="none").sum() / (y > 0).sum().clamp(min=1)


class Keeps(nn.Module):
    """Has an average of its inputs, which it uses at the next step."""

    def __init__(self):
        super().__init__()
        self.head, self.average = nn.Linear(6, 3), torch.zeros(6)

    def forward(self, x):
        out = self.head(x - self.average)
        self.average.lerp_(x.mean(0).detach(), 0.1)
        return out


class Followed(unittest.TestCase):
    def gradients(self, make, loss, batch, check=None):
        """Of a step, with random numbers and statistics; what was found out in it, if it was followed."""
        torch.manual_seed(2)
        model = make()
        own = [*model.parameters(), *(p.grad for p in model.parameters())]
        rows = None if check is None else Rows(batch, SIZE, kept_rows(SIZE, check), own)
        if rows is not None:
            rows.begin()
        value = loss(model, *batch)
        found = None
        if rows is not None:
            rows.end()
            try:
                rows.check(value)
                found = weight_of(value, rows.is_count)
            except Refused as refused:
                found = refused.reason.code
            rows.close()
        value.backward()
        return [value, *(p.grad for p in model.parameters()), *model.buffers(), torch.get_rng_state()], found

    def found(self, make, loss, batch):
        """The same; and that nothing has changed, to the bit."""
        alone, _ = self.gradients(make, loss, batch)
        checks = [self.gradients(make, loss, batch, check) for check in range(3)]
        for followed, _ in checks:
            for one, two in zip(alone, followed):
                self.assertTrue((one is None and two is None) or torch.equal(one, two))
        return next((found for _, found in checks if isinstance(found, str)), checks[0][1])

    def test_independent_examples(self):
        means = {loops.ce: 8, loops.mse: 24, loops.huber: 24, loops.bce: 24, loops.mean_of_rows: 8, loops.smoothed: 8,
                 loops.scaled: 8, loops.two_terms: 8, filled: 8}
        for loss, weight in means.items():
            with self.subTest(loss.__name__):
                found = self.found(with_dropout if loss is not filled else loops.network, loss, points())
                self.assertEqual((found.is_mean, float(found.value)), (True, weight))
        x, y, z = points()
        self.assertEqual(int(self.found(with_dropout, loops.masked, (x, y, z)).value), int((y > 0).sum()))
        self.assertFalse(self.found(with_dropout, loops.summed, (x, y, z)).is_mean)
        self.assertEqual(float(self.found(convolutions, loops.ce, images()).value), 8)
        tokens, labels = texts()
        for make in (loops.OfTokens, Recurrent):
            self.assertEqual(float(self.found(make, loops.of_tokens, (tokens, labels)).value),
                             int((labels[:, 1:] >= 0).sum()))

    def test_the_weight_of_classes(self):
        x, y, z = (column.double() if column.is_floating_point() else column for column in points())
        found = self.found(lambda: with_dropout().double(), loops.weighted, (x, y, z))
        self.assertAlmostEqual(float(found.value), sum([0.2, 1.0, 3.0][label] for label in y.tolist()), places=12)

    def test_examples_that_meet(self):
        for loss in (loops.contrastive, loops.ranked, loops.standardized, loops.centered, loops.balanced, mixed,
                     broadcast, pooled):
            with self.subTest(loss.__name__):
                self.assertEqual(self.found(with_dropout, loss, points()), "examples-interact")
        self.assertEqual(self.found(lambda: loops.network(nn.BatchNorm1d(8)), loops.ce, points()), "examples-interact")
        frozen = self.found(lambda: loops.network(nn.BatchNorm1d(8)).eval(), loops.ce, points())
        self.assertEqual(float(frozen.value), 8)

    def test_what_cannot_be_seen(self):
        for loss, code in ((loops.by_numpy, "unchecked-rows"), (by_a_number, "unchecked-rows"),
                           (clamped, "unchecked-rows"), (loops.penalized, "unknown-loss")):
            with self.subTest(loss.__name__):
                x, y, z = points()
                self.assertEqual(self.found(with_dropout, loss, (x.float(), y, z)), code)
        self.assertEqual(self.found(Keeps, loops.ce, points()), "kept-state")
        self.assertEqual(self.found(with_dropout, lambda model, x, y, z: model(torch.ones(4, 6)).mean(), points()),
                         "unchecked-rows")
        with self.assertRaises(Refused):
            Rows([torch.zeros(SIZE, 2), ["a text"] * SIZE], SIZE, [0], [])
        same = torch.ones(SIZE, 6), torch.ones(SIZE, dtype=torch.long), torch.ones(SIZE, 3)
        self.assertEqual(self.found(loops.network, loops.ce, same), "unchecked-rows")


if __name__ == "__main__":
    unittest.main()
