"""PyTorch's side of the learner benchmark: the same model, weights, batch and objective as learner-step.ts, in eager float32.

For each line on standard input one training step, for each step one line of JSON.
Arguments: a folder with config.json, model.safetensors and batch.json; the device; the number of torch threads.
"""

import json
import math
import re
import resource
import struct
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

folder, device, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(threads)
# On a GPU, products of float32 may be taken with 10 bits of fraction ("TF32"), which is faster and less exact.
if device == "cuda-tf32":
    device = "cuda"
    torch.set_float32_matmul_precision("high")


def multiplies_slowly():
    """Whether the products are those of the reference BLAS, the file that Debian has where no other library was installed in its place."""
    try:
        return re.search(r"/libblas\.so\.3\.\d", open("/proc/self/maps").read()) is not None
    except OSError:
        return False  # no Linux


# A peer gets its best settings: the reference library takes twenty times as long as OpenBLAS.
if multiplies_slowly():
    sys.exit("This PyTorch multiplies by the reference BLAS. Install OpenBLAS (Debian: libopenblas0-pthread), and run again.")
config = json.load(open(f"{folder}/config.json"))
batch = json.load(open(f"{folder}/batch.json"))

raw = open(f"{folder}/model.safetensors", "rb").read()
(header_bytes,) = struct.unpack("<Q", raw[:8])
header = json.loads(raw[8 : 8 + header_bytes])
weights = {}
for name, entry in header.items():
    if name == "__metadata__":
        continue
    first, last = entry["data_offsets"]
    values = np.frombuffer(raw[8 + header_bytes + first : 8 + header_bytes + last], dtype="<f4")
    tensor = torch.from_numpy(values.reshape(entry["shape"]).copy()).to(device)
    weights[name] = tensor.requires_grad_(True)

heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
width = config["hidden_size"]
head_dim = width // heads
eps = config.get("rms_norm_eps", 1e-6)
ids = torch.tensor(batch["ids"], device=device)  # [batch, length]
advantages = torch.tensor(batch["advantages"], device=device).reshape(len(ids), -1)
length = ids.shape[1]
frequencies = config["rope_theta"] ** (-torch.arange(0, head_dim, 2, device=device) / head_dim)
angles = torch.arange(length, device=device)[:, None] * frequencies[None]
cos, sin = angles.cos(), angles.sin()
mask = torch.full((length, length), -math.inf, device=device).triu(1)


def norm(x, gain):
    if hasattr(F, "rms_norm"):
        return F.rms_norm(x, gain.shape, gain, eps)
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


def rotate(x):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def attend(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(head_dim) + mask, -1) @ v


def logprobs():
    x = F.embedding(ids, weights["model.embed_tokens.weight"])
    for layer in range(config["num_hidden_layers"]):
        w = lambda name: weights[f"model.layers.{layer}.{name}.weight"]
        h = norm(x, w("input_layernorm"))
        q, k, v = (
            F.linear(h, w(f"self_attn.{p}_proj")).view(len(ids), length, n, head_dim).transpose(1, 2)
            for p, n in (("q", heads), ("k", kv_heads), ("v", kv_heads))
        )
        q, k = rotate(q), rotate(k)
        if kv_heads < heads:
            k, v = (x.repeat_interleave(heads // kv_heads, 1) for x in (k, v))
        o = attend(q, k, v).transpose(1, 2).reshape(len(ids), length, width)
        x = x + F.linear(o, w("self_attn.o_proj"))
        h = norm(x, w("post_attention_layernorm"))
        inner = F.silu(F.linear(h, w("mlp.gate_proj"))) * F.linear(h, w("mlp.up_proj"))
        x = x + F.linear(inner, w("mlp.down_proj"))
    h = norm(x[:, :-1], weights["model.norm.weight"])
    logits = F.linear(h, weights.get("lm_head.weight", weights["model.embed_tokens.weight"]))
    return -F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(len(ids), -1)


def adamw():
    """The fused optimiser where this PyTorch has one for the device, else the plain one."""
    try:
        return torch.optim.AdamW(weights.values(), lr=1e-4, weight_decay=0, fused=True)
    except (RuntimeError, TypeError):
        return torch.optim.AdamW(weights.values(), lr=1e-4, weight_decay=0)


optimiser = adamw()
with torch.no_grad():
    old = logprobs()


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


print(json.dumps({"ready": f"PyTorch {torch.__version__} on {device}, {threads} threads"}), flush=True)
for _ in sys.stdin:
    start, cpu_start = time.perf_counter(), time.process_time()
    ratio = torch.exp(logprobs() - old)
    loss = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    gradient_norm = torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
    optimiser.step()
    wait()
    ms = (time.perf_counter() - start) * 1000
    cpu_ms = (time.process_time() - cpu_start) * 1000
    tensors = torch.cuda.max_memory_allocated() if device == "cuda" else None
    peak = {"tensors": tensors, "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    report = {"ms": ms, "cpuMs": cpu_ms, "loss": loss.item(), "gradientNorm": gradient_norm.item(), "peakBytes": peak}
    print(json.dumps(report), flush=True)
