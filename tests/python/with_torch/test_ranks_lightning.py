"""Two ranks over gloo on the CPU: lightning Trainer, started by torchrun, and by Lightning itself."""

import unittest
from itertools import chain

from torch_programs import in_soak

from test_ranks import WithRanks
from test_ranks_trainer import TAKES, grows


class Demo(WithRanks):
    program = "ranks_lightning.py"

    def launcher(self, ranks):
        return []  # the first process starts the second one

    @in_soak
    def test_every_example_is_taken_once_an_epoch_at_the_documents_sizes(self):
        server = self.server(answer=grows, welcome={"hold": 1})
        both = [line for line, in self.lines(self.start("demo", server=server))]
        epochs = TAKES[2, False]
        takes = list(chain(*epochs))
        for line in both:
            self.assertEqual([len(examples) for examples in line["examples"]], takes)
            self.assertEqual((line["steps"], line["epochs"]), (sum(map(len, epochs)), 10))
        step = 0
        for sizes in epochs:
            own = [line["examples"][step:step + len(sizes)] for line in both]
            self.assertEqual(sorted(chain(*chain(*own))), list(range(10)))
            step += len(sizes)
        records = [record for record in server.of("record") if "takes" in record]
        self.assertEqual([record["effective_batch"] for record in records], [2 * size for size in takes])
        self.assertEqual(records[-1]["epoch"], 10)
        self.assertEqual(len(server.events("lint")), 1)  # of the mean over the ranks that it logs

    def test_a_loader_that_is_not_divided_is_watched(self):
        server = self.server()
        both = [line for line, in self.lines(self.start("watched", server=server))]
        self.assertEqual([line["steps"] for line in both], [2, 2])
        reason, = [event["detail"]["reason"] for event in server.events("level")]
        self.assertIn("neither a DistributedSampler nor accelerate's division", reason["text"])
        self.assertEqual({hello["rank"] for hello in server.of("hello")}, {0, 1})


class OutOfMemory(WithRanks):
    program = "ranks_lightning.py"

    def test_a_rank_that_is_short_of_memory_changes_no_gradient(self):
        server = self.server()
        first, second = self.lines(self.start("memory", server=server))
        for line in [*first, *second]:
            with self.subTest(**{name: line[name] for name in ("accumulation", "rows", "rank")}):
                self.assertLess(line["difference"], 1e-6)
        self.assertEqual([line["errors"] for line in first], [0] * 4)
        self.assertEqual([line["errors"] > 0 for line in second], [False, True] * 2)
        self.assertEqual({event["detail"]["rank"] for event in server.events("oom")}, {1})


if __name__ == "__main__":
    unittest.main()
