"""What a step keeps for its gradients: what the plan marks is computed again, and weir inspect --memory says what is."""

import collections
import json
import re

import weirtest
from weirtest import MODELS, SMALL_GPT

MODEL = MODELS / "gpt-char.weir"
SIZES = ["--set", "layers=4", "--set", "width=32", "--set", "context=16", "--set", "batch=8"]


class Keeping(weirtest.Test):
    def compile(self, model, *options, sizes=SIZES):
        path = self.folder / "a.weirx"
        done = self.weir("compile", model, *sizes, *options, "-o", path)
        return path, done.stderr

    def marked(self, *lines, recipe=""):
        """gpt-char with a plan."""
        text = MODEL.read_text().replace("steps  2000", "steps  2000\n" + recipe)
        return self.write("gpt-char.weir", text + "plan {\n" + "\n".join(lines) + "\n}\n")

    def facts(self, path):
        return json.loads(self.weir("inspect", path, "--memory", "--json").stdout)

    def executed(self, path):
        """FLOPs of a step, those that are computed again included."""
        entries = json.loads(self.weir("inspect", path, "--json").stdout)["flops"]
        return next(entry["executed_flops"] for entry in entries if entry["entry"] == "step")

    def losses_of(self, path):
        self.weir("run", path, *weirtest.data(window=self.text()), "--steps", 3, "--seed", 1, "--metrics", self.folder / "m.jsonl")
        return self.losses("m.jsonl")

    def line_of(self, text):
        return 1 + MODEL.read_text().split("\n").index(next(x for x in MODEL.read_text().split("\n") if text in x))

    @weirtest.takes(25)
    def test_marked_blocks_take_less_memory_and_have_the_same_bits(self):
        for recipe, options in [("", []), ("  accumulate 2", []), ("", ["--microbatches", 4]), ("", ["--precision", "bf16"])]:
            with self.subTest(recipe=recipe, options=options):
                path, before = self.compile(self.marked(recipe=recipe), *options)
                whole, losses = self.facts(path), self.losses_of(path)
                path, said = self.compile(self.marked('  recompute where matches(path, "h.*.mlp")', recipe=recipe), *options)
                less = self.facts(path)
                self.assertEqual(said, before)
                self.assertEqual(self.losses_of(path), losses)
                self.assertLess(less["scratch"], whole["scratch"])
                self.assertEqual(less["totals"]["scratch_if_kept"] // 64, -(-whole["scratch"] // 64))
                self.assertEqual(less["persistent"], whole["persistent"])
                self.assertEqual(whole["again"], [])
                self.assertTrue(any(row["why"] == "the plan says so" for row in less["again"]))
                self.assertLess(less["totals"]["kept"], whole["totals"]["kept"])

    def test_layers_keep_what_they_give_each_other(self):
        """A layer that is one block of two: each is computed again from its input, as activation checkpointing of whole layers is."""
        text = MODEL.read_text()
        inner = """    x = x + self_attention(layer_norm(x) as h[i].ln_1) as h[i].attn
    x = x + mlp(layer_norm(x) as h[i].ln_2) as h[i].mlp
"""
        self.assertIn(inner, text)
        block = """block layer(x: [b, t, width]) -> [b, t, width] {
  x = x + self_attention(layer_norm(x) as ln_1) as attn
  return x + mlp(layer_norm(x) as ln_2) as mlp
}
"""
        model = self.write("m.weir", text.replace(inner, "    x = layer(x) as h[i]\n").replace("model gpt(", block + "model gpt("))
        path, _ = self.compile(model)
        whole, losses = self.facts(path), self.losses_of(path)
        before = self.executed(path)
        path, _ = self.compile(model, "--recompute", "h.*")
        less = self.facts(path)
        self.assertEqual(self.losses_of(path), losses)
        self.assertLess(less["scratch"], 0.55 * whole["scratch"])
        self.assertGreater(self.executed(path), 1.15 * before)
        self.assertLess(self.executed(path), 1.35 * before)

    def test_marks_and_a_budget(self):
        path, _ = self.compile(MODEL)
        whole, losses = self.facts(path), self.losses_of(path)
        model = self.marked('  recompute where matches(path, "h.*.mlp")')
        path, _ = self.compile(model)
        marked, (fixed, _) = self.facts(path), self.taken(path)
        for share in [1, 0.9, 0.8]:
            budget = fixed + int(share * marked["scratch"]) + 64
            path, said = self.compile(model, "--threads", 2, "--memory", budget)
            facts = self.facts(path)
            self.assertLessEqual(facts["arena"], budget)
            self.assertEqual(self.losses_of(path), losses)
            self.assertEqual(" recomputes " in said, share < 1)
            whys = collections.Counter(row["why"] for row in facts["again"])
            self.assertGreater(whys["the plan says so"], 0)
            self.assertEqual(whys["it did not fit"] > 0, share < 1)
        self.assertLess(facts["scratch"], 0.8 * whole["scratch"])

    def test_everything_is_marked(self):
        path, _ = self.compile(MODEL)
        losses = self.losses_of(path)
        for line in ["recompute", 'recompute where matches(path, "*")', 'recompute where matches(path, "h.*")']:
            for options in [[], ["--microbatches", 2]] if line == "recompute" else [[]]:
                path, _ = self.compile(self.marked(line), *options)
                self.assertNotEqual(self.facts(path)["again"], [])
                if not options:
                    self.assertEqual(self.losses_of(path), losses)

    @weirtest.each(["gpipe", "1f1b", "interleaved", "zero-bubble"])
    def test_stages_compute_marked_blocks_again(self, schedule):
        mesh = ["--mesh", "pp=2", "--microbatches", 4, "--schedule", schedule]
        path, _ = self.compile(MODEL, *mesh)
        whole, losses = self.facts(path), self.losses_of(path)
        for block in ["h.*.mlp", "h.*"]:
            path, _ = self.compile(self.marked(f'  recompute where matches(path, "{block}")'), *mesh)
            less = self.facts(path)
            self.assertEqual(self.losses_of(path), losses)
            self.assertLess(less["scratch"], 0.9 * whole["scratch"])
            self.assertEqual(less["persistent"], whole["persistent"])

    def test_stages_fetch_what_marked_blocks_read(self):
        """What lies with the host is fetched again, and not kept for every microbatch."""
        mesh, sizes = ["--mesh", "pp=2", "--microbatches", 4, "--offload", "parameters"], [*SIZES[:2], "--set", "width=128", *SIZES[4:]]
        path, _ = self.compile(MODEL, *mesh, sizes=sizes)
        whole, losses = self.facts(path), self.losses_of(path)
        path, _ = self.compile(self.marked('  recompute where matches(path, "h.*.mlp")'), *mesh, sizes=sizes)
        self.assertLess(self.facts(path)["scratch"], whole["scratch"])
        self.assertEqual(self.losses_of(path), losses)

    @weirtest.takes(30)
    def test_stages_and_a_budget(self):
        mesh = ["--mesh", "pp=2", "--microbatches", 4, "--threads", 2]
        path, _ = self.compile(MODEL, *mesh)
        whole, losses, (fixed, _) = self.facts(path), self.losses_of(path), self.taken(path, 1)
        for schedule in ["1f1b", "zero-bubble"]:
            budget = fixed + int(0.85 * whole["scratch"])
            if schedule == "zero-bubble":  # the last stage has what it takes least, and says so
                words = ["compile", MODEL, *SIZES, *mesh, "--schedule", schedule, "--memory", budget, "-o", path]
                budget = int(re.search(r"@step of rank 1 .*; expected --memory (\d+) or more", self.weir(*words, status=3).stderr)[1])
            path, said = self.compile(MODEL, *mesh, "--schedule", schedule, "--memory", budget)
            self.assertRegex(said, r"@step of rank \d recomputes \d+ of its \d+ forward kernels, \d+\.\d % more time: .* instead of ")
            self.assertLessEqual(self.facts(path)["arena"], budget)
            self.assertEqual(self.losses_of(path), losses)
        path, said = self.compile(MODEL, *mesh, "--memory", 2 * budget)
        self.assertEqual(said, "")
        for offload in ["optimizer", "parameters"]:
            path, _ = self.compile(MODEL, *mesh, "--offload", offload)
            self.assertEqual(self.losses_of(path), losses)
        done = self.weir("compile", MODEL, *SIZES, *mesh, "--memory", fixed + 1000, "-o", path, status=3)
        self.assertRegex(done.stderr, r"@step of rank 0 does not fit in .*; expected --memory (\d+) or more for this rank")

    def test_stages_choose_their_microbatches(self):
        """So many that what each takes fits on all of them."""
        mesh = ["--mesh", "pp=2", "--threads", 2]
        path, _ = self.compile(MODEL, *mesh, "--microbatches", 8)
        besides = self.taken(path, 1)[0] - self.facts(path)["persistent"]
        budget = besides + max(stage["arena"] for stage in self.facts(path)["stages"])
        path, _ = self.compile(MODEL, *mesh, "--microbatches", "auto", "--memory", budget)
        self.assertTrue(all(stage["arena"] + besides <= budget for stage in self.facts(path)["stages"]))

    def test_a_mark_is_verified(self):
        model = self.marked('  recompute where matches(path, "h.*.attn") or path == "h.0.mlp"')
        done = self.weir("verify", model, *SMALL_GPT)
        self.assertRegex(done.stdout, r"verified: .* results with gradients\n")

    def test_a_mark_is_no_other_model(self):
        """A run goes on with other marks."""
        kept = self.folder / "kept"
        for steps, lines in [(2, []), (4, ['  recompute where matches(path, "h.*.mlp")'])]:
            path, _ = self.compile(self.marked(*lines))
            self.weir(
                "run", path, *weirtest.data(window=self.text()), "--steps", steps, "--checkpoint", kept, *(["--resume", "--extend"] if lines else [])
            )

    def test_what_is_kept_is_in_the_plan(self):
        for options in [[], ["--microbatches", 2], ["--precision", "bf16"]]:
            path, _ = self.compile(MODEL, *options)
            facts = self.facts(path)
            kept = collections.Counter()
            for row in facts["kept"]:
                self.assertEqual(row["bytes"] % 64, 0)
                kept[row["bytes"]] += row["times"]
            self.assertEqual(sum(size * times for size, times in kept.items()), facts["totals"]["kept"])
            self.assertLessEqual(facts["totals"]["kept"], facts["scratch"] + 63)
            self.assertLessEqual(facts["persistent"] + facts["scratch"], facts["arena"])
            # All of it is alive in one action.
            entry = re.search(r"plan\.entry @step.*?(?=plan\.entry|\Z)", self.weir("inspect", path, "--plan").stdout, re.S).group()
            buffers = [tuple(map(int, b)) for b in re.findall(r'plan\.alloc (\d+) "[^"]*" at \d+ from (\d+) to (\d+) : <scratch>', entry)]
            self.assertGreater(len(buffers), 10)
            for action in range(max(last for _, _, last in buffers)):
                alive = collections.Counter((size + 63) // 64 * 64 for size, first, last in buffers if first <= action <= last)
                if kept <= alive:
                    break
            else:
                self.fail(f"no action has all that is kept alive: {options}")

    def test_lines_and_reasons(self):
        path, _ = self.compile(MODEL)
        facts = self.facts(path)
        place = f"gpt-char.weir:{self.line_of('gelu_tanh')}"
        gelu = [row for row in facts["kept"] if row["at"].endswith(place)]
        self.assertTrue(any(row["what"] == "mul" and row["times"] == 4 and row["bytes"] == 8 * 16 * 4 * 32 * 4 for row in gelu), gelu)
        inputs = [row for row in facts["kept"] if row["share"] is None]
        self.assertIn(("input", "an input"), {(row["what"], row["why"]) for row in inputs})
        for row in facts["kept"]:
            self.assertRegex(row["at"], r"gpt-char\.weir:\d+$")
            self.assertEqual(row["share"] is None, row["why"] != "")
            if row["share"] is not None:
                self.assertGreater(row["share"], 0)
                self.assertLess(row["share"], 0.5)
        sizes = [row["bytes"] * row["times"] for row in facts["kept"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_the_table(self):
        path, _ = self.compile(MODEL)
        whole = self.facts(path)
        text = self.weir("inspect", path, "--memory").stdout
        self.assertRegex(text, r"gpt for x86-64\S*: one arena of [\d,]+ bytes")
        self.assertIn("No activation is recomputed", text)
        budget = self.taken(path)[0] + whole["scratch"] * 7 // 10
        path, said = self.compile(MODEL, "--threads", 2, "--memory", budget)
        facts = self.facts(path)
        text = self.weir("inspect", path, "--memory").stdout
        count, price = re.search(r"recomputes (\d+) of its \d+ kernels.*, ([\d.]+) % more time", said).groups()
        self.assertLessEqual(sum(row["times"] for row in facts["again"] if row["share"] > 0), int(count))
        self.assertAlmostEqual(100 * facts["totals"]["share"], float(price), delta=0.06)
        self.assertEqual(facts["totals"]["gained"], facts["totals"]["scratch_if_kept"] - facts["scratch"])
        self.assertGreater(facts["totals"]["gained"], 0)
        self.assertRegex(text, r"Recomputed activations, and the time to recompute each:\n(.*\n)+.*it did not fit\n")
        self.assertIn(f"the step takes {facts['scratch']:,} bytes instead of {facts['totals']['scratch_if_kept']:,}", text)
        # Nothing of it is by chance.
        before = path.read_bytes()
        self.compile(MODEL, "--threads", 2, "--memory", budget)
        self.assertEqual(path.read_bytes(), before)

    def test_options_that_exclude_each_other(self):
        path, _ = self.compile(MODEL, sizes=SMALL_GPT)
        self.fails(2, "--precision excludes --memory|--memory excludes --precision", "weir", "inspect", path, "--memory", "--precision")
        self.fails(2, "--plan excludes --memory|--memory excludes --plan", "weir", "inspect", path, "--memory", "--plan")


if __name__ == "__main__":
    weirtest.main()
