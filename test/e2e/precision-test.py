"""Training in bf16, f16, f8 and f8_block: near f32, the same bits on any number of threads and after a resume, and nothing else without a word."""

import json
import pathlib
import shutil

import weirtest
from weirtest import SMALL_GPT

MODEL = weirtest.MODELS / "gpt-char.weir"
LOW = ["bf16", "f16", "f8", "f8_block"]


class Precision(weirtest.Test):
    def train(self, precision, name, *more):
        """A run of the artifact for that precision, which is compiled once."""
        artifact, metrics = self.folder / f"{precision}.weirx", self.folder / f"{name}.jsonl"
        if not artifact.exists():
            self.weir("compile", MODEL, *SMALL_GPT, "--precision", precision, "-o", artifact)
        self.weir("run", artifact, *weirtest.data(window=self.text()), "--seed", 3, "--metrics", metrics, *more)
        return self.losses(metrics.name)

    def test_losses_are_near_those_of_f32(self):
        wide = self.train("f32", "wide", "--steps", 40)
        # A value has 8 bits in bf16, 11 in f16 and 4 in f8. Measured: 3.4e-3, 4.1e-4 and 3.8e-3.
        for precision, most in (("bf16", 2e-2), ("f16", 3e-3), ("f8", 4e-2), ("f8_block", 4e-2)):
            low = self.train(precision, precision, "--steps", 40)
            worst = max(abs(a - b) for a, b in zip(wide, low))
            print(f"{precision}: losses are up to {worst:.1e} from those of f32")
            self.assertGreater(worst, 0)
            self.assertLessEqual(worst, most)

    def test_evaluation_has_the_loss_of_the_step(self):
        # A value that a product and a sum use, and in a step its own gradient; a product that a gradient is a multiple of.
        model = self.write("sums.weir", """
model m(x: [b, 8]) -> ([b, 3], [b]) {
  param w: [8, 6] = normal(std = 0.5)
  param v: [6, 3] = normal(std = 0.5)
  param a: [8, 4] = normal(std = 0.5)
  param c: [4, 6] = normal(std = 0.5)
  param s: [8, 6] = normal(std = 0.5)
  t = tanh(x @ w + x @ ((a @ c) * s))
  return t @ v, sum(t, axes = [1])
}
block both(x: [b, 8], y: [b, 3]) -> [b] {
  o, s = m(x) as m
  return sum((o - y) * (o - y), axes = [1]) + s
}
train {
  input x: [4, 8]
  input y: [4, 3]
  steps 1
  each = both(x, y)
  loss ratio(sum(each), size(each))
  update sgd(lr = 0.0)
}
""")
        rows = weirtest.data(**{
            name: weirtest.npy(self.folder / f"{name}.npy", "f", (4, n), [((7 * i) % 11 - 5) / 3 for i in range(4 * n)])
            for name, n in (("x", 8), ("y", 3))
        })  # fmt: skip
        for precision in ("f32", "bf16", "f16", "f8_block"): # f8 has no scales before the first step
            kept, metrics = self.folder / f"{precision}-sums", self.folder / "sums.jsonl"
            self.weir("train", model, "--precision", precision, "--loss-scale", "none", *rows, "--no-shuffle", "--checkpoint", kept, "--metrics", metrics)
            (loss,) = self.losses(metrics.name)
            artifact = self.folder / "sums.weirx"
            self.weir("compile", model, "--precision", precision, "-o", artifact)
            said = self.weir("eval", artifact, "--checkpoint", kept, *rows).stdout
            self.assertIn(f"{loss:.6g}"[:7], said)

    @weirtest.each(LOW)
    def test_bits_are_the_same_on_any_number_of_threads_and_resumed(self, precision):
        whole, parts = self.folder / "whole", self.folder / "parts"
        losses = self.train(precision, "whole", "--steps", 20, "--checkpoint", whole, "--threads", 1)
        self.train(precision, "first", "--steps", 10, "--checkpoint", parts, "--threads", 3)
        rest = self.train(precision, "rest", "--steps", 20, "--checkpoint", parts, "--threads", 2, "--resume", "--extend")
        # The schedule of the first ten steps runs over ten, so only runs of the same length have the same bits.
        self.assertEqual(len(rest), 10)
        again = self.train(precision, "again", "--steps", 20, "--threads", 3)
        self.assertEqual(losses, again)
        tensors = self.weights(whole)
        self.assertEqual(sorted(tensors), sorted(self.weights(parts)))

    @weirtest.depends_on_cpu_level
    def test_a_resumed_run_in_f8_goes_on_with_its_scales(self):
        whole, parts = self.folder / "whole", self.folder / "parts"
        options = ["--steps", 24, "--checkpoint-every", 10, "--keep-checkpoints", 9]
        losses = self.train("f8", "whole", *options, "--checkpoint", whole)
        shutil.copytree(whole, parts)
        for path in self.checkpoints(parts)[1:]:
            shutil.rmtree(path)
        self.assertIn(b'"f8/amax"', self.weights(parts)["state.safetensors"])
        rest = self.train("f8", "rest", *options, "--checkpoint", parts, "--resume", "--threads", 1)
        self.assertEqual(rest, losses[10:])
        self.assertEqual(self.weights(whole), self.weights(parts))

    def test_f8_and_bf16_go_on_with_each_other_where_that_is_allowed(self):
        kept = self.folder / "kept"
        self.train("bf16", "first", "--steps", 4, "--checkpoint", kept)
        for number, precision in enumerate(["f8", "bf16"]):
            self.train(precision, precision, "--steps", 8 + 4 * number, "--checkpoint", kept, "--resume", "--extend", "--change", "precision")
        self.assertNotIn(b"f8/amax", self.weights(kept)["state.safetensors"])

    def test_inspect_says_what_is_rounded_to_eight_bits(self):
        facts = self.precision_of(MODEL, *SMALL_GPT, "--precision", "f8")
        self.assertEqual(facts["precision"], "f8")
        whys = {(one["op"], one["computes"], one["why"]) for one in facts["choices"]}
        self.assertIn(("matmul", "f8e4m3", "it multiplies f8e4m3 under scales, its sums are f32"), whys)
        self.assertIn(("matmul", "f8e5m2", "it multiplies f8e5m2 and f8e4m3 under scales, its sums are f32"), whys)
        self.assertIn(("attention", "f32", "it reads what was rounded to bf16, its sums are f32"), whys)
        self.assertIn(("cast", "f32", "what a product multiplies, rounded to f8e5m2 under a scale"), whys)

    def test_inspect_says_what_is_rounded_in_blocks(self):
        facts = self.precision_of(MODEL, *SMALL_GPT, "--precision", "f8_block")
        self.assertEqual(facts["precision"], "f8_block")
        whys = {(one["op"], one["computes"], one["why"]) for one in facts["choices"]}
        self.assertIn(("matmul", "f8e4m3", "it multiplies f8e4m3 under scales of blocks, its sums are f32"), whys)
        self.assertIn(("cast", "f32", "what a product multiplies, rounded to f8e4m3 under scales of blocks"), whys)
        self.assertNotIn("f8e5m2", {one["computes"] for one in facts["choices"]})

    def test_a_run_goes_on_in_the_precision_it_was_begun_in(self):
        kept = self.folder / "kept"
        self.train("bf16", "begun", "--steps", 4, "--checkpoint", kept)
        options = [
            "train", MODEL, *SMALL_GPT, *weirtest.data(window=self.text()), "--seed", 3, "--steps", 8, "--checkpoint", kept,
            "--resume", "--extend",
        ]  # fmt: skip
        self.fails(3, r"precision: bf16 -> f32\nUse the settings of the run", "weir", *options)
        self.weir(*options, "--change", "precision")

    def test_inspect_says_which(self):
        artifact = self.folder / "low.weirx"
        self.weir("compile", MODEL, *SMALL_GPT, "--precision", "bf16", "-o", artifact)
        self.assertRegex(self.weir("inspect", artifact).stdout, r"Model +gpt for \S+ in bf16;")

    def precision_of(self, model, *options):
        artifact = self.folder / "inspected.weirx"
        self.weir("compile", model, *options, "-o", artifact)
        return json.loads(self.weir("inspect", artifact, "--precision", "--json").stdout)

    @weirtest.depends_on_cpu_level
    def test_each_parameter_is_cast_once_a_step(self):
        for model in ["gpt-char", "mnist-cnn"]:
            with self.subTest(model):
                casts = self.precision_of(weirtest.MODELS / f"{model}.weir", "--precision", "bf16")["casts"]
                self.assertTrue(casts["parameters"])
                self.assertEqual(set(casts["parameters"].values()), {1}, casts)
                spare = sum(casts["spare"].values())
                print(f"{model}: {casts}")
                self.assertEqual(spare, 0, casts["spare"])

    def test_in_microbatches_parameters_are_cast_once_a_step_too(self):
        model = pathlib.Path(__file__).resolve().parent / "Inputs" / "accumulate.weir"
        casts = self.precision_of(model, "--precision", "bf16", "--set", "batch=4", "--set", "microbatches=4")["casts"]
        self.assertTrue(casts["parameters"])
        self.assertEqual(set(casts["parameters"].values()), {1}, casts)

    @weirtest.depends_on_cpu_level
    def test_inspect_says_what_computes_in_which_type_and_why(self):
        model = self.write("pinned.weir", MODEL.read_text() + '\nplan { precision f32 where op == "attention" or contains(name, "c_proj") }\n')
        line = model.read_text().count("\n")
        facts = self.precision_of(model, *SMALL_GPT, "--precision", "bf16")
        whys = {(one["op"], one["computes"], one["why"].split("; ")[-1]) for one in facts["choices"]}
        self.assertIn(("attention", "f32", f"pinned by line {line}"), whys)
        self.assertIn(("attention_grad", "f32", f"pinned by line {line}"), whys)
        self.assertIn(("matmul", "f32", f"pinned by line {line}"), whys)
        self.assertIn(("matmul", "bf16", "it multiplies bf16, its sums are f32"), whys)
        self.assertIn(("matmul", "bf16", "a gradient leaves it in f32"), whys)
        self.assertIn(("add", "f32", "the optimizer"), whys)
        self.assertNotIn("h.0.attn.c_proj.weight", facts["casts"]["parameters"])
        self.assertIn("h.0.attn.c_attn.weight", facts["casts"]["parameters"])
        for one in facts["choices"]:
            self.assertRegex(one["at"], r"^(\S+\.weir:\d+)?$")
        text = self.weir("inspect", self.folder / "inspected.weirx", "--precision").stdout
        self.assertRegex(text, rf"pinned\.weir:14 +f32 +f32 +attention\*2 attention_grad\*2 +it reads f32; pinned by line {line}\n")
        self.assertRegex(text, r"Casts in a step: \d+ parameters, each once; \d+ fused into other kernels\n")
        self.assertRegex(text, r"Kernels that only cast: \d+ of parameters and inputs, ")

    def test_where_all_is_f32_there_is_nothing_to_say(self):
        facts = self.precision_of(MODEL, *SMALL_GPT)
        self.assertEqual((facts["choices"], facts["casts"]["parameters"]), ([], {}))
        text = self.weir("inspect", self.folder / "inspected.weirx", "--precision").stdout
        self.assertEqual(text, "gpt in f32: all ops compute in f32, and all tensors are stored in f32\n")

    def test_a_pin_holds_without_an_option_and_is_part_of_the_run(self):
        pinned = self.write("pinned.weir", MODEL.read_text() + '\nplan { precision bf16 where starts_with(name, "h.") }\n')
        options = [*SMALL_GPT, *weirtest.data(window=self.text()), "--seed", 3, "--checkpoint", self.folder / "kept"]
        self.weir("train", pinned, *options, "--steps", 4)
        self.fails(3, r"model: a step of 'gpt' computes something different", "weir", "train", MODEL, *options, "--steps", 8, "--resume", "--extend")
        said = self.weir("verify", pinned, "--set", "layers=1", "--set", "width=16", "--set", "heads=2", "--set", "context=8", "--set", "batch=2")
        self.assertRegex(said.stderr, r"mixed-precision +results are up to \d\.\de-\d\d from what they were")
        self.assertIn("verified:", said.stdout)

    def test_an_unknown_precision_is_told_of(self):
        artifact = self.folder / "low.weirx"
        self.fails(2, r"--precision: expected f32, bf16, f16, f8, f8_block or tf32, but found bf15", "weir", "compile", MODEL, "--precision", "bf15", "-o", artifact)
        self.fails(2, r"--precision: expected f32, bf16, f16, f8, f8_block or tf32, but found bf15", "weir", "verify", MODEL, "--precision", "bf15")

    def test_verify_takes_the_program_in_low_precision_for_what_is_true(self):
        sizes = ["--set", "layers=1", "--set", "width=16", "--set", "heads=2", "--set", "context=8", "--set", "batch=2"]
        for precision in LOW:
            said = self.weir("verify", MODEL, *sizes, "--precision", precision)
            self.assertRegex(said.stderr, r"mixed-precision +results are up to \d\.\de-\d\d from what they were")
            self.assertIn("verified:", said.stdout)


if __name__ == "__main__":
    weirtest.main()
