"""Several ranks over gloo on the CPU: transformers.Trainer, started by torchrun as a user starts it."""

import unittest
from itertools import chain

from torch_programs import in_soak

from test_ranks import WithRanks


def grows(record):
    """The document's schedule: one more every five steps."""
    return {"batch": record["batch"] + (record["step"] % 5 == 0)}


# Examples of rank 0 by step, for (processes, drop_last), as the rules of an epoch give them.
TAKES = {
    (1, True): [[1, 1, 1, 1, 1, 2, 2], [2, 2, 2, 3], [3, 3, 3], [3, 4], [4, 4], [4, 4], [5, 5], [5, 5], [5], [6]],
    (1, False): [[1, 1, 1, 1, 1, 2, 2, 1], [2, 2, 3, 3], [3, 3, 3, 1], [4, 4, 2], [4, 5, 1], [5, 5], [5, 5], [6, 4],
                 [6, 4], [7, 3]],
    (2, True): [[1, 1, 1, 1, 1], [2, 2], [2, 2], [2, 3], [3], [3], [3], [3], [4], [4]],
    (2, False): [[1, 1, 1, 1, 1], [2, 2, 1], [2, 2, 1], [3, 2], [3, 2], [4, 1], [4, 1], [4, 1], [5], [5]],
}


class Demos(WithRanks):
    program = "ranks_trainer.py"

    @in_soak
    def test_takes_coverage_and_epochs_are_the_documents(self):
        for (ranks, drop_last), epochs in TAKES.items():
            with self.subTest(ranks=ranks, drop_last=drop_last):
                server = self.server(answer=grows, welcome={"hold": 1})
                child = self.start("drop_last" if drop_last else "use_last", ranks, server)
                lines = list(chain(*self.lines(child)))
                self.assertEqual([line["takes"] for line in lines], [list(chain(*epochs))] * ranks)
                self.check_records([record for record in server.of("record") if "takes" in record], epochs, ranks)
                self.check_end(lines[0], epochs)

    def check_records(self, records, epochs, ranks):
        whole = 0
        records = iter(records)
        for epoch in epochs:
            seen = 0
            for taken in epoch:
                record = next(records)
                seen, whole = seen + taken * ranks, whole + taken * ranks
                self.assertEqual(record["takes"], [taken])
                self.assertEqual(record["effective_batch"], taken * ranks)
                self.assertEqual((record["train_coverage"], record["epoch"]), (seen / 10, whole / 10))

    def check_end(self, line, epochs):
        """The Trainer's epoch is 10 and the rate falls to its end, however many steps that took."""
        steps = sum(map(len, epochs))
        self.assertEqual((line["steps"], line["max_steps"][-1], line["epochs"][-1]), (steps, steps, 10.0))
        before = line["epochs"][-2] / 10  # the last step has the rate of where it began
        self.assertAlmostEqual(line["rates"][-1], line["rates"][0] * (1 - before))


class OutOfMemory(WithRanks):
    program = "ranks_trainer.py"

    def test_a_rank_that_is_short_of_memory_changes_no_gradient(self):
        server = self.server()
        first, second = self.lines(self.start("memory", server=server))
        for line in [*first, *second]:
            with self.subTest(**{name: line[name] for name in ("case", "failed", "rank")}):
                self.assertLess(line["difference"], 1e-6)
        self.assertEqual([line["errors"] for line in first], [0] * 8)
        self.assertTrue(all(line["errors"] > 0 for line in second if line["failed"]))
        self.assertEqual({event["detail"]["rank"] for event in server.events("oom")}, {1})

    def test_a_rank_without_an_example_changes_no_gradient(self):
        for lines in self.lines(self.start("tails", server=self.server())):
            for line in lines:
                with self.subTest(model=line["model"], rank=line["rank"]):
                    self.assertEqual(len(line["difference"]), 2)
                    self.assertLess(max(line["difference"]), 1e-6)


if __name__ == "__main__":
    unittest.main()
