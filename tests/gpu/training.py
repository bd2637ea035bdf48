"""Trainings of other people's kind, with torch alone or with transformers or torchvision: one step after another, or a
plain loop over a DataLoader. Prints one line of JSON at its end.

usage: training.py properties|bytes DEVICE
       training.py peak NET BATCH PRECISION DEVICE
       training.py loop NET BATCH STEPS DEVICE
"""

import contextlib
import hashlib
import json
import sys
import time

import torch
from torch import nn

TEXT = 1024  # tokens


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.queries(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        y = nn.functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(nn.functional.gelu(self.wide(self.between(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=50257, layers=12, heads=12, width=768):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(TEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        return self.head(self.last(self.blocks(self.tokens(x) + self.places(places))))


class Encoder(nn.Module):
    def __init__(self, vocabulary=30522, layers=6, width=512):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.blocks(self.tokens(x)))


def convolutions():
    layers, before = [], 3
    for width in (64, 128, 256, 512):
        layers += [nn.Conv2d(before, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(),
                   nn.Conv2d(width, width, 3, 1, 1), nn.BatchNorm2d(width), nn.ReLU()]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class Recurrent(nn.Module):
    def __init__(self, vocabulary=10000, width=512):
        super().__init__()
        self.tokens, self.lstm = nn.Embedding(vocabulary, width), nn.LSTM(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.lstm(self.tokens(x))[0])


class Of(nn.Module):
    """A network of transformers that returns an object with logits."""

    def __init__(self, net, checkpointing=False):
        super().__init__()
        self.net = net
        if checkpointing:
            net.gradient_checkpointing_enable()

    def forward(self, x):
        return self.net(x).logits


def hugging_face(name, checkpointing=False):
    import transformers
    make = {"gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
            "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig()),
            "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
                hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16,
                num_key_value_heads=8)),
            "vit": lambda: transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))}
    return Of(make[name](), checkpointing)


def vision(name):
    import torchvision
    return getattr(torchvision.models, name)()


# What makes the network, the shape of an example, the number of its tokens or 0 for numbers, the number of classes.
NETS = {
    "gpt": (Gpt, (TEXT,), 50257, 50257),
    "small_gpt": (lambda: Gpt(500, 4, 4, 128), (128,), 500, 500),
    "wide_gpt": (lambda: Gpt(500, 2, 4, 512), (TEXT,), 500, 500),
    "encoder": (Encoder, (256,), 30522, 30522),
    "conv": (convolutions, (3, 96, 96), 0, 1000),
    "lstm": (Recurrent, (128,), 10000, 10000),
    "hf_gpt2": (lambda: hugging_face("gpt2"), (TEXT,), 50257, 50257),
    "hf_gpt2_checkpointed": (lambda: hugging_face("gpt2", True), (TEXT,), 50257, 50257),
    "hf_bert": (lambda: hugging_face("bert"), (512,), 30522, 30522),
    "hf_llama": (lambda: hugging_face("llama"), (TEXT,), 32000, 32000),
    "hf_vit": (lambda: hugging_face("vit"), (3, 224, 224), 0, 1000),
    "resnet50": (lambda: vision("resnet50"), (3, 224, 224), 0, 1000),
    "vit_b_16": (lambda: vision("vit_b_16"), (3, 224, 224), 0, 1000),
}


def examples(name, count, device="cpu"):
    _, shape, tokens, classes = NETS[name]
    if tokens:
        inputs = torch.randint(0, tokens, (count, *shape), device=device)
        return inputs, (inputs if classes == tokens else inputs[:, 0])
    return torch.randn(count, *shape, device=device), torch.randint(0, classes, (count,), device=device)


def loss_of(outputs, targets):
    return nn.functional.cross_entropy(outputs.flatten(0, -2), targets.flatten())


def precision_of(name):
    return contextlib.nullcontext() if name == "fp32" else torch.autocast(
        "cuda", {"bf16": torch.bfloat16, "fp16": torch.float16}[name])


def properties(device):
    found = torch.cuda.get_device_properties(device)
    return {"name": found.name, "total": found.total_memory, "capability": 10 * found.major + found.minor,
            "multiprocessors": found.multi_processor_count, "torch": torch.__version__}


def taken():
    """Bytes of the device in use beside what the allocator holds."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free - torch.cuda.memory_reserved()


def bytes_before_training(device):
    torch.cuda.set_device(device)
    figures = {"context_and_others": taken()}
    before = figures["context_and_others"]

    def more(name, work):
        nonlocal before
        work()
        now = taken()
        figures[name], before = now - before, now

    x = torch.randn(256, 256, device=device)
    more("first_kernel", lambda: x + 1)
    more("first_product", lambda: x @ x)
    more("first_linear", lambda: nn.functional.linear(x, x, x[0]))
    more("product_bf16", lambda: x.bfloat16() @ x.bfloat16())
    convolution = nn.Conv2d(3, 64, 3).to(device)
    more("first_convolution", lambda: convolution(torch.randn(8, 3, 32, 32, device=device)).sum().backward())
    queries = torch.randn(2, 4, 128, 64, device=device, dtype=torch.bfloat16, requires_grad=True)
    more("first_attention", lambda: nn.functional.scaled_dot_product_attention(
        queries, queries, queries, is_causal=True).sum().backward())
    net, optimizer, inputs, targets = prepared("small_gpt", 8, device)
    more("first_training_step", lambda: step(net, optimizer, inputs, targets, "fp32"))
    return figures


def prepared(name, batch, device):
    torch.manual_seed(1)
    net = NETS[name][0]().to(device).train()
    inputs, targets = examples(name, batch, device)
    return net, torch.optim.AdamW(net.parameters(), 1e-4), inputs, targets


def step(net, optimizer, inputs, targets, precision):
    optimizer.zero_grad()
    with precision_of(precision):
        loss = loss_of(net(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss


def peak(name, batch, precision, device):
    net, optimizer, inputs, targets = prepared(name, int(batch), device)
    try:
        for _ in range(3):
            step(net, optimizer, inputs, targets, precision)
    except torch.OutOfMemoryError as error:
        return {"error": str(error).split(". ")[0]}
    torch.cuda.synchronize()
    statistics = torch.cuda.memory_stats(device)
    return {"allocated": statistics["allocated_bytes.all.peak"], "requested": statistics["requested_bytes.all.peak"],
            "reserved": statistics["reserved_bytes.all.peak"], "beside": taken()}


def loop(name, batch, steps, device):
    """As people write it."""
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(7)
    net = NETS[name][0]().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    data = torch.utils.data.TensorDataset(*examples(name, 4096))
    loader = torch.utils.data.DataLoader(data, batch_size=int(batch), shuffle=True)
    times, made, epoch = [], 0, 0
    while made < int(steps):
        epoch += 1
        for inputs, targets in loader:
            begun = time.perf_counter()
            optimizer.zero_grad()
            loss = loss_of(net(inputs.to(device)), targets.to(device))
            loss.backward()
            optimizer.step()
            times.append(time.perf_counter() - begun)
            made += 1
            if made == int(steps):
                break
    torch.cuda.synchronize()
    weights = hashlib.sha256()
    for tensor in net.state_dict().values():
        weights.update(tensor.cpu().numpy().tobytes())
    late = sorted(times[len(times) // 4:])
    return {"weights": weights.hexdigest(), "loss": loss.item(), "random": torch.rand(()).item(),
            "median_ms": round(1000 * late[len(late) // 2], 4), "peak": torch.cuda.max_memory_allocated(),
            "steps": made}


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    verbs = {"properties": properties, "bytes": bytes_before_training, "peak": peak, "loop": loop}
    print(json.dumps(verbs[verb](*arguments)))
