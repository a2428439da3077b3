"""Compiled kernels are kept for the next compile, of the same model or of another one."""

import os
import unittest

import weirtest


DROPPED = """
config layers = 2
model dropped(x: [b, 16]) -> [b, 3] {
  for i in 0 .. layers {
    x = dropout(tanh(linear(x, 16) as fc[i]), 0.1)
  }
  return linear(x, 3) as head
}
train {
  input  x: [8, 16]
  input  labels: i32[8]
  steps  2
  loss   cross_entropy(dropped(x), labels)
  update sgd(0.1)
}
"""


class KernelCache(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "kernels"

    def compiled(self, model, *args, cache=None, **more):
        """The artifact's bytes; `self.written` and `self.used` are the names of the entries that it made and took."""
        # What has been used has another time, however coarse the clock is.
        before = {}
        for file in self.cache.glob("*.o"):
            os.utime(file, (1e9, 1e9))
            before[file.name] = file.stat()
        self.said = self.weir("compile", model, *args, "-o", self.folder / "a.weirx",
                              env={"WEIR_KERNEL_CACHE": str(cache or self.cache)}, **more).stderr  # fmt: skip
        after = {file.name: file.stat() for file in self.cache.glob("*.o")}
        self.written = {name for name in after if name not in before or before[name].st_ino != after[name].st_ino}
        self.used = {name for name in after if name not in self.written and after[name].st_mtime != 1e9}
        return (self.folder / "a.weirx").read_bytes()

    def test_a_second_compile_takes_what_the_first_made(self):
        mlp = weirtest.MODELS / "mnist-mlp.weir"
        first = self.compiled(mlp)
        made = self.written
        self.assertGreater(len(made), 5)
        self.assertEqual(first, self.compiled(mlp))
        self.assertEqual((self.written, self.used), (set(), made))
        # Without a cache, and where the phases of the kernels' code are looked at, the bytes are the same.
        self.assertEqual(first, self.compiled(mlp, cache="/dev/null"))
        self.assertEqual((self.written, self.used), (set(), set()))
        self.assertEqual(first, self.compiled(mlp, "--dump-ir", self.folder / "ir"))
        self.assertEqual((self.written, self.used), (set(), set()))

    def test_another_size_compiles_what_depends_on_it(self):
        gpt = [weirtest.MODELS / "gpt-char.weir", *weirtest.SMALL_GPT[2:]]
        self.compiled(*gpt, "--set", "layers=2")
        made = self.written
        deeper = self.compiled(*gpt, "--set", "layers=3")
        self.assertLess(len(self.written), len(made) / 4)
        self.assertGreater(len(self.used), len(made) / 2)
        self.assertEqual(deeper, self.compiled(*gpt, "--set", "layers=3", cache="/dev/null"))

    def test_random_keys_are_part_of_a_kernel(self):
        """Layers that drop elements have one code and keys of their own; one layer more shifts nothing, and adds a key."""
        model = self.write("dropped.weir", DROPPED)
        before = None
        for layers in (1, 2, 3):
            cached = self.compiled(model, "--set", f"layers={layers}")
            self.assertEqual(cached, self.compiled(model, "--set", f"layers={layers}", cache="/dev/null"))
            self.assertNotEqual(cached, before)
            before = cached

    def test_levels_have_entries_of_their_own(self):
        mlp = weirtest.MODELS / "mnist-mlp.weir"
        self.compiled(mlp, "--target", "cpu:x86-64-v3")
        self.compiled(mlp, "--target", "cpu:x86-64-v4")
        self.assertGreater(len(self.written), 5)
        self.assertEqual(self.used, set())

    def test_damaged_entries_are_compiled_again(self):
        mlp = weirtest.MODELS / "mnist-mlp.weir"
        first = self.compiled(mlp)
        files = sorted(self.cache.glob("*.o"))
        files[0].write_bytes(b"")
        files[1].write_bytes(files[1].read_bytes()[:-1])
        files[2].write_bytes(files[3].read_bytes())
        files[4].chmod(0o666)
        self.assertEqual(first, self.compiled(mlp))
        self.assertEqual(self.written, {file.name for file in files[:3] + files[4:5]})
        self.assertEqual(first, self.compiled(mlp))
        self.assertEqual(self.written, set())

    def test_a_cache_that_cannot_be_written_is_none(self):
        mlp = weirtest.MODELS / "mnist-mlp.weir"
        first = self.compiled(mlp)
        self.assertEqual(self.said, "")
        (self.folder / "file").write_text("")
        for cache in (self.folder / "file", self.folder / "file" / "below", "/proc/kernels"):
            self.assertEqual(first, self.compiled(mlp, cache=cache))
            self.assertEqual(self.said, "")


if __name__ == "__main__":
    unittest.main()
