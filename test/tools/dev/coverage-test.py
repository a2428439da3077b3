"""tools/dev/coverage counts what was executed, over all object files, and nothing that is not the project's."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
SCRIPT = str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "dev" / "coverage")
spec = importlib.util.spec_from_loader("coverage", importlib.machinery.SourceFileLoader("coverage", SCRIPT))
coverage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coverage)

HEADER = """#include <string>
inline int sign(int x) {
  if (x < 0)
    return -1;
  return 1;
}
"""
USED = '#include "ir/sign.h"\nint used(int x) {\n  return sign(x);\n}\n'
UNUSED = '#include "ir/sign.h"\nint unused() {\n  return sign(-1);\n}\n'
MAIN = "int used(int);\nint main() {\n  return used(2) - 1;\n}\n"


class Coverage(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name).resolve()
        self.build = self.root / "build-coverage"
        sources = {"ir/sign.h": HEADER, "passes/one/used.cpp": USED, "passes/two/unused.cpp": UNUSED, "test/main.cpp": MAIN}
        for name, text in sources.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.build.mkdir()
        objects = []
        for name in sources:
            if name.endswith(".cpp"):
                objects.append(pathlib.Path(name).stem + ".o")
                self.run_here("g++", "--coverage", "-O0", f"-I{self.root}", "-c", self.root / name, "-o", objects[-1])
        self.run_here("g++", "--coverage", *objects, "-o", "main")
        self.run_here("./main")
        patch = mock.patch.object(coverage, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)

    def run_here(self, *command):
        subprocess.run(command, cwd=self.build, check=True, capture_output=True)

    def test_lines_of_all_objects_are_merged(self):
        merged = coverage.collect(self.build, 2)
        self.assertEqual(sorted(merged), ["ir/sign.h", "passes/one/used.cpp", "passes/two/unused.cpp"])
        self.assertEqual(merged["ir/sign.h"], {2: True, 3: True, 4: False, 5: True})
        self.assertFalse(any(merged["passes/two/unused.cpp"].values()))
        self.assertTrue(all(merged["passes/one/used.cpp"].values()))

    def test_the_report_adds_up(self):
        text, data = coverage.report(coverage.collect(self.build, 1), 20)
        self.assertEqual(data["folders"]["ir"], {"executed": 3, "lines": 4})
        self.assertEqual(data["folders"]["passes"], {"executed": 2, "lines": 4})
        self.assertEqual(data["folders"]["passes/two"], {"executed": 0, "lines": 2})
        self.assertEqual(data["folders"]["all"], {"executed": 5, "lines": 8})
        self.assertEqual(data["folders"]["passes+ir+runtime+support+artifact"], data["folders"]["all"])
        self.assertRegex(text, r"(?m)^passes +4 +50\.0 %$")

    def test_no_build(self):
        with self.assertRaisesRegex(SystemExit, "holds no build with --coverage"):
            coverage.collect(self.root / "ir", 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
