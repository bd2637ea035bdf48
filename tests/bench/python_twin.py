"""BatchScope's training loop beside the same training in plain PyTorch.

The twin trains the same net from the same weights on the same examples in the same order with the same optimizer, in
the usual way: data as tensors, nn.Module, loss.backward(), fused AdamW, no logging. `batchscope-cli train` also
computes the gradient norm, sends telemetry and writes every step to its database. Both run in turn, in short rounds,
with the same number of threads; a round's ratio is Python's time of a step over train's, so above 1 train is faster.

Counted are optimizer steps alone, without start-up: for Python the clock around its loop, for train the series
`seconds` in the database, from the end of the warm-up steps to the last step. Neither side evaluates.

usage: python_twin.py [--cli FILE] [--models M ...] [--batches B ...] [--seconds S] [--busy N] [--check]
"""

import argparse
import contextlib
import gzip
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from torch import nn
from torch.nn import functional

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IMAGES = os.path.join(ROOT, "resources/demo/t10k-images-idx3-ubyte.gz")
LABELS = os.path.join(ROOT, "resources/demo/t10k-labels-idx1-ubyte.gz")
MODELS = ["mlp:hidden=256", "cnn", "resnet", "gpt:layers=2,heads=4,width=64,context=64"]
BATCHES = [16, 64, 256, 1024]
SEED = 1
# Two-sided 95 % of Student's t by degrees of freedom; beyond the table the normal distribution's is near enough.
T_95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10]


# --- the order of the examples (core/data/epoch_order.cpp) ---

GOLDEN = numpy.uint64(0x9E3779B97F4A7C15)
WORD = (1 << 64) - 1


def mix(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & WORD
    return value ^ (value >> 31)


def epoch_order(examples, seed, epoch):
    """The permutation of one epoch: a Feistel network, walked on where it leaves 0..examples-1."""
    golden = int(GOLDEN)
    bits = (examples - 1).bit_length()
    low_bits = bits // 2
    high_bits = bits - low_bits
    rounds = 24 if bits <= 8 else 12 if bits <= 16 else 6
    state = mix(mix(seed + golden & WORD) ^ (epoch * golden & WORD))
    keys = []
    for _ in range(rounds):
        state = state + golden & WORD
        keys.append(numpy.uint64(mix(state)))
    low_mask, high_mask = (numpy.uint64((1 << n) - 1) for n in (low_bits, high_bits))

    def scramble(part, key):
        value = (part + GOLDEN) * key
        value ^= value >> numpy.uint64(29)
        return (value * GOLDEN) >> numpy.uint64(32)

    def permute(value):
        low, high = value & low_mask, value >> numpy.uint64(low_bits)
        for i in range(0, rounds, 2):
            low = low ^ (scramble(high, keys[i]) & low_mask)
            high = high ^ (scramble(low, keys[i + 1]) & high_mask)
        return (high << numpy.uint64(low_bits)) | low

    with numpy.errstate(over="ignore"):
        order = permute(numpy.arange(examples, dtype=numpy.uint64))
        while (outside := order >= examples).any():
            order[outside] = permute(order[outside])
    return torch.from_numpy(order.astype(numpy.int64))


# --- data: tensors in memory, and the text that names the same for train ---


def image_data():
    with gzip.open(IMAGES) as file:
        pixels = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(LABELS) as file:
        labels = numpy.frombuffer(file.read(), numpy.uint8, offset=8)
    values = pixels.astype(numpy.float64) / 255
    inputs = torch.from_numpy(((values - values.mean()) / values.std()).astype(numpy.float32))
    return inputs, torch.from_numpy(labels.astype(numpy.int64)), f"idx:{IMAGES},{LABELS},validation=0"


def text_data(folder, context):
    """Characters drawn by a small Markov chain; examples are windows of `context`, targets the characters after."""
    alphabet = [chr(ord("0") + i) for i in range(65)]
    draw = random.Random(SEED)
    followers = {c: draw.choices(alphabet, k=3) for c in alphabet}
    text = list(alphabet)
    while len(text) < 5000 * context + 1:
        text.append(draw.choice(followers[text[-1]]))
    path = os.path.join(folder, f"text{context}.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(text))
    tokens = torch.tensor([ord(c) - ord("0") for c in text])
    windows = (len(text) - 1) // context
    inputs = tokens[: windows * context].view(windows, context)
    targets = tokens[1 : windows * context + 1].view(windows, context)
    return inputs, targets, f"text:{path},validation=0"


# --- the nets (core/model) ---


def group_norm(channels):
    groups = min(8, channels)
    while channels % groups:
        groups -= 1
    return nn.GroupNorm(groups, channels)


def convolution(channels, out, size=3, stride=1):
    return nn.Conv2d(channels, out, size, stride, size // 2, bias=False)


def mlp(options, classes):
    hidden, layers = options.get("hidden", 256), options.get("layers", 1)
    parts, width = [nn.Flatten()], 28 * 28
    for _ in range(layers):
        parts += [nn.Linear(width, hidden), nn.ReLU()]
        width = hidden
    return nn.Sequential(*parts, nn.Linear(width, classes))


def cnn(options, classes):
    width = options.get("width", 32)
    parts = []
    for channels, out in ((1, width), (width, 2 * width)):
        parts += [convolution(channels, out), group_norm(out), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
    return nn.Sequential(*parts, nn.Flatten(), nn.Linear(2 * width * 7 * 7, classes))


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = nn.Sequential(
            convolution(channels, out, 3, stride),
            group_norm(out),
            nn.ReLU(inplace=True),
            convolution(out, out),
            group_norm(out),
        )
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(convolution(channels, out, 1, stride), group_norm(out))

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x), inplace=True)


def resnet(options, classes):
    width, blocks = options.get("width", 16), options.get("blocks", 2)
    parts, channels = [convolution(1, width), group_norm(width), nn.ReLU(inplace=True)], width
    for stage in range(3):
        for block in range(blocks):
            parts.append(Residual(channels, width << stage, 2 if stage > 0 and block == 0 else 1))
            channels = width << stage
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width)
        self.feed_in = nn.Linear(width, 4 * width)
        self.feed_out = nn.Linear(4 * width, width)

    def forward(self, x):
        count, length, width = x.shape
        parts = self.query_key_value(self.attention_norm(x)).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(count, length, width))
        return x + self.feed_out(functional.gelu(self.feed_in(self.feed_norm(x))))


class Gpt(nn.Module):
    def __init__(self, options, vocabulary):
        super().__init__()
        width = options.get("width", 128)
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.empty(options.get("context", 128), width))
        self.final_norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, vocabulary)
        self.blocks = nn.ModuleList(Block(width, options.get("heads", 4)) for _ in range(options.get("layers", 4)))

    def forward(self, x):
        x = self.tokens(x) + self.positions[: x.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.output(self.final_norm(x)).flatten(0, 1)


@torch.no_grad()
def draw_weights(model):
    """The same numbers as train's: one generator, the layers in the order in which they were made."""
    generator = torch.Generator().manual_seed(SEED)
    if isinstance(model, Gpt):
        for table in (model.tokens.weight, model.positions):
            table.normal_(0, 0.02, generator=generator)
    for layer in model.modules():
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            fan_in = math.prod(layer.weight.shape[1:])
            for parameter in (layer.weight, layer.bias):
                if parameter is not None:
                    parameter.uniform_(-1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in), generator=generator)


def parse_model(text):
    kind, _, rest = text.partition(":")
    return kind, {key: int(value) for key, value in (part.split("=") for part in rest.split(",") if part)}


class Twin:
    """One model and its data, training on and on."""

    def __init__(self, text, batch, folder, device):
        kind, options = parse_model(text)
        if kind == "gpt":
            self.inputs, self.targets, self.data = text_data(folder, options.get("context", 128))
            self.model = Gpt(options, 65)
        else:
            self.inputs, self.targets, self.data = image_data()
            self.model = {"mlp": mlp, "cnn": cnn, "resnet": resnet}[kind](options, 10)
        draw_weights(self.model)
        self.device = device
        self.model.to(device)
        self.inputs, self.targets = self.inputs.to(device), self.targets.to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.001, weight_decay=0.01, fused=True)
        self.batch = min(batch, len(self.inputs))
        self.epoch, self.position = 0, 0
        self.order = epoch_order(len(self.inputs), SEED, 0).to(device)

    def step(self):
        index = self.order[self.position : self.position + self.batch]
        inputs, targets = self.inputs[index], self.targets[index]
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.model(inputs), targets.flatten())
        loss.backward()
        self.optimizer.step()
        self.position += self.batch
        if self.position >= len(self.order):
            # The next epoch's order is a stored one: drawing it in Python is not what is compared.
            self.position = 0
        return loss

    def losses(self, steps):
        return [self.step().item() for _ in range(steps)]

    def wait(self):
        if self.device != "cpu":
            torch.cuda.synchronize(self.device)

    def seconds_a_step(self, steps):
        self.wait()
        begin = time.perf_counter()
        for _ in range(steps):
            self.step()
        self.wait()
        return (time.perf_counter() - begin) / steps


# --- train ---


class Train:
    def __init__(self, cli, folder, model, data, batch, *, device):
        self.cli, self.folder = cli, folder
        self.arguments = ["--model", model, "--data", data, "--batch", str(batch), "--seed", str(SEED)]
        self.arguments += ["--device", device, "--optimizer", "adamw", "--lr", "0.001", "--weight-decay", "0.01"]

    def series(self, name, steps):
        """(step, value) of one series of a fresh run."""
        base = [self.cli, "--db", os.path.join(self.folder, "runs.db"), "--json", "--quiet"]
        train = [*base, "train", "--steps", str(steps), *self.arguments]
        trained = subprocess.run(train, stdout=subprocess.PIPE, check=False)
        if trained.returncode != 0:
            sys.exit(f"python_twin.py: {self.cli} train ended with status {trained.returncode}")
        run = str(json.loads(trained.stdout)["run"])
        shown = subprocess.run([*base, "show", run, "--series", name], stdout=subprocess.PIPE, check=True)
        return json.loads(shown.stdout)["series"][name]

    def seconds_a_step(self, steps, warm_up):
        points = self.series("seconds", steps + warm_up)
        return (points[-1][1] - points[warm_up - 1][1]) / steps


# --- measuring ---


@contextlib.contextmanager
def busy_processes(count):
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.2 if started else 0)
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def interval(ratios):
    """95 % interval of the paired ratio: Student's t on its logarithm."""
    logs = [math.log(ratio) for ratio in ratios]
    freedom = len(logs) - 1
    t = T_95[freedom - 1] if freedom <= len(T_95) else 1.96
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.mean(logs)
    return math.exp(middle - half), math.exp(middle + half)


def goal(kind, batch, python_seconds, busy):
    """The least median ratio; None where it is enough that the interval reaches 1."""
    if busy:
        return None
    if kind == "mlp":
        return 1.25 if batch <= 64 else None
    return 1.15 if python_seconds < 0.020 else None


def measure(twin, train, seconds):
    """Paired times of a step, Python and train in turn, the first of a pair changing."""
    begin = time.perf_counter()
    step = twin.seconds_a_step(1)
    if step < 0.5:
        step = twin.seconds_a_step(max(1, min(200, int(0.2 / step))))
    steps = max(1, min(2000, int(seconds / 20 / step)))
    warm_up = max(1, steps // 10)
    pairs, longest = [], 0.0
    while len(pairs) < 3 or time.perf_counter() - begin + longest < seconds:
        round_begin = time.perf_counter()
        if len(pairs) % 2 == 0:
            python = twin.seconds_a_step(steps)
            pairs.append((python, train.seconds_a_step(steps, warm_up)))
        else:
            ours = train.seconds_a_step(steps, warm_up)
            twin.seconds_a_step(warm_up)
            pairs.append((twin.seconds_a_step(steps), ours))
        longest = max(longest, time.perf_counter() - round_begin)
    return pairs


def arithmetic_seconds(twin, repeats=50):
    """What an mlp's step must compute whoever drives it: its matrix products and the update of its weights."""
    rows = twin.batch
    layers = [layer for layer in twin.model if isinstance(layer, nn.Linear)]
    parameters = [torch.rand_like(p) for layer in layers for p in (layer.weight, layer.bias)]
    states = [[torch.rand_like(p) for p in parameters] for _ in range(3)]
    counts = [torch.ones([]) for _ in parameters]
    operands = [(torch.rand(rows, layer.in_features), torch.rand(rows, layer.out_features)) for layer in layers]

    def compute():
        for i, (x, y) in enumerate(operands):
            weight = parameters[2 * i]
            torch.mm(x, weight.t(), out=y)
            torch.mm(y.t(), x, out=states[0][2 * i])
            if i > 0:
                torch.mm(y, weight, out=x)
        torch._fused_adamw_(parameters, states[0], states[1], states[2], [], counts, lr=0.001, beta1=0.9, beta2=0.999,
                            weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False)

    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        compute()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def check(cli, model, folder, device):
    """Whether both compute the same: the losses of the first steps, from equal weights, on equal examples."""
    twin = Twin(model, 32, folder, device)
    expected = twin.losses(20)
    found = [value for _, value in Train(cli, folder, model, twin.data, 32, device=device).series("loss", 20)]
    worst = max(abs(a - b) / abs(a) for a, b in zip(expected, found))
    print(f"{model}: losses of 20 steps differ by at most {worst:.1e} of their value", flush=True)
    return len(found) == 20 and worst < 2e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cli", default=os.path.join(ROOT, "build/bin/batchscope-cli"))
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--batches", nargs="+", type=int, default=BATCHES)
    parser.add_argument("--seconds", type=float, default=20, help="for one model and batch, start-ups included")
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 2], help="busy processes beside both")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N; data lie on it from the start for Python")
    parser.add_argument("--check", action="store_true", help="only compare the losses of the first steps")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not all([check(options.cli, model, folder, options.device) for model in options.models]):
            sys.exit("python_twin.py: the two do not train the same")
        if options.check:
            return
        for busy in options.busy:
            print(f"\nPyTorch {torch.__version__} / batchscope-cli train, {torch.get_num_threads()} threads, "
                  f"{busy} busy processes beside them; ms a step (medians), paired ratio")
            print(f"{'model':42} {'batch':>5} {'Python':>9} {'train':>9} {'ratio':>6} {'95 % interval':>15} "
                  f"{'rounds':>6} {'goal':>10}")
            with busy_processes(busy):
                for model in options.models:
                    for batch in options.batches:
                        print_cell(options, model, batch, busy, folder)


def print_cell(options, model, batch, busy, folder):
    twin = Twin(model, batch, folder, options.device)
    pairs = measure(twin, Train(options.cli, folder, model, twin.data, batch, device=options.device), options.seconds)
    ratios = [python / ours for python, ours in pairs]
    median = statistics.median(ratios)
    low, high = interval(ratios)
    python, ours = (statistics.median(times) for times in zip(*pairs))
    kind = model.partition(":")[0]
    on_cpu = options.device == "cpu"
    least = goal(kind, batch, python, busy) if on_cpu else None
    met = median >= least if least else high >= 1
    wanted = f"{least:.2f}" if least else "reach 1"
    print(f"{model:42} {batch:5} {python * 1e3:9.3f} {ours * 1e3:9.3f} {median:6.2f} {low:7.2f} to {high:4.2f} "
          f"{len(pairs):6} {wanted:>7} {'yes' if met else 'NO':>3}", flush=True)
    if kind == "mlp" and not busy and on_cpu:
        arithmetic = arithmetic_seconds(twin)
        print(f"{'':42}       its matrix products and AdamW alone: {arithmetic * 1e3:.3f} ms, so at most "
              f"{python / arithmetic:.2f}", flush=True)


if __name__ == "__main__":
    main()
