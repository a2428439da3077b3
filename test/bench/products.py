#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every product and convolution of a model's step, as Weir runs it, against PyTorch on the same two threads.

  products.py --weir build/bin/weir --data ../shared/data gpt-char --precision bf16 --set layers=6 --set width=384 ...

Weir's figures are of `weir run --profile`: within a step, caches as the step leaves them, tiles shared out to threads. PyTorch
computes the same shape again and again with operands of its liking (the best of plain, left transposed, right transposed), which
is what a step could take at best. Prints a line for each, what is below 90 % marked, and how long the step's products would take
at PyTorch's rates.
"""
import argparse, os, re, subprocess, sys, tempfile, time
import torch


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nexited with {result.returncode}:\n{result.stderr[-2000:]}")
    return result.stdout + result.stderr


def best_of(operation, flops):
    """The best time of runs of at least a hundredth of a second each, in seconds."""
    operation()
    start = time.perf_counter()
    operation()
    count = max(1, int(0.01 / max(time.perf_counter() - start, 1e-7)))
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(count):
            operation()
        best = min(best, (time.perf_counter() - start) / count)
    return flops / best / 1e9


def of_product(m, n, k, batch, dtype):
    shape = (lambda *s: (batch, *s)) if batch > 1 else (lambda *s: s)
    a, at = torch.randn(shape(m, k)).to(dtype), torch.randn(shape(k, m)).to(dtype).mT
    b, bt = torch.randn(shape(k, n)).to(dtype), torch.randn(shape(n, k)).to(dtype).mT
    return max(best_of(lambda: torch.matmul(x, y), 2 * m * n * k * batch) for x, y in ((a, b), (at, b), (a, bt)))


def of_convolution(kind, image, weight, dtype):
    x, w = torch.randn(image).to(dtype), torch.randn(weight).to(dtype)
    padding = [size // 2 for size in weight[2:]] # as the models have it
    y = torch.nn.functional.conv2d(x, w, padding=padding)
    flops = 2 * y.numel() * w.numel() // weight[0]
    if kind == "forward":
        return best_of(lambda: torch.nn.functional.conv2d(x, w, padding=padding), flops)
    mask = [kind == "backward_input", kind == "backward_weight", False]
    rest = ([1] * len(padding), padding, [1] * len(padding), False, [0] * len(padding), 1, mask)
    return best_of(lambda: torch.ops.aten.convolution_backward(y, x, w, None, *rest), flops)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", help="a name in models/: gpt-char, mnist-mlp or mnist-cnn")
    p.add_argument("--weir", required=True)
    p.add_argument("--data", required=True, help="folder with shakespeare.txt and mnist/")
    p.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("--steps", default="12")
    a = p.parse_args()
    torch.set_num_threads(2)
    dtype = torch.bfloat16 if a.precision == "bf16" else torch.float32
    if a.model == "gpt-char":
        data = [f"--data=window={a.data}/shakespeare.txt"]
    else:
        data = [f"--data=images={a.data}/mnist/train-images.idx3-ubyte", f"--data=labels={a.data}/mnist/train-labels.idx1-ubyte"]
    with tempfile.TemporaryDirectory() as folder:
        artifact = os.path.join(folder, "model.weirx")
        sets = [text for one in a.set for text in ("--set", one)]
        run([a.weir, "compile", f"models/{a.model}.weir", *sets, "--precision", a.precision, "-o", artifact])
        text = run([a.weir, "run", artifact, *data, "--steps", a.steps, "--threads", "2", "--profile"])

    step = float(re.search(r"all but the first: ([\d.,]+) ms a step", text).group(1).replace(",", ""))
    took = could = 0
    print(f"{'ms':>9} {'runs':>5} {'Weir':>8} {'PyTorch':>8} {'ratio':>6}  GFLOP/s of")
    for line in text.splitlines():
        row = re.match(r"\s*[\d.]+%\s+([\d.,]+)\s+([\d,]+)\s+([\d.,]+)\s+[\d.,]+\s+((?:product|convolution).*?)\s{2,}", line)
        if not row:
            continue
        ms, runs, rate = (float(text.replace(",", "")) for text in row.groups()[:3])
        what = row.group(4)
        if product := re.match(r"product (\d+)x(\d+)x(\d+)(?: of (\d+))?", what):
            m, n, k, batch = (int(text or 1) for text in product.groups())
            peer = of_product(m, n, k, batch, dtype)
        else:
            kind, image, weight = re.match(r"convolution, (\w+), ([\dx]+) by ([\dx]+)", what).groups()
            peer = of_convolution(kind, *([int(size) for size in dims.split("x")] for dims in (image, weight)), dtype)
        took += ms
        could += ms * rate / peer
        print(f"{ms:9.3f} {runs:5.0f} {rate:8.1f} {peer:8.1f} {rate / peer:6.2f}{' <' if rate < 0.9 * peer else '  '} {what}", flush=True)
    print(f"{took:.1f} ms of a step of {step:.1f}; at PyTorch's rates {could:.1f} ms, of which the step is {step / could:.2f} times")


if __name__ == "__main__":
    main()
