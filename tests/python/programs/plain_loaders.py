"""Plain loops with all kinds of data sets, samplers and loaders, and of ways to read them. See common.py."""

import itertools
import random
import sys
import threading
import warnings

import numpy
import torch
from torch.nn import functional as F
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    Sampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
)

from common import main, network, program, rows, vectors


def train(trial, loader, epochs=2, *, dropout=0.0, each=lambda loader, epoch: None):
    """The loop that most of these have."""
    model = network(dropout=dropout)
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    trial.keep(model, optimizer)
    batches = trial.run.loader(loader)
    for epoch in range(epochs):
        each(batches, epoch)
        for batch in batches:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))
    return model


class Noisy(Dataset):
    """Examples with noise from all three generators."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        x, y = self.data[index]
        x = x + 0.1 * torch.randn(8) + 0.1 * random.random() + 0.1 * float(numpy.random.rand())
        return x if random.random() < 0.5 else x.flip(0), y


def set_numbers(worker):
    numpy.random.seed(torch.initial_seed() % 2**32)


@program
def augmented(trial):
    """Random numbers in the data set and dropout in the model, from the same generator."""
    train(trial, DataLoader(Noisy(vectors(50)), 8, shuffle=True), dropout=0.2)


@program
def augmented_by_workers(trial):
    """The same in two workers, whose generators are set by worker_init_fn."""
    train(trial, DataLoader(Noisy(vectors(50)), 8, shuffle=True, num_workers=2, worker_init_fn=set_numbers),
          dropout=0.2)


@program
def persistent_workers(trial):
    """Workers that outlive an epoch, and so go on with their random numbers; a generator of the loader's own."""
    train(trial, DataLoader(Noisy(vectors(50)), 8, shuffle=True, num_workers=2, persistent_workers=True,
                            prefetch_factor=3, worker_init_fn=set_numbers,
                            generator=torch.Generator().manual_seed(5)), epochs=3)


def stretched(items):
    """Random lengths, drawn as the batch is made."""
    x, y = torch.utils.data.default_collate(items)
    return x * (1 + torch.randint(0, 3, (1,)).item() * 0.1) + random.gauss(0, 0.1), y


@program
def random_collate(trial):
    """Random numbers in collate_fn, pinned memory, the tail dropped."""
    warnings.filterwarnings("ignore", "'pin_memory'")
    train(trial, DataLoader(vectors(50), 8, shuffle=True, drop_last=True, pin_memory=True, collate_fn=stretched))


@program
def random_collate_by_workers(trial):
    """The same in one worker, with a data set that is asked for several examples at once."""

    class Several(Noisy):
        def __getitems__(self, indices):
            offset = float(torch.randn(()))
            return [(x + offset, y) for x, y in map(self.__getitem__, indices)]

    train(trial, DataLoader(Several(vectors(50)), 8, shuffle=True, drop_last=True, num_workers=1,
                            collate_fn=stretched, worker_init_fn=set_numbers))


@program
def weighted_sampler(trial):
    """Examples are drawn with replacement, more of them than the data has, by a generator of the sampler's own."""
    data = vectors(40)
    weights = [1.0 / (1 + int(y)) for _, y in data]
    sampler = WeightedRandomSampler(weights, 52, generator=torch.Generator().manual_seed(3))
    train(trial, DataLoader(data, 8, sampler=sampler))


@program
def hard_examples_first(trial):
    """A sampler that looks at the last loss each time it is asked for an index."""
    data, seen = vectors(48), trial.seen

    class Hard(Sampler):
        def __len__(self):
            return 48

        def __iter__(self):
            left = list(range(48))
            while left:
                last = seen.get("loss", [1.0])[-1]
                yield left.pop(int(last * 1000) % len(left))

    train(trial, DataLoader(data, 8, sampler=Hard()))


@program
def sampler_by_epoch(trial):
    """A sampler with set_epoch, whose order and length differ from epoch to epoch."""

    class Growing(Sampler):
        epoch = 0

        def set_epoch(self, epoch):
            self.epoch = epoch

        def __len__(self):
            return 20 + 10 * self.epoch

        def __iter__(self):
            yield from torch.randperm(48, generator=torch.Generator().manual_seed(self.epoch))[: len(self)].tolist()

    sampler = Growing()
    train(trial, DataLoader(vectors(48), 8, sampler=sampler), 3, each=lambda loader, epoch: sampler.set_epoch(epoch))


@program
def growing_data(trial):
    """A buffer that gets new examples after each epoch, all of which are to be seen in the next."""
    data = vectors(64).tensors
    kept = [(x, y) for x, y in zip(data[0][:20], data[1][:20])]

    def grow(loader, epoch):
        kept.extend((data[0][20 + 12 * epoch + i], data[1][20 + 12 * epoch + i]) for i in range(12) if epoch)
        trial.note("kept", len(kept))

    train(trial, DataLoader(kept, 8, shuffle=True), 3, each=grow)


@program
def chosen_each_epoch(trial):
    """The indices of a SubsetRandomSampler are replaced before each epoch."""
    sampler = SubsetRandomSampler(list(range(24)))

    def choose(loader, epoch):
        sampler.indices = list(range(8 * epoch, 24 + 16 * epoch))

    train(trial, DataLoader(vectors(64), 8, sampler=sampler), 3, each=choose)


@program
def without_end(trial):
    """A sampler that never ends and has no length; the program counts its steps."""

    class Endless(Sampler):
        def __iter__(self):
            while True:
                yield from torch.randperm(48).tolist()

    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    for batch in itertools.islice(trial.run.loader(DataLoader(vectors(48), 8, sampler=Endless())), 15):
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def left_early(trial):
    """Each epoch is left after some batches, and the next begins with a new order."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(Noisy(vectors(50)), 8, shuffle=True))
    for most in (3, 1, 5):
        for number, batch in enumerate(loader):
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))
            if number + 1 == most:
                break


@program
def by_steps(trial):
    """`next` of an iterator that is made anew when it is through."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(vectors(30), 8, shuffle=True))
    batches = iter(loader)
    for _ in range(10):
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def own_batch_sampler(trial):
    """Batches of neighbours by size, in random order."""

    class Buckets(Sampler):
        def __init__(self, data):
            order = sorted(range(len(data)), key=lambda index: float(data[index][0].norm()))
            self.batches = [order[start : start + 8] for start in range(0, len(order), 8)]

        def __len__(self):
            return len(self.batches)

        def __iter__(self):
            yield from (self.batches[number] for number in torch.randperm(len(self.batches)).tolist())

    data = vectors(50)
    train(trial, DataLoader(data, batch_sampler=Buckets(data)))


@program
def sampler_for_a_size(trial):
    """Batches of 2 examples that stand 4 times each, by a sampler of indices that knows the size, as GRPO has it."""

    class Repeated(Sampler):
        def __init__(self, data, batch_size):
            self.data, self.batch_size = data, batch_size

        def __len__(self):
            return 4 * len(self.data)

        def __iter__(self):
            for group in torch.randperm(len(self.data)).split(self.batch_size // 4):
                yield from group.tolist() * 4

    data = vectors(20)
    train(trial, DataLoader(data, 8, sampler=Repeated(data, 8)))


@program
def stock_batch_sampler(trial):
    """torch's own BatchSampler, given by the program."""
    data = vectors(50)
    sampler = torch.utils.data.RandomSampler(data, generator=torch.Generator().manual_seed(2))
    train(trial, DataLoader(data, batch_sampler=BatchSampler(sampler, 8, False)))


@program
def data_set_of_batches(trial):
    """A data set whose items are batches already; the loader has no batch size."""
    x, y = vectors(48).tensors

    class Batches(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            return x[8 * index : 8 * index + 8], y[8 * index : 8 * index + 8]

    train(trial, DataLoader(Batches(), batch_size=None, shuffle=True))


class Stream(IterableDataset):
    """Examples one after the other, shared by the workers."""

    def __init__(self, data):
        self.data = data

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, len(self.data), step):
            yield self.data[index]


@program
def stream(trial):
    """An IterableDataset."""
    train(trial, DataLoader(Stream(vectors(50)), 8))


@program
def stream_by_workers(trial):
    """The same with two workers, which have their own tails."""
    train(trial, DataLoader(Stream(Noisy(vectors(50))), 8, num_workers=2, worker_init_fn=set_numbers))


@program
def two_together(trial):
    """Two loaders of different batch sizes side by side: examples with labels, and others without."""
    model = network(dropout=0.1)
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    marked = trial.run.loader(DataLoader(vectors(32), 4, shuffle=True))
    others = trial.run.loader(DataLoader(TensorDataset(vectors(96, seed=2).tensors[0]), 12, shuffle=True))
    for _ in range(2):
        for (x, y), (z,) in zip(marked, others):
            def loss_of(x, y, z):
                return F.cross_entropy(model(x), y) + 0.1 * F.mse_loss(model(z + 0.1), model(z).detach())

            loss = trial.run.backward((x, y, z), loss_of, model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, len(x))
            trial.note("others", len(z))


@program
def one_goes_round(trial):
    """A second loader that has fewer batches and begins again whenever it is through."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    long = trial.run.loader(DataLoader(vectors(48), 8, shuffle=True))
    short = trial.run.loader(DataLoader(vectors(20, seed=2), 8, shuffle=True))
    again = iter(short)
    for _ in range(2):
        for x, y in long:
            try:
                v, w = next(again)
            except StopIteration:
                again = iter(short)
                v, w = next(again)
            loss = trial.run.backward((x, y), lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, len(x))
            trial.note("second", float(F.cross_entropy(model(v), w).detach()))


@program
def evaluated_within(trial):
    """Every third step all of a second loader is read, and its length and data set are asked for."""
    model = network(dropout=0.2)
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(vectors(50), 8, shuffle=True))
    others = trial.run.loader(DataLoader(vectors(21, seed=2), 5))
    for epoch in range(2):
        for number, batch in enumerate(loader):
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))
            if number % 3 == 2:
                model.eval()
                with torch.no_grad():
                    right = sum(int((model(x).argmax(1) == y).sum()) for x, y in others)
                trial.note("right", [right / len(others.dataset), len(others), number / len(loader), epoch])
                model.train()


@program
def looked_at_before(trial):
    """One batch is looked at, and all are read for their mean, before the training begins."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(Noisy(vectors(50)), 8, shuffle=True))
    trial.note("shape", list(next(iter(loader))[0].shape))
    mean = torch.cat([x for x, _ in loader]).mean(0)
    for batch in loader:
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x - mean), y), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


def one_epoch(trial, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model, optimizer)
    for batch in loader:
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def asked_about(trial):
    """What programs ask of their loader: its batch size, data set, sampler, workers, and how many batches it has."""
    model = network()
    loader = trial.run.loader(DataLoader(vectors(50), 8, shuffle=True))
    trial.note("asked", [loader.batch_size, len(loader.dataset), type(loader.sampler).__name__, loader.num_workers,
                         len(loader), loader.drop_last, len(loader.batch_sampler), loader.pin_memory])
    one_epoch(trial, model, loader)


@program
def asked_about_a_stream(trial):
    """The same of a loader over an IterableDataset."""
    model = network()
    loader = trial.run.loader(DataLoader(Stream(vectors(50)), 8))
    trial.note("asked", [loader.batch_size, type(loader.dataset).__name__, loader.num_workers, loader.drop_last])
    one_epoch(trial, model, loader)


@program
def moved(trial):
    """Batches are dicts; all that is in them is moved to the model's device, one by one."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    data = [{"x": x, "y": y, "name": f"example {number}"} for number, (x, y) in enumerate(vectors(50))]
    for batch in trial.run.loader(DataLoader(data, 8, shuffle=True)):
        moved = {name: value.to("cpu") for name, value in batch.items() if torch.is_tensor(value)}
        loss = trial.run.backward(moved, lambda part: F.cross_entropy(model(part["x"]), part["y"]), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, len(moved["y"]))


@program
def fetched_ahead(trial):
    """The next batch is fetched before the present one is used."""

    class Ahead:
        def __init__(self, loader):
            self.loader = loader

        def __iter__(self):
            batches = iter(self.loader)
            following = next(batches, None)
            while following is not None:
                batch, following = following, next(batches, None)
                yield batch

    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = Ahead(trial.run.loader(DataLoader(vectors(51), 8, shuffle=True)))
    for _ in range(2):
        for batch in loader:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def one_after_another(trial):
    """Two trainings in one process, with other data, models and batch sizes."""
    for size, seed in ((8, 1), (5, 2)):
        train(trial, DataLoader(vectors(50, seed=seed), size, shuffle=True, generator=torch.Generator()), epochs=1)


@program
def keeps_its_losses(trial):
    """A backward pass of the program's own, whose losses are kept with their graphs, so that memory grows."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    losses = []
    for x, y in trial.run.loader(DataLoader(vectors(50), 8, shuffle=True)):
        optimizer.zero_grad()
        losses.append(F.cross_entropy(model(x), y))
        losses[-1].backward()
        optimizer.step()
        trial.run.step(optimizer, loss=losses[-1])
        trial.step(losses[-1], optimizer, len(x))
    trial.note("sum", float(sum(losses).detach()))


@program
def accumulated_by_hand(trial):
    """Three batches for each update, with a backward pass of the program's own; the rest of an epoch is left out."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(vectors(66), 8, shuffle=True))
    for _ in range(2):
        total, examples = 0.0, 0
        for number, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x), y) / 3
            loss.backward()
            total += loss.detach()
            examples += len(x)
            if number % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
                trial.run.step(optimizer, loss=total)
                trial.step(total, optimizer, examples)
                total, examples = 0.0, 0


@program
def accumulated_by_the_loader(trial):
    """Three batches for each update, by the loader's own accumulation; the plain twin counts them itself."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(vectors(66), 8, shuffle=True))

    def loss_of(x, y):
        return F.cross_entropy(model(x), y)

    if hasattr(loader, "accumulate"):
        loader.accumulate = 3
        for batch in loader:
            loss = trial.run.backward(batch, loss_of, model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, sum(len(part[0]) for part in batch.parts))
        return
    batches = iter(loader)
    while parts := list(itertools.islice(batches, 3)):
        optimizer.zero_grad()
        examples, total = sum(len(x) for x, _ in parts), None
        for x, y in parts:
            loss = loss_of(x, y) * (len(x) / examples)
            loss.backward()
            total = loss.detach() if total is None else total + loss.detach()
        optimizer.step()
        trial.step(total, optimizer, examples)


@program
def in_a_thread(trial):
    """The training runs in a thread of its own."""
    thread = threading.Thread(target=train, args=(trial, DataLoader(vectors(50), 8, shuffle=True)))
    thread.start()
    thread.join()


@program
def without_loader(trial):
    """Batches are cut out of a long text at random places, as nanoGPT does it; a GradScaler's place is empty."""
    text = torch.randint(0, 20, (400,), generator=torch.Generator().manual_seed(1))
    model = torch.nn.Sequential(torch.nn.Embedding(20, 8), torch.nn.Linear(8, 20))
    trial.limit(model[0])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    trial.keep(model)
    for step in range(10):
        places = torch.randint(0, 390, (8,))
        x = torch.stack([text[p : p + 8] for p in places])
        y = torch.stack([text[p + 1 : p + 9] for p in places])
        loss = trial.run.backward((x, y), lambda x, y: F.cross_entropy(model(x).flatten(0, 1), y.flatten()), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss, step_of_program=step)
        trial.step(loss, optimizer, 8)


@program
def second_optimiser_order(trial):
    """LBFGS calls a function several times for each update; it reports its steps and nothing else."""
    model = network()
    x, y = vectors(40).tensors
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")
    trial.keep(model)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for step in range(5):
        loss = optimizer.step(closure)
        trial.run.report(step + 1, loss=loss, learning_rate=0.5)
        trial.step(loss, optimizer, 40)


@program
def policy_gradient(trial):
    """Episodes of different lengths, one for each update; it reports its steps from 0."""
    model = network(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    trial.keep(model)
    for episode in range(8):
        state, terms, gain = torch.zeros(4), [], 0.0
        for _ in range(3 + episode % 3):
            chosen = torch.distributions.Categorical(logits=model(state))
            action = chosen.sample()
            terms.append(-chosen.log_prob(action))
            state = state + torch.randn(4) * 0.1 + action
            gain += float(state[0])
        loss = torch.stack(terms).sum() * gain
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trial.run.report(episode, loss=loss, reward=gain)
        trial.step(loss, optimizer, len(terms))


@program
def ended_by_exit(trial):
    """The program ends by sys.exit within its loop, after it has stored what it has."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    for batch in trial.run.loader(DataLoader(vectors(50), 8, shuffle=True)):
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))
        if trial.steps == 4:
            trial.write()
            sys.exit(0)


if __name__ == "__main__":
    main()
