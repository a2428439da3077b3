#!/usr/bin/env python3
"""What a layer more takes to compile: a model at several numbers of layers, in turn, the least of several rounds.

    test/bench/compile-time.py [--model NAME] [--layers N,N,...] [--rounds N]

With --phases it says where a layer's time goes, phase by phase, between the smallest and the largest size.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "build" / "bin"))


def compile_once(model, layers, artifact):
    """Wall and processor seconds, the peak of memory in MB, and the seconds of each phase."""
    command = [BIN / "weir", "compile", ROOT / "models" / f"{model}.weir", "--set", f"layers={layers}", "--time-passes", "-o", artifact]
    begin = time.monotonic()
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    report = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(report)
    # A pass stands below its phase, further to the right; columns are user and wall time, or wall time alone.
    phases = re.findall(r"([\d.]+) \([ \d.]+%\)  (\w[\w-]*)$", report, re.MULTILINE)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, {name: float(seconds) for seconds, name in phases if name != "Total"}


def main():
    about, _, more = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="gpt-char", help="one of models/ with a config layers (default gpt-char)")
    parser.add_argument("--layers", default="12,24,48,96,192", help="the sizes (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--phases", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.layers.split(",")]
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for size in sizes:
                wall, used, memory, phases = compile_once(options.model, size, pathlib.Path(folder, "model.weirx"))
                known = least.setdefault(size, [wall, used, memory, phases])
                known[:3] = min(known[0], wall), min(known[1], used), min(known[2], memory)
                known[3] = {name: min(seconds, phases[name]) for name, seconds in known[3].items()}
    print("| layers | wall, s | ms a layer more | processor, s | ms a layer more | peak memory, MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for before, size in zip([None, *sizes], sizes):
        wall, used, memory, _ = least[size]
        more = [f"{1e3 * (now - then) / (size - before):.1f}" for now, then in zip((wall, used), least[before])] if before else ["", ""]
        print(f"| {size} | {wall:.2f} | {more[0]} | {used:.2f} | {more[1]} | {memory} |")
    if options.phases:
        print("\n| phase | ms a layer more |\n| --- | --- |")
        first, last = sizes[0], sizes[-1]
        for name, seconds in least[last][3].items():
            print(f"| {name} | {1e3 * (seconds - least[first][3][name]) / (last - first):.2f} |")


if __name__ == "__main__":
    main()
