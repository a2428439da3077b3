#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of published runs against what `weir plan` predicts of the same model, plan and machine, beside a model of one constant.

    test/bench/published-plans.py --table published-plans.csv [--only TEXT]

Each row's plan is planned alone (`--mesh`, `--schedule`, `--microbatches`, `--recompute`, `--exact 0`) for the machine that it ran on, as
published/selene.toml describes it. "as described" is what comes of that. "one run" multiplies all predictions of a software stack by one number,
which the first row of the stack in the table fixes: that row is left out of its mean. The baseline takes one number of FLOPs a second for all
devices of a stack's rows, the one that fits its rows best. Where a row says FLOPs a second, its step is the paper's formula over them.
"""

import argparse
import collections
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "build" / "bin"))
HERE = pathlib.Path(__file__).resolve().parent / "published"

INTS = "layers hidden heads seq vocab global_batch micro_batch tp pp dp gpus".split()
# Pairs of plans that are nearer to each other than so are not said to have an order.
NEAR = 0.05


class Row:
    """A plan that ran, and the seconds of its step. What its metric counts as FLOPs is said by the metric's name: hw_* have what is computed
    again, mfu_* have not."""

    def __init__(self, fields):
        self.fields = fields
        for name in INTS:
            setattr(self, name, int(fields[name] or 0))
        self.interleave = int(fields["interleave"] or 1)
        self.recompute = fields["recompute"].split(" + ")[0]
        self.sequence_parallel = "sequence parallel" in fields["recompute"]
        self.stack = stack_of(fields["source"])
        # Megatron of 2021 exchanged nothing beside what is computed but gradients over dp without a pipeline (--DDP-impl torch), and gradients as it
        # multiplied: its scripts do not ask for --accumulate-allreduce-grads-in-fp32. DeepSpeed's are of f16 too.
        self.overlaps = "SC21" not in self.stack or self.tp * self.pp == 1
        self.low_gradients = "SC21" in self.stack
        # Megatron of 2022 computed on beside what tp exchanges in the backward computation, all of it within a node, and waited for what stages send
        # and for gradients over dp, which come behind the last microbatch: all of it between nodes.
        self.overlaps_between_nodes = "SC21" in self.stack
        self.zero = 3 if "ZeRO-3" in fields["source"] else 0
        metric, value = fields["metric"], float(fields["value"])
        if metric == "iteration_s":
            self.seconds = value
        elif metric == "hw_tflops_per_gpu":
            self.seconds = self.flops(counts_again=True) / self.gpus / value / 1e12
        elif metric == "mfu_pct":
            self.seconds = self.flops() / self.gpus / (value / 100 * 312e12)
        else:
            raise ValueError(metric)

    def flops(self, counts_again=False):
        """Of a step: section 3.5 of SC21, whose 96 B s l h^2 (..) counts a forward computation that is computed again, 72 without."""
        s, layers, h = self.seq, self.layers, self.hidden
        each = 96 if counts_again else 72
        head = 16 if counts_again else 12
        return each * self.global_batch * s * layers * h * h * (1 + s / (6 * h) + self.vocab / (head * layers * h))

    def job(self):
        """What is to be computed, by how many devices: rows that have it are alternatives."""
        return self.layers, self.hidden, self.seq, self.global_batch, self.gpus

    def name(self):
        mesh = f"pp={self.pp},dp={self.dp},tp={self.tp}" + (f" x{self.interleave}" if self.interleave > 1 else "")
        return f"{self.fields['model']} {mesh} micro {self.micro_batch}{' ZeRO 3' if self.zero else ''} {self.fields['recompute']}"


def stack_of(source):
    if "ZeRO-3" in source:
        return "ZeRO-3 (SC21, table 2)"
    if "Table 2" in source:
        return "SC21, table 2"
    return "SC21, table 1" if "SC21" in source else "Korthikanti"


def read_rows(path):
    """One of each plan: where a source says several metrics of it, seconds before FLOPs a second."""
    best = {}
    order = ["iteration_s", "hw_tflops_per_gpu", "mfu_pct"]
    with open(path, newline="") as file:
        for fields in csv.DictReader(file):
            if fields["metric"] not in order:
                continue
            key = tuple(value for name, value in fields.items() if name not in ("metric", "value"))
            if key not in best or order.index(fields["metric"]) < order.index(best[key]["metric"]):
                best[key] = fields
    return [Row(fields) for fields in best.values()]


def selene(row):
    """The machine's file, of as many of its devices as the row's: within a node there is no InfiniBand."""
    parts = (HERE / "selene.toml").read_text().rstrip().split("\n\n[[")
    nodes, between = "\n\n[[".join(part for part in parts if "InfiniBand" not in part), next(part for part in parts if "InfiniBand" in part)
    if not row.overlaps_between_nodes:
        between += "\noverlaps = false"
    return nodes.replace("count = 8", f"count = {row.gpus}") + (f"\n\n[[{between}\n" if row.gpus > 8 else "\n")


def plan(row, folder, extra=()):
    """What `weir plan` says of the row's plan, or a text that says why it says nothing."""
    cluster = pathlib.Path(folder, "cluster.toml")
    cluster.write_text(selene(row))
    microbatches = row.global_batch // row.micro_batch // row.dp
    mesh = ",".join(f"{axis}={size}" for axis, size in (("pp", row.pp), ("dp", row.dp), ("tp", row.tp)) if size > 1)
    command = [BIN / "weir", "plan", HERE / "gpt.weir", "--cluster", cluster, "--precision", "f16", "--exact", "0", "--json", "--mesh", mesh,
               "--microbatches", microbatches, "--zero", row.zero if row.dp > 1 else 0, *extra]
    for name, value in dict(layers=row.layers, width=row.hidden, heads=row.heads, context=row.seq, vocab=row.vocab, batch=row.global_batch // microbatches,
                            microbatches=microbatches,
                            again="true" if row.recompute == "full" else "false").items():
        command += ["--set", f"{name}={value}"]
    if row.pp > 1:
        command += ["--schedule", f"interleaved:{row.interleave}" if row.interleave > 1 else "1f1b"]
    if row.tp > 1:
        command += ["--sequence-parallel", "on" if row.sequence_parallel else "off"]
        command += ["--tp-reduce-dtype", "f16"]  # all of them add up in f16
    if row.low_gradients:
        command += ["--grad-reduce-dtype", "f16"]
    if not row.overlaps:
        command += ["--no-overlap"]
    if row.recompute == "selective":
        command += ["--recompute", "h.*.attention.core"]
    child = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if child.returncode:
        return child.stderr.strip().split("\n")[0]
    return json.loads(child.stdout)["plans"][0]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else math.nan


def off(predicted, measured):
    return abs(predicted / measured - 1)


def baseline_of(rows):
    """The FLOPs a second of a device with which the mean error of the rows is least; it is that of one of them."""
    rates = [row.flops(row.recompute == "full") / row.gpus / row.seconds for row in rows]
    return min(rates, key=lambda rate: mean(off(row.flops(row.recompute == "full") / row.gpus / rate, row.seconds) for row in rows))


def pairs_in_order(rows, predicted):
    """Of alternatives that differ by more than NEAR: how many are in the measured order, of how many."""
    right = count = 0
    jobs = collections.defaultdict(list)
    for row in rows:
        jobs[row.job()].append(row)
    for job in jobs.values():
        for i, one in enumerate(job):
            for other in job[:i]:
                if max(one.seconds, other.seconds) / min(one.seconds, other.seconds) > 1 + NEAR:
                    count += 1
                    right += (one.seconds < other.seconds) == (predicted[one] < predicted[other])
    return right, count


def kendall(numbers, others):
    """Rank correlation; of fewer than two, nothing."""
    sign = lambda x: (x > 0) - (x < 0)
    pairs = [(i, j) for i in range(len(numbers)) for j in range(i)]
    return mean(sign(numbers[i] - numbers[j]) * sign(others[i] - others[j]) for i, j in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=pathlib.Path, default=ROOT.parent / "shared" / "reference" / "published-plans.csv")
    parser.add_argument("--only", default="", help="rows whose stack or name has this text")
    options = parser.parse_args()
    if not options.table.exists():
        print(f"skipped: there is no table of published plans at {options.table}")
        return
    rows = [row for row in read_rows(options.table) if options.only in row.stack + " " + row.name()]
    predicted = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            found = plan(row, folder)
            if isinstance(found, str):
                print(f"{row.name()}: {found}", file=sys.stderr)
            else:
                predicted[row] = found["seconds"]
                row.parts = found
    rows = [row for row in rows if row in predicted]
    stacks = collections.defaultdict(list)
    for row in rows:
        stacks[row.stack].append(row)
    probed, baseline = {}, {}
    print("| plan | published, s | predicted, s | off | with one run | off | one constant, off | computes | again | exchanges | waits |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for stack, some in stacks.items():
        scale, rate = some[0].seconds / predicted[some[0]], baseline_of(some)
        print(f"| **{stack}** | | | | x {scale:.3f} | | {rate / 1e12:.0f} TFLOP/s | | | | |")
        for row in some:
            probed[row] = scale * predicted[row]
            baseline[row] = row.flops(row.recompute == "full") / row.gpus / rate
            signed = lambda figures: f"{100 * (figures[row] / row.seconds - 1):+.1f} %"
            print(f"| {row.name()} | {row.seconds:.2f} | {predicted[row]:.2f} | {signed(predicted)} | {probed[row]:.2f} | "
                  f"{signed(probed) if row is not some[0] else 'the run'} | {signed(baseline)} | "
                  + " | ".join(f"{100 * row.parts[part] / row.parts['seconds']:.0f} %" for part in ("computing", "recomputing", "exposed", "bubble")) + " |")
    print("\n| stack | rows | mean error | with one run | one constant | pairs in order | with one run |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for stack, some in [*stacks.items(), ("all", rows)]:
        error = lambda figures, these: f"{100 * mean(off(figures[row], row.seconds) for row in these):.1f} %"
        others = [row for row in some if row is not stacks[row.stack][0]]
        (right, count), (then, _) = pairs_in_order(some, predicted), pairs_in_order(some, probed)
        print(f"| {stack} | {len(some)} | {error(predicted, some)} | {error(probed, others)} | {error(baseline, some)} | {right} of {count} | {then} of {count} |")
    jobs = collections.defaultdict(list)
    for row in rows:
        jobs[row.job()].append(row)
    several = [job for job in jobs.values() if len(job) > 1]
    if several:
        print(f"\n{len(several)} jobs with alternatives:\n")
        print("| | Kendall's rank correlation, mean | what is chosen takes longer than the best, mean | at most |\n| --- | --- | --- | --- |")
    for name, figures in (("as described", predicted), ("with one run", probed)) if several else ():
        correlation = mean(kendall([row.seconds for row in job], [figures[row] for row in job]) for job in several)
        regret = [min(job, key=figures.get).seconds / min(row.seconds for row in job) - 1 for job in several]
        print(f"| {name} | {correlation:.2f} | {100 * mean(regret):.1f} % | {100 * max(regret):.1f} % |")


if __name__ == "__main__":
    main()
