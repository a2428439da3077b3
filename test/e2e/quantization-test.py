"""A model with fake-quantised weights and activations trains, and what it has learnt are whole numbers times a scale."""

import pathlib

import weirtest

MODEL = pathlib.Path(__file__).resolve().parent / "models" / "mnist-int8.weir"


class Quantization(weirtest.Test):
    def train(self, *more):
        self.weir("train", MODEL, *self.digits(), "--set", "batch=32", "--steps", 80, "--seed", 1, "--metrics", self.folder / "metrics.jsonl", *more)
        return self.metrics()[0]

    @weirtest.depends_on_cpu_level
    def test_it_trains(self):
        steps = self.train("--checkpoint", self.folder / "kept")
        self.assertGreater(steps[0]["loss"], 2)
        self.assertLess(steps[-1]["loss"], 0.2)
        self.assertGreater(steps[-1]["accuracy"], 0.95)

    def test_rounding_stays_f32(self):
        """Neither the option nor the types of the program change."""
        artifact = self.folder / "int8.weirx"
        self.weir("compile", MODEL, "-o", artifact)
        self.assertIn("all ops compute in f32", self.weir("inspect", artifact, "--precision").stdout)

    def test_its_gradients_are_those_that_the_prelude_says(self):
        said = self.weir("verify", MODEL, "--set", "hidden=20", "--set", "batch=5")
        self.assertIn("verified:", said.stdout)


if __name__ == "__main__":
    weirtest.main()
