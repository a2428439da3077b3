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
                "weir-run", *self.options, "--checkpoint", kept, "--every", 3, "--resume", "--metrics", metrics
            )
            self.until_step(process, metrics, step)
            if process.poll() is None:
                os.kill(process.pid, what)
            process.communicate(timeout=120)
            statuses.append(process.returncode)
        self.weir_run(*self.options, "--checkpoint", kept, "--every", 3, "--resume")
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
        self.weir_run(*self.options, "--checkpoint", kept, "--every", 20, "--keep", 3)
        newest = self.checkpoints(kept)[-1] / "model.safetensors"
        raw = bytearray(newest.read_bytes())
        raw[-100] ^= 1
        newest.write_bytes(raw)
        done = self.weir_run(*self.options, "--checkpoint", kept, "--every", 20, "--resume")
        self.assertRegex(done.stderr, "model.safetensors")
        self.assertEqual(self.weights(kept), self.whole)

    def test_resume_in_an_empty_folder_starts_and_says_so(self):
        kept = self.folder / "empty"
        done = self.weir_run(*self.options, "--checkpoint", kept, "--resume")
        self.assertRegex(done.stderr, "(?i)no checkpoint|nothing to resume|start")
        self.assertEqual(self.weights(kept), self.whole)


if __name__ == "__main__":
    weirtest.main()
