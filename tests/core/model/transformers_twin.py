"""What transformers computes, for tst_weights.cpp.

  make DIR            writes DIR/NAME/model.safetensors, as save_pretrained() does, and DIR/NAME/case.safetensors with
                      an input and the model's logits
  same FILE FILE      whether both files have the same tensors
"""
import os
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

sizes = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)


def models():
    tokens = torch.randint(50, (3, 12))
    yield "bert", transformers.BertForMaskedLM(
        transformers.BertConfig(vocab_size=50, max_position_embeddings=20, **sizes)), tokens
    yield "llama", transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=50, num_key_value_heads=1, rms_norm_eps=1e-5, **sizes)), tokens
    yield "vit", transformers.ViTForImageClassification(
        transformers.ViTConfig(image_size=16, patch_size=4, num_channels=3, num_labels=5, **sizes)
    ), torch.rand(3, 3, 16, 16)


def make(folder):
    torch.manual_seed(1)
    for name, model, given in models():
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(0, 0.3)
            logits = model.eval()(given).logits
        model.save_pretrained(os.path.join(folder, name))
        save_file({"input": given, "logits": logits.contiguous()}, os.path.join(folder, name, "case.safetensors"))
        print("made", name)


def same(one, other):
    a, b = load_file(one), load_file(other)
    print("same" if a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a) else "different")


if __name__ == "__main__":
    {"make": make, "same": same}[sys.argv[1]](*sys.argv[2:])
