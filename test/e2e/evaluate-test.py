"""Figures of data that are no multiple of the batch."""

import json
import random

from weirtest import Test, data, eval_data, main, npy

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
            r"--eval-data: 31 of 63 rows are left out of every evaluation: the rows of a batch are tied "
            r"\(.*contrastive\.weir:8:\d+: rows meet other rows\), so only whole batches of 32")
        self.assertEqual(figures[63]["heldout_rows_left_out"], 31)
        self.assertNotIn("heldout_rows_left_out", figures[32])
        for rows in figures:
            self.assertGreater(figures[rows]["heldout_loss"], 1)
            self.assertLess(figures[rows]["heldout_accuracy"], 0.9)
        self.fails(4, r"--eval-data: 31 rows, but the rows of a batch are tied .*whole batches of 32; give more",
                   "weir", *self.held(model, ["left", "right"], 31))

    def test_a_size_that_is_written_out_is_evaluated_whole(self):
        done = self.weir(*self.held(self.write("written-out.weir", WRITTEN_OUT), ["x"], 37))
        self.assertNotIn("left out", done.stderr)
        self.assertIn("heldout_loss", json.loads(done.stdout))


if __name__ == "__main__":
    main()
