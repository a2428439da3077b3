"""weir inspect says what is in an artifact, and memory is what it says."""

import json
import math
import pathlib
import re
import time
import unittest

import weirtest
from weirtest import MODELS, SHIPPED, SMALL_GPT, data, small, start


class Inspect(weirtest.Test):
    def facts(self, model, *sets):
        artifact = self.folder / f"{model}.weirx"
        self.weir("compile", MODELS / f"{model}.weir", *sets, "-o", artifact)
        return artifact, json.loads(self.weir("inspect", artifact, "--json").stdout)

    def test_arena_is_nearly_the_largest_live_sum(self):
        for model in SHIPPED:
            with self.subTest(model):
                _, facts = self.facts(model, *small(model)[0])
                memory = facts["memory"]
                largest = max(entry["largest_live"] for entry in memory["entries"])
                self.assertLessEqual(memory["arena"], 1.1 * (memory["persistent"] + largest))
                for entry in memory["entries"]:
                    self.assertEqual(entry["largest_live"], sum(b["bytes"] for b in entry["peak"]))

    def test_everything_points_back_to_the_model(self):
        _, facts = self.facts("gpt-char")
        for kernel in facts["kernels"]:
            self.assertTrue(kernel["ops"], kernel)
            if kernel["launches"].get("step"):
                self.assertTrue(kernel["at"], kernel)
        for call in facts["calls"]:
            self.assertTrue(call["at"], call)
        step = next(e for e in facts["memory"]["entries"] if e["entry"] == "step")
        for buffer in step["peak"]:
            self.assertRegex(buffer["at"], r"\.weir:\d+$", buffer)

    def test_counts(self):
        _, facts = self.facts("gpt-char")
        values = 0
        for v in facts["variables"]:
            if v["role"] == "parameter":
                size = 1
                for n in v["shape"]:
                    size *= n
                values += size
        # wte, wpe, four layers, the last layer norm, as PyTorch counts them.
        width, vocab, context = 128, 65, 64
        layer = 2 * 2 * width + (width + 1) * 3 * width + (width + 1) * width + (width + 1) * 4 * width + (4 * width + 1) * width
        self.assertEqual(values, vocab * width + context * width + 4 * layer + 2 * width)
        # Two products of each of the 12 rows of 64 tokens forward, twice that backward: 6 FLOPs a weight and token.
        self.assertGreater(facts["step"]["flops"], 6 * 12 * context * 4 * (12 * width * width))

    def test_text(self):
        artifact, facts = self.facts("mnist-cnn")
        text = self.weir("inspect", artifact).stdout
        self.assertIn("machine code", text)
        self.assertIn(f"{facts['memory']['arena']:,}", text)
        for kernel in facts["kernels"]:
            self.assertIn(kernel["symbol"], text)
        self.assertRegex(text, r"convolution, backward_weight")

    def test_the_head_says_what_json_says(self):
        artifact, facts = self.facts("gpt-char")
        head = self.weir("inspect", artifact).stdout.split("\n\n")[0].splitlines()
        self.assertEqual(len(head), 8)
        values = sum(math.prod(v["shape"]) for v in facts["variables"] if v["role"] == "parameter")
        step = facts["step"]
        for line, words in zip(head, (
            "gpt for x86-64", "width = 128", "2,000 steps of 12 rows", f"{values:,} values in 52 tensors",
            f"{facts['memory']['arena']:,} bytes at the peak", f"{step['flops'] / 1e6:.1f} MFLOP",
            f"{len(facts['kernels'])} compiled, {step['launches']} launches a step", f"{step['calls']} library calls",
        )):
            self.assertIn(words, line)

    def test_strategy(self):
        """By field, and the same bytes whatever describes the machine or repeats a default."""
        artifact, plain = self.folder / "s.weirx", self.folder / "plain.weirx"
        model = [MODELS / "mnist-mlp.weir", "--set", "hidden=8"]
        self.weir("compile", *model, "--mesh", "dp=2", "--zero", 1, "--precision", "bf16", "-o", artifact)
        fields = json.loads(self.weir("inspect", artifact, "--json").stdout)["strategy"]
        values = {one["field"]: one["value"] for one in fields}
        self.assertEqual(values, {"mesh": "dp=2", "zero": "1", "precision": "bf16", "loss-scale": "none"})
        text = self.weir("inspect", artifact).stdout
        for one in fields:
            self.assertIn(one["help"], self.weir("help", "strategy").stdout)
            self.assertRegex(text, rf"(?m)^  {one['field']} +{one['value']} +{re.escape(one['help'])}$")
        self.weir("compile", *model, "--threads", 1, "-o", plain)
        self.weir("compile", *model, "--threads", 3, "--precision", "f32", "--zero", 0, "-o", artifact)
        self.assertEqual(artifact.read_bytes(), plain.read_bytes())

    def test_costs_are_sorted_and_layers_folded(self):
        artifact, facts = self.facts("gpt-char")
        calls = facts["kernels"] + facts["calls"]
        self.assertAlmostEqual(sum(call["share"] for call in calls), 1)
        text = self.weir("inspect", artifact).stdout
        kernels = text[text.index("Kernels (") : text.index("Library calls (")]
        shares = [float(share) for share in re.findall(r"^ +(\d+\.\d)%", kernels, re.M)]
        self.assertGreater(len(shares), 10)
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertRegex(text, r"h\.\[0-3\]\.attn\.c_attn\.weight +parameter +f32 +384 x 128 +196,608 +4 ")
        self.assertNotIn("h.1.attn", text)

    def test_dead_bytes_are_never_read(self):
        for model, options in [
            ("gpt-char", [*SMALL_GPT, *data(window=self.text())]),
            ("mnist-cnn", self.digits()),
        ]:
            with self.subTest(model):
                for name, poison in (("plain", []), ("poisoned", ["--poison"])):
                    self.weir(
                        "train", MODELS / f"{model}.weir", *options, "--steps", 10, "--seed", 1, *poison,
                        "--metrics", self.folder / f"{name}.jsonl",
                    )
                self.assertEqual(self.losses("poisoned.jsonl"), self.losses("plain.jsonl"))

    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer keeps memory that was given back")
    def test_memory_is_flat(self):
        artifact, _ = self.facts("gpt-char", *SMALL_GPT)
        metrics = self.folder / "m.jsonl"
        process = start(
            "weir-run", artifact, *data(window=self.text()), "--steps", 2000, "--metrics", metrics
        )
        resident = []
        while process.poll() is None:
            steps = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
            status = pathlib.Path(f"/proc/{process.pid}/status")
            try:
                rss = [int(l.split()[1]) for l in status.read_text().splitlines() if l.startswith("VmRSS")]
            except OSError:
                break
            if steps >= 10 and rss:
                resident.append(rss[0])
            time.sleep(0.05)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        if len(resident) < 3:
            self.skipTest("too fast to watch")
        self.assertLessEqual(max(resident) - resident[0], 512, "resident memory grew, in kB")


if __name__ == "__main__":
    weirtest.main()
