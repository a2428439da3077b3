"""tools/dev/op-reference finds what is wrong with the ops' constraints and tests, and a reference that is stale."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
SCRIPT = str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "dev" / "op-reference")
spec = importlib.util.spec_from_loader("op_reference", importlib.machinery.SourceFileLoader("op_reference", SCRIPT))
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)

FIND_TESTS, READ = reference.negative_tests, reference.records


class OpReference(unittest.TestCase):
    def faults(self, negative_tests=FIND_TESTS, records=READ):
        found = []
        with mock.patch.multiple(reference, negative_tests=negative_tests, records=records):
            self.text = reference.generate(found)
        return found

    def with_description(self, op, text):
        return self.with_field(op, "description", text)

    def with_field(self, op, field, text):
        def records(path):
            found = READ(path)
            if op in found:
                found[op][field] = text
            return found

        return self.faults(records=records)

    def test_a_constraint_without_a_test(self):
        def tests(dialect):
            found = FIND_TESTS(dialect)
            found.pop(("matmul", 2), None)
            return found

        self.assertEqual(
            self.faults(negative_tests=tests), ["no negative test is named for C2 of weir.matmul: @matmul_c2"]
        )

    def test_a_test_without_a_constraint(self):
        faults = self.with_description("Weir_MatmulOp", "C1: ranks agree.  C2: sizes agree.")
        self.assertEqual(faults, ["the test matmul_c3 names C3 of weir.matmul, which does not exist"])

    def test_numbers_with_a_gap(self):
        faults = self.with_description("Weir_MatmulOp", "C1: ranks agree.  C3: sizes agree.")
        self.assertEqual(faults[0], "the constraints of weir.matmul should be numbered C1 to C2, once each, in order")

    def test_the_same_number_twice(self):
        faults = self.with_description("Weir_MatmulOp", "C1: a.  C2: b.  C3: c.  C3: d.")
        self.assertEqual(faults[0], "the constraints of weir.matmul should be numbered C1 to C3, once each, in order")

    def test_factors_of_other_names(self):
        faults = self.with_field("Weir_GatherOp", "factors", "rows: v! *r, indices: *i -> result: *i *r")
        self.assertEqual(faults, ["the factors of weir.gather should name table, indices, result in this order"])

    def test_what_follows_a_constraint_is_prose(self):
        prose, found = reference.constraints("Before.\n  C1: sizes [.., m] agree, 1.5 times.  C2: b. After.\n  And on.")
        self.assertEqual(prose, "Before. After. And on.")
        self.assertEqual(found, {1: ["sizes [.., m] agree, 1.5 times."], 2: ["b."]})

    def test_every_op_has_its_section_and_interfaces(self):
        self.assertEqual(self.faults(), [])
        matmul = self.text.split("### weir.matmul\n")[1].split("\n### ")[0]
        self.assertIn("| `lhs` | operand | tensor of f32 or bf16 or f16 or f8E4M3FN or f8E5M2 |", matmul)
        self.assertIn("- **C2** the inner sizes agree. (`matmul_c2`)", matmul)
        self.assertIn("Differentiable, Fusible, Interpretable, Lowerable", matmul)
        argmax = self.text.split("### weir.argmax\n")[1].split("\n### ")[0]
        self.assertNotIn("Differentiable", argmax)
        launch = self.text.split("### plan.launch\n")[1].split("\n### ")[0]
        self.assertIn("Executable", launch)

    def test_a_stale_reference(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(reference, "OUTPUT", pathlib.Path(folder) / "ops.md"):

            def run(*arguments):
                said = io.StringIO()
                with mock.patch.object(sys, "argv", ["op-reference", *arguments]), contextlib.redirect_stderr(said):
                    return reference.main(), said.getvalue()

            self.assertEqual(run("--check")[0], 1)
            self.assertEqual(run(), (0, ""))
            self.assertEqual(run("--check"), (0, ""))
            with reference.OUTPUT.open("a") as file:
                file.write("more\n")
            status, said = run("--check")
            self.assertEqual(status, 1)
            self.assertIn("is not what the .td files say; run tools/dev/op-reference", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
