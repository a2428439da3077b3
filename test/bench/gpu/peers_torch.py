#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A step of a timed model in PyTorch, as who wants it fast has it: autocast to bf16, torch.compile with max-autotune and CUDA
graphs, the fused AdamW, flash attention, images with channels last.

    python3 peers_torch.py --case gpt2-124m
    python3 peers_torch.py --case vit-base --small --device cpu --eager

The models are those of the same name in cases.py, op for op, with the same optimizer, clipping and schedule. Batches lie on the
device beforehand: reading data costs the peer nothing. Prints one JSON object.
"""

import argparse
import json
import math
import os
import re
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import cases


class Attention(nn.Module):
    """Heads of queries over as many or fewer heads of keys and values, with or without rotary positions."""

    def __init__(self, width, heads, groups, causal, rotary, bias):
        super().__init__()
        self.heads, self.groups, self.causal, self.size = heads, groups, causal, width // heads
        self.qkv = nn.Linear(width, (heads + 2 * groups) * self.size, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)
        self.rotary = rotary

    def forward(self, x):
        b, t, _ = x.shape
        parts = self.qkv(x).split([self.heads * self.size, self.groups * self.size, self.groups * self.size], -1)
        q, k, v = (y.view(b, t, -1, self.size).transpose(1, 2) for y in parts)
        if self.rotary is not None:
            cos, sin = self.rotary(t)
            q, k = (torch.cat((y1 * cos - y2 * sin, y2 * cos + y1 * sin), -1).to(v.dtype) for y1, y2 in (q.chunk(2, -1), k.chunk(2, -1)))
        # Flash attention takes shared heads by itself.
        more = {"enable_gqa": True} if self.groups != self.heads else {}
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, **more)
        return self.out(y.transpose(1, 2).reshape(b, t, -1))


class Rotary(nn.Module):
    def __init__(self, size, context):
        super().__init__()
        angle = torch.arange(context)[:, None] * 10000.0 ** (torch.arange(size // 2) * (-2.0 / size))
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, t):
        return self.cos[:t], self.sin[:t]


class Mlp(nn.Module):
    def __init__(self, width, approximate):
        super().__init__()
        self.up, self.down, self.approximate = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), approximate

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate=self.approximate))


class SwiGlu(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(*pair, bias=False) for pair in ((width, hidden), (width, hidden), (hidden, width)))

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, norm, attention, mlp):
        super().__init__()
        self.norm1, self.attention, self.norm2, self.mlp = norm(), attention, norm(), mlp

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Text(nn.Module):
    """GPT-2, or a llama where `groups` are given."""

    def __init__(self, s):
        super().__init__()
        width, llama = s["width"], "groups" in s
        self.tokens = nn.Embedding(s["vocab"], width)
        self.positions = None if llama else nn.Embedding(s["context"], width)
        norm = (lambda: nn.RMSNorm(width, eps=1e-6)) if llama else (lambda: nn.LayerNorm(width))
        rotary = Rotary(width // s["heads"], s["context"]) if llama else None
        self.layers = nn.ModuleList(
            Layer(norm, Attention(width, s["heads"], s.get("groups", s["heads"]), True, rotary, not llama),
                  SwiGlu(width, s["hidden"]) if llama else Mlp(width, "tanh"))
            for _ in range(s["layers"])
        )  # fmt: skip
        self.norm = norm()
        self.head = nn.Linear(width, s["vocab"], bias=False)
        if not llama:
            self.head.weight = self.tokens.weight
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                residual = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * s["layers"]) if residual else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def forward(self, window):
        tokens, targets = window[:, :-1], window[:, 1:]
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.size(1)]
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


class Vit(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, tokens = s["width"], (s["side"] // s["patch"]) ** 2 + 1
        self.patches = nn.Conv2d(3, width, s["patch"], stride=s["patch"])
        self.first = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(tokens, width))
        self.layers = nn.ModuleList(
            Layer(lambda: nn.LayerNorm(width), Attention(width, s["heads"], s["heads"], False, None, True), Mlp(width, "none"))
            for _ in range(s["layers"])
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, s["classes"])
        for layer in self.layers.modules():
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=0.02)
                nn.init.zeros_(layer.bias)

    def forward(self, images, labels):
        x = self.patches(images.float() / 255 - 0.5).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(len(x), -1, -1).to(x.dtype), x), 1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x[:, 0])), labels)


class ConvBn(nn.Sequential):
    def __init__(self, inputs, filters, kernel, stride=1):
        super().__init__(nn.Conv2d(inputs, filters, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(filters))
        nn.init.kaiming_normal_(self[0].weight, mode="fan_out", nonlinearity="relu")


class Bottleneck(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.one, self.two = ConvBn(inputs, filters, 1), ConvBn(filters, filters, 3, stride)
        self.three = ConvBn(filters, 4 * filters, 1)
        self.around = nn.Identity() if inputs == 4 * filters and stride == 1 else ConvBn(inputs, 4 * filters, 1, stride)

    def forward(self, x):
        return F.relu(self.around(x) + self.three(F.relu(self.two(F.relu(self.one(x))))))


class Resnet(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, inputs, blocks = s["width"], s["width"], []
        self.stem = ConvBn(3, width, 7, 2)
        for stage in range(4):
            for block in range(s[f"blocks{stage + 1}"]):
                blocks.append(Bottleneck(inputs, width << stage, 2 if stage and not block else 1))
                inputs = 4 * (width << stage)
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(inputs, s["classes"])

    def forward(self, images, labels):
        x = images.to(memory_format=torch.channels_last).float() / 255 - 0.5
        x = F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1)
        return F.cross_entropy(self.head(self.blocks(x).mean((2, 3))), labels)


def build(case, device):
    """The model, its optimizer and whether gradients are clipped."""
    if case.model == cases.RESNET:
        model = Resnet(case.sizes).to(device, memory_format=torch.channels_last)
        fused = {"fused": True} if device == "cuda" else {}
        return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, **fused), False
    model = (Vit if case.model == cases.VIT else Text)(case.sizes).to(device)
    beta2, decay = {cases.GPT: (0.99, 0.1), cases.LLAMA: (0.95, 0.1), cases.VIT: (0.999, 0.05)}[case.model]
    groups = [
        {"params": [w for w in model.parameters() if w.dim() >= 2], "weight_decay": decay},
        {"params": [w for w in model.parameters() if w.dim() < 2], "weight_decay": 0.0},
    ]
    return model, torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, beta2), fused=device == "cuda"), True


def batches(case, device):
    """Two batches, which take turns."""
    s, generator = case.sizes, torch.Generator().manual_seed(1)
    rows = 2 * s["batch"]
    if "context" in s:
        drawn = [torch.randint(s["vocab"], (rows, s["context"] + 1), generator=generator)]
    else:
        drawn = [
            torch.randint(256, (rows, 3, s["side"], s["side"]), generator=generator, dtype=torch.uint8),
            torch.randint(s["classes"], (rows,), generator=generator),
        ]
    return list(zip(*(whole.to(device).split(s["batch"]) for whole in drawn)))


KINDS = [
    ("attention", r"flash|fmha|sdp|attention"),
    ("convolution", r"conv|wgrad|dgrad|fprop"),
    ("product", r"gemm|nvjet|cutlass|triton_tem|_mm_|sm\d+_xmma"),
    ("optimizer", r"multi_tensor|adam|sgd"),
    ("copy", r"memcpy|memset"),
    ("generated", r"triton"),
]


def kinds(step, steps):
    """Milliseconds a step by kind of kernel."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for turn in range(steps):
            step(turn)
        torch.cuda.synchronize()
    found = {}
    for event in profiler.key_averages():
        spent = getattr(event, "self_device_time_total", 0) / 1e3 / steps
        if spent:
            kind = next((kind for kind, pattern in KINDS if re.search(pattern, event.key, re.I)), "other")
            sums = found.setdefault(kind, {"ms": 0.0, "runs": 0.0})
            sums["ms"] += spent
            sums["runs"] += event.count / steps
    return dict(sorted(found.items(), key=lambda entry: -entry[1]["ms"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=list(cases.TIMED), required=True)
    parser.add_argument("--small", action="store_true", help="in sizes that any machine takes")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--mode", default="max-autotune", help="of torch.compile (default %(default)s, with CUDA graphs)")
    options = parser.parse_args()
    case = (cases.SMALL if options.small else cases.TIMED)[options.case]
    cuda = options.device == "cuda"
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    model, optimizer, clipped = build(case, options.device)
    data = batches(case, options.device)

    def loss_of(*batch):
        with torch.autocast(options.device, dtype=torch.bfloat16):
            return model(*batch)

    # Where there is no device, compiling says whether it can be compiled, and nothing about speed.
    forward = loss_of if options.eager else torch.compile(loss_of, mode=options.mode if cuda else None)

    def step(turn):
        if cuda and not options.eager:
            torch.compiler.cudagraph_mark_step_begin()
        loss = forward(*data[turn % len(data)])
        loss.backward()
        if clipped:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    wait = torch.cuda.synchronize if cuda else lambda: None
    start = time.perf_counter()
    first = step(0).item()
    compiled = time.perf_counter() - start
    for turn in range(2 if options.small else 12):  # graphs are recorded in the second and third step
        step(turn)
    wait()
    if cuda:
        torch.cuda.empty_cache()  # what compiling and autotuning took
        torch.cuda.reset_peak_memory_stats()
    rounds, each = (2, 2) if options.small else (5, 8)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for turn in range(each):
            loss = step(turn)
        wait()
        times.append(1e3 * (time.perf_counter() - start) / each)
    found = {
        "peer": "torch", "version": torch.__version__, "compiled": not options.eager, "mode": options.mode,
        "step_ms": statistics.median(times), "fastest_ms": min(times), "compile_s": compiled, "first_loss": first,
        "last_loss": loss.item(), "parameters": sum(w.numel() for w in model.parameters()),
    }  # fmt: skip
    if cuda:
        # What graphs keep to themselves is no allocation of a step: it is the reserved memory that a device has to have.
        found |= {"memory_bytes": torch.cuda.max_memory_reserved(), "allocated_bytes": torch.cuda.max_memory_allocated()}
        try:
            found["kinds"] = kinds(step, 3)
        except Exception as fault:  # a machine may forbid profiling
            found["profile_error"] = str(fault)
    print(json.dumps(found))


if __name__ == "__main__":
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    main()
