"""`weir verify` proves the compile of every model that ships, at small and odd sizes, and of models that once failed."""

import os
import pathlib
import unittest

import weirtest
from weirtest import MODELS, SHIPPED, small


class Verify(weirtest.Test):
    # Full at one of a model's sizes: at the odd ones, a pass that changes a result would show in the plan that they all make.
    @weirtest.takes(20)
    @weirtest.each(SHIPPED)
    def test_models(self, name):
        said = r"verified: \d+ passes, \d+ gradients, \d+ kernels, \d+ results"
        for sizes, full in zip(small(name), (["--full"], []), strict=True):
            with self.subTest(sizes=sizes):
                done = self.weir("verify", MODELS / f"{name}.weir", *sizes, *full)
                self.assertRegex(done.stdout, rf"{said}\n{said} with gradients\n")
                for stage in ("gradients", *(["autodiff", "fuse", "lower-to-plan"] if full else []), "assign-offsets", "codegen", "artifact"):
                    self.assertRegex(done.stderr, rf"(?m)^  {stage} .*agree")

    @weirtest.depends_on_cpu_level
    def test_stages(self):
        sizes = [part if part != "batch=3" else "batch=4" for part in small("gpt-char")[0]]
        done = self.weir("verify", MODELS / "gpt-char.weir", *sizes, "--mesh", "pp=2,dp=2", "--microbatches", 2,
                         "--schedule", "zero-bubble", "--full")
        for stage in ("cross-stages", "split-stages", "lower-to-plan", "assign-offsets", "artifact"):
            self.assertRegex(done.stderr, rf"(?m)^  {stage} .*agree")

    def test_it_says_what_it_takes_and_what_it_does(self):
        done = self.weir("verify", MODELS / "mnist-mlp.weir", "--set", "hidden=40", "--set", "batch=5")
        self.assertRegex(done.stderr, r"\A\S+mnist-mlp\.weir: about a second of work\n")
        self.assertRegex(done.stderr, r"(?m)^  gradients .* along 4 directions of all of them at once$")
        self.assertRegex(done.stderr, r"(?m)^  assign-offsets .*, and so do all passes before it$")
        self.assertNotRegex(done.stderr, r"(?m)^  (fuse|lower-to-plan) ")

    def test_a_long_one_says_so_at_once_and_what_shortens_it(self):
        process = weirtest.start("weir", "verify", MODELS / "gpt-char.weir")
        said = process.stderr.readline()
        process.kill()
        process.communicate()
        self.assertRegex(said, r"gpt-char\.weir: about \d+ (s|min) of work; --set \w+=\d+ makes it about \d+ s\n")

    @weirtest.takes(20)
    @weirtest.each(sorted(path.stem for path in (pathlib.Path(__file__).parent / "models").glob("*.weir")))
    def test_models_that_failed(self, name):
        """Each failed once, for some seed: compiled wrongly, or called wrong though it was right."""
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                self.weir("verify", pathlib.Path(__file__).parent / "models" / f"{name}.weir", "--seed", seed)

    def test_gradients_that_differences_say_nothing_of(self):
        """A loss of 1e30 hides them: that is no agreement. On data without such a loss there is one."""
        model = self.folder / "hides.weir"
        model.write_text(
            """config batch = 4
model m(x: [b, 3]) -> [b, 1] {
  return linear(x, 1) as head
}
train {
  input x: [batch, 3]
  input n: i32[batch]
  steps 10
  y = m(x)
  loss ratio(sum(select(n[:, new] > 0, 1e30 + y, y * y)), batch)
  update sgd(0.1)
}
"""
        )
        done = self.weir("verify", model, status=5)
        self.assertRegex(done.stderr, r"hides\.weir: none of the 2 gradients can be compared with central differences: "
                                      r"`head\.weight`, `head\.bias`: the loss is \d\.\de\+30.*\n  help: .*--data INPUT=PATH")  # fmt: skip
        self.assertNotIn("agree with central differences", done.stderr)
        weirtest.npy(self.folder / "x.npy", "f", (8, 3), [i / 8 for i in range(24)])
        weirtest.npy(self.folder / "n.npy", "i", (8,), [0] * 8)
        data = ["--data", f"x={self.folder / 'x.npy'}", "--data", f"n={self.folder / 'n.npy'}"]
        done = self.weir("verify", model, *data)
        self.assertRegex(done.stderr, r"gradients +2 agree with central differences")
        text = self.write("input.txt", "to be or not to be, that is the question\n" * 9)
        self.weir("verify", MODELS / "gpt-char.weir", *small("gpt-char")[0], "--data", f"window={text}")
        self.fails(2, r"no data for the input 'n'", "weir", "verify", model, *data[:2])
        self.fails(4, r"n\.npy", "weir", "verify", model, "--data", f"x={self.folder / 'n.npy'}", *data[2:])

    def test_a_loss_that_nothing_is_said_of(self):
        """Steps of the differences are longer than a swing of the sine, and f32 has no number for a loss of 1e50: neither is a fault of Weir's, and neither agrees."""
        text = """model m(x: [b, 2]) -> [b, 3] {
  return linear(x, 3) as l
}
train {
  input x: [4, 2]
  input y: [4, 3]
  steps 1
  loss LOSS
  update sgd(0.1)
}
"""
        swings = self.write("swings.weir", text.replace("LOSS", "mse(sin(m(x) * 1e8), y)"))
        for seed in (1, 2, 3):
            done = self.weir("verify", swings, "--seed", seed, status=5)
            self.assertIn("none of the 2 gradients can be compared with central differences", done.stderr)
        overflows = self.write("overflows.weir", text.replace("LOSS", "mse(m(x) * 1e25, 0.0 * y)"))
        done = self.weir("verify", overflows, status=5)
        self.assertRegex(done.stderr, r"overflows\.weir:8:8 is not finite in f32 on random inputs")

    def test_a_figure_that_cancels(self):
        """The sum of normalized values is 0 but for rounding, in a batch and row by row."""
        model = self.write("cancels.weir", """config batch = 4, w = 6
model net(x: [b, w]) -> [b, w] { return normalize(linear(x, w) as a) }
train {
  input x: [batch, w]
  input y: [batch, w]
  steps 3
  o = net(x)
  loss mse(o, y)
  metric average = ratio(sum(o), batch)
  update sgd(0.05)
}
""")
        for seed in (2, 3, 4):
            self.weir("verify", model, "--seed", seed)

    def test_a_mask_that_other_ranks_read(self):
        """The first stage gathers the dropout's result over tp; both passes of the last one read it."""
        model = self.write("masked.weir", """config batch = 16, w = 6
model net(x: [b, w]) -> ([b, w], [b, w], [b, w]) {
  param ww: [w, w] = uniform(low = -0.4, high = 0.4)
  v = dropout(x, 0.25)
  h = tanh(linear((normalize(v) @ ww) + v, w) as l)
  return linear(h, w) as o0, linear(h, w) as o1, v @ ww
}
train {
  input x: [batch, w]
  input y: [batch, w]
  steps 3
  o0, o1, o2 = net(x)
  loss mse(o0, y) + mse(o1, y) + mse(o2, y)
  update sgd(0.05)
}
""")
        self.weir("verify", model, "--microbatches", 4, "--mesh", "pp=2,tp=2")

    def test_a_bad_model_is_said_as_check_says_it(self):
        model = self.folder / "bad.weir"
        model.write_text("model m(x: [b, 4]) -> [b, 4] {\n  return x + z\n}\n")
        self.assertIn("bad.weir:2:14", self.weir("verify", model, status=3).stderr)

    @unittest.skipIf(
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 50e9, "this machine could hold it"
    )
    def test_a_model_too_large_to_interpret_is_refused_at_once(self):
        done = self.weir("verify", MODELS / "mnist-mlp.weir", "--set", "batch=2000000", "--set",
                         "hidden=1000", status=6)
        self.assertRegex(done.stderr, r"@\w+ needs at least \d+ GB, but this machine has \d+ GB")
        self.assertIn("make the model smaller with --set", done.stderr)

    def test_usage(self):
        model = MODELS / "mnist-mlp.weir"
        self.assertIn("--target", self.weir("verify", model, "--target", "gpu", status=2).stderr)
        self.assertIn("hiden", self.weir("verify", model, "--set", "hiden=3", status=2).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2 if os.environ.get("VERBOSE") else 1)
