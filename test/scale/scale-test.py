# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles cases of real sizes and compares what they cost with test/scale/record.json (docs/internals/testing.md, "Costs at real sizes").

  scale-test.py [all|CASE...]           compares those: by default the fast ones, as CI does
  scale-test.py update [all|CASE...]    records what is found
  scale-test.py list ...                names what the same words would compile
"""

import sys

import figures
import guard
from cases import CASES


def chosen(words):
    unknown = [word for word in words if word != "all" and word not in CASES]
    if unknown:
        print(f"unknown case '{unknown[0]}': expected 'update' first, 'all', or one of {', '.join(CASES)}", file=sys.stderr)
        raise SystemExit(2)
    return [name for name, case in CASES.items() if name in words or "all" in words or (not words and not case.large)]


def main(words):
    """0 where all is as recorded, or is recorded now."""
    lists = words[:1] == ["list"]
    words = words[lists:]
    updates = words[:1] == ["update"]
    if lists:
        print("\n".join(chosen(words[updates:])))
        return 0
    record, total, differ, failed = guard.load(), 0, [], []
    for name in chosen(words[updates:]):
        try:
            found, spent = figures.measure(CASES[name])
        except figures.Failed as failure:
            print(f"{name}: {failure}", flush=True)
            failed.append(name)
            continue
        lines = guard.differences(name, record.get(name, {}), found)
        print(f"{name}: compiled in {spent.seconds:.1f} s of a processor and {spent.peak / 1e6:.0f} MB", *lines, sep="\n", flush=True)
        total += spent.seconds
        if lines:
            differ.append(name)
        record[name] = found
        if updates:
            guard.save({known: record[known] for known in record if known in CASES})
    print(f"{total:.1f} s of a processor in all")
    if failed:
        print(f"not measured: {', '.join(failed)}")
    if differ and not updates:
        print(guard.advice(differ))
    return 1 if failed or (differ and not updates) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
