"""Programs of more ops and values than one kernel takes compile, and run."""

import json
import math
import pathlib
import re
import unittest

import weirtest
from weirtest import npy

MANY_PARAMETERS = """
block scale(x: [b, c]) -> [b, c] {
  param weight: [c] = ones()
  return x * weight
}
model m(x: [b, c]) -> [b, c] {
  for i in 0..1100 { x = scale(x) as s[i] }
  return x
}
train {
  input x: f32[4, 8]
  steps 3
  loss mse(m(x), x + 1.0)
  clip global_norm(1.0)
  lr = constant(peak = 1e-5)
  update sgd(lr)
}
"""

# A selective state space model: what decays and what is read depends on the input.
SCAN = """
config batch = 2, time = 256, d = 4, n = 3
model ssm(u: [b, t, d]) -> [b, t, d] {
  param rates: [d, n] = uniform(low = 0.1, high = 1.0)
  param skip: [d] = ones()
  delta = log(1.0 + exp(linear(u, d) as delta))
  inputs = linear(u, n) as b
  outputs = linear(u, n) as c
  a = exp(-delta[:, :, :, new] * rates)
  x = (delta * u)[:, :, :, new] * inputs[:, :, new, :]
  h = zeros_like(merge_dims(x[:, :1], 0, 2))
  y = zeros_like(u)
  for i in 0..time {
    h = merge_dims(a[:, i:i + 1], 0, 2) * h + merge_dims(x[:, i:i + 1], 0, 2)
    read = sum(h * merge_dims(outputs[:, i:i + 1], 0, 2)[:, new, :], axes = [-1])
    y = select(position(y, 1) == i, read[:, new, :], y)
  }
  return y + skip * u
}
train {
  input u: f32[batch, time, d]
  steps 3
  loss mse(ssm(u), 0.5 * u)
  lr = constant(peak = 1e-2)
  update adamw(lr)
}
"""

CHAIN = """
config length = 500
model m(x: [b, 16]) -> [b, 16] {
  param w: [16] = normal(std = 0.5)
  for i in 0..length { x = tanh(x * w + 1.0) }
  return x
}
train {
  input x: f32[8, 16]
  steps 3
  loss mse(m(x), x)
  lr = constant(peak = 1e-3)
  update sgd(lr)
}
"""

# One parameter of more than 2^31 elements. From 1.0, each step halves all of them: the loss is the square of their mean.
LARGE = """
config rows = 32784
model m(x: [b, 1]) -> [b, 1] {
  param w: [rows, 65536] = ones()
  return x + mean(w)
}
train {
  input x: f32[2, 1]
  steps 2
  loss mse(m(x), x)
  lr = constant(peak = rows * 16384)
  update sgd(lr)
}
"""

AVAILABLE = int(re.search(r"MemAvailable: *(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) << 10


class Limits(weirtest.Test):
    def train(self, text, shape):
        """Three steps on rows that are all the same: the loss falls."""
        row = [i * 37 % 100 / 100 - 0.5 for i in range(math.prod(shape[1:]))]
        rows = npy(self.folder / "x.npy", "f", shape, shape[0] * row)
        artifact = self.folder / "model.weirx"
        self.weir("compile", self.write("model.weir", text), "-o", artifact)
        name = "u" if "input u" in text else "x"
        self.weir_run(artifact, "--data", f"{name}={rows}", "--seed", 1, "--metrics", self.folder / "metrics.jsonl")
        losses = self.losses()
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_more_parameters_than_a_kernel_takes_operands(self):
        self.train(MANY_PARAMETERS, [32, 8])

    def test_a_long_scan(self):
        self.train(SCAN, [8, 256, 4])

    @unittest.skipUnless(AVAILABLE > 8 << 30, "8 GiB of memory are not available")
    @weirtest.takes(60)
    def test_more_than_31_bits_of_elements(self):
        """CPUs compute with it, and GPUs refuse it by its place."""
        rows = npy(self.folder / "x.npy", "f", [8, 1], 8 * [0.0])
        model = self.write("large.weir", LARGE)
        self.weir("train", model, "--param-dtype", "bf16", "--data", f"x={rows}", "--metrics", self.folder / "metrics.jsonl")
        self.assertEqual(self.losses(), [1.0, 0.25])
        self.fails(
            3, r"large.weir:4:9: error: a tensor of 32784x65536 elements is too large for cuda:sm_90",
            "weir", "compile", model, "--param-dtype", "bf16", "--target", "cuda:sm_90", "-o", self.folder / "none.weirx",
        )  # fmt: skip

    def test_work_grows_with_the_program(self):
        """Four times the ops are about four times the ops in kernels, and no kernel is large."""
        ops = []
        for length in (100, 400):
            artifact = self.folder / f"{length}.weirx"
            self.weir("compile", self.write("chain.weir", CHAIN), "--set", f"length={length}", "-o", artifact)
            kernels = json.loads(self.weir("inspect", artifact, "--json").stdout)["kernels"]
            sizes = [sum(op != "broadcast" and op != "constant" for op in kernel["ops"]) for kernel in kernels]
            self.assertLess(max(sizes), 512)
            ops.append(sum(sizes))
        self.assertLess(ops[1], 6 * ops[0], ops)


if __name__ == "__main__":
    weirtest.main()
