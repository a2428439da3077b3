"""What tests of programs for GPUs share: the emulated one, and comparing with a CPU."""

import os
import pathlib
import unittest

import weirtest
from weirtest import MODELS, floats, norm

LIBRARIES = pathlib.Path(os.environ.get("WEIR_EMULATED_CUDA", weirtest.BIN.parent / "lib" / "emulated-cuda"))
GPT = MODELS / "gpt-char.weir"
EMULATED = ["--device", "emulated", "--target"]
CHECKED, PLAIN = {"WEIR_EMULATED_MODE": "check"}, {"WEIR_EMULATED_MODE": "plain"}


@unittest.skipUnless((LIBRARIES / "libcuda.so.1").exists(), f"the emulated GPU ({LIBRARIES}) is not built")
class Test(weirtest.Test):
    cache = str(weirtest.KERNELS / "emulated")

    def emulated(self, command, *args, target="cuda", env=CHECKED, seed=0, **more):
        names = dict(env, WEIR_EMULATED_SEED=str(seed), WEIR_KERNEL_CACHE=self.cache)
        done = self.weir(command, *args, *EMULATED, target, env=names, **more)
        self.assertNotIn("emulated CUDA:", done.stderr)
        return done

    def trained(self, name, model, *options, run=None):
        """Losses and gradients of a short run."""
        metrics, gradients = f"{name}.jsonl", self.folder / f"{name}.safetensors"
        (run or self.weir)("train", model, *options, "--metrics", self.folder / metrics, "--gradients", gradients)
        return self.losses(metrics), floats(gradients)

    def assert_close(self, got, expected, loss, gradient):
        """Losses and gradients, relative to their size (docs/internals/verification.md)."""
        for a, b in zip(got[0], expected[0], strict=True):
            self.assertLessEqual(abs(a - b), loss * max(1, abs(b)))
        largest = max(norm(numbers) for _, numbers in expected[1].values())
        for tensor, (_, numbers) in expected[1].items():
            difference = norm(a - b for a, b in zip(got[1][tensor][1], numbers, strict=True))
            self.assertLessEqual(difference, gradient * max(norm(numbers), 1e-3 * largest), tensor)
