"""A step that is split has the gradients of the whole batch, or it is not split: for 58 losses and shapes of batches.

Memory is pretended: the first layer of a model fails for more rows than fit. RESULTS.md has the table.
"""

import os
import unittest

from torch_programs import LONG, WithRun, difference, failing, gradients

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from losses import EXAMPLES, all_cases

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
CASES = int(os.environ.get("BATCHSCOPE_TEST_LOSSES", "200"))  # random ones
PARTS = (2, 3, 7)  # that a step is split into


def first_layer(case):
    return next(m for m in case.model.modules() if type(m).__name__ in ("Linear", "Conv2d"))


def rows_of(case, loader):
    """Rows that the first layer meets in the whole batch."""
    seen = []
    handle = first_layer(case).register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].shape[0]))
    loss = run_whole(case, loader)
    handle.remove()
    return max(seen), loss


def run_whole(case, loader):
    part, = list(loader)
    case.model.zero_grad()
    loss = case.fn(*part) if isinstance(part, (tuple, list)) else case.fn(part)
    loss.backward()
    return loss.detach()


class Losses(WithRun):
    def split(self, case, parts):
        """Outcome of a step that is to be run in so many parts: what it was the mean over, or the reason against it."""
        loader = DataLoader(case.examples, batch_size=len(case.examples), collate_fn=case.collate)
        torch.manual_seed(2)
        rows, loss = rows_of(case, loader)
        expected = gradients(case.model)
        server, run = self.connect()
        window = next(iter(run.loader(loader)))
        case.model.zero_grad()
        limit = -(-rows // parts)
        if case.forced:
            run._splitter.limit = -(-EXAMPLES // parts)
            limit = rows
        try:
            with failing(first_layer(case), "backward", limit):
                value = run.backward(window, case.fn, case.model)
        except RuntimeError:
            reason = self.closed(server).events("oom")[-1]["detail"]["reason"]
            return {"reason": reason["code"]}
        server = self.closed(server)
        pieces = run._takes
        self.assertGreaterEqual(len(pieces), parts)
        self.assertEqual(sum(pieces), len(case.examples))
        return {"mean_over": server.events("split")[-1]["detail"]["mean_over"],
                "difference": difference(gradients(case.model), expected),
                "loss": abs(float(value) - float(loss)) / max(abs(float(loss)), 1e-6), "pieces": len(pieces)}

    def test_gradients_are_those_of_the_whole_batch_or_it_is_not_split(self):
        for dtype, tolerance in TOLERANCE.items():
            for number, case in enumerate(all_cases(dtype)):
                for parts in PARTS if LONG else PARTS[number % len(PARTS) :][:1]:
                    with self.subTest(loss=case.name, dtype=str(dtype), parts=parts):
                        outcome = self.split(case, parts)
                        if os.environ.get("BATCHSCOPE_TEST_RESULTS"):
                            print(case.name, str(dtype)[6:], parts, outcome, sep="\t")
                        if case.refused:
                            self.assertIn(outcome.get("reason"), case.refused)
                            continue
                        self.assertNotIn("reason", outcome)
                        self.assertLessEqual(outcome["difference"], tolerance)
                        self.assertLessEqual(outcome["loss"], tolerance)

    def test_random_weights_and_labels(self):
        """Class weights from 0.01 to 100, labels in all mixes, some ignored, sizes and pieces of all kinds."""
        worst, refused = 0.0, []
        for seed in range(CASES):
            numbers = torch.Generator().manual_seed(seed)

            def integer(low, high):
                return int(torch.randint(low, high, (1,), generator=numbers))

            classes, examples = integer(2, 12), integer(2, 40)
            weights = 10 ** (4 * torch.rand(classes, generator=numbers) - 2)
            shares = torch.rand(classes, generator=numbers) ** 3 + 1e-3
            labels = torch.multinomial(shares, examples, replacement=True, generator=numbers)
            if seed % 3 == 0 and examples > 3:
                labels[torch.rand(examples, generator=numbers) < 0.3] = -100
                labels[0] = 0
            inputs = torch.randn(examples, 6, generator=numbers)
            torch.manual_seed(seed)
            model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, classes))
            options = {"label_smoothing": 0.1 * (seed % 2), "weight": weights}
            cross_entropy(model(inputs), labels, **options).backward()
            expected = gradients(model)
            _, run = self.connect()
            run._splitter.limit = integer(1, examples)
            with self.subTest(seed=seed, examples=examples, limit=run._splitter.limit):
                run.backward((inputs, labels), lambda x, y: cross_entropy(model(x), y, **options), model)
                worst = max(worst, difference(gradients(model), expected))
                self.assertLessEqual(worst, 1e-5)
                if max(run._takes) > run._splitter.limit:  # it was run whole
                    refused.append(seed)
                    self.assertEqual(run._splitter.limit, 1)
            run.finish()
        self.assertLessEqual(len(refused), 0.01 * CASES)  # losses of single examples may be too alike
        if os.environ.get("BATCHSCOPE_TEST_RESULTS"):
            print("random weights and labels", CASES, worst, len(refused), sep="\t")


if __name__ == "__main__":
    unittest.main()
