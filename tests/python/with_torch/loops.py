"""Training loops of many shapes, none of which knows of BatchScope.

usage: loops.py NAME... [--workers N] [--epochs N] [--file FILE]
For each it prints a line of JSON: its name, the updates of its first optimizer, the batches that each of these used, as
the loop itself has seen them, the ids of the examples in their order, and a digest of weights and random numbers.
"""

import argparse
import contextlib
import hashlib
import itertools
import json
import pickle
import threading

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, Sampler

EXAMPLES, FEATURES, BATCH = 200, 12, 16


class Points(Dataset):
    """Points with noise that is drawn anew each time, and their number."""

    def __init__(self, examples=EXAMPLES, noise=0.01):
        numbers = torch.Generator().manual_seed(5)
        self.x = torch.randn(examples, FEATURES, generator=numbers)
        self.y = (self.x.sum(1) > 0).long()
        self.noise = noise

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index] + self.noise * torch.randn(FEATURES), self.y[index], index


class Stream(IterableDataset):
    def __iter__(self):
        data = Points()
        return (data[index] for index in range(EXAMPLES))


class InPairs(Sampler):
    """Makes batches of its own."""

    def __iter__(self):
        return iter([[index, index + 1] for index in range(0, EXAMPLES, 2)])

    def __len__(self):
        return EXAMPLES // 2


def network(norm=False):
    return nn.Sequential(nn.Linear(FEATURES, 32), nn.BatchNorm1d(32) if norm else nn.Identity(), nn.ReLU(),
                         nn.Dropout(0.2), nn.Linear(32, 2))


class Training:
    """What the loops share: data, a model, and what they say of their steps."""

    def __init__(self, options, norm=False, optimizes=True):
        self.options = options
        self.model = network(norm)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-3) if optimizes else None
        self.steps, self.ids, self.batches = 0, [], []
        self.evaluated = []  # sizes of batches

    def loader(self, data=None, **settings):
        settings = {"batch_size": BATCH, "shuffle": True, "num_workers": self.options.workers, **settings}
        return DataLoader(data or Points(), **settings)

    def loss(self, batch):
        x, y, ids = batch
        self.batches.append(len(y))
        self.ids += ids.tolist()
        return F.cross_entropy(self.model(x), y)

    def update(self, optimizer=None):
        (optimizer or self.optimizer).step()
        self.count()

    def count(self):
        self.steps += 1
        self.takes = getattr(self, "takes", [])
        self.takes.append(self.batches)
        self.batches = []

    def train_step(self, batch):
        self.optimizer.zero_grad()
        self.loss(batch).backward()
        self.update()

    @property
    def epochs(self):
        return range(self.options.epochs)

    def evaluate(self, loader):
        self.model.eval()
        for x, _, _ in loader:
            self.model(x)
            self.evaluated.append(len(x))
        self.model.train()


def plain(options):
    t = Training(options)
    loader, held = t.loader(), t.loader(Points(50), shuffle=False)
    for _ in t.epochs:
        for batch in loader:
            t.train_step(batch)
        with torch.no_grad():
            t.evaluate(held)
    return t


def wide(options):
    """Needs about 200 kB for each example of a batch."""
    t = Training(options)
    t.model = nn.Sequential(nn.Linear(FEATURES, 8000), nn.GELU(), nn.LayerNorm(8000), nn.Linear(8000, 2))
    t.optimizer = torch.optim.SGD(t.model.parameters(), 1e-3)
    loader = t.loader(Points(4000))
    for _ in t.epochs:
        for batch in loader:
            t.train_step(batch)
    return t


def drops_last(options):
    t = Training(options, norm=True)
    loader = t.loader(drop_last=True)
    for _ in t.epochs:
        for batch in loader:
            t.train_step(batch)
    return t


def accumulates(options):
    t = Training(options)
    loader = t.loader()
    for _ in t.epochs:
        for number, batch in enumerate(loader, 1):
            (t.loss(batch) / 4).backward()
            if number % 4 == 0 or number == len(loader):
                t.update()
                t.optimizer.zero_grad()
    return t


def clips_and_schedules(options):
    t = Training(options)
    loader = t.loader()
    schedule = torch.optim.lr_scheduler.OneCycleLR(t.optimizer, 1e-2, total_steps=options.epochs * len(loader))
    for _ in t.epochs:
        for batch in loader:
            t.optimizer.zero_grad()
            t.loss(batch).backward()
            nn.utils.clip_grad_norm_(t.model.parameters(), 1.0)
            t.update()
            schedule.step()
        pickle.dumps(schedule.state_dict())  # as for a checkpoint
    return t


def scales(options):
    t = Training(options)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8)
    for epoch in t.epochs:
        for number, batch in enumerate(t.loader()):
            t.optimizer.zero_grad()
            loss = t.loss(batch)
            if epoch == 0 and number == 3:
                loss = loss * float("inf")  # this update is left out
            scaler.scale(loss).backward()
            scaler.step(t.optimizer)
            scaler.update()
            t.count()
    return t


def two_networks(options):
    """One that makes examples, and one that tells them apart."""
    t = Training(options)
    maker, judge = nn.Linear(4, FEATURES), nn.Linear(FEATURES, 1)
    t.model = nn.ModuleList([maker, judge])
    makes, judges = torch.optim.Adam(maker.parameters(), 1e-3), torch.optim.Adam(judge.parameters(), 2e-3)
    for _ in t.epochs:
        for x, _, ids in t.loader():
            t.batches.append(len(x))
            t.ids += ids.tolist()
            judges.zero_grad()
            F.binary_cross_entropy_with_logits(judge(x), torch.ones(len(x), 1)).backward()
            made = maker(torch.randn(len(x), 4))
            F.binary_cross_entropy_with_logits(judge(made.detach()), torch.zeros(len(x), 1)).backward()
            t.update(judges)
            makes.zero_grad()
            F.binary_cross_entropy_with_logits(judge(made), torch.ones(len(x), 1)).backward()
            makes.step()
    return t


def one_after_the_other(options):
    """Two trainings, each with an optimizer of its own, which both live to the end."""
    t = Training(options)
    first, second = torch.optim.SGD(t.model[0].parameters(), 0.1), torch.optim.SGD(t.model[4].parameters(), 0.1)
    loader = t.loader()
    for optimizer in (first, second):
        for batch in loader:
            optimizer.zero_grad()
            t.loss(batch).backward()
            t.update(optimizer)
    return t


def by_hand(options):
    """No loader at all, and an accumulation."""
    t = Training(options)
    data = Points()
    for _ in range(12 * options.epochs):
        t.optimizer.zero_grad()
        for _ in range(3):
            rows = torch.randint(0, EXAMPLES, (BATCH,)).tolist()
            batch = [torch.stack([data[row][0] for row in rows]), data.y[rows], torch.tensor(rows)]
            (t.loss(batch) / 3).backward()
        t.update()
    return t


def closures(options):
    t = Training(options)
    t.model[3] = nn.Identity()
    optimizer = torch.optim.LBFGS(t.model.parameters(), max_iter=4)
    data = Points(noise=0)
    for _ in range(3 * options.epochs):
        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(t.model(data.x), data.y)
            loss.backward()
            return loss
        t.update_by = optimizer.step(closure)
        t.count()
    return t


def without_optimizer(options):
    """The parameters are updated by the program itself."""
    t = Training(options, optimizes=False)
    for _ in t.epochs:
        for batch in t.loader():
            t.model.zero_grad()
            t.loss(batch).backward()
            with torch.no_grad():
                for parameter in t.model.parameters():
                    parameter.sub_(0.05 * parameter.grad)
            t.count()
    return t


def looks_first(options):
    """A batch of each loader is looked at before the training, as for a picture."""
    t = Training(options)
    held = t.loader(Points(50), batch_size=50, shuffle=False)
    loader = t.loader()
    t.model(next(iter(held))[0])
    t.model(next(iter(loader))[0])
    for _ in t.epochs:
        for batch in loader:
            t.train_step(batch)
    return t


def evaluates_inside(options):
    """With gradients enabled, in the middle of an epoch."""
    t = Training(options)
    held = t.loader(Points(50), batch_size=25, shuffle=False)
    for _ in t.epochs:
        for number, batch in enumerate(t.loader()):
            t.train_step(batch)
            if number % 5 == 4:
                t.evaluate(held)
    return t


def evaluates_apart(options):
    """With gradients enabled, after each epoch, over few batches."""
    t = Training(options)
    loader, held = t.loader(), t.loader(Points(50), batch_size=30, shuffle=False)
    for _ in t.epochs:
        for batch in loader:
            t.train_step(batch)
        t.evaluate(held)
    return t


def fresh_loaders(options):
    """A loader for each epoch."""
    t = Training(options)
    data = Points()
    for _ in t.epochs:
        for batch in t.loader(data):
            t.train_step(batch)
    return t


def goes_round(options):
    """Counts steps, and takes a loader from its beginning when it is through."""
    t = Training(options)
    loader = t.loader()
    batches = iter(loader)
    for _ in range(options.epochs * len(loader)):
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        t.train_step(batch)
    return t


def leaves_early(options):
    """Passes that are not gone through."""
    t = Training(options)
    loader = t.loader()
    for _ in t.epochs:
        batches = iter(loader)
        for _ in range(5):
            t.train_step(next(batches))
    return t


def two_loaders(options):
    t = Training(options)
    for _ in t.epochs:
        for (x, y, ids), (other, _, _) in zip(t.loader(), t.loader(batch_size=8)):
            t.optimizer.zero_grad()
            (t.loss((x, y, ids)) + t.model(other).square().mean()).backward()
            t.update()
    return t


def beside_a_cycle(options):
    """The cycle begins its loader before the other one is begun."""
    t = Training(options)
    loader, others = t.loader(), t.loader(batch_size=8)
    for _ in t.epochs:
        for (x, y, ids), (other, _, _) in zip(loader, itertools.cycle(others)):
            t.evaluated.append(len(other))
            t.optimizer.zero_grad()
            (t.loss((x, y, ids)) + t.model(other).square().mean()).backward()
            t.update()
    return t


def same_loader_twice(options):
    t = Training(options)
    loader = t.loader()
    for _ in t.epochs:
        for batch, (other, _, _) in zip(loader, loader):
            t.optimizer.zero_grad()
            (t.loss(batch) + t.model(other).square().mean()).backward()
            t.update()
    return t


def one_batch_again(options):
    """Trains on the same batch for ever."""
    t = Training(options)
    batch = next(iter(t.loader()))
    for _ in range(10 * options.epochs):
        t.train_step(batch)
    return t


def streams(options):
    t = Training(options)
    for _ in t.epochs:
        for batch in t.loader(Stream(), shuffle=None, num_workers=0):
            t.train_step(batch)
    return t


def pairs(options):
    t = Training(options)
    for _ in t.epochs:
        for batch in t.loader(batch_sampler=InPairs(), batch_size=1, shuffle=None):
            t.train_step(batch)
    return t


def within_backward(options):
    """Optimizers of single parameters, which make their updates as soon as there is a gradient."""
    t = Training(options)
    optimizers = {p: torch.optim.SGD([p], 0.05) for p in t.model.parameters()}
    last = next(iter(t.model.parameters()))

    def update(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()
        if parameter is last:
            t.count()

    for parameter in t.model.parameters():
        parameter.register_post_accumulate_grad_hook(update)
    for _ in t.epochs:
        for batch in t.loader():
            t.loss(batch).backward()
    return t


def prefetched(options):
    """Batches are fetched by a thread."""
    t = Training(options)
    loader = t.loader()
    for _ in t.epochs:
        batches = []
        state = torch.get_rng_state()
        thread = threading.Thread(target=lambda: batches.extend(loader))
        thread.start()
        thread.join()
        torch.set_rng_state(state)
        for batch in batches:
            t.train_step(batch)
    return t


def one_ahead(options):
    """The next batch is fetched before the present one is used."""
    t = Training(options)
    for _ in t.epochs:
        batches = iter(t.loader())
        present = next(batches)
        while present is not None:
            following = next(batches, None)
            t.train_step(present)
            present = following
    return t


def checkpoints(options):
    t = Training(options)
    for _ in t.epochs:
        for x, y, ids in t.loader():
            t.batches.append(len(y))
            t.ids += ids.tolist()
            t.optimizer.zero_grad()
            hidden = torch.utils.checkpoint.checkpoint(t.model[:3], x, use_reentrant=True)
            F.cross_entropy(t.model[3:](hidden), y).backward()
            t.update()
    return t


def accelerated(options):
    import accelerate

    t = Training(options)
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    model, optimizer, loader = accelerator.prepare(t.model, t.optimizer, t.loader())
    for _ in t.epochs:
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(t.loss(batch))
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                t.count()
    return t


def fabric(options):
    from lightning.fabric import Fabric

    t = Training(options)
    with contextlib.redirect_stderr(None):
        fabric = Fabric(accelerator="cpu", devices=1)
    t.model, optimizer = fabric.setup(t.model, t.optimizer)
    loader = fabric.setup_dataloaders(t.loader())
    for _ in t.epochs:
        for batch in loader:
            optimizer.zero_grad()
            fabric.backward(t.loss(batch))
            t.update(optimizer)
    return t


class Repeated(BatchSampler):
    """Wraps another one, as those that count iterations or skip what a checkpoint has seen do."""

    def __init__(self, batch_sampler, times):
        self.batch_sampler, self.times = batch_sampler, times

    def __len__(self):
        return len(self.batch_sampler) * self.times

    def __iter__(self):
        return (sorted(batch) for batch in self.batch_sampler for _ in range(self.times))


def wraps_batches(options):
    t = Training(options)
    of_another = Repeated(t.loader().batch_sampler, 2)
    loader = DataLoader(Points(), batch_sampler=of_another, num_workers=options.workers)
    for _ in t.epochs:
        for batch in loader:
            t.train_step(batch)
    return t


def grows_its_batch(options):
    """From the second epoch on."""
    t = Training(options)
    loader = t.loader()
    for epoch in t.epochs:
        loader.batch_sampler.batch_size = BATCH * (epoch + 1)
        for batch in loader:
            t.train_step(batch)
    return t


def grows_its_batch_in_an_epoch(options):
    t = Training(options)
    loader = t.loader()
    for epoch in t.epochs:
        for number, batch in enumerate(loader):
            t.train_step(batch)
            if (epoch, number) == (0, 3):
                loader.batch_sampler.batch_size, loader.batch_sampler.drop_last = 3 * BATCH, True
    return t


class SharpnessAware(torch.optim.Optimizer):
    """Two passes for an update, which the optimizer in it makes."""

    def __init__(self, parameters, base):
        super().__init__(parameters, {"lr": base.param_groups[0]["lr"]})
        self.base, self.param_groups = base, base.param_groups

    def step(self, closure):
        parameters = [p for group in self.param_groups for p in group["params"]]
        before = [p.detach().clone() for p in parameters]
        with torch.no_grad():
            for p in parameters:
                p.add_(p.grad, alpha=0.05 / (1e-8 + float(p.grad.norm())))
        self.zero_grad()
        with torch.enable_grad():
            closure()
        with torch.no_grad():
            for p, value in zip(parameters, before):
                p.copy_(value)
        self.base.step()


def takes_gradients(options):
    """Without a backward pass. Evaluations take gradients, too, for adversarial examples."""
    t = Training(options)
    held, parameters = t.loader(Points(50), batch_size=25, shuffle=False), list(t.model.parameters())
    for _ in t.epochs:
        for batch in t.loader():
            for p, gradient in zip(parameters, torch.autograd.grad(t.loss(batch), parameters)):
                p.grad = gradient
            t.update()
        for x, y, _ in held:
            x.requires_grad_()
            towards = torch.autograd.grad(F.cross_entropy(t.model(x), y), x)[0]
            with torch.no_grad():
                t.model(x + 0.1 * towards.sign())
            t.evaluated.append(len(x))
    return t


def sharpness_aware(options):
    t = Training(options)
    t.optimizer = SharpnessAware(t.model.parameters(), t.optimizer)
    loader = t.loader()
    for _ in t.epochs:
        for batch in loader:
            t.optimizer.zero_grad()
            t.loss(batch).backward()
            t.optimizer.step(lambda batch=batch: F.cross_entropy(t.model(batch[0]), batch[1]).backward())
            t.count()
    return t


def ends_its_workers(options):
    t = Training(options)
    loader = t.loader()
    for _ in t.epochs:
        iterator = iter(loader)
        for _ in range(5):
            t.train_step(next(iterator))
        if options.workers:
            iterator._shutdown_workers()
    return t


LOOPS = {loop.__name__: loop for loop in (
    plain, wide, drops_last, accumulates, clips_and_schedules, scales, two_networks, one_after_the_other, by_hand,
    closures, without_optimizer, looks_first, evaluates_inside, evaluates_apart, fresh_loaders, goes_round,
    leaves_early, two_loaders, beside_a_cycle, same_loader_twice, one_batch_again, streams, pairs, within_backward,
    prefetched, one_ahead, checkpoints, accelerated, fabric, wraps_batches, grows_its_batch,
    grows_its_batch_in_an_epoch, sharpness_aware, takes_gradients, ends_its_workers)}


def digest(model):
    state = hashlib.sha256()
    for value in [*model.state_dict().values(), torch.get_rng_state()]:
        state.update(value.contiguous().numpy().tobytes())
    return state.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    lines = []
    for name in options.names:
        torch.manual_seed(1)
        t = LOOPS[name](options)
        lines.append(json.dumps({"name": name, "steps": t.steps, "takes": t.takes, "ids": t.ids,
                                 "evaluated": t.evaluated, "digest": digest(t.model)}))
    if options.file:
        with open(options.file, "w") as file:
            file.write("\n".join(lines))
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
