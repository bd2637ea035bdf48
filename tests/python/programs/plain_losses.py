"""Plain loops, each with another kind of loss. See common.py for the arguments."""

import dataclasses

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from common import main, network, program, rows, texts, vectors


def train(trial, model, loss_of, loader, *, epochs=2, weight=None, rate=0.05, also=()):
    """The loop that most of these have."""
    optimizer = torch.optim.SGD([*model.parameters(), *also], rate, momentum=0.9)
    trial.keep(model, optimizer)
    batches = trial.run.loader(loader)
    for _ in range(epochs):
        for batch in batches:
            optimizer.zero_grad()
            loss = trial.run.backward(batch, loss_of, model, weight)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, rows(batch))


@program
def class_weights(trial):
    """One class is ten times as frequent and counts a tenth; batches without any of the others."""
    model = network()
    trial.limit(model[0])
    weights = torch.tensor([0.1, 1.0, 3.0])
    train(trial, model, lambda x, y: F.cross_entropy(model(x), y, weight=weights), DataLoader(vectors(50), 8, True))


@program
def smoothed_and_ignored(trial):
    """Tokens with label smoothing; a part of the labels is ignored, of some texts all of them."""
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 20))
    trial.limit(model[0])

    def collate(items):
        ids = nn.utils.rnn.pad_sequence([text for text, _ in items], batch_first=True)
        labels = ids.masked_fill(ids == 0, -100)
        for row, (text, whole) in zip(labels, items):
            row[: len(text) if whole else len(text) // 2] = -100
        return {"ids": ids, "labels": labels}

    def loss_of(batch):
        logits = model(batch["ids"])[:, :-1].flatten(0, 1)
        return F.cross_entropy(logits, batch["labels"][:, 1:].flatten(), ignore_index=-100, label_smoothing=0.1)

    data = [(text, number % 5 == 0) for number, text in enumerate(texts(40))]
    train(trial, model, loss_of, DataLoader(data, 8, True, collate_fn=collate))


@program
def multi_task(trial):
    """Two losses, weighed by uncertainties that are learned and belong to no module."""
    body, first, second = nn.Linear(8, 16), nn.Linear(16, 3), nn.Linear(16, 1)
    model = nn.ModuleDict({"body": body, "first": first, "second": second})
    trial.limit(body)
    doubts = nn.Parameter(torch.zeros(2))

    def loss_of(x, y):
        hidden = torch.tanh(body(x))
        parts = torch.stack([F.cross_entropy(first(hidden), y), F.mse_loss(second(hidden)[:, 0], x[:, 0])])
        return (parts * torch.exp(-doubts) + doubts).sum()

    train(trial, model, loss_of, DataLoader(vectors(50), 8, True), also=[doubts])


@program
def detection(trial):
    """A focal loss that is divided by the number of positives in the batch."""
    model = network(classes=1)
    trial.limit(model[0])

    def loss_of(x, y):
        target = (y == 2).float()
        loss = F.binary_cross_entropy_with_logits(model(x)[:, 0], target, reduction="none")
        return ((1 - torch.exp(-loss)) ** 2 * loss).sum() / target.sum().clamp(min=1)

    train(trial, model, loss_of, DataLoader(vectors(50), 8, True), rate=0.01)


@program
def summed(trial):
    """The loss is the sum over the batch."""
    model = network()
    trial.limit(model[0])
    train(trial, model, lambda x, y: F.cross_entropy(model(x), y, reduction="sum"), DataLoader(vectors(50), 8, True),
          rate=0.002)


@program
def weighed_by_tokens(trial):
    """The mean over tokens, of which `weight` tells the number."""
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
    trial.limit(model[0])

    def collate(items):
        return {"ids": nn.utils.rnn.pad_sequence(items, batch_first=True)}

    def loss_of(batch):
        ids = batch["ids"]
        return F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)

    train(trial, model, loss_of, DataLoader(texts(40), 6, True, collate_fn=collate),
          weight=lambda examples: sum(len(text) - 1 for text in examples))


@dataclasses.dataclass
class Graphs:
    nodes: torch.Tensor
    edges: torch.Tensor
    owner: torch.Tensor
    target: torch.Tensor


@program
def graphs(trial):
    """Graphs of different sizes in one dataclass; the loss is the mean over all nodes."""
    first, second = nn.Linear(4, 8), nn.Linear(8, 1)
    model = nn.Sequential(first, second)
    trial.limit(first)
    numbers = torch.Generator().manual_seed(1)
    data = []
    for size in [3, 9, 4, 20, 5, 6, 3, 12, 7, 5, 30, 4, 3, 8, 6, 11, 5, 4, 10, 3]:
        edges = torch.randint(0, size, (2, 2 * size), generator=numbers)
        data.append((torch.randn(size, 4, generator=numbers), edges, torch.randn(size, generator=numbers)))

    def collate(items):
        starts = torch.tensor([0, *(len(nodes) for nodes, _, _ in items)]).cumsum(0)
        owner = torch.cat([torch.full((len(nodes),), number) for number, (nodes, _, _) in enumerate(items)])
        edges = torch.cat([edges + start for (_, edges, _), start in zip(items, starts)], 1)
        return Graphs(torch.cat([i[0] for i in items]), edges, owner, torch.cat([i[2] for i in items]))

    def loss_of(batch):
        hidden = torch.tanh(first(batch.nodes))
        hidden = hidden.index_add(0, batch.edges[1], hidden[batch.edges[0]])
        return F.mse_loss(second(hidden)[:, 0], batch.target)

    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(data, 6, shuffle=True, collate_fn=collate))
    for _ in range(2):
        for batch in loader:
            graph = batch if isinstance(batch, Graphs) else batch.parts[0]
            loss = trial.run.backward(batch, loss_of, model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, int(graph.owner.max()) + 1)


@program
def packed(trial):
    """Texts in one row without padding, with their borders."""
    table, head = nn.Embedding(20, 8), nn.Linear(8, 20)
    model = nn.Sequential(table, head)
    trial.limit(table, lambda out: out.shape[1])

    def collate(items):
        lengths = torch.tensor([len(text) for text in items])
        labels = torch.cat([F.pad(text[1:], (0, 1), value=-100) for text in items])
        return {"ids": torch.cat(items)[None], "borders": F.pad(lengths.cumsum(0), (1, 0)), "labels": labels[None]}

    def loss_of(batch):
        hidden = table(batch["ids"])[0]
        starts = batch["borders"][:-1].tolist()
        means = torch.cat([part.cumsum(0) / torch.arange(1, len(part) + 1)[:, None]
                           for part in torch.tensor_split(hidden, starts[1:])])
        return F.cross_entropy(head(means), batch["labels"][0], ignore_index=-100)

    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(texts(40), 6, shuffle=True, collate_fn=collate))
    for _ in range(2):
        for batch in loader:
            loss = trial.run.backward(batch, loss_of, model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, len(batch["borders"]) - 1)


@program
def preferences(trial):
    """Pairs of a better and a worse text in one batch, the better ones first, against a model that stays as it was."""
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
    before = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20)).requires_grad_(False)
    before.load_state_dict(model.state_dict())
    trial.limit(model[0])

    def collate(items):
        return {"ids": nn.utils.rnn.pad_sequence([pair[0] for pair in items] + [pair[1] for pair in items], True)}

    def likelihood(network, ids):
        found = network(ids[:, :-1]).log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        return (found * (ids[:, 1:] > 0)).sum(1)

    def loss_of(batch):
        better, worse = (likelihood(model, batch["ids"]) - likelihood(before, batch["ids"])).chunk(2)
        return -F.logsigmoid(0.5 * (better - worse)).mean()

    words = texts(48)
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    trial.keep(model)
    loader = trial.run.loader(DataLoader(list(zip(words[:24], words[24:])), 6, shuffle=True, collate_fn=collate))
    for _ in range(2):
        for batch in loader:
            loss = trial.run.backward(batch, loss_of, model)
            optimizer.step()
            trial.run.step(optimizer, loss=loss)
            trial.step(loss, optimizer, len(batch["ids"]) // 2)


def similar(one, two):
    return F.cross_entropy(F.normalize(one) @ F.normalize(two).T / 0.2, torch.arange(len(one)))


@program
def contrastive(trial):
    """Each example against all others of its batch."""
    model = network(classes=6)
    trial.limit(model[0])
    train(trial, model, lambda x, y: similar(model(x), model(x.roll(1, 1))), DataLoader(vectors(48), 8, True))


@program
def contrastive_with_cache(trial):
    """The same by the call that the client has for it."""
    model = network(classes=6, dropout=0.1)
    trial.limit(model[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    trial.keep(model)
    for batch in trial.run.loader(DataLoader(vectors(48), 8, True)):
        loss = trial.run.backward_contrastive(batch, lambda x, y: (model(x), model(x.roll(1, 1))), similar, model)
        optimizer.step()
        trial.run.step(optimizer, loss=loss)
        trial.step(loss, optimizer, len(batch[0]))


@program
def variational(trial):
    """A variational autoencoder: noise in the model, and a second term of the loss."""
    model = nn.ModuleDict({"encode": nn.Linear(8, 16), "decode": nn.Linear(8, 8)})
    trial.limit(model["encode"])

    def loss_of(x, y):
        mean, spread = model["encode"](x).chunk(2, 1)
        drawn = mean + torch.randn_like(mean) * torch.exp(0.5 * spread)
        divergence = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()
        return F.mse_loss(model["decode"](drawn), x) + 0.1 * divergence

    train(trial, model, loss_of, DataLoader(vectors(50), 8, True))


@program
def triplets(trial):
    """Three batches of one model's outputs; the loss counts those that are not yet far enough apart."""
    model = network(classes=4)
    trial.limit(model[0])
    margin = nn.TripletMarginLoss(2.0)
    train(trial, model, lambda x, y: margin(model(x), model(x + 0.1), model(x.flip(1))),
          DataLoader(vectors(50), 8, True))


@program
def regularised(trial):
    """A penalty on the weights is a part of the loss, and does not depend on the examples."""
    model = network()
    trial.limit(model[0])

    def loss_of(x, y):
        return F.cross_entropy(model(x), y) + 1e-2 * sum(p.square().sum() for p in model.parameters())

    train(trial, model, loss_of, DataLoader(vectors(50), 8, True))


@program
def second_order(trial):
    """A penalty on the gradient of the loss by the inputs."""
    model = network()
    trial.limit(model[0])

    def loss_of(x, y):
        x = x.clone().requires_grad_()
        loss = F.cross_entropy(model(x), y)
        slope, = torch.autograd.grad(loss * len(x), x, create_graph=True)
        return loss + 0.1 * slope.square().sum(1).mean()

    train(trial, model, loss_of, DataLoader(vectors(50), 8, True))


if __name__ == "__main__":
    main()
