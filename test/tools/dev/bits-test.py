"""tools/dev/bits: two records of the same programs are equal, and a changed one is named."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Bits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def bits(self, *arguments, status=0):
        done = subprocess.run([sys.executable, ROOT / "tools/dev/bits", *arguments], capture_output=True, text=True, env=os.environ)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_changes_are_named(self):
        before, after = self.folder / "before.json", self.folder / "after.json"
        for path in (before, after):
            self.bits("record", path, "--models", "mnist-mlp", "--programs", "2")
        self.assertIn(" 0 differ", self.bits("compare", before, after))
        record = json.loads(after.read_text())
        runs = [name for name in record if name.startswith("mnist-mlp, own size")]
        self.assertEqual(len(runs), 3)
        record[runs[0]]["losses"][4] = 0.5
        record[runs[1]]["weights"] = "other"
        del record[runs[2]]
        after.write_text(json.dumps(record))
        out = self.bits("compare", before, after, status=1)
        self.assertIn("the loss of step 5 is 0.5", out)
        self.assertIn("the weights differ", out)
        self.assertIn("only in one of the two", out)
        self.assertIn(" 3 differ", out)


if __name__ == "__main__":
    unittest.main()
