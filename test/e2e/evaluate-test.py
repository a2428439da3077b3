"""A trained model on data: figures of data that are no multiple of the batch, weir eval, weir predict, and --init-partial."""

import json
import pathlib
import random
import re
import shutil
import struct

from weirtest import MODELS, Test, data, eval_data, floats, main, npy

# Rows are compared with each other: of one row alone the loss is 0 and the accuracy 1.
CONTRASTIVE = """
config batch = 32
model embed(x: [b, 8]) -> [b, 4] { return linear(x, 4) }
train {
  input  left: [batch, 8]
  input  right: [batch, 8]
  steps  3
  scores = embed(left) @ transpose(right[:, :4])
  own    = position(scores[:, 0], 0)
  loss   cross_entropy(scores, own)
  metric accuracy = accuracy(scores, own)
  update sgd(lr = 0.01)
}
"""

# A size is written out that is the batch's own.
WRITTEN_OUT = """
model m(x: [b, 8]) -> [b, 8] {
  y = linear(merge_dims(split_dim(x, 1, [2, 4]), 0, 2), 4)
  return merge_dims(split_dim(y, 0, [16, 2]), 1, 2)
}
train {
  input  x: [16, 8]
  steps  3
  loss   mse(m(x), x)
  update sgd(lr = 0.01)
}
"""

# The model itself ties its rows, and has two results.
CENTRED = """
model m(x: [b, 8]) -> ([b, 8], i32[b]) {
  param w: [8] = ones()
  y = x * w
  return y - mean(y, [0]), argmax(y)
}
train {
  input  x: [4, 8]
  steps  1
  y, _ = m(x)
  loss   mse(y, x)
  update sgd(lr = 0.0)
}
"""

NORMED = """
config filters = 4, classes = 10
model net(images: u8[b, 28, 28]) -> [b, classes] {
  x = split_dim(f32(images) / 255.0, 1, [1, 28])
  x = max_pool2d(relu(batch_norm(conv2d(x, filters, kernel = 5, stride = 2) as conv) as norm), window = 4)
  return linear(merge_dims(x, 1, 3), classes) as head
}
train {
  input  images: u8[32, 28, 28]
  input  labels: i32[32]
  epochs 2
  logits = net(images)
  loss   cross_entropy(logits, labels)
  metric accuracy = accuracy(logits, labels)
  update adamw(lr = 3e-3)
}
"""


def array(path):
    """An .npy file of ours: shape and numbers."""
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<H", content, 8)
    header = eval(content[10 : 10 + length], {})
    assert not header["fortran_order"]
    kind = {"<f4": "f", "<i4": "i"}[header["descr"]]
    body = content[10 + length :]
    return header["shape"], struct.unpack(f"<{len(body) // 4}{kind}", body)


def re_lines(*lines):
    return "\n".join(re.escape(line) for line in lines)


class Evaluation(Test):
    def rows(self, name, count):
        choose = random.Random(count)
        return npy(self.folder / name, "f", [count, 8], [choose.uniform(-1, 1) for _ in range(count * 8)])

    def held(self, model, inputs, rows):
        train = {name: self.rows("train.npy", 64) for name in inputs}
        held = {name: self.rows(f"held-{rows}.npy", rows) for name in inputs}
        return ["train", model, *data(**train), *eval_data(**held), "--json"]

    def test_tied_rows_are_evaluated_in_whole_batches(self):
        model = self.write("contrastive.weir", CONTRASTIVE)
        figures = {}
        for rows in (32, 63):
            done = self.weir(*self.held(model, ["left", "right"], rows))
            figures[rows] = json.loads(done.stdout)
        self.assertRegex(
            done.stderr,
            r"--eval-data: 31 of 63 rows are left out of every evaluation: the rows of a batch depend on each other "
            r"\(.*contrastive\.weir:8:\d+: rows are combined with other rows\), so only whole batches of 32")
        self.assertEqual(figures[63]["heldout_rows_left_out"], 31)
        self.assertNotIn("heldout_rows_left_out", figures[32])
        for rows in figures:
            self.assertGreater(figures[rows]["heldout_loss"], 1)
            self.assertLess(figures[rows]["heldout_accuracy"], 0.9)
        self.fails(4, r"--eval-data: 31 rows, but the rows of a batch depend on each other .*whole batches of 32; give more",
                   "weir", *self.held(model, ["left", "right"], 31))

    def test_a_size_that_is_written_out_is_evaluated_whole(self):
        done = self.weir(*self.held(self.write("written-out.weir", WRITTEN_OUT), ["x"], 37))
        self.assertNotIn("left out", done.stderr)
        self.assertIn("heldout_loss", json.loads(done.stdout))

    def test_a_model_that_ties_its_rows_predicts_batches(self):
        model, artifact = self.write("centred.weir", CENTRED), self.folder / "centred.weirx"
        rows, kept = self.rows("x.npy", 10), self.folder / "kept"
        self.weir("train", model, *data(x=rows), "--checkpoint", kept, "-o", artifact)
        out = self.folder / "out.npy"
        done = self.weir("predict", artifact, "--checkpoint", kept, *data(x=rows), "-o", out)
        self.assertIn("2 of 10 rows are left out: the rows of a batch depend on each other", done.stderr)
        self.assertEqual(done.stdout, f"{out} f32[8, 8]\n{self.folder}/out_1.npy i32[8]\n")
        shape, centred = array(out)
        self.assertEqual(shape, (8, 8))
        for column in range(8):
            for batch in (0, 4):
                self.assertAlmostEqual(sum(centred[8 * (batch + r) + column] for r in range(4)), 0, places=5)
        inputs = array(rows)[1]
        self.assertEqual(list(array(self.folder / "out_1.npy")[1]),
                         [max(range(8), key=lambda c: inputs[8 * r + c]) for r in range(8)])
        few = self.rows("few.npy", 3)
        self.fails(4, "3 rows, but the rows of a batch depend on each other .*needs 4", "weir", "predict", artifact,
                   "--checkpoint", kept, *data(x=few), "-o", out)


class Trained(Test):
    """One run of a network with batch statistics, on data that are no multiple of the batch."""

    def setUp(self):
        super().setUp()
        self.artifact, self.kept = self.folder / "net.weirx", self.folder / "kept"
        self.test = self.digits(75, "test")
        held = ["--eval-data" if word == "--data" else word for word in self.test]
        self.model = self.write("net.weir", NORMED)
        done = self.weir("train", self.model, *self.digits(320), *held, "--checkpoint", self.kept, "-o", self.artifact, "--json")
        self.figures = json.loads(done.stdout)
        self.checkpoint = self.checkpoints(self.kept)[-1]

    def test_the_figures_are_those_of_training(self):
        expected = {"loss": self.figures["heldout_loss"], "accuracy": self.figures["heldout_accuracy"], "rows": 75}
        for command in ([self.weir, "eval"], [self.weir_run, "eval"]):
            for weights in (self.kept, self.checkpoint):
                done = command[0](command[1], self.artifact, "--checkpoint", weights, *self.test, "--json")
                self.assertEqual(json.loads(done.stdout), expected)
        text = self.weir("eval", self.artifact, "--checkpoint", self.kept, *self.test).stdout
        self.assertRegex(text, r"^loss [\d.]+\naccuracy [\d.]+\nrows 75\n$")

    def test_predictions_are_of_every_row(self):
        out, images = self.folder / "logits.npy", self.test[:2]
        for command in (self.weir, self.weir_run):
            done = command("predict", self.artifact, "--checkpoint", self.kept, *images, "-o", out, "--json")
            self.assertEqual(json.loads(done.stdout), {
                "rows": 75, "results": [{"name": "output", "file": str(out), "type": "f32", "shape": [75, 10]}]})
            shape, logits = array(out)
            self.assertEqual(shape, (75, 10))
            labels = (self.folder / "test-labels.idx").read_bytes()[8:]
            hits = sum(max(range(10), key=lambda c: logits[10 * r + c]) == labels[r] for r in range(75))
            self.assertAlmostEqual(hits / 75, self.figures["heldout_accuracy"], places=6)
            out.unlink()
        self.fails(8, "logits.npy: cannot write", "weir", "predict", self.artifact, "--checkpoint", self.kept, *images,
                   "-o", self.folder / "absent" / "logits.npy")

    def test_what_is_wrong_is_said(self):
        weights, files = self.checkpoint / "model.safetensors", self.test
        for status, message, args in (
            (2, "no weights", files),
            (2, "--init", ["--checkpoint", self.kept, "--init", weights, *files]),
            (2, "is a file; .*--init takes", ["--checkpoint", weights, *files]),
            (2, "no data for the input 'labels'", ["--checkpoint", self.kept, *files[:2]]),
            (8, "there is no such directory", ["--checkpoint", self.folder / "absent", *files]),
            (8, "contains no checkpoint", ["--checkpoint", self.folder, *files]),
            # Evaluation reads the running averages, which are no parameters.
            (3, "missing: norm.running_mean", ["--init", weights, *files]),
            (4, "cannot", ["--checkpoint", self.kept, *data(images="absent.idx", labels="absent.idx")]),
        ):
            self.fails(status, message, "weir", "eval", self.artifact, *args)
        other = self.folder / "other.weirx"
        self.weir("compile", self.model, "--set", "filters=3", "-o", other)
        self.fails(3, "another model .*shape mismatch: conv.weight", "weir", "eval", other, "--checkpoint", self.kept, *files)

    def test_a_model_begins_with_what_another_has_learnt(self):
        run = ["train", self.model, *self.digits(320), "--steps", 1, "--set", "classes=11"]
        renamed = self.write("fine.weir", NORMED.replace("as head", "as top"))
        run[1] = renamed
        begun = self.folder / "begun"
        done = self.weir(*run, "--init-partial", self.kept, "--checkpoint", begun)
        self.assertRegex(done.stderr, re_lines(
            rf"loaded from {self.checkpoint}: 6", "  conv.weight F32[4, 1, 5, 5]", "  conv.bias F32[4]",
            "  norm.weight F32[4]", "  norm.bias F32[4]", "  norm.running_mean F32[4]", "  norm.running_var F32[4]",
            "not in the file, initialized by the model: 2", "  top.weight F32[11, 36]", "  top.bias F32[11]",
            "in the file, but not in the model: 2", "  head.bias F32[10]; did you mean 'top.bias'?", "  head.weight F32[10, 36]; did you mean 'top.weight'?"))
        # One step of at most 3e-3 an element from where the other run ended.
        before, after = (floats(folder / "model.safetensors") for folder in (self.checkpoint, self.checkpoints(begun)[-1]))
        for name in ("conv.weight", "norm.bias"):
            for a, b in zip(before[name][1], after[name][1]):
                self.assertAlmostEqual(a, b, delta=0.01)
        run[1] = self.model
        self.fails(3, r"head.weight is F32\[10, 36\] in the file, F32\[11, 36\] in the model", "weir", *run, "--init-partial", self.kept)
        unlike = self.write("unlike.weir", NORMED.replace("as conv", "as a").replace("as norm", "as b").replace("as head", "as c"))
        run[1] = unlike
        self.fails(3, "contains none of the model's tensors", "weir", *run, "--init-partial", self.checkpoint / "model.safetensors")
        self.fails(2, "--init", "weir", *run, "--init-partial", self.kept, "--init", self.kept)

    def test_init_takes_a_checkpoint(self):
        # Without updates what the run begins with is what it keeps.
        still = self.write("still.weir", NORMED.replace("adamw(lr = 3e-3)", "sgd(lr = 0.0)"))
        for weights in (self.kept, self.checkpoint, self.checkpoint / "model.safetensors"):
            kept = self.folder / "still"
            done = self.weir("train", still, *self.digits(320), "--steps", 1, "--init", weights, "--checkpoint", kept)
            if weights.is_file():
                self.assertRegex(done.stderr, re_lines(
                    rf"{weights}: not in the file, initialized by the model: 2", "  norm.running_mean F32[4]", "  norm.running_var F32[4]"))
            else:
                self.assertNotIn("initialized by the model", done.stderr)
            self.assertEqual(floats(self.checkpoints(kept)[-1] / "model.safetensors"), floats(self.checkpoint / "model.safetensors"))
            shutil.rmtree(kept)


class Text(Test):
    def test_characters_keep_the_numbers_of_training(self):
        model, artifact, kept = MODELS / "gpt-char.weir", self.folder / "gpt.weirx", self.folder / "kept"
        text = self.text()
        small = ["--set", "layers=1", "--set", "width=32", "--set", "context=16", "--set", "batch=8"]
        self.weir("train", model, *small, *data(window=text), "--steps", 60, "--checkpoint", kept, "-o", artifact)
        # Of fewer characters: by themselves they would have other numbers.
        other = self.write("other.txt", "nobler in mind " * 20)
        done = self.weir("eval", artifact, "--checkpoint", kept, *data(window=other), "--json")
        figures = json.loads(done.stdout)
        self.assertEqual(figures["windows"], (300 - 1) // 16)
        self.assertLess(figures["loss"], 3.5)
        out = self.folder / "logits.npy"
        self.weir("predict", artifact, "--checkpoint", kept, *data(tokens=other), "-o", out)
        self.assertEqual(array(out)[0], (300 // 16, 16, 65))
        weights = self.checkpoints(kept)[-1] / "model.safetensors"
        self.fails(4, "other.txt: is text, but .* does not record how", "weir", "eval", artifact, "--init", weights, *data(window=other))


if __name__ == "__main__":
    main()
