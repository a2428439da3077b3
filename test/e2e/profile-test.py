"""--profile says what the time of a step went to, and all of it."""

import json
import re

import weirtest
from weirtest import MODELS, SMALL_GPT, data


class Profile(weirtest.Test):
    def profiled(self, tool, *args, steps=40):
        done = self.run_tool(
            tool, *args, "--steps", steps, "--profile", "--json", "--metrics", self.folder / "metrics.jsonl"
        )
        return done.stderr, json.loads(done.stdout)["profile"]

    def test_comes_to_the_whole_step(self):
        text, profile = self.profiled("weir", "train", MODELS / "gpt-char.weir", *SMALL_GPT, *data(window=self.text()))
        self.assertEqual(profile["steps"], 39)
        step = profile["step_ms"]
        actions = [action["ms"] for action in profile["actions"]]
        self.assertEqual(actions, sorted(actions, reverse=True))
        self.assertAlmostEqual(sum(actions) + sum(profile["no_action"].values()), step, delta=0.01 * step)
        # What the metrics call a step is that without the waiting before and the reports after it.
        measured = sum(record["step_ms"] for record in self.metrics()[0][1:]) / 39
        self.assertLess(measured, 1.05 * step)
        parts = profile["no_action"]
        self.assertLess(sum(actions) + parts["between_actions_ms"], 1.05 * measured)
        self.assertIn(f"Profile of 39 steps, all but the first: {step:.3f} ms a step\n", text)

    def test_rows_are_those_of_the_artifact(self):
        artifact = self.folder / "gpt.weirx"
        self.weir("compile", MODELS / "gpt-char.weir", *SMALL_GPT, "-o", artifact)
        facts = json.loads(self.weir("inspect", artifact, "--json").stdout)
        text, profile = self.profiled("weir-run", artifact, *data(window=self.text()), steps=3)
        rows = profile["actions"]
        rows_of_calls = [row for row in rows if "kernels" not in row and row["what"] != "copy"]
        self.assertEqual(sum(row["runs"] for row in rows_of_calls), facts["step"]["calls"])
        for what in ("flops", "bytes"):
            total = sum(row[what] or 0 for row in rows if row["what"] != "copy")
            self.assertAlmostEqual(total / facts["step"][what], 1)
        inspected = {kernel["symbol"] for kernel in facts["kernels"]}
        for row in rows:
            for place in row["at"]:
                self.assertRegex(place, r"gpt-char\.weir:\d+$")
            for kernel in row.get("kernels", []):
                self.assertTrue(any(symbol.startswith(kernel) for symbol in inspected), kernel)
        # The two layers' equal products are one row.
        self.assertTrue(any(row["what"].startswith("product 128x96x32") and row["runs"] == 2 for row in rows), rows)
        table = text[text.index("Profile of 2 steps") :].splitlines()[2:]
        shares = [float(re.match(r" +(\d+\.\d)%", line)[1]) for line in table[:33]]
        self.assertEqual(shares[:30], sorted(shares[:30], reverse=True))
        self.assertRegex(table[30], rf" {len(rows) - 30} others$")
        self.assertRegex(table[31], r"no action +between actions [\d.]+, waiting for data [\d.]+, ")
        self.assertRegex(table[32], r"^ +100\.0% .* a step$")
        self.assertAlmostEqual(sum(shares[:32]), 100, delta=2)

    def test_is_of_the_first_rank(self):
        artifact = self.folder / "stages.weirx"
        self.weir("compile", MODELS / "gpt-char.weir", *SMALL_GPT, "--mesh", "pp=2", "-o", artifact)
        text, profile = self.profiled("weir-run", artifact, *data(window=self.text()), steps=3)
        self.assertRegex(text, r"Profile of 2 steps, all but the first: [\d.]+ ms a step, of the first rank of pp=2\n")
        self.assertEqual(profile["mesh"], "pp=2")

    def test_not_of_checked_steps(self):
        self.fails(
            2, r"--profile excludes --check-every-op", "weir", "train", MODELS / "gpt-char.weir", "--profile", "--check-every-op"
        )


if __name__ == "__main__":
    weirtest.main()
