"""weir-run with the sanitizers in it (preset asan-runtime) trains from artifacts of every kind, and refuses damaged ones.

WEIR_SANITIZED names the folder of its programs; without it there is nothing to test.
"""

import os
import pathlib
import subprocess
import unittest

import weirtest
from weirtest import MODELS, SMALL_GPT, data, npy

FOLDER = os.environ.get("WEIR_SANITIZED")


@unittest.skipUnless(FOLDER, "WEIR_SANITIZED names no folder of a sanitized weir-run")
class Sanitized(weirtest.Test):
    def sanitized(self, *args, status=0):
        # No leak check, which fails now and then where debuggers are not welcome: the unit tests make it, and make it again.
        done = subprocess.run(
            [pathlib.Path(FOLDER) / "weir-run", *map(str, args)],
            cwd=self.folder, env=dict(os.environ, NO_COLOR="1", ASAN_OPTIONS="detect_leaks=0"),
            capture_output=True, text=True, errors="replace", timeout=300,
        )
        self.assertNotRegex(done.stderr, r"runtime error:|Sanitizer")
        self.assertEqual(done.returncode, status, f"\n$ weir-run {' '.join(map(str, args))}\n{done.stderr[-4000:]}")
        return done

    def compiled(self, model, *sets):
        artifact = self.folder / f"{model}.weirx"
        self.weir("compile", MODELS / f"{model}.weir", *sets, "-o", artifact)
        return artifact

    def test_language_model(self):
        artifact = self.compiled("gpt-char", *SMALL_GPT)
        options = [*data(window=self.text()), "--holdout", 0.1, "--seed", 1, "--threads", 2]
        self.sanitized(artifact, *options, "--steps", 4, "--metrics", self.folder / "whole.jsonl")
        kept = ["--checkpoint", self.folder / "kept", "--every", 1, "--keep", 1]
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


if __name__ == "__main__":
    weirtest.main()
