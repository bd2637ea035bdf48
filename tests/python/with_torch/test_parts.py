"""Batches that are handed out in parts to loops that know nothing of BatchScope."""

import unittest

from torch_programs import WithRun, digest

import torch

import batchscope
import parts_loops as loops
from batchscope import hooks
from parts_loops import BATCH, EXAMPLES, Training

ATTACHED = hooks.Hooks()
ATTACHED.install()
PART, PARTS = 4, 3


class Parts(WithRun):
    def tearDown(self):
        batchscope.run._current = ATTACHED._loop = None

    def attached(self, loop, data=None, **welcome):
        """A loop that is attached to; the server, and the training."""
        server, _ = self.connect(welcome={"batch": PART, "accumulate": PARTS, **welcome})
        ATTACHED._loop = None
        t = Training(data=data)
        loop(t)
        ATTACHED._loop.end()
        self.closed(server)
        batchscope.run._current = ATTACHED._loop = None
        return server, t

    def alone(self, loop, data=None, **told):
        t = Training(data=data, **told)
        loop(t)
        ATTACHED._loop = batchscope.run._current = None
        return t

    def assert_same(self, one, two):
        for a, b in zip(one.model.parameters(), two.model.parameters()):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)

    def check(self, loop, data=None, rates=False):
        """The same weights as with whole batches of the same sizes, one update for each."""
        server, parted = self.attached(loop, data)
        records = server.of("record")
        takes = [record["takes"] for record in records]
        self.assertEqual(sum(map(sum, takes)), 2 * EXAMPLES)
        self.assertGreater(takes.count([PART] * PARTS), 12, [event["detail"] for event in server.of("event")])
        told = [record["learning_rate"] for record in records] if rates else None
        whole = self.alone(loop, data, sizes=list(map(sum, takes)), rates=told)
        self.assert_same(parted, whole)
        self.assertIn("accumulate", server.of("hello")[-1]["can"])
        last = records[-1]
        self.assertEqual((last["examples_seen"], last["epoch"], last["accumulate"], last["batch"]),
                         (2 * EXAMPLES, 2.0, PARTS, PART))
        return records

    def test_losses(self):
        for loss in (loops.ce, loops.weighted, loops.smoothed, loops.mse, loops.huber, loops.bce, loops.summed,
                     loops.mean_of_rows, loops.scaled, loops.two_terms, loops.masked):
            with self.subTest(loss=loss.__name__):
                self.check(lambda t: loops.plain(t, loss))
        self.check(lambda t: loops.plain(t, loops.of_tokens), loops.texts())

    def test_loops(self):
        for settings in ({"make": loops.adamw}, {"clears": "after"}, {"clears": "before by the model"},
                         {"clears": "after by the model", "to_none": False}, {"to_none": False},
                         {"clips": "norm"}, {"clips": "value"}, {"clips": "norm", "clears": "after"}):
            with self.subTest(**settings):
                records = self.check(lambda t: loops.plain(t, **settings))
                self.assertEqual("grad_norm" in records[-1], settings.get("clips") == "norm")
        with self.subTest("schedules"):
            records = self.check(lambda t: loops.plain(t, schedules=True), rates=True)
            rates = [record["learning_rate"] for record in records]
            self.assertAlmostEqual(max(rates), 0.1, delta=0.01)
            self.assertLess(rates[-1], 0.01)

    def test_the_loss_of_a_record_is_that_of_all_parts(self):
        losses = {}
        for loss in (loops.weighted, loops.summed):
            server, _ = self.attached(lambda t: loops.plain(t, loss))
            records = server.of("record")
            t = Training(sizes=[sum(record["takes"]) for record in records])
            expected = []

            def noted(model, *batch):
                value = loss(model, *batch)
                expected.append(value.item())
                return value

            loops.plain(t, noted)
            losses = [record["loss"] for record in records]
            torch.testing.assert_close(torch.tensor(losses), torch.tensor(expected), rtol=1e-5, atol=1e-6)

    def test_what_cannot_be_exact_is_refused(self):
        by_loss = {loops.contrastive: "examples-interact", loops.ranked: "examples-interact",
                   loops.standardized: "examples-interact", loops.centered: "examples-interact",
                   loops.balanced: "examples-interact", loops.penalized: "unknown-loss",
                   loops.divided_by_size: "unchecked-rows", loops.by_numpy: "unchecked-rows",
                   loops.own_function: "unchecked-rows"}
        cases = {loss.__name__: (lambda t, loss=loss: loops.plain(t, loss), code) for loss, code in by_loss.items()}
        cases.update({loop.__name__: (loop, code) for loop, code in {
            loops.norm: "examples-interact", loops.lbfgs: "unknown-loop", loops.two_optimizers: "unknown-loop",
            loops.accumulates: "own-accumulation", loops.cleared_by_hand: "unknown-loop",
            loops.scaled_by_hand: "unknown-loop", loops.averages_weights: "kept-state",
            loops.grad_scaler: "unknown-loop", loops.hooks_on_gradients: "unknown-loop",
            loops.keeps_graph: "unknown-loop"}.items()})
        for name, (loop, code) in cases.items():
            with self.subTest(name):
                server, t = self.attached(loop, batch=BATCH)
                clamps = [event["detail"] for event in server.events("clamp")]
                self.assertEqual([(clamp["field"], clamp["reason"]["code"]) for clamp in clamps],
                                 [("accumulate", code)], clamps)
                self.assertNotIn("accumulate", server.of("hello")[-1]["can"])
                takes = [record["takes"] for record in server.of("record")]
                whole = self.alone(loop, sizes=None)
                if all(len(take) == 1 for take in takes) and {take[0] for take in takes} == {BATCH}:
                    self.assertEqual(digest(t.model), digest(whole.model))
                else:
                    self.assertIn(name, ("penalized", "divided_by_size", "accumulates"), takes)


if __name__ == "__main__":
    unittest.main()
