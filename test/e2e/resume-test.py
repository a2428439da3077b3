"""A run that is killed and resumed ends with the weights of one that was not."""

import os
import signal
import time

import weirtest
from weirtest import MODELS, start

STEPS = 60
# Accumulation on, so that dropout, batch norm, accumulation and the data order all have a position to lose.
MODEL = [MODELS / "mnist-cnn.weir", "--set", "batch=16", "--set", "microbatches=2"]


class Resume(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.artifact = self.folder / "m.weirx"
        self.weir("compile", *MODEL, "-o", self.artifact)
        self.options = [self.artifact, *self.digits(), "--steps", STEPS, "--seed", 5]
        self.weir_run(*self.options, "--checkpoint", self.folder / "whole")
        self.whole = self.weights(self.folder / "whole")

    def until_step(self, process, metrics, step):
        """Waits until the run has recorded that many steps or has ended."""
        while process.poll() is None:
            if metrics.exists() and metrics.read_bytes().count(b'"loss"') >= step:
                return
            time.sleep(0.002)

    def interrupt(self, signals, kept):
        """Starts, kills after so many steps, resumes, and so on; the exit statuses on the way."""
        statuses = []
        for number, (step, what) in enumerate(signals):
            metrics = self.folder / f"{kept.name}-{number}.jsonl"
            process = start(
                "weir-run", *self.options, "--checkpoint", kept, "--checkpoint-every", 3, "--resume", "--metrics", metrics
            )
            self.until_step(process, metrics, step)
            if process.poll() is None:
                os.kill(process.pid, what)
            process.communicate(timeout=120)
            statuses.append(process.returncode)
        self.weir_run(*self.options, "--checkpoint", kept, "--checkpoint-every", 3, "--resume")
        return statuses

    def test_killed_ten_times(self):
        kept = self.folder / "killed"
        statuses = self.interrupt([(1 + 7 * i % 5, signal.SIGKILL) for i in range(10)], kept)
        self.assertIn(-signal.SIGKILL, statuses)
        self.assertEqual(self.weights(kept), self.whole)

    def test_terminated(self):
        kept = self.folder / "terminated"
        statuses = self.interrupt([(4, signal.SIGTERM), (10, signal.SIGTERM)], kept)
        self.assertEqual(statuses, [75, 75])
        self.assertEqual(self.weights(kept), self.whole)

    def test_falls_back_from_a_damaged_checkpoint(self):
        kept = self.folder / "damaged"
        self.weir_run(*self.options, "--checkpoint", kept, "--checkpoint-every", 20, "--keep-checkpoints", 3)
        newest = self.checkpoints(kept)[-1] / "model.safetensors"
        raw = bytearray(newest.read_bytes())
        raw[-100] ^= 1
        newest.write_bytes(raw)
        done = self.weir_run(*self.options, "--checkpoint", kept, "--checkpoint-every", 20, "--resume")
        self.assertRegex(done.stderr, "model.safetensors")
        self.assertEqual(self.weights(kept), self.whole)

    def test_resume_in_an_empty_folder_starts_and_says_so(self):
        kept = self.folder / "empty"
        done = self.weir_run(*self.options, "--checkpoint", kept, "--resume")
        self.assertRegex(done.stderr, "(?i)no checkpoint|nothing to resume|start")
        self.assertEqual(self.weights(kept), self.whole)


class AsItWasBegun(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.kept = self.folder / "kept"
        self.data = self.digits()
        self.steps = 2
        self.weir("train", MODELS / "mnist-mlp.weir", *self.data, "--steps", 2, "--checkpoint", self.kept)

    def resume(self, *model, more=()):
        self.steps += 1
        return ["train", *model, *self.data, "--checkpoint", self.kept, "--resume", "--extend", "--steps", self.steps, *more]

    def other(self, what, by):
        text = (MODELS / "mnist-mlp.weir").read_text()
        self.assertIn(what, text)
        return self.write("mnist-mlp.weir", text.replace(what, by, 1))

    def test_another_model_of_equal_shapes(self):
        other = self.other("relu", "gelu")
        self.fails(3, "model: a step of 'mlp' computes something different.*--change model", "weir", *self.resume(other))
        done = self.weir(*self.resume(other, more=["--change", "model"]))
        self.assertIn("--change model", done.stderr)

    def test_other_configs(self):
        options = [MODELS / "mnist-mlp.weir", "--set", "batch=32"]
        self.fails(3, "configs: batch was 64, now it is 32.*--change model,configs", "weir", *self.resume(*options))
        self.fails(3, "the model may have changed as well.*--change model", "weir",
                   *self.resume(*options, more=["--change", "configs"]))
        self.weir(*self.resume(*options, more=["--change", "model,configs"]))

    def test_other_data_and_options(self):
        self.data = self.digits(rows=256, name="other")
        self.fails(2, "data: .*--change data,holdout,order", "weir",
                   *self.resume(MODELS / "mnist-mlp.weir", more=["--holdout", 0.25, "--no-shuffle"]))
        self.fails(2, "found 'shuffle'", "weir", *self.resume(MODELS / "mnist-mlp.weir", more=["--change", "shuffle"]))

    def test_another_strategy(self):
        model, mesh = MODELS / "mnist-mlp.weir", ["--mesh", "dp=2", "--zero", 1]
        done = self.weir(*self.resume(model, *mesh))
        self.assertRegex(
            done.stderr,
            r"step-0+2: the run was started with another strategy: mesh: one device -> dp=2; zero: 0 -> 1\n",
        )
        done = self.weir(*self.resume(model, *mesh))
        self.assertNotIn("strategy", done.stderr)
        done = self.weir(*self.resume(model, "--mesh", "dp=2", more=["--change", "zero"]))
        self.assertIn("--change zero: 1 -> 0\n", done.stderr)
        self.fails(3, r"precision: f32 -> bf16\nUse the settings .*--change precision\n", "weir",
                   *self.resume(model, "--mesh", "dp=2", "--precision", "bf16"))

    def test_what_does_not_matter(self):
        same = self.other("\nmodel", "\n// The same model, further down in a file of another name.\nmodel")
        for name in ("images", "labels"):
            (self.folder / f"train-{name}.idx").rename(self.folder / f"moved-{name}.idx")
        self.data = [str(word).replace("train-", "moved-") for word in self.data]
        done = self.weir(*self.resume(same, "--target", "cpu:x86-64-v3", "--gradients", self.folder / "g.safetensors", "--threads", 1))
        self.assertNotRegex(done.stderr, "--change|not compared")


if __name__ == "__main__":
    weirtest.main()
