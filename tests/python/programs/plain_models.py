"""Plain loops whose models have a state beside their weights, or that have several models. See common.py."""

import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from common import main, network, program, rows, vectors


def loop(trial, model, loss_of, loader, *, epochs=2, rate=0.05, after=lambda: None):
    optimizer = torch.optim.SGD(model.parameters(), rate, momentum=0.9)
    batches = trial.run.loader(loader)
    for _ in range(epochs):
        for batch in batches:
            loss = trial.run.backward(batch, loss_of, model)
            optimizer.step()
            after()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def teacher_in_forward(trial):
    """The weights of a teacher are buffers, a moving average that every forward pass in training moves on."""

    class Student(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 3)
            self.register_buffer("teacher", self.first.weight.detach().clone())

        def forward(self, x):
            if self.training:
                with torch.no_grad():
                    self.teacher.lerp_(self.first.weight, 0.1)
            return self.second(torch.tanh(self.first(x))), torch.tanh(F.linear(x, self.teacher))

    model = Student()
    trial.limit(model.first)
    trial.keep(model)

    def loss_of(x, y):
        out, target = model(x)
        return F.cross_entropy(out, y) + F.mse_loss(torch.tanh(model.first(x)), target)

    loop(trial, model, loss_of, DataLoader(vectors(50), 8, True))


class Shards:
    """The parameters of a sharded model, as this rank has them."""

    def __init__(self, model):
        self._model = model

    def state_dict(self):
        return {name: parameter.to_local() if hasattr(parameter, "to_local") else parameter
                for name, parameter in self._model.named_parameters()}


def sharded_loop(trial, shard):
    if not torch.distributed.is_initialized():
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
    first, *others = network()
    trial.limit(first)
    model = shard(nn.Sequential(first, *others))
    trial.keep(Shards(model))

    def loss_of(x, y):
        return F.cross_entropy(model(x), y)

    loop(trial, model, loss_of, DataLoader(vectors(50), 8, True))


@program
def sharded(trial):
    """FSDP divides the parameters among the ranks, of which there is one."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def shard(model):
        mesh = init_device_mesh("cpu", (1,))
        fully_shard(model[0], mesh=mesh)
        return fully_shard(model, mesh=mesh)

    sharded_loop(trial, shard)


@program
def sharded_flat(trial):
    """The same with FSDP's first version, whose parameters are views of a flat one."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    sharded_loop(trial, lambda model: FullyShardedDataParallel(model, device_id=torch.device("cpu")))


class Engine(nn.Module):
    """What DeepSpeed makes of a model, as far as programs use it: backward() is its own, step() clears gradients."""

    def __init__(self, model, optimizer):
        super().__init__()
        self.module, self.optimizer = model, optimizer

    def forward(self, x):
        return self.module(x)

    def backward(self, loss):
        loss.backward()

    def zero_grad(self):
        raise AssertionError("the engine clears gradients itself")

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()


Engine.__module__ = "deepspeed.runtime.engine"


@program
def engine(trial):
    """An engine with DeepSpeed's name makes the backward passes and the updates."""
    model = network()
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    whole = Engine(model, optimizer)
    trial.keep(model)
    for _ in range(2):
        for batch in trial.run.loader(DataLoader(vectors(50), 8, True)):
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(whole(x), y), whole)
            whole.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def teacher_after_update(trial):
    """A copy of the model that follows it after each update, and gives soft labels."""
    model = network(dropout=0.2)
    teacher = copy.deepcopy(model).requires_grad_(False)
    trial.limit(model[0])
    trial.keep(model, teacher)

    def loss_of(x, y):
        with torch.no_grad():
            target = teacher(x).softmax(1)
        return F.cross_entropy(model(x), 0.5 * target + 0.5 * F.one_hot(y, 3))

    def follow():
        with torch.no_grad():
            for old, new in zip(teacher.parameters(), model.parameters()):
                old.lerp_(new, 0.05)

    loop(trial, model, loss_of, DataLoader(vectors(50), 8, True), after=follow)


@program
def spectral_norm(trial):
    """Each forward pass in training is a step of a power iteration, kept in buffers."""
    model = network()
    model[0] = nn.utils.parametrizations.spectral_norm(model[0])
    trial.limit(model[0])
    trial.keep(model)
    loop(trial, model, lambda x, y: F.cross_entropy(model(x), y), DataLoader(vectors(50), 8, True))


@program
def batch_norm(trial):
    """With a tail of one example, which cannot be normalised and is skipped; pieces of one cannot be run either."""
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model, optimizer)
    loader = trial.run.loader(DataLoader(vectors(51), 5, shuffle=True))
    for _ in range(2):
        for x, y in loader:
            if len(x) == 1:
                continue
            loss = trial.run.backward((x, y), lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, len(x))
        trial.examples += 1  # the one that was skipped


@program
def codebook(trial):
    """Quantised vectors: a table that follows the data by counts and sums, as a state of the forward pass."""

    class Quantiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode, self.decode = nn.Linear(8, 4), nn.Linear(4, 8)
            self.register_buffer("table", torch.randn(6, 4))
            self.register_buffer("counts", torch.ones(6))

        def forward(self, x):
            code = self.encode(x)
            nearest = torch.cdist(code, self.table).argmin(1)
            if self.training:
                with torch.no_grad():
                    chosen = F.one_hot(nearest, 6).to(code.dtype)
                    self.counts.mul_(0.9).add_(chosen.sum(0), alpha=0.1)
                    self.table.lerp_(chosen.T @ code / self.counts[:, None], 0.1)
            found = self.table[nearest]
            return self.decode(code + (found - code).detach()), F.mse_loss(code, found)

    model = Quantiser()
    trial.limit(model.encode)
    trial.keep(model)

    def loss_of(x, y):
        decoded, distance = model(x)
        return F.mse_loss(decoded, x) + 0.25 * distance

    loop(trial, model, loss_of, DataLoader(vectors(50), 8, True))


@program
def carried_state(trial):
    """A recurrent network goes on from batch to batch with the hidden state that it had, row by row."""
    cell, head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 1)
    model = nn.ModuleList([cell, head])
    trial.limit(cell)
    trial.keep(model)
    state = {"hidden": None}
    series = torch.randn(6, 40, 4)

    def loss_of(x):
        out, hidden = cell(x, state["hidden"])
        state["hidden"] = hidden.detach()
        return F.mse_loss(head(out)[:, :-1, 0], x[:, 1:, 0])

    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for start in range(0, 40, 8):
        loss = trial.run.backward([series[:, start : start + 8]], loss_of, model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, 6)
    trial.note("hidden", state["hidden"].tolist())


@program
def adversarial(trial):
    """Two networks with an optimizer each: one makes examples of noise, the other tells them from real ones."""
    maker, judge = network(4, 8), network(8, 1, dropout=0.1)
    trial.limit(judge[0])
    optimizers = [torch.optim.Adam(maker.parameters(), 1e-2), torch.optim.Adam(judge.parameters(), 1e-2)]
    trial.keep(maker, judge, *optimizers)

    def loss_of_judge(x, _):
        with torch.no_grad():
            made = maker(torch.randn(len(x), 4))
        return F.softplus(-judge(x)).mean() + F.softplus(judge(made)).mean()

    def loss_of_maker(x, _):
        return F.softplus(-judge(maker(torch.randn(len(x), 4)))).mean()

    loader = trial.run.loader(DataLoader(vectors(40), 8, shuffle=True, drop_last=True))
    for _ in range(2):
        for batch in loader:
            other = trial.run.backward(batch, loss_of_judge, judge)
            optimizers[1].step()
            loss = trial.run.backward(batch, loss_of_maker, maker)
            optimizers[0].step()
            trial.run.step(optimizers[0], loss=loss, judge=other)
            trial.step(loss, optimizers[0], rows(batch))


@program
def actor_and_critic(trial):
    """Two networks trained in turns, of which one is a part of the other's loss; two records a batch."""
    actor, critic = network(8, 3), network(8, 1)
    trial.limit(actor[0])
    optimizers = {actor: torch.optim.Adam(actor.parameters(), 1e-2), critic: torch.optim.SGD(critic.parameters(), 0.1)}
    trial.keep(actor, critic, *optimizers.values())

    def loss_of_critic(x, y):
        return F.mse_loss(critic(x)[:, 0], y.float())

    def loss_of_actor(x, y):
        gain = (y.float() - critic(x)[:, 0]).detach()
        return -(actor(x).log_softmax(1).gather(1, y[:, None])[:, 0] * gain).mean()

    for batch in trial.run.loader(DataLoader(vectors(48), 8, shuffle=True)):
        for model, loss_of in ((critic, loss_of_critic), (actor, loss_of_actor)):
            loss = trial.run.backward(batch, loss_of, model)
            optimizers[model].step()
        trial.run.step(optimizers[actor], loss=loss)
        trial.step(loss, optimizers[actor], rows(batch))


@program
def frozen_then_thawed(trial):
    """The first layer is frozen in the first epoch, and joins the optimizer in the second."""
    model = network()
    model[0].requires_grad_(False)
    trial.limit(model[2])
    trial.keep(model)
    optimizer = torch.optim.SGD(model[2].parameters(), 0.1)
    loader = trial.run.loader(DataLoader(vectors(50), 8, shuffle=True))
    for epoch in range(2):
        if epoch == 1:
            model[0].requires_grad_(True)
            optimizer.add_param_group({"params": list(model[0].parameters()), "lr": 0.02})
        for batch in loader:
            loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def checkpointed(trial):
    """Activations are computed again in the backward pass, with dropout."""
    model = network(dropout=0.3)
    trial.limit(model[0])
    trial.keep(model)

    def loss_of(x, y):
        return F.cross_entropy(torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False), y)

    loop(trial, model, loss_of, DataLoader(vectors(50), 8, True))


@program
def cleared_by_hand(trial):
    """Gradients of a part are scaled, clipped by value and set to none by the program itself."""
    model = network()
    trial.limit(model[0])
    trial.keep(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for batch in trial.run.loader(DataLoader(vectors(50), 8, True)):
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        model[0].weight.grad.mul_(0.5)
        nn.utils.clip_grad_value_(model.parameters(), 0.05)
        optimizer.step()
        for parameter in model.parameters():
            parameter.grad = None
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def updated_in_backward(trial):
    """Each weight is updated as soon as its gradient is complete; no optimizer steps after the backward pass."""
    model = network()
    trial.limit(model[0])
    trial.keep(model)
    optimizers = {p: torch.optim.SGD([p], 0.05) for p in model.parameters()}

    def update(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(update)
    for batch in trial.run.loader(DataLoader(vectors(50), 8, True)):
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        trial.run.step(loss=loss)
        trial.step(loss, next(iter(optimizers.values())), rows(batch))


@program
def sharpness_aware(trial):
    """Two backward passes for each update: at the weights, and where the loss is highest near them."""
    model = network()
    trial.limit(model[0])
    trial.keep(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    for batch in trial.run.loader(DataLoader(vectors(50), 8, True)):
        loss = trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        moves = [0.05 * p.grad / norm for p in model.parameters()]
        with torch.no_grad():
            torch._foreach_add_(list(model.parameters()), moves)
        trial.run.backward(batch, lambda x, y: F.cross_entropy(model(x), y), model)
        with torch.no_grad():
            torch._foreach_sub_(list(model.parameters()), moves)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, rows(batch))


@program
def mixup(trial):
    """Pairs of examples of a batch are mixed by random numbers in the loop, before the backward pass."""
    model = network()
    trial.limit(model[0])
    trial.keep(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for x, y in trial.run.loader(DataLoader(vectors(50), 8, True)):
        order, share = torch.randperm(len(x)), float(torch.rand(()))
        mixed = (x * share + x[order] * (1 - share), y, y[order])

        def loss_of(x, one, two, share=share):
            return share * F.cross_entropy(model(x), one) + (1 - share) * F.cross_entropy(model(x), two)

        loss = trial.run.backward(mixed, loss_of, model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, len(x))


if __name__ == "__main__":
    main()
