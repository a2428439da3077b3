"""Runs of programs for GPUs on the emulated one give what they give on a CPU, in any order of its streams."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import emulated
import weirtest
from emulated import CHECKED, EMULATED, GPT, LIBRARIES, PLAIN
from weirtest import MODELS, SHIPPED, SMALL_GPT, small

# Kernels of every shape that has something to choose but attention.
LINE = """
config batch = 12

model line(x: u8[b, 40]) -> [b, 8] {
  return linear(relu(linear(f32(x) / 255.0, 24) as first), 8) as last
}
train {
  input  x: u8[batch, 40]
  steps  2
  y = line(x)
  loss   ratio(sum(y * y), batch)
  update sgd(0.01)
}
"""


class CudaRuns(emulated.Test):
    @weirtest.takes(20)
    @weirtest.each(SHIPPED)
    def test_losses_and_gradients_are_the_cpus(self, name):
        """Two steps in several orders of the streams, with every check: the kernels in f32 are those that cuda-test compiles. The
        second step's gradients are of parameters that Adam has made of almost nothing in places."""
        sizes = small(name)[0]
        precisions = [("f32", 1e-5, 1e-4)]
        if name in weirtest.half(SHIPPED, other=True):
            precisions.append(("bf16", 1e-2, 5e-2))
        for precision, loss, gradient in precisions:
            with self.subTest(precision=precision):
                options = [*sizes, *self.rows_of(name, sizes), "--steps", 2, "--seed", 1, "--precision", precision]
                expected = self.trained("cpu", MODELS / f"{name}.weir", *options)
                for seed in range(4 if weirtest.ALL else 2):
                    run = lambda *args: self.emulated(*args, seed=seed)
                    self.assert_close(self.trained("gpu", MODELS / f"{name}.weir", *options, run=run), expected, loss, gradient)

    @weirtest.takes(30)
    def test_a_hundred_steps_under_twenty_orders(self):
        options = [*SMALL_GPT, *weirtest.data(window=self.text()), "--seed", 1]
        long = [*options, "--steps", 100]
        run = lambda *args: self.emulated(*args, env=PLAIN, seed=7)
        self.assert_close(
            self.trained("long", GPT, *long, run=run), self.trained("cpu", GPT, *long), loss=1e-4, gradient=1e-2
        )
        expected = self.trained("short", GPT, *options, "--steps", 2)
        for seed in range(20):
            run = lambda *args: self.emulated(*args, env=PLAIN, seed=seed)
            self.assert_close(self.trained("seed", GPT, *options, "--steps", 2, run=run), expected, 1e-5, 1e-5)

    def test_a_graph_changes_no_bit(self):
        options = [GPT, *SMALL_GPT, *weirtest.data(window=self.text()), "--steps", 3, "--precision", "bf16"]
        for name, more in (("graph", []), ("launches", ["--no-graph"])):
            self.emulated("train", *options, "--checkpoint", self.folder / name, *more, env=PLAIN)
        self.assertEqual(self.weights(self.folder / "graph"), self.weights(self.folder / "launches"))

    def test_a_run_goes_on_elsewhere(self):
        """A checkpoint moves between CPU and GPU, in both directions."""
        data = weirtest.data(window=self.text())
        begin = [GPT, *SMALL_GPT, *data, "--seed", 2, "--steps", 9, "--checkpoint-every", 3]
        whole, metrics = self.folder / "whole", self.folder / "metrics.jsonl"
        self.weir("train", *begin, "--checkpoint", whole, "--keep-checkpoints", 9, "--metrics", metrics)
        expected = self.losses()
        for name, run in (("gpu", lambda *args: self.emulated(*args, env=PLAIN)), ("cpu", self.weir)):
            with self.subTest(then=name):
                moved = self.folder / name
                shutil.copytree(whole, moved)
                for folder in self.checkpoints(moved)[1:]:
                    shutil.rmtree(folder)
                if name == "cpu":  # back: three steps on the GPU, the rest here
                    shutil.rmtree(moved)
                    self.emulated("train", *begin[:-4], "--steps", 9, "--checkpoint-every", 3, "--checkpoint", moved, "--keep-checkpoints", 9, env=PLAIN)
                    for folder in self.checkpoints(moved)[1:]:
                        shutil.rmtree(folder)
                run("train", *begin, "--checkpoint", moved, "--resume", "--metrics", metrics)
                for a, b in zip(self.losses(), expected[-len(self.losses()):], strict=True):
                    self.assertLessEqual(abs(a - b), 1e-5 * b)

    def test_commands_of_a_trained_model(self):
        folder, text = self.folder / "run", self.text()
        self.weir("train", GPT, *SMALL_GPT, *weirtest.data(window=text), "--steps", 20, "--checkpoint", folder)
        self.weir("compile", GPT, *SMALL_GPT, "-o", self.folder / "cpu.weirx")
        self.weir("compile", GPT, *SMALL_GPT, "--target", "cuda", "-o", self.folder / "gpu.weirx")
        names = dict(PLAIN, WEIR_KERNEL_CACHE=self.cache)
        for command in (["eval", *weirtest.data(window=text)], ["generate", "--length", 40, "--temperature", 0]):
            with self.subTest(command=command[0]):
                on = lambda artifact, *more, **env: self.weir(
                    command[0], self.folder / artifact, "--checkpoint", folder, *command[1:], *more, **env
                ).stdout
                self.assertEqual(on("cpu.weirx"), on("gpu.weirx", "--device", "emulated", env=names))

    def test_the_second_load_compiles_nothing(self):
        options = [MODELS / "mnist-mlp.weir", *small("mnist-mlp")[0], *self.digits(), "--steps", 1, *EMULATED, "cuda"]
        log = self.folder / "compiler.log"
        compiler = self.write("c++", f'#!/bin/sh\necho "$@" >>{log}\nexec c++ "$@"\n')
        compiler.chmod(0o755)
        names = dict(PLAIN, WEIR_KERNEL_CACHE=str(self.folder / "kernels"), WEIR_EMULATED_CXX=str(compiler))

        def compiled():
            log.write_text("")
            self.weir("train", *options, env=names)
            return sum("-shared" in line for line in log.read_text().splitlines())

        kernels = compiled()
        self.assertGreater(kernels, 20)
        self.assertEqual(compiled(), 0)
        # What is damaged is compiled again.
        for file in (self.folder / "kernels").iterdir():
            file.write_bytes(file.read_bytes()[:-7] + b"damaged")
        self.assertEqual(compiled(), kernels)
        # So is what has another kernel's content, an empty file, and a FIFO.
        files = sorted((self.folder / "kernels").iterdir())
        shutil.copy(files[0], files[1])
        files[2].write_bytes(b"")
        files[3].unlink()
        os.mkfifo(files[3])
        self.assertEqual(compiled(), 3)
        self.assertEqual(compiled(), 1)  # the FIFO is left alone
        self.assertEqual({file.stat().st_mode & 0o777 for file in files if file.is_file()}, {0o600})

    def test_kernels_of_others_are_not_taken(self):
        """Entries of the cache are machine code: what another user owns, may write or leads to by a link is compiled again."""
        rows, cache = self.rows_of_line(), self.folder / "kernels"
        model = self.write("line.weir", LINE)

        def written(**more):
            """The names of the entries that a run has written anew, and what it says."""
            before = {file.name: file.lstat().st_ino for file in cache.glob("*")}
            done = self.weir("train", model, *EMULATED, "cuda", "--steps", 1, *rows, env=dict(PLAIN, WEIR_KERNEL_CACHE=str(cache)), **more)
            return {file.name for file in cache.glob("*") if before.get(file.name) != file.lstat().st_ino}, done.stderr

        self.assertGreater(len(written()[0]), 3)
        self.assertEqual(cache.stat().st_mode & 0o777, 0o700)
        self.assertEqual(written()[0], set())
        first, second, *_ = sorted(cache.iterdir())
        first.chmod(0o666)
        self.assertEqual(written()[0], {first.name})
        # A link to good code is no good code; it is left as it is.
        elsewhere = self.folder / "elsewhere.cubin"
        second.rename(elsewhere)
        second.symlink_to(elsewhere)
        self.assertEqual(written()[0], set())
        self.assertTrue(second.is_symlink())
        second.unlink()
        # The user's own folder is closed to others.
        cache.chmod(0o777)
        self.assertEqual(written()[0], {second.name})
        self.assertEqual(cache.stat().st_mode & 0o777, 0o755)
        if os.geteuid() == 0:
            os.chown(first, 65534, 65534)
            self.assertEqual(written()[0], {first.name})
            os.chown(cache, 65534, 65534)
            names, said = written()
            self.assertEqual(names, set())
            self.assertRegex(said, r"warning: the cache of kernels, \S+kernels, is not used: it belongs to another user \(uid 65534\)")

    def rows_of_line(self):
        return weirtest.data(x=weirtest.npy(self.folder / "x.npy", "B", [24, 40], [i * 7 % 256 for i in range(24 * 40)]))

    def test_an_edited_model_compiles_what_changed(self):
        """Kernels are named by what they compute: those behind the edited line are found, whatever their numbers are now."""
        kernels = self.folder / "kernels"
        rows = self.rows_of_line()

        def compiled(text):
            before = len(list(kernels.glob("*")))
            model = self.write("line.weir", text)
            self.weir("train", model, *EMULATED, "cuda", "--steps", 1, *rows,
                      env=dict(PLAIN, WEIR_KERNEL_CACHE=str(kernels)))  # fmt: skip
            return len(list(kernels.glob("*"))) - before

        whole = compiled(LINE)
        self.assertGreater(whole, 10)
        one_more = LINE.replace("f32(x) / 255.0", "relu(linear(f32(x) / 255.0, 40) as zeroth)")
        self.assertLess(compiled(one_more), whole / 2)

    def test_damaged_code(self):
        """Names of functions and symbols behind a hash that is right."""
        artifact, bad = self.folder / "a.weirx", self.folder / "bad.weirx"
        self.weir("compile", self.write("line.weir", LINE), "--target", "cuda", "-o", artifact)
        rows = self.rows_of_line()
        whole = artifact.read_bytes()
        name = re.search(rb"\x0c\0\0\0(map_[0-9a-f]{8})\0", whole)
        symbols = list(re.finditer(rb"\x08\0\0\0(kernel_\d)\0", whole))
        first, second = symbols[0], next(found for found in symbols if found[1] != symbols[0][1])  # the code is before the plan
        changes = (
            (name.span(1), b"map_nowhere_", r"has no function 'map_nowhere_'"),
            (name.span(1), b"map nowhere_", "has a function whose name is not an identifier"),
            (first.span(1), second[1], rf"has two kernels '{second[1].decode()}'"),
            (first.span(1), b"kernel_x", rf"has no kernel '{first[1].decode()}'"),
        )
        for (begin, end), text, message in changes:
            with self.subTest(message=message):
                bad.write_bytes(whole[:begin] + text + whole[end:])
                subprocess.run([os.environ["WEIR_REHASH"], bad, bad], check=True)
                message = rf"the artifact's code for GPUs {message}: compile the model again"
                env = dict(PLAIN, WEIR_KERNEL_CACHE=self.cache)
                self.fails(3, message, "weir", "run", bad, *rows, "--steps", 1, "--device", "emulated", env=env)

    def test_damaged_text(self):
        """A kernel's text that is no CUDA C++ behind a hash that is right is the artifact's fault, not Weir's."""
        artifact, bad = self.folder / "a.weirx", self.folder / "bad.weirx"
        self.weir("compile", self.write("line.weir", LINE), "--target", "cuda", "-o", artifact)
        whole = artifact.read_bytes()
        at = whole.index(b"__global__")
        bad.write_bytes(whole[:at] + b"__globule_" + whole[at + 10 :])
        subprocess.run([os.environ["WEIR_REHASH"], bad, bad], check=True)
        self.fails(3, r"NVRTC does not compile a kernel \(.*\): the artifact is damaged.*compile the model again.*__globule_", "weir", "run", bad,
                   *self.rows_of_line(), "--steps", 1, "--device", "emulated", env=dict(PLAIN, WEIR_KERNEL_CACHE=self.cache))  # fmt: skip

    def test_schedules_are_tuned(self):
        """What is measured changes schedules, and no numbers but by rounding; the same file gives the same artifact."""
        model = self.write("line.weir", LINE)
        target = ["--target", "cuda:sm_90+none"]
        names = dict(PLAIN, WEIR_KERNEL_CACHE=self.cache)
        rows = self.rows_of_line()
        usual, tuned, again = (self.folder / name for name in ["usual.weirx", "tuned.weirx", "again.weirx"])
        file = self.folder / "tuning.json"
        self.weir("compile", model, *target, "-o", usual)
        done = self.weir("tune", usual, "--device", "emulated", "-o", file, env=names)
        self.assertRegex(done.stderr, r"\d+ of \d+ kernels have other schedules")
        measured = json.loads(file.read_text())
        self.assertEqual(measured["target"], "cuda:sm_90")
        for kernel in measured["kernels"].values():
            self.assertLessEqual(kernel["after_ns"], kernel["before_ns"])

        # A clock decides nothing here: all that have threads of a block to choose get others.
        digests = {k: v for k, v in measured["kernels"].items() if v["what"].startswith("map")}
        self.assertTrue(digests, file.read_text())
        for kernel in digests.values():
            kernel["settings"] = {"threads": 512}
        file.write_text(json.dumps(dict(measured, kernels=digests)))
        for path in [tuned, again]:
            self.weir("compile", model, *target, "--tuning", file, "-o", path)
        self.assertEqual(tuned.read_bytes(), again.read_bytes())
        self.assertNotEqual(tuned.read_bytes(), usual.read_bytes())
        runs = []
        for path in [usual, tuned]:
            self.weir("run", path, "--device", "emulated", *rows, "--metrics", self.folder / "m.jsonl", env=names)
            runs.append(self.losses("m.jsonl"))
        for a, b in zip(*runs, strict=True):
            self.assertLessEqual(abs(a - b), 1e-5 * max(1, abs(a)))

        # What does not fit is refused: another target, settings of another Weir, other files.
        compiling = ["compile", model, "-o", again, "--tuning", file]
        self.fails(2, "was measured for cuda:sm_90, but the target is cuda:sm_80", "weir", *compiling, "--target", "cuda:sm_80")
        self.fails(2, "was measured for cuda:sm_90, but the target is x86-64", "weir", *compiling)
        for settings, message in [({"threads": 63}, r"threads = 63 for this kernel, which may be 64, 128, 256"),
                                  ({"treads": 64}, r"treads = 64 for this kernel, whose schedule has no such number")]:
            next(iter(digests.values()))["settings"] = settings
            file.write_text(json.dumps(dict(measured, kernels=digests)))
            self.fails(2, r"line\.weir:\d+:\d+: error: the tuning file has " + message, "weir", *compiling, *target)
        for text, message in [("{", "is no JSON"), ("[" * 200000, "too many brackets"), ("{}", "is no file of weir tune"),
                              ('{"weir_tuning": 2}', "is of version 2"),
                              ('{"weir_tuning": 1, "target": "cuda", "kernels": {"x": {}}}', "that weir tune has not written")]:
            file.write_text(text)
            self.fails(2, message, "weir", *compiling, *target)
        self.fails(2, "No such file", "weir", "compile", model, *target, "--tuning", self.folder / "none")
        self.weir("compile", model, "-o", again)
        self.fails(2, "which has nothing to tune", "weir", "tune", again, "-o", file)

    @weirtest.takes(60)
    @weirtest.each(("gpt_calls", "gpt_generated", "cnn"))
    def test_kernels_touch_little_more_than_they_must(self, case):
        """In distinct sectors of 32 bytes, beside each input read once and each output written once. Attention's gradient reads
        its inputs twice: a launch goes over queries, another over keys. Partial sums of products and convolutions are no tensors,
        and are written and read once more."""
        gpt, cnn = [GPT, "--set", "layers=1"], [MODELS / "mnist-cnn.weir", "--set", "batch=16"]
        if case == "cnn":
            self.check_sectors(cnn, self.digits(), "cuda", attentions=0, products=5)
        else:
            target, products = ("cuda", 0) if case == "gpt_calls" else ("cuda+none", 15)
            self.check_sectors(gpt, weirtest.data(window=self.text()), target, attentions=1, products=products)

    def check_sectors(self, model, data, target, attentions, products):
        """The numbers: how many kernels go over their inputs twice, and how many of products and convolutions ran."""
        artifact, report = self.folder / "a.weirx", self.folder / "sectors.txt"
        report.unlink(missing_ok=True)
        self.weir("compile", *model, "--target", target, "-o", artifact)
        self.weir("run", artifact, *data, "--steps", 1, "--device", "emulated",
                  env=dict(CHECKED, WEIR_KERNEL_CACHE=self.cache, WEIR_EMULATED_REPORT=str(report)))  # fmt: skip
        kernel_of = lambda function: "_".join(function.split("_")[:2])
        least, touched, seen, twice, multiplied = {}, {}, set(), set(), set()
        kernels = json.loads(self.weir("inspect", artifact, "--json").stdout)["kernels"]
        for function, kernel in {kernel["function"]: kernel for kernel in kernels}.items():
            name = kernel_of(function)
            least[name] = least.get(name, 0) + kernel["bytes"]
            if kernel["shape"] in ("product", "call"):
                multiplied.add(name)
        for line in report.read_text().splitlines():
            if line.startswith("graph of "):
                continue
            function, read, written = line.split()
            if function not in seen:
                seen.add(function)
                name = kernel_of(function)
                if function.endswith("_queries"):
                    twice.add(name)
                partial = int(read) if function.endswith("_sum") else 0
                touched[name] = touched.get(name, 0) + 32 * (int(read) + int(written) - 2 * partial)
        once = touched.keys() - twice
        self.assertLessEqual(sum(touched[name] for name in once), 1.05 * sum(least[name] for name in once))
        for name in touched:
            if least[name] > 64 << 10:
                self.assertLessEqual(touched[name] / least[name], 1.75 if name in twice else 1.25, name)
        self.assertEqual(len(twice), attentions)
        self.assertEqual(len(multiplied & touched.keys()), products)

    def test_a_step_is_one_launch_of_a_graph(self):
        model, data = pathlib.Path(__file__).parent / "Inputs" / "accumulate.weir", self.folder / "window.npy"
        weirtest.npy(data, "i", (16, 10), [1 + i % 7 for i in range(160)])
        for microbatches in (1, 4):
            with self.subTest(microbatches=microbatches):
                artifact, report = self.folder / "a.weirx", self.folder / f"report{microbatches}.txt"
                sizes = ["--set", f"batch={16 // microbatches}", "--set", f"microbatches={microbatches}"]
                self.weir("compile", model, *sizes, "--target", "cuda", "-o", artifact)
                env = dict(PLAIN, WEIR_KERNEL_CACHE=self.cache, WEIR_EMULATED_REPORT=str(report))
                self.weir("run", artifact, *weirtest.data(window=data), "--steps", 5, "--device", "emulated", env=env)
                lines = report.read_text().splitlines()
                nodes = [int(line.split()[2]) for line in lines if line.startswith("graph of ")]
                self.assertEqual(len(nodes), 5 - 1)  # the first step is made by hand, as init is
                self.assertEqual(len(set(nodes)), 1)
                step = json.loads(self.weir("inspect", artifact, "--json").stdout)["step"]
                self.assertGreaterEqual(nodes[0], step["launches"] + step["calls"])

    def test_what_a_machine_lacks_is_said(self):
        """Failures that are planted in the stand-ins, and libraries that are missing."""
        artifact, data = self.folder / "a.weirx", weirtest.data(window=self.text())
        self.weir("compile", GPT, *SMALL_GPT, "--target", "cuda", "-o", artifact)
        run = ["weir", "run", artifact, *data, "--steps", 2, "--device", "emulated"]

        def fails(pattern, exit=6, **names):
            self.fails(exit, pattern, *run, env=dict(PLAIN, WEIR_KERNEL_CACHE=self.folder / names.get("WEIR_EMULATED_FAIL", "cache"), **names))

        for failure, pattern in (
            ("no-gpu", r"this machine shows no GPU .*--target cpu"),
            ("old-gpu", r"compute capability 7\.0, kernels need 8\.0 or more: compile with --target cpu"),
            ("memory", r"not enough memory for the model's tensors: \d+ MiB are needed, .* smaller batch"),
            ("pinned", r"not enough memory of the host .*: \d+ MiB are needed .*ulimit -l"),
            ("builtins", r"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE\): libnvrtc-builtins belongs beside libnvrtc"),
            ("module", r"driver does not load what NVRTC compiled .*install a driver"),
            ("algorithm", r"cuBLASLt offers no way to do a product .* on this device: .*--target cuda\+none"),
        ):  # fmt: skip
            with self.subTest(failure=failure):
                fails(pattern, WEIR_EMULATED_FAIL=failure)
        names = dict(PLAIN, WEIR_KERNEL_CACHE=self.cache, WEIR_EMULATED_FAIL="first-state")
        self.run_tool(*run, env=names)
        for missing, pattern in (
            ("libnvrtc.so.13", r"NVRTC, which compiles kernels, cannot be opened .*WEIR_CUDA_LIBRARIES.*--target cuda:sm_90"),
            ("libcublasLt.so.13", r"cuBLASLt, .* cannot be opened .*WEIR_CUDA_LIBRARIES.*--target cuda\+none"),
        ):
            with self.subTest(missing=missing):
                folder = self.folder / f"no-{missing}"
                shutil.copytree(LIBRARIES, folder, ignore=shutil.ignore_patterns(missing))
                fails(pattern, WEIR_EMULATED_CUDA=folder)

    def test_devices_are_named(self):
        model = MODELS / "mnist-mlp.weir"
        options = ["train", model, *self.digits(), "--steps", 1]
        self.fails(2, r"--device emulate is unknown; did you mean 'emulated'\?", "weir", *options, "--device", "emulate")
        self.fails(2, r"--device cpu cannot run a program that is compiled for cuda: give --device cuda", "weir", *options,
                   "--target", "cuda", "--device", "cpu")  # fmt: skip
        self.fails(2, r"--device emulated cannot run a program that is compiled for x86-64", "weir", *options, "--device", "emulated")


if __name__ == "__main__":
    weirtest.main()
