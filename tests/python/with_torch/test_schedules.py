"""Learning-rate schedules of programs that know nothing of BatchScope, whose batch size is another one."""

import json
import os
import subprocess
import sys
import unittest

from torch_programs import HERE

from pretended_batchscope import PATIENCE, Server
from schedule_loops import BATCH, LOOPS

# These count their steps: the examples of a pass that is left after a batch are as many as that has.
LEAVES = ("one_batch_of_each_pass", "left_after_one_batch")
# What is learnt in a training before it may not be needed: each of these is the first one, too.
FIRST = ("after_each_pass", "before_each_update", "gradients_of_four_batches", "one_batch_of_each_pass",
         "after_a_step_without_data")


class Schedules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone = cls.trained(LOOPS)

    @staticmethod
    def trained(names, server=None):
        """What the loops say of themselves, alone or with a pretended BatchScope."""
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if server is not None:
            environment.update(server.environment(), BATCHSCOPE_ATTACH="auto")
        done = subprocess.run([sys.executable, os.path.join(HERE, "schedule_loops.py"), *names], env=environment,
                              capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return {said["name"]: said for said in map(json.loads, done.stdout.splitlines())}

    def attached(self, names, **asked):
        server = Server(**asked)
        self.addCleanup(server.kill)
        return self.trained(names, server), server

    def check_rates(self, said):
        for name, one in said.items():
            with self.subTest(name=name):
                self.assertEqual(one["rates"], self.alone[name]["rates"])
                if name not in LEAVES:
                    self.assertEqual(one["examples"], self.alone[name]["examples"])

    def test_its_own_size_changes_nothing(self):
        said, server = self.attached(LOOPS)
        self.assertEqual(said, self.alone)
        self.assertEqual(server.events("scheduler"), [])

    def test_another_size_leaves_the_rates_at_the_end_of_each_pass(self):
        for batch in (BATCH // 2, BATCH + BATCH // 2, 4 * BATCH):
            with self.subTest(batch=batch):
                said, server = self.attached(LOOPS, welcome={"batch": batch})
                self.assertNotEqual(said["after_each_pass"]["updates"], self.alone["after_each_pass"]["updates"])
                self.check_rates(said)
                last = server.of("record")[-1]
                # Those of a step without data count as the batch before.
                seen = sum(one["examples"] for one in said.values())
                self.assertAlmostEqual(last["examples_seen"], seen, delta=batch)
                self.assertEqual({event["detail"]["field"] for event in server.events("clamp")} - {"batch"}, set())
        for name in FIRST:
            said, server = self.attached([name], welcome={"batch": BATCH + BATCH // 2})
            self.check_rates(said)
            self.assertEqual(server.events("level"), [])
            takes = next(record["takes"] for record in server.of("record") if record.get("takes"))
            self.assertEqual(takes[0], BATCH + BATCH // 2)

    def test_a_size_that_changes_all_the_time_leaves_them_too(self):
        names = [name for name in LOOPS if name not in LEAVES]
        for first in (BATCH, 5):
            said, _ = self.attached(names, welcome={"batch": first, "hold": 1},
                                    answer=lambda record: {"batch": 3 + 7 * record["step"] % 41})
            self.check_rates(said)


if __name__ == "__main__":
    unittest.main()
