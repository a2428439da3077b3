#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Median time of PyTorch's training step on two threads, for step-time.py: the models of torch_train.py without its evaluation.

  torch-step.py torch_train.py gpt --layers 6 --heads 6 --width 384 --context 256 --batch 8 --steps 20 --dtype bf16 --compile

For memory-time.py: --checkpoint computes every layer again in the backward computation, --activation-budget is the share of what
would be kept that torch.compile may keep, and --kept prints a JSON object that has the bytes kept from forward to backward too.
"""
import argparse, contextlib, functools, importlib.util, json, statistics, sys, time
import torch
import torch.utils.checkpoint


def bytes_kept(model, step):
    """What autograd saves for the backward computation, parameters aside: each storage once."""
    own = {w.untyped_storage().data_ptr() for w in model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        step()
    return sum(kept.values())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("script")
    p.add_argument("model", choices=["gpt", "mlp", "cnn"])
    for name, value in dict(layers=4, heads=4, width=128, context=64, batch=64, steps=20).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    p.add_argument("--compile", action="store_true")
    p.add_argument("--checkpoint", action="store_true")
    p.add_argument("--activation-budget", type=float)
    p.add_argument("--kept", action="store_true")
    a = p.parse_args()
    if a.activation_budget is not None:
        from torch._functorch import config

        config.activation_memory_budget = a.activation_budget
    spec = importlib.util.spec_from_file_location("peer", a.script)
    peer = importlib.util.module_from_spec(spec)
    sys.modules["peer"] = peer  # torch.compile looks functions up by their modules
    spec.loader.exec_module(peer)
    torch.manual_seed(1)
    torch.set_num_threads(2)
    if a.model == "gpt":
        model = peer.GPT(65, a.context, a.layers, a.heads, a.width)
        if a.checkpoint:
            for layer in model.h:
                layer.forward = functools.partial(torch.utils.checkpoint.checkpoint, layer.forward, use_reentrant=False)
        loss_of, draw = model, lambda: (torch.randint(65, (a.batch, a.context + 1)),)
        decayed = [w for w in model.parameters() if w.dim() >= 2]
        rest = [w for w in model.parameters() if w.dim() < 2]
        optimizer = torch.optim.AdamW([dict(params=decayed, weight_decay=0.1), dict(params=rest, weight_decay=0.0)], lr=1e-3,
                                      betas=(0.9, 0.99))
    else:
        model = peer.Classifier(a.model)
        loss_of, draw = lambda x, y: model(x, y)[0], lambda: (torch.rand(a.batch, 28, 28), torch.randint(10, (a.batch,)))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    cast = (lambda: torch.autocast("cpu", dtype=torch.bfloat16)) if a.dtype == "bf16" else contextlib.nullcontext

    def forward(*inputs):
        with cast():
            return loss_of(*inputs)

    step_fn = torch.compile(forward) if a.compile else forward
    times = []
    for _ in range(a.steps):
        inputs = draw()
        start = time.perf_counter()
        step_fn(*inputs).backward()
        if a.model == "gpt":
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter() - start)
    ms = 1e3 * statistics.median(times[len(times) // 4:])
    if a.kept:
        print(json.dumps({"ms": ms, "kept": bytes_kept(model, lambda: step_fn(*draw()))}))
    else:
        print(ms)


if __name__ == "__main__":
    main()
