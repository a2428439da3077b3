"""--nan trace names where the first value that is not finite was made, and --replay runs a step again."""

import json
import math
import os
import pathlib
import re
import struct
import unittest

import weirtest
from weirtest import data

LIBRARIES = pathlib.Path(os.environ.get("WEIR_EMULATED_CUDA", weirtest.BIN.parent / "lib" / "emulated-cuda"))

# The line that goes wrong is the 8th.
MODEL = """config accumulated = 1
block line(x: [b, 3]) -> [b, 1] {
  param w: [3, 1] = ones()
  return x @ w
}
model net(x: [b, 3]) -> [b, 1] {
  h = line(x) as line
  y = BODY
  return y
}
train {
  input x: [4, 3]
  input y: [4, 1]
  steps 12
  accumulate accumulated
  loss mse(net(x), y)
  lr = RATE
  update sgd(lr)
}
"""
BAD = 9  # the row of the data with other numbers than the rest; of step 3


class Trace(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.kept = self.folder / "kept"
        self.rows([-1.0, 0.5, 0.25])

    def rows(self, odd, x=(1.0, 2.0, 3.0), target=2.0):
        """64 rows, of which one is odd."""
        rows = [list(x) for _ in range(64)]
        rows[BAD] = odd
        self.data = data(
            x=weirtest.npy(self.folder / "x.npy", "f", (64, 3), [value for row in rows for value in row]),
            y=weirtest.npy(self.folder / "y.npy", "f", (64, 1), [target] * 64),
        ) + ["--no-shuffle"]

    def train(self, body, *options, tool="weir", nan="trace", rate="0.0", status=5, compiled=(), env={}, **sets):
        self.model = self.write("m.weir", MODEL.replace("BODY", body).replace("RATE", rate))
        chosen = [word for name, value in sets.items() for word in ("--set", f"{name}={value}")]
        artifact = self.folder / "m.weirx"
        self.weir("compile", self.model, *chosen, *compiled, "-o", artifact)
        command = ["run", artifact] if tool == "weir" else [artifact]
        return self.run_tool(tool, *command, *self.data, "--nan", nan, *options, status=status, env=env)

    def assert_made(self, done, step, *patterns):
        self.assertRegex(done.stderr, f"step {step}: the first non-finite value is computed by action \\d+ of \\d+, ")
        for pattern in patterns:
            self.assertRegex(done.stderr, pattern)
        self.assertNotIn("gives a different result", done.stderr)

    def test_the_logarithm_of_a_negative_number(self):
        done = self.train("log(h)")
        self.assert_made(done, 3, r"m\.weir:8:7: log of -0\.25 gives nan, at \[1, 0\]", "it overwrites .*: 1 nan of 4 elements, the first at ",
                         "it reads .*: 4 elements, all finite, from -0.25 to 6", r"error: step 3: loss nan.*: not finite")
        # Without the compiler: the same action and what it computes.
        alone = self.train("log(h)", tool="weir-run")
        self.assert_made(alone, 3, r"it computes .*log at \S*m\.weir:8:7")
        made = re.search("is computed by (.*)", done.stderr)[1]
        self.assertIn(made, alone.stderr)

    def test_a_division_by_zero(self):
        self.rows([-1.0, 0.5, 0.5])
        self.assert_made(self.train("1.0 / h"), 3, r"m\.weir:8:\d+: (div of 1, 0|reciprocal of 0) gives inf, at \[1, 0\]")

    def test_overflows(self):
        self.rows([100.0, 0.0, 0.0])
        self.assert_made(self.train("exp(h)"), 3, r"m\.weir:8:7: exp of 100 gives inf, at \[1, 0\]")
        self.rows([3e38, 3e38, 0.0])
        self.assert_made(self.train("h"), 3, r"it computes matmul at \S*m\.weir:4|m\.weir:4:\d+: matmul", "it reads the input 'x': 12 elements, all finite")

    def test_what_does_no_harm_is_not_named(self):
        # exp(100) is infinite in an f32, and 1 / (1 + inf) is 0. (No gradient of it: 0 * inf is NaN.)
        self.rows([100.0, 0.0, 0.0])
        done = self.train("stop_gradient(1.0 / (1.0 + exp(h))) * h", status=0)
        self.assertNotIn("not finite", done.stderr)
        self.rows([100.0, -0.5, -0.25])
        done = self.train("stop_gradient(1.0 / (1.0 + exp(h))) * sqrt(90.0 - h)")
        self.assert_made(done, 3, r"m\.weir:8:\d+: sqrt of -9\.25 gives nan")

    def test_a_mask_of_infinities(self):
        mask = "sum(softmax(x + log(select(x > 0.0, 1.0, 0.0))), axes = [1])[:, new] * h"
        self.rows([-1.0, 0.5, 0.25])
        done = self.train(mask, status=0)
        self.assertNotIn("not finite", done.stderr)
        # A row that is masked as a whole.
        self.rows([-1.0, -0.5, -0.25])
        self.assert_made(self.train(mask), 3, r"m\.weir:8:\d+: log of 0 gives -inf, at \[1, 0\]")
        # The mask is not blamed for what is wrong elsewhere.
        self.rows([-1.0, 0.5, 0.25])
        self.assert_made(self.train(mask + " + log(h)"), 3, r"m\.weir:8:\d+: log of -0\.25 gives nan")

    def test_data_that_are_not_finite(self):
        self.rows([1.0, math.nan, 3.0])
        done = self.train("h")
        self.assertRegex(done.stderr, "step 3: the first non-finite value existed before the step began, in the input 'x'\n"
                                      r"  it has 1 nan of 12 elements, the first at \[1, 1\]; the others from 1 to 3, .*\n"
                                      r"  it is first read by action \d+ of \d+, ")
        self.assertIn("Check the data", done.stderr)

    def test_a_parameter_that_is_not_finite(self):
        header = json.dumps({"line.w": {"dtype": "F32", "shape": [3, 1], "data_offsets": [0, 12]}}).encode()
        init = self.folder / "init.safetensors"
        init.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<3f", 1, math.nan, 1))
        done = self.train("h", "--init", init)
        self.assertRegex(done.stderr, r"step 1: the first non-finite value existed before the step began, in the parameter 'line\.w'\n  it has 1 nan of 3 elements, the first at \[1, 0\]")

    def test_an_update_alone(self):
        self.rows([1.0, 2.0, 3.0], target=50.0)
        done = self.train("h", rate="3e38 * f32(max(step - 1, 0))")
        self.assertRegex(done.stderr, r"error: step 3: .*the update is not finite")
        self.assert_made(done, 3, r"m\.weir:1[78]:\d+: ")

    def test_the_round_of_an_accumulating_step(self):
        # Row 9 is in the first half of step 2, of 8 rows.
        done = self.train("log(h)", accumulated=2)
        self.assert_made(done, 2, "in round 1 of 2", r"m\.weir:8:7: log of -0\.25 gives nan, at \[1, 0\]")
        self.rows([1.0, 2.0, 3.0])
        rows = [[1.0, 2.0, 3.0]] * 13 + [[-1.0, 0.5, 0.25]] + [[1.0, 2.0, 3.0]] * 50
        weirtest.npy(self.folder / "x.npy", "f", (64, 3), [value for row in rows for value in row])
        self.assert_made(self.train("log(h)", accumulated=2), 2, "in round 2 of 2", r"log of -0\.25 gives nan")

    def test_dropout_draws_the_same(self):
        # Whether it is negative is dropout's choice.
        body = "log(dropout(h, 0.5) + 1.0 - 2.0 * dropout(h, 0.3))"
        self.rows([1.0, 2.0, 3.0])
        first = self.train(body)
        found = re.search(r"error: step (\d+): ", first.stderr)
        self.assert_made(first, found[1], r"m\.weir:8:7: log of -\S+ gives nan")

    def test_f16_with_a_loss_scale(self):
        # The gradients overflow until the scale is small enough: no failure, and nothing is traced.
        self.rows([1.0, 2.0, 3.0], target=1000.0)
        done = self.train("h", compiled=["--precision", "f16"], rate="1e-5", status=0)
        self.assertIn("the gradients overflow at a loss scale of", done.stderr)
        self.assertNotIn("the first non-finite value", done.stderr)
        self.rows([60000.0, 30000.0, 0.0])
        done = self.train("h", compiled=["--precision", "f16"])
        self.assert_made(done, 3, "gives inf|it computes matmul", "it reads .* all finite")

    def test_bits_are_those_of_abort(self):
        bits, said = [], []
        for nan in ("abort", "trace"):
            kept, metrics = self.folder / nan, self.folder / f"{nan}.jsonl"
            done = self.train("log(h)", "--checkpoint", kept, "--checkpoint-every", 1, "--metrics", metrics, nan=nan, rate="0.001")
            bits.append(self.weights(kept))
            said.append([re.sub(r',"step_ms.*', "", line) for line in metrics.read_text().splitlines()])
            self.assertEqual([path.name for path in self.checkpoints(kept)], ["step-00000001", "step-00000002"])
        self.assertEqual(bits[0], bits[1])
        self.assertEqual(said[0], said[1])

    @unittest.skipUnless((LIBRARIES / "libcuda.so.1").exists(), f"the emulated GPU ({LIBRARIES}) is not built")
    def test_on_a_gpu(self):
        environment = {"WEIR_EMULATED_MODE": "plain", "WEIR_KERNEL_CACHE": str(self.folder)}
        gpu = dict(compiled=["--target", "cuda"], env=environment)
        done = self.train("log(h)", "--device", "emulated", "--steps", 4, **gpu)
        self.assert_made(done, 3, r"m\.weir:8:7: log of -0\.25 gives nan, at \[1, 0\]")
        self.rows([1.0, math.nan, 3.0])
        done = self.train("h", "--device", "emulated", "--steps", 4, **gpu)
        self.assertRegex(done.stderr, r"existed before the step began, in the input 'x'\n  it has 1 nan of 12 elements, the first at \[1, 1\]")

    def replay(self, step, *options, status=0, tool="weir"):
        command = ["run", self.folder / "m.weirx"] if tool == "weir" else [self.folder / "m.weirx"]
        return self.run_tool(tool, *command, *self.data, "--checkpoint", self.kept, "--replay", step, *options, status=status)

    def test_replay(self):
        body = "log(h + 0.125 * dropout(h, 0.3))"
        metrics = self.folder / "metrics.jsonl"
        self.train(body, "--checkpoint", self.kept, "--checkpoint-every", 1, "--keep-checkpoints", 9, "--metrics", metrics, rate="0.001")
        steps = [json.loads(line) for line in metrics.read_text().splitlines()]
        before = {path: path.read_bytes() for path in self.kept.rglob("*") if path.is_file()}
        for tool in ("weir", "weir-run"):
            done = self.replay(2, "--json", tool=tool)
            found = json.loads(done.stdout)
            for name in ("step", "loss", "grad_norm", "lr"):
                self.assertEqual(found[name], steps[1][name], name)
            self.assertRegex(done.stderr, "step 2 is finite; its largest tensors by magnitude:\n  \\d")
        for tool in ("weir", "weir-run"):
            done = self.replay(3, status=5, tool=tool)
            self.assertEqual(done.stdout, "")
            self.assert_made(done, 3, r"error: step 3: loss nan")
        self.assertEqual({path: path.read_bytes() for path in self.kept.rglob("*") if path.is_file()}, before)

    def test_replay_from_some_steps_before(self):
        self.rows([1.0, 2.0, 3.0])
        body = "dropout(h, 0.3)"
        metrics = self.folder / "metrics.jsonl"
        self.train(body, "--checkpoint", self.kept, "--checkpoint-every", 4, "--metrics", metrics, rate="0.001", status=0)
        steps = self.metrics()[0]
        again = self.folder / "again.jsonl"
        done = self.replay(8, "--metrics", again, "--json")
        self.assertIn("replaying after step 4 from", done.stderr)
        self.assertEqual(json.loads(done.stdout)["loss"], steps[7]["loss"])
        records = [json.loads(line) for line in again.read_text().splitlines()]
        self.assertEqual([record["loss"] for record in records], [step["loss"] for step in steps[4:8]])

    def test_misuse(self):
        self.rows([1.0, 2.0, 3.0])
        self.train("h", "--checkpoint", self.kept, "--checkpoint-every", 4, rate="0.001", status=0)
        run = ["run", self.folder / "m.weirx", *self.data]
        kept = ["--checkpoint", self.kept]
        for pattern, options in (
            ("--replay 13: the run in .*kept has 12 steps", [*kept, "--replay", 13]),
            ("--replay 4: the oldest checkpoint in .*kept was saved after step 4: step 5 is the first that can be replayed", [*kept, "--replay", 4]),
            ("--replay 4: found no checkpoint in .*none", ["--checkpoint", self.folder / "none", "--replay", 4]),
            ("--replay requires --checkpoint", ["--replay", 4]),
            ("--replay.* expected a whole number of 1 or more, found '0'", [*kept, "--replay", 0]),
            ("--replay", [*kept, "--replay"]),
            ("--replay excludes --resume|--resume excludes --replay", [*kept, "--replay", 5, "--resume"]),
            ("--replay excludes --nan|--nan excludes --replay", [*kept, "--replay", 5, "--nan", "skip"]),
            ("expected abort, skip or trace, found 'traces'", ["--nan", "traces"]),
            ("--check-every-op excludes --nan trace", ["--nan", "trace", "--check-every-op"]),
            ("--check-every-op excludes --replay", [*kept, "--replay", 5, "--check-every-op"]),
            ("--change requires --resume or --replay", ["--change", "data"]),
        ):
            with self.subTest(pattern):
                self.fails(2, pattern, "weir", *run, *options)
        other = weirtest.npy(self.folder / "other.npy", "f", (64, 3), [1.5] * 192)
        others = ["run", self.folder / "m.weirx", *data(x=other, y=self.folder / "y.npy"), *kept, "--replay", 5]
        self.fails(2, "data: the input 'x' was read from .*--change data,order", "weir", *others)
        done = self.weir(*others, "--change", "data,order")
        self.assertIn("step 5 is finite", done.stderr)


if __name__ == "__main__":
    weirtest.main()
