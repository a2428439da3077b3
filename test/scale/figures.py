# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compile costs, and what a step of its artifact will. Of every figure less is better."""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

from cases import ROOT

BIN = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "build" / "bin"))

# Pass groups after which the IR is counted (tools/weir/commands/CompileReport.h): the last ones on tensors and on buffers.
PHASES = ("fuse", "plan")


@dataclasses.dataclass
class Spent:
    """Compile time and memory: they depend on the machine, so they are printed and never compared."""

    seconds: float  # of processors
    peak: int  # bytes


class Failed(Exception):
    """A command that did not end with 0; it has said why on standard error."""


def inspect(artifact, *options):
    command = [BIN / "weir", "inspect", artifact, "--json", *options]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}")
    return json.loads(done.stdout)


def compile_case(case, artifact, report):
    process = subprocess.Popen([BIN / "weir", *case.command(), "-o", artifact, "--report", report], cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(f"weir {' '.join(case.command())}: status {process.returncode}")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def figures_of(facts, sharding, report, artifact_bytes):
    """By name, from what `weir inspect --json`, `--sharding` (of a mesh, else None) and `weir compile --report` say.

    Of ranks, memory is the fullest one's; work is the first one's and exchanges are those of the first rank of each stage,
    as `weir inspect` has them. The operations are of the programs of all ranks.
    """
    step = facts["step"]
    flops = next(entry for entry in facts["flops"] if entry["entry"] == "step")
    memory = sharding["ranks"] if sharding else [facts["memory"]]
    figures = {
        "persistent_bytes": max(rank["persistent"] for rank in memory),
        "arena_bytes": max(rank["arena"] for rank in memory),
        "moved_bytes": step["bytes"],
        "kernels": len(facts["kernels"]),
        "launches": step["launches"],
        "library_calls": step["calls"],
        "artifact_bytes": artifact_bytes,
        "executed_flops": flops["executed_flops"],
        "all_flops": flops["all_flops"],
    }
    for axis, total in (sharding["totals"] if sharding else {}).items():
        figures[f"exchanged_bytes.{axis}"] = total["bytes"]
        figures[f"exchanges.{axis}"] = total["times"]
    for phase in report["phases"]:
        if phase["phase"] in PHASES:
            figures[f"operations.{phase['phase']}"] = phase["operations"]
    for step in report["kernels"]:
        if step["step"] == "lowered":
            figures["operations.kernels"] = step["operations"]
    return figures


def measure(case):
    """Figures and what they took."""
    with tempfile.TemporaryDirectory(prefix="weir-scale-") as folder:
        artifact, report = pathlib.Path(folder) / "a.weirx", pathlib.Path(folder) / "report.json"
        spent = compile_case(case, artifact, report)
        sharding = inspect(artifact, "--sharding") if case.is_mesh else None
        return figures_of(inspect(artifact), sharding, json.loads(report.read_text()), artifact.stat().st_size), spent
