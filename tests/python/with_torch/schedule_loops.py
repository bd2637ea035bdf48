"""Training loops with learning-rate schedules, none of which knows of BatchScope.

usage: schedule_loops.py NAME...
Trains one after the other in this process. For each it prints a line of JSON: its name, the updates it made, the
examples of these, and the rate at each of its marks, which are places that do not depend on the size of a batch.
"""

import itertools
import json
import sys

import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, Subset, TensorDataset

EXAMPLES, BATCH, PASSES = 160, 16, 4


class Training:
    """What the loops below have in common."""

    def __init__(self):
        self.model = nn.Linear(8, 2)
        self.data = TensorDataset(torch.randn(EXAMPLES, 8), torch.randint(0, 2, (EXAMPLES,)))
        self.loader = self.loader_of(self.data)
        self.updates, self.examples, self.rates = 0, 0, []
        self.use(self.model.parameters())

    def use(self, parameters):
        self.optimizer = torch.optim.SGD(parameters, 1.0)

    def loader_of(self, data, **options):
        return DataLoader(data, batch_size=BATCH, shuffle=True, **options)

    def part(self, examples):
        return self.loader_of(Subset(self.data, range(examples)))

    def linear(self, steps):
        return lr_scheduler.LinearLR(self.optimizer, 1.0, 0.01, total_iters=steps)

    def backward(self, batch, parts=1):
        features, classes = batch
        (nn.functional.cross_entropy(self.model(features), classes) / parts).backward()
        self.examples += len(features)

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.updates += 1

    def train(self, batch):
        self.backward(batch)
        self.update()

    def train_passes(self, schedule, passes):
        """Steps the schedule after each update, and marks the end of each pass."""
        for batches in passes:
            for batch in batches:
                self.train(batch)
                schedule.step()
            self.mark()

    def mark(self):
        self.rates.append(round(self.optimizer.param_groups[0]["lr"], 9))


def after_each_pass(t):
    schedule = t.linear(PASSES)
    for _ in range(PASSES):
        for batch in t.loader:
            t.train(batch)
        schedule.step()
        t.mark()


def with_the_last_batch_of_a_pass(t):
    schedule = t.linear(PASSES)
    for _ in range(PASSES):
        for number, batch in enumerate(t.loader, 1):
            t.train(batch)
            if number == len(t.loader):
                schedule.step()
        t.mark()


def after_each_update(t):
    schedule = t.linear(PASSES * len(t.loader))
    t.train_passes(schedule, [t.loader] * PASSES)


def before_each_update(t):
    schedule = t.linear(PASSES * len(t.loader))
    for _ in range(PASSES):
        for batch in t.loader:
            schedule.step()
            t.train(batch)
        t.mark()


def a_loader_for_each_pass(t):
    schedule = t.linear(PASSES * len(t.loader))
    t.train_passes(schedule, (t.loader_of(t.data) for _ in range(PASSES)))


def data_that_grow(t):
    parts = [t.part(40 + 30 * number) for number in range(PASSES)]
    schedule = t.linear(sum(map(len, parts)))
    t.train_passes(schedule, parts)


def one_loader_after_the_other(t):
    other = t.part(48)
    schedule = t.linear(PASSES * (len(t.loader) + len(other)))
    t.train_passes(schedule, (itertools.chain(t.loader, other) for _ in range(PASSES)))


def trainings_of_parts(t):
    for _ in range(3):
        t.model = nn.Linear(8, 2)
        t.use(t.model.parameters())
        loader = t.part(120)
        schedule = lr_scheduler.OneCycleLR(t.optimizer, 1.0, total_steps=2 * len(loader) + 1)
        t.train_passes(schedule, [loader] * 2)


def first_the_bias(t):
    for parameters in ([t.model.bias], t.model.parameters()):
        t.use(parameters)
        schedule = t.linear(2 * len(t.loader))
        t.train_passes(schedule, [t.loader] * 2)


def gradients_of_four_batches(t):
    loader = t.part(152)  # 10 batches, of which the last ones are a step of two
    schedule = t.linear(PASSES * 3)
    for _ in range(PASSES):
        for number, batch in enumerate(loader, 1):
            t.backward(batch, 4)
            if number % 4 == 0 or number == len(loader):
                t.update()
                schedule.step()
        t.mark()


def a_growing_number_of_gradients(t):
    parts = [1, 2, 5]
    schedule = t.linear(sum(len(t.loader) // count for count in parts))
    for count in parts:
        for number, batch in enumerate(t.loader, 1):
            t.backward(batch, count)
            if number % count == 0 or number == len(t.loader):
                t.update()
                schedule.step()
        t.mark()


def several_updates_of_a_batch(t):
    schedule = t.linear(PASSES * len(t.loader) * 3)
    for _ in range(PASSES):
        for batch in t.loader:
            for _ in range(3):
                t.train(batch)
                schedule.step()
        t.mark()


def warm_up_and_cosine(t):
    steps = PASSES * len(t.loader)
    warm_up = lr_scheduler.LinearLR(t.optimizer, 0.1, 1.0, total_iters=5)
    cosine = lr_scheduler.CosineAnnealingLR(t.optimizer, steps - 5)
    schedule = lr_scheduler.SequentialLR(t.optimizer, [warm_up, cosine], [5])
    t.train_passes(schedule, [t.loader] * PASSES)


def two_schedules_in_a_chain(t):
    steps = PASSES * len(t.loader)
    halved = lr_scheduler.ConstantLR(t.optimizer, 0.5, total_iters=steps // 2)
    schedule = lr_scheduler.ChainedScheduler([halved, t.linear(steps)])
    t.train_passes(schedule, [t.loader] * PASSES)


def a_schedule_that_was_begun(t):
    schedule = t.linear(2 * PASSES * len(t.loader))
    half = PASSES * len(t.loader)
    schedule.load_state_dict({**schedule.state_dict(), "last_epoch": half, "_step_count": half + 1})
    t.optimizer.param_groups[0]["lr"] = 0.505
    t.train_passes(schedule, [t.loader] * PASSES)


def warm_restarts(t):
    """Its step() does not count, as others do."""
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(t.optimizer, 3 * len(t.loader) // 2)
    t.train_passes(schedule, [t.loader] * PASSES)


def begun_in_a_later_pass(t):
    first, later = t.linear(2 * len(t.loader)), lr_scheduler.ExponentialLR(t.optimizer, 0.9)
    t.train_passes(first, [t.loader] * 2)
    t.train_passes(later, [t.loader] * (PASSES - 2))


def by_the_length_of_its_loader(t):
    schedule = lr_scheduler.LambdaLR(t.optimizer, lambda step: max(0, 1 - step / (PASSES * len(t.loader))))
    t.train_passes(schedule, [t.loader] * PASSES)


def a_second_optimizer_more_often(t):
    second = torch.optim.SGD([t.model.bias], 1.0)
    schedule = lr_scheduler.LinearLR(second, 1.0, 0.01, total_iters=2 * PASSES * len(t.loader))
    for _ in range(PASSES):
        for batch in t.loader:
            t.train(batch)
            for _ in range(2):
                second.step()
                schedule.step()
        t.rates.append(round(second.param_groups[0]["lr"], 9))


def after_a_step_without_data(t):
    t.train((torch.randn(BATCH, 8), torch.randint(0, 2, (BATCH,))))
    t.examples = 0
    after_each_update(t)


def on_a_plateau(t):
    schedule = lr_scheduler.ReduceLROnPlateau(t.optimizer, patience=0, factor=0.5)
    for _ in range(PASSES):
        for batch in t.loader:
            t.train(batch)
        schedule.step(1.0)
        t.mark()


def fetched_ahead(t):
    schedule = t.linear(PASSES * len(t.loader))
    for _ in range(PASSES):
        batches = iter(t.loader)
        following = next(batches, None)
        while following is not None:
            batch, following = following, next(batches, None)
            t.train(batch)
            schedule.step()
        t.mark()


def one_batch_of_each_pass(t):
    schedule = t.linear(24)
    for number in range(24):
        t.train(next(iter(t.loader)))
        schedule.step()
        if number % 4 == 3:
            t.mark()


def left_after_one_batch(t):
    schedule = t.linear(24)
    for number in range(24):
        for batch in t.loader:
            t.train(batch)
            schedule.step()
            break
        if number % 4 == 3:
            t.mark()


LOOPS = {function.__name__: function for function in (
    after_each_pass, with_the_last_batch_of_a_pass, after_each_update, before_each_update, a_loader_for_each_pass,
    data_that_grow, one_loader_after_the_other, trainings_of_parts, first_the_bias, gradients_of_four_batches,
    a_growing_number_of_gradients, several_updates_of_a_batch, warm_up_and_cosine, two_schedules_in_a_chain,
    a_schedule_that_was_begun, warm_restarts, begun_in_a_later_pass, by_the_length_of_its_loader,
    a_second_optimizer_more_often, after_a_step_without_data, on_a_plateau, fetched_ahead, one_batch_of_each_pass,
    left_after_one_batch)}


def main():
    torch.set_num_threads(1)
    for name in sys.argv[1:] or LOOPS:
        torch.manual_seed(1)
        t = Training()
        LOOPS[name](t)
        print(json.dumps({"name": name, "updates": t.updates, "examples": t.examples, "rates": t.rates}))


if __name__ == "__main__":
    main()
