# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The record of all figures, and how found ones differ from it."""

import json
import pathlib

RECORD = pathlib.Path(__file__).with_name("record.json")


def load():
    try:
        record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        if not isinstance(record, dict) or not all(isinstance(figures, dict) for figures in record.values()):
            why = "a case has no figures"
        elif not all(type(number) in (int, float) for figures in record.values() for number in figures.values()):
            why = "a figure is no number"
        else:
            return record
    except ValueError as fault:
        why = str(fault)
    raise SystemExit(f"{RECORD}: not a record of figures ({why}): take it from Git, then `tools/test --scale update`")


def save(record):
    """A line for each figure, so that a commit's diff says which it changes."""
    RECORD.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")


def change(recorded, found):
    percent = f" ({100 * (found - recorded) / recorded:+.2f} %)" if recorded else ""
    return f"recorded {recorded:,}, found {found:,}{percent}: {'worse' if found > recorded else 'better'}"


def differences(name, recorded, found):
    """A line for each figure of a case that is not as recorded. Compiles are deterministic, so figures are compared exactly."""
    lines = []
    for figure in sorted(recorded.keys() | found.keys()):
        if figure not in recorded:
            lines.append(f"{name}: {figure}: found {found[figure]:,}, which is not recorded")
        elif figure not in found:
            lines.append(f"{name}: {figure}: recorded {recorded[figure]:,}, but no longer measured")
        elif recorded[figure] != found[figure]:
            lines.append(f"{name}: {figure}: {change(recorded[figure], found[figure])}")
    return lines


def advice(names):
    return (
        f"To record the new figures, improvements included, so that no later change loses them unnoticed:\n"
        f"  tools/test --scale update {' '.join(names)}\n"
        f"and commit test/scale/record.json with the change that causes the difference, and say why in its message."
    )
