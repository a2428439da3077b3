"""Each rule of tools/dev/lint finds what it is for, and nothing in its good twin."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
SCRIPT = str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "dev" / "lint")
spec = importlib.util.spec_from_loader("lint", importlib.machinery.SourceFileLoader("lint", SCRIPT))
lint = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lint)

LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
RUN = "// RUN: weir-opt %s | FileCheck %s"


class Lint(unittest.TestCase):
    def lines(self, rule, path, text):
        return [number for number, _ in getattr(lint, rule)(pathlib.Path(path), text.split("\n"))]

    def test_long_file(self):
        self.assertEqual(self.lines("long_file", "ir/A.cpp", "\n" * 1000), [1001])
        self.assertEqual(self.lines("long_file", "ir/A.cpp", "\n" * 999), [])

    def test_trailing_space(self):
        self.assertEqual(self.lines("trailing_space", "a.md", "a\nb \nc"), [2])

    def test_licence(self):
        self.assertEqual(self.lines("licence", "ir/A.h", "#include <a>"), [1])
        self.assertEqual(self.lines("licence", "ir/A.h", LICENCE), [])

    def test_todo(self):
        self.assertEqual(self.lines("todo", "ir/A.h", "// TO" "DO: later"), [1])
        self.assertEqual(self.lines("todo", "ir/A.h", "// TO" "DO(when views may be strided): skip the copy"), [])

    def test_dead_check(self):
        for line in ("// CHECK foo", "// CHECK-NXT: foo", "// CHEKC: foo", "// CHECKS: foo"):
            self.assertEqual(self.lines("dead_check", "test/a.mlir", f"{RUN}\n{line}"), [2], line)
        for line in ("// CHECK: foo", "// CHECK-NEXT: a", "// CHECK-COUNT-2: a", "// CHECK{LITERAL}: [[", "// Check: no"):
            self.assertEqual(self.lines("dead_check", "test/a.mlir", f"{RUN}\n{line}"), [], line)
        own = f"{RUN} --check-prefix=EVAL\n// EVAL: a\n// CHECK: b"
        self.assertEqual(self.lines("dead_check", "test/a.mlir", own), [3])

    def test_include(self):
        for path, line in [
            ("runtime/core/A.h", '#include "passes/Passes.h"'),
            ("runtime/core/A.h", '#include "mlir/IR/Value.h"'),
            ("support/A.h", '#include "runtime/base/Thread.h"'),
            ("support/mesh/A.h", '#include "artifact/Reader.h"'),
            ("support/A.h", '#include "llvm/ADT/StringRef.h"'),
            ("artifact/A.h", '#include "runtime/core/Program.h"'),
            ("strategy/A.h", '#include "runtime/core/Program.h"'),
            ("passes/A.cpp", '#include "runtime/base/Thread.h"'),
            ("codegen/cpu/A.cpp", '#include "runtime/cuda/Libraries.h"'),
            ("codegen/A.cpp", '#include "artifact/Reader.h"'),  # codegen/artifact/Reader.h lies nearer
            ("ir/weir/A.h", '#include "B.h"'),
            ("frontend/A.h", '#include "../ir/B.h"'),
            ("passes/A.cpp", '#include "codegen/cpu/Kernels.h"'),
        ]:
            self.assertEqual(self.lines("include", path, line), [1], line)
        self.assertEqual(self.lines("include", "passes/A.cpp", '#include "ir/weir/B.h"\n#include "support/B.h"\n#include <string>'), [])
        self.assertEqual(self.lines("include", "runtime/core/A.h", '#include "artifact/B.h"\n#include "support/mesh/B.h"'), [])

    def test_guard(self):
        good = "#ifndef WEIR_IR_A_B_H\n#define WEIR_IR_A_B_H"
        for path, text, found in [
            ("ir/a/B.h", good, []),
            ("ir/a-b/C.h", "#ifndef WEIR_IR_A_B_C_H\n#define WEIR_IR_A_B_C_H", []),
            ("ir/B.h", f"{LICENCE}\n{good}", [2]),
            ("ir/a/B.h", good.replace("#define WEIR_IR_A", "#define WEIR_IR"), [2]),
            ("ir/a/B.h", "#pragma once", [1]),
            ("ir/a/weir_b.h", "#pragma once", []),
            ("ir/a/B.cpp", "", []),
        ]:
            self.assertEqual(self.lines("guard", path, text), found, path)

    def test_sentences(self):
        short, long = "One two three. " * 9, "word " * 41 + "end."
        for page, text, found in [
            ("docs/guides/a.md", f"# {long}\n\n{short}\n\n- {long}", [5]),
            ("docs/guides/a.md", f"{short}\n\n```\n{long}\n```\n\n| {long} |", []),
            ("docs/guides/a.md", f"{short}\nA [link](https://example.org/{'a-' * 50}) and `{long}` end.", []),
            ("docs/guides/a.md", "word " * 19 + "end.", [1]),
            ("README.md", f"{short}\n{long}", [1]),
            ("docs/reference/ops.md", long, []),
        ]:
            self.assertEqual(self.lines("sentences", page, text), found, text)

    def test_long_page(self):
        for page, words, found in [("docs/guides/a.md", 2501, [1]), ("docs/guides/a.md", 2500, []), ("docs/reference/a.md", 2501, [])]:
            self.assertEqual(self.lines("long_page", page, "word " * words), found)

    def test_types_in(self):
        text = ["namespace weir {", "struct Group {", "  struct Part {", "};", "class Later;", "namespace {", "struct Own {", "} // namespace",
                "namespace remat {", "enum class Kind : int { a };", "} // namespace remat", "} // namespace weir", "struct Outside {"]
        self.assertEqual(
            list(lint.types_in(text)),
            [(2, "weir::Group"), (10, "weir::remat::Kind"), (13, "Outside")],
        )

    def test_defined_twice(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(lint, "ROOT", pathlib.Path(folder)):
            paths = [pathlib.Path(folder, name) for name in ("a.h", "b.h", "c.h")]
            for path, name in zip(paths, ("Group", "Group", "Other")):
                path.write_text(f"namespace weir {{\nstruct {name} {{\n}};\n}} // namespace weir\n")
            ((path, number, message),) = lint.defined_twice(paths)
            self.assertEqual((str(path), number), ("b.h", 2))
            self.assertIn("weir::Group is defined in a.h too", message)

    def test_cycles(self):
        self.assertIsNone(lint.cycle_in({"a": {"b": "a/x.h:1"}, "b": {"c": "b/x.h:1"}, "c": {}}))
        self.assertEqual(lint.cycle_in({"a": {"b": ""}, "b": {"c": ""}, "c": {"b": ""}}), ["b", "c"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(lint, "ROOT", pathlib.Path(folder)):
            for path, target in (("x/a/A.h", "x/b/B.h"), ("x/b/B.h", "x/a/A.h"), ("test/T.cpp", "x/a/A.h")):
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f'#include "{target}"\n')
            (found,) = lint.cycles()
            self.assertIn("x/a -> x/b -> x/a: folders include each other (x/a/A.h:1, x/b/B.h:1)", found[2])

    def test_the_base_is_below_the_runtime(self):
        self.assertEqual(lint.folder_of(("runtime", "base"), 1), "runtime/base")
        self.assertEqual(lint.folder_of(("runtime", "run", "resume"), 1), "runtime")
        self.assertEqual(lint.folder_of(("runtime", "run", "resume"), 2), "runtime/run")

    def test_formatting(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad = pathlib.Path(folder, "Good.cpp"), pathlib.Path(folder, "Bad.cpp")
            good.write_text("int f(int x) { return x; }\n")
            bad.write_text("int f(int x) { return x; }\nint  g( int x ) {\nreturn x;}\n")
            found = list(lint.formatting([good, bad]))
            self.assertEqual([(path, line) for path, line, _ in found], [(bad, 2)])
            # Without its style clang-format says nothing of the files.
            root, lint.ROOT = lint.ROOT, pathlib.Path(folder)
            self.addCleanup(setattr, lint, "ROOT", root)
            (lint.ROOT / ".clang-format").write_text("BasedOnStyle: none of these\n")
            ((path, _, message),) = lint.formatting([good, bad])
        self.assertEqual(path, good)
        self.assertIn("clang-format-22 ends with 1: ", message)

    def test_passes(self):
        text = 'def MakeTea : Pass<"weir-tea"> {\n  let summary = "s";\n}\n'
        messages = [m for _, m in lint.passes(pathlib.Path("passes/Passes.td"), text.split("\n"))]
        self.assertEqual(len(messages), 3)
        self.assertIn("no description", messages[0])
        self.assertIn("'weir-make-tea'", messages[1])
        self.assertIn("MakeTea.cpp", messages[2])


if __name__ == "__main__":
    unittest.main()
