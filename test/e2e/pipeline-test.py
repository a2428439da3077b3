"""Stages of a pipeline: ranks that have a part of a model each compute what one device does, in whatever order."""

import json
import struct

import weirtest
from weirtest import MODELS, data

SMALL = ["--set", "layers=4", "--set", "width=32", "--set", "context=16", "--set", "batch=8"]


SEEN = """
config batch = 4, hidden = 16
block scaled(x: [b, n]) -> [b, n] {
  state seen: [n] = ones()
  now = 0.5 * seen + 0.5 * exp(mean(x, axes = [0]))
  next seen = now
  return x * now[new, :]
}
model net(images: u8[b, 28, 28]) -> [b, 10] {
  x = relu(linear(flatten(f32(images) / 255.0), hidden) as first)
  x = scaled(x) as second
  x = relu(linear(x, hidden) as third)
  return linear(scaled(x) as fourth, 10) as last
}
train {
  input  images: u8[batch, 28, 28]
  input  labels: i32[batch]
  accumulate 4
  steps  20
  loss   cross_entropy(net(images), labels)
  lr     = cosine(peak = 1e-2, warmup = 2)
  update adamw(lr)
}
"""


class Pipeline(weirtest.Test):
    def compiled(self, *options, model=MODELS / "llama.weir", name="a.weirx"):
        artifact = self.folder / name
        self.weir("compile", model, *options, "-o", artifact)
        return artifact

    def losses(self, artifact, *options, steps=6):
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        self.weir("run", artifact, *options, "--steps", steps, "--metrics", metrics)
        return [json.loads(line)["loss"] for line in metrics.read_text().splitlines() if "loss" in json.loads(line)][:steps]

    @weirtest.takes(30)
    @weirtest.each(["pp=2", "pp=4"])
    def test_losses_are_one_devices_to_the_bit(self, mesh):
        text = data(window=self.text())
        # Of one microbatch there is nothing to order.
        for microbatches, schedules in {
            "pp=2": [(4, ("gpipe", "1f1b", "interleaved", "interleaved:3", "zero-bubble"))],
            "pp=4": [(1, ("1f1b",)), (4, ("1f1b", "interleaved:3", "zero-bubble"))],
        }[mesh]:
            cut = [*SMALL, "--microbatches", microbatches]
            alone = self.losses(self.compiled(*cut), *text)
            for schedule in schedules:
                with self.subTest(schedule=schedule, microbatches=microbatches):
                    together = self.compiled(*cut, "--mesh", mesh, "--schedule", schedule)
                    self.assertEqual(self.losses(together, *text), alone)

    @weirtest.takes(20)
    def test_what_is_carried_on(self):
        """Statistics from microbatch to microbatch, read forward as they were and as they are."""
        seen = self.write("seen.weir", SEEN)
        rows = self.digits(64)
        for model, options in ((MODELS / "mnist-cnn.weir", ["--set", "microbatches=2", "--set", "batch=8"]), (seen, [])):
            alone = self.losses(self.compiled(*options, model=model), *rows)
            for schedule in ("gpipe", "1f1b", "interleaved", "zero-bubble"):
                with self.subTest(model=model.name, schedule=schedule):
                    together = self.compiled(*options, "--mesh", "pp=2", "--schedule", schedule, model=model)
                    self.assertEqual(self.losses(together, *rows), alone)

    def test_stages_without_gradients(self):
        rows = self.digits(64)
        options = ["--set", "hidden=8", "--set", "batch=8", "--microbatches", 2]
        alone = self.losses(self.compiled(*options, model=MODELS / "mnist-mlp.weir"), *rows)
        self.assertEqual(self.losses(self.compiled(*options, "--mesh", "pp=12", model=MODELS / "mnist-mlp.weir"), *rows), alone)

    def test_a_weight_that_is_not_finite(self):
        """What a later stage writes is no variable that stays as it is."""
        artifact = self.compiled("--set", "hidden=8", "--set", "batch=8", "--mesh", "pp=2", model=MODELS / "mnist-mlp.weir")
        for name, size in (("fc1.bias", 8), ("head.bias", 10)):
            with self.subTest(name):
                header = json.dumps({name: {"dtype": "F32", "shape": [size], "data_offsets": [0, 4 * size]}}).encode()
                init = self.folder / "init.safetensors"
                init.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{size}f", float("nan"), *[0] * (size - 1)))
                self.fails(5, rf"warning: '{name}' is nan at \[0\] in .*which is not finite: Weir skips every step that computes such a value again", "weir", "run",
                           artifact, *self.digits(64), "--steps", 3, "--init-partial", init, "--nan", "skip")  # fmt: skip

    @weirtest.takes(35)
    def test_with_other_axes(self):
        text = data(window=self.text())
        cut = [*SMALL, "--microbatches", 2]
        for mesh, rest in (("dp=2", []), ("dp=2", ["--zero", 1]), ("tp=2", []), ("dp=2", ["--zero", 3])):
            alone = self.losses(self.compiled(*cut, "--mesh", mesh, *rest), *text)
            with self.subTest(mesh=mesh, rest=rest):
                together = self.compiled(*cut, "--mesh", f"pp=2,{mesh}", *rest)
                self.assertEqual(self.losses(together, *text), alone)

    @weirtest.takes(40)
    def test_a_table_that_makes_the_logits(self):
        """Its gradients are summed on both stages, and added up once: the losses are as near as another order of sums is."""
        text = data(window=self.text())
        cut = [*SMALL, "--microbatches", 4]
        for mesh in ("pp=2", "pp=2,tp=2", "pp=2,dp=2"):
            for precision in ("f32", "bf16"):
                with self.subTest(mesh=mesh, precision=precision):
                    options = [*cut, "--precision", precision]
                    alone, together = (self.losses(self.compiled(*options, *more, model=MODELS / "gpt-char.weir"), *text)
                                       for more in (["--mesh", mesh[5:]] if mesh != "pp=2" else [], ["--mesh", mesh]))  # fmt: skip
                    for one, other in zip(alone, together):
                        self.assertLess(abs(one - other), (1e-6 if precision == "f32" else 1e-3) * one)

    def test_a_run_goes_on_elsewhere(self):
        """A checkpoint of stages is one of whole tensors."""
        text = data(window=self.text())
        cut = [*SMALL, "--microbatches", 2]
        alone, together = self.compiled(*cut, name="alone.weirx"), self.compiled(*cut, "--mesh", "pp=2", name="both.weirx")
        resumed = []
        for first, then in ((alone, together), (together, alone), (alone, alone)):
            folder = self.folder / f"{first.stem}-{then.stem}"
            self.weir("run", first, *text, "--steps", 4, "--checkpoint", folder)
            metrics = self.folder / f"{folder.name}.jsonl"
            self.weir("run", then, *text, "--steps", 8, "--checkpoint", folder, "--resume", "--extend", "--metrics", metrics)
            lines = [json.loads(line) for line in metrics.read_text().splitlines()]
            resumed.append([line["loss"] for line in lines if "loss" in line])
        self.assertEqual(resumed[0], resumed[2])
        self.assertEqual(resumed[1], resumed[2])

    def test_states_that_come_too_late(self):
        """The last stage makes what the first reads of the next microbatch: a rank with both would wait for itself."""
        model = self.write("late.weir", """
block whole(x: [b, n]) -> [b, n] {
  state seen: [n] = ones()
  y = relu(linear(x * seen[new, :], n) as one)
  y = relu(linear(y, n) as two)
  y = relu(linear(y, n) as three)
  y = relu(linear(y, n) as four)
  next seen = 0.5 * seen + 0.5 * exp(mean(y, axes = [0]))
  return y
}
model net(x: [b, 8]) -> [b, 4] { return linear(whole(x), 4) as last }
train {
  input  x: [4, 8]
  input  labels: i32[4]
  accumulate 4
  steps  3
  loss   cross_entropy(net(x), labels)
  update sgd(lr = 1e-2)
}
""")
        for schedule in ("gpipe", "1f1b", "zero-bubble"):
            self.weir("compile", model, "--mesh", "pp=2", "--schedule", schedule, "-o", self.folder / "a")
        said = self.weir("compile", model, "--mesh", "pp=2", "--schedule", "interleaved", "-o", self.folder / "a", status=3).stderr
        self.assertRegex(said, r"late.weir:\d+:\d+: error: --mesh pp=2 --schedule interleaved: state for the next microbatch is computed in stage 3 and "
                               r"read in stage 0, which its rank runs several microbatches ahead; expected another --schedule")  # fmt: skip

    def test_what_is_refused(self):
        model = MODELS / "gpt-char.weir"
        for options, words in (
            (["--mesh", "pp=2", "--memory", "1GiB", "--offload", "activations"], "--offload activations is not supported with --mesh pp=2 yet: remove one of the two"),
            (["--mesh", "pp=2", "--target", "cuda:sm_90"], "--target cuda is not supported with --mesh pp=2 yet: remove one of the two"),
            (["--mesh", "dp=2", "--schedule", "gpipe"], "--schedule applies to pipeline stages, but there is no mesh axis pp: add pp=N to --mesh, or remove --schedule"),
            (["--mesh", "pp=2", "--schedule", "interleaved:1"], "--schedule: expected gpipe, 1f1b, interleaved[:N] (N from 2 to 64) or zero-bubble, but found interleaved:1"),
            (["--mesh", "pp=2", "--schedule", "dualpipe"], "--schedule: expected gpipe, 1f1b, interleaved[:N] (N from 2 to 64) or zero-bubble, but found dualpipe"),
        ):
            with self.subTest(options=options):
                self.assertIn(words, self.weir("compile", model, *options, "-o", self.folder / "a", status=2).stderr)


if __name__ == "__main__":
    weirtest.main()
