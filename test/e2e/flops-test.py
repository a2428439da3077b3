"""FLOPs of the model and of what is executed: they agree by line, entry and run, whatever the options."""

import json
import re

import weirtest
from weirtest import MODELS, SHIPPED, SMALL_GPT, data, small


class Flops(weirtest.Test):
    def compiled(self, model, *options, name="a.weirx"):
        """Standard error, and what weir inspect says."""
        artifact = self.folder / name
        done = self.weir("compile", MODELS / f"{model}.weir", *options, "-o", artifact)
        return done.stderr, json.loads(self.weir("inspect", artifact, "--json").stdout)

    def entry(self, facts, name="step"):
        return next(e for e in facts["flops"] if e["entry"] == name)

    def test_lines_are_the_entry_and_the_model_is_executed(self):
        for model in SHIPPED:
            with self.subTest(model):
                _, facts = self.compiled(model, *small(model)[0])
                for entry in facts["flops"]:
                    for what in ("model_flops", "executed_flops", "all_flops", "bytes", "copied_bytes"):
                        self.assertEqual(entry[what], sum(line[what] for line in entry["lines"]), (entry["entry"], what))
                    self.assertLessEqual(entry["model_flops"], entry["executed_flops"])
                    self.assertLessEqual(entry["executed_flops"], entry["all_flops"])
                    for line in entry["lines"]:
                        self.assertLessEqual(line["model_flops"], line["executed_flops"], line)
                step = self.entry(facts)
                self.assertEqual(step["all_flops"], facts["step"]["flops"])
                self.assertEqual(step["bytes"], facts["step"]["bytes"])
                # What a library multiplies, and what is multiplied in kernels of our own.
                calls = sum(c["flops"] * c["times"] for c in facts["calls"] if c["entry"] == "step" and c["kind"] != "pooling")
                self.assertGreaterEqual(step["executed_flops"], calls)

    def test_the_transformer_by_hand(self):
        _, facts = self.compiled("gpt-char")
        step = self.entry(facts)
        layers, width, context, batch, vocab = 4, 128, 64, 12, 65
        tokens, pairs = batch * context, batch * context * (context + 1) // 2
        products = 6 * tokens * (layers * 12 * width * width + vocab * width)
        self.assertEqual(step["model_flops"], products + 12 * layers * width * pairs)
        # The scores are computed once more in the gradient of attention.
        self.assertEqual(step["executed_flops"], step["model_flops"] + 2 * layers * width * pairs)
        # The line of c_attn is one product of width x 3 width forward, and two backward.
        text = (MODELS / "gpt-char.weir").read_text().splitlines()
        at = 1 + next(i for i, line in enumerate(text) if "as c_attn" in line)
        line = next(l for l in step["lines"] if l["at"].endswith(f"gpt-char.weir:{at}"))
        self.assertEqual(line["model_flops"], 6 * tokens * layers * 3 * width * width)
        self.assertEqual(line["executed_flops"], line["model_flops"])

    @weirtest.depends_on_cpu_level
    def test_options_leave_the_model_as_it_is(self):
        _, facts = self.compiled("gpt-char", *SMALL_GPT)
        flops = [(e["entry"], e["model_flops"]) for e in facts["flops"]]
        for options in (["--precision", "bf16"], ["--precision", "f8"], ["--microbatches", 4], ["--target", "cuda+none"]):
            with self.subTest(options):
                _, other = self.compiled("gpt-char", *SMALL_GPT, *options)
                self.assertEqual([(e["entry"], e["model_flops"]) for e in other["flops"]], flops)
                self.assertGreaterEqual(self.entry(other)["executed_flops"], self.entry(other)["model_flops"])

    def runs(self, facts):
        """Of each kernel and call of a step, by what tells it from others: how often it runs, and its FLOPs."""
        times = {}
        for one in facts["kernels"] + facts["calls"]:
            if "launches" in one:
                key, often = (one["shape"], str(one["ops"]), one["bytes"]), one["launches"].get("step", 0)
            else:
                key, often = (one["what"], one["kind"], one["bytes"]), one["times"] * (one["entry"] == "step")
            before = times.get((key, one["flops"]), 0)
            times[key, one["flops"]] = before + often
        return times

    def test_what_is_computed_again_is_executed_and_nothing_else(self):
        for model, options in (("gpt-char", SMALL_GPT), ("resnet", small("resnet")[0])):
            with self.subTest(model):
                _, whole = self.compiled(model, *options)
                fixed, all_bytes = self.taken(self.folder / "a.weirx")
                for share in (0.9, 0.75, 0.6, 0.5):
                    budget = fixed + int(share * (all_bytes - fixed))
                    artifact = self.folder / "less.weirx"
                    done = self.run_tool(
                        "weir", "compile", MODELS / f"{model}.weir", *options, "--threads", 2, "--memory", budget, "-o", artifact,
                        status=None)
                    repeated = re.search(r"@step recomputes (\d+) of", done.stderr)
                    if done.returncode or not repeated:
                        continue
                    less = json.loads(self.weir("inspect", artifact, "--json").stdout)
                    before, after = self.runs(whole), self.runs(less)
                    more = {key: after.get(key, 0) - before.get(key, 0) for key in before | after}
                    self.assertTrue(all(times >= 0 for times in more.values()), more)
                    copies = sum(times * flops for (_, flops), times in more.items())
                    one, two = self.entry(whole), self.entry(less)
                    self.assertEqual(two["all_flops"], one["all_flops"] + copies)
                    self.assertGreater(copies, 0)
                    self.assertEqual(two["model_flops"], one["model_flops"])
                    self.assertGreaterEqual(two["executed_flops"], one["executed_flops"])
                    break
                else:
                    self.fail("nothing was computed twice")

    def test_text(self):
        artifact = self.folder / "a.weirx"
        _, facts = self.compiled("mnist-mlp")
        step = self.entry(facts)
        text = self.weir("inspect", artifact).stdout
        self.assertRegex(text, rf"step +{step['model_flops'] / 1e6:.3f} +{step['executed_flops'] / 1e6:.3f} +1\.000 ")
        text = self.weir("inspect", artifact, "--lines").stdout
        for line in step["lines"]:
            self.assertIn(line["at"], text)
        self.assertRegex(text, rf"One run of step:\n +at .*(\n .*)+\n +all +{step['model_flops'] / 1e6:.3f} ")
        self.assertEqual(json.loads(self.weir("inspect", artifact, "--lines", "--json").stdout), facts["flops"])
        self.fails(2, "--lines", "weir", "inspect", artifact, "--lines", "--plan")

    def trained(self, tool, artifact, *options, steps=4):
        command = ["weir", "run"] if tool == "weir" else [tool]
        done = self.run_tool(
            *command, artifact, *data(window=self.text()), "--steps", steps, "--json", *options,
            "--metrics", self.folder / "metrics.jsonl")
        return done, json.loads(done.stdout), self.metrics()

    def test_a_stated_peak(self):
        artifact = self.folder / "a.weirx"
        _, facts = self.compiled("gpt-char", *SMALL_GPT)
        step = self.entry(facts)
        for tool in ("weir", "weir-run"):
            done, results, (steps, last) = self.trained(tool, artifact, "--peak-flops", "1.5T")
            self.assertIn("peak: 1500 GFLOP/s, as given\n", done.stderr)
            for record in steps:
                seconds = record["step_ms"] / 1e3
                self.assertAlmostEqual(record["mfu"] / (step["model_flops"] / seconds / 1.5e12), 1, places=6)
                self.assertAlmostEqual(record["hfu"] / (step["executed_flops"] / seconds / 1.5e12), 1, places=6)
            mean = sum(record["step_ms"] for record in steps[1:]) / len(steps[1:]) / 1e3
            for values in (results, last):
                self.assertEqual(values["peak_flops"], 1.5e12)
                self.assertEqual(values["peak_measured"], 0)
                self.assertAlmostEqual(values["mfu"] / (step["model_flops"] / mean / 1.5e12), 1, places=5)
                self.assertAlmostEqual(values["hfu"] / (step["executed_flops"] / mean / 1.5e12), 1, places=5)

    def test_a_measured_peak(self):
        artifact = self.folder / "a.weirx"
        self.compiled("gpt-char", *SMALL_GPT)
        done, results, (steps, _) = self.trained("weir", artifact, "--peak-flops", "measure", "--threads", 1)
        self.assertRegex(done.stderr, r"peak: [\d.]+ GFLOP/s, measured with products of f32\n")
        self.assertEqual(results["peak_measured"], 1)
        self.assertGreater(results["peak_flops"], 1e9)
        self.assertTrue(0 < results["mfu"] <= results["hfu"] < 1, results)
        self.assertTrue(all(0 < record["mfu"] <= record["hfu"] for record in steps))
        self.fails(2, "Weir cannot measure the peak of the device 'null'; give the number", "weir", "run", artifact,
                   *data(window=self.text()), "--device", "null", "--peak-flops", "measure")

    def test_without_a_peak_there_is_none(self):
        artifact = self.folder / "a.weirx"
        self.compiled("gpt-char", *SMALL_GPT)
        done, results, (steps, _) = self.trained("weir", artifact)
        self.assertNotIn("peak", done.stderr)
        self.assertFalse({"mfu", "hfu", "peak_flops"} & (set(results) | set(steps[0])))

    def test_what_is_no_peak(self):
        artifact = self.folder / "a.weirx"
        self.compiled("mnist-mlp", *small("mnist-mlp")[0])
        for peak in ("0", "-1T", "1.5X", "T", "", "nan", "inf", "1e300", "1.5TT", "1.5 T", "mesure", "0.5"):
            with self.subTest(peak):
                for tool in (["weir", "run"], ["weir-run"]):
                    self.fails(2, "--peak-flops.*(expected FLOPs per second such as 1.5T|empty)", *tool, artifact, f"--peak-flops={peak}")


if __name__ == "__main__":
    weirtest.main()
