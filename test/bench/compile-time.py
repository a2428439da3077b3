#!/usr/bin/env python3
"""What a layer more takes to compile, or a mesh: a model at several numbers of layers, or GPT-2's size for several meshes, in turn, the
least of several rounds.

    test/bench/compile-time.py [--model NAME] [--layers N,N,...] [--rounds N]
    test/bench/compile-time.py --meshes dp=16,tp=4 'dp=8,tp=8 --zero 3' [--vocab N] [--rounds N]

With --phases it prints the time of an additional layer by pass group, between the smallest and the largest size.
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


def compile_once(model, choices, artifact):
    """Wall and processor seconds, the peak of memory in MB, and the seconds of each pass group."""
    command = [BIN / "weir", "compile", ROOT / "models" / f"{model}.weir", *choices, "--time-passes", "-o", artifact]
    begin = time.monotonic()
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    report = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(report)
    # A pass stands below its pass group, further to the right; columns are user and wall time, or wall time alone.
    phases = re.findall(r"([\d.]+) \([ \d.]+%\)  (\w[\w-]*)$", report, re.MULTILINE)
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, {name: float(seconds) for seconds, name in phases if name != "Total"}


def least_of(rounds, model, ways):
    """By way, a list of options: the least of what compile_once says, of several rounds of all."""
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, choices in ways.items():
                wall, used, memory, phases = compile_once(model, choices, pathlib.Path(folder, "model.weirx"))
                known = least.setdefault(name, [wall, used, memory, phases])
                known[:3] = min(known[0], wall), min(known[1], used), min(known[2], memory)
                known[3] = {phase: min(seconds, phases.get(phase, seconds)) for phase, seconds in known[3].items()}
    return least


def compare_layers(options):
    sizes = [int(size) for size in options.layers.split(",")]
    least = least_of(options.rounds, options.model, {size: ["--set", f"layers={size}"] for size in sizes})
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


def compare_meshes(options):
    gpt2 = {"layers": 12, "width": 768, "heads": 12, "context": 1024, "batch": 32, "vocab": options.vocab}
    sets = [word for name, value in gpt2.items() for word in ("--set", f"{name}={value}")]
    ways = {"one device": sets, **{mesh: [*sets, "--mesh", *mesh.split()] for mesh in options.meshes}}
    least = least_of(options.rounds, "gpt-char", ways)
    one = least["one device"]
    print("| for | wall, s | of one device | peak memory, MB | of one device |\n| --- | --- | --- | --- | --- |")
    for name, (wall, _, memory, _) in least.items():
        print(f"| {name} | {wall:.2f} | {wall / one[0]:.2f} | {memory} | {memory / one[2]:.2f} |")


def main():
    about, _, more = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="gpt-char", help="one of models/ with a config layers (default gpt-char)")
    parser.add_argument("--layers", default="12,24,48,96,192", help="the sizes (default %(default)s)")
    parser.add_argument("--meshes", nargs="+", metavar="MESH", help="meshes to compile for instead, each with options behind it or none")
    parser.add_argument("--vocab", type=int, default=50257, help="with --meshes: the vocabulary (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--phases", action="store_true")
    options = parser.parse_args()
    if options.meshes:
        compare_meshes(options)
    else:
        compare_layers(options)


if __name__ == "__main__":
    main()
