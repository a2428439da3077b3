"""What there is no room for lies with the host: fetched where it is used, with the same numbers."""

import json
import os
import re
import signal
import time
import unittest

import weirtest
from weirtest import MODELS, SMALL_GPT, small

LEVELS = ["optimizer", "parameters"]
# So wide that a product takes longer than its result's way to the host and back.
WIDE_GPT = ["--set", "layers=4", "--set", "width=128", "--set", "context=32", "--set", "batch=8"]


class Offload(weirtest.Test):
    def memory(self, path):
        """The bytes of `weir inspect`."""
        return json.loads(self.weir("inspect", "--json", path).stdout)["memory"]

    def losses_of(self, path, *more, tool="weir-run", name="m.jsonl"):
        self.run_tool(tool, *([] if tool == "weir-run" else ["run"]), path, *more, "--seed", 1,
                      "--metrics", self.folder / name)  # fmt: skip
        return self.losses(name)

    def compiled(self, name, *options, model="gpt-char", sizes=SMALL_GPT):
        path = self.folder / f"{name}.weirx"
        self.weir("compile", MODELS / f"{model}.weir", *sizes, *options, "-o", path)
        return path

    @weirtest.takes(25)
    @weirtest.each(["gpt-char", "gpt-char --precision bf16", "gpt-char --param-dtype bf16", "gpt-char --microbatches 4", "moe", "resnet"])
    def test_losses_are_the_same(self, case):
        model, *options = case.split()
        sizes = SMALL_GPT if model == "gpt-char" else small(model)[0]
        data = self.rows_of(model, sizes) if model == "resnet" else weirtest.data(window=self.text())
        whole = self.compiled("whole", *options, model=model, sizes=sizes)
        expected = self.losses_of(whole, *data, "--steps", 6)
        before = self.memory(whole)
        self.assertEqual(before["host"], 0)
        for level in LEVELS[1:] if options else LEVELS:
            with self.subTest(level=level):
                path = self.compiled(level, *options, "--offload", level, model=model, sizes=sizes)
                now = self.memory(path)
                self.assertLess(now["persistent"], before["persistent"])
                # A variable is on the device or with the host.
                self.assertEqual(now["persistent"] + now["host"], before["persistent"])
                for more in [["--threads", 1], ["--threads", 3, "--poison"], ["--offload-dir", self.folder]]:
                    self.assertEqual(self.losses_of(path, *data, "--steps", 6, *more), expected, more)
        self.assertFalse([name for name in os.listdir(self.folder) if not name.endswith(("weirx", "jsonl", "npy", "txt"))])

    @weirtest.takes(25)
    @weirtest.each(["0.6 activations", "0.42 activations --precision bf16", "0.8 activations --microbatches 4", "0.6 activations,parameters"])
    def test_activations_go_to_the_host_and_come_back(self, case):
        """What there is no room to keep until gradients read it, and what is dear to compute again."""
        share, offload, *options = case.split()
        if "bf16" in options:  # at a level that every machine runs: what is dear to compute again depends on it
            options += ["--target", "cpu:x86-64-v3"]
        data = weirtest.data(window=self.text())
        others = ["--offload", "parameters"] if "parameters" in offload else []
        whole = self.compiled("whole", *options, *others, sizes=WIDE_GPT)
        expected = self.losses_of(whole, *data, "--steps", 6)
        before, (fixed, taken) = self.memory(whole), self.taken(whole)
        budget = fixed + int(float(share) * (taken - fixed))
        path = self.compiled("a", *options, "--threads", 2, "--memory", budget, "--offload", offload, sizes=WIDE_GPT)
        now = self.memory(path)
        self.assertGreater(now["host"], before["host"])
        self.assertLessEqual(self.taken(path)[1], budget)
        facts = json.loads(self.weir("inspect", "--memory", "--json", path).stdout)
        away = sum(row["bytes"] * row["times"] for row in facts["away"])
        self.assertEqual(away, facts["totals"]["away"])
        self.assertGreaterEqual(away, now["host"] - before["host"])
        self.assertIn("Activations offloaded to the host", self.weir("inspect", "--memory", path).stdout)
        for more in [["--threads", 1], ["--threads", 2, "--poison"], ["--offload-dir", self.folder]]:
            self.assertEqual(self.losses_of(path, *data, "--steps", 6, *more), expected, more)
        if others:
            self.weir("run", path, *data, "--steps", 1, "--check-every-op")

    @weirtest.takes(40)
    @weirtest.each(["cpu", "cuda"])
    def test_activations_are_verified(self, target):
        model = [MODELS / "gpt-char.weir", "--set", "layers=1", "--set", "width=128", "--set", "context=16", "--set", "batch=8"]
        more = ["--target", target]
        path = self.folder / "a.weirx"
        self.weir("compile", *model, *more, "-o", path)
        threads = len(os.sched_getaffinity(0))
        fixed, taken = self.taken(path, threads)
        library = (32 << 20) - (taken - self.memory(path)["arena"]) if target == "cuda" else 0
        for share in range(95, 60, -3):
            options = [*more, "--memory", library + fixed + share * (taken - fixed) // 100, "--offload", "activations"]
            self.weir("compile", *model, *options, "--threads", threads, "-o", path)
            if self.memory(path)["host"]:
                break
        else:
            self.fail("nothing goes to the host")
        done = self.weir("verify", *model, *options, *(["--device", "emulated"] if target == "cuda" else []))
        self.assertRegex(done.stdout, r"verified: .* results with gradients\n")

    def test_activations_want_a_budget(self):
        compiling = ["compile", MODELS / "gpt-char.weir", *SMALL_GPT, "-o", self.folder / "a.weirx"]
        self.fails(2, "--offload activations offloads only what exceeds a memory budget: add --memory SIZE", "weir", *compiling, "--offload", "activations")
        self.fails(2, "give it alone", "weir", *compiling, "--memory", "1GiB", "--offload", "auto,optimizer")
        self.fails(2, "--offload activations offloads only what exceeds a memory budget: add --memory SIZE", "weir", "verify", MODELS / "gpt-char.weir", *SMALL_GPT, "--offload", "activations")
        self.fails(2, "--offload: auto cannot be combined with other values", "weir", *compiling, "--memory", "1GiB", "--offload", "auto,optimizer")
        self.fails(2, "--offload: activations is given twice: expected it once", "weir", *compiling, "--memory", "1GiB",
                   "--offload", "activations,activations")  # fmt: skip
        # An option takes one word, wherever it stands.
        self.weir("compile", "--offload", "activations,optimizer", "--memory", "1GiB", *compiling[1:])
        # What there is room for stays.
        self.weir(*compiling, "--memory", "1GiB", "--offload", "activations")
        self.assertEqual(self.memory(self.folder / "a.weirx")["host"], 0)

    def test_a_cpu_shares_its_memory_with_the_host(self):
        """So nothing is gained there, unless it is a file."""
        model = [MODELS / "gpt-char.weir", *SMALL_GPT]
        shared = "--memory here with --offload: offloaded tensors take this machine's memory too, unless they are in files: "
        data = [*weirtest.data(window=self.text()), "--steps", 1]
        for what in ["optimizer", "activations", "auto"]:
            options = ["--memory", "here", "--offload", what]
            self.fails(2, shared + "add --offload-dir DIR", "weir", "train", *model, *options, *data)
            self.fails(2, shared + "give a size, and run with --offload-dir DIR", "weir", "compile", *model, *options)
        done = self.weir("train", *model, "--memory", "here", "--offload", "optimizer", "--offload-dir", self.folder, *data)
        self.assertNotIn("this machine's memory", done.stderr)

    @unittest.skipUnless(os.path.isdir("/dev/shm") and os.statvfs("/dev/shm").f_bavail, "no tmpfs")
    def test_a_folder_in_memory_is_no_disk(self):
        path = self.compiled("a", "--offload", "optimizer")
        done = self.run_tool("weir-run", path, *weirtest.data(window=self.text()), "--steps", 1, "--offload-dir", "/dev/shm")
        self.assertIn("warning: --offload-dir /dev/shm: this directory is in memory (tmpfs), so offloaded tensors use as much "
                      "memory as without the option; give a directory on a disk", done.stderr)  # fmt: skip

    def test_what_is_larger_than_the_memory_trains(self):
        sizes = [*SMALL_GPT[:2], "--set", "width=128", "--set", "context=16", "--set", "batch=2"]
        data = weirtest.data(window=self.text())
        whole = self.compiled("whole", sizes=sizes)
        before = self.memory(whole)
        budget = before["persistent"] * 3 // 4
        compiling = ["compile", MODELS / "gpt-char.weir", *sizes, "--threads", 2, "--memory", budget, "-o", self.folder / "a.weirx"]
        done = self.fails(3, r"does not fit in .* alone need", "weir", *compiling)
        named = re.findall(r"help: (--offload [\w,]+) fits.*; run with --offload-dir DIR", done.stderr)
        self.assertTrue(named)
        for option in [*named, "--offload auto"]:
            self.weir(*compiling, *option.split())
            self.assertLessEqual(self.memory(self.folder / "a.weirx")["arena"], budget)
            self.assertEqual(
                self.losses_of(self.folder / "a.weirx", *data, "--steps", 20),
                self.losses_of(whole, *data, "--steps", 20),
            )
        self.fails(2, "--offload auto needs a memory budget: add --memory SIZE", "weir", *compiling[:-4], "--offload", "auto", *compiling[-2:])
        self.fails(2, "--offload", "weir", *compiling, "--offload", "everything")

    def test_killed_and_resumed(self):
        data = weirtest.data(window=self.text())
        path = self.compiled("a", "--offload", "parameters")
        kept = self.folder / "kept"
        place = self.folder / "offloaded"
        place.mkdir()
        common = [path, *data, "--seed", 1, "--steps", 60, "--offload-dir", place]
        self.run_tool("weir-run", *common, "--metrics", self.folder / "whole.jsonl")
        for number in [signal.SIGTERM, signal.SIGKILL]:
            with self.subTest(signal=number):
                folder = self.folder / number.name
                begun = weirtest.start(
                    "weir-run", *common, "--checkpoint", folder, "--checkpoint-every", 5, "--metrics", self.folder / "m.jsonl"
                )
                for _ in range(2000):
                    if list(folder.glob("step-*")):
                        break
                    time.sleep(0.005)
                begun.send_signal(number)
                begun.communicate()
                self.assertEqual(list(place.iterdir()), [])
                self.run_tool(
                    "weir-run", *common, "--checkpoint", folder, "--resume", "--metrics", self.folder / "rest.jsonl"
                )
                rest = self.losses("rest.jsonl")
                self.assertEqual(rest, self.losses("whole.jsonl")[-len(rest) :])
        self.assertFalse(kept.exists())

    def test_a_folder_that_cannot_be_used(self):
        data = weirtest.data(window=self.text())
        path = self.compiled("a", "--offload", "optimizer")
        self.fails(8, r"--offload-dir .*nowhere: cannot make a file there", "weir-run", path, *data, "--steps", 1,
                   "--offload-dir", self.folder / "nowhere")  # fmt: skip
        self.fails(8, r"--offload-dir .*a\.weirx: cannot make a file there", "weir-run", path, *data, "--steps", 1,
                   "--offload-dir", path)  # fmt: skip
        self.fails(2, r"nothing of this artifact lies with the host", "weir-run", self.compiled("b"), *data,
                   "--steps", 1, "--offload-dir", self.folder)  # fmt: skip

    def test_verified(self):
        sizes = ["--set", "layers=1", "--set", "width=16", "--set", "heads=2", "--set", "context=8", "--set", "batch=2"]
        for more in [[], ["--target", "cuda", "--device", "emulated"]]:
            done = self.weir("verify", MODELS / "gpt-char.weir", *sizes, "--offload", "parameters", *more)
            self.assertRegex(done.stdout, r"verified: .* results with gradients\n")

    def test_everything_else_is_as_it_was(self):
        """Weights, evaluation, generation and what is checked op by op."""
        data = weirtest.data(window=self.text())
        results = []
        for name, options in [("whole", []), ("off", ["--offload", "parameters"])]:
            path = self.compiled(name, *options)
            kept = self.folder / f"kept-{name}"
            self.weir("run", path, *data, "--steps", 4, "--seed", 1, "--checkpoint", kept, "--holdout", 0.2)
            newest = sorted(kept.glob("step-*"))[-1]
            text = self.weir("generate", path, "--checkpoint", kept, "--prompt", "to be", "--length", 20, "--seed", 1)
            results.append([(newest / "model.safetensors").read_bytes(), (newest / "state.safetensors").read_bytes(),
                            text.stdout, self.weir("eval", path, "--checkpoint", kept, *data).stdout])  # fmt: skip
        self.assertEqual(*results)
        self.weir("run", self.folder / "off.weirx", *data, "--steps", 2, "--check-every-op")


if __name__ == "__main__":
    weirtest.main()
