"""The models on real text and digits reach what PyTorch reaches with the same settings. Needs the data beside the project."""

import pathlib

import weirtest
from weirtest import DATA, MODELS, data, mnist, needs_data


@needs_data
class RealData(weirtest.Test):
    def train(self, model, *args):
        self.weir("train", MODELS / model, *args, "--seed", 1, "--metrics", self.folder / "metrics.jsonl", timeout=800)
        return self.metrics()[1]

    def test_gpt_char(self):
        done = self.train(
            "gpt-char.weir", *data(window=DATA / "shakespeare.txt"), "--holdout", 0.1, "--steps", 1000
        )
        # PyTorch 2.15 comes to 2.090 and 2.101 (seeds 1 and 2), Weir to 2.096 and 2.100. All 2,000 steps are in docs/benchmarks.md.
        self.assertLessEqual(done["heldout_loss"], 2.11)

    def test_mnist_mlp(self):
        self.assertGreaterEqual(self.train("mnist-mlp.weir", *mnist(), "--epochs", 10)["heldout_accuracy"], 0.955)

    def test_mnist_cnn(self):
        self.assertGreaterEqual(self.train("mnist-cnn.weir", *mnist(), "--epochs", 10)["heldout_accuracy"], 0.98)

    def test_mnist_int8(self):
        model = pathlib.Path(__file__).resolve().parent / "models" / "mnist-int8.weir"
        self.assertGreaterEqual(self.train(model, *mnist(), "--epochs", 10)["heldout_accuracy"], 0.93)


if __name__ == "__main__":
    weirtest.main()
