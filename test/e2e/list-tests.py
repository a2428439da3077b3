"""Prints the tests of the given *-test.py programs for CTest: a line `program;Class.method;seconds;alone;labels` for each."""

import importlib.util
import pathlib
import sys
import unittest


def tests_of(suite):
    for test in suite:
        yield from tests_of(test) if isinstance(test, unittest.TestSuite) else [test]


for path in map(pathlib.Path, sys.argv[1:]):
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for test in tests_of(unittest.defaultTestLoader.loadTestsFromModule(module)):
        owner, name = type(test).__name__, test._testMethodName
        method = getattr(test, name)
        labels = "e2e,cpu-level" if hasattr(method, "depends_on_cpu_level") else "e2e"
        print(path.stem, f"{owner}.{name}", getattr(method, "seconds", 0), getattr(method, "alone", False), labels, sep=";")
