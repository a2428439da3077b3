"""A component that is missing at run time: the message says what, where it was looked for, and what builds or installs it.

Without oneDNN or a GPU's driver: runtime-alone-test.py.
"""

import os
import re
import shutil
import unittest

import weirtest
from emulated import LIBRARIES
from weirtest import BIN, MODELS

PLUGIN = "libweir-gloo.so"
MLP = [MODELS / "mnist-mlp.weir", "--set", "hidden=24", "--set", "batch=8"]


class MissingComponents(weirtest.Test):
    def says(self, message, tool, *arguments, **more):
        """The tool ends with status 6, and that message is the last line on standard error."""
        done = self.run_tool(str(tool), *arguments, status=6, **more)
        self.assertEqual(done.stderr.splitlines()[-1], f"error: {message}")
        self.assertEqual(done.stdout, "")

    def test_gloo_plugin(self):
        """The first rank of two, of programs in a folder of their own."""
        artifact, rows = self.folder / "a.weirx", self.digits(32)
        self.weir("compile", *MLP, "--mesh", "dp=2", "-o", artifact)
        shutil.copy(BIN / "weir-run", self.folder)
        env = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
        begin = f"a run with several processes needs the plug-in {PLUGIN}, "
        command = [self.folder / "weir-run", artifact, *rows, "--steps", 1]
        build = "build it with: tools/dev/build release weir-gloo"
        folder = self.folder.resolve()
        with self.subTest("not there"):
            self.says(f"{begin}which is not in the directory of weir-run, {folder}; {build}", *command, env=env)
        whole = (BIN / PLUGIN).read_bytes()
        with self.subTest("without Gloo"):
            (self.folder / PLUGIN).write_bytes(whole.replace(b"libgloo.so", b"libnone.so"))
            self.says(
                f"{begin}which cannot be loaded (libnone.so.0: cannot open shared object file: No such file or directory): "
                "it needs Gloo and OpenSSL; install Debian's packages libgloo0 and libssl3; if they are installed, the file is damaged: "
                f"{build}",
                *command, env=env,
            )  # fmt: skip
        other = bytearray(whole)
        other[18] = 183  # e_machine: AArch64
        object_file = bytearray(whole)
        object_file[16] = 1  # e_type: ET_REL
        for content, fault in (
            (whole[: len(whole) // 2], "is truncated"),
            (whole[:40], "is truncated"),
            (b"", "is not a shared library"),
            (b"not found\n" * 100, "is not a shared library"),
            (object_file, "is not a shared library"),
            (other, "is built for another processor architecture"),
        ):
            with self.subTest(fault, size=len(content)):
                (self.folder / PLUGIN).write_bytes(content)
                self.says(f"{begin}but {folder / PLUGIN} {fault}; {build}", *command, env=env)
        for make in (os.mkfifo, os.mkdir):
            with self.subTest(make.__name__):
                (self.folder / PLUGIN).unlink()
                make(self.folder / PLUGIN)
                self.says(f"{begin}but {folder / PLUGIN} is not a regular file; {build}", *command, env=env)
        (self.folder / PLUGIN).rmdir()
        with self.subTest("of another build"):
            (self.folder / PLUGIN).write_bytes(whole.replace(b"weirLinks", b"weirOther"))
            self.says(f"{begin}but {folder / PLUGIN} is from another build of Weir; {build}", *command, env=env)

    def test_emulated_gpu(self):
        self.says(
            "the libraries of the emulated GPU are not there (looked in /nonexistent); "
            "build them with: tools/dev/build release emulated-cuda, or name their folder in WEIR_EMULATED_CUDA",
            "weir", "train", *MLP, *self.digits(32), "--steps", 1, "--target", "cuda", "--device", "emulated",
            env={"WEIR_EMULATED_CUDA": "/nonexistent"},
        )  # fmt: skip

    @unittest.skipUnless((LIBRARIES / "libcuda.so.1").exists(), f"the emulated GPU ({LIBRARIES}) is not built")
    def test_emulated_gpu_in_part(self):
        libraries = self.folder / "libraries"
        shutil.copytree(LIBRARIES, libraries)
        again = "build the emulated GPU again: tools/dev/build release emulated-cuda (with a GPU: "
        driver_again = f"{again}install the driver of CUDA 13, or compile with --target cpu)"
        command = ["weir", "train", *MLP, *self.digits(32), "--steps", 1, "--target", "cuda", "--device", "emulated"]
        env = {"WEIR_EMULATED_CUDA": libraries, "WEIR_KERNEL_CACHE": str(self.folder / "kernels")}
        driver, library = libraries / "libcuda.so.1", libraries / "libcublasLt.so.13"
        whole = driver.read_bytes()
        for size in (len(whole) // 2, 64):
            driver.write_bytes(whole[:size])
            self.says(f"the NVIDIA driver's library cannot be opened ({driver} is truncated): {driver_again}", *command, env=env)
        driver.write_bytes(whole)
        library.unlink()
        self.assertRegex(self.run_tool(*command, status=6, env=env).stderr, rf"cublasLt.*: {re.escape(again)}")

    def test_compiler_of_the_emulated_gpu(self):
        command = ["train", *MLP, *self.digits(32), "--steps", 1, "--target", "cuda", "--device", "emulated"]
        for name, value, message in (
            ("WEIR_EMULATED_CXX", "/nonexistent/g++", r"cannot run /nonexistent/g\+\+.*install Debian's package g\+\+, or name a compiler in"),
            ("TMPDIR", "/nonexistent", r"cannot make a folder in \$TMPDIR or /tmp: name one that can be written in TMPDIR"),
        ):
            with self.subTest(name):
                env = {name: value, "WEIR_KERNEL_CACHE": str(self.folder / "kernels")}
                self.assertRegex(self.run_tool("weir", *command, status=6, env=env).stderr, message)


if __name__ == "__main__":
    weirtest.main()
