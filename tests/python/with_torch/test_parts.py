"""Batches that are handed out in parts to loops that know nothing of BatchScope."""

import os
import subprocess
import sys
import unittest
from itertools import product
from random import Random
from unittest import mock

from torch_programs import HERE, WithRun, digest

import torch

import batchscope
import parts_loops as loops
from batchscope import hooks
from parts_loops import BATCH, EXAMPLES, Training
from pretended_batchscope import PATIENCE, Server

ATTACHED = hooks.Hooks()
ATTACHED.install()
PART, PARTS = 4, 3


class Parts(WithRun):
    def tearDown(self):
        batchscope.run._current = ATTACHED.loop = None

    def attached(self, loop, data=None, settings=None, answer=None, **welcome):
        """A loop that is attached to; the server, and the training."""
        server, _ = self.connect(welcome={"batch": PART, "accumulate": PARTS, **welcome}, answer=answer)
        ATTACHED.loop = None
        t = Training(data=data, **(settings or {}))
        loop(t)
        ATTACHED.loop.end()
        self.closed(server)
        batchscope.run._current = ATTACHED.loop = None
        return server, t

    def alone(self, loop, data=None, **told):
        t = Training(data=data, **told)
        loop(t)
        ATTACHED.loop = batchscope.run._current = None
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
            t = Training()
            optimizer = loops.sgd(t.model)
            scheduler, expected = t.scheduler(optimizer), []
            for _ in range(2 * EXAMPLES // BATCH):
                expected.append(scheduler.get_last_lr()[0])
                optimizer.step()
                scheduler.step()
            done = [(record["examples_seen"] - sum(record["takes"])) // BATCH for record in records]
            for step in range(4, len(records)):
                self.assertAlmostEqual(rates[step], expected[done[step]], places=9)

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
            loops.averages_anew: "kept-state", loops.compiled: "unchecked-rows",
            loops.grad_scaler: "unknown-loop", loops.hooks_on_gradients: "unknown-loop",
            loops.keeps_graph: "unknown-loop", loops.takes_gradients: "unknown-loop"}.items()})
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

    def assert_batches(self, loop, t, batches):
        """The weights are those of updates with these examples."""
        self.assert_same(t, self.alone(loop, batches=batches))

    def test_a_pass_that_is_left_in_the_middle_of_a_batch(self):
        for after in (7, 8, 9):
            with self.subTest(after=after):
                server, t = self.attached(lambda t: loops.leaves(t, after))
                batches, left, row = [], after, 0
                for takes in [record["takes"] for record in server.of("record")]:
                    batches.append([*range(row, row + sum(takes))])
                    left, row = left - len(takes), row + sum(takes)
                    if left == 0:
                        left, row = after, 0
                self.assertEqual(row, 0)
                self.assertIn([PART] * PARTS, [record["takes"] for record in server.of("record")])
                self.assert_batches(lambda t: loops.leaves(t, -1), t, batches)

    def test_a_loop_that_goes_on_after_an_error(self):
        """The parts before and after it are an update; after one in a backward pass only those after it."""
        alone = [[number] for number in range(1, 5)]  # of the batches that are fetched: those of an update
        expected = {("loss", 6): [[5, 7]], ("loss", 7): [[5, 6]], ("loss", 8): [[5, 6, 7], [9, 10]],
                    ("backward", 6): [[7]], ("backward", 7): [], ("backward", 8): [[5, 6, 7], [9], [10]]}
        for ((where, at), around), clears_before in product(expected.items(), (True, False)):
            with self.subTest(at=at, where=where, clears_before=clears_before):
                server, t = self.attached(lambda t: loops.goes_on(t, where, at, clears_before))
                first = 8 if at < 8 else 11
                after = [[*range(number, min(number + PARTS, 31))] for number in range(first, 31, PARTS)]
                updates = alone + around + after
                self.assertEqual([record["takes"] for record in server.of("record")],
                                 [[PART] * len(update) for update in updates])
                batches = [[row for part in update for row in range(PART * (part - 1), PART * part)]
                           for update in updates]
                self.assert_batches(lambda t: loops.goes_on(t, "", 0), t, batches)
                dropped = [event["detail"]["reason"] for event in server.events("watched")]
                self.assertEqual([reason["code"] for reason in dropped],
                                 ["parts-dropped"] * (where == "backward" and at < 8))

    def test_a_loop_that_becomes_another_one(self):
        """Without its gradients, a part of a batch is no part of an update."""
        server, t = self.attached(loops.clears_otherwise_later)
        takes = [record["takes"] for record in server.of("record")]
        self.assertEqual(takes[4:], [[PART] * PARTS] * 5 + [[PART]] * (len(takes) - 9))
        codes = [event["detail"]["reason"]["code"] for kind in ("watched", "clamp") for event in server.events(kind)]
        self.assertEqual(codes, ["parts-dropped", "unknown-loop"])
        rows = [*range(EXAMPLES)] * 2
        updates, row = [], 0
        for number, take in enumerate(takes):
            row += PART if number == 9 else 0  # the part that was dropped
            updates.append(rows[row:row + sum(take)])
            row += sum(take)
        self.assertEqual(row, 2 * EXAMPLES)
        self.assert_batches(loops.plain, t, updates)

    def test_sizes_that_change_with_each_step(self):
        for seed in range(6):
            random = Random(seed)
            loss = random.choice([loops.ce, loops.weighted, loops.mse, loops.masked, loops.two_terms])

            def answer(record, random=random):
                return {"batch": random.randint(2, 9), "accumulate": random.randint(1, 5)}

            make = random.choice([loops.sgd, loops.adamw])

            def loop(t, loss=loss, make=make):
                loops.plain(t, loss, make=make)

            with self.subTest(seed=seed, loss=loss.__name__):
                server, t = self.attached(loop, hold=1, answer=answer)
                takes = [record["takes"] for record in server.of("record")]
                self.assertGreater(len({(len(take), take[0]) for take in takes if len(take) > 1}), 3, takes)
                self.assertEqual(sum(map(sum, takes)), 2 * EXAMPLES)
                self.assert_same(t, self.alone(loop, sizes=list(map(sum, takes))))

    def test_parts_of_one_example(self):
        server, t = self.attached(lambda t: loops.plain(t, loops.scaled), batch=1, accumulate=6)
        takes = [record["takes"] for record in server.of("record")]
        self.assertEqual(takes[:5], [[1], [2], [3], [2], [1] * 6])
        self.assert_same(t, self.alone(lambda t: loops.plain(t, loops.scaled), sizes=list(map(sum, takes))))

    def test_loaders_of_other_kinds(self):
        for settings in ({"shuffle": True}, {"num_workers": 2, "shuffle": True}, {"drop_last": True}):
            with self.subTest(**settings):
                server, t = self.attached(loops.keeps_batches, settings=settings)
                takes = [record["takes"] for record in server.of("record")]
                self.assertGreater(takes.count([PART] * PARTS), 12)
                self.assertEqual([len(part) for part in t.seen], [size for take in takes for size in take])
                rows = {tuple(row): number for number, row in enumerate(t.data.tensors[2].tolist())}
                seen = [rows[tuple(row)] for part in t.seen for row in part.tolist()]
                self.assertEqual(sorted(seen), sorted([*range(EXAMPLES)] * 2))
                batches = []
                for take in takes:
                    batches.append(seen[:sum(take)])
                    seen = seen[sum(take):]
                self.assert_batches(loops.keeps_batches, t, batches)

    def test_an_evaluation_between_the_parts(self):
        server, t = self.attached(loops.evaluates)
        takes = [record["takes"] for record in server.of("record")]
        self.assertGreater(takes.count([PART] * PARTS), 12)
        self.assert_same(t, self.alone(loops.plain, sizes=list(map(sum, takes))))

    def test_another_training_is_watched_anew(self):
        server, t = self.attached(loops.two_trainings)
        takes = [record["takes"] for record in server.of("record")]
        again = takes.index([PART], 10)
        self.assertGreater(takes[again:].count([PART] * PARTS), 12, (takes, server.of("event")))

        sizes = list(map(sum, takes))

        def loop(t):
            optimizer = loops.sgd(t.model)
            for number, batch in enumerate(t.passes()):
                done = sum(sizes[:number])
                optimizer = loops.adamw(t.model) if done == 2 * EXAMPLES else optimizer
                optimizer.zero_grad()
                loops.ce(t.model, *batch).backward()
                optimizer.step()

        self.assert_same(t, self.alone(loop, sizes=sizes))

    def test_rows_are_compared_again(self):
        with mock.patch("batchscope.in_parts._CHECKED_AGAIN", 2):
            server, t = self.attached(loops.plain)
            takes = [record["takes"] for record in server.of("record")]
            self.assertGreater(takes.count([PART] * PARTS), 12)
            self.assert_same(t, self.alone(loops.plain, sizes=list(map(sum, takes))))
            server, t = self.attached(lambda t: loops.centers_later(t, 22))
            takes = [record["takes"] for record in server.of("record")]
            self.assertEqual([event["detail"]["reason"]["code"] for event in server.events("clamp")],
                             ["examples-interact"])
            self.assertLess(takes.count([PART] * PARTS), 10)
            self.assertEqual(takes[-5:], [[PART]] * 5)

    def test_calls_that_cannot_be_held_back(self):
        server, t = self.attached(loops.bound_before, batch=BATCH)
        self.assertEqual([event["detail"]["reason"]["code"] for event in server.events("clamp")], ["unknown-loop"])
        self.assertEqual(digest(t.model), digest(self.alone(loops.bound_before).model))

    def test_a_batch_that_does_not_fit(self):
        """It has parts of even sizes, which keep the budget."""
        limit = 100_000_000
        server = Server(welcome={"batch": 16, "hold": 1, "limit_bytes": limit},
                        answer=lambda record: {"batch": min(1000, 16 * 2 ** (record["step"] // 2))})
        self.addCleanup(server.kill)
        records = self.records_of("wide", server)
        parted = [record["takes"] for record in records if len(record["takes"]) > 1]
        self.assertGreater(len(parted), 0, records)
        self.assertGreaterEqual(sum(parted[0]), 1000)
        self.assertTrue(all(max(takes) - min(takes) <= 1 for takes in parted))
        self.assertEqual(sum(sum(record["takes"]) for record in records), 7000)
        self.assertLessEqual(max(record.get("peak_bytes", 0) for record in records), limit)
        self.assertEqual(server.events("budget-not-kept"), [])

    def records_of(self, loop, server):
        """Of a loop that is a program of its own."""
        environment = {**os.environ, **server.environment(), "OMP_NUM_THREADS": "1", "BATCHSCOPE_ATTACH": "auto"}
        done = subprocess.run([sys.executable, os.path.join(HERE, "parts_loops.py"), loop], env=environment,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return server.of("record")

    def test_no_room_for_a_part_beside_the_gradients_of_another_one(self):
        """The batches are smaller instead, and that is said once for each size, not with each loader."""
        server = Server(welcome={"batch": 400, "hold": 0, "limit_bytes": 62_000_000})
        self.addCleanup(server.kill)
        records = self.records_of("heavy", server)
        self.assertTrue(all(len(record["takes"]) == 1 for record in records))
        self.assertEqual(sum(sum(record["takes"]) for record in records), 4 * 1200)
        self.assertEqual(server.events("oom") + server.events("watched"), [])
        clamps = [event["detail"]["taken"] for event in server.events("clamp")]
        self.assertTrue(0 < len(clamps) <= 3, clamps)


if __name__ == "__main__":
    unittest.main()
