"""tools/dev/fuzz keeps what earlier searches found, and counts what it finds itself."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPT = str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "dev" / "fuzz")
spec = importlib.util.spec_from_loader("fuzz", importlib.machinery.SourceFileLoader("fuzz", SCRIPT))
fuzz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fuzz)


class Fuzz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        fuzz.ROOT = pathlib.Path(folder.name)
        fuzz.BUILD = fuzz.ROOT / "build-fuzz"
        self.script("tools/dev/build", "")
        self.findings = fuzz.BUILD / "findings/idx"
        self.findings.mkdir(parents=True)

    def script(self, name, body):
        path = fuzz.ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def search(self, body):
        self.script("build-fuzz/bin/fuzz-idx", body)
        return [path.name for path in fuzz.search("idx", 1)[2]]

    def test_earlier_findings_stay(self):
        for name in ("crash-old", "crash-again"):
            (self.findings / name).write_text("")
        self.assertEqual(self.search("exit 0"), [])
        once = f"[ -e {fuzz.BUILD}/once ] && exit 0; touch {fuzz.BUILD}/once"
        self.assertEqual(
            self.search(f"{once}; echo > {self.findings}/crash-new; echo > {self.findings}/crash-again; exit 1"),
            ["crash-again", "crash-new"],
        )
        self.assertEqual(len(list(self.findings.iterdir())), 3)


if __name__ == "__main__":
    unittest.main()
