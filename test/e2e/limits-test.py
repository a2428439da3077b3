"""Programs of more ops and values than one kernel takes compile, and run."""

import json
import math

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
