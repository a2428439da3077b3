"""Every model that ships learns by what it is: with that part taken out, it misses the bound that it reaches with it.

Data is made here, for what the part is good for: a language whose characters follow from words, images whose class is a place.
"""

import dataclasses
import random
import sys

import weirtest
from weirtest import MODELS, SHIPPED, data, npy


@dataclasses.dataclass(frozen=True)
class Case:
    rows: str  # the method that makes the data
    steps: int
    bound: float  # of the held-out loss
    part: str  # a text of the model
    without: str  # what stands there instead
    sets: str = ""
    start: str = ""  # the model whose weights it begins with, trained on words


ATTENTION = "attention(to_heads(q, heads), to_heads(k, heads), to_heads(v, heads), causal = true)"

CASES = {
    "gpt-char": Case("words", 800, 1.1, ATTENTION, "to_heads(v, heads)", "layers=2 width=32 context=16 batch=8"),
    "llama": Case(
        "words", 600, 1.1, "attention(rotary(q), shared(rotary(k), q), shared(v, q), causal = true)", "shared(v, q)",
        "layers=2 width=32 hidden=64 context=16 batch=8",
    ),
    "gru": Case("words", 150, 1.2, "x = gru(x) as gru", "x = x + 0.0 * gru(x) as gru", "width=48 context=16 batch=16"),
    "moe": Case(
        "pairs", 800, 0.95, "softmax(linear(x, experts, bias = false, init = small) as router)",
        "softmax(0.0 * one_hot(position(x[:, :, 0], 1), experts))",
        "vocab=17 width=32 hidden=32 experts=8 context=12 batch=32 layers=1",
    ),
    "lora": Case(
        "backwards", 300, 1.5, "(alpha / adapted) *", "0.0 *", "layers=2 width=32 context=16 batch=8", start="gpt-char",
    ),
    "vit": Case(
        "places", 600, 1.0, "attention(to_heads(q, heads), to_heads(k, heads), to_heads(v, heads))", "to_heads(v, heads)",
        "layers=2 width=16 heads=2 batch=16",
    ),
    "mixer": Case("places", 200, 1.0, "x = x + transpose(across)", "x = x + 0.0 * transpose(across)", "layers=2 width=16 batch=16"),
    "resnet": Case("places", 40, 1.0, "relu(around + y)", "relu(y)", "blocks=4 width=4 batch=16"),
    "unet": Case("snow", 400, 0.03, "[larger(x), ", "[larger(x), 0.0 * ", "width=4 groups=2 batch=8 noise=0.1"),
    "mnist-mlp": Case("halves", 60, 0.4, "relu(linear(", "(linear(", "hidden=32 classes=2 batch=16"),
    "mnist-cnn": Case("stripes", 40, 0.4, "filters, 3, padding = 1", "filters, 1", "filters=4 width=16 classes=2 batch=16"),
}


class Characteristic(weirtest.Test):
    def words(self):
        return data(window=self.text())

    def backwards(self):
        """The same characters, of which nothing follows as before."""
        return data(window=self.write("backwards.txt", self.text().read_text()[::-1]))

    def pairs(self):
        """Each character is a function, drawn once, of the two before it: nothing but remembering all 256 of them helps."""
        choose = random.Random(1)
        after = {(a, b): choose.randrange(16) for a in range(16) for b in range(16)}
        rows = []
        for _ in range(2000):
            row = [choose.randrange(16), choose.randrange(16)]
            while len(row) < 13:
                row.append(choose.randrange(16) if choose.random() < 0.1 else after[row[-2], row[-1]])
            rows += row
        return data(window=npy(self.folder / "pairs.npy", "i", (2000, 13), rows))

    def pictures(self, draw):
        """800 pictures with their classes: draw(choose) gives a class and the places that are lit, of noise of 0 to 63."""
        choose = random.Random(2)
        pixels, labels = [], []
        for _ in range(800):
            label, lit = draw(choose)
            labels.append(label)
            pixels += [choose.randrange(128, 256) if lit(y, x) else choose.randrange(64) for y in range(28) for x in range(28)]
        images = npy(self.folder / "images.npy", "B", (800, 28, 28), pixels)
        return data(images=images, labels=npy(self.folder / "labels.npy", "i", (800,), labels))

    def places(self):
        """One patch of sixteen is lit, one of the first ten; the class says which."""

        def draw(choose):
            place = choose.randrange(10)
            return place, lambda y, x: (y // 7, x // 7) == divmod(place, 4)

        return self.pictures(draw)

    def snow(self):
        """Each pixel is lit or not, whatever the others are: coarse images cannot hold it. There are no classes."""
        return self.pictures(lambda choose: (0, lambda y, x: choose.randrange(2)))[:2]

    def halves(self):
        """The class is whether one half alone is lit."""

        def draw(choose):
            halves = choose.randrange(2), choose.randrange(2)
            return halves[0] ^ halves[1], lambda y, x: halves[x // 14]

        return self.pictures(draw)

    def stripes(self):
        """Each second row is lit, or each second column: no pixel says which, nor any square of four."""

        def draw(choose):
            label, begin = choose.randrange(2), choose.randrange(2)
            return label, lambda y, x: ((y, x)[label] + begin) % 2

        return self.pictures(draw)

    def held_out_loss(self, name, text, case, rows, *more):
        model = self.write(f"{name}.weir", text)
        sets = [word for size in case.sets.split() for word in ("--set", size)]
        self.weir(
            "train", model, *sets, *rows, "--holdout", 0.1, "--steps", case.steps, "--seed", 1,
            "--metrics", self.folder / "metrics.jsonl", *more,
        )
        return self.metrics()[1]["heldout_loss"]

    def test_every_model_has_a_case(self):
        self.assertEqual(sorted(CASES), SHIPPED)


def add(name, case):
    @weirtest.takes(30)
    def test(self):
        rows = getattr(self, case.rows)()
        text = (MODELS / f"{name}.weir").read_text()
        self.assertIn(case.part, text)
        more = []
        if case.start:
            more = ["--init-partial", self.folder / "start"]
            start = (MODELS / f"{case.start}.weir").read_text()
            self.held_out_loss("start", start, CASES[case.start], self.words(), "--checkpoint", self.folder / "start")
        whole = self.held_out_loss(name, text, case, rows, *more)
        lacking = self.held_out_loss(name, text.replace(case.part, case.without), case, rows, *more)
        print(f"{name}: {whole:.3f}, without its part {lacking:.3f}, bound {case.bound}", file=sys.stderr)
        self.assertLess(whole, case.bound)
        self.assertGreater(lacking, case.bound)

    setattr(Characteristic, "test_" + name.replace("-", "_"), test)


for name, case in CASES.items():
    add(name, case)

if __name__ == "__main__":
    weirtest.main()
