#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of a training step on meshes against one device, as threads of one process or as processes, in one run.

  mesh-time.py --weir build/bin/weir --data ../shared/data
  mesh-time.py --weir build/bin/weir --data ../shared/data --case gpt-char --rounds 5 --ways='dp=2; dp=2 x2; --deterministic'

Ways stand between semicolons. A way is a mesh, options of weir compile, and xN for N processes, in any order; without xN all ranks are threads of one process. First
the losses of all ways are compared with one device's: those of the first five steps agree to 1e-5 (later ones of the larger sizes, which
are not tuned, enlarge what is rounded), or all with --deterministic in each bit among its own. Else nothing is timed. Then all run in turn, and of each the median of the rounds' median steps counts, without the first two steps of a run.
One device, and processes alone on their machine as these are, have two threads together. A timing on a busy machine is void: the load
that there was before is printed with it.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

CASES = {
    "gpt-char": ({}, 40),
    "gpt-6x384": (dict(layers=6, heads=6, width=384, context=256, batch=12), 10),
    "gpt-6x384-8": (dict(layers=6, heads=6, width=384, context=256, batch=8), 10),
}


class Way:
    def __init__(self, text):
        words = text.split()
        self.name = text.strip() or "one device"
        self.processes = next((int(word[1:]) for word in words if word[0] == "x"), 1)
        self.options = [part for word in words if word[0] != "x" for part in (["--mesh", word] if "=" in word and word[0] != "-" else [word])]
        self.exact = "--deterministic" in words

    def compile(self, weir, sizes, folder, number):
        self.artifact = os.path.join(folder, f"{number}.weirx")
        sets = [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]
        check([weir, "compile", "models/gpt-char.weir", *sets, *self.options, "-o", self.artifact])

    def run(self, weir, data, steps, folder):
        """The losses, and the milliseconds of each step."""
        metrics = os.path.join(folder, "metrics.jsonl")
        command = [weir, "run", self.artifact, "--data", f"window={data}/shakespeare.txt", "--steps", str(steps), "--seed", "1", "--metrics", metrics]
        ranks = [dict(os.environ, RANK=str(rank), WORLD_SIZE=str(self.processes), MASTER_ADDR="127.0.0.1", MASTER_PORT="29700")
                 for rank in range(self.processes)] if self.processes > 1 else [dict(os.environ)]
        children = [subprocess.Popen(command, env=rank, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in ranks]
        said = [child.communicate()[1] for child in children]
        if any(child.returncode for child in children):
            sys.exit(f"{self.name}: {' '.join(command)}\n{''.join(said)[-2000:]}")
        rows = [row for row in map(json.loads, open(metrics)) if "step_ms" in row]
        return [row["loss"] for row in rows], [row["step_ms"] for row in rows]


def check(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nexited with {result.returncode}:\n{result.stderr[-2000:]}")


def agree(way, losses, one, exact):
    if way.exact:
        return losses == exact
    return all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(losses[:5], one, strict=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", required=True, help="the driver, build/bin/weir")
    parser.add_argument("--data", required=True, help="the folder with shakespeare.txt")
    parser.add_argument("--case", choices=CASES, default="gpt-6x384")
    parser.add_argument("--ways", default="dp=2; tp=2; dp=2 x2", help="what to compare with one device (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    sizes, steps = CASES[a.case]
    load = os.getloadavg()[0]
    ways = [Way(""), *map(Way, a.ways.split(";"))]
    with tempfile.TemporaryDirectory() as folder:
        for number, way in enumerate(ways):
            way.compile(a.weir, sizes, folder, number)
        of_one, of_exact, medians = None, None, {}
        for _ in range(a.rounds):
            for way in ways:
                losses, times = way.run(a.weir, a.data, steps, folder)
                of_one = of_one or losses
                of_exact = of_exact or (losses if way.exact else None)
                if not agree(way, losses, of_one, of_exact):
                    sys.exit(f"{way.name}: the losses differ, nothing is timed: {losses[:10]} and {(of_exact if way.exact else of_one)[:10]}")
                medians.setdefault(way.name, []).append(statistics.median(times[2:]))
        one = statistics.median(medians["one device"])
        print(f"load {load:.1f}\n\n| {a.case} | ms a step | of one device |\n| --- | --- | --- |")
        for name, all_medians in medians.items():
            ms = statistics.median(all_medians)
            print(f"| {name} | {ms:.1f} ({min(all_medians):.1f} to {max(all_medians):.1f}) | {ms / one:.2f} |")


if __name__ == "__main__":
    main()
