"""The kit for GPU machines packs itself, and runs by itself: here on the emulated GPU, in the smallest sizes."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import unittest

import weirtest
from weirtest import ROOT

LIBRARIES = pathlib.Path(os.environ.get("WEIR_EMULATED_CUDA", weirtest.BIN.parent / "lib" / "emulated-cuda"))
KIT = ROOT / "tools" / "dev" / "gpu-kit"


@unittest.skipIf(weirtest.SANITIZED, "a sanitizer brings libraries of its own")
@unittest.skipUnless((LIBRARIES / "libcuda.so.1").exists(), f"the emulated GPU ({LIBRARIES}) is not built")
class GpuKit(weirtest.Test):
    def python(self, *words, status=0):
        environment = dict(os.environ, WEIR_EMULATED_CUDA=str(LIBRARIES), WEIR_EMULATED_MODE="plain")
        done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, env=environment, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def pack(self, *options, **more):
        return self.python(KIT, "kit.tar.gz", "--small", "--target", "cuda", *options, **more)

    def run_kit(self, *options, status=0):
        done = self.python("weir-gpu-kit/run.py", "--device", "emulated", "--work", "work", *options, status=status)
        return done, json.loads((self.folder / "work" / "results.json").read_text())

    @weirtest.takes(60)
    def test_it_runs_by_itself(self):
        self.pack("--losses", "gpt-char", "mnist-mlp")
        with tarfile.open(self.folder / "kit.tar.gz") as tar:
            tar.extractall(self.folder)
        kit = self.folder / "weir-gpu-kit"

        # Nothing is timed before the losses are compared.
        _, results = self.run_kit("--part", "gpt2-124m weir", status=1)
        self.assertRegex(results["parts"]["gpt2-124m weir"]["error"], "nothing is timed")

        _, results = self.run_kit("--part", "machine", "--part", "losses", "--part", "gpt2-124m weir")
        compared = results["parts"]["losses"]["result"]
        self.assertTrue(compared["agree"])
        self.assertEqual(set(compared["models"]), {f"{m}-{p}" for m in ("gpt-char", "mnist-mlp") for p in ("f32", "bf16")})
        timed = results["parts"]["gpt2-124m weir"]["result"]
        self.assertGreater(timed["per_second"], 0)
        self.assertGreater(timed["memory_bytes"], 0)
        self.assertIn("product", timed["kinds"])
        self.assertEqual(set(results["summary"]["gpt2-124m"]["per_second"]), {"weir"})

        # Where a loss is another, or an artifact is damaged, the part says so, and the next one goes on.
        manifest = json.loads((kit / "kit.json").read_text())
        manifest["losses"]["mnist-mlp-f32"]["losses"][7] += 0.1
        (kit / "kit.json").write_text(json.dumps(manifest))
        artifact = kit / "artifacts" / manifest["losses"]["gpt-char-bf16"]["artifact"]
        artifact.write_bytes(artifact.read_bytes()[:-7] + b"damaged")
        done, results = self.run_kit("--part", "losses", "--part", "machine", status=1)
        wrong = "\n".join(results["parts"]["losses"]["result"]["wrong"])
        self.assertRegex(wrong, r"mnist-mlp-f32: the loss of step 8 is 0\.\d+ apart, more than 0\.0001")
        self.assertRegex(wrong, r"gpt-char-bf16: ended with 3")
        self.assertNotIn("mnist-mlp-bf16", wrong)
        self.assertRegex(done.stderr, "machine: done")

        # A part is not begun twice, and one without what it needs fails alone.
        self.assertRegex(self.run_kit("--list", status=0)[0].stdout, r"(?s)losses +failed.*vit-base weir +to do")
        (kit / "peaks.py").write_text("raise SystemExit('no device')")
        done, results = self.run_kit("--resume", "--minutes", "0.5", status=1)
        self.assertEqual(results["parts"]["peaks"]["error"].split("\n")[0], "ended with 1")
        self.assertRegex(done.stderr, "11 parts are left")

    def test_a_kit_that_is_too_large(self):
        done = self.pack("--losses", "--limit", "0.1", status=1)
        self.assertRegex(done.stderr, r"the kit has [\d.]+ MB, and may have 0\.1")
        self.assertFalse((self.folder / "kit.tar.gz").exists())

    def test_what_a_bare_machine_lacks(self):
        """A program that is linked with anything else is no part of a kit."""
        tools = self.folder / "bin"
        tools.mkdir()
        shutil.copy(weirtest.BIN / "weir", tools / "weir-run")
        environment = dict(os.environ, WEIR_BIN=str(tools))
        done = subprocess.run([sys.executable, KIT, self.folder / "kit.tar.gz"], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"weir-run is linked with .*libLLVM.*, which a bare machine may not have")


if __name__ == "__main__":
    weirtest.main()
