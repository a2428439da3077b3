#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the device at hand can do at most, measured through PyTorch: copies in memory, with the host too, products of matrices, and
what a kernel costs that does nothing.

    python3 peaks.py [--device cpu]

Prints one JSON object. Bandwidth counts what is read and what is written; a product of n x n x n is 2 n^3 FLOPs. The best of
several rounds counts, of operands that are random numbers: zeros take less power and run at higher clocks.
"""

import argparse
import json
import time

import torch


def seconds(device, call, rounds, calls):
    """The least time of one of several calls in a row."""
    best = float("inf")
    for _ in range(rounds):
        if device == "cuda":
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(calls):
                call()
            end.record()
            torch.cuda.synchronize()
            took = begin.elapsed_time(end) / 1e3
        else:
            start = time.perf_counter()
            for _ in range(calls):
                call()
            took = time.perf_counter() - start
        best = min(best, took / calls)
    return best


def launches():
    """Microseconds from the begin of a kernel that does next to nothing to that of the next one: launched one by one, and within a graph."""
    little, calls = torch.zeros(1, device="cuda"), 1000

    def all_of_them():
        for _ in range(calls):
            little.add_(1)

    found = {"launch_us": 1e6 * seconds("cuda", all_of_them, 5, 1) / calls}
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        all_of_them()
    return found | {"launch_in_graph_us": 1e6 * seconds("cuda", graph.replay, 5, 3) / calls}


def transfers():
    """GB/s of copies between the device and pinned memory of the host, by MiB of each."""
    found = {}
    for mebibytes in (1, 16, 256):
        there = torch.empty(mebibytes << 20, dtype=torch.uint8, device="cuda")
        here = torch.empty(mebibytes << 20, dtype=torch.uint8, pin_memory=True)
        for name, to, of in (("from_host", there, here), ("to_host", here, there)):
            taken = seconds("cuda", lambda: to.copy_(of, non_blocking=True), 5, 10)
            found.setdefault(f"{name}_gb_per_s", {})[mebibytes] = 1e-9 * (mebibytes << 20) / taken
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    device = parser.parse_args().device
    large = device == "cuda"
    rounds, calls = (5, 10) if large else (1, 1)
    found = {"device": torch.cuda.get_device_name() if large else "cpu"}

    elements = (1 << 30) if large else (1 << 22)  # of f32: far more than caches hold
    source, target = torch.rand(elements, device=device), torch.empty(elements, device=device)
    found["copy_gb_per_s"] = 8e-9 * elements / seconds(device, lambda: target.copy_(source), rounds, calls)
    found["read_gb_per_s"] = 4e-9 * elements / seconds(device, lambda: source.sum(), rounds, calls)
    del source, target

    if large:
        found |= launches() | transfers()
    torch.backends.cuda.matmul.allow_tf32 = True
    for name, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16), ("tf32", torch.float32)):
        rates = {}
        for n in (4096, 8192, 16384) if large else (256,):
            a, b = (torch.randn(n, n, device=device).to(dtype) for _ in range(2))
            out = torch.empty(n, n, device=device, dtype=dtype)
            rates[n] = 2e-12 * n**3 / seconds(device, lambda: torch.matmul(a, b, out=out), rounds, calls if n < 16384 else 3)
            del a, b, out
        found |= {f"matrix_{name}_tflops": max(rates.values()), f"matrix_{name}_by_size": rates}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
