"""Batches in which nothing counts: a loss whose count is 0."""

import json

import weirtest
from weirtest import data, eval_data

# Labels below 0 are ignored.
MODEL = """model m(x: [b, 2]) -> [b, 3] { return linear(x, 3) as l }
train {
  input x: [4, 2]
  input y: i32[4]
  steps 1
  ok = y >= 0
  rows = softmax_cross_entropy(m(x), select(ok, y, 0))
  loss ratio(sum(select(ok, rows, 0.0)), sum(i32(ok)))
  metric large = ratio(sum(select(rows > 100.0, rows, 0.0)), sum(i32(rows > 100.0)))
  update sgd(0.1)
}
"""


class Uncounted(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.model = self.write("m.weir", MODEL)

    def rows(self, *labels, give=data):
        name = "-".join(map(str, labels)) + give.__name__
        x = weirtest.npy(self.folder / f"x{name}.npy", "f", [len(labels), 2], [0.3 * at - 1 for at in range(2 * len(labels))])
        return give(x=x, y=weirtest.npy(self.folder / f"y{name}.npy", "i", [len(labels)], labels))

    def train(self, rows, *options, name="run"):
        """The results, what is said, and the weights."""
        done = self.weir("train", self.model, *rows, "--no-shuffle", "--json", "--checkpoint", self.folder / name, *options)
        return json.loads(done.stdout), done.stderr, self.weights(self.folder / name)["model.safetensors"]

    def test_loss_and_gradients_are_0(self):
        for options in ([], ["--microbatches", 2], ["--mesh", "dp=2"], ["--mesh", "dp=2", "--zero", 2], ["--precision", "bf16"]):
            with self.subTest(options=options):
                name = f"{len(options)}{options[-1:]}"
                gradients = self.folder / "g.safetensors"
                results, said, weights = self.train(self.rows(-1, -1, -1, -1), "--steps", 3, "--gradients", gradients, *options, name=name)
                self.assertEqual((results["loss"], results["steps"], results["uncounted_steps"]), (0, 3, 3))
                self.assertNotIn("skipped_steps", results)
                self.assertIn("warning: step 1: nothing in its batch counts for the loss, so its loss and gradients are 0", said)
                self.assertIn("warning: 3 of 3 steps had nothing that counts for the loss", said)
                self.assertNotIn("not finite", said)
                for shape, numbers in weirtest.floats(gradients).values():
                    self.assertEqual(set(numbers), {0})
                other, _, one = self.train(self.rows(-1, -1, -1, -1), "--steps", 1, *options, name=name + "one")
                self.assertEqual(weights, one)

    def test_other_steps_are_as_before(self):
        """The second batch has nothing: it changes nothing, and the third one is as the second without it."""
        one, none, three = [0, 1, 2, -1], [-1] * 4, [2, -1, 1, 0]
        between, said, weights = self.train(self.rows(*one, *none, *three), "--steps", 3, name="between")
        self.assertEqual(between["uncounted_steps"], 1)
        self.assertIn("warning: step 2: nothing in its batch", said)
        without, said, expected = self.train(self.rows(*one, *three), "--steps", 2, name="without")
        self.assertNotIn("uncounted_steps", without)
        self.assertNotIn("counts for the loss", said)
        self.assertGreater(without["loss"], 0.1)
        # The third batch has other inputs there: only that the first step did the same is comparable.
        first, _, weights_of_one = self.train(self.rows(*one, *none), "--steps", 1, name="one")
        _, _, weights_of_two = self.train(self.rows(*one, *none), "--steps", 2, name="two")
        self.assertEqual(weights_of_one, weights_of_two)
        self.assertNotEqual(weights, weights_of_two)
        self.assertNotEqual(weights, expected)

    def test_evaluation_says_so(self):
        artifact = self.folder / "m.weirx"
        self.weir("compile", self.model, "-o", artifact)
        self.train(self.rows(0, 1, 2, -1), "--steps", 2, name="kept")
        kept = ["--checkpoint", self.folder / "kept"]
        none = self.rows(-1, -1, -1, -1)
        self.fails(4, r"error: --data: no row counts for loss, large: the count is 0, so there is no value", "weir", "eval", artifact, *kept, *none)
        done = self.weir("eval", artifact, *kept, *self.rows(0, 1, 2, -1), "--json")
        self.assertIn("warning: --data: no row counts for large: the count is 0, so there is no value", done.stderr)
        figures = json.loads(done.stdout)
        self.assertGreater(figures["loss"], 0.1)
        self.assertIsNone(figures["large"])
        done = self.weir("train", self.model, *self.rows(0, 1, 2, -1), *self.rows(-1, -1, -1, -1, give=eval_data), "--steps", 2, "--json")
        self.assertIn("warning: --eval-data: no row counts for loss, large", done.stderr)
        self.assertIsNone(json.loads(done.stdout)["heldout_loss"])

    def test_evaluation_of_one_term_without_rows(self):
        """The loss would be too small without it, with nothing said."""
        model = self.write("two.weir", MODEL.replace("sum(i32(ok)))\n  metric", "sum(i32(ok))) + ratio(sum(select(y > 1, rows, 0.0)), sum(i32(y > 1)))\n  metric"))
        artifact = self.folder / "two.weirx"
        self.weir("compile", model, "-o", artifact)
        self.weir("train", model, *self.rows(0, 1, 2, 2), "--steps", 2, "--checkpoint", self.folder / "two")
        kept = ["--checkpoint", self.folder / "two"]
        done = self.weir("eval", artifact, *kept, *self.rows(0, 1, 2, 2), "--json")
        self.assertGreater(json.loads(done.stdout)["loss"], 0.1)
        none = self.rows(0, 1, 1, 0)
        done = self.weir("eval", artifact, *kept, *none, "--json")
        self.assertIn("warning: --data: no row counts for large, a term of loss: the count is 0, so there is no value", done.stderr)
        self.assertIsNone(json.loads(done.stdout)["loss"])
        done = self.weir("train", model, *self.rows(0, 1, 2, 2), *self.rows(0, 1, 1, 0, give=eval_data), "--steps", 2, "--json")
        self.assertIn("warning: --eval-data: no row counts for large, a term of loss", done.stderr)
        self.assertIsNone(json.loads(done.stdout)["heldout_loss"])
        self.assertNotIn("uncounted_steps", json.loads(done.stdout))
        done = self.weir("train", model, *none, "--steps", 2, "--json")
        self.assertEqual(done.stderr.count("nothing in its batch counts for a term of the loss, so the loss omits this term"), 1)
        self.assertNotIn("uncounted_steps", json.loads(done.stdout))


if __name__ == "__main__":
    weirtest.main()
