"""A model without a trainable parameter is evaluated and predicts; a run of it is refused. --metrics - writes to standard output."""

import json
import struct

import weirtest
from weirtest import data, npy

NO_PARAMETER = """
model truths(x: [b, 4]) -> [b, 4] {
  above = x > 1.0
  below = x < 2.0
  return f32(above == below) + 10.0 * f32(above != below) + 100.0 * f32(above == true) + 1000.0 * f32(true != below)
}
train {
  input x: [2, 4]
  steps 3
  loss mse(truths(x), x)
  update frozen()
}
"""
FROZEN = """
model scaled(x: [b, 4]) -> [b, 4] {
  param w: [4] = ones()
  return x * w
}
train {
  input x: [2, 4]
  steps 3
  loss mse(scaled(x), 0.0 * x)
  lr = 0.1
  update frozen()
}
"""
STATES = """
block seen(x: [b, 4]) -> [b, 4] {
  state total: [4] = zeros()
  next total = total + sum(x, [0])
  return x + total
}
model scaled(x: [b, 4]) -> [b, 4] {
  param w: [4] = ones()
  return (seen(x) as seen) * w
}
train {
  input x: [2, 4]
  steps 3
  loss mse(scaled(x), 0.0 * x)
  update frozen()
}
"""


def numbers(path):
    raw = path.read_bytes()
    start = 10 + struct.unpack_from("<H", raw, 8)[0]
    return list(struct.unpack(f"<{(len(raw) - start) // 4}f", raw[start:]))


class Test(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.x = npy(self.folder / "x.npy", "f", [4, 4], [0.0, 1.5, 2.0, 3.0] * 4)
        self.artifact, self.out = self.folder / "m.weirx", self.folder / "out.npy"

    def compile(self, text, *more):
        done = self.weir("compile", self.write("m.weir", text), *more, "-o", self.artifact)
        self.assertIn("there is nothing to train: the model has no parameters, or all are frozen [-Wnothing-to-train]", done.stderr)

    def test_without_parameters(self):
        for more in ([], ["--precision", "f16"], ["--mesh", "dp=2"], ["--microbatches", "2"]):
            with self.subTest(more):
                self.compile(NO_PARAMETER, *more)
                self.weir("predict", self.artifact, *data(x=self.x), "-o", self.out)
                # above: F T T T; below: T T F F; equal only where both hold.
                self.assertEqual(numbers(self.out), [10.0, 101.0, 1110.0, 1110.0] * 4)
                figures = json.loads(self.weir_run("eval", self.artifact, *data(x=self.x), "--json").stdout)
                wanted = (10.0**2 + 99.5**2 + 1108.0**2 + 1107.0**2) / 4
                self.assertAlmostEqual(figures["loss"] / wanted, 1, places=6)
        for tool in (["weir", "run"], ["weir-run"]):
            self.fails(3, "truths: there is nothing to train: the model has no parameters, or all are frozen; weir eval and weir predict run it",
                       *tool, self.artifact, *data(x=self.x))

    def test_frozen_parameters_need_their_weights(self):
        self.compile(FROZEN)
        self.fails(2, "no weights", "weir", "predict", self.artifact, *data(x=self.x), "-o", self.out)
        weights = self.folder / "w.safetensors"
        header = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
        weights.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4))
        self.weir("predict", self.artifact, "--init", weights, *data(x=self.x), "-o", self.out)
        self.assertEqual(numbers(self.out), [0.0, 3.0, 6.0, 12.0] * 4)
        self.fails(3, "there is nothing to train", "weir", "run", self.artifact, *data(x=self.x))

    def test_states_alone_may_change(self):
        self.compile(STATES)
        kept = self.folder / "kept"
        self.weir("run", self.artifact, *data(x=self.x), "--no-shuffle", "--steps", 3, "--checkpoint", kept)
        total = weirtest.floats_of(self.checkpoints(kept)[-1] / "state.safetensors", "seen.total")
        self.assertEqual(total, [0.0, 9.0, 12.0, 18.0])

    def test_metrics_on_standard_output(self):
        kept = ["--checkpoint", self.folder / "kept"]
        model = self.write("t.weir", FROZEN.replace("frozen()", "sgd(lr)"))
        done = self.weir("train", model, *data(x=self.x), "--metrics", "-", *kept)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["step"] for line in lines], [1, 2, 3, 3])
        self.assertEqual(lines[-1]["event"], "done")
        self.assertRegex(done.stderr, r"(?m)^steps 3$")
        # Standard output is never cut: what the file had stays.
        out = self.write("lines.jsonl", "before\n")
        with out.open("a") as file:
            process = weirtest.start_into(file, "weir", "train", model, *data(x=self.x), "--metrics", "-", "--steps", 4, "--extend", "--resume", *kept)
            self.assertEqual(process.wait(), 0)
        lines = out.read_text().splitlines()
        self.assertEqual(lines[0], "before")
        self.assertEqual([json.loads(line)["step"] for line in lines[1:]], [4, 4])
        self.fails(2, "--json and --metrics -: both write to standard output", "weir", "train", model, *data(x=self.x), "--metrics", "-", "--json")


if __name__ == "__main__":
    weirtest.main()
