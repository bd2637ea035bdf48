"""The line protocol of the client: programs that only pretend to train, so no torch is needed."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

from pretended_batchscope import CLIENT, Program, Server, spilled

STEPS = """
    import batchscope, sys
    run = batchscope.start(name="pretended", config={"lr": 0.1})
    for step in range(1, int(sys.stdin.readline()) + 1):
        run.report(step, loss=1 / step, batch=16, extra=step)
"""

# Reports a step for each line that it reads, and says so.
STEP_BY_STEP = """
    import batchscope, sys
    run = batchscope.start()
    step = 0
    for line in sys.stdin:
        step += 1
        run.report(step, loss=step)
        print(step)
"""

# Through a loader that only pretends: sizes without torch.
PRETENDED_LOADER = """
    import batchscope, sys
    from pretended_loader import Sizes
"""


# Takes everything from one region and gives nothing back.
ALLOCATOR = r"""
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
static char *next, *end;
void *malloc(size_t size) {
  if (!next) {
    next = mmap(0, 1 << 29, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    end = next + (1 << 29);
  }
  size = (size + 15) / 16 * 16;
  if (size + 16 > (size_t)(end - next))
    return 0;
  size_t *block = (size_t *)next;
  *block = size;
  next += size + 16;
  return block + 2;
}
void free(void *block) {}
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
  void *larger = malloc(size);
  if (block && larger) {
    size_t had = ((size_t *)block)[-2];
    memcpy(larger, block, had < size ? had : size);
  }
  return larger;
}
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="batchscope-")
        self.addCleanup(self.folder.cleanup)
        self.spill = os.path.join(self.folder.name, "spill")

    def server(self, **options):
        server = Server(**options)
        self.addCleanup(server.kill)
        return server

    def program(self, code, server, spill=None, **environment):
        child = Program(code, {**server.environment(spill), **environment})
        self.addCleanup(child.kill)
        return child

    def steps(self, server):
        """Steps of all records, received or spilled, each once."""
        records = [m for m in [*server.messages, *spilled(self.spill)] if m["type"] == "record"]
        return sorted({m["seq"]: m["step"] for m in records}.values())


class Reports(Folder):
    def test_hello_records_and_bye(self):
        server = self.server()
        child = self.program(STEPS, server, self.spill)
        child.tell("3")
        child.end()
        hello, *rest = server.messages
        self.assertEqual((hello["type"], hello["protocol"], hello["pid"]), ("hello", 1, child.pid))
        self.assertEqual((hello["run"], hello["name"], hello["config"]), ("r", "pretended", {"lr": 0.1}))
        self.assertEqual([m["type"] for m in rest], ["record"] * 3 + ["bye"])
        self.assertEqual([m["seq"] for m in rest], [1, 2, 3, 4])
        self.assertEqual((rest[1]["step"], rest[1]["loss"], rest[1]["more"]), (2, 0.5, {"extra": 2}))
        self.assertEqual(rest[-1]["status"], "finished")
        self.assertFalse(os.path.exists(self.spill))

    def test_scores_have_the_usual_names(self):
        server = self.server()
        self.program("""
    import batchscope
    run = batchscope.start()
    run.report(1, **{"val_loss": 0.5, "eval/accuracy": 0.75, "valid_acc": 93.0, "validation_loss_of_mine": 1})
        """, server).end()
        record, = server.of("record")
        self.assertEqual(record["more"], {"validation_loss": 0.5, "validation_accuracy": 0.75, "valid_acc": 93.0,
                                          "validation_loss_of_mine": 1})

    def test_what_the_optimizer_has_is_told(self):
        server = self.server()
        self.program(PRETENDED_LOADER + """
    class Optimizer:
        param_groups = [{"lr": 0.0, "initial_lr": 0.5, "momentum": 0.9, "weight_decay": 0.0}, {"weight_decay": 0.1}]

        def register_step_pre_hook(self, hook):
            self.hook = hook

        register_step_post_hook = register_step_pre_hook

    run = batchscope.start()
    loader = Sizes(run, 16, 100)
    for step in range(2):
        loader.fetch()
        run.step(Optimizer())
        """, server).end()
        first, *others = server.of("hello")
        self.assertEqual(first["settings"], {})
        self.assertEqual([hello["settings"] for hello in others], [
            {"optimizer": "Optimizer", "learning_rate": 0.5, "momentum": 0.9, "weight_decay": 0.1}])

    def test_nothing_happens_without_a_socket(self):
        child = self.program(STEPS + "    print(run.active, run.stopping)\n", self.server(), BATCHSCOPE_SOCKET="")
        child.tell("5")
        self.assertEqual(child.end(), "False False\n")

    def test_numbers_that_json_lacks(self):
        server = self.server()
        self.program("""
            import batchscope
            run = batchscope.start()
            run.report(1, loss=float("nan"), grad_norm=float("inf"), low=float("-inf"), text="no number")
            run.event("odd", value=float("nan"), thing={1: object}, values={"x": float("inf")})
        """, server).end()
        record, = server.of("record")
        self.assertEqual((record["loss"], record["grad_norm"]), ("NaN", "Infinity"))
        self.assertEqual(record["more"], {"low": "-Infinity"})
        event, = server.events("odd")
        self.assertEqual((event["detail"]["value"], event["values"]["x"]), ("NaN", "Infinity"))

    def test_an_exception_is_reported_as_failed(self):
        server = self.server()
        child = self.program("""
            import batchscope
            batchscope.start().report(1, loss=1)
            raise ValueError("no such data")
        """, server)
        self.assertNotEqual(child.exit_code, 0)
        bye, = server.of("bye")
        self.assertEqual((bye["status"], bye["reason"]), ("failed", "ValueError: no such data"))

    def test_a_number_is_read_from_what_has_an_item(self):
        server = self.server()
        self.program("""
            import batchscope
            class Scalar:
                def item(self): return 2.5
            batchscope.start().report(1, loss=Scalar())
        """, server).end()
        self.assertEqual(server.of("record")[0]["loss"], 2.5)


class Orders(Folder):
    def test_pause_step_continue(self):
        server = self.server()
        child = self.program(STEP_BY_STEP, server)
        child.tell()
        self.assertEqual(child.line(), "1")
        server.send(type="pause")
        child.tell()
        server.wait_for(lambda m: m.get("kind") == "status" and m["detail"]["status"] == "paused")
        self.assertEqual(len(server.of("record")), 2)
        server.send(type="step")  # one step, then paused again
        self.assertEqual(child.line(), "2")
        child.tell()
        server.wait_for(lambda m: m["type"] == "record" and m["step"] == 3)
        server.wait_for(lambda m: m.get("kind") == "status" and m["step"] == 3 and m["detail"]["status"] == "paused")
        server.send(type="continue")
        self.assertEqual(child.line(), "3")
        child.tell()
        self.assertEqual(child.line(), "4")
        self.assertEqual(child.close(), 0)

    def test_stop_ends_the_program_in_order(self):
        server = self.server()
        child = self.program(STEP_BY_STEP, server)
        child.tell()
        self.assertEqual(child.line(), "1")
        server.send(type="stop", save=False)
        child.tell()
        self.assertEqual(child.exit_code, 0)
        self.assertEqual(server.of("bye")[0]["status"], "stopped")
        self.assertEqual([m["step"] for m in server.of("record")], [1, 2])

    def test_a_program_that_looks_at_stopping_ends_itself(self):
        server = self.server()
        child = self.program("""
            import batchscope, sys
            run = batchscope.start()
            step = 0
            while not run.stopping:
                step += 1
                run.report(step)
                print(step, flush=True)
                sys.stdin.readline()
            print("saved")
            run.finish()
        """, server)
        self.assertEqual(child.line(), "1")
        server.send(type="stop", save=True)
        child.tell()
        self.assertEqual(child.line(), "2")
        child.tell()
        self.assertEqual(child.line(), "saved")
        self.assertEqual(child.exit_code, 0)
        self.assertEqual(server.of("bye")[0]["status"], "stopped")

    def test_a_refused_program_goes_on_silently(self):
        server = self.server()
        child = self.program(STEP_BY_STEP, server, self.spill)
        child.tell()
        self.assertEqual(child.line(), "1")
        server.send(type="refuse", reason="a second program")
        for step in ("2", "3"):
            child.tell()
            self.assertEqual(child.line(), step)
        self.assertEqual(child.close(), 0)
        self.assertLessEqual(len(server.of("record")), 2)
        self.assertEqual(server.of("bye"), [])
        self.assertFalse(os.path.exists(self.spill))


class Sizes(Folder):
    def test_edits_hold_from_the_next_step_on_and_are_clamped(self):
        server = self.server()
        child = self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    loader = Sizes(run, 16, 100)
    for line in sys.stdin:
        print(loader.fetch())
        run.step()
        """, server)
        child.tell()
        self.assertEqual(child.line(), "[16]")
        server.wait_for(lambda m: m["type"] == "record")
        server.send(type="edit", id=7, batch=8, accumulate=2, rate_factor=0.5)
        child.tell()  # the order may arrive before or after this step was fetched
        child.line()
        server.wait_for(lambda m: m["type"] == "applied")
        child.tell()
        self.assertEqual(child.line(), "[8, 8]")
        server.wait_for(lambda m: m["type"] == "record" and m["step"] == 3)
        server.send(type="edit", id=8, batch=1000, accumulate=-3)
        child.tell()
        child.line()
        applied = server.wait_for(lambda m: m["type"] == "applied" and m["id"] == 8)
        self.assertEqual((applied["batch"], applied["accumulate"], applied["rate_factor"]), (100, 1, 0.5))
        self.assertEqual({m["detail"]["field"] for m in server.events("clamp")}, {"batch", "accumulate"})
        self.assertEqual(child.close(), 0)

    def ask(self, answer, steps, **options):
        server = self.server(answer=answer, **options)
        child = self.program(PRETENDED_LOADER + f"""
    run = batchscope.start()
    loader = Sizes(run, 1, 10)
    takes = []
    for step in range({steps}):
        takes += loader.fetch()
        run.step()
    print(*takes)
        """, server)
        return server, child.end()

    def test_takes_are_the_documents_trace(self):
        """semantics.md section 2 with one rank: every 5 steps one more."""
        server, takes = self.ask(lambda record: {"batch": 1 + record["step"] // 5}, 17, welcome={"hold": 1})
        self.assertEqual(takes, "1 1 1 1 1 2 2 1 2 2 3 3 3 3 3 1 4\n")
        coverage = [record["train_coverage"] for record in server.of("record")]
        self.assertEqual(coverage[:8], [.1, .2, .3, .4, .5, .7, .9, 1.0])
        self.assertTrue(all(record["ask"] for record in server.of("record")))

    def test_the_programs_own_schedule_gives_the_same_trace(self):
        server = self.server()
        child = self.program(PRETENDED_LOADER + """
    asked = []
    run = batchscope.start(schedule=lambda step, batch: asked.append(step) or batch + (step % 5 == 0))
    loader = Sizes(run, 1, 10)
    takes = []
    for step in range(17):
        takes += loader.fetch()
        run.step()
    print(*takes, asked[0])
        """, server)
        self.assertEqual(child.end(), "1 1 1 1 1 2 2 1 2 2 3 3 3 3 3 1 4 1\n")
        self.assertFalse(any("ask" in record for record in server.of("record")))

    def test_the_programs_own_schedule_works_without_batchscope(self):
        child = self.program(PRETENDED_LOADER + """
    run = batchscope.start(schedule=lambda step, batch: batch + 1)
    loader = Sizes(run, 1, 10)
    takes = []
    for step in range(3):
        takes += loader.fetch()
        run.step()
    loader.batch = 2
    print(*takes, *loader.fetch())
        """, self.server(), BATCHSCOPE_SOCKET="")
        self.assertEqual(child.end(), "1 2 3 2\n")

    def test_hold_says_how_many_steps_need_no_asking(self):
        server, _ = self.ask(lambda record: {"batch": 2, "hold": 3}, 9, welcome={"hold": 2})
        self.assertEqual([m["step"] for m in server.of("record") if m.get("ask")], [2, 5, 8])
        server, _ = self.ask(lambda record: {"hold": 0}, 4, welcome={"hold": 1})
        self.assertEqual([m["step"] for m in server.of("record") if m.get("ask")], [1])

    def test_the_first_size_comes_with_the_welcome(self):
        _, takes = self.ask(None, 2, welcome={"batch": 4, "accumulate": 2})
        self.assertEqual(takes, "4 4 2\n")

    def test_the_first_size_comes_with_the_welcome_to_the_last_hello(self):
        server = self.server()
        child = self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    run.event("early")
    run._link.wait(None)
    print("said hello as one that has no loader")
    sys.stdin.readline()
    print(Sizes(run, 16, 100).fetch())
        """, server)
        child.line()
        server.welcome = {**server.welcome, "batch": 8}
        child.tell()
        self.assertEqual(child.line(), "[8]")

    def test_the_programs_own_sizes_are_known_before_the_first_step(self):
        server = self.server()
        self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    loader = Sizes(run, 16, 100)
    run.event("early")
    loader.batch, loader.accumulate = 8, 2
    for step in range(3):
        loader.fetch()
        run.step()
    loader.batch = 4
    loader.fetch()
    run.step()
        """, server).end()
        sizes = [(hello["batch"], hello["accumulate"]) for hello in server.of("hello")]
        self.assertEqual(sizes, [(16, 1), (8, 2)])
        self.assertEqual([record["batch"] for record in server.of("record")], [8, 8, 8, 4])

    def test_a_welcome_that_is_read_late_holds_as_long(self):
        server = self.server(welcome={"batch": 2, "step": 1, "hold": 6})
        self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    loader = Sizes(run, 2, 100)
    for step in range(12):
        loader.fetch()
        if step == 3:
            run._describe(epochs=3)  # says hello once more
            run._greet()
            run._link.wait(5)
        run.step()
        """, server).end()
        self.assertEqual(len(server.of("hello")), 2)
        self.assertEqual([record["step"] for record in server.of("record") if record.get("ask")][:1], [6])

    def test_an_answer_that_does_not_come_is_waited_for_once(self):
        server = self.server(welcome={"hold": 1})
        child = self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    loader = Sizes(run, 2, 10)
    for step in range(20):
        loader.fetch()
        batchscope.run.WAIT_FOR_ANSWER = 0.05  # after the welcome
        run.step()
        """, server)
        child.end()
        self.assertEqual(len(server.events("late")), 1)
        self.assertEqual(len(server.of("record")), 20)

    def test_probes_are_run_one_after_the_other(self):
        server = self.server()
        child = self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    loader = Sizes(run, 3, 40)
    for line in sys.stdin:
        print(loader.fetch())
        run.step()
        """, server)
        child.tell()
        self.assertEqual(child.line(), "[3]")
        server.wait_for(lambda m: m["type"] == "record")
        server.send(type="probe", sizes=[{"batch": 4, "steps": 2}, {"batch": 8, "steps": 1}], then="stop")
        takes = []
        while child._process.poll() is None and len(takes) < 20:
            try:
                child.tell()
            except BrokenPipeError:
                break
            takes.append(child.line())
            if len(server.events("probe")) == 2:
                break
        self.assertEqual(child.exit_code, 0)
        self.assertEqual([(m["detail"]["batch"], m["detail"]["fits"]) for m in server.events("probe")],
                         [(4, True), (8, True)])
        self.assertEqual([take for take in takes if take in ("[4]", "[8]")], ["[4]", "[4]", "[8]"])

    def test_the_step_before_a_probe_is_none_of_its_steps(self):
        server = self.server(welcome={"hold": 2}, answer=lambda record: server.send(
            type="probe", sizes=[{"batch": 3, "steps": 2}], then="stop") or {"batch": 3})
        self.program(PRETENDED_LOADER + """
    run = batchscope.start()
    loader = Sizes(run, 3, 40)
    for step in range(8):
        loader.fetch()
        run.step()
        """, server).end()
        asked = next(record["step"] for record in server.of("record") if record.get("ask"))
        self.assertEqual([probe["step"] for probe in server.events("probe")], [asked + 2])


# One of two ranks; what the other one says is pretended, too.
PRETENDED_RANKS = PRETENDED_LOADER + """
    class Ranks:
        size = 2

        def __init__(self, rank, said=()):
            self.rank, self.said, self.told = rank, iter(said), []

        def part(self, examples):
            return (examples - self.rank + 1) // 2

        def from_first(self, values):
            self.told.append(values)
            return next(self.said) if self.rank else values

    def train(run, loader, steps):
        for step in range(steps):
            print(*loader._own(loader.fetch()), end=" ")
            run.step()
"""


class Ranks(Folder):
    def test_ranks_that_do_not_act_together_are_watched(self):
        server = self.server(welcome={"batch": 3})
        self.program(PRETENDED_LOADER + """
    Sizes(batchscope.start(), 1, 10)
        """, server, RANK="0", WORLD_SIZE="2").end()
        hello = server.of("hello")[-1]
        self.assertEqual((hello["world"], hello["can"]), (2, ["report", "pause"]))

    def test_rank_0_decides_and_reports_the_examples_of_all(self):
        server = self.server(welcome={"hold": 1}, answer=lambda record: {"batch": 1 + record["step"] // 5})
        child = self.program(PRETENDED_RANKS + """
    run = batchscope.start()
    run._ranks = Ranks(0)
    loader = Sizes(run, 1, 10)
    train(run, loader, 15)
    print("|", *[int(values[0]) for values in run._ranks.told])
        """, server, RANK="0", WORLD_SIZE="2")
        self.assertEqual(child.end(), "1 1 1 1 1 2 2 1 2 2 1 3 2 3 2 | 1 1 1 1 1 2 2 2 2 2 3 3 3 3 3 4\n")
        records = server.of("record")
        self.assertEqual([record["train_coverage"] for record in records[:8]], [.2, .4, .6, .8, 1.0, .4, .8, 1.0])
        self.assertEqual([record["effective_batch"] for record in records[10:]], [2, 6, 4, 6, 4])
        self.assertEqual(records[-1]["examples_seen"], 50)

    def test_another_rank_follows_rank_0_and_nobody_else(self):
        server = self.server(welcome={"batch": 5, "hold": 1})
        child = self.program(PRETENDED_RANKS + """
    nothing = batchscope.run_memory.NOTHING_SAID
    run = batchscope.start(schedule=lambda step, batch: batch + 7)  # is that of rank 0
    run._ranks = Ranks(1, [[2, 1, 1, 0, 0, 0, 0, nothing], [2, 2, 0.5, 0, 0, 1, 0, nothing],
                           [9, 1, 0.5, 1, 1, 0, 0, nothing]])
    loader = Sizes(run, 1, 9)
    run.stopping
    train(run, loader, 2)
    print("|", loader.batch, run.rate_factor, run.stopping, run._save)
        """, server, RANK="1", WORLD_SIZE="2")
        self.assertEqual(child.end(), "2 2 | 9 0.5 True True\n")
        self.assertEqual({tuple(hello["can"]) for hello in server.of("hello")}, {("report",)})
        self.assertFalse(any("takes" in record or "ask" in record for record in server.of("record")))


class Faults(Folder):
    def test_nothing_is_lost_when_batchscope_is_killed_and_comes_back(self):
        server = self.server(stores=False)
        child = self.program("import batchscope; batchscope.wire.RECONNECT_EVERY = 0.02\n" + "".join(
            line[4:] + "\n" for line in STEP_BY_STEP.splitlines()), server, self.spill)
        for _ in range(10):
            child.tell()
            child.line()
        server.kill()
        for _ in range(10):
            child.tell()
            child.line()
        lines = len(spilled(self.spill))
        self.assertGreaterEqual(lines, 10)
        again = self.server(path=server.path)
        while not again.of("hello"):
            child.tell()
            child.line()
        self.assertEqual(again.of("hello")[0]["pid"], child.pid)
        child.tell()
        last = int(child.line())
        self.assertEqual(child.close(), 0)
        records = {m["seq"]: m["step"] for m in [*server.messages, *again.messages, *spilled(self.spill)]
                   if m["type"] == "record"}
        self.assertEqual(sorted(records.values()), list(range(1, last + 1)))
        self.assertEqual(len(again.of("bye")), 1)
        self.assertTrue(again.of("bye")[0]["spilled"])

    def test_a_pause_ends_when_batchscope_is_killed(self):
        server = self.server()
        child = self.program(STEP_BY_STEP, server, self.spill)
        child.tell()
        child.line()
        server.send(type="pause")
        child.tell()
        server.wait_for(lambda m: m.get("kind") == "status")
        server.kill()
        self.assertEqual(child.line(), "2")
        child.kill()

    def test_nobody_there_from_the_start(self):
        server = self.server()
        server.kill()
        child = self.program(STEPS, server, self.spill)
        child.tell("50")
        child.end()
        self.assertEqual(self.steps(server), list(range(1, 51)))
        first, *_, last = spilled(self.spill)
        self.assertEqual((first["type"], last["type"]), ("hello", "bye"))

    def test_the_file_has_the_messages_of_rank_0_only(self):
        server = self.server()
        server.kill()
        for rank in "10":
            child = self.program(STEPS, server, self.spill, RANK=rank, WORLD_SIZE="2")
            child.tell("5")
            child.end()
        lines = spilled(self.spill)
        self.assertEqual({line["rank"] for line in lines if line["type"] == "hello"}, {0})
        self.assertEqual([line["step"] for line in lines if line["type"] == "record"], [1, 2, 3, 4, 5])
        self.assertEqual([line["type"] for line in lines].count("bye"), 1)

    def test_garbage_is_reported_once_and_the_connection_kept(self):
        server = self.server()
        child = self.program(STEP_BY_STEP, server)
        child.tell()
        child.line()
        server.send_bytes(b"\x00\xff garbage\n[1, 2]\n\"text\"\n{}\n" + b"[" * 5000 + b"\n")
        server.send_bytes(b'{"type": "edit", "id": 1, "batch": "many", "hold": {}}\n{"type": "later", "x": 1}\n')
        server.send_bytes(b'{"type": "probe", "sizes": 4}\n{"type": "stored", "seq": "x"}\n{"type": 5}\n')
        for _ in range(3):
            child.tell()
            child.line()
        self.assertEqual(child.close(), 0)
        self.assertEqual(len(server.events("protocol")), 1)
        self.assertIn("garbage", server.events("protocol")[0]["detail"]["line"])
        self.assertEqual(len(server.of("record")), 4)
        self.assertEqual(len(server.of("hello")), 1)

    def test_a_line_without_end_is_skipped(self):
        server = self.server()
        child = self.program("import batchscope; batchscope.wire.LONGEST_LINE = 100000\n" + "".join(
            line[4:] + "\n" for line in STEP_BY_STEP.splitlines()), server)
        child.tell()
        child.line()
        sender = threading.Thread(target=server.send_bytes, args=(b"x" * 1_000_000 + b"\n",))
        sender.start()
        while sender.is_alive():
            child.tell()
            child.line()
        server.send(type="stop")
        child.tell()
        self.assertEqual(child.exit_code, 0)
        self.assertEqual(server.of("bye")[0]["status"], "stopped")

    def test_batchscope_stands_still(self):
        """What the socket does not take waits in memory, then in the file; nothing is lost and nothing waits."""
        server = self.server()
        child = self.program("""
            import batchscope, sys
            run = batchscope.start()
            run._link.most_bytes = 20_000
            run.report(1, loss=1)
            sys.stdin.readline()
            for step in range(2, 5001):
                run.report(step, loss=step)
            print("done", run._link.spill.lines > 0)
            sys.stdin.readline()
            run.report(5001, loss=1)
        """, server, self.spill)
        server.wait_for(lambda m: m["type"] == "record")
        server.stand_still()
        child.tell()
        self.assertEqual(child.line(), "done True")
        server.go_on()
        child.tell()
        child.end()
        self.assertEqual(self.steps(server), list(range(1, 5002)))

    def test_the_file_is_in_order_when_batchscope_is_killed_while_it_stands_still(self):
        """Whoever takes it in leaves out what comes after a later line, as it was known."""
        server = self.server(stores=False)
        child = self.program("""
            import batchscope, sys
            run = batchscope.start()
            run._link.most_bytes = 20_000
            run.report(1, loss=1)
            sys.stdin.readline()
            for step in range(2, 5001):
                run.report(step, loss=step)
            print("done", len(run._link._unsent) > 1)
            sys.stdin.readline()
            run.report(5001, loss=1)
        """, server, self.spill)
        server.wait_for(lambda m: m["type"] == "record")
        server.stand_still()
        child.tell()
        self.assertEqual(child.line(), "done True")
        server.kill()
        child.tell()
        child.end()
        numbers = [m["seq"] for m in spilled(self.spill)]
        self.assertEqual(numbers, list(range(1, 5003)))  # with the bye

    def test_ends_while_batchscope_stands_still(self):
        server = self.server()
        child = self.program("""
            import batchscope, sys
            batchscope.run.WAIT_FOR_ANSWER = 0.1
            run = batchscope.start()
            run.report(1, loss=1)
            sys.stdin.readline()
            for step in range(2, 20001):
                run.report(step, loss=step)
        """, server, self.spill)
        server.wait_for(lambda m: m["type"] == "record")
        server.stand_still()
        child.tell()
        child.end()
        server.go_on()
        server.wait_for(lambda m: m["type"] == "record" and m["step"] > 1)
        self.assertEqual(self.steps(server)[-1], 20000)
        self.assertEqual(self.steps(server), list(range(1, 20001)))

    def test_a_full_disk_costs_lines_and_no_step(self):
        """Files of this program may have 2,000 bytes: what is in the file stays whole, the rest is counted."""
        server = self.server()
        server.kill()
        child = self.program("""
            import batchscope, resource, signal, sys
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
            run = batchscope.start()
            for step in range(1, 101):
                run.report(step, loss=step)
            print(run._link.spill.lines, run._link.spill.lost)
        """, server, self.spill)
        written, lost = map(int, child.end().split())
        # The bye comes last; it and other lines shorter than the first that was lost may still find room.
        steps = [m["step"] for m in spilled(self.spill) if m["type"] in ("hello", "record")]
        self.assertLessEqual(os.path.getsize(self.spill), 2000)
        self.assertEqual(len(steps), written)
        self.assertEqual(written + lost, 101)  # with the hello
        self.assertGreater(lost, 0)
        self.assertEqual(steps, sorted(set(steps)))

    def test_lost_lines_are_reported(self):
        server = self.server()
        server.kill()
        child = self.program("""
            import batchscope, sys
            batchscope.wire.RECONNECT_EVERY = 0
            run = batchscope.start()
            for step in range(1, 6):
                run.report(step, loss=step)
            print("lost", flush=True)
            sys.stdin.readline()
            run.report(6, loss=6)
        """, server, os.path.join(self.folder.name, "no", "such", "folder"))
        self.assertEqual(child.line(), "lost")
        again = self.server(path=server.path)
        child.tell()
        child.end()
        self.assertEqual(again.events("lost")[0]["detail"], {"lines": 6})  # with the hello

    def test_a_path_that_is_too_long(self):
        server = self.server()
        server.path = os.path.join(self.folder.name, "x" * 200)
        child = self.program(STEPS, server, self.spill)
        child.tell("3")
        child.end()
        self.assertEqual(self.steps(server), [1, 2, 3])

    def test_a_foreign_socket_that_closes_at_once(self):
        path = os.path.join(self.folder.name, "foreign")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(1)
        self.addCleanup(listener.close)

        def close_all():
            while True:
                try:
                    listener.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=close_all, daemon=True).start()
        server = self.server()
        server.path = path
        child = self.program(STEPS, server, self.spill)
        child.tell("20")
        child.end()
        self.assertEqual(self.steps(server), list(range(1, 21)))

    def test_a_killed_program_loses_nothing_that_it_had_sent(self):
        server = self.server()
        child = self.program(STEP_BY_STEP, server, self.spill)
        for _ in range(5):
            child.tell()
            sent = child.line()
        child.kill()
        server.wait_for(lambda m: m["type"] == "record" and m["step"] == int(sent))
        self.assertEqual(self.steps(server), [1, 2, 3, 4, 5])

    def test_forked_processes_are_silent(self):
        server = self.server()
        self.program("""
            import batchscope, os
            run = batchscope.start()
            run.report(1, loss=1)
            if os.fork() == 0:
                for step in range(100):
                    run.report(step, loss=-1)
                run.event("child")
                run.finish()
                os._exit(0)
            os.wait()
            run.report(2, loss=1)
        """, server, self.spill).end()
        self.assertEqual([m["loss"] for m in server.of("record")], [1, 1])
        self.assertEqual((server.events("child"), len(server.of("bye"))), ([], 1))
        self.assertFalse(os.path.exists(self.spill))

    def test_two_programs_on_one_socket(self):
        server = self.server()
        ranks = []
        for rank in ("0", "1"):
            ranks.append(self.program("""
                import batchscope
                run = batchscope.start()
                for step in range(1, 4):
                    run.step(loss=step)
            """, server, RANK=rank, WORLD_SIZE="2"))
        for child in ranks:
            child.end()
        self.assertEqual(sorted(m["rank"] for m in server.of("hello")), [0, 1])
        self.assertEqual([m["loss"] for m in server.of("record") if "loss" in m], [1, 2, 3])
        self.assertNotIn("batch", server.of("hello")[0]["can"])


class Memory(Folder):
    def test_the_budget_is_a_limit_of_data_and_is_taken_back(self):
        server = self.server()
        child = self.program("""
            import batchscope, os, resource
            run = batchscope.start()
            before = resource.getrlimit(resource.RLIMIT_DATA)
            run._memory.want_limit(50_000_000)
            run._memory.apply_limit()
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] != before[0]
            keep = bytearray(30_000_000)
            try:
                bytearray(40_000_000)
                print("not limited")
            except MemoryError as error:
                print("out of memory", batchscope.is_out_of_memory(error))
            if os.fork() == 0:  # a worker
                bytearray(40_000_000)
                os._exit(7)
            print(os.waitstatus_to_exitcode(os.wait()[1]))
            run._memory.want_limit(100_000_000)
            run._memory.apply_limit()
            bytearray(40_000_000)
            run.finish()
            print(resource.getrlimit(resource.RLIMIT_DATA) == before)
        """, server)
        self.assertEqual(child.end(), "out of memory True\n7\nTrue\n")

    def test_a_lowered_budget_is_not_one_of_updates(self):
        child = self.program("""
            import batchscope
            from pretended_batchscope import fits
            budget = batchscope.budget.Budget(lambda: 15_000_000)
            budget.set(200_000_000, None)
            print(budget.least(None))  # before the first update nothing is known of it
            budget.end_update()
            keep = bytearray(30_000_000)
            print(budget.least(None))
            budget.set(60_000_000, None)
            print(fits(100_000_000))
            with budget.for_data((1,), first=True):
                print(fits(300_000_000))
            budget.begin_update()
            print(fits(100_000_000), fits(300_000_000))
            budget.end_update()
            print(fits(100_000_000), budget.take_back())  # a step was made with it
            budget.set(50_000_000, None)
            budget.set(40_000_000, None)
            print(budget.take_back(), budget.bytes, fits(100_000_000))
        """, self.server())
        self.assertEqual(child.end(), "0\n15000000\nFalse\nTrue\nTrue False\nFalse False\nTrue 60000000 False\n")

    def test_what_libraries_keep_does_not_count(self):
        child = self.program("""
            import batchscope
            from pretended_batchscope import fits
            budget = batchscope.budget.Budget(lambda: 20_000_000)
            budget.set(100_000_000, None)
            print(fits(70_000_000), fits(90_000_000))  # training holds 20 MB
            budget.end_update()
            budget.begin_step((8,))
            print(fits(70_000_000), fits(90_000_000))
            kept = [bytearray(30_000_000)]  # within the step that is made
            print(fits(70_000_000))
            print(budget.make_room_again(), fits(70_000_000), fits(90_000_000))
            print(budget.make_room_again())  # nothing more has come to stay
            kept.append(bytearray(30_000_000))
            with budget.for_data((8,), first=True):
                kept.append(bytearray(300_000_000))  # of the data set
            print(fits(70_000_000), fits(90_000_000))
            print(budget.begin_probe() < 80_000_000)
            budget.begin_step((8,))
            print(fits(70_000_000), fits(80_000_000))  # a little less than a run has
        """, self.server())
        self.assertEqual(child.end(),
                         "True False\nTrue False\nFalse\nlibraries True False\n\nTrue False\nTrue\nTrue False\n")

    def test_what_steps_leave_counts(self):
        """But for that of a size's first steps, which may be what libraries keep."""
        child = self.program("""
            import batchscope
            from pretended_batchscope import fits
            own, kept = [10_000_000], []
            budget = batchscope.budget.Budget(lambda: own[0])
            budget.set(100_000_000, None)
            budget.end_update()
            for step in range(6):
                with budget.for_data((8,), first=True):
                    pass
                print(max(size for size in range(10, 100, 10) if fits(size * 1_000_000 - 2_000_000)), end=" ")
                kept.append(bytearray(20_000_000))
            del kept[2:4]
            with budget.for_data((8,), first=True):
                pass
            print(fits(48_000_000), fits(52_000_000))
        """, self.server())
        self.assertEqual(child.end(), "90 90 90 70 50 30 True False\n")

    def test_all_batches_count_until_they_are_freed(self):
        child = self.program("""
            import batchscope
            from pretended_batchscope import fits
            batch = [bytearray(40_000_000)]
            budget = batchscope.budget.Budget(batch=lambda: sum(map(len, batch)))
            budget.set(100_000_000, None)
            for _ in range(2):
                print(fits(58_000_000), fits(62_000_000))
                budget.end_update()
                with budget.for_data((8,), first=True):
                    batch.append(bytearray(40_000_000))  # the old one is freed when the step begins
                del batch[0]
            batch.clear()
            print(fits(98_000_000), fits(102_000_000))
        """, self.server())
        self.assertEqual(child.end(), 3 * "True False\n")

    def test_places_that_are_closed_are_no_memory_of_the_training(self):
        child = self.program("""
            import batchscope
            batchscope.heap.use_fixed_map_threshold()
            below = [bytearray(100_000) for _ in range(50)]
            above = bytearray(100_000)
            del below  # a place of 5 MB
            budget = batchscope.budget.Budget()
            memory = batchscope.memory.HostMemory(0, budget.closed_bytes)
            before = memory.allocated()
            budget.set(100_000_000, None)
            print(budget.closed_bytes() > 4_000_000, abs(memory.allocated() - before) < 500_000)
            budget.set(None, None)
            budget.remove()
            print(budget.closed_bytes(), abs(memory.allocated() - before) < 500_000)
        """, self.server())
        self.assertEqual(child.end(), "True True\n0 True\n")

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_a_budget_gets_along_with_another_allocator(self):
        """jemalloc, say, is often loaded for training. What glibc says of its own heap tells nothing then."""
        source, library = (os.path.join(self.folder.name, "allocator" + suffix) for suffix in (".c", ".so"))
        with open(source, "w") as file:
            file.write(ALLOCATOR)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library, source], check=True)
        child = self.program("""
            import batchscope, gc, weakref
            from pretended_batchscope import fits
            class Garbage:
                pass
            budget = batchscope.budget.Budget()
            memory = batchscope.memory.HostMemory(0, budget.closed_bytes)
            budget.set(100_000_000, None)
            budget.end_update()
            budget.begin_step()
            print(budget.closed_bytes(), budget._heap.wants_settling(), budget.counts_libraries, fits(1_000_000))
            held = bytearray(40_000_000)
            held[::4096] = b"x" * len(held[::4096])
            print(memory.allocated() >= 40_000_000)
            base = budget._base
            budget.begin_step()
            print(budget.make_room_again(), budget._base == base)  # it keeps what is freed
            gc.disable()
            garbage = Garbage()
            garbage.own = garbage
            seen = weakref.ref(garbage)
            del garbage
            budget.make_room_again()
            print(seen() is None)
        """, self.server(), LD_PRELOAD=library)
        self.assertEqual(child.end(), "0 False True True\nTrue\n True\nTrue\n")

    def test_memory_that_grows_is_named_once(self):
        child = self.program("""
            import batchscope
            from batchscope.growth import Growth
            def told(grows):
                growth = Growth()
                return [f"{step}: {found}" for step in range(1, 200)
                        for found in [growth.saw(step, grows(step), (8,))] if found]
            print(told(lambda step: 500_000_000 + 100_000 * step))
            print(told(lambda step: 500_000_000 + 100_000 * max(0, step - 50) - 30_000 * (step % 4 == 0)))
            print(told(lambda step: 500_000_000 + 1_000 * step))  # lists of numbers, say
            print(told(lambda step: 500_000_000 + 1_000_000 * (step % 10)))
            print(told(lambda step: 500_000_000 + 10_000_000 * min(step, 8)))  # it settles
        """, self.server())
        self.assertEqual(child.end().splitlines(), [
            "[\"25: {'bytes_per_step': 100000, 'since_step': 6, 'bytes': 2000000}\"]",
            "[\"64: {'bytes_per_step': 100000, 'since_step': 51, 'bytes': 1370000}\"]", "[]", "[]", "[]"])

    def test_readings_follow_what_is_allocated(self):
        child = self.program("""
            import batchscope
            memory = batchscope.memory.HostMemory(0)
            first = memory.read()
            held = bytearray(40_000_000)
            held[::4096] = b"x" * len(held[::4096])
            more = memory.read()
            del held
            last = memory.read(peak=True)
            print(more["allocated_bytes"] - first["allocated_bytes"] >= 40_000_000,
                  last["allocated_bytes"] < 20_000_000, more.get("peak_bytes", last["peak_bytes"]) >= 39_000_000)
        """, self.server())
        self.assertEqual(child.end(), "True True True\n")

    def test_pages_of_files_are_no_memory_of_the_training(self):
        """Such as those of a library's code, which the first step reads, or of mapped data."""
        child = self.program("""
            import mmap, tempfile
            import batchscope
            with tempfile.TemporaryFile() as file:
                file.truncate(40_000_000)
                file.write(b"x" * 40_000_000)
                file.flush()
                memory = batchscope.memory.HostMemory(0)
                memory.read(peak=True)
                for begins in (False, True):
                    if begins:
                        memory.begin_step(0, True, peak=True)
                    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
                    sum(data[::4096])
                    held = bytearray(10_000_000)
                    held[::4096] = b"x" * len(held[::4096])
                    read = memory.read(peak=True)
                    print(read["peak_bytes"] < 15_000_000, read["peak_bytes"] > 9_000_000)
                    del held
        """, self.server())
        self.assertEqual(child.end(), "True True\n" * 2)

    def test_texts_of_errors_are_those_that_batchscope_knows(self):
        with open(os.path.join(CLIENT, "..", "..", "core", "base", "shortage.cpp"), encoding="utf-8") as file:
            known = re.findall(r'Text\{"([^"]+)", Of::\w+(?:, Sign::(\w+))?\}', file.read())
        self.assertGreater(len(known), 20)
        child = self.program(f"""
            import types, sys
            import batchscope
            known = {known!r}
            found = [batchscope.is_out_of_memory(RuntimeError(text)) for text, _ in known]
            print(found == [sign != "possible" for _, sign in known])
            cuda = types.SimpleNamespace(is_available=lambda: True, is_initialized=lambda: True)
            sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)
            for free in (2_000_000_000, 3_000_000_000):
                cuda.mem_get_info = lambda: (free, 80_000_000_000)
                print([batchscope.is_out_of_memory(RuntimeError(text)) for text, sign in known if sign == "possible"])
            sys.modules.pop("torch")
        """, self.server())
        several = sum(sign == "possible" for _, sign in known)
        self.assertEqual(child.end(), f"True\n{[True] * several}\n{[False] * several}\n")

    def test_out_of_memory_is_recognized(self):
        child = self.program("""
            import batchscope
            texts = ["CUDA out of memory. Tried to allocate 20.00 MiB", "CUDA error: out of memory",
                     "cuBLAS error: CUBLAS_STATUS_ALLOC_FAILED when calling", "could not create a primitive",
                     "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 123456 bytes. "
                     "Error code 12 (Cannot allocate memory)", "can't start new thread", "std::bad_alloc",
                     "Resource temporarily unavailable"]
            print(all(batchscope.is_out_of_memory(RuntimeError(text)) for text in texts))
            print(batchscope.is_out_of_memory(RuntimeError("recv: Resource temporarily unavailable")),
                  batchscope.is_out_of_memory(KeyError("out of memory")))
            print(batchscope.memory.requested_bytes(texts[0]), batchscope.memory.requested_bytes(texts[4]))
        """, self.server())
        self.assertEqual(child.end(), "True\nFalse False\n20971520 123456\n")


class AttachAuto(Folder):
    def run_python(self, code, *more):
        path = os.pathsep.join([CLIENT, *more, self.folder.name])
        return self.program(code, self.server(), PYTHONPATH=path, BATCHSCOPE_ATTACH="auto").end()

    def test_the_machines_own_sitecustomize_still_runs(self):
        with open(os.path.join(self.folder.name, "sitecustomize.py"), "w") as file:
            file.write("import builtins\nbuiltins.own_site = True\n")
        self.assertEqual(self.run_python("print(own_site)"), "True\n")

    def test_the_folder_may_be_in_the_path_twice(self):
        copy = shutil.copytree(CLIENT, os.path.join(self.folder.name, "copy"))
        with open(os.path.join(self.folder.name, "sitecustomize.py"), "w") as file:
            file.write("import builtins\nbuiltins.times = getattr(builtins, 'times', 0) + 1\n")
        finders = "[type(finder).__name__ for finder in sys.meta_path].count('_Finder')"
        self.assertEqual(self.run_python(f"import sys; print(times, {finders})", copy, CLIENT), "1 1\n")

    def test_the_client_is_compiled_by_another_process(self):
        folder = os.path.join(self.folder.name, "python")
        os.mkdir(folder)
        shutil.copy(os.path.join(CLIENT, "sitecustomize.py"), folder)
        with open(os.path.join(folder, "batchscope.py"), "w") as file:
            file.write("")
        code = "import batchscope; print(batchscope.__cached__)"
        path = os.pathsep.join([folder, self.folder.name])
        compiled = self.program(code, self.server(), PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1",
                                BATCHSCOPE_ATTACH="auto").end().strip()
        self.assertTrue(os.path.exists(compiled), compiled)

    def test_a_trainer_that_is_imported_is_attached_to(self):
        package = os.path.join(self.folder.name, "transformers")
        os.mkdir(package)
        with open(os.path.join(package, "__init__.py"), "w") as file:
            file.write("")
        with open(os.path.join(package, "trainer.py"), "w") as file:
            file.write("class Trainer:\n    def train(self, x, y=1):\n        return x + y\n")
        output = self.run_python("""
            import batchscope
            batchscope.attach = lambda trainer: print("attached", type(trainer).__name__)
            from transformers.trainer import Trainer
            class Own(Trainer):
                pass
            print(Own().train(2, y=3))
        """)
        self.assertEqual(output, "attached Own\n5\n")

    def test_a_seed_that_is_given_is_set_when_torch_is_imported(self):
        with open(os.path.join(self.folder.name, "torch.py"), "w") as file:
            file.write("seeds = []\nmanual_seed = seeds.append\n")
        code = "import random, torch; print(torch.seeds, random.random() == random.Random(3).random())"
        path = os.pathsep.join([CLIENT, self.folder.name])
        for seed, said in ({"BATCHSCOPE_SEED": "3"}, "[3] True\n"), ({}, "[] False\n"):
            child = self.program(code, self.server(), PYTHONPATH=path, BATCHSCOPE_ATTACH="auto", **seed)
            self.assertEqual(child.end(), said)

    def test_the_seed_is_in_the_hello(self):
        server = self.server()
        self.program("import batchscope; batchscope.start().report(1)", server, BATCHSCOPE_SEED="3").end()
        self.assertEqual(server.of("hello")[0]["settings"], {"seed": 3})

    def test_a_failure_to_attach_does_not_stop_the_program(self):
        package = os.path.join(self.folder.name, "transformers")
        os.mkdir(package)
        open(os.path.join(package, "__init__.py"), "w").close()
        with open(os.path.join(package, "trainer.py"), "w") as file:
            file.write("class Trainer:\n    def train(self):\n        return 'trained'\n")
        self.assertEqual(self.run_python("from transformers.trainer import Trainer; print(Trainer().train())"),
                         "trained\n")


if __name__ == "__main__":
    unittest.main()
