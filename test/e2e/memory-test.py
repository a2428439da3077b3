"""Steps in less memory: they fit, compute the same, and what is promised of others holds."""

import json
import os
import pathlib
import re
import time
import unittest

import weirtest
from weirtest import MODELS, SMALL_GPT, small

# What is computed again is seen in other shapes, one behind the other.
SHAPES = """
config vocab = 65, context = 8, layers = 60, width = 8, batch = 4

block mlp(x: [b, t, width]) -> [b, t, width] {
  y = linear(merge_dims(split_dim(gelu_tanh(x), 2, [2, 4]), 1, 2), 4) as c
  return merge_dims(split_dim(y, 1, [t, 2]), 2, 2)
}
model chain(tokens: i32[b, t]) -> [b, t, vocab] {
  param table: [vocab, width] = normal(std = 0.02)
  x = table[tokens]
  for i in 0..layers {
    x = x + mlp(layer_norm(x) as h[i].ln) as h[i].mlp
  }
  return x @ transpose(table)
}
train {
  input  window: i32[batch, context + 1]
  steps  4
  loss   cross_entropy(chain(window[:, :-1]), window[:, 1:])
  update adamw(1e-3)
}
"""

MODELS_OF_ALL_KINDS = ["gpt-char", "resnet", "moe"]


class Memory(weirtest.Test):
    def run_of(self, path, *data, steps=4):
        self.weir("run", path, *data, "--steps", steps, "--seed", 1, "--metrics", self.folder / "m.jsonl")
        return self.losses("m.jsonl")

    def case(self, model):
        """A model's sizes and data."""
        sizes = SMALL_GPT if model == "gpt-char" else small(model)[0]
        return sizes, self.rows_of(model, sizes) if model == "resnet" else weirtest.data(window=self.text())

    @weirtest.each(MODELS_OF_ALL_KINDS)
    def test_what_is_computed_again_has_the_same_bits(self, model):
        sizes, data = self.case(model)
        compiling = ["compile", "--threads", 2, MODELS / f"{model}.weir", *sizes]
        whole, less = self.folder / "whole.weirx", self.folder / "less.weirx"
        self.weir(*compiling, "-o", whole)
        persistent, arena = self.taken(whole)
        losses = self.run_of(whole, *data)
        repeats = 0
        for share in [1.0, 0.9, 0.75, 0.6]:
            with self.subTest(share=share):
                budget = int(persistent + share * (arena - persistent))
                done = self.run_tool("weir", *compiling, "--memory", budget, "-o", less, status=None)
                if done.returncode:  # there is a limit, which is said
                    self.assertEqual(done.returncode, 3)
                    self.assertIn("does not fit in", done.stderr)
                    continue
                if share == 1:
                    self.assertEqual(less.read_bytes(), whole.read_bytes())
                repeats += "recomputes" in done.stderr
                self.assertLessEqual(self.taken(less)[1], budget)
                self.assertEqual(self.run_of(less, *data), losses)
        self.assertGreater(repeats, 0, model)

    def test_what_is_seen_in_many_shapes(self):
        compiling = ["compile", "--threads", 2, self.write("chain.weir", SHAPES), "-o", self.folder / "a.weirx"]
        self.weir(*compiling)
        data = weirtest.data(window=self.text())
        losses, (persistent, arena) = self.run_of(self.folder / "a.weirx", *data), self.taken(self.folder / "a.weirx")
        done = self.weir(*compiling, "--memory", persistent + (arena - persistent) * 3 // 4)
        self.assertIn("recomputes", done.stderr)
        self.assertEqual(self.run_of(self.folder / "a.weirx", *data), losses)

    @weirtest.takes(30)
    @weirtest.depends_on_cpu_level
    def test_what_is_named_where_nothing_fits_does(self):
        kept = 0
        for model in MODELS_OF_ALL_KINDS:
            sizes, _ = self.case(model)
            compiling = ["compile", "--threads", 2, MODELS / f"{model}.weir", *sizes, "-o", self.folder / "a.weirx"]
            self.weir(*compiling)
            persistent, arena = self.taken(self.folder / "a.weirx")
            budget = persistent + (arena - persistent) // 3
            done = self.run_tool("weir", *compiling, "--memory", budget, status=None)
            if done.returncode == 0:
                budget = persistent + (arena - persistent) // 8
                done = self.fails(3, "does not fit in", "weir", *compiling, "--memory", budget)
            self.assertRegex(done.stderr, rf"{model}\.weir:\d+:\d+: note: (parameters take|(optimizer|model) state takes|this takes) [\d.]+ [kM]B")
            for enough in re.findall(r"--memory (\d+) is enough", done.stderr):
                self.weir(*compiling, "--memory", enough)
                self.assertLessEqual(self.taken(self.folder / "a.weirx")[1], int(enough))
                kept += 1
            for options in re.findall(r"help: (--.*) fits", done.stderr):
                threads = int((re.findall(r"--threads (\d+)", options) or [2])[0])
                others = [] if threads != 2 else options.split()
                self.weir(compiling[0], "--threads", threads, *compiling[3:], *others, "--memory", budget)
                self.assertLessEqual(self.taken(self.folder / "a.weirx", threads)[1], budget)
                kept += 1
        self.assertGreater(kept, 2)

    def test_a_step_is_cut_into_microbatches(self):
        """As many as are asked for, or as a budget wants; the loss is that of the whole batch."""
        data = weirtest.data(window=self.text())
        compiling = ["compile", "--threads", 2, MODELS / "gpt-char.weir", *SMALL_GPT]
        paths = [self.folder / name for name in ["whole.weirx", "cut.weirx", "auto.weirx"]]
        self.weir(*compiling, "-o", paths[0])
        self.weir(*compiling, "--microbatches", 4, "-o", paths[1])
        persistent, arena = self.taken(paths[0])
        self.assertLess(self.taken(paths[1])[1], arena)
        budget = persistent + (arena - persistent) // 2
        self.weir(*compiling, "--microbatches", "auto", "--memory", budget, "-o", paths[2])
        self.assertLessEqual(self.taken(paths[2])[1], budget)
        whole, *others = [self.run_of(path, *data) for path in paths]
        for losses in others:
            for a, b in zip(losses, whole, strict=True):
                self.assertLessEqual(abs(a - b), 1e-5 * abs(b))
        self.fails(3, r"split into 3 microbatches: it has 8 rows: expected a divisor of 8", "weir", *compiling, "--microbatches", 3)
        self.fails(2, "needs a memory budget: add --memory SIZE", "weir", *compiling, "--microbatches", "auto")
        for size in ["much", "0x10", "0x1p30", "inf", "nan", "-1GiB", "0", "1e30", "6 XiB"]:
            message = re.escape(f"expected a size such as 6GiB, 500MB or 2000000000, or `here` for this machine's memory, but found {size}")
            self.fails(2, message, "weir", *compiling, "--memory", size)
        self.weir(*compiling, "--memory", "1.5e9", "-o", paths[2])

    def test_rows_are_cut_into_any_equal_parts(self):
        path = self.folder / "a.weirx"
        compiling = ["compile", "--threads", 2, MODELS / "gpt-char.weir", *SMALL_GPT[:-2], "--set", "batch=9", "-o", path]
        sizes = []
        for options in [[], ["--microbatches", 3], ["--microbatches", 9]]:
            self.weir(*compiling, *options)
            sizes.append(self.taken(path)[1])
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.weir(*compiling, "--microbatches", "auto", "--memory", sizes[2])
        self.assertLessEqual(self.taken(path)[1], sizes[2])
        done = self.fails(3, "help: --microbatches [39] fits", "weir", *compiling, "--memory", sizes[2])
        self.assertNotIn("--offload-dir", done.stderr.split("--microbatches")[1].splitlines()[0])

    def test_what_is_there_throughout_is_told_apart(self):
        """Each way named fits: fewer threads, parameters in bf16."""
        path = self.folder / "a.weirx"
        compiling = ["compile", MODELS / "gpt-char.weir", *SMALL_GPT, "-o", path]
        self.weir(*compiling)
        _, taken = self.taken(path, threads=2)
        many, _ = self.taken(path, threads=4000)
        self.assertLess(taken, many)
        parts = r"does not fit in [\d.]+ [kM]B: parameters [\d.]+ kB, optimizer state [\d.]+ kB"
        done = self.fails(3, parts + r".*, scratch of 4000 threads [\d.]+ MB and prefetched batches [\d.]+ kB alone need [\d.]+ MB", "weir", *compiling,
                          "--threads", 4000, "--memory", taken)  # fmt: skip
        threads = re.search(r"help: --threads (\d+) fits: [\d.]+ [kM]B, an estimated 0\.0 % more time, on \1 of 4000 threads", done.stderr)
        self.assertTrue(threads, done.stderr)
        self.assertGreaterEqual(int(threads[1]), 2)
        self.weir(*compiling, "--threads", threads[1], "--memory", taken)
        self.assertLessEqual(self.taken(path, int(threads[1]))[1], taken)
        # Of variables, the lines that have most are named.
        compiling = ["compile", MODELS / "gpt-char.weir", *SMALL_GPT[:2], "--set", "width=128", "--set", "context=16", "--set", "batch=2",
                     "-o", path]  # fmt: skip
        self.weir(*compiling)
        less = self.taken(path)[0] * 97 // 100
        done = self.fails(3, r"gpt-char\.weir:\d+:\d+: note: parameters take [\d.]+ kB here", "weir", *compiling, "--threads", 2, "--memory", less)
        self.assertRegex(done.stderr, r"note: optimizer state takes [\d.]+ [kM]B here")
        self.assertRegex(done.stderr, r"help: --param-dtype bf16 fits: [\d.]+ [kM]B, an estimated [\d.]+ % (more|less) time\n")
        self.weir(*compiling, "--threads", 2, "--memory", less, "--param-dtype", "bf16")
        self.assertLessEqual(self.taken(path)[1], less)

    def peak_of(self, *arguments):
        """The most that a run has in memory, in bytes."""
        process = weirtest.start("weir-run", *arguments)
        _, status, usage = os.wait4(process.pid, 0)
        process.communicate()
        self.assertEqual(status, 0)
        return usage.ru_maxrss * 1024

    @weirtest.takes(30)
    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer takes memory of its own")
    @weirtest.depends_on_cpu_level
    def test_a_run_takes_what_is_stated(self):
        """2 % and 32 MiB, above a run of next to nothing."""
        idle = self.folder / "idle.weirx"
        self.weir("compile", MODELS / "mnist-mlp.weir", "--set", "hidden=8", "--set", "batch=2", "-o", idle)
        least = self.peak_of(idle, *self.digits(32), "--steps", 1, "--threads", 2)
        text = weirtest.data(window=self.text())
        larger = ["--set", "layers=3", "--set", "width=256", "--set", "context=128", "--set", "batch=16"]
        for name, options in [
            ("whole", []),
            ("fitted", ["--memory", "140MB", "--threads", 2]),
            ("offloaded", ["--offload", "parameters"]),
        ]:
            path = self.folder / f"{name}.weirx"
            self.weir("compile", MODELS / "gpt-char.weir", *larger, *options, "-o", path)
            stated = self.taken(path)[1]
            if "--memory" in options:
                self.assertLessEqual(stated, 140e6)
            place = ["--offload-dir", self.folder] if "--offload" in options else []
            for more in [[], ["--checkpoint", self.folder / f"kept-{name}"]]:
                taken = self.peak_of(path, *text, "--steps", 2, "--threads", 2, *place, *more) - least
                with self.subTest(name=name, more=more, taken=taken, stated=stated):
                    self.assertLessEqual(abs(taken - stated), stated * 0.02 + (32 << 20))

    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer takes memory of its own")
    def test_who_has_compiled_takes_what_is_reserved(self):
        """For `weir train --memory here`: 64 MiB for any process, 192 MiB more for the compiler that it was."""
        model = [MODELS / "gpt-char.weir", "--set", "layers=12", "--set", "width=64", "--set", "context=32", "--set", "batch=8"]
        path, metrics = self.folder / "a.weirx", self.folder / "m.jsonl"
        self.weir("compile", *model, "-o", path)
        process = weirtest.start("weir", "train", *model, *weirtest.data(window=self.text()), "--threads", 2, "--steps", 100000,
                                 "--memory", "here", "--metrics", metrics)  # fmt: skip
        try:
            for _ in range(6000):
                if metrics.exists() and len(metrics.read_text().splitlines()) > 2:
                    break
                time.sleep(0.01)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        finally:
            process.terminate()
            process.communicate()
        taken = int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024
        self.assertLessEqual(taken - self.taken(path)[1], 256 << 20)

    def test_what_is_computed_again_is_verified(self):
        compiling = [MODELS / "gpt-char.weir", *SMALL_GPT]
        self.weir("compile", *compiling, "-o", self.folder / "a.weirx")
        persistent, arena = self.taken(self.folder / "a.weirx", threads=len(os.sched_getaffinity(0)))
        done = self.weir("verify", *compiling, "--memory", persistent + (arena - persistent) * 3 // 4)
        self.assertIn("recomputes", done.stderr)
        self.assertRegex(done.stdout, r"verified: .* results with gradients\n")


if __name__ == "__main__":
    weirtest.main()
