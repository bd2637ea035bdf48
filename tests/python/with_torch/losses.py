"""Losses and shapes of batches that people train with, for test_losses.py: what a step has to be split by, or why not.

Every case has a model whose first layer meets every row of its input, so that a pretended memory can be limited by
rows.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch import nn
from torch.nn import functional as F

EXAMPLES = 21
CLASSES = 5
FEATURES = 6


@dataclasses.dataclass
class Case:
    name: str
    fn: Callable[..., Any]  # of a part of a batch: its loss
    model: Any
    examples: list[Any]
    collate: Optional[Callable[..., Any]] = None
    refused: Sequence[str] = ()  # codes of the reason; none: it is split
    weight: Optional[Callable[..., float]] = None
    forced: bool = False  # the layer does not see the rows of the batch: the size of pieces is set


class Graph(NamedTuple):
    nodes: Any
    edges: Any
    target: Any


@dataclasses.dataclass
class Graphs:
    """Several graphs as one: their nodes in a row."""

    nodes: Any
    edges: Any
    graph: Any  # of each node
    target: Any


class Pair(NamedTuple):
    image: Any
    label: Any


@dataclasses.dataclass
class Record:
    image: Any
    label: Any


def _random(seed: int) -> Any:
    return torch.Generator().manual_seed(seed)


class Data:
    """Random examples in a precision."""

    def __init__(self, dtype: Any, seed: int = 0) -> None:
        self.dtype = dtype
        self.numbers = _random(seed)

    def normal(self, *shape: int) -> Any:
        return torch.randn(*shape, generator=self.numbers, dtype=torch.float64).to(self.dtype)

    def uniform(self, *shape: int) -> Any:
        return torch.rand(*shape, generator=self.numbers, dtype=torch.float64).to(self.dtype)

    def integers(self, high: int, *shape: int) -> Any:
        return torch.randint(0, high, shape, generator=self.numbers)

    def vectors(self, target: Callable[[], Any]) -> list[Any]:
        return [(self.normal(FEATURES), target()) for _ in range(EXAMPLES)]


def network(dtype: Any, outputs: int = CLASSES, inputs: int = FEATURES) -> Any:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs)).to(dtype)


class Tokens(nn.Module):
    """A language model without attention, which pads and packs alike."""

    def __init__(self, dtype: Any, vocabulary: int = 12) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.table = nn.Embedding(vocabulary, 8)
        self.first = nn.Linear(8, 8)
        self.head = nn.Linear(8, vocabulary)
        self.to(dtype)

    def forward(self, ids: Any) -> Any:
        return self.head(torch.tanh(self.first(self.table(ids))))


class Nodes(nn.Module):
    """Passes messages along edges once, and reads each graph out by the mean of its nodes."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.first = nn.Linear(FEATURES, 8)
        self.head = nn.Linear(8, 1)
        self.to(dtype)

    def forward(self, batch: Graphs) -> Any:
        nodes = torch.tanh(self.first(batch.nodes))
        nodes = nodes.index_add(0, batch.edges[1], nodes[batch.edges[0]])
        count = len(batch.target)
        sums = nodes.new_zeros(count, nodes.shape[1]).index_add(0, batch.graph, nodes)
        sizes = torch.bincount(batch.graph, minlength=count).clamp(min=1).to(nodes.dtype)
        return self.head(sums / sizes[:, None]).squeeze(1)


def join_graphs(graphs: list[Graph]) -> Graphs:
    sizes = [len(graph.nodes) for graph in graphs]
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    return Graphs(
        torch.cat([graph.nodes for graph in graphs]),
        torch.cat([graph.edges + start for graph, start in zip(graphs, starts)], 1),
        torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor(sizes)),
        torch.stack([graph.target for graph in graphs]))


class Opaque(torch.autograd.Function):
    """A class-weighted mean of which the graph shows nothing, as a compiled loss has it."""

    @staticmethod
    def forward(context: Any, logits: Any, labels: Any, weights: Any) -> Any:
        with torch.enable_grad():
            own = logits.detach().requires_grad_()
            loss = F.cross_entropy(own, labels, weight=weights)
        context.gradient, = torch.autograd.grad(loss, own)
        return loss.detach()

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return gradient * context.gradient, None, None


def classification(dtype: Any) -> list[Case]:
    """One label for each example."""
    data = Data(dtype)
    labels = data.vectors(lambda: data.integers(CLASSES, 1)[0])
    some = [(x, torch.tensor(-100) if number % 4 == 1 else y) for number, (x, y) in enumerate(labels)]
    weights = torch.tensor([0.2, 1.0, 3.0, 0.5, 7.0], dtype=dtype)
    model = network(dtype)
    binary = data.vectors(lambda: data.integers(2, 1)[0].to(dtype))
    several = data.vectors(lambda: data.integers(2, CLASSES).to(dtype))
    soft = data.vectors(lambda: torch.softmax(data.normal(CLASSES), 0))
    one = network(dtype, 1)

    def focal(x: Any, y: Any) -> Any:
        ce = F.cross_entropy(model(x), y, reduction="none")
        return ((1 - torch.exp(-ce)) ** 2 * ce).mean()

    def by_hand(x: Any, y: Any) -> Any:
        own = weights[y]
        return (F.cross_entropy(model(x), y, reduction="none") * own).sum() / own.sum()

    def masked(x: Any, y: Any) -> Any:
        keep = (y != -100).to(dtype)
        return (F.cross_entropy(model(x), y.clamp(min=0), reduction="none") * keep).sum() / keep.sum()

    def smoothed(**options: Any) -> Callable[[Any, Any], Any]:
        return lambda x, y: F.cross_entropy(model(x), y, label_smoothing=0.1, **options)

    def compiled_like(x: Any, y: Any) -> Any:
        return Opaque.apply(model(x), y, weights)

    return [
        Case("cross-entropy", lambda x, y: F.cross_entropy(model(x), y), model, labels),
        Case("cross-entropy, class weights", lambda x, y: F.cross_entropy(model(x), y, weight=weights), model, labels),
        Case("cross-entropy, ignored labels", lambda x, y: F.cross_entropy(model(x), y), model, some),
        Case("cross-entropy, class weights and ignored labels",
             lambda x, y: F.cross_entropy(model(x), y, weight=weights), model, some),
        Case("cross-entropy, another label is ignored",
             lambda x, y: F.cross_entropy(model(x), y, ignore_index=2), model, labels),
        Case("cross-entropy, summed", lambda x, y: F.cross_entropy(model(x), y, reduction="sum"), model, labels),
        Case("cross-entropy, summed by the fixed batch",
             lambda x, y: F.cross_entropy(model(x), y, reduction="sum") / EXAMPLES, model, labels),
        Case("label smoothing", smoothed(), model, labels),
        Case("label smoothing, class weights", smoothed(weight=weights), model, labels),
        Case("label smoothing, class weights, ignored labels", smoothed(weight=weights), model, some),
        Case("soft labels", lambda x, y: F.cross_entropy(model(x), y), model, soft),
        Case("class weights by hand", by_hand, model, labels),
        Case("class weights, hidden graph", compiled_like, model, labels),
        Case("masked by hand", masked, model, some),
        Case("negative log-likelihood", lambda x, y: F.nll_loss(F.log_softmax(model(x), 1), y, weight=weights), model,
             labels),
        Case("focal", focal, model, labels),
        Case("binary cross-entropy", lambda x, y: F.binary_cross_entropy_with_logits(one(x).squeeze(1), y), one,
             binary),
        Case("binary cross-entropy, positive weight",
             lambda x, y: F.binary_cross_entropy_with_logits(one(x).squeeze(1), y,
                                                             pos_weight=torch.tensor(4.0, dtype=dtype)), one, binary),
        Case("several labels", lambda x, y: F.binary_cross_entropy_with_logits(model(x), y), model, several),
        Case("multi-margin", lambda x, y: F.multi_margin_loss(model(x), y), model, labels),
        Case("hinge", lambda x, y: F.hinge_embedding_loss(one(x).squeeze(1), 2 * y - 1), one, binary),
    ]


def regression(dtype: Any) -> list[Case]:
    """Numbers, densities and distances."""
    data = Data(dtype, 1)
    one, model = network(dtype, 1), network(dtype)
    numbers = data.vectors(lambda: data.normal(1)[0])
    dense = data.vectors(lambda: data.normal(CLASSES))
    weighed = [((x, data.uniform(1)[0] + 0.1), y) for x, y in numbers]
    distributions = data.vectors(lambda: torch.softmax(data.normal(CLASSES), 0))

    def weighted(x: Any, y: Any) -> Any:
        x, w = x
        return (w * (one(x).squeeze(1) - y) ** 2).sum() / w.sum()

    def kl(reduction: str) -> Callable[[Any, Any], Any]:
        return lambda x, y: F.kl_div(F.log_softmax(model(x), 1), y, reduction=reduction)

    triples = [tuple(data.normal(FEATURES) for _ in range(3)) for _ in range(EXAMPLES)]
    signs = [(data.normal(FEATURES), data.normal(FEATURES), torch.tensor(1.0 if n % 2 else -1.0, dtype=dtype))
             for n in range(EXAMPLES)]
    penalized = Case("L2 penalty on the weights", lambda x, y: F.mse_loss(one(x).squeeze(1), y)
                     + 0.01 * sum(p.pow(2).sum() for p in one.parameters()), one, numbers)

    def gradient_penalty(x: Any, y: Any) -> Any:
        x = x.clone().requires_grad_()
        slope, = torch.autograd.grad(one(x).sum(), x, create_graph=True)
        return ((slope.norm(2, 1) - 1) ** 2).mean()

    return [
        Case("squares", lambda x, y: F.mse_loss(one(x).squeeze(1), y), one, numbers),
        Case("squares of several", lambda x, y: F.mse_loss(model(x), y), model, dense),
        Case("Huber", lambda x, y: F.huber_loss(model(x), y), model, dense),
        Case("absolute", lambda x, y: F.l1_loss(model(x), y), model, dense),
        Case("weights in the batch", weighted, one, weighed),
        Case("root of the mean of squares", lambda x, y: F.mse_loss(model(x), y).sqrt(), model, dense,
             refused=("examples-interact",)),
        Case("Gauss", lambda x, y: F.gaussian_nll_loss(model(x)[:, 0], y, F.softplus(model(x)[:, 1]) + 0.1), model,
             numbers),
        Case("KL, mean", kl("mean"), model, distributions),
        Case("KL, batch mean", kl("batchmean"), model, distributions),
        Case("triplet", lambda a, p, n: F.triplet_margin_loss(model(a), model(p), model(n)), model, triples),
        Case("cosine", lambda a, b, s: F.cosine_embedding_loss(model(a), model(b), s), model, signs),
        Case("learned weights of tasks", *_learned(dtype, dense)),
        penalized,
        Case("gradient penalty", gradient_penalty, one, numbers),
        Case("correlation", lambda x, y: -torch.corrcoef(torch.stack([one(x).squeeze(1), y]))[0, 1], one, numbers,
             refused=("examples-interact", "unclear")),  # single examples have no correlation
    ]


def _learned(dtype: Any, dense: list[Any]) -> Any:
    model = network(dtype)
    model.register_parameter("scale", nn.Parameter(torch.tensor(0.3, dtype=dtype)))
    return (lambda x, y: torch.exp(-model.scale) * F.mse_loss(model(x), y) + model.scale), model, dense


def of_several_terms(dtype: Any) -> list[Case]:
    """Sums of losses that divide by different numbers, and what a whole batch enters."""
    data = Data(dtype, 2)
    model = network(dtype, CLASSES + 1)
    both = [(x, torch.tensor(-100) if number % 3 == 0 else data.integers(CLASSES, 1)[0], data.normal(1)[0])
            for number, (x, _) in enumerate(data.vectors(lambda: 0))]
    labels = data.vectors(lambda: data.integers(CLASSES, 1)[0])
    plain = network(dtype)

    def tasks(x: Any, label: Any, number: Any) -> Any:
        out = model(x)
        return F.cross_entropy(out[:, :-1], label) + 0.5 * F.mse_loss(out[:, -1], number)

    def balanced(x: Any, y: Any) -> Any:
        out = plain(x)
        load = torch.softmax(out, 1).mean(0)
        return F.cross_entropy(out, y) + 0.01 * CLASSES * (load * load).sum()

    def dice(x: Any, y: Any) -> Any:
        p, t = torch.softmax(plain(x), 1), F.one_hot(y, CLASSES).to(dtype)
        return 1 - (2 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)

    def contrastive(x: Any, y: Any) -> Any:
        h = F.normalize(plain(x), dim=1)
        return F.cross_entropy(5 * h @ h.T, torch.arange(len(h)))

    def hardest(x: Any, y: Any) -> Any:
        each = F.cross_entropy(plain(x), y, reduction="none")
        return each.topk(max(1, len(each) // 4)).values.mean()

    def mixed(x: Any, y: Any) -> Any:
        other = torch.randperm(len(x))
        out = plain(0.7 * x + 0.3 * x[other])
        return 0.7 * F.cross_entropy(out, y) + 0.3 * F.cross_entropy(out, y[other])

    def one_by_one(x: Any, y: Any) -> Any:
        return sum(F.cross_entropy(plain(a[None]), b[None]) for a, b in zip(x, y)) / len(x)

    return [
        Case("two tasks, labels missing in one", tasks, model, both),
        Case("load balanced over the batch", balanced, plain, labels, refused=("examples-interact",)),
        Case("dice over the batch", dice, plain, labels, refused=("examples-interact",)),
        Case("negatives in the batch", contrastive, plain, labels, refused=("examples-interact",)),
        Case("hardest quarter", hardest, plain, labels, refused=("examples-interact",)),
        Case("mixup within the batch", mixed, plain, labels, refused=("random-mixing",)),
        Case("examples one by one", one_by_one, plain, labels, forced=True),
    ]


def of_sequences(dtype: Any) -> list[Case]:
    """Ragged, packed, in dicts; pixels; alignments."""
    data = Data(dtype, 3)
    model = Tokens(dtype)
    texts = [data.integers(12, int(data.integers(9, 1)[0]) + 3) for _ in range(EXAMPLES)]
    weights = data.uniform(12) + 0.1
    pixels = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.Tanh(), nn.Conv2d(4, 3, 1)).to(dtype)
    images = [(data.normal(3, 4, 4), data.integers(3, 4, 4)) for _ in range(EXAMPLES)]
    speech = network(dtype, 4)
    spoken = [(data.normal(10, FEATURES), data.integers(3, 3) + 1) for _ in range(EXAMPLES)]

    def padded(texts: list[Any]) -> Any:
        ids = nn.utils.rnn.pad_sequence(texts, batch_first=True)
        labels = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=-100)
        return {"input_ids": ids, "labels": labels, "attention_mask": (labels != -100).long()}

    def packed(texts: list[Any]) -> Any:
        return {"ids": torch.cat(texts)[None], "labels": torch.cat(texts)[None]}

    def shifted(**options: Any) -> Callable[[Any], Any]:
        return lambda batch: F.cross_entropy(model(batch["input_ids"])[:, :-1].flatten(0, 1),
                                             batch["labels"][:, 1:].flatten(), **options)

    def by_mask(batch: Any) -> Any:
        each = F.cross_entropy(model(batch["input_ids"]).transpose(1, 2), batch["input_ids"], reduction="none")
        return (each * batch["attention_mask"]).sum() / batch["attention_mask"].sum()

    def ctc(x: Any, y: Any) -> Any:
        steps = F.log_softmax(speech(x), 2).transpose(0, 1)
        return F.ctc_loss(steps, y, torch.full((len(x),), 10), torch.full((len(x),), 3))

    classes = torch.tensor([0.3, 1.0, 4.0], dtype=dtype)
    return [
        Case("ragged tokens", shifted(), model, texts, padded),
        Case("ragged tokens, weights of classes", shifted(weight=weights), model, texts, padded),
        Case("ragged tokens, by the mask", by_mask, model, texts, padded),
        Case("packed tokens", lambda batch: F.cross_entropy(model(batch["ids"])[0], batch["labels"][0]), model, texts,
             packed, forced=True),
        Case("pixels", lambda x, y: F.cross_entropy(pixels(x), y), pixels, images),
        Case("pixels, weights of classes", lambda x, y: F.cross_entropy(pixels(x), y, weight=classes), pixels, images),
        Case("alignment (CTC)", ctc, speech, spoken),
    ]


def of_structures(dtype: Any) -> list[Case]:
    """Graphs, pairs, and the containers that collators make."""
    data = Data(dtype, 4)
    nodes, model = Nodes(dtype), network(dtype)
    graphs = []
    for _ in range(EXAMPLES):
        size = int(data.integers(9, 1)[0]) + 2
        graphs.append(Graph(data.normal(size, FEATURES), data.integers(size, 2, 2 * size), data.normal(1)[0]))
    labels = data.vectors(lambda: data.integers(CLASSES, 1)[0])
    pairs = [{"chosen": data.normal(FEATURES), "rejected": data.normal(FEATURES)} for _ in range(EXAMPLES)]

    def records(examples: list[Any]) -> Record:
        return Record(torch.stack([x for x, _ in examples]), torch.stack([y for _, y in examples]))

    def preference(batch: Any) -> Any:
        both = model(torch.cat([batch["chosen"], batch["rejected"]]))[:, 0]
        chosen, rejected = both.chunk(2)
        return -F.logsigmoid(0.1 * (chosen - rejected)).mean()

    def interleaved(batch: Any) -> Any:
        scores = model(batch["both"])[:, 0]
        return -F.logsigmoid(scores[0::2] - scores[1::2]).mean()

    def in_turns(examples: list[Any]) -> Any:
        return {"both": torch.stack([x for pair in examples for x in (pair["chosen"], pair["rejected"])])}

    return [
        Case("graphs", lambda batch: F.mse_loss(nodes(batch), batch.target), nodes, graphs, join_graphs),
        Case("graphs, by their nodes",
             lambda batch: (torch.tanh(nodes.first(batch.nodes)).sum(1) - batch.target[batch.graph]).pow(2).mean(),
             nodes, graphs, join_graphs),
        Case("pairs of a preference", preference, model, pairs),
        Case("pairs in turns", interleaved, model, pairs, in_turns),
        Case("named tuple", lambda image, label: F.cross_entropy(model(image), label), model,
             [Pair(x, y) for x, y in labels]),
        Case("dataclass", lambda batch: F.cross_entropy(model(batch.image), batch.label), model, labels, records),
        Case("dict", lambda batch: F.cross_entropy(model(batch["x"]), batch["y"]), model,
             [{"x": x, "y": y, "name": str(n)} for n, (x, y) in enumerate(labels)]),
        Case("nested", lambda batch: F.cross_entropy(model(batch["in"][0]), batch["out"]["y"]), model,
             [{"in": [x, x], "out": {"y": y}} for x, y in labels]),
    ]


def all_cases(dtype: Any) -> list[Case]:
    return [*classification(dtype), *regression(dtype), *of_several_terms(dtype), *of_sequences(dtype),
            *of_structures(dtype)]
