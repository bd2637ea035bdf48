"""A plain torch loop: loader, backward, trace, estimate and budget."""

import contextlib
import functools
import gc
import os
import subprocess
import sys
import textwrap
import unittest
import unittest.mock
import weakref

from torch_programs import HERE, WithRun, batchscope, difference, digest, failing, gradients

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset, TensorDataset

numbers = torch.Generator().manual_seed(1)
DATA = TensorDataset(torch.randn(50, 8, generator=numbers), torch.randint(0, 3, (50,), generator=numbers))
TEXTS = [torch.randint(0, 20, (int(torch.randint(3, 12, (1,), generator=numbers)),), generator=numbers)
         for _ in range(24)]


def network(dropout=0.2, norm=False):
    torch.manual_seed(0)
    middle = torch.nn.BatchNorm1d(16) if norm else torch.nn.Identity()
    return torch.nn.Sequential(torch.nn.Linear(8, 16), middle, torch.nn.Dropout(dropout), torch.nn.ReLU(),
                               torch.nn.Linear(16, 3))


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.head = torch.nn.Embedding(20, 8), torch.nn.Linear(8, 20)

    def forward(self, ids):
        return self.head(self.table(ids))


def padded(texts):
    ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    labels = torch.nn.utils.rnn.pad_sequence([text % 20 for text in texts], batch_first=True, padding_value=-100)
    return {"ids": ids, "labels": labels}


def shifted_loss(model):
    def loss(batch):
        logits = model(batch["ids"])[:, :-1]
        return cross_entropy(logits.flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=-100)
    return loss


class Indices(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return torch.tensor(index)


def train_stock(workers, drop_last, generator=None):
    torch.manual_seed(3)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    loader = DataLoader(DATA, batch_size=4, shuffle=True, num_workers=workers, drop_last=drop_last, generator=generator)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            cross_entropy(model(x), y).backward()
            optimizer.step()
    return digest(model)


def train_wrapped(run, workers, drop_last, generator=None):
    torch.manual_seed(3)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    loader = run.loader(DataLoader(DATA, batch_size=4, shuffle=True, num_workers=workers, drop_last=drop_last,
                                   generator=generator))
    for _ in range(2):
        for batch in loader:
            loss = run.backward(batch, lambda x, y: cross_entropy(model(x), y), model)
            optimizer.step()
            run.step(optimizer, loss=loss)
    return digest(model)


class Stock(WithRun):
    def test_the_weights_are_those_of_the_stock_loop(self):
        for workers, drop_last, seeded in ((0, False, True), (0, True, True), (2, False, False), (2, True, True)):
            with self.subTest(workers=workers, drop_last=drop_last, seeded=seeded):
                generators = [torch.Generator().manual_seed(5) if seeded else None for _ in range(2)]
                _, run = self.connect()
                self.assertEqual(train_wrapped(run, workers, drop_last, generators[0]),
                                 train_stock(workers, drop_last, generators[1]))

    def test_the_same_without_anybody_listening(self):
        run = batchscope.Run(batchscope.wire.Link(None, None), None, {}, None)
        self.assertEqual(train_wrapped(run, 0, False), train_stock(0, False))

    def test_records(self):
        server, run = self.connect()
        train_wrapped(run, 0, False)
        records = self.closed(server).of("record")
        self.assertEqual([r["step"] for r in records], list(range(1, 27)))
        last = records[-1]
        self.assertEqual((last["takes"], last["epoch"], last["epoch_index"], last["train_coverage"]), ([2], 2, 1, 1))
        self.assertEqual(last["learning_rate"], 1e-2)
        self.assertIn("allocated_bytes", last)
        can = [hello["can"] for hello in server.of("hello")]
        self.assertIn("batch", can[0])
        self.assertIn("split", can[-1])


class Steered(WithRun):
    def windows(self, workers, sizes, **options):
        """Examples of each window when the size is set just before it is fetched."""
        _, run = self.connect()
        loader = run.loader(DataLoader(Indices(), batch_size=16, num_workers=workers, shuffle=True, **options))
        windows = []
        iterator = iter(loader)
        for batch, accumulate in sizes:
            loader.batch, loader.accumulate = batch, accumulate
            windows.append(next(iterator))
        return windows, iterator

    def test_a_size_holds_for_the_very_next_window(self):
        for workers in (0, 4):
            with self.subTest(workers=workers):
                windows, rest = self.windows(workers, [(16, 1), (4, 1), (7, 3), (1, 1), (30, 1)])
                self.assertEqual([w.sizes for w in windows], [[16], [4], [7, 7, 7], [1], [30]])
                self.assertEqual([len(p) for p in windows[2].parts], [7, 7, 7])
                seen = [int(i) for w in [*windows, *rest] for i in torch.cat(w.parts)]
                self.assertEqual(sorted(seen), list(range(100)))

    def test_drop_last_drops_what_fills_no_micro_batch(self):
        windows, rest = self.windows(0, [(30, 2), (15, 1)], drop_last=True)
        self.assertEqual([w.sizes for w in [*windows, *rest]], [[30, 30], [15], [15]])

    def test_answers_change_the_next_step(self):
        server, run = self.connect(answer=lambda record: {"batch": 2 + record["step"], "rate_factor": 0.5},
                                   welcome={"hold": 1, "batch": 2})
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        loader = run.loader(DataLoader(DATA, batch_size=30))
        for batch in loader:
            run.backward(batch, lambda x, y: cross_entropy(model(x), y), model)
            optimizer.step()
            run.step(optimizer)
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.1)
        records = self.closed(server).of("record")
        self.assertEqual([r["takes"][0] for r in records], [2, 3, 4, 5, 6, 7, 8, 9, 6])
        self.assertEqual(records[-1]["learning_rate"], 0.05)

    def test_a_position_is_restored_in_the_middle_of_an_epoch(self):
        for workers in (0, 2):
            _, run = self.connect()
            torch.manual_seed(9)
            loader = run.loader(DataLoader(Indices(), batch_size=16, shuffle=True, num_workers=workers))
            windows = []
            for window in loader:
                windows.append(window.parts[0].tolist())
                loader._count_step()
                if len(windows) == 3:
                    state = loader.state_dict()
            torch.manual_seed(77)
            again = run.loader(DataLoader(Indices(), batch_size=4, shuffle=True, num_workers=workers))
            again.load_state_dict(state)
            self.assertEqual([w.parts[0].tolist() for w in again], windows[3:])

    def test_what_cannot_be_steered_is_watched_and_says_why(self):
        own = torch.utils.data.BatchSampler(range(10), 2, False)
        for loader, code, batches in (
            (DataLoader(Indices(), batch_sampler=own), None, [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]),
            (DataLoader(Indices(), batch_sampler=[[1, 2], [3]]), "own-batch-sampler", [[1, 2], [3]]),
            ([torch.arange(2)], "not-a-dataloader", [[0, 1]]),
        ):
            with self.subTest(code=code):
                server, run = self.connect()
                self.assertEqual([window.parts[0].tolist() for window in run.loader(loader)], batches)
                events = self.closed(server).events("level")
                self.assertEqual([event["detail"]["reason"]["code"] for event in events], [code] if code else [])


class Examples(WithRun):
    """Window.examples, which cost time to keep."""

    def kept(self, data, collate=None, used_in=None, weight_from=None, **options):
        """Whether each of four steps has kept them; a step uses them itself, or weights by them from a step on."""
        _, run = self.connect()
        model = Language()
        kept = []
        for step, window in enumerate(run.loader(DataLoader(data, batch_size=6, collate_fn=collate), **options)):
            kept.append(window._examples is not None)
            if step == used_in:
                self.assertEqual(len(window.examples), 6)
            weight = None if weight_from is None or step < weight_from else len
            run.backward(window, lambda batch: shifted_loss(model)(batch if "ids" in batch else padded(TEXTS[:6])),
                         model, weight)
            run.step()
        return kept

    def test_they_are_kept_while_the_first_step_uses_them(self):
        self.assertEqual(self.kept(TEXTS, padded), [True, False, False, False])
        self.assertEqual(self.kept(TEXTS, padded, used_in=0), [True] * 4)
        self.assertEqual(self.kept(TEXTS, padded, weight_from=0), [True] * 4)
        self.assertEqual(self.kept(TEXTS, padded, examples=True), [True] * 4)

    def test_they_are_kept_if_a_batch_cannot_be_cut_without_them(self):
        self.assertEqual(self.kept(TEXTS, lambda texts: {"flat": torch.cat(texts)}), [True] * 4)

    def test_a_weight_that_comes_later_has_to_be_announced(self):
        self.assertEqual(self.kept(TEXTS, padded, weight_from=2, examples=True), [True] * 4)
        with self.assertRaisesRegex(TypeError, "examples=True"):
            self.kept(TEXTS, padded, weight_from=2)


    def test_a_batch_that_cannot_be_cut_trains_on(self):
        class Shaped:
            def __init__(self, ids):
                self.ids, self.shape = ids, ids.shape

        ids = [text[:3] for text in TEXTS]
        for collate in (lambda texts: torch.stack(texts).to_sparse(), lambda texts: Shaped(torch.stack(texts)),
                        lambda texts: torch.nested.nested_tensor(texts, layout=torch.jagged)):
            _, run = self.connect()
            kept = []
            for window in run.loader(DataLoader(ids, batch_size=6, collate_fn=collate)):
                kept.append(window._examples is not None)
                run.step()
            self.assertEqual(kept, [True] * 4)

    def test_rows_that_cannot_be_chosen_are_collated_anew(self):
        class Sliced:
            def __init__(self, ids):
                self.ids, self.shape = ids, ids.shape

            def __getitem__(self, rows):
                return Sliced(self.ids[rows.start:rows.stop])  # no list

        _, run = self.connect()
        ids = [text[:3] for text in TEXTS]
        loader = run.loader(DataLoader(ids, batch_size=6, collate_fn=lambda texts: Sliced(torch.stack(texts))))
        window = next(iter(loader))
        self.assertTrue(loader.cuttable)
        self.assertTrue(torch.equal(batchscope.parts.cut(window, 0, [4, 1]).ids, torch.stack([ids[4], ids[1]])))

    def test_a_list_that_looks_like_columns_once_is_one_of_examples(self):
        _, run = self.connect()
        images = [torch.randn(3, 4, 5) for _ in range(11)]
        loader = run.loader(DataLoader(images, batch_size=4, collate_fn=list), examples=True)
        *_, last = loader
        self.assertEqual(last.sizes, [3])
        self.assertEqual([image.shape for image in batchscope.parts.cut(last, 0, slice(0, 2))], [(3, 4, 5)] * 2)


class Optimizers(WithRun):
    def steps(self, run, models, optimizers, count=3):
        """Rates that the updates are made with."""
        rates = []
        for _ in range(count):
            for model, optimizer in zip(models, optimizers):
                run.backward([torch.randn(4, 8)], lambda x: model(x).square().mean(), model)
                stock = type(optimizer)._init_group
                with unittest.mock.patch.object(optimizer, "_init_group", side_effect=optimizer._init_group) as group:
                    group.side_effect = lambda g, *rest: (rates.append(g["lr"]), stock(optimizer, g, *rest))[1]
                    optimizer.step()
                run.step(optimizer)
        return rates

    def test_the_rate_is_scaled_from_the_first_update_on(self):
        server, run = self.connect()
        run.rate_factor = 0.5
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), 1.0)
        self.assertEqual(self.steps(run, [model], [optimizer]), [0.5] * 3)
        self.assertEqual(optimizer.param_groups[0]["lr"], 1.0)
        self.assertEqual([r["learning_rate"] for r in self.closed(server).of("record")], [0.5] * 3)

    def test_two_that_take_turns_are_scaled_once_each(self):
        server, run = self.connect()
        run.rate_factor = 0.5
        models = [network(), network()]
        optimizers = [torch.optim.SGD(model.parameters(), rate) for model, rate in zip(models, (1.0, 0.1))]
        self.assertEqual(self.steps(run, models, optimizers), [0.5, 0.05] * 3)
        self.assertEqual([optimizer.param_groups[0]["lr"] for optimizer in optimizers], [1.0, 0.1])
        self.assertLessEqual(len(self.closed(server).of("hello")), 4)  # not one a step

    def test_a_step_that_calls_its_base_class_is_scaled_once(self):
        class Own(torch.optim.SGD):
            def step(self, closure=None):
                return super().step(closure)

        _, run = self.connect()
        run.rate_factor = 0.5
        model = network()
        optimizer = Own(model.parameters(), 1.0)
        self.assertEqual(self.steps(run, [model], [optimizer]), [0.5] * 3)
        self.assertEqual(optimizer.param_groups[0]["lr"], 1.0)

    def test_trainings_one_after_the_other_leave_no_open_files(self):
        _, run = self.connect()

        def train():
            model = network()
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for window in run.loader(DataLoader(DATA, batch_size=25)):
                run.backward(window, lambda x, y: cross_entropy(model(x), y), model)
                optimizer.step()
                run.step(optimizer)
            return len(os.listdir("/proc/self/fd"))

        self.assertEqual(train(), [train() for _ in range(4)][-1])


class OutOfMemory(WithRun):
    def gradients(self, data, collate, model, fn, *, where=None, batch=8, accumulate=1, weight=None, module=None):
        server, run = self.connect()
        loader = run.loader(DataLoader(data, batch_size=batch, collate_fn=collate))
        loader.accumulate = accumulate
        found = []
        with failing(module or model, where, 3) as limit:
            for window in loader:
                loss = run.backward(window, fn, model, weight)
                found.append((gradients(model), float(loss)))
                run.step()
        self.errors = limit["errors"]
        return found, self.closed(server)

    def check(self, data, collate, model, fn, **options):
        whole, _ = self.gradients(data, collate, model, fn, **options)
        for where in ("forward", "backward"):
            with self.subTest(where=where):
                pieces, server = self.gradients(data, collate, model, fn, where=where, **options)
                for (one, loss), (two, expected) in zip(pieces, whole):
                    self.assertLess(difference(one, two), 1e-6)
                    self.assertAlmostEqual(loss, expected, places=5)
                self.assertEqual(self.errors, 2)  # 8, 4; then 2 from the start
                errors = [(e["step"], e["detail"]["attempted_batch"]) for e in server.events("oom")]
                self.assertEqual(errors, [(1, 8), (1, 4)])
                self.assertTrue(all(max(r["takes"]) <= 2 for r in server.of("record")))
        return server

    def test_gradients_are_those_of_the_whole_batch(self):
        model = network(dropout=0)
        for accumulate in (1, 2):
            server = self.check(DATA, None, model, lambda x, y: cross_entropy(model(x), y), accumulate=accumulate)
        self.assertEqual(server.of("record")[0]["takes"], [2] * 8)
        self.assertEqual(server.events("oom")[0]["detail"]["requested_bytes"], 1000)

    def test_ragged_labels_count_as_the_loss_counts_them(self):
        model = Language()
        self.check(TEXTS, padded, model, shifted_loss(model))

    def test_the_weight_that_is_passed_is_used_between_micro_batches(self):
        model = Language()
        self.check(TEXTS, padded, model, shifted_loss(model), accumulate=2,
                   weight=lambda texts: sum(len(text) - 1 for text in texts))

    def test_weights_are_those_of_the_loss_even_if_all_losses_are_alike(self):
        model = Language()
        with torch.no_grad():
            model.head.weight.zero_()
            model.head.bias.zero_()
        before = digest(model)
        self.check(TEXTS, padded, model, shifted_loss(model))
        self.assertEqual(digest(model), before)

    def test_a_loss_that_is_no_mean_is_not_split(self):
        model = network(dropout=0)

        def contrastive(x, y):
            h = torch.nn.functional.normalize(model(x), dim=1)
            return cross_entropy(5 * h @ h.T, torch.arange(len(h)))

        with self.assertRaisesRegex(RuntimeError, "DefaultCPUAllocator") as raised:
            self.gradients(DATA, None, model, contrastive, where="backward")
        self.assertIn("no mean over its examples", str(raised.exception.__cause__))

    def test_what_the_loss_of_a_partial_function_is_the_mean_of_is_found_once(self):
        _, run = self.connect()
        model = network()
        for _ in range(3):
            run._splitter.limit = 4
            scaled = functools.partial(lambda scale, x, y: scale * cross_entropy(model(x), y), 2.0)
            run.backward(DATA[:8], scaled, model)
        self.assertEqual(len(run._splitter.verdicts), 1)

    def test_packed_inputs_are_collated_anew(self):
        """No tensor has a row for each example: all texts of a batch in one line."""
        model = Language()

        def packed(texts):
            return {"ids": torch.cat(texts), "labels": torch.cat(texts) % 20}

        def loss(batch):
            return cross_entropy(model(batch["ids"]), batch["labels"])

        whole, _ = self.gradients(TEXTS, packed, model, loss)
        _, run = self.connect()
        loader = run.loader(DataLoader(TEXTS, batch_size=8, collate_fn=packed))
        run._splitter.limit = 2
        for window, (expected, _) in zip(loader, whole):
            run.backward(window, loss, model)
            self.assertLess(difference(gradients(model), expected), 1e-6)
            self.assertEqual(run._takes, [2] * 4)

    def test_batch_norm_and_random_numbers_are_put_back(self):
        """After an error at the only size there is, nothing of the attempt is left."""
        model = network(norm=True)
        _, run = self.connect()
        window = batchscope.Window([0], [(torch.randn(1, 8), torch.zeros(1, dtype=torch.long))], [1], None)
        model.eval()
        model[1].train()
        model[1].momentum = 0.5
        statistics, state = model[1].running_mean.clone(), torch.get_rng_state()

        def fails(x, y):
            model[1](torch.randn(4, 16))
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

        with self.assertRaises(RuntimeError):
            run.backward(window, fails, model)
        self.assertTrue(torch.equal(model[1].running_mean, statistics))
        self.assertTrue(torch.equal(torch.get_rng_state(), state))

    def test_other_errors_go_on(self):
        model = network()
        _, run = self.connect()
        with self.assertRaisesRegex(RuntimeError, "shapes"):
            run.backward((torch.randn(4, 9), torch.zeros(4, dtype=torch.long)),
                         lambda x, y: cross_entropy(model(x), y), model)

    def test_on_oom_fail_lets_the_error_go_on(self):
        model = network()
        server, run = self.connect(welcome={"on_oom": "fail"})
        loader = run.loader(DataLoader(DATA, batch_size=8))
        with failing(model, "forward", 3), self.assertRaises(RuntimeError):
            for window in loader:
                run.backward(window, lambda x, y: cross_entropy(model(x), y), model)
        detail = self.closed(server).events("oom")[0]["detail"]
        self.assertEqual((detail["outcome"], detail["reason"]["code"]), ("not-survived", "on-oom-fail"))

    def test_an_error_that_a_program_survives_is_let_go_of(self):
        model, kept = network(), []
        server, run = self.connect()
        run._know_model(model)
        run._never_split = batchscope.reasons.Reason("fsdp", "FSDP divides the model among the ranks")

        def fails(x, y):
            activations = model(x)
            kept.append(weakref.ref(activations))
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

        for window in run.loader(DataLoader(DATA, batch_size=25)):
            with contextlib.suppress(RuntimeError):
                run.backward(window, fails, model)
        gc.collect()
        self.assertEqual([reference() for reference in kept], [None, None])
        self.assertEqual(len(self.closed(server).events("oom")), 2)

    def test_a_probe_that_does_not_fit_says_so_and_changes_nothing_later(self):
        model = network(dropout=0)
        server, run = self.connect()
        loader = run.loader(DataLoader(DATA, batch_size=2))
        steps = 0
        with failing(model, "forward", 3):
            for window in loader:
                run.backward(window, lambda x, y: cross_entropy(model(x), y), model)
                run.step()
                steps += 1
                if steps == 1:
                    server.send(type="probe", sizes=[{"batch": 3, "steps": 2, "trace": True}, {"batch": 8, "steps": 2}],
                                then="go-on")
                    run._link.wait(10)
        self.closed(server)
        probes = [(e["detail"]["batch"], e["detail"]["fits"]) for e in server.events("probe")]
        self.assertEqual(probes, [(3, True), (8, False)])
        self.assertEqual(server.of("trace")[0]["batch"], 3)
        self.assertEqual(server.of("record")[-1]["batch"], 2)


def replay(trace):
    """Peak bytes of a trace."""
    sizes, live, peak = [], trace["start_bytes"], 0
    for event in trace["events"]:
        if isinstance(event, list):
            live -= event[0]
        elif event > 0:
            sizes.append(event)
            live += event
        else:
            live -= sizes[-event - 1]
        peak = max(peak, live)
    return peak


class Prediction(WithRun):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self, size):
        self.optimizer.zero_grad()
        (self.model(torch.randn(size, 64)) ** 2).mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def traced(self, size):
        return batchscope.trace(lambda: self.step(size), size, self.model, self.optimizer)

    def test_traces_of_equal_steps_are_equal_and_scale_with_the_batch(self):
        self.step(8)
        self.traced(8)
        small, again, large = self.traced(512), self.traced(512), self.traced(1024)
        self.assertEqual(small["events"], again["events"])
        self.assertEqual(len(small["events"]), len(large["events"]))
        self.assertGreater(replay(large), replay(small))
        parameters = sum(p.numel() * 4 for p in self.model.parameters())
        self.assertEqual(small["start_by"]["parameters"], parameters)
        self.assertGreaterEqual(small["start_by"]["optimizer"], 2 * parameters)

    def test_a_trace_leaves_nothing_behind(self):
        gc.disable()
        self.addCleanup(gc.enable)
        tracer = batchscope.tracer.Tracer(self.model, self.optimizer)
        profile = weakref.ref(tracer._seen._profile)
        self.step(8)
        tracer.finish(8)
        self.assertIsNone(profile())

    def test_gradients_that_the_step_before_has_left_are_freed_in_a_trace(self):
        def step():
            self.optimizer.zero_grad()
            (self.model(torch.randn(8, 64)) ** 2).mean().backward()
            self.optimizer.step()

        step()
        gradients = sum(p.numel() * 4 for p in self.model.parameters())
        for _ in range(2):  # the profiler would know blocks of the trace before
            step()
            trace = batchscope.trace(step, 8, self.model, self.optimizer)
            self.assertEqual(trace["start_by"]["gradients"], gradients)
            freed = [event[0] for event in trace["events"] if isinstance(event, list)]
            self.assertEqual(sorted(freed), sorted(p.numel() * 4 for p in self.model.parameters()))

    def test_an_estimate_agrees_with_the_trace_of_a_real_step(self):
        before, state = digest(self.model), torch.get_rng_state()
        curve = batchscope.estimate(self.model, lambda n: torch.zeros(n, 64),
                                    lambda model, x: (model(x) ** 2).mean(), self.optimizer, [256, 1024])
        self.assertEqual(digest(self.model), before)
        self.assertTrue(torch.equal(torch.get_rng_state(), state))
        self.assertEqual(len(self.optimizer.state), 0)
        self.step(8)
        self.traced(8)
        for size, peak, _ in curve:
            self.assertLess(abs(peak / replay(self.traced(size)) - 1), 0.02)

    def test_phases_are_marked(self):
        _, run = self.connect()
        run._know_model(self.model)
        run._tracer = batchscope.tracer.Tracer(self.model, self.optimizer)
        run.backward((torch.randn(8, 64),), lambda x: self.model(x).mean(), self.model)
        phases = run._tracer.finish(8)["phases"]
        run._tracer = None
        self.assertEqual([name for _, name in phases], ["forward", "backward"])


HALVED = """
    import copy
    import sys
    sys.path.insert(0, {here!r})
    from torch_programs import *
    server = Server(welcome={{"limit_bytes": {limit}}})
    batchscope.run._current = batchscope.Run(batchscope.wire.Link(server.path, None), None, {{}}, None)
    run = batchscope.start()
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Tanh()) for _ in range(8)])
    data = torch.utils.data.TensorDataset(torch.randn(2048 * 6, 512))
    loader = run.loader(torch.utils.data.DataLoader(data, batch_size=2048))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    def loss(model):
        return lambda x: (model(x) - x).square().mean()
    worst = 0.0
    for number, window in enumerate(loader):
        run.backward(window, loss(model), model)
        found = gradients(model)
        run._budget._lift()
        expected = copy.deepcopy(model)
        expected.zero_grad()
        loss(expected)(window.parts[0][0]).backward()
        worst = max(worst, difference(found, gradients(expected)))
        del expected, found
        batchscope.memory.return_freed_memory()
        run._memory.want_limit(run._budget.bytes)
        if number == 2:
            server.send(type="edit", id=1, limit_bytes={limit} // 2)
            run._link.wait(10)
        optimizer.step()
        run.step(optimizer)
    run.finish()
    print(worst < 1e-6, [r["takes"] for r in server.of("record")][2:4], len(server.events("oom")) > 0)
"""


MANY_STEPS = """
    import sys
    sys.path.insert(0, {here!r})
    from torch_programs import *
    server = Server(welcome={{"limit_bytes": 150_000_000}})
    batchscope.run._current = batchscope.Run(batchscope.wire.Link(server.path, None), None, {{}}, None)
    run = batchscope.start()
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 3))
    data = torch.utils.data.TensorDataset(torch.randn(8000, 64), torch.randint(0, 3, (8000,)))
    loader = run.loader(torch.utils.data.DataLoader(data, batch_size=16, shuffle=True))
    optimizer = torch.optim.AdamW(model.parameters(), 0.1)
    most, kept = 0, []
    for number, batch in enumerate(loader):
        run.backward(batch, lambda x, y: torch.nn.functional.cross_entropy(model(x), y), model)
        optimizer.step()
        run.step(optimizer)
        most = max(most, run._budget._kept._sum)
        if number >= {from_step}:
            kept.append(torch.ones(40_000))  # far more than what the server, in this process, keeps of each message
    run.finish()
    print(number + 1, most, len(kept) * 160_000)
"""


class Budget(unittest.TestCase):
    def kept(self, from_step):
        """Bytes that a budget counts as kept by a program, and those that it keeps from that step on, of 500."""
        code = textwrap.dedent(MANY_STEPS).format(here=HERE, from_step=from_step)
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(output.returncode, 0, output.stderr)
        steps, counted, kept = map(int, output.stdout.split())
        self.assertEqual(steps, 500)
        return counted, kept

    def test_nothing_adds_up_that_is_not_kept(self):
        """Gradients, which come and go with each step, say."""
        counted, _ = self.kept(500)
        self.assertLess(counted, 100_000)

    def test_what_is_kept_adds_up(self):
        counted, kept = self.kept(50)
        self.assertEqual(kept, 72_000_000)
        self.assertAlmostEqual(counted / kept, 1, delta=0.05)

    def test_a_run_whose_budget_is_halved_goes_on_with_the_same_gradients(self):
        """In a process of its own: its memory is really limited."""
        code = textwrap.dedent(HALVED).format(here=HERE, limit=110 << 20)
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(output.returncode, 0, output.stderr)
        self.assertRegex(output.stdout, r"^True \[\[2048\], \[\d+(, \d+)+\]\] True$", output.stderr)


if __name__ == "__main__":
    unittest.main()
