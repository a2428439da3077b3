#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of a training step in less memory, against PyTorch's two ways to it, in one run.

  memory-time.py --weir build/bin/weir --peer ../shared/peers/torch_train.py --data ../shared/data
  memory-time.py --weir build/bin/weir --data ../shared/data --cases resnet unet

Shares are of the bytes kept from the forward computation for the backward one: for Weir of what `weir inspect --memory` says of the whole program,
and `--memory` leaves room for parameters, state, one gradient of each parameter and all else that the program takes beside them. Where that
is less than all, `--offload activations` is timed too. The losses of 20 steps have to be those of the whole program, bit for bit, else it is not timed. Of PyTorch: eager, every layer checkpointed (torch.utils.checkpoint), compiled, and compiled
with activation_memory_budget at the same shares; `kept` is what autograd saves. Two threads; the least median of the rounds counts. Prints a JSON
object a line, with overheads against the same framework's own whole step.
"""
import argparse, json, math, os, re, statistics, subprocess, sys, tempfile

SHARES = [1.0, 0.8, 0.6, 0.5, 0.4, 0.3]
GPT = {"gpt-6x384": dict(layers=6, heads=6, width=384, context=256, batch=12),
       "gpt-12x768": dict(layers=12, heads=12, width=768, context=256, batch=4)}


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}\nexited with {result.returncode}:\n{result.stderr[-2000:]}")
    return result


def say(**what):
    print(json.dumps(what), flush=True)


def random_rows(a, model, folder):
    """The inputs of an image model, as small files of the tests' kind."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
    os.environ["WEIR_BIN"] = os.path.dirname(os.path.abspath(a.weir))
    import pathlib, weirtest

    test = weirtest.Test()
    test.folder = pathlib.Path(folder)
    return [str(word) for word in test.rows_of(model, [], rows=96)]


def memory_of(a, artifact):
    memory = json.loads(run([a.weir, "inspect", "--json", artifact]).stdout)["memory"]
    reserve = 2 * -(-memory["thread_scratch"] // 4096) * 4096 + memory["batches"]
    return memory["persistent"] + reserve, memory["arena"] + reserve


def kept_by(a, artifact):
    return json.loads(run([a.weir, "inspect", "--memory", "--json", artifact]).stdout)["totals"]["kept"]


def gradient_bytes(a, artifact):
    variables = json.loads(run([a.weir, "inspect", "--json", artifact]).stdout)["variables"]
    return sum(4 * math.prod(v["shape"]) for v in variables if v["role"] == "parameter")


def timed(a, artifact, data, folder):
    metrics = os.path.join(folder, "metrics.jsonl")
    best, losses = None, None
    for _ in range(a.rounds):
        run([a.weir, "run", artifact, *data, "--steps", str(a.steps), "--seed", "1", "--threads", "2", "--metrics", metrics])
        records = [r for r in map(json.loads, open(metrics)) if "event" not in r]
        ms = statistics.median(r["step_ms"] for r in records[len(records) // 4:])
        best = ms if best is None else min(best, ms)
        losses = [r["loss"] for r in records]
    return best, losses


def weir(a, name, folder):
    sets = GPT.get(name, {})
    model = "gpt-char" if name in GPT else name
    data = ["--data", f"window={a.data}/shakespeare.txt"] if model == "gpt-char" else random_rows(a, model, folder)
    artifact = os.path.join(folder, "a.weirx")
    compiling = [a.weir, "compile", f"models/{model}.weir", "--threads", "2", "-o", artifact]
    compiling += [word for k, v in sets.items() for word in ("--set", f"{k}={v}")]
    run(compiling)
    fixed, whole = memory_of(a, artifact)
    kept, gradients = kept_by(a, artifact), gradient_bytes(a, artifact)
    base, expected = timed(a, artifact, data, folder)
    say(case=name, weir_ms=round(base, 2), kept=kept, gradients=gradients, scratch=whole - fixed, fixed=fixed)
    for share in a.shares:
        if share == 1:
            continue
        budget = str(int(whole + gradients - (1 - share) * kept))
        for offloads in [False, True]:
            where = dict(case=name, share=share, **({"offload": "activations"} if offloads else {}))
            done = subprocess.run([*compiling, "--memory", budget, *(["--offload", "activations"] if offloads else [])], capture_output=True, text=True)
            if done.returncode:
                say(**where, refused=True,
                    enough=[round(1 - (whole + gradients - int(b)) / kept, 3) for b in re.findall(r"--memory (\d+) is enough", done.stderr)])
                continue
            words = re.search(r"(?:recomputes (\d+) of its|offloads).*?, ([\d.]+) % more time \(at least ([\d.]+) %", done.stderr, re.S)
            ms, losses = timed(a, artifact, data, folder)
            if losses != expected:
                sys.exit(f"{name} at {share}: the losses differ")
            say(**where, weir_ms=round(ms, 2), overhead=round(ms / base - 1, 3),
                arena=memory_of(a, artifact)[1], kept_share=round(kept_by(a, artifact) / kept, 3),
                twice=int(words[1] or 0) if words else 0, predicted=words and float(words[2]) / 100, bound=words and float(words[3]) / 100)
            if not words:
                break


def torch(a, name):
    sizes = [word for k, v in GPT[name].items() for word in (f"--{k}", str(v))]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch-step.py")

    def step(*options):
        rounds = [json.loads(run([a.python, script, a.peer, "gpt", *sizes, "--steps", str(a.steps), "--kept", *options]).stdout)
                  for _ in range(a.rounds)]
        return min(rounds, key=lambda one: one["ms"])

    for label, whole, others in [
        ("eager", [], [("checkpoint per layer", ["--checkpoint"])]),
        ("compiled", ["--compile"], [(f"activation budget {s}", ["--compile", "--activation-budget", str(s)]) for s in a.shares if s < 1]),
    ]:
        base = step(*whole)
        say(case=name, torch=label, ms=round(base["ms"], 2), kept=base["kept"])
        for words, options in others:
            one = step(*options)
            say(case=name, torch=words, ms=round(one["ms"], 2), overhead=round(one["ms"] / base["ms"] - 1, 3),
                kept=one["kept"], kept_share=round(one["kept"] / base["kept"], 3))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weir", required=True, help="the weir binary")
    p.add_argument("--peer", help="torch_train.py; without it PyTorch is left out")
    p.add_argument("--python", default=sys.executable, help="a Python that has PyTorch")
    p.add_argument("--data", required=True, help="folder with shakespeare.txt")
    p.add_argument("--cases", nargs="+", default=[*GPT, "resnet", "unet"])
    p.add_argument("--shares", nargs="+", type=float, default=SHARES)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--rounds", type=int, default=1)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in a.cases:
            weir(a, name, folder)
            if a.peer and name in GPT:
                torch(a, name)
    say(load=round(os.getloadavg()[0], 2))


if __name__ == "__main__":
    main()
