#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the GPU benchmark out of a kit (tools/dev/gpu-kit), part by part, and keeps all results in one JSON file.

    python3 run.py                          what fits into 8 minutes
    python3 run.py --resume                 the next parts, until all are done
    python3 run.py --part losses            this part alone, again
    python3 run.py --list                   the parts, and what became of each

The machine needs NVIDIA's driver, cuBLASLt (of a CUDA toolkit or of the Python packages that PyTorch and JAX bring) and, for
the peers, PyTorch and JAX. A part that fails is kept with its error, and the others go on: exit status 1 at the end. Where the losses
differ from those of the CPU, nothing of Weir's is timed.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

import cases

HERE = pathlib.Path(__file__).resolve().parent

# Dense bf16 products with f32 sums, TFLOP/s, by NVIDIA's data sheets: what MFU is a share of.
NOMINAL = {
    r"H200 NVL": 835.5,
    r"H100 (80GB HBM3|SXM)|H200|GH200": 989.4,
    r"H100 PCIe": 756.0,
    r"H100 NVL": 835.0,
    r"A100": 312.0,
    r"B200": 2250.0,
}

CUBLASLT_WORKSPACE = 32 << 20  # of the one queue that computes
GOALS = {"of_best_peer": 1.1, "memory_of_best_peer": 0.8, "gpt2-124m_tokens_per_second_h100": 468000}

# Of losses, relative to the CPU's. The devices sum in other orders, and training magnifies that, in some models a thousand
# times in twenty steps: ten times what two CPUs differ by, up to the same step, is close too.
CLOSE = {"f32": 1e-4, "bf16": 5e-3}


class Failed(Exception):
    pass


class Run:
    """One call of this program: its options, the kit's manifest and the results so far."""

    def __init__(self, options):
        self.options = options
        self.manifest = json.loads((HERE / "kit.json").read_text())
        self.work = options.work.resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.path = self.work / "results.json"
        self.parts = {}
        if (options.resume or options.part or options.list) and self.path.exists():
            self.parts = json.loads(self.path.read_text())["parts"]
        self.environment = dict(
            os.environ,
            WEIR_CUDA_LIBRARIES=":".join(library_folders(options.python)),
            WEIR_KERNEL_CACHE=str(self.work / "kernels"),
            TORCHINDUCTOR_CACHE_DIR=str(self.work / "inductor"),
            NO_COLOR="1",
        )

    def execute(self, command, limit):
        """Standard output of a command, whose process group is ended after `limit` seconds."""
        process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            env=self.environment, cwd=self.work, start_new_session=True,
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise Failed(f"not done after {limit:.0f} s\n{err[-3000:]}") from None
        if process.returncode:
            raise Failed(f"ended with {process.returncode}\n{(out + err)[-4000:]}")
        return out

    def weir(self, artifact, entry, rows, options, limit):
        """A run of an artifact: its results, and a record of each step, behind which comes that of the whole run."""
        folder = self.work / "data" / artifact
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        data = cases.write_inputs(folder, entry["inputs"], rows)
        metrics = folder / "metrics.jsonl"
        device = ["--device", self.options.device] if self.options.device else []
        out = self.execute(
            [HERE / "bin" / "weir-run", HERE / "artifacts" / artifact, *data, *device, "--no-shuffle", "--seed", 1,
             "--json", "--metrics", metrics, *options],
            limit,
        )  # fmt: skip
        records = [json.loads(line) for line in metrics.read_text().splitlines()]
        return json.loads(out), [r for r in records if "event" not in r], next(r for r in records if r.get("event") == "done")

    def peer(self, name, script, more, limit):
        case = self.manifest["timed"][name]
        command = [self.options.python, HERE / script, "--case", name, "--device", "cpu" if self.cpu() else "cuda", *more]
        if self.manifest["small"]:
            command.append("--small")
        found = json.loads(self.execute(command, limit).strip().splitlines()[-1])
        return found | self.rates(case, found["step_ms"])

    def cpu(self):
        return self.options.device == "emulated"

    def rates(self, case, step_ms):
        """Tokens or samples a second; the model's own FLOP/s, and what share of the device's they are."""
        rows_per_second = case["batch"] * 1e3 / step_ms
        tflops = rows_per_second * case["flops_per_row"] / 1e12
        nominal = self.nominal()
        measured = self.measured().get("matrix_bf16_tflops")
        return {
            "per_second": rows_per_second * case["per_row"],
            "unit": case["unit"],
            "tflops": tflops,
            "mfu": tflops / nominal if nominal else None,
            "of_measured_peak": tflops / measured if measured else None,
        }

    def measured(self):
        return self.parts.get("peaks", {}).get("result", {})

    def nominal(self):
        gpu = self.parts.get("machine", {}).get("result", {}).get("gpu", "")
        return next((peak for pattern, peak in NOMINAL.items() if re.search(pattern, gpu)), None)

    def save(self):
        content = {"kit": self.manifest["kit"], "goals": GOALS, "summary": summary(self), "parts": self.parts}
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(content, indent=1))
        fresh.rename(self.path)


def library_folders(python):
    """Where CUDA's libraries are: the folders already named, those of a Python's packages, those of a toolkit."""
    found = [folder for folder in os.environ.get("WEIR_CUDA_LIBRARIES", "").split(":") if folder]
    says = subprocess.run([python, "-c", "import sys; print('\\n'.join(sys.path))"], capture_output=True, text=True).stdout
    for place in says.splitlines():
        found += sorted(glob.glob(os.path.join(glob.escape(place), "nvidia", "*", "lib"))) if place else []
    found += sorted(glob.glob("/usr/local/cuda*/lib64"), reverse=True)
    return list(dict.fromkeys(found))


def ask_gpu(*fields):
    """What nvidia-smi says of the first GPU, or nothing."""
    if not shutil.which("nvidia-smi"):
        return {}
    done = subprocess.run(
        ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "--id=0"],
        capture_output=True, text=True,
    )  # fmt: skip
    values = done.stdout.strip().split(", ")
    return dict(zip(fields, values)) if done.returncode == 0 and len(values) == len(fields) else {}


class Watch:
    """Of the whole device while a part runs: the most memory in use, and the clocks, as nvidia-smi has them."""

    def __enter__(self):
        self.stop, self.seen = threading.Event(), []
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.stop.wait(0.5):
            seen = ask_gpu("memory.used", "clocks.sm", "power.draw")
            if not seen:
                return
            self.seen.append([float(value) if re.fullmatch(r"[\d.]+", value) else 0.0 for value in seen.values()])

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def result(self):
        if not self.seen:
            return {}
        memory, clock, power = zip(*self.seen)
        busy = [c for c, p in zip(clock, power) if p > 0.5 * max(power)]
        return {"device_memory_mib": max(memory), "sm_clock_mhz": statistics.median(busy or clock), "power_w": max(power)}


def machine(run, limit):
    found = {
        "host": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count(),
        "libraries": run.environment["WEIR_CUDA_LIBRARIES"].split(":"),
    }  # fmt: skip
    seen = ask_gpu("name", "uuid", "memory.total", "driver_version", "clocks.max.sm", "power.limit")
    found |= {"gpu": seen.get("name", ""), "nvidia_smi": seen}
    ask = "import importlib.metadata as m; print(m.version('{0}'))"
    for package in ("torch", "triton", "jax", "jaxlib", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-cublas"):
        done = subprocess.run([run.options.python, "-c", ask.format(package)], capture_output=True, text=True)
        found[package] = done.stdout.strip() if done.returncode == 0 else None
    run.execute([HERE / "bin" / "weir-run", "--help"], limit)
    return found


def losses(run, limit):
    """Twenty steps of each model against what a CPU wrote when the kit was packed, several models at a time."""
    end = time.monotonic() + limit

    def compared(entry):
        """What was found of a model, and what is wrong with it, or nothing."""
        expected = entry["losses"]
        try:
            left = max(5, end - time.monotonic())
            _, records, _ = run.weir(entry["artifact"], entry, entry["rows"], ["--steps", len(expected)], left)
            got = [record["loss"] for record in records]
            apart = [abs(a - b) / max(1.0, abs(b)) for a, b in zip(got, expected, strict=True)]
        except (Failed, ValueError) as failure:
            return {"error": str(failure)}, str(failure)
        found = {"apart_first": apart[0], "apart": max(apart), "apart_of_cpus": entry["apart"][-1]}
        close = [max(CLOSE[entry["precision"]], 10 * of_cpus) for of_cpus in entry["apart"]]
        far = next((step for step in range(len(apart)) if not apart[step] <= close[step]), None)  # also a NaN
        if far is None:
            return found, None
        found |= {"losses": got, "losses_of_cpu": expected}
        return found, f"the loss of step {far + 1} is {apart[far]:.2g} apart, more than {close[far]:.2g}"

    models = run.manifest["losses"]
    with concurrent.futures.ThreadPoolExecutor(run.options.jobs) as pool:
        pairs = dict(zip(models, pool.map(compared, models.values())))
    wrong = [f"{name}: {why}" for name, (_, why) in pairs.items() if why]
    return {"agree": not wrong, "wrong": wrong, "models": {name: found for name, (found, _) in pairs.items()}}


def peaks(run, limit):
    command = [run.options.python, HERE / "peaks.py", "--device", "cpu" if run.cpu() else "cuda"]
    return json.loads(run.execute(command, limit).strip().splitlines()[-1])


def timed(run, name, limit):
    """Weir's time of a step, then the time of each kind of kernel in a shorter run that launches one by one."""
    losses = run.parts.get("losses", {}).get("result", {})
    if not losses.get("agree"):
        raise Failed("the losses were not found to be the CPU's (part losses): nothing is timed")
    case, begin = run.manifest["timed"][name], time.monotonic()
    steps = 4 if run.manifest["small"] else 40
    rows = 2 * case["batch"]
    _, records, done = run.weir(case["artifact"], case, rows, ["--steps", steps], limit)
    times = [record["step_ms"] for record in records][steps // 4 :]
    found = {
        "step_ms": statistics.median(times), "fastest_ms": min(times), "steps": steps, "run_s": done["seconds"],
        "memory_bytes": case["arena_bytes"] + CUBLASLT_WORKSPACE, "first_loss": records[0]["loss"], "last_loss": records[-1]["loss"],
    }  # fmt: skip
    found |= run.rates(case, found["step_ms"])
    try:
        left = limit - (time.monotonic() - begin)
        profile = run.weir(case["artifact"], case, rows, ["--steps", min(steps, 6), "--profile"], left)[0]["profile"]
        slowest = sorted(profile["actions"], key=lambda action: -(action.get("ms") or 0))[:50]
        found |= {"profiled_step_ms": profile["step_ms"], "kinds": kinds(profile["actions"], run.measured()), "slowest": slowest}
    except Failed as failure:  # the time of a step is there all the same
        found["profile_error"] = str(failure)
    return found


def torch_peer(run, name, limit):
    """In max-autotune or, where its search takes too long or fails, with CUDA graphs alone."""
    begin = time.monotonic()
    try:
        return run.peer(name, "peers_torch.py", [], limit * 0.7)
    except Failed as failure:
        left = limit - (time.monotonic() - begin)
        return run.peer(name, "peers_torch.py", ["--mode", "reduce-overhead"], left) | {"max_autotune_error": str(failure)}


def kinds(actions, peaks):
    """Milliseconds a step by kind, a library's call or a kernel's shape, what these achieved, and what share of the peaks."""
    found = {}
    for action in actions:
        what = action["what"]
        kind = what.rsplit(", ", 1)[1] if what.startswith("kernel") else re.sub(r"^\d+ ", "", what).split(" ")[0]
        sums = found.setdefault(kind, {"ms": 0.0, "runs": 0.0, "flops": 0.0, "bytes": 0.0})
        for field in sums:
            sums[field] += action.get(field) or 0.0
    for sums in found.values():
        if sums["ms"]:
            sums |= {"tflops": sums["flops"] / sums["ms"] / 1e9, "gb_per_s": sums["bytes"] / sums["ms"] / 1e6}
        if sums["ms"] and peaks:
            sums |= {
                "of_matrix_peak": sums["tflops"] / peaks["matrix_bf16_tflops"],
                "of_copy_peak": sums["gb_per_s"] / peaks["copy_gb_per_s"],
            }
    return dict(sorted(found.items(), key=lambda entry: -entry[1]["ms"]))


def summary(run):
    """Of each case Weir's rate and memory beside the best peer's, where both are there.

    Memory is what each keeps for a step: Weir's arena and its library's workspace, what PyTorch's allocator holds after its
    search for the best code was given back, the most that JAX's had in use. What the whole device held, contexts, code and
    searches included, stands beside it."""
    found = {}
    for name in run.manifest["timed"]:
        results = {who: run.parts.get(f"{name} {who}", {}).get("result") for who in ("weir", "torch", "jax")}
        rates = {who: result["per_second"] for who, result in results.items() if result}
        memory = {who: result["memory_bytes"] for who, result in results.items() if result and result.get("memory_bytes")}
        whole = {who: run.parts[f"{name} {who}"].get("device", {}).get("device_memory_mib") for who in rates}
        found[name] = {"per_second": rates, "memory_bytes": memory, "device_memory_mib": whole}
        peers = [who for who in rates if who != "weir"]
        if "weir" in rates and peers:
            best = max(peers, key=rates.get)
            found[name] |= {"best_peer": best, "of_best_peer": rates["weir"] / rates[best]}
            if best in memory:
                found[name]["memory_of_best_peer"] = memory["weir"] / memory[best]
    return found


def parts_of(manifest):
    """Every part in order: name -> what runs it, the seconds it is expected to take and those after which it is ended."""
    parts = {"machine": (machine, 30, 90), "losses": (losses, 90, 420), "peaks": (peaks, 40, 120)}
    for name in manifest["timed"]:
        parts[f"{name} weir"] = (lambda run, limit, name=name: timed(run, name, limit), 40, 240)
        parts[f"{name} torch"] = (lambda run, limit, name=name: torch_peer(run, name, limit), 150, 460)
        parts[f"{name} jax"] = (lambda run, limit, name=name: run.peer(name, "peers_jax.py", [], limit), 80, 300)
    return parts


def perform(run, name, parts, deadline):
    execute, _, limit = parts[name]
    say(f"{name} ...")
    begin, entry = time.monotonic(), {}
    with Watch() as watch:
        try:
            entry["result"] = execute(run, min(limit, deadline - begin))
        except Failed as failure:
            entry["error"] = str(failure)
        except Exception as fault:  # a fault here ends this part alone
            entry["error"] = f"{type(fault).__name__}: {fault}"
    entry |= {"seconds": round(time.monotonic() - begin, 1), "device": watch.result(), "gpu": ask_gpu("uuid").get("uuid")}
    run.parts[name] = entry
    run.save()
    result = entry.get("result", {})
    wrong = entry.get("error") or "\n".join(result.get("wrong", []))
    rate = f"{result['per_second']:,.0f} {result['unit']}/s, {result['step_ms']:.2f} ms a step" if "per_second" in result else "done"
    say(f"{name}: {'FAILED ' + wrong if wrong else rate} ({entry['seconds']:.0f} s)")


def failed(entry):
    return "error" in entry or bool(entry.get("result", {}).get("wrong"))


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    about, _, more = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", metavar="NAME", help="run this part, though it be done; may be given again")
    parser.add_argument("--resume", action="store_true", help="go on with the parts that are not done, instead of starting anew")
    parser.add_argument("--again", action="store_true", help="with --resume: also the parts that failed")
    parser.add_argument("--minutes", type=float, default=8, help="begin no part that is expected to end later (default %(default)s)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("weir-gpu"), help="folder of results and caches (default ./%(default)s)")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch and JAX (default: this one)")
    parser.add_argument("--device", choices=["cuda", "emulated"], help="emulated: Weir's GPU of the tests; peers run on the CPU")
    parser.add_argument("--jobs", type=int, default=1, help="models that are compared at a time (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="list the parts")
    options = parser.parse_args()
    run = Run(options)
    parts = parts_of(run.manifest)
    if options.list:
        for name in parts:
            entry = run.parts.get(name)
            print(f"{name:20} {'to do' if entry is None else 'failed' if failed(entry) else 'done'}")
        return 0
    for name in options.part or []:
        if name not in parts:
            parser.error(f"--part {name} is none of {', '.join(parts)}")
    todo = options.part or [n for n in parts if n not in run.parts or options.again and failed(run.parts[n])]
    deadline = time.monotonic() + 60 * options.minutes
    for place, name in enumerate(todo):
        if place and time.monotonic() + parts[name][1] > deadline:
            say(f"{len(todo) - place} parts are left: the same command with --resume goes on")
            break
        perform(run, name, parts, deadline)
    run.save()
    print(json.dumps(summary(run), indent=1))
    return int(any(failed(entry) for entry in run.parts.values()))


if __name__ == "__main__":
    sys.exit(main())
