"""A step whose loss is finite but whose update is not changes nothing, and no run saves what is not finite."""

import json
import math
import shutil
import struct

import weirtest
from weirtest import data

MODEL = """
config rate = 0.1, growth = 1.0, accumulated = 1
block line(x: [b, 3]) -> [b, 1] {
  param w: [3, 1] = ones()
  state seen: [3] = zeros()
  next seen = seen + mean(x, axes = [0])
  return x @ w
}
model net(x: [b, 3]) -> [b, 1] { return line(x) as line }
optimizer growing(p, g, lr: f32) {
  state v = zeros_like(p)
  next v = growth * (v + 1)
  next p = p - lr * g
}
train {
  input x: [4, 3]
  input y: [4, 1]
  steps 40
  accumulate accumulated
  loss mse(net(x), y)
  lr = LR
  update growing(lr)
}
"""


class NotFinite(weirtest.Test):
    def setUp(self):
        super().setUp()
        rows = [[1 + (i * 7 + j * 3) % 5 for j in range(3)] for i in range(64)]
        self.data = data(
            x=weirtest.npy(self.folder / "x.npy", "f", (64, 3), [value for row in rows for value in row]),
            y=weirtest.npy(self.folder / "y.npy", "f", (64, 1), [float(row[0] + 50) for row in rows]),
        )
        self.kept = self.folder / "kept"

    def train(self, rate, *options, status=0, **sets):
        model = self.write("m.weir", MODEL.replace("LR", rate))
        chosen = [word for name, value in sets.items() for word in ("--set", f"{name}={value}")]
        return self.weir("train", model, *chosen, *self.data, "--checkpoint", self.kept, *options, status=status)

    def tensors(self):
        """What the newest checkpoint has in float32: name -> numbers. Its state has the run's counters as well."""
        found = {}
        for file in self.checkpoints(self.kept)[-1].glob("*.safetensors"):
            content = file.read_bytes()
            (length,) = struct.unpack_from("<Q", content)
            for name, entry in json.loads(content[8 : 8 + length]).items():
                if name != "__metadata__" and entry["dtype"] == "F32":
                    begin, end = (8 + length + offset for offset in entry["data_offsets"])
                    found[name] = struct.unpack(f"<{(end - begin) // 4}f", content[begin:end])
        return found

    def assert_finite(self):
        for name, numbers in self.tensors().items():
            self.assertTrue(all(math.isfinite(x) for x in numbers), name)

    def test_a_learning_rate_that_is_infinite_once(self):
        rate = "0.001 / f32(4 - step)"
        done = self.train(rate, "--checkpoint-every", 2, status=5)
        self.assertRegex(done.stderr, r"step 5: loss .*learning rate inf: not finite\. The newest checkpoint is .*step-00000004")
        self.assertEqual([path.name for path in self.checkpoints(self.kept)], ["step-00000002", "step-00000004"])
        self.assert_finite()
        before = self.tensors()
        done = self.train(rate, "--resume", "--nan", "skip")
        self.assertIn("skipped_steps 1\n", done.stdout)
        self.assertNotEqual(self.tensors()["line.w"], before["line.w"])
        self.assert_finite()

    def test_a_learning_rate_that_stays_no_number(self):
        for limit, last in (([], 26), (["--nan-limit", 3], 9)):
            with self.subTest(limit):
                done = self.train("0.001 * sqrt(f32(5 - step))", "--nan", "skip", *limit, "--checkpoint-every", 5, "--resume", status=5)
                # Of step 6 it is the root of 0, of those after it that of less.
                self.assertRegex(done.stderr, f"step {last}: loss .*learning rate -?nan: not finite, like the {last - 7} steps before it: .* The learning rate is not finite: correct the recipe's `lr`")
                self.assert_finite()
            shutil.rmtree(self.kept)

    def test_few_steps_that_are_skipped(self):
        for limit, words in ((1, "; --nan-limit 1 ends the run at the first such step"), (2, ", like the step before it: the model no longer learns")):
            done = self.train("0.001 * sqrt(f32(5 - step))", "--nan", "skip", "--nan-limit", limit, "--resume", status=5)
            self.assertRegex(done.stderr, rf"step {6 + limit}: loss [^;]*: not finite{words}\. ")
            self.assertRegex(done.stderr, "; a larger --nan-limit allows more of them in a row\n$")
            shutil.rmtree(self.kept)

    def test_data_that_are_not_finite(self):
        rows = [[1.0, 2.0, 3.0] for _ in range(16)]
        rows[9][1] = math.nan
        x = weirtest.npy(self.folder / "n.npy", "f", (16, 3), [value for row in rows for value in row])
        y = weirtest.npy(self.folder / "m.npy", "f", (16, 1), [50.0] * 16)
        self.data = data(x=x, y=y)
        where = r"the input 'x' has nan in row 9 of \S*/n\.npy, at \[9, 1\]"
        done = self.train("0.001", "--no-shuffle", status=5)
        self.assertRegex(done.stderr, f"step 3: loss nan.*: not finite\\. Check the data: {where}; correct it, unless the model expects such values; --nan skip")
        self.assertNotIn("learning rate", done.stderr)
        done = self.train("0.001", "--no-shuffle", "--nan", "skip", "--nan-limit", 1, status=5)
        self.assertRegex(done.stderr, f"first such step\\. Check the data: {where}; .*allows more")
        done = self.train("0.001", "--no-shuffle", "--nan", "skip", "-o", self.folder / "m.weirx")
        self.assertRegex(done.stderr, f"step 3: .*the step changed no weight; {where}")
        done = self.weir("eval", self.folder / "m.weirx", "--checkpoint", self.kept, *self.data, status=5)
        self.assertRegex(done.stderr, f"loss is nan: not finite, with the weights of .*; {where}")
        weirtest.npy(x, "f", (16, 3), [math.inf] * 48)
        shutil.rmtree(self.kept)
        done = self.train("0.001", "--nan", "skip", "--steps", 3, status=5)
        self.assertRegex(done.stderr, r"the model learned nothing\. Check the data: the input 'x' has inf in row \d+ of \S*/n\.npy, at \[\d+, 0\]")

    def test_a_learning_rate_that_overflows_the_weights(self):
        for accumulated in (1, 2):
            with self.subTest(accumulated=accumulated):
                done = self.train("1e38", "--nan", "skip", "--checkpoint-every", 1, "--resume", status=5, accumulated=accumulated)
                self.assertRegex(done.stderr, r"step 20: loss .*the update is not finite \(the largest finite value is 1, in .*\), like the 19 steps before it")
                self.assertEqual(set(self.tensors()["line.w"]), {1.0})
                self.assertEqual(set(self.tensors()["line.seen"]), {0.0})
                self.assertEqual(set(self.tensors()["growing.v/line.w"]), {0.0})
            shutil.rmtree(self.kept)

    def test_an_optimizer_state_that_overflows(self):
        done = self.train("0.001", "--nan", "skip", "--nan-limit", 5, "--checkpoint-every", 1, status=5, growth="1e20")
        self.assertRegex(done.stderr, r"step 2: loss .*the update is not finite \(the largest finite value is 1e\+20, in 'growing\.v/line\.w' at \[0, 0\]\), the step changed no weight")
        self.assertRegex(done.stderr, "step 6: loss .*like the 4 steps before it")
        self.assert_finite()

    def test_weights_to_begin_with_that_are_not_finite(self):
        header = json.dumps({"line.w": {"dtype": "F32", "shape": [3, 1], "data_offsets": [0, 12]}}).encode()
        init = self.folder / "init.safetensors"
        init.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<3f", 1, -math.inf, 1))
        done = self.train("0.001", "--init", init, "--nan", "skip", status=5)
        self.assertRegex(done.stderr, r"warning: 'line\.w' is -inf at \[1, 0\] in .*init.safetensors")
        self.assertRegex(done.stderr, r"error: step 1: .*'line\.w' is -inf at \[1, 0\].* from which no step is finite")

    def test_a_mask_that_nothing_trains(self):
        text = MODEL.replace("return x @ w", "param mask: [3, 1] = zeros()\n  return x @ (w * exp(mask))")
        text = text.replace("  update growing", '  update frozen() where ends_with(name, "mask")\n  update growing').replace("LR", "0.001")
        header = json.dumps({"line.mask": {"dtype": "F32", "shape": [3, 1], "data_offsets": [0, 12]}}).encode()
        init = self.folder / "init.safetensors"
        init.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<3f", 0, -math.inf, 0))
        model = self.write("m.weir", text)
        done = self.weir("train", model, *self.data, "--init-partial", init, "--checkpoint", self.kept)
        self.assertRegex(done.stderr, r"warning: 'line\.mask' is -inf at \[1, 0\] in .*no step updates it, so it stays as it is")
        self.assertEqual(self.tensors()["line.mask"], (0, -math.inf, 0))

    def test_the_advice_fits_the_cause(self):
        trace, clipped = "; --nan trace names the op and its line", ("  loss mse", "  clip global_norm(1e30)\n  loss mse")
        for change, rate, step, advice in (
            (("x @ w", "sqrt(x @ (w - 1))"), "0.001", "1", "The loss is finite, but a derivative is not, such as that of sqrt at 0" + trace),
            (("x @ w", "log(x @ (w - 1))"), "0.001", "1", "The weights are still the initial ones, so the learning rate is not the "
             "cause: an op computes infinity or NaN from them" + trace),
            (("x @ w", "x @ w"), "1.0", r"\d\d", r"A lower learning rate may help, or clip global_norm\(1.0\) in the recipe" + trace),
            (clipped, "1.0", r"\d\d", "A lower learning rate may help, or a smaller norm in the recipe's clip" + trace),
            (("x @ w", "x @ w"), "1e38", "1", r"the update is not finite.*\. A lower learning rate may help;"),
        ):
            with self.subTest(advice=advice):
                model = self.write("m.weir", MODEL.replace(*change).replace("LR", rate))
                done = self.weir("train", model, *self.data, status=5)
                self.assertRegex(done.stderr, rf"error: step {step}: .*{advice}")
                traced = self.weir("train", model, *self.data, "--nan", "trace", status=5)
                self.assertNotIn(trace, traced.stderr)


if __name__ == "__main__":
    weirtest.main()
