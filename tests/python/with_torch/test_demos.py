"""The demos of the AdaptiveBatchSizeTrainer's document: a stock Trainer, grown by a schedule of batchscope-cli run."""

import os
import sys
import unittest

from torch_programs import HERE, WithCli

from test_ranks_trainer import TAKES


class Demos(WithCli):
    def test_a_schedule_makes_the_documents_takes(self):
        for run, ((ranks, drop_last), epochs) in enumerate(TAKES.items(), 1):
            with self.subTest(ranks=ranks, drop_last=drop_last):
                launcher = [] if ranks == 1 else ["-m", "torch.distributed.run", "--standalone",
                                                  f"--nproc-per-node={ranks}"]
                self.cli("run", "--quiet", "--attach", "auto", "--batch", "1", "--schedule",
                         "step:interval=5,increment=1", "--", sys.executable, *launcher,
                         os.path.join(HERE, "stock_trainer.py"), "drop_last" if drop_last else "use_last")
                self.check_series(str(run), epochs, ranks)
                events = [event["kind"] for event in self.cli("show", str(run))["events"]]
                self.assertNotIn("differs", events)
                self.assertNotIn("not-followed", events)

    def check_series(self, run, epochs, ranks):
        """What each step took of all examples, and how much of an epoch and of the training that was."""
        shown = self.cli("show", run, "--series", "effective_batch,train_coverage,epoch")
        series = {name: [value for _, value in points] for name, points in shown["series"].items()}
        self.assertEqual(series["effective_batch"], [take * ranks for takes in epochs for take in takes])
        coverage = [sum(takes[:count]) * ranks / 10 for takes in epochs for count in range(1, len(takes) + 1)]
        self.assertEqual([round(value, 9) for value in series["train_coverage"]], coverage)
        self.assertAlmostEqual(series["epoch"][-1], sum(map(sum, epochs)) * ranks / 10)


if __name__ == "__main__":
    unittest.main()
