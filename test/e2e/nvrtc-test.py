"""NVIDIA's own compiler takes every kernel of every model, for each architecture, and spills no registers."""

import ctypes
import glob
import json
import os
import unittest

import weirtest
from weirtest import MODELS, SHIPPED


def folders():
    """Where NVRTC is, of the places that Weir looks in and those a toolkit has."""
    named = [f for f in os.environ.get("WEIR_CUDA_LIBRARIES", "").split(":") if f]
    for folder in ["", *named, *sorted(glob.glob("/usr/local/cuda*/lib64"), reverse=True)]:
        for name in ("libnvrtc.so.13", "libnvrtc.so.12"):
            try:
                ctypes.CDLL(os.path.join(folder, name))
                return folder
            except OSError:
                pass
    return None


FOLDER = folders()


@unittest.skipIf(FOLDER is None, "NVRTC is not installed here")
class Nvrtc(weirtest.Test):
    def compiled(self, name, target, *options):
        artifact = self.folder / "a.weirx"
        names = {"WEIR_KERNEL_CACHE": str(self.folder / "kernels"), "WEIR_CUDA_LIBRARIES": FOLDER}
        self.weir("compile", MODELS / f"{name}.weir", "--target", target, *options, "-o", artifact, env=names)
        return json.loads(self.weir("inspect", artifact, "--json").stdout)["kernels"]

    def test_every_kernel(self):
        most = 0
        for target, precision in (("cuda:sm_80", "f32"), ("cuda:sm_90", "bf16"), ("cuda:sm_100", "f32")):
            for name in SHIPPED:
                with self.subTest(model=name, target=target):
                    kernels = self.compiled(name, target, "--precision", precision)
                    self.assertGreater(len(kernels), 20)
                    for kernel in kernels:
                        self.assertEqual(kernel["frame"], 0, kernel)
                        self.assertLessEqual(kernel["registers"] * kernel["threads"], 65536, kernel)
                        self.assertLessEqual(kernel["shared"], 48 << 10, kernel)
                        most = max(most, kernel["registers"])
        print(f"at most {most} registers, no spills", flush=True)

    def test_the_same_bytes(self):
        """An artifact depends on its inputs alone, whether kernels were compiled or found."""
        self.compiled("mnist-mlp", "cuda:sm_90")
        first = (self.folder / "a.weirx").read_bytes()
        self.compiled("mnist-mlp", "cuda:sm_90")
        self.assertEqual(first, (self.folder / "a.weirx").read_bytes())


if __name__ == "__main__":
    weirtest.main()
