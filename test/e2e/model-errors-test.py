"""Mistakes in a model or on the command line: located, explained, with the nearest name, and the right exit status."""

import json
import re

import weirtest
from weirtest import MODELS, ROOT

GOOD = """config width = 8, batch = 4

model net(x: [b, 3]) -> [b, 2] {
  h = relu(linear(x, width) as first)
  return linear(h, 2) as last
}

train {
  input  x: [batch, 3]
  input  y: i32[batch]
  steps  10
  loss   cross_entropy(net(x), y)
  lr     = 0.1
  update sgd(lr)
}
"""

# What is replaced in GOOD, by what, and the place and words of the message.
MISTAKES = {
    "unknown name": ("relu(linear", "rleu(linear", r":4:7: error: .*rleu.*relu"),
    "unknown argument": ("linear(h, 2)", "linear(h, 2, initt = zeros())", r":5:\d+: error: .*initt.*init"),
    "too many arguments": ("relu(linear(x, width) as first)", "relu(x, x)", r":4:\d+: error: "),
    "wrong rank": ("x: [batch, 3]", "x: [batch]", r":12:\d+: error: .*\[b, 3\]"),
    "dimension mismatch": ("x: [batch, 3]", "x: [batch, 4]", r":12:\d+: error: .*3.*4"),
    "wrong type": ("y: i32[batch]", "y: [batch]", r":12:\d+: error: .*i32"),
    "a failed requirement": ("config width = 8, batch = 4\n", "config width = 8, batch = 4\nrequire width > 9, \"too narrow\"\n", r":2:\d+: error: .*too narrow"),
    "syntax": ("return linear", "return return", r":5:\d+: error: "),
    "the same path twice": ("as last", "as first", r":5:\d+: error: .*first"),
}

FIVE = """config width = 8, batch = 4

model net(x: [b, 3]) -> [b, 2] {
  h = rleu(linear(x, widht) as first)
  return linear(h, 2, initt = zeros()) as last
}

train {
  input  x: [batch, 3]
  input  y: i32[batch]
  steps  10
  loss   cross_entropy(nett(x), y)
  lr     = 0.1
  update sdg(lr)
}
"""


class ModelErrors(weirtest.Test):
    def test_the_model_itself_is_good(self):
        model = self.write("good.weir", GOOD)
        self.weir("check", model)

    def test_mistakes(self):
        for name, (old, new, pattern) in MISTAKES.items():
            with self.subTest(name):
                self.assertIn(old, GOOD)
                model = self.write("bad.weir", GOOD.replace(old, new, 1))
                done = self.fails(3, r"bad\.weir" + pattern, "weir", "check", model)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)

    def test_missing_train(self):
        model = self.write("bad.weir", GOOD[: GOOD.index("train {")])
        self.fails(3, r"bad\.weir.*train", "weir", "compile", model, "-o", self.folder / "m.weirx")
        self.assertFalse((self.folder / "m.weirx").exists())

    def test_five_mistakes_are_five_diagnostics(self):
        model = self.write("bad.weir", FIVE)
        done = self.fails(3, "error", "weir", "check", model)
        self.assertEqual(done.stderr.count("error:"), 5, done.stderr)

    def test_json(self):
        model = self.write("bad.weir", FIVE)
        done = self.run_tool("weir", "check", model, "--json", status=3)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([d["line"] for d in found if d["severity"] == "error"], [4, 4, 5, 12, 14])

    def test_command_line(self):
        model = self.write("good.weir", GOOD)
        for pattern, *arguments in [
            ("unknown command 'chek'.*check", "chek", model),
            ("unknown option '--taget'.*--target", "compile", model, "--taget", "cpu"),
            ("unknown option '--stpes'.*--steps", "train", model, "--stpes", "3"),
            ("widht.*width", "check", model, "--set", "widht=3"),
            ("width.*three", "check", model, "--set", "width=three"),
            ("width", "check", model, "--set", "width"),
            ("cpu:x86-64-v5.*cpu:x86-64-v", "compile", model, "--target", "cpu:x86-64-v5"),
            ("lwoer", "compile", model, "--stop-after", "lwoer"),
            ("no command", ),
        ]:
            with self.subTest(arguments=arguments):
                self.fails(2, pattern, "weir", *arguments)

    def test_missing_model(self):
        self.fails(2, "cannot read `.*nowhere.weir`: No such file", "weir", "check", self.folder / "nowhere.weir")
        self.fails(2, f"cannot read `{self.folder}`: Is a directory", "weir", "check", self.folder)

    def test_help_starts_with_examples(self):
        for arguments in (["--help"], ["train", "--help"], ["compile", "--help"]):
            self.assertIn("Examples:", "\n".join(self.weir(*arguments).stdout.splitlines()[:4]))

    def test_the_shipped_models_are_good(self):
        for model in sorted(MODELS.glob("*.weir")):
            with self.subTest(model.name):
                self.weir("check", model, "-Werror")

    def test_what_the_pages_show_is_good(self):
        """Every whole program of the documentation, without a warning."""
        count = 0
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for text in re.findall(r"^```\n(.*?)^```", page.read_text(), re.M | re.S):
                if re.search(r"^model ", text, re.M) and re.search(r"^train \{", text, re.M):
                    count += 1
                    with self.subTest(page=page.name, text=text[:60]):
                        self.weir("check", self.write("shown.weir", text), "-Werror")
        self.assertGreaterEqual(count, 2)


if __name__ == "__main__":
    weirtest.main()
