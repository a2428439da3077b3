#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of a training step whose ranks exchange beside what they compute, over a slow link, predicted and measured.

  overlap-time.py --weir build/bin/weir --data ../shared/data
  overlap-time.py --weir build/bin/weir --data ../shared/data --link 100MB/s,200us --mesh dp=2 --zero 1

Two virtual devices of a thread each, whose exchanges take as long as the link says (WEIR_SLOW_LINK). How fast the machine computes is probed
first: by the steps of the same program whose exchanges take no longer than copies in memory, and with nothing beside. That one number, and the link, are what
weir inspect --time predicts from. Then both programs are run over the slow link in turn, and of each the median of the rounds' median steps counts, without the first two steps of a run. Before
anything is timed the losses of both are compared: they are equal to the bit. A timing on a busy machine is void: the load that there was before is printed with it.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

SIZES = dict(layers=6, heads=6, width=384, context=128, batch=8)


def check(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, **more)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nexited with {result.returncode}:\n{result.stderr[-2000:]}")
    return result.stdout


def run(args, artifact, folder, link):
    """The losses, and the milliseconds of each step."""
    metrics = os.path.join(folder, "metrics.jsonl")
    if os.path.exists(metrics):
        os.remove(metrics)
    check([args.weir, "run", artifact, "--data", f"window={args.data}/shakespeare.txt", "--threads", "2", "--steps", str(args.steps), "--seed", "1",
           "--metrics", metrics], env=dict(os.environ, WEIR_SLOW_LINK=link))
    rows = [row for row in map(json.loads, open(metrics)) if "step_ms" in row]
    return [row["loss"] for row in rows], [row["step_ms"] for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weir", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--link", default="50MB/s,200us")
    parser.add_argument("--mesh", default="dp=2")
    parser.add_argument("--zero", default="0")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.2f}")
    sets = [word for name, value in SIZES.items() for word in ("--set", f"{name}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        ways = {"beside": ["--link", args.link], "one after the other": ["--no-overlap"]}
        artifacts = {}
        for name, options in ways.items():
            artifacts[name] = os.path.join(folder, f"{len(artifacts)}.weirx")
            check([args.weir, "compile", "models/gpt-char.weir", *sets, "--mesh", args.mesh, "--zero", args.zero, *options, "-o", artifacts[name]])
        losses, probed = run(args, artifacts["one after the other"], folder, "")
        for name, artifact in artifacts.items():
            if run(args, artifact, folder, "")[0] != losses:
                sys.exit(f"{name}: the losses are others")
        computing = statistics.median(probed[2:])

        def inspect(artifact, *rates):
            return json.loads(check([args.weir, "inspect", artifact, "--time", "--json", "--link", args.link, *rates]))

        assumed = inspect(artifacts["one after the other"])
        faster = 1e3 * assumed["computing"] / computing
        rates = [f"{assumed['rates'][kind] * faster:.6g}{unit}" for kind, unit in (("flops_per_second", "FLOP/s"), ("bytes_per_second", "B/s"))]
        steps = {name: [] for name in ways}
        for _ in range(args.rounds):
            for name, artifact in artifacts.items():
                steps[name].append(statistics.median(run(args, artifact, folder, args.link)[1][2:]))
        print(f"gpt {SIZES['layers']}x{SIZES['width']} on {args.mesh} --zero {args.zero} over {args.link}; probed: {computing:.1f} ms a step without the link")
        print(f"{'':22}{'predicted ms':>14}{'measured ms':>14}{'measured / predicted':>22}{'exposed of what is exchanged':>30}")
        medians = {name: statistics.median(some) for name, some in steps.items()}
        for name, artifact in artifacts.items():
            time = inspect(artifact, "--rates", ",".join(rates))
            predicted = 1e3 * time["seconds"]
            print(f"{name:22}{predicted:14.1f}{medians[name]:14.1f}{medians[name] / predicted:22.3f}{100 * time['exposed'] / time['communicating']:28.1f} %")
        print(f"beside / one after the other: {medians['beside'] / medians['one after the other']:.3f}")


main()
