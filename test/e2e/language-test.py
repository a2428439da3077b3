"""Nothing in the prelude is special: a copy under another name is as good, and what users write is fused as well."""

import json
import re

import weirtest
from weirtest import MODELS, ROOT, SMALL_GPT, data

PRELUDE = ROOT / "frontend" / "prelude"


def definition(kind, name):
    """The text of one definition of the prelude."""
    for path in sorted(PRELUDE.glob("*.weir")):
        match = re.search(rf"^{kind} {name}\(.*?^}}", path.read_text(), re.M | re.S)
        if match:
            return match[0]
    raise AssertionError(f"no {kind} {name} in the prelude")


class Language(weirtest.Test):
    def train(self, name, text, *options):
        """Losses of a few steps, and the number of kernels."""
        model, artifact = self.write(f"{name}.weir", text), self.folder / f"{name}.weirx"
        self.weir(
            "train", model, *options, "-o", artifact, "--steps", 8, "--seed", 1,
            "--metrics", self.folder / f"{name}.jsonl",
        )
        facts = json.loads(self.weir("inspect", artifact, "--json").stdout)
        return self.losses(f"{name}.jsonl"), len(facts["kernels"]), facts

    def check_copy(self, model, kind, name, *options):
        text = (MODELS / model).read_text()
        own = definition(kind, name).replace(f"{kind} {name}(", f"{kind} my_{name}(", 1)
        self.assertRegex(text, rf"\b{name}\(")
        # Blocks are named after what is called unless `as` names them; parameter paths are checkpoint names, not mathematics.
        copied = own + "\n" + re.sub(rf"(?<![\w.]){name}\(", f"my_{name}(", text)
        first, second = self.train("theirs", text, *options), self.train("mine", copied, *options)
        self.assertEqual(first[0], second[0])
        self.assertEqual(first[1], second[1])

    def test_copied_optimizer(self):
        self.check_copy("gpt-char.weir", "optimizer", "adamw", *SMALL_GPT, *data(window=self.text()))

    def test_copied_layer_norm(self):
        self.check_copy("gpt-char.weir", "block", "layer_norm", *SMALL_GPT, *data(window=self.text()))

    def test_copied_batch_norm(self):
        self.check_copy("mnist-cnn.weir", "block", "batch_norm", *self.digits())

    def test_mish_is_one_kernel(self):
        mish = "fn mish(x: [..]) -> [..] {\n  return x * tanh(log(1.0 + exp(x)))\n}\n"
        text = mish + (MODELS / "mnist-mlp.weir").read_text().replace("relu(", "mish(")
        self.assertIn("mish(linear", text)
        _, _, facts = self.train("mish", text, *self.digits())
        forward = [k for k in facts["kernels"] if any(op.endswith("tanh") for op in k["ops"])]
        self.assertTrue(forward)
        one = [k for k in forward if {"exp", "log", "tanh"} <= {op.split(".")[-1] for op in k["ops"]}]
        self.assertTrue(one, [k["ops"] for k in forward])


if __name__ == "__main__":
    weirtest.main()
