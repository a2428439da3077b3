#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether plans are as fast as they are predicted to be: a grid of plans of one model, in the order predicted and as measured.

  plan-order.py --device core.toml --case gpt-6x384 --devices 4
  plan-order.py --device core.toml --case moe --devices 8 --measured moe-8.json

The grid is mesh x ZeRO x microbatches x recomputation x schedule; of more than --most plans every n-th. Two devices are run, a thread each,
plans in turn, and of each the median step counts. Four and eight are replayed (replay/): what each rank's actions take by themselves is
measured, and all ranks sleep through a step on links of --bandwidth and --latency, each queue a thread. Predictions are those of plans
that are lowered (weir plan --exact), and of estimates beside them. --measured keeps what was measured, and reads it where it is there.

Kendall's tau counts pairs that differ by more than 5 % as measured. A timing on a busy machine is void: the load is printed.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "build" / "bin"))

# The model, its configs, what is computed again, the axes that it can be cut over, its numbers of microbatches, and its data. What
# resnet keeps of a batch's statistics goes on from one microbatch to the next: it has one.
CASES = {
    "gpt-6x384": ("gpt-char", dict(layers=6, heads=6, width=384, context=64, batch=32), "h.*", "pp dp tp", (1, 2, 4), "window=shakespeare.txt"),
    "resnet": ("resnet", dict(batch=64, blocks=2, width=16), "stage*", "pp dp tp", (1,), "images=mnist/train-images.idx3-ubyte labels=mnist/train-labels.idx1-ubyte"),
    "moe": ("moe", dict(layers=4, width=192, hidden=384, batch=32), "h.*", "pp dp ep tp", (1, 2, 4), "window=shakespeare.txt"),
}


def meshes(devices, axes):
    sizes = [[n for n in range(1, devices + 1) if devices % n == 0] for _ in axes]
    for choice in itertools.product(*sizes):
        if math.prod(choice) == devices:
            yield {axis: size for axis, size in zip(axes, choice, strict=True) if size > 1}


def grid(devices, axes, counts, recompute):
    """The plans' files, as dictionaries."""
    zeros = (0, 1, 3) if len(counts) > 1 else (0, 1, 2, 3)
    for mesh in meshes(devices, axes):
        cuts = any(axis in mesh for axis in ("dp", "ep"))
        for zero, count, again, schedule in itertools.product(
            zeros if cuts else (0,), counts, (False, True), ("1f1b", "gpipe", "zero-bubble") if "pp" in mesh else ("",)
        ):
            plan = {"mesh": ",".join(f"{axis}={size}" for axis, size in mesh.items()), "zero": zero, "microbatches": count}
            if again:
                plan["recompute"] = [recompute]
            if schedule:
                plan["schedule"] = schedule
            yield plan


def thin(plans, most):
    return plans if len(plans) <= most else [plans[i * len(plans) // most] for i in range(most)]


def named(plan):
    return " ".join(str(word) for key, word in plan.items() if key != "recompute") + (" again" if "recompute" in plan else "")


def command(words, **more):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if result.returncode:
        raise RuntimeError(f"{' '.join(str(word) for word in words)}\nexited with {result.returncode}:\n{result.stderr[-1500:]}")
    return result.stdout


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        model, sets, self.recompute, self.axes, self.counts, self.data = CASES[options.case]
        self.model = ROOT / "models" / f"{model}.weir"
        self.sets = [word for name, value in sets.items() for word in ("--set", f"{name}={value}")]

    def write_cluster(self):
        o = self.options
        probed = pathlib.Path(o.device)
        if probed.exists():
            devices = re.sub(r"count = \d+", f"count = {o.devices}", probed.read_text().split("[[links]]")[0])
        else:
            devices = f'[[devices]]\nkind = "{o.device}"\ncount = {o.devices}\n'
        link = f'[[links]]\nbandwidth = "{o.bandwidth / 1e9}GB/s"\nlatency = "{o.latency * 1e6}us"\n'
        (self.folder / "cluster.toml").write_text(f"{devices}\n{link}")

    def write_plans(self):
        plans = thin(list(grid(self.options.devices, self.axes.split(), self.counts, self.recompute)), self.options.most)
        for number, plan in enumerate(plans):
            text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in plan.items())
            (self.folder / f"{number}.toml").write_text("[plan]\n" + text)
        return plans

    def predict(self, count, lowered):
        """Of each plan what the planner says; None where it cannot be compiled."""
        files = [word for number in range(count) for word in ("--plan", self.folder / f"{number}.toml")]
        cluster = self.options.cluster or self.folder / "cluster.toml"
        said = json.loads(
            command([BIN / "weir", "plan", self.model, *self.sets, "--cluster", cluster, *files, "--exact", lowered, "--json"])
        )
        byFile = {pathlib.Path(row["file"]).stem: row for row in said["plans"]}
        return [byFile.get(str(number)) for number in range(count)]

    def compile(self, number):
        artifact = self.folder / f"{number}.weirx"
        command([BIN / "weir", "compile", self.model, *self.sets, "--plan", self.folder / f"{number}.toml", "-o", artifact])
        return artifact

    def replay(self, number):
        artifact = self.compile(number)
        o = self.options
        said = command([BIN / "replay-plan", artifact, "--bandwidth", o.bandwidth, "--latency", o.latency, "--lasts", o.lasts, "--steps", 3])
        artifact.unlink()
        return json.loads(said.splitlines()[-1])["seconds"]

    def run(self, artifact):
        metrics = self.folder / "metrics.jsonl"
        data = [word for one in self.data.split() for word in ("--data", one.replace("=", f"={self.options.data}/", 1))]
        words = [BIN / "weir", "run", artifact, *data, "--steps", 8, "--seed", 1, "--metrics", metrics]
        command(words)
        times = [row["step_ms"] for row in map(json.loads, metrics.read_text().splitlines()) if "step_ms" in row]
        return 1e-3 * statistics.median(times[2:])

    def measure(self, plans, predicted):
        if self.options.devices > 2:
            times = []
            for number, plan in enumerate(plans):
                times.append(self.replay(number) if predicted[number] else None)
                print(f"  {number + 1} of {len(plans)}: {named(plan)}: {times[-1]}", file=sys.stderr, flush=True)
            return times
        artifacts = [self.compile(number) if predicted[number] else None for number in range(len(plans))]
        rounds = []
        for _ in range(self.options.rounds):
            rounds.append([self.run(artifact) if artifact else None for artifact in artifacts])
        return [statistics.median(times) if times[0] is not None else None for times in zip(*rounds, strict=True)]


def kendall(pairs):
    """Of (measured, predicted): tau, and of how many pairs."""
    agree = counted = 0
    for (a, p), (b, q) in itertools.combinations(pairs, 2):
        if abs(a - b) <= 0.05 * min(a, b):
            continue
        counted += 1
        agree += 1 if (a - b) * (p - q) > 0 else -1
    return agree / counted if counted else 1.0, counted


def report(what, plans, measured, predicted):
    rows = [(m, p["seconds"], plan) for plan, m, p in zip(plans, measured, predicted, strict=True) if m is not None and p]
    pairs = [(m, p) for m, p, _ in rows]
    fast = sorted(pairs)[: len(pairs) - len(pairs) // 3]
    tau, counted = kendall(pairs)
    chosen = min(rows, key=lambda row: row[1])
    best = min(rows)
    error = statistics.mean(abs(p / m - 1) for m, p in pairs)
    print(
        f"{what}: {len(rows)} plans, Kendall {tau:.3f} of {counted} pairs, {kendall(fast)[0]:.3f} without the slowest third; "
        f"mean error {100 * error:.1f} %; chosen {chosen[0] / best[0]:.3f} times the best ({named(chosen[2])}; best {named(best[2])})"
    )
    return rows


def main():
    about, _, more = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, default="gpt-6x384")
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--device", default="cpu", help="what one of them is: a known device, or the file of weir probe --devices 1")
    parser.add_argument("--cluster", help="what two devices are predicted for, links and all (weir probe)")
    parser.add_argument("--bandwidth", type=float, default=2e9, help="of replayed links, bytes a second (default %(default)g)")
    parser.add_argument("--latency", type=float, default=20e-6, help="of replayed links, seconds (default %(default)g)")
    parser.add_argument("--lasts", type=float, default=4, help="seconds that a replay lasts at least (default %(default)g)")
    parser.add_argument("--most", type=int, default=40, help="plans (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of runs on two devices")
    parser.add_argument("--data", default=str(ROOT / "../shared/data"))
    parser.add_argument("--measured", help="a file of what was measured")
    parser.add_argument("--verbose", action="store_true", help="print each plan")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        bench.write_cluster()
        plans = bench.write_plans()
        lowered, estimated = bench.predict(len(plans), 1000), bench.predict(len(plans), 0)
        kept = pathlib.Path(options.measured) if options.measured else None
        if kept and kept.exists():
            measured = json.loads(kept.read_text())
            assert [row["plan"] for row in measured] == plans, f"{kept} is of other plans"
            measured = [row["seconds"] for row in measured]
        else:
            print(f"load before: {os.getloadavg()[0]:.2f}", file=sys.stderr)
            measured = bench.measure(plans, lowered)
            if kept:
                kept.write_text(json.dumps([{"plan": plan, "seconds": time} for plan, time in zip(plans, measured, strict=True)], indent=1))
        print(f"{options.case} on {options.devices} devices")
        rows = report("lowered", plans, measured, lowered)
        report("estimated", plans, measured, estimated)
        off = [
            abs(e["memory"]["device"] / p["memory"]["device"] - 1)
            for p, e in zip(lowered, estimated, strict=True)
            if p and e
        ]
        print(f"memory of estimates: {100 * statistics.mean(off):.2f} % off on average, {100 * max(off):.2f} % at most")
        if options.verbose:
            for m, p, plan in sorted(rows, key=lambda row: row[0]):
                print(f"  {1e3 * m:9.2f} ms, predicted {1e3 * p:9.2f} ({p / m:5.3f}): {named(plan)}")


if __name__ == "__main__":
    main()
