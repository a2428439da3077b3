"""weir run --check-every-op compares everything that a real run computes with what the plan in the artifact means."""

import os
import pathlib
import re
import subprocess

import weirtest
from weirtest import MODELS, SHIPPED, SMALL_GPT, data, eval_data, small

REHASH = os.environ["WEIR_REHASH"]


class CheckEveryOp(weirtest.Test):
    def compiled(self, model, *sets):
        path = self.folder / f"{model}.weirx"
        self.weir("compile", MODELS / f"{model}.weir", *sets, "-o", path)
        return path

    def changed(self, artifact, old, new):
        """A copy in which every `old`, there at least once, is `new` of the same length, and the hash is right."""
        content = artifact.read_bytes()
        self.assertEqual(len(old), len(new))
        self.assertIn(old, content)
        path, raw = self.folder / "changed.weirx", self.folder / "raw.weirx"
        raw.write_bytes(content.replace(old, new))
        subprocess.run([REHASH, raw, path], check=True)
        return path

    @weirtest.each(SHIPPED)
    def test_models_agree(self, model):
        if model == "gpt-char":
            sets, options = SMALL_GPT, [*data(window=self.text()), "--holdout", "0.1"]
        elif model == "mnist-mlp":
            sets, options = ["--set", "batch=17"], [*self.digits(), *eval_data_of(self)]
        elif model == "mnist-cnn":
            sets, options = ["--set", "batch=4", "--set", "filters=5", "--set", "microbatches=3"], self.digits()
        else:
            sets = small(model)[0]
            options = self.rows_of(model, sets)
        done = self.weir("run", self.compiled(model, *sets), *options, "--steps", 2, "--check-every-op", "--poison")
        found = re.search(r"checked 2 steps, (\d+) actions, largest relative difference (\S+)", done.stderr)
        self.assertTrue(found, done.stderr)
        self.assertGreater(int(found[1]), 50)
        self.assertLessEqual(float(found[2]), 1e-5)
        self.assertGreater(float(found[2]), 0)

    def test_checking_changes_no_bit(self):
        artifact, text = self.compiled("gpt-char", *SMALL_GPT), self.text()
        for name, options in ("plain", []), ("checked", ["--check-every-op"]):
            self.weir("run", artifact, *data(window=text), "--steps", 3, "--checkpoint", self.folder / name, *options)
        self.assertEqual(self.weights(self.folder / "plain"), self.weights(self.folder / "checked"))

    @weirtest.takes(20)
    def test_a_kernel_that_is_not_what_it_means_is_named(self):
        artifact, digits = self.compiled("mnist-mlp", "--set", "batch=8"), self.digits(64)
        # Meaning and code disagree; which of them is wrong cannot be seen.
        for old, new, when, line in [
            (b"weir.sub ", b"weir.add ", "step 1, entry 'step'", "update"),  # 1 - beta ^ t
            (b"2.550000e+02", b"2.560000e+02", "step 1, entry 'step'", "f32(images) / 255"),
            (b"1.250000e-01", b"1.260000e-01", "step 1, entry 'step'", "cross_entropy"),  # 1 / batch
            (b"weir.argmax ", b"weir.argmin ", None, None),
            (b"0.899999976", b"0.999999976", "step 2, entry 'step'", "update"),  # beta1 of adamw, of a mean that is 0 at first
            (b"weir.random uniform", b"weir.random normal ", "before step 1, entry 'init'", "linear"),
        ]:
            with self.subTest(f"{old} -> {new}"):
                changed = self.changed(artifact, old, new)
                options = [changed, *digits, "--steps", 2, "--check-every-op"]
                if when is None:
                    self.fails(3, r"the plan in the artifact cannot be read: .*weir.argmin", "weir", "run", *options)
                    continue
                done = self.fails(
                    1,
                    rf"error: {when}, action \d+ \(launch of kernel_\d+, \w+\): weir\.\w+ of \S+\.weir:\d+ is not what "
                    r"the plan means: element \[.*\] of \[.*\]: expected \S+, found \S+; \|\|difference\|\| is \S+ where \S+ is allowed",
                    "weir", "run", *options,
                )
                found = re.search(r" of (\S+\.weir):(\d+) is not", done.stderr)
                text = pathlib.Path(found[1]).read_text().splitlines()[int(found[2]) - 1]
                self.assertIn(line, text)
                self.assertIn("checked ", done.stderr)

    def test_what_was_not_begun_was_not_checked(self):
        artifact = self.compiled("mnist-mlp", "--set", "batch=8")
        for status, options in (2, []), (4, ["--data", "images=none.npy", "--data", "labels=none.npy"]):
            with self.subTest(options):
                done = self.fails(status, "error: ", "weir", "run", artifact, *options, "--check-every-op")
                self.assertNotIn("checked ", done.stderr)

    def test_the_runtime_alone_cannot(self):
        artifact = self.compiled("mnist-mlp", "--set", "batch=8")
        self.fails(2, r"unknown option '--check-every-op'", "weir-run", artifact, *self.digits(64), "--check-every-op")

    @weirtest.takes(20)
    def test_the_plan_prints(self):
        for model in SHIPPED:
            with self.subTest(model):
                artifact = self.compiled(model, *small(model)[0])
                text = self.weir("inspect", artifact, "--plan").stdout
                for part in ("plan.variable parameter", "plan.entry @step", "plan.launch @kernel_0", "weir.kernel map"):
                    self.assertIn(part, text)
                again = self.run_tool("weir-opt", self.write("plan.mlir", text), "--mlir-print-debuginfo").stdout
                self.assertEqual(again, text)
        self.fails(2, "--plan excludes --json|--json excludes --plan", "weir", "inspect", artifact, "--plan", "--json")


def eval_data_of(test):
    held = test.digits(40, "held")
    return [word.replace("--data", "--eval-data") for word in held]


if __name__ == "__main__":
    weirtest.main()
