"""NVIDIA's own compiler takes every kernel of every model, for each architecture, and spills no registers."""

import ctypes
import glob
import itertools
import json
import os
import pathlib
import sys
import unittest

import weirtest
from weirtest import MODELS, ROOT, SHIPPED

sys.path.insert(0, str(ROOT / "test" / "bench" / "gpu"))
import cases


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
ARCHITECTURES = ("cuda:sm_80", "cuda:sm_90", "cuda:sm_100")
# NVRTC needs seconds for a kernel: by default each precision and each architecture occurs.
PRECISIONS = {
    target: ("f32", "bf16") if weirtest.ALL else (precision,) for target, precision in zip(ARCHITECTURES, ("f32", "bf16", "bf16"))
}

ATTENTION = """
config batch = 2, width = 32
model m(ids: i32[b, s]) -> [b, s, width] {
  q = to_heads(embedding(ids, 5, width) as q, 1)
  k = to_heads(embedding(ids, 5, width) as k, 1)
  v = to_heads(embedding(ids, 5, width) as v, 1)
  return from_heads(attention(q, k, v, causal = true))
}
train {
  input ids: i32[batch, 128]
  steps 1
  y = m(ids)
  loss ratio(sum(y * y), batch)
  lr = 0.01
  update sgd(lr)
}
"""


PRODUCTS = """
config batch = 64
model m(images: f32[b, 3, 33, 33]) -> [b, 10] {
  x = relu(conv2d(images, 72, 3, padding = 1) as wide)
  x = relu(conv2d(x, 136, 3, stride = 2) as strided)
  x = relu(conv2d(x, 72, 1) as pixels)
  x = flatten(x)
  return linear(relu(linear(x, 1000) as hidden), 10) as head
}
train {
  input images: f32[batch, 3, 33, 33]
  input y: i32[batch]
  steps 1
  loss cross_entropy(m(images), y)
  lr = 0.01
  update sgd(lr)
}
"""


@unittest.skipIf(FOLDER is None, "NVRTC is not installed here")
class Nvrtc(weirtest.Test):
    def compiled(self, name, target, *options, cache=weirtest.KERNELS / "nvrtc"):
        artifact = self.folder / "a.weirx"
        model = name if isinstance(name, pathlib.Path) else MODELS / f"{name}.weir"
        names = {"WEIR_KERNEL_CACHE": str(cache), "WEIR_CUDA_LIBRARIES": FOLDER}
        self.weir("compile", model, "--target", target, *options, "-o", artifact, env=names)
        return json.loads(self.weir("inspect", artifact, "--json").stdout)["kernels"]

    @weirtest.takes(30)
    @weirtest.each(SHIPPED)
    def test_every_kernel(self, name):
        """In f32 for the oldest architecture and the newest, in bf16 for the one between: attention and products are compiled for
        each below."""
        pairs = [("cuda:sm_80", "f32"), ("cuda:sm_90", "bf16"), ("cuda:sm_100", "f32")]
        for target, precision in pairs if weirtest.ALL else [pairs[SHIPPED.index(name) % 3]]:
            with self.subTest(target=target):
                kernels = self.compiled(name, target, "--precision", precision)
                self.assertGreater(len(kernels), 20)
                for kernel in kernels:
                    self.assertEqual(kernel["frame"], 0, kernel)
                    self.assertLessEqual(kernel["registers"] * kernel["threads"], 65536, kernel)
                    self.assertLessEqual(kernel["shared"], 81 << 10, kernel)

    @weirtest.takes(20)
    @weirtest.each(cases.TIMED)
    def test_sizes_that_are_timed(self, name):
        """One layer of each kind: kernels of the widths that test/bench/gpu has."""
        case, once = cases.TIMED[name], {"layers", "blocks1", "blocks2", "blocks3", "blocks4"}
        sizes = case.sizes | dict.fromkeys(once & set(case.sizes), 1)
        options = [word for size, value in sizes.items() for word in ("--set", f"{size}={value}")]
        kernels = self.compiled(ROOT / case.model, "cuda:sm_90", "--precision", case.precision, *options)
        self.assertGreater(len(kernels), 50)
        for kernel in kernels:
            self.assertEqual(kernel["frame"], 0, kernel)

    @weirtest.takes(40)
    @weirtest.each(ARCHITECTURES)
    def test_attention_at_every_width(self, target):
        """Its kernels keep as much in registers as there are; with many blocks, two groups of rows in a warp."""
        model = self.write("attention.weir", ATTENTION)
        sizes = [(32, 2), (64, 2), (64, 512), (128, 2), (128, 512), (256, 2)]
        if not weirtest.ALL:
            sizes = {"cuda:sm_80": sizes[::2], "cuda:sm_90": sizes[1::2], "cuda:sm_100": [(64, 512), (256, 2)]}[target]
        for precision, (width, rows) in itertools.product(PRECISIONS[target], sizes):
            with self.subTest(precision=precision, width=width, rows=rows):
                kernels = self.compiled(model, target, "--precision", precision,
                                        "--set", f"width={width}", "--set", f"batch={rows}")  # fmt: skip
                found = [kernel for kernel in kernels if kernel["shape"] == "attention"]
                names = [kernel["symbol"].split("_", 2)[2:] for kernel in found]
                for part in ([], ["queries"], ["keys"]):
                    self.assertIn(part, names)
                for kernel in found:
                    self.assertEqual(kernel["frame"], 0, kernel)
                    self.assertLessEqual(kernel["shared"], 81 << 10, kernel)

    @weirtest.takes(40)
    @weirtest.each(ARCHITECTURES)
    def test_products_at_every_tile(self, target):
        """Products and convolutions with few and many rows and columns, with what tensor cores multiply and without."""
        model = self.write("products.weir", PRODUCTS)
        for precision, rows in itertools.product(PRECISIONS[target], (4, 2048)):
            with self.subTest(precision=precision, rows=rows):
                kernels = self.compiled(model, f"{target}+none", "--precision", precision, "--set", f"batch={rows}")
                found = [kernel for kernel in kernels if kernel["shape"] in ("product", "call")]
                self.assertGreater(len(found), 12)
                for kernel in found:
                    self.assertEqual(kernel["frame"], 0, kernel)
                    self.assertLessEqual(kernel["registers"] * kernel["threads"], 65536, kernel)
                    self.assertLessEqual(kernel["shared"], 81 << 10, kernel)

    def test_the_same_bytes(self):
        """An artifact depends on its inputs alone, whether kernels were compiled or found."""
        self.compiled("mnist-mlp", "cuda:sm_90", cache=self.folder / "kernels")
        first = (self.folder / "a.weirx").read_bytes()
        self.compiled("mnist-mlp", "cuda:sm_90", cache=self.folder / "kernels")
        self.assertEqual(first, (self.folder / "a.weirx").read_bytes())


if __name__ == "__main__":
    weirtest.main()
