"""weir-run with a sanitizer in it (presets asan-runtime and tsan-runtime) trains from artifacts of every kind.

WEIR_SANITIZED names the folder of the programs with AddressSanitizer, WEIR_THREAD_SANITIZED of those with ThreadSanitizer.
Without the variable its tests are skipped.
"""

import importlib
import os
import unittest

from weirtest import MODELS, ROOT, SMALL_GPT, data, each, main, npy

ranks = importlib.import_module("processes-test")
ADDRESS = os.environ.get("WEIR_SANITIZED")
THREAD = os.environ.get("WEIR_THREAD_SANITIZED")


class Sanitized(ranks.Ranks):
    def sanitized(self, *args, status=0):
        done = self.run_tool(self.program, *args, status=status, env=self.options)
        self.assertNotRegex(done.stderr, r"runtime error:|Sanitizer")

    def sanitized_ranks(self, size, *args):
        """Each rank a process."""
        for out, err in self.all_end(self.begin(size, *args, tool=self.program, env=self.options)):
            self.assertNotRegex(err, r"runtime error:|Sanitizer")

    def compiled(self, model, *options):
        return super().compiled(MODELS / f"{model}.weir", *options)


@unittest.skipUnless(ADDRESS, "WEIR_SANITIZED names no folder of a weir-run with AddressSanitizer")
class AddressSanitizer(Sanitized):
    program = os.path.join(ADDRESS or "", "weir-run")
    # The leak check fails now and then where debuggers are not allowed. The unit tests make it, and CI repeats those (.ci/run).
    options = {"ASAN_OPTIONS": "detect_leaks=0"}

    def test_language_model(self):
        artifact = self.compiled("gpt-char", *SMALL_GPT)
        options = [*data(window=self.text()), "--holdout", 0.1, "--seed", 1, "--threads", 2]
        self.sanitized(artifact, *options, "--steps", 4, "--metrics", self.folder / "whole.jsonl")
        kept = ["--checkpoint", self.folder / "kept", "--checkpoint-every", 1, "--keep-checkpoints", 1]
        self.sanitized(artifact, *options, "--steps", 4, *kept, "--tensorboard", self.folder / "events")
        self.sanitized(artifact, *options, "--steps", 6, *kept, "--resume", "--extend", "--trace", self.folder / "trace.json")
        self.sanitized(artifact, *options, "--steps", 4, "--poison", "--metrics", self.folder / "poisoned.jsonl")
        self.assertEqual(self.losses("poisoned.jsonl"), self.losses("whole.jsonl"))
        # Tokens instead of characters.
        tokens = npy(self.folder / "tokens.npy", "i", [4000], [7 * i % 65 for i in range(4000)])
        self.sanitized(artifact, *data(window=tokens), "--steps", 2)

    def test_images(self):
        for model in ("mnist-mlp", "mnist-cnn"):
            with self.subTest(model):
                artifact = self.compiled(model)
                # 20 rows are left over.
                self.sanitized(artifact, *self.digits(148), "--steps", 3, "--holdout", 0.5, "--threads", 2)

    def test_what_is_refused(self):
        artifact = self.compiled("mnist-mlp")
        whole = artifact.read_bytes()
        broken = self.folder / "broken.weirx"
        for content in (b"", whole[:20], whole[: len(whole) // 2], whole[:40] + b"\xff" * 64 + whole[104:], whole + b"x"):
            broken.write_bytes(content)
            self.sanitized(broken, *self.digits(), status=3)
        self.sanitized(artifact, *data(images=artifact, labels=artifact), status=4)
        self.sanitized(artifact, "--nonsense", status=2)


@unittest.skipUnless(THREAD, "WEIR_THREAD_SANITIZED names no folder of a weir-run with ThreadSanitizer")
class ThreadSanitizer(Sanitized):
    """The runtime's threads: the pool, the prefetcher, ranks, transfers, and the writer of checkpoints, which are read again.

    A race makes weir-run end with status 66.
    """

    program = os.path.join(THREAD or "", "weir-run")
    options = {"TSAN_OPTIONS": f"suppressions={ROOT / 'test' / 'thread-sanitizer-suppressions.txt'}"}

    def trains(self, artifact, *options, run=None):
        """Evaluates between steps, writes checkpoints behind them, and resumes from one."""
        run = run or self.sanitized
        options = [*data(window=self.text()), "--holdout", 0.05, "--eval-every", 3, "--checkpoint-every", 2, "--async-checkpoint",
                   "--checkpoint", self.folder / "kept", *options]  # fmt: skip
        run(artifact, *options, "--steps", 6)
        run(artifact, *options, "--steps", 9, "--resume", "--extend")

    def test_threads(self):
        self.trains(self.compiled("gpt-char", *SMALL_GPT), "--threads", 3, "--trace", self.folder / "trace.json")

    def test_images(self):
        """oneDNN's primitives on the pool."""
        self.sanitized(self.compiled("mnist-cnn"), *self.digits(148), "--steps", 3, "--holdout", 0.5, "--threads", 3)

    @each(["dp=2,tp=2 --zero 1", "dp=2 --zero 3 --offload parameters", "pp=2 --microbatches 4", "pp=2,dp=2 --microbatches 4 --zero 1"])
    def test_virtual_devices(self, mesh):
        self.trains(self.compiled("gpt-char", *SMALL_GPT, "--mesh", *mesh.split()), "--threads", 2)

    @each(["optimizer", "parameters"])
    def test_offload(self, level):
        """To memory, and to a file."""
        artifact = self.compiled("gpt-char", *SMALL_GPT, "--offload", level)
        self.sanitized(artifact, *data(window=self.text()), "--steps", 4, "--threads", 2)
        self.trains(artifact, "--threads", 2, "--offload-dir", self.folder)

    @each(["dp=2 --zero 3", "pp=2 --microbatches 4"])
    def test_processes(self, mesh):
        artifact = self.compiled("gpt-char", *SMALL_GPT, "--mesh", *mesh.split())
        self.trains(artifact, "--threads", 2, run=lambda *words: self.sanitized_ranks(2, *words))


if __name__ == "__main__":
    main()
