"""Memory on GPUs that are not here, beside what training takes on pretended ones, and beside published figures.

First table: `estimate --for CARD` against the peak of a run with `--device cuda:0` on such a card, at sizes that were
not asked about before. Second table: figures of the documentation of transformers (v4.21, "Efficient Training on a
Single GPU": BERT-large, 512 tokens, AdamW, fp32, on a V100 of 16 GB, whole card as NVML says it), beside the same
training on a pretended card of 16 GB with the torch and transformers that are installed.
"""

import os
import sys
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
from place import ROOT, Card, Place, Runs, on_pretended, torch_program

CARDS = {
    "a100-40gb": Card("NVIDIA A100-PCIE-40GB", 40 << 30, 80, 108),
    "h100-80gb": Card("NVIDIA H100 80GB HBM3", 80 << 30, 90, 132),
    "rtx-5090": Card("NVIDIA GeForce RTX 5090", 32 << 30, 120, 170),
}
TEXT = "synthetic:examples=4000,vocabulary=8000"
IMAGES = "synthetic:examples=4000,shape=3x64x64,classes=100"
MODELS = {
    "mlp:hidden=2048": (IMAGES, 100),
    "cnn": (IMAGES, 48),
    "resnet": (IMAGES, 48),
    "vit:patch=8": (IMAGES, 40),
    "gpt:layers=6,heads=8,width=512,context=256": (TEXT, 12),
    "llama:layers=6,heads=8,width=512,context=256": (TEXT, 12),
    "bert:layers=6,heads=8,width=512,context=256": (TEXT, 12),
}
SETTINGS = {
    "fp32": [],
    "bf16, dropout": ["--precision", "bf16", "--dropout", "0.1"],
    "checkpointing": ["--checkpointing"],
}

PUBLISHED = {  # batch, accumulation, checkpointing: MB (2^20 bytes)
    (4, 1, False): 14949,
    (1, 4, False): 8681,
    (1, 4, True): 6775,
}
BERT = textwrap.dedent("""
    import json, sys, torch
    from transformers import BertConfig, BertForSequenceClassification
    batch, parts, checkpointing, attention = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "True", sys.argv[4]
    config = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                        attn_implementation=attention)
    with torch.device("cuda"):
        model = BertForSequenceClassification(config)
    model.train()
    if checkpointing:
        model.gradient_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        for _ in range(parts):
            tokens = torch.ones(batch, 512, dtype=torch.long, device="cuda")
            model(input_ids=tokens, labels=torch.zeros(batch, dtype=torch.long, device="cuda")).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(json.dumps({"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))
""")


def on_card(place, card, python=False):
    """As on_pretended(), also below a program that sees no GPU."""
    return {**on_pretended(place, card, python), "CUDA_VISIBLE_DEVICES": "0"}


def predictions(place):
    print(f"{'model':46} {'training':14} {'card':10} {'batch':>5} {'predicted':>15} {'allocated':>15} {'off':>9}")
    worst = 0.0
    for number, (model, (data, batch)) in enumerate(MODELS.items()):
        for name, options in SETTINGS.items():
            card = list(CARDS)[(number + len(name)) % len(CARDS)]
            asked = ["--model", model, "--data", data, "--batch", str(batch), *options]
            runs = Runs(place, on_card(place, CARDS[card]))
            predicted = Runs(place).json("estimate", "--for", card, *asked)["total_bytes"]
            made = runs.train(model, data, "--batch", str(batch), "--steps", "4", "--on-oom", "fail", *options)
            allocated = made["peak_bytes"]
            off = predicted / allocated - 1
            worst = max(worst, abs(off))
            print(f"{model:46} {name:14} {card:10} {batch:5} {predicted:15,} {allocated:15,} {off:9.4%}", flush=True)
    print(f"farthest off: {worst:.4%}\n")


def published(place):
    print("BERT-large, 512 tokens, AdamW, fp32: MB (2^20 bytes)")
    print(f"{'batch':8} {'published':>10} {'reserved, eager':>16} {'allocated, eager':>17} {'reserved, fused':>16}")
    card = Card("Tesla T4", 16 << 30, 75, 40)
    folder = Runs(place)
    file = folder.file("bert.py")
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(BERT)
    for (batch, parts, checkpointing), told in PUBLISHED.items():
        eager, fused = (torch_program(place, file, str(batch), str(parts), str(checkpointing), attention,
                                      environment=on_card(place, card, python=True))
                        for attention in ("eager", "sdpa"))
        name = f"{batch} x {parts}" + (" c" if checkpointing else "")
        print(f"{name:8} {told:10,} {eager['reserved'] >> 20:16,} {eager['allocated'] >> 20:17,} "
              f"{fused['reserved'] >> 20:16,}", flush=True)
    print("c: activation checkpointing. The published figures are of the whole card: 1,343 MB of them were there\n"
          "before the model (context and kernels), and what the allocator keeps beside tensors grows with the room\n"
          "that is free. Attention was computed eagerly then, by another AdamW, with the torch of 2022.")


def main():
    place = Place(cli=os.path.join(ROOT, "build", "bin", "batchscope-cli"), python=sys.executable)
    predictions(place)
    published(place)


if __name__ == "__main__":
    main()
