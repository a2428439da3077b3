"""Every model that ships trains: the loss falls, the records are complete, held-out data is evaluated."""

import math

import weirtest
from weirtest import MODELS, SMALL_GPT, data


class Train(weirtest.Test):
    def train(self, model, *args):
        self.weir("train", MODELS / model, *args, "--seed", 1, "--metrics", self.folder / "metrics.jsonl")
        steps, done = self.metrics()
        losses = [record["loss"] for record in steps]
        self.assertTrue(all(math.isfinite(loss) for loss in losses))
        tenth = max(1, len(losses) // 10)
        self.assertLess(sum(losses[-tenth:]), 0.8 * sum(losses[:tenth]), losses)
        return steps, done

    def test_gpt(self):
        steps, done = self.train(
            "gpt-char.weir", *SMALL_GPT, *data(window=self.text()), "--holdout", 0.1, "--steps", 200
        )
        self.assertEqual([record["step"] for record in steps], list(range(steps[0]["step"], steps[0]["step"] + 200)))
        for name in ("loss", "lr", "grad_norm", "step_ms"):
            self.assertIn(name, steps[-1])
        self.assertLess(done["heldout_loss"], 2.5)

    def test_mlp(self):
        rows = self.digits()
        held_out = self.digits(rows=101, name="test")
        held_out = [word.replace("--data", "--eval-data") for word in held_out]
        _, done = self.train("mnist-mlp.weir", *rows, *held_out, "--steps", 40)
        self.assertGreater(done["heldout_accuracy"], 0.9)

    def test_cnn(self):
        rows = self.digits()
        _, done = self.train("mnist-cnn.weir", *rows, "--holdout", 0.1, "--steps", 30)
        self.assertGreater(done["heldout_accuracy"], 0.5)

    def test_without_arithmetic(self):
        """The null device does all else."""
        done = self.weir("train", MODELS / "gpt-char.weir", *SMALL_GPT, *data(window=self.text()), "--steps", 3,
                         "--device", "null")  # fmt: skip
        self.assertIn("3 steps", done.stdout + done.stderr)

    def test_generate(self):
        artifact, kept = self.folder / "g.weirx", self.folder / "kept"
        text = self.text()
        self.train("gpt-char.weir", *SMALL_GPT, "-o", artifact, *data(window=text), "--steps", 100, "--checkpoint", kept)
        done = self.weir(
            "generate", artifact, "--checkpoint", kept, "--prompt", "to be", "--length", 60, "--seed", 1
        )
        self.assertTrue(done.stdout.startswith("to be"), done.stdout)
        self.assertGreaterEqual(len(done.stdout), 60)
        self.assertLessEqual(set(done.stdout), set(text.read_text()))
        again = self.weir(
            "generate", artifact, "--checkpoint", kept, "--prompt", "to be", "--length", 60, "--seed", 1
        )
        self.assertEqual(done.stdout, again.stdout)

    def test_says_that_weights_are_not_kept(self):
        done = self.weir("train", MODELS / "gpt-char.weir", *SMALL_GPT, *data(window=self.text()), "--steps", 2)
        self.assertRegex(done.stderr, r"--checkpoint")


if __name__ == "__main__":
    weirtest.main()
