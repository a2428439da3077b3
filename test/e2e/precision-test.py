"""Training in bf16 and f16: near f32, the same bits on any number of threads and after a resume, and nothing else without a word."""

import weirtest
from weirtest import SMALL_GPT

MODEL = weirtest.MODELS / "gpt-char.weir"
LOW = ["bf16", "f16"]


class Precision(weirtest.Test):
    def train(self, precision, name, *more):
        metrics = self.folder / f"{name}.jsonl"
        self.weir(
            "train", MODEL, *SMALL_GPT, "--precision", precision, *weirtest.data(window=self.text()), "--seed", 3,
            "--metrics", metrics, *more,
        )  # fmt: skip
        return self.losses(metrics.name)

    def test_losses_are_near_those_of_f32(self):
        wide = self.train("f32", "wide", "--steps", 40)
        # A value has 8 bits in bf16 and 11 in f16. Measured: 3.4e-3 and 4.1e-4.
        for precision, most in (("bf16", 2e-2), ("f16", 3e-3)):
            low = self.train(precision, precision, "--steps", 40)
            worst = max(abs(a - b) for a, b in zip(wide, low))
            print(f"{precision}: losses are up to {worst:.1e} from those of f32")
            self.assertGreater(worst, 0)
            self.assertLessEqual(worst, most)

    def test_bits_are_the_same_on_any_number_of_threads_and_resumed(self):
        for precision in LOW:
            whole, parts = self.folder / f"{precision}-whole", self.folder / f"{precision}-parts"
            losses = self.train(precision, "whole", "--steps", 20, "--checkpoint", whole, "--threads", 1)
            self.train(precision, "first", "--steps", 10, "--checkpoint", parts, "--threads", 3)
            rest = self.train(precision, "rest", "--steps", 20, "--checkpoint", parts, "--threads", 2, "--resume", "--extend")
            # The schedule of the first ten steps runs over ten, so only runs of the same length have the same bits.
            self.assertEqual(len(rest), 10)
            again = self.train(precision, "again", "--steps", 20, "--threads", 3)
            self.assertEqual(losses, again)
            tensors = self.weights(whole)
            self.assertEqual(sorted(tensors), sorted(self.weights(parts)))

    def test_a_run_goes_on_in_the_precision_it_was_begun_in(self):
        kept = self.folder / "kept"
        self.train("bf16", "begun", "--steps", 4, "--checkpoint", kept)
        options = [
            "train", MODEL, *SMALL_GPT, *weirtest.data(window=self.text()), "--seed", 3, "--steps", 8, "--checkpoint", kept,
            "--resume", "--extend",
        ]  # fmt: skip
        self.fails(3, r"precision: it was --precision bf16, now it is --precision f32\nGive what it was begun with", "weir", *options)
        self.weir(*options, "--change", "precision")

    def test_inspect_says_which(self):
        artifact = self.folder / "low.weirx"
        self.weir("compile", MODEL, *SMALL_GPT, "--precision", "bf16", "-o", artifact)
        self.assertRegex(self.weir("inspect", artifact).stdout, r"Model +gpt for \S+ in bf16;")

    def test_an_unknown_precision_is_told_of(self):
        artifact = self.folder / "low.weirx"
        self.fails(2, r"--precision bf15: expected f32, bf16 or f16", "weir", "compile", MODEL, "--precision", "bf15", "-o", artifact)
        self.fails(2, r"--precision bf15: expected f32, bf16 or f16", "weir", "verify", MODEL, "--precision", "bf15")

    def test_verify_takes_the_program_in_low_precision_for_what_is_true(self):
        sizes = ["--set", "layers=1", "--set", "width=16", "--set", "heads=2", "--set", "context=8", "--set", "batch=2"]
        for precision in LOW:
            said = self.weir("verify", MODEL, *sizes, "--precision", precision)
            self.assertRegex(said.stderr, r"mixed-precision +results are up to \d\.\de-\d\d from what they were")
            self.assertIn("verified:", said.stdout)


if __name__ == "__main__":
    weirtest.main()
