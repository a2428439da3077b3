#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of a training step against a PyTorch peer, in one run.

  step-time.py --weir build/bin/weir --peer ../shared/peers/torch_train.py --data ../shared/data
  step-time.py --weir build/bin/weir --peer ... --data ... --models gpt-char --rounds 5

A step's time is the wall time of 1,200 steps less that of 200, divided by 1,000: start-up and compiling cancel. Weir and
the peer run in turn, and the median of the rounds counts. First both train gpt-char for 20 steps from the same weights and
windows, and nothing is timed unless the losses agree to 1e-4. Prints one JSON object per model, and how two threads of
Weir compare with one. A timing on a busy machine is void: the load is printed with it.
"""
import argparse, json, os, random, statistics, struct, subprocess, sys, tempfile, time

PEER_NAMES = {"gpt-char": "gpt", "mnist-mlp": "mlp", "mnist-cnn": "cnn"}


def arguments(a, model):
    if model == "gpt-char":
        return ["--data", f"window={a.data}/shakespeare.txt"]
    return [f"--data=images={a.data}/mnist/train-images.idx3-ubyte", f"--data=labels={a.data}/mnist/train-labels.idx1-ubyte"]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nexited with {result.returncode}:\n{result.stderr[-2000:]}")
    return result.stdout


def wall(command):
    start = time.perf_counter()
    run(command)
    return time.perf_counter() - start


def step_ms(command_for):
    return wall(command_for(1200)) - wall(command_for(200))


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


def check_losses(a, artifact, folder):
    weights, windows, metrics = (os.path.join(folder, n) for n in ("init.safetensors", "windows.npy", "metrics.jsonl"))
    with open(f"{a.data}/shakespeare.txt") as f:
        write_windows(windows, f.read(), 20 * 12, 65)
    peer = json.loads(run([sys.executable, a.peer, "gpt", "--steps", "20", "--save-init", weights, "--windows", windows,
                           "--all-losses"]))["losses"]
    run([a.weir, "run", artifact, "--init", weights, "--data", f"window={windows}", "--no-shuffle", "--steps", "20",
         "--metrics", metrics])
    with open(metrics) as f:
        ours = [r["loss"] for r in map(json.loads, f) if "event" not in r]
    worst = max(abs(x - y) for x, y in zip(ours, peer, strict=True))
    if worst > 1e-4:
        sys.exit(f"the losses differ by {worst}: nothing was timed")
    print(json.dumps({"model": "gpt-char", "largest_loss_difference": worst}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weir", required=True, help="the weir binary")
    p.add_argument("--peer", required=True, help="torch_train.py")
    p.add_argument("--data", required=True, help="folder with shakespeare.txt and mnist/")
    p.add_argument("--models", nargs="+", default=list(PEER_NAMES), choices=list(PEER_NAMES))
    p.add_argument("--rounds", type=int, default=3)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for model in a.models:
            artifact = os.path.join(folder, model + ".weirx")
            run([a.weir, "compile", f"models/{model}.weir", "-o", artifact])
            if model == "gpt-char":
                check_losses(a, artifact, folder)

            def ours(threads):
                return lambda steps: [a.weir, "run", artifact, *arguments(a, model), "--steps", str(steps), "--threads", str(threads)]

            def peer(steps):
                return [sys.executable, a.peer, PEER_NAMES[model], "--steps", str(steps), "--threads", "2"]

            two, one, torch = [], [], []
            for _ in range(a.rounds):
                two.append(step_ms(ours(2)))
                torch.append(step_ms(peer))
                one.append(step_ms(ours(1)))
            medians = [statistics.median(times) for times in (two, torch, one)]
            print(json.dumps({"model": model, "weir_ms": round(medians[0], 3), "torch_eager_ms": round(medians[1], 3),
                              "ratio": round(medians[0] / medians[1], 3), "one_thread_ms": round(medians[2], 3),
                              "two_threads_speedup": round(medians[2] / medians[0], 3), "rounds": a.rounds,
                              "load": os.getloadavg()[0]}), flush=True)


if __name__ == "__main__":
    main()
