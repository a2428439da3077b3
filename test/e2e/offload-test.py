"""What there is no room for lies with the host: fetched where it is used, with the same numbers."""

import os
import re
import signal
import time

import weirtest
from weirtest import MODELS, SMALL_GPT, small

LEVELS = ["optimizer", "parameters"]


class Offload(weirtest.Test):
    def memory(self, path):
        """The bytes of `weir inspect`."""
        import json

        return json.loads(self.weir("inspect", "--json", path).stdout)["memory"]

    def losses_of(self, path, *more, tool="weir-run", name="m.jsonl"):
        self.run_tool(tool, *([] if tool == "weir-run" else ["run"]), path, *more, "--seed", 1,
                      "--metrics", self.folder / name)  # fmt: skip
        return self.losses(name)

    def compiled(self, name, *options, model="gpt-char", sizes=SMALL_GPT):
        path = self.folder / f"{name}.weirx"
        self.weir("compile", MODELS / f"{model}.weir", *sizes, *options, "-o", path)
        return path

    def test_losses_are_the_same(self):
        for model, options in [
            ("gpt-char", []),
            ("gpt-char", ["--precision", "bf16"]),
            ("gpt-char", ["--master", "bf16"]),
            ("gpt-char", ["--microbatches", "4"]),
            ("moe", []),
            ("resnet", []),
        ]:
            sizes = SMALL_GPT if model == "gpt-char" else small(model)[0]
            data = self.rows_of(model, sizes) if model == "resnet" else weirtest.data(window=self.text())
            whole = self.compiled("whole", *options, model=model, sizes=sizes)
            expected = self.losses_of(whole, *data, "--steps", 6)
            before = self.memory(whole)
            self.assertEqual(before["host"], 0)
            for level in LEVELS:
                with self.subTest(model=model, options=options, level=level):
                    path = self.compiled(level, *options, "--offload", level, model=model, sizes=sizes)
                    now = self.memory(path)
                    self.assertLess(now["persistent"], before["persistent"])
                    # A variable is on the device or with the host.
                    self.assertEqual(now["persistent"] + now["host"], before["persistent"])
                    for more in [["--threads", 1], ["--threads", 3, "--poison"], ["--offload-dir", self.folder]]:
                        self.assertEqual(self.losses_of(path, *data, "--steps", 6, *more), expected, more)
        self.assertFalse([name for name in os.listdir(self.folder) if not name.endswith(("weirx", "jsonl", "npy", "txt"))])

    def test_what_is_larger_than_the_memory_trains(self):
        sizes = [*SMALL_GPT[:2], "--set", "width=128", "--set", "context=16", "--set", "batch=2"]
        data = weirtest.data(window=self.text())
        whole = self.compiled("whole", sizes=sizes)
        before = self.memory(whole)
        budget = before["persistent"] * 3 // 4
        compiling = ["compile", MODELS / "gpt-char.weir", *sizes, "--threads", 2, "--memory", budget, "-o", self.folder / "a.weirx"]
        done = self.fails(3, "alone take", "weir", *compiling)
        named = re.findall(r"help: (--offload \w+) fits", done.stderr)
        self.assertTrue(named)
        for option in [*named, "--offload auto"]:
            self.weir(*compiling, *option.split())
            self.assertLessEqual(self.memory(self.folder / "a.weirx")["arena"], budget)
            self.assertEqual(
                self.losses_of(self.folder / "a.weirx", *data, "--steps", 20),
                self.losses_of(whole, *data, "--steps", 20),
            )
        self.fails(2, "--offload auto needs a --memory", "weir", *compiling[:-4], "--offload", "auto", *compiling[-2:])
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
                    "weir-run", *common, "--checkpoint", folder, "--every", 5, "--metrics", self.folder / "m.jsonl"
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
        for more in [[], ["--target", "cuda", "--device", "emulated"]]:
            done = self.weir("verify", MODELS / "gpt-char.weir", *SMALL_GPT, "--offload", "parameters", *more)
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
