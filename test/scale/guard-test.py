# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the guard says of a figure that is not as recorded, and that every case has its record."""

import contextlib
import importlib.util
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import figures
import guard
from cases import CASES

spec = importlib.util.spec_from_file_location("scale_test", pathlib.Path(__file__).with_name("scale-test.py"))
scale = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scale)


class Differences(unittest.TestCase):
    def test_the_same_is_nothing(self):
        self.assertEqual(guard.differences("net", {"kernels": 4}, {"kernels": 4}), [])

    def test_worse(self):
        self.assertEqual(
            guard.differences("net", {"arena_bytes": 2000, "kernels": 4}, {"arena_bytes": 2500, "kernels": 4}),
            ["net: arena_bytes: recorded 2,000, found 2,500 (+25.00 %): worse"],
        )

    def test_better(self):
        self.assertEqual(
            guard.differences("net", {"launches": 200}, {"launches": 199}),
            ["net: launches: recorded 200, found 199 (-0.50 %): better"],
        )

    def test_from_nothing(self):
        self.assertEqual(
            guard.differences("net", {"library_calls": 0}, {"library_calls": 1}), ["net: library_calls: recorded 0, found 1: worse"]
        )

    def test_new_and_gone(self):
        self.assertEqual(
            guard.differences("net", {"exchanges.dp": 3}, {"exchanges.tp": 3}),
            [
                "net: exchanges.dp: recorded 3, but no longer measured",
                "net: exchanges.tp: found 3, which is not recorded",
            ],
        )


class Command(unittest.TestCase):
    """With a record of its own, and without the compiler."""

    CASE = next(iter(CASES))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for change in (
            mock.patch.object(guard, "RECORD", pathlib.Path(folder.name) / "record.json"),
            mock.patch.object(figures, "measure", lambda case: ({"kernels": self.kernels}, figures.Spent(0.5, 3e6))),
        ):
            change.start()
            self.addCleanup(change.stop)
        self.kernels = 4

    def run_main(self, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = scale.main(list(words))
        return status, out.getvalue()

    def test_what_is_not_recorded_fails_until_it_is(self):
        status, text = self.run_main(self.CASE)
        self.assertTrue(status)
        self.assertIn(f"{self.CASE}: kernels: found 4, which is not recorded\n", text)
        self.assertFalse(self.run_main("update", self.CASE)[0])
        self.assertEqual(guard.load(), {self.CASE: {"kernels": 4}})
        self.assertFalse(self.run_main(self.CASE)[0])

    def test_worse_and_better_both_fail_and_say_how_to_record(self):
        self.run_main("update", self.CASE)
        for self.kernels, word in (5, "worse"), (3, "better"):
            status, text = self.run_main(self.CASE)
            self.assertTrue(status)
            self.assertIn(f": {word}\n", text)
            self.assertIn(f"  tools/test --scale update {self.CASE}\n", text)
        self.assertEqual(guard.load()[self.CASE], {"kernels": 4})

    def test_a_case_that_is_gone_leaves_the_record(self):
        guard.save({"gone": {"kernels": 1}})
        self.run_main("update", self.CASE)
        self.assertEqual(list(guard.load()), [self.CASE])

    def test_a_case_that_fails_leaves_the_others(self):
        def measure(case):
            if case is CASES[self.CASE]:
                raise figures.Failed("weir compile: status 2")
            return {"kernels": 4}, figures.Spent(0.5, 3e6)

        other = next(name for name in CASES if name != self.CASE)
        with mock.patch.object(figures, "measure", measure):
            status, text = self.run_main("update", self.CASE, other)
        self.assertTrue(status)
        self.assertIn(f"{self.CASE}: weir compile: status 2\n", text)
        self.assertIn(f"not measured: {self.CASE}\n", text)
        self.assertEqual(guard.load(), {other: {"kernels": 4}})

    def test_a_record_that_is_none(self):
        for text, why in (
            ("<<<<<<< HEAD\n{}", "Expecting value.*"),
            ("", "Expecting value.*"),
            ("[]", "a case has no figures"),
            ('{"gpt": null}', "a case has no figures"),
            ('{"gpt": {"kernels": "4"}}', "a figure is no number"),
            ('{"gpt": {"kernels": true}}', "a figure is no number"),
        ):
            guard.RECORD.write_text(text)
            with self.assertRaisesRegex(SystemExit, rf"record.json: not a record of figures \({why}\): take it from Git"):
                self.run_main(self.CASE)

    def test_no_such_case(self):
        for words in (["gpt3"], ["update", "gpt3"], ["list", "update", "gpt3"], [self.CASE, "update"]):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
                self.run_main(*words)
            self.assertEqual(end.exception.code, 2)
            self.assertIn(f"unknown case '{words[-1]}': expected 'update' first, 'all', or one of ", said.getvalue())

    def test_list_names_what_would_be_compiled(self):
        self.assertEqual(self.run_main("list", "update", self.CASE), (0, f"{self.CASE}\n"))
        self.assertEqual(self.run_main("list", "all")[1].split(), list(CASES))

    def test_seconds_and_memory_are_shown(self):
        self.assertIn("compiled in 0.5 s of a processor and 3 MB", self.run_main("update", self.CASE)[1])


class Record(unittest.TestCase):
    def test_every_fast_case_has_one(self):
        fast = {name for name, case in CASES.items() if not case.large}
        self.assertEqual(sorted(fast - guard.load().keys()), [])

    def test_it_has_no_other_case(self):
        self.assertEqual(sorted(guard.load().keys() - CASES.keys()), [])

    def test_it_is_as_the_tool_writes_it(self):
        text = guard.RECORD.read_text()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(guard, "RECORD", pathlib.Path(folder) / "record.json"):
            guard.RECORD.write_text(text)
            guard.save(guard.load())
            self.assertEqual(guard.RECORD.read_text(), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
