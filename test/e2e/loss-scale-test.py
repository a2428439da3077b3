"""Gradients in f16 are scaled: an overflow halves the scale, changes nothing else and is no failure, and a run that is resumed at it has the same bits."""

import json
import math
import shutil
import struct

import weirtest
from weirtest import SMALL_GPT

GPT = weirtest.MODELS / "gpt-char.weir"

# A gradient of about the size of y, in f16.
LINE = """
model line(x: [b, 3]) -> [b, 1] {
  param w: [3, 1] = ones()
  return x @ w
}
train {
  input x: [4, 3]
  input y: [4, 1]
  steps 40
  loss mse(line(x), y)
  update sgd(lr = 1e-6)
}
"""
COUNTERS = {"step", "loss_scale", "good_steps"}


def tensors(checkpoint):
    """Name -> (type, bytes), of all that a checkpoint has."""
    found = {}
    for file in checkpoint.glob("*.safetensors"):
        content = file.read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        for name, entry in json.loads(content[8 : 8 + length]).items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                found[name] = entry["dtype"], content[8 + length + begin : 8 + length + end]
    return found


def number(tensor):
    return struct.unpack("<i", tensor[1])[0]


class LossScale(weirtest.Test):
    def gpt(self, name, *more):
        return self.weir(
            "train", GPT, *SMALL_GPT, "--precision", "f16", *weirtest.data(window=self.text()), "--seed", 3,
            "--metrics", self.folder / f"{name}.jsonl", "--keep-checkpoints", 100, *more,
        )  # fmt: skip

    def line(self, y, *more, precision="f16", x=1, status=0):
        rows = [float(x * (1 + i % 5)) for i in range(64 * 3)]
        data = weirtest.data(
            x=weirtest.npy(self.folder / "x.npy", "f", (64, 3), rows),
            y=weirtest.npy(self.folder / "y.npy", "f", (64, 1), [float(y)] * 64),
        )
        model = self.write("line.weir", LINE)
        return self.weir("train", model, "--precision", precision, *data, "--metrics", self.folder / "line.jsonl", *more, status=status)

    def test_an_overflow_halves_the_scale_and_changes_nothing_else(self):
        kept = self.folder / "kept"
        done = self.gpt("whole", "--loss-scale", "dynamic:16777216", "--steps", 12, "--checkpoint", kept, "--checkpoint-every", 1)
        steps, last = self.metrics("whole.jsonl")
        scale, good, skipped = 2.0**24, 0, []
        for record in steps:
            self.assertEqual(record["loss_scale"], scale)
            self.assertTrue(math.isfinite(record["loss"]))
            scale, good = (scale / 2, 0) if record["skipped"] else (scale, good + 1)
            skipped += [record["step"]] if record["skipped"] else []
        names = self.checkpoints(kept)
        self.assertEqual([int(path.name[5:]) for path in names], list(range(1, 13)))
        for record, path, after in zip(steps[1:], names, names[1:]):
            before, now = tensors(path), tensors(after)
            same = {name for name in now if now[name] == before[name]}
            if record["skipped"]:
                self.assertEqual(set(now) - same, {"step", "loss_scale"} | ({"good_steps"} if number(before["good_steps"]) else set()))
                self.assertEqual(2 * number(now["loss_scale"]), number(before["loss_scale"]))
            else:
                self.assertEqual(same & COUNTERS, {"loss_scale"})
                self.assertEqual(number(now["good_steps"]), number(before["good_steps"]) + 1)
        self.assertGreater(len(skipped), 1)
        self.assertLess(len(skipped), 12)
        self.assertEqual(number(now["loss_scale"]), scale)
        self.assertEqual(number(now["good_steps"]), good)
        self.assertEqual(last["skipped_steps"], len(skipped))
        self.assertIn(f"skipped_steps {len(skipped)}\n", done.stdout)
        for i, step in enumerate(skipped):
            self.assertIn(f"step {step}: the gradients overflow at a loss scale of {2 ** (24 - i)}, which is halved; the step changed no weight", done.stderr)

        # Killed after the first overflow, and gone on with: all is as it was.
        parts = self.folder / "parts"
        shutil.copytree(kept, parts)
        for path in self.checkpoints(parts):
            if int(path.name[5:]) > skipped[0]:
                shutil.rmtree(path)
        options = ["--steps", 12, "--checkpoint", parts, "--checkpoint-every", 1, "--resume", "--threads", 1]
        self.gpt("rest", "--loss-scale", "dynamic:16777216", *options)
        rest, last = self.metrics("rest.jsonl")
        for name in ("loss", "loss_scale", "skipped", "grad_norm"):
            self.assertEqual([r[name] for r in rest], [r[name] for r in steps[skipped[0] :]])
        self.assertEqual(last["skipped_steps"], len(skipped))
        self.assertEqual(self.weights(kept), self.weights(parts))

    def test_a_scale_that_may_change_begins_where_it_is_told(self):
        kept = self.folder / "kept"
        options = ["--steps", 4, "--checkpoint", kept, "--checkpoint-every", 1]
        self.gpt("first", "--loss-scale", "dynamic:4096", *options)
        for path in self.checkpoints(kept)[2:]:
            shutil.rmtree(path)
        self.gpt("second", "--loss-scale", "dynamic:64", *options, "--resume", "--change", "loss-scale")
        steps, _ = self.metrics("second.jsonl")
        self.assertEqual([(r["step"], r["loss_scale"]) for r in steps], [(3, 64), (4, 64)])

    def test_the_scale_doubles_after_2000_good_steps(self):
        self.line(5, "--loss-scale", "dynamic:1", "--steps", 2003)
        steps, _ = self.metrics("line.jsonl")
        self.assertEqual([r["loss_scale"] for r in steps], [1] * 2000 + [2] * 3)

    def test_a_scale_of_one_can_not_be_halved(self):
        done = self.line(1e6, "--loss-scale", "dynamic:4", status=5)
        for step, scale in ((1, 4), (2, 2)):
            self.assertIn(f"step {step}: the gradients overflow at a loss scale of {scale}, which is halved; the step changed no weight", done.stderr)
        self.assertRegex(done.stderr, r"error: step 3: loss [\d.e+]+, grad_norm -?(inf|nan): not finite\. .*--nan skip")
        done = self.line(1e6, "--loss-scale", "dynamic:4", "--nan", "skip", "--nan-limit", 3, status=5)
        self.assertRegex(done.stderr, r"error: step 5: loss .*, like the 2 steps before it")
        done = self.line(1e6, "--loss-scale", "none", status=5)
        self.assertRegex(done.stderr, r"error: step 1: loss [\d.e+]+, grad_norm -?(inf|nan): not finite")

    def test_a_static_scale_overflows_for_as_long_as_one_could_be_halved(self):
        done = self.line(1e6, "--loss-scale", "4", status=5)
        self.assertIn("step 24: the gradients overflow at a loss scale of 4; the step changed no weight", done.stderr)
        self.assertRegex(done.stderr, r"error: step 25: loss .*: not finite\. A lower --loss-scale may help, or a dynamic one; --nan skip")
        done = self.line(1e6, "--loss-scale", "dynamic", "--steps", 3, status=5)
        self.assertIn("each of the 3 steps because it was not finite: the model learned nothing. A dynamic --loss-scale that starts lower may help", done.stderr)

    def test_what_f16_does_not_hold_ahead_of_the_loss_is_said_to_be_that(self):
        done = self.line(5, x=100000, status=5)
        self.assertRegex(done.stderr, r"error: step 1: loss (inf|nan), .*: not finite\. f16 cannot represent values beyond 65504, which may be the cause: use bf16, or pin")
        self.line(5, "--steps", 1, x=100000, precision="bf16")

    def test_f8_makes_nothing_finite_that_is_not(self):
        for x in ("inf", "nan"):
            self.assertRegex(self.line(5, x=float(x), precision="f8", status=5).stderr, r"error: step 1: loss .*Check the data: the input 'x' has (inf|nan)")

    def test_losses_are_those_without_a_scale_where_nothing_is_small(self):
        self.line(5, "--loss-scale", "none")
        losses = self.losses("line.jsonl")
        for scale in ("8", "dynamic:8"):
            self.line(5, "--loss-scale", scale)
            self.assertEqual(self.losses("line.jsonl"), losses)

    def test_gradients_come_without_the_scale(self):
        found = []
        for scale in ("none", "64", "dynamic:64"):
            self.line(5, "--loss-scale", scale, "--steps", 1, "--gradients", self.folder / "g.safetensors")
            found.append((self.folder / "g.safetensors").read_bytes())
        self.assertEqual(found, found[:1] * 3)

    def test_a_run_goes_on_with_the_scale_it_was_begun_with(self):
        kept = self.folder / "kept"
        self.line(5, "--steps", 3, "--checkpoint", kept)
        options = ["--checkpoint", kept, "--resume", "--extend"]
        again = self.line(5, "--loss-scale", "8", "--steps", 4, *options, status=3)
        self.assertRegex(again.stderr, r"loss-scale: dynamic -> 8\nUse the settings .*--change loss-scale")
        self.line(5, "--loss-scale", "8", "--steps", 4, *options, "--change", "loss-scale")
        self.line(5, "--loss-scale", "dynamic:16", "--steps", 5, *options, "--change", "loss-scale")
        self.assertEqual(self.metrics("line.jsonl")[0][-1]["loss_scale"], 16)
        again = self.line(5, "--steps", 6, *options, precision="f32", status=3)
        self.assertRegex(again.stderr, r"precision: f16 -> f32\nUse the settings .*--change precision\n")
        self.line(5, "--steps", 6, *options, "--change", "precision", precision="f32")

    def test_what_can_not_be_a_scale_is_told_of(self):
        for command in ("compile", "verify"):
            for scale in ("1000", "0", "dynamic:3", "33554432", "often"):
                self.fails(2, f"--loss-scale: expected none, dynamic, dynamic:N or N, where N is a power of two up to 16777216, but found {scale}", "weir", command, GPT, "--precision", "f16", "--loss-scale", scale)
            for precision in ("f32", "bf16"):
                self.fails(2, "--loss-scale 8: .*nothing here is rounded to f16; remove the option, or add --precision f16", "weir", command, GPT, "--precision", precision, "--loss-scale", "8")

    def test_a_program_without_f16_has_no_scale(self):
        # The optimizer multiplies, too, in f32.
        model = self.write("pinned.weir", LINE.replace("update sgd(lr = 1e-6)", "update products(lr = 1e-6)") + """
optimizer products(p, g, lr: f32) {
  next p = p - lr * (g @ transpose(g)) @ g
}
plan {
  precision bf16
}
""")
        artifact = self.folder / "pinned.weirx"
        said = self.weir("compile", model, "--precision", "f16", "-o", artifact).stderr
        self.assertNotRegex(said, r"\bf16:")
        self.assertNotIn("loss scale", self.weir("inspect", artifact).stdout)
        self.fails(2, "--loss-scale 8: .*nothing here is rounded to f16; remove the option$", "weir", "compile", model, "--precision", "f16", "--loss-scale", "8", "-o", artifact)

    def test_inspect_says_which(self):
        artifact = self.folder / "low.weirx"
        for scale, said in (([], "dynamic"), (["--loss-scale", "1024"], "1024")):
            self.weir("compile", GPT, *SMALL_GPT, "--precision", "f16", *scale, "-o", artifact)
            self.assertRegex(self.weir("inspect", artifact).stdout, rf"Model +gpt for \S+ in f16, loss scale {said};")
            self.assertEqual(json.loads(self.weir("inspect", "--json", artifact).stdout)["loss_scale"], said)

    @weirtest.each(["gpt-char dynamic", "gpt-char 16", "mnist-cnn dynamic --full"])
    def test_verify_follows_the_scale(self, case):
        model, scale, *how = case.split()
        sizes = ["--set", "layers=1", "--set", "width=16", "--set", "heads=2", "--set", "context=8", "--set", "batch=2"]
        if model == "mnist-cnn":
            sizes = weirtest.small(model)[-1]
        said = self.weir("verify", weirtest.MODELS / f"{model}.weir", *sizes, "--precision", "f16", "--loss-scale", scale, *how)
        self.assertIn("verified:", said.stdout)


if __name__ == "__main__":
    weirtest.main()
