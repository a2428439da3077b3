#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of a training step against PyTorch, eager and compiled, each in the same precision, in one run.

  step-time.py --weir build/bin/weir --peer ../shared/peers/torch_train.py --data ../shared/data
  step-time.py --weir build/bin/weir --peer ... --data ... --cases gpt-char gpt-6x384 --precisions bf16 --rounds 5

First the losses are compared. Of gpt-char both take 50 steps from the same weights and windows: in f32 they agree to 1e-4, and
in bf16 Weir's are on the average no further from its own in f32 than 1.5 times what PyTorch's are from PyTorch's. Of MNIST the
mean losses of steps 151 to 200 differ by no more than 0.1. Else nothing is timed.

Then Weir and its peers run in turn, on two threads, and the median of the rounds counts. Weir's step is the wall time of many
steps less that of few, divided by their difference: start-up and compiling cancel, reading data counts. The peer's is the median
of what it measures itself, without drawing its data. Prints a JSON object a line. A timing on a busy machine is void: the load is
printed with it.
"""
import argparse, dataclasses, json, os, random, statistics, struct, subprocess, sys, tempfile, time


@dataclasses.dataclass
class Case:
    model: str
    sets: dict      # of the model file
    peer: list      # the peer's arguments for the same
    steps: tuple    # few and many


def gpt(layers, heads, width, context, batch, steps):
    sizes = dict(layers=layers, heads=heads, width=width, context=context, batch=batch)
    return Case("gpt-char", sizes, ["gpt"] + [text for k, v in sizes.items() for text in (f"--{k}", str(v))], steps)


CASES = {
    "gpt-char": gpt(4, 4, 128, 64, 12, (50, 450)),
    "gpt-6x384": gpt(6, 6, 384, 256, 8, (4, 24)),
    "gpt-12x768": gpt(12, 12, 768, 256, 2, (3, 13)),
    "mnist-mlp": Case("mnist-mlp", {}, ["mlp"], (200, 2200)),
    "mnist-cnn": Case("mnist-cnn", {}, ["cnn"], (50, 450)),
}


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nexited with {result.returncode}:\n{result.stderr[-2000:]}")
    return result.stdout


def say(**what):
    print(json.dumps(what), flush=True)


def inputs(a, case):
    if case.model == "gpt-char":
        return ["--data", f"window={a.data}/shakespeare.txt"]
    return [f"--data=images={a.data}/mnist/train-images.idx3-ubyte", f"--data=labels={a.data}/mnist/train-labels.idx1-ubyte"]


def compiled(a, case, precision, folder):
    artifact = os.path.join(folder, f"{case.model}-{precision}.weirx")
    sets = [text for k, v in case.sets.items() for text in ("--set", f"{k}={v}")]
    run([a.weir, "compile", f"models/{case.model}.weir", *sets, "--precision", precision, "-o", artifact])
    return artifact


def peer(a, case, *options):
    return json.loads(run([sys.executable, a.peer, *case.peer, "--threads", "2", *options]))


def write_windows(path, text, rows, width):
    """A .npy file of random windows of the text, as indices into its sorted characters."""
    index = {c: i for i, c in enumerate(sorted(set(text)))}
    draw = random.Random(7)
    values = []
    for _ in range(rows):
        at = draw.randrange(len(text) - width)
        values += [index[c] for c in text[at:at + width]]
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({rows}, {width}), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack(f"<{len(values)}i", *values))


def losses_of(a, artifact, data, steps, folder, *options):
    metrics = os.path.join(folder, "metrics.jsonl")
    run([a.weir, "run", artifact, *data, "--steps", str(steps), "--metrics", metrics, *options])
    with open(metrics) as f:
        losses = [r["loss"] for r in map(json.loads, f) if "event" not in r]
    os.remove(metrics)
    return losses


def check_gpt(a, folder):
    case, steps = CASES["gpt-char"], 50
    weights, windows = (os.path.join(folder, n) for n in ("init.safetensors", "windows.npy"))
    with open(f"{a.data}/shakespeare.txt") as f:
        write_windows(windows, f.read(), steps * case.sets["batch"], case.sets["context"] + 1)
    options = ["--steps", str(steps), "--windows", windows, "--all-losses"]
    torch = {"f32": peer(a, case, *options, "--save-init", weights)["losses"]}
    torch["bf16"] = peer(a, case, *options, "--init", weights, "--dtype", "bf16")["losses"]
    weir = {}
    for precision in torch:
        weir[precision] = losses_of(a, compiled(a, case, precision, folder), ["--data", f"window={windows}"], steps, folder,
                                    "--no-shuffle", "--init", weights)
    worst = max(abs(x - y) for x, y in zip(weir["f32"], torch["f32"], strict=True))
    ours, theirs = (statistics.mean(abs(x - y) for x, y in zip(of["bf16"], of["f32"], strict=True)) for of in (weir, torch))
    say(case="gpt-char", largest_loss_difference=worst, bf16_from_f32=ours, torch_bf16_from_f32=theirs, ratio=round(ours / theirs, 3))
    if worst > 1e-4 or ours > 1.5 * theirs:
        sys.exit("the losses differ: nothing was timed")


def check_mnist(a, name, precision, folder):
    case = CASES[name]
    ours = losses_of(a, compiled(a, case, precision, folder), inputs(a, case), 200, folder)
    theirs = peer(a, case, "--steps", "200", "--all-losses", "--dtype", precision)["losses"]
    ours, theirs = statistics.mean(ours[150:]), statistics.mean(theirs[150:])
    say(case=name, precision=precision, loss=round(ours, 4), torch_loss=round(theirs, 4))
    if abs(ours - theirs) > 0.1:
        sys.exit("the losses differ: nothing was timed")


def peer_ms(a, case, precision, *options):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch-step.py")
    return float(run([sys.executable, script, a.peer, *case.peer, "--steps", str(case.steps[1]), "--dtype", precision, *options]))


def weir_ms(a, artifact, case):
    few, many = case.steps
    times = []
    for steps in case.steps:
        start = time.perf_counter()
        run([a.weir, "run", artifact, *inputs(a, case), "--steps", str(steps), "--threads", "2"])
        times.append(time.perf_counter() - start)
    return 1e3 * (times[1] - times[0]) / (many - few)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weir", required=True, help="the weir binary")
    p.add_argument("--peer", required=True, help="torch_train.py")
    p.add_argument("--data", required=True, help="folder with shakespeare.txt and mnist/")
    p.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    p.add_argument("--precisions", nargs="+", default=["f32", "bf16"], choices=["f32", "bf16"])
    p.add_argument("--rounds", type=int, default=3)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if any(name.startswith("gpt") for name in a.cases):
            check_gpt(a, folder)
        for name in a.cases:
            case, f32 = CASES[name], None
            for precision in a.precisions:
                if name.startswith("mnist"):
                    check_mnist(a, name, precision, folder)
                artifact = compiled(a, case, precision, folder)
                weir, eager, inductor = [], [], []
                for _ in range(a.rounds):
                    weir.append(weir_ms(a, artifact, case))
                    eager.append(peer_ms(a, case, precision))
                    inductor.append(peer_ms(a, case, precision, "--compile"))
                ours, theirs, fast = map(statistics.median, (weir, eager, inductor))
                f32 = ours if precision == "f32" else f32
                say(case=name, precision=precision, weir_ms=round(ours, 3), torch_eager_ms=round(theirs, 3),
                    torch_compiled_ms=round(fast, 3), of_best_peer=round(ours / min(theirs, fast), 3),
                    **({"of_own_f32": round(ours / f32, 3)} if f32 and precision != "f32" else {}),
                    rounds=a.rounds, load=round(os.getloadavg()[0], 2))


if __name__ == "__main__":
    main()
