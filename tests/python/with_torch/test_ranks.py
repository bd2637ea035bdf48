"""Several ranks over gloo on the CPU: plain loops, started by torchrun as a user starts them."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from itertools import chain

from torch_programs import HERE

from pretended_batchscope import CLIENT, PATIENCE, Server


class WithRanks(unittest.TestCase):
    program = "ranks_plain.py"

    def launcher(self, ranks):
        return ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]

    def start(self, what, ranks=2, server=None):
        environment = server.environment() if server else {**os.environ, "PYTHONPATH": CLIENT}
        environment.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
        errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open until the end of the test
        self.addCleanup(errors.close)
        child = subprocess.Popen([sys.executable, *self.launcher(ranks), os.path.join(HERE, self.program), what],
                                 env=environment, text=True, stdout=subprocess.PIPE, stderr=errors)
        child.errors = errors
        self.addCleanup(self.end, child)
        return child

    def end(self, child):
        if child.poll() is None:
            child.terminate()  # torchrun ends its ranks
        child.wait(PATIENCE)
        child.stdout.close()

    def lines(self, child, code=0):
        """What each rank has told, after the end."""
        told = [json.loads(line) for line in child.stdout.read().splitlines() if line.startswith('{"rank"')]
        child.wait(PATIENCE)
        child.errors.seek(0)
        errors = child.errors.read()
        self.assertEqual(child.returncode != 0, code != 0, errors)
        ranks = sorted({line["rank"] for line in told})
        return [[line for line in told if line["rank"] == rank] for rank in ranks]

    def server(self, **options):
        server = Server(**options)
        self.addCleanup(server.kill)
        return server


class Divided(WithRanks):
    def test_every_example_is_taken_once_an_epoch(self):
        for ranks in (2, 3):
            told = self.lines(self.start("divide", ranks, self.server()))
            self.assertEqual([len(lines) for lines in told], [len(told[0])] * ranks)
            orders = {}
            for at_once in zip(*told):
                first = at_once[0]
                if "case" in first:
                    case, taken = first, {}
                elif "end" in first:
                    with self.subTest(ranks=ranks, case=case["case"]):
                        self.check_epochs(case, taken, ranks)
                        self.assertEqual({line["seen"] for line in at_once},
                                         {sum(len(block) for blocks in taken.values() for block in blocks)})
                        for epoch, blocks in taken.items():
                            own = list(chain(*blocks))
                            order = orders.setdefault(epoch, own)  # the same whatever the sizes are
                            shorter = min(len(order), len(own))
                            self.assertEqual(order[:shorter], own[:shorter])
                else:
                    self.assertEqual(len({line["loss"] for line in at_once}), 1)
                    taken.setdefault(first["epoch"], []).append(self.block(at_once))

    def block(self, at_once):
        """The examples of a step in their order: each rank has every R-th of a micro batch."""
        examples = [iter(line["ids"]) for line in at_once]
        self.assertLessEqual(max(len(line["ids"]) for line in at_once) - min(len(line["ids"]) for line in at_once), 1)
        block = []
        while True:
            for own in examples:
                example = next(own, None)
                if example is None:
                    return block
                block.append(example)

    def check_epochs(self, case, taken, ranks):
        batch, step = 1, 0
        for epoch in sorted(taken):
            left = 11
            for block in taken[epoch]:
                wanted = batch * ranks * case["accumulate"]
                if case["drop_last"]:
                    wanted = min(wanted, left // (batch * ranks) * batch * ranks)
                self.assertEqual(len(block), min(wanted, left))
                left -= len(block)
                step += 1
                batch = min(batch + step % 2, 11 // ranks)
            self.assertLess(left, batch * ranks if case["drop_last"] else 1)
            examples = list(chain(*taken[epoch]))
            self.assertEqual(len(set(examples)), len(examples))

    def test_the_programs_own_schedule_is_the_documents_trace(self):
        first, second = self.lines(self.start("schedule"))
        takes = [len(line["ids"]) for line in first if "ids" in line]
        self.assertEqual(takes, [1, 1, 1, 1, 1, 2, 2, 1, 2, 2, 1, 3, 2, 3, 2])
        self.assertEqual([len(line["ids"]) for line in second if "ids" in line], takes)
        self.assertEqual((first[-1]["asked"], second[-1]["asked"]), (15, 0))


class Steered(WithRanks):
    def test_all_ranks_follow_at_the_same_step(self):
        """Answers, an edit, a pause with one step, and the stop."""
        def answer(record):
            if record["step"] == 4:
                server.send(type="edit", id=7, accumulate=2)
            if record["step"] == 6:
                server.send(type="pause")
            return {"batch": record["step"] + 1}

        server = self.server(welcome={"hold": 1, "batch": 2}, answer=answer)
        child = self.start("steered", server=server)
        server.wait_for(lambda m: m.get("kind") == "status")
        server.send(type="step")
        server.wait_for(lambda m: m["type"] == "record" and m["step"] == 7)
        server.send(type="stop")
        first, second = self.lines(child)
        self.assertEqual([line["sizes"] for line in first], [line["sizes"] for line in second])
        sizes = [line["sizes"] for line in first]
        self.assertEqual(sizes[:4], [[2], [2], [3], [4]])
        self.assertIn(sizes[4], ([5], [5, 5]))  # the edit and the answer are on their way together
        self.assertEqual(sizes[5:], [[6, 6], [7, 7]])
        records = [record for record in server.of("record") if "takes" in record]
        self.assertEqual([record["step"] for record in records], [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual([record["effective_batch"] for record in records], [2 * sum(size) for size in sizes])
        self.assertEqual(records[-1]["examples_seen"], 2 * sum(map(sum, sizes)))
        self.assertEqual([m["status"] for m in server.of("bye")], ["stopped", "stopped"])
        hello = [m for m in server.of("hello") if m["rank"] == 0][-1]
        self.assertEqual((hello["world"], hello["examples"]), (2, 4000))
        self.assertLessEqual({"batch", "accumulate", "rate", "split", "stop"}, set(hello["can"]))
        self.assertEqual({tuple(m["can"]) for m in server.of("hello") if m["rank"] == 1}, {("report",)})

    def test_a_later_training_has_the_size_that_was_told(self):
        told = self.lines(self.start("twice", server=self.server(welcome={"batch": 4, "hold": 0})))
        self.assertEqual([[line["sizes"] for line in lines] for lines in told], [[[4]] * 8] * 2)

    def test_a_size_fits_if_it_fits_on_all_ranks(self):
        sizes = [{"batch": 3, "steps": 2}, {"batch": 4, "steps": 2}, {"batch": 2, "steps": 1}]
        server = self.server(welcome={"hold": 1},
                             answer=lambda record: server.send(type="probe", sizes=sizes, then="stop") or {})
        first, second = self.lines(self.start("probes", server=server))
        probed = [(m["detail"]["batch"], m["detail"]["fits"]) for m in server.events("probe")]
        self.assertEqual(probed, [(3, True), (4, False), (2, True)])
        self.assertEqual([line["sizes"] for line in first], [line["sizes"] for line in second])

    def test_what_cannot_be_done_together_says_so(self):
        server = self.server()
        for lines in self.lines(self.start("refusals", server=server)):
            model, sizes, together = lines
            self.assertTrue(model["own_gradients"])
            self.assertIn("another batch size on some ranks: 2 on rank 0, 3 on rank 1", sizes["sizes"])
            self.assertFalse(together["together"])
        level, = server.events("level")
        self.assertIn("DistributedSampler", level["detail"]["reason"]["text"])
        self.assertEqual(server.events("watched")[0]["detail"]["reason"]["text"],
                         "a Sequential is no DistributedDataParallel model")
        hello = [m for m in server.of("hello") if m["rank"] == 0][-1]
        self.assertEqual(hello["can"], ["report", "pause"])


class Faults(WithRanks):
    def test_a_rank_that_is_short_of_memory_changes_no_gradient(self):
        server = self.server()
        first, second = self.lines(self.start("memory", server=server))
        self.assertEqual([line["examples"] for line in first], [[4, 4], [2, 1], [5, 4], [1, 0], [5, 4]])
        for line in [*first, *second]:
            with self.subTest(case=line["case"], rank=line["rank"]):
                self.assertLess(line["difference"], 1e-6)
                self.assertLess(line["loss"], 1e-6)
        self.assertEqual([line["errors"] for line in first], [0] * 5)
        self.assertEqual([line["errors"] for line in second], [2, 0, 0, 0, 0])  # a limit is kept
        events = server.events("oom")
        self.assertEqual([event["detail"]["attempted_batch"] for event in events], [4, 2])
        self.assertEqual({event["detail"]["rank"] for event in events}, {1})

    def test_a_rank_that_cannot_go_on_ends_all(self):
        server = self.server()
        first, second = self.lines(self.start("gives_up", server=server))
        self.assertEqual(first[0]["error"], "batchscope: rank 1 has run out of memory")
        self.assertTrue(second[0]["memory"])
        self.assertEqual(server.events("oom")[-1]["detail"]["outcome"], "not-survived")

    def test_a_rank_that_dies_ends_all(self):
        server = self.server()
        first, _ = self.lines(self.start("dies", server=server), code=1)
        self.assertIn(first[-1]["step"], (3, 4))
        for bye in server.of("bye"):  # none if torchrun was faster
            self.assertEqual((bye["status"], bye["reason"]),
                             ("failed", "RuntimeError: another rank of this training has ended"))


if __name__ == "__main__":
    unittest.main()
