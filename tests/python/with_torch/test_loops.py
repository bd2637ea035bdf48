"""Programs that know nothing of BatchScope, attached to through the calls of torch."""

import json
import os
import subprocess
import sys
import unittest

from torch_programs import HERE, LONG, WithRun

from loops import BATCH, EXAMPLES, LOOPS
from pretended_batchscope import PATIENCE, Program, Server

WATCHED = {"by_hand": "no-loader", "closures": "no-loader", "same_loader_twice": "two-passes",
           "streams": "iterable-dataset", "pairs": "own-batch-sampler", "prefetched": "other-thread",
           "wraps_batches": "own-batch-sampler", "grows_its_batch": "own-batch-sampler",
           "grows_its_batch_in_an_epoch": "own-batch-sampler"}
WITHOUT_SIZES = ("by_hand", "closures", "prefetched", "grows_its_batch_in_an_epoch")
# The size of these follows one step later, because the next batch is fetched before the present one is used.
AHEAD = ("one_ahead", "accelerated")
# One of each kind; the others are tried by `make soak`.
KINDS = {"plain", "two_networks", "by_hand", "evaluates_inside", "leaves_early", "prefetched", "accelerated",
         "wraps_batches", "grows_its_batch_in_an_epoch", "sharpness_aware", "takes_gradients"}


def tried(names):
    return [name for name in names if LONG or name in KINDS]


class Loops(WithRun):
    def trained(self, name, *options, server=None):
        """What a loop says of itself, alone or with a pretended BatchScope."""
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if server is not None:
            environment.update(server.environment(), BATCHSCOPE_ATTACH="auto")
        file = os.path.join(self.folder.name, "said")
        done = subprocess.run([sys.executable, os.path.join(HERE, "loops.py"), *name.split(), *options, "--file", file],
                              env=environment, capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file) as lines:
            said = [json.loads(line) for line in lines]
        return said[0] if len(said) == 1 else {one["name"]: one for one in said}

    def attached(self, name, *options, **asked):
        server = Server(**asked)
        self.addCleanup(server.kill)
        return self.trained(name, *options, server=server), server

    def test_attaching_changes_nothing_and_sees_every_step(self):
        for options in ([], ["--workers", "2"]):
            names = tried(LOOPS) if not options else ["plain", "fresh_loaders", "ends_its_workers",
                                                      *(["leaves_early"] if LONG else [])]
            alone = self.trained(" ".join(names), *options)
            for name in names:
                with self.subTest(name=name, options=options):
                    said, server = self.attached(name, *options)
                    self.assertEqual(said, alone[name])
                    records = server.of("record")
                    self.assertEqual([record["step"] for record in records], [*range(1, said["steps"] + 1)])
                    self.assertTrue(all("loss" in record for record in records))
                    if name != "without_optimizer":
                        self.assertTrue(all("learning_rate" in record for record in records))
                    if name not in WITHOUT_SIZES:
                        self.assertEqual([record["takes"] for record in records], said["takes"])
                    self.check_level(server, WATCHED.get(name))

    def check_level(self, server, reason):
        can = set(server.of("hello")[-1]["can"])
        self.assertEqual("batch" in can, reason is None)
        self.assertEqual([event["detail"]["reason"]["code"] for event in server.events("level")],
                         [reason] if reason else [])

    def test_what_is_seen_of_a_step(self):
        _, server = self.attached("clips_and_schedules")
        records = server.of("record")
        self.assertTrue(all(record["grad_norm"] > 0 for record in records))
        self.assertLess(records[0]["learning_rate"], max(record["learning_rate"] for record in records))
        self.assertEqual(records[-1]["examples_seen"], 2 * EXAMPLES)
        self.assertEqual(records[-1]["epoch"], 2.0)
        self.assertTrue(all("allocated_bytes" in record for record in records[:16]))
        self.assertEqual([record["step"] for record in records], list(range(1, len(records) + 1)))
        hello = server.of("hello")[-1]
        self.assertEqual((hello["settings"]["optimizer"], hello["examples"], hello["batch"]),
                         ("AdamW", EXAMPLES, BATCH))
        _, server = self.attached("two_networks")
        last = server.of("record")[-1]
        self.assertEqual((last["learning_rate"], last["more"]["learning_rate_2"]), (2e-3, 1e-3))
        self.assertGreater(last["loss"], last["more"]["loss_2"])  # two losses of the one, and one of the other

    def test_a_loss_is_that_before_it_was_scaled_or_divided(self):
        losses = {}
        for name in ("plain", "scales", "accumulates", "by_hand"):
            _, server = self.attached(name, "--epochs", "1")
            losses[name] = [record["loss"] for record in server.of("record")]
        self.assertEqual(losses["plain"][:3], losses["scales"][:3])
        self.assertEqual(losses["scales"][3], "Infinity")
        for name in ("accumulates", "by_hand"):
            self.assertTrue(all(0.4 < loss < 1.0 for loss in losses[name]), losses[name])

    def test_the_size_follows_at_the_very_next_step(self):
        def size(step):
            return 3 + 5 * step % 17

        names = tried(("plain", "accumulates", "fresh_loaders", "leaves_early", "two_networks", "evaluates_inside",
                       "takes_gradients"))
        names += tried(AHEAD)
        for name, *options in (*((name,) for name in names), ("plain", "--workers", "2")):
            with self.subTest(name=name, options=options):
                said, server = self.attached(name, *options, welcome={"batch": size(1), "hold": 1},
                                             answer=lambda record: {"batch": size(record["step"] + 1)})
                takes = [record["takes"] for record in server.of("record")]
                self.assertEqual(takes, said["takes"])
                if name != "leaves_early":
                    self.assertEqual(sorted(said["ids"]), sorted([*range(EXAMPLES)] * 2))
                if name not in AHEAD:
                    followed = [step for step in range(1, len(takes) + 1) if size(step) in takes[step - 1]]
                    tails = [step for step in range(1, len(takes) + 1)
                             if sum(map(sum, takes[:step])) % EXAMPLES == 0]
                    self.assertEqual(sorted({*followed, *tails}), [*range(1, len(takes) + 1)])
                    self.assertGreater(len(followed), 3)

    def test_an_evaluation_keeps_its_size(self):
        said, _ = self.attached("evaluates_inside", welcome={"batch": 40})
        self.assertEqual((said["takes"], said["evaluated"]), ([[40]] * 10, [25, 25] * 2))
        said, server = self.attached("evaluates_apart", welcome={"batch": 40})
        self.assertEqual([record["takes"] for record in server.of("record")], [[40]] * 10)
        self.assertEqual(said["evaluated"], [30, 20, 30, 20])
        self.assertEqual({hello["examples"] for hello in server.of("hello")}, {EXAMPLES})

    def test_a_loader_beside_another_one_keeps_their_ratio(self):
        said, server = self.attached("beside_a_cycle", welcome={"batch": 40})
        self.assertEqual((said["takes"], said["evaluated"]), ([[40]] * 10, [20] * 10))
        self.assertEqual({hello["examples"] for hello in server.of("hello")}, {EXAMPLES})

    def test_a_size_that_would_not_fit_is_not_taken_over(self):
        """The sizes double with every third step, or jump, far beyond what the budget has room for."""
        for megabytes, size in ((100, lambda step: 16 * 2 ** (step // 3)), (20, lambda step: 16 if step < 3 else 2000)):
            with self.subTest(megabytes=megabytes):
                limit = megabytes * 1_000_000
                said, server = self.attached("wide", "--epochs", "1",
                                             welcome={"batch": 16, "hold": 1, "limit_bytes": limit},
                                             answer=lambda record, size=size: {"batch": size(record["step"])})
                largest = max(takes[0] for takes in said["takes"])
                self.assertGreater(largest, megabytes * 5)
                self.assertEqual(sorted(said["ids"]), [*range(4000)])
                peak = max(record.get("peak_bytes", 0) for record in server.of("record"))
                self.assertGreater(peak, 0.8 * limit)
                self.assertLessEqual(peak, limit)
                clamps = [event["detail"] for event in server.events("clamp")]
                self.assertEqual(clamps[-1]["reason"]["code"], "would-not-fit")
                self.assertAlmostEqual(clamps[-1]["taken"], largest, delta=largest / 5)
                self.assertLess(len(clamps), 5)

    def of_ranks(self, server=None):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if server is not None:
            self.addCleanup(server.kill)
            environment.update(server.environment(), BATCHSCOPE_ATTACH="auto")
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
                               os.path.join(HERE, "loop_ranks.py")], env=environment, capture_output=True, text=True,
                              timeout=4 * PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_ranks_have_the_same_size_at_each_step(self):
        alone, server = self.of_ranks(), Server()
        self.assertEqual(self.of_ranks(server), alone)
        self.assertEqual(len([record for record in server.of("record") if "loss" in record]), len(alone[0]["takes"]))
        server = Server(welcome={"batch": 3, "hold": 1}, answer=lambda record: {"batch": 3 + record["step"] % 7})
        one, two = self.of_ranks(server)
        self.assertEqual(one["digest"], two["digest"])
        self.assertEqual(one["takes"], two["takes"])
        self.assertEqual(one["takes"][:8], [3, 4, 5, 6, 7, 8, 9, 3])
        self.assertEqual(sorted({*one["ids"], *two["ids"]}), [*range(203)])

    def test_rates_go_on_by_progress(self):
        """A scheduler that was made for the steps of an epoch of 16 does not run out with batches of 4."""
        said, server = self.attached("clips_and_schedules", welcome={"batch": 4})
        self.assertEqual(said["steps"], 100)
        rates = [record["learning_rate"] for record in server.of("record")]
        self.assertAlmostEqual(max(rates), 1e-2, delta=1e-4)
        self.assertLess(rates[-1], 1e-4)
        self.assertEqual(server.events("scheduler")[0]["detail"]["follows"], "progress")

    def test_steps_are_told_before_what_may_take_long(self):
        """Short steps are told together, but not after an evaluation that comes between them, or another thing that is
        told.
        """
        server = Server()
        self.addCleanup(server.kill)
        program = Program(
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset
            torch.manual_seed(0)
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            data = TensorDataset(torch.randn(40, 4))
            held_out = DataLoader(data, batch_size=8)
            for epoch in range(2):
                for x, in DataLoader(data, batch_size=4):
                    optimizer.zero_grad()
                    model(x).square().mean().backward()
                    optimizer.step()
                with torch.no_grad():
                    for x, in held_out:
                        model(x)
                        if epoch == 0:
                            input()
            """, dict(server.environment(), BATCHSCOPE_ATTACH="auto"))
        self.addCleanup(program.kill)
        server.wait_for(lambda message: message["type"] == "record" and message["step"] == 10)
        self.assertEqual([record["step"] for record in server.of("record")], [*range(1, 11)])
        for _ in range(5):
            program.tell()
        self.assertEqual(program.end(), "")
        self.assertEqual([record["step"] for record in server.of("record")], [*range(1, 21)])

    def test_epochs_of_one_batch_that_is_used_after_the_next_was_asked_for(self):
        """As accelerate's loaders do it, with an evaluation of one batch after each, too."""
        server = Server()
        self.addCleanup(server.kill)
        program = Program(
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset

            def ahead(loader):
                batches = iter(loader)
                present = next(batches)
                for following in batches:
                    yield present
                    present = following
                yield present

            torch.manual_seed(0)
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            data = DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=64, shuffle=True)
            held_out = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=64)
            for epoch in range(4):
                for x, in ahead(data):
                    optimizer.zero_grad()
                    model(x).square().mean().backward()
                    optimizer.step()
                for x, in ahead(held_out):
                    with torch.no_grad():
                        model(x)
            """, dict(server.environment(), BATCHSCOPE_ATTACH="auto"))
        self.addCleanup(program.kill)
        self.assertEqual(program.end(), "")
        records = server.of("record")
        self.assertEqual([record["takes"] for record in records], [[32]] * 4)
        self.assertEqual([record["examples_seen"] for record in records], [32, 64, 96, 128])
        self.assertEqual(server.events("clamp") + server.events("level"), [])

    def test_a_stop_ends_the_program(self):
        server = Server(answer=lambda record: {"batch": BATCH}, welcome={"hold": 1})
        self.addCleanup(server.kill)
        send = server._send

        def stop_after_the_fifth(connection, message):
            send(connection, {"type": "stop"} if message.get("step", 0) > 5 else message)

        server._send = stop_after_the_fifth
        environment = dict(os.environ, **server.environment(), BATCHSCOPE_ATTACH="auto")
        done = subprocess.run([sys.executable, os.path.join(HERE, "loops.py"), "plain"], env=environment,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(server.of("bye")[0]["status"], "stopped")
        self.assertEqual(len(server.of("record")), 5)


if __name__ == "__main__":
    unittest.main()
