"""What the documentation shows works as it stands."""

import re

import weirtest
from weirtest import ROOT, data


def blocks(page):
    """The code blocks of a page."""
    return re.findall(r"^```\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def block(page, start):
    return next(b for b in blocks(page) if b.startswith(start))


class Tutorial(weirtest.Test):
    def test_readme(self):
        self.weir("check", self.write("mlp.weir", block("README.md", "config")))

    def test_tutorial(self):
        page = "docs/tutorial.md"
        bigram = self.write("bigram.weir", block(page, "config"))
        self.write("input.txt", self.text().read_text() + "The end.")
        commands = [b for b in blocks(page) if re.match(r"weir(-run)? ", b)]
        self.assertEqual(len(commands), 6)
        for command in commands:
            tool, *words = re.findall(r'"[^"]*"|\S+', command)
            words = [word.strip('"') for word in words]
            words = [re.sub(r"(bigram\.weirx?|input\.txt|kept-bytes|kept$|metrics\.jsonl)", rf"{self.folder}/\1", w) for w in words]
            self.run_tool(tool, *words)
        self.assertLess(self.metrics()[1]["heldout_loss"], 2.5)

        text = block(page, "fn mish") + bigram.read_text().replace("gelu_tanh(", "mish(")
        text = block(page, "optimizer") + text.replace("adamw(lr)", "sign_momentum(lr)")
        own = self.write("own.weir", text)
        self.weir("train", own, *data(window=self.folder / "input.txt"), "--steps", 5)
        groups = block(page, "  update")
        self.weir("check", self.write("groups.weir", re.sub(r"  update adamw\(lr\)\n", groups, bigram.read_text())))


if __name__ == "__main__":
    weirtest.main()
