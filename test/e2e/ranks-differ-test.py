"""Ranks that are not given the same: refused at the start, with a message that names what differs."""

import importlib
import json
import re
import shutil
import struct

import weirtest
from weirtest import data, eval_data, free_port, start

ranks = importlib.import_module("processes-test")


class Differ(ranks.Ranks):
    """Two ranks."""

    def given(self, first, other, tool="weir-run", **more):
        """What they say who are given other words."""
        port = free_port()
        processes = [start(tool, *words, env=self.environment(rank, 2, port), **more) for rank, words in enumerate((first, other))]
        for process in processes:
            self.addCleanup(self.put_away, process)
        return processes

    def refused(self, first, other, *lines, **more):
        """Both say on which option and with which values they differ, before the first step."""
        for _, err in self.all_end(self.given(first, other, **more), status=2, within=60):
            self.assertIn("the ranks of this run differ in their options or files:", err)
            for line in lines:
                self.assertRegex(err, rf"\n  {line}\n")
            self.assertNotRegex(err, r"step 1\b")

    def changed(self, path, name, edit):
        """A copy of a file, edited as bytes."""
        copy = self.folder / name
        copy.write_bytes(edit(path.read_bytes()))
        return copy

    def test_twenty_ways(self):
        """Each case is what both are given, what rank 0 and rank 1 are given besides, and the line of the message."""
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        images, labels = (self.folder / f"train-{name}.idx" for name in ("images", "labels"))
        size = 28 * 28
        # One pixel; the rows the other way round; fewer of them; another format with the same numbers.
        pixel = self.changed(images, "pixel.idx", lambda all: all[:-1] + bytes([all[-1] ^ 1]))
        order = self.changed(images, "order.idx", lambda all: all[:16] + b"".join(all[16 + size * at :][:size] for at in reversed(range(64))))
        fewer = [self.changed(path, f"fewer-{path.name}", lambda all, left_out=left_out: all[:4] + struct.pack(">i", 63) + all[8:-left_out])
                 for path, left_out in ((images, size), (labels, 1))]  # fmt: skip
        npy = weirtest.npy(self.folder / "labels.npy", "B", [64], labels.read_bytes()[8:])
        for seed in (1, 2):
            self.weir_run(artifact, *rows, "--steps", 1, "--seed", seed, "--checkpoint", self.folder / f"kept-{seed}")
        weights = self.folder / "kept-1" / "step-00000001" / "model.safetensors"
        bit = self.changed(weights, "bit.safetensors", lambda all: all[:-3] + bytes([all[-3] ^ 1]) + all[-2:])
        held, held_other = eval_data(images=images, labels=labels), eval_data(images=pixel, labels=labels)
        kept = ["--checkpoint", self.folder / "kept"]
        fed, ten = rows, ["--steps", 10]
        content = r"\S+ \(\d+ bytes, \w+, content [0-9a-f]{16}\)"
        cases = (
            ([], data(images=images, labels=labels), data(images=pixel, labels=labels), rf"--data images: {content} on rank 0, \S+pixel.idx \(50192 bytes, idx, content \w+\) on rank 1"),
            ([], data(images=images, labels=labels), data(images=order, labels=labels), rf"--data images: {content} on rank 0, \S+order.idx .* on rank 1"),
            ([], data(images=images, labels=labels), data(images=fewer[0], labels=fewer[1]), r"--data images: \S+ \(50192 bytes, .*\) on rank 0, \S+ \(49408 bytes, .*\) on rank 1"),
            ([], data(images=images, labels=labels), data(images=images, labels=npy), r"--data labels: \S+ \(72 bytes, idx, .*\) on rank 0, \S+ \(192 bytes, npy, .*\) on rank 1"),
            (fed, held, held_other, rf"--eval-data images: {content} on rank 0, {content} on rank 1"),
            (fed, held, [], r"--eval-data: for images, labels on rank 0, not given on rank 1"),
            (fed, ["--init", weights], ["--init", bit], r"--init: \S+ \((\d+) bytes, content \w+\) on rank 0, \S+bit.safetensors \(\1 bytes, content \w+\) on rank 1"),
            (fed, ["--init", weights], ["--init", self.folder / "kept-1"], r"--init: \S+ \(a file\) on rank 0, \S+kept-1 \(the directory of a run\) on rank 1"),
            (fed, ["--init", weights], [], r"--init: given on rank 0, not given on rank 1"),
            (fed, ["--init", weights], ["--init-partial", weights], r"--init-partial: not given on rank 0, given on rank 1"),
            (fed, ["--init-partial", weights], ["--init-partial", bit], r"--init-partial: \S+ \(.*\) on rank 0, \S+bit.safetensors \(.*\) on rank 1"),
            (fed, ["--holdout", 0.25], ["--holdout", 0.5], "--holdout: 0.25 on rank 0, 0.5 on rank 1"),
            (fed, ["--no-shuffle"], [], "--no-shuffle: given on rank 0, not given on rank 1"),
            (fed, ["--steps", 3], ["--steps", 4], "--steps: 3 on rank 0, 4 on rank 1"),
            (fed, ["--epochs", 1], ["--epochs", 2], "--epochs: 1 on rank 0, 2 on rank 1"),
            (fed, ["--seed", 5], [], "--seed: 5 on rank 0, 1 on rank 1"),
            ([*fed, "--holdout", 0.25], ["--eval-every", 2], ["--eval-every", 3], "--eval-every: 2 on rank 0, 3 on rank 1"),
            (fed, ["--nan", "skip"], ["--nan", "abort"], "--nan: skip on rank 0, abort on rank 1"),
            ([*fed, "--nan", "skip"], ["--nan-limit", 3], [], "--nan-limit: 3 on rank 0, 20 on rank 1"),
            (fed, kept, [], "--checkpoint: given on rank 0, not given on rank 1"),
            ([*fed, *kept], ["--checkpoint-every", 2], ["--checkpoint-every", 3], "--checkpoint-every: 2 on rank 0, 3 on rank 1"),
            ([*fed, *kept], ["--keep-checkpoints", 1], [], "--keep-checkpoints: 1 on rank 0, 3 on rank 1"),
            ([*fed, *kept], ["--async-checkpoint"], [], "--async-checkpoint: given on rank 0, not given on rank 1"),
            ([*fed, *kept], ["--resume"], [], "--resume: given on rank 0, not given on rank 1"),
            ([*fed, *kept, "--resume"], ["--extend"], [], "--extend: given on rank 0, not given on rank 1"),
            ([*fed, *kept, "--resume"], ["--change", "data"], [], "--change: data on rank 0, not given on rank 1"),
            (fed, ["--device", "cpu"], ["--device", "null"], "--device: cpu on rank 0, null on rank 1"),
            (fed, ["--gradients", self.folder / "g.safetensors"], [], "--gradients: given on rank 0, not given on rank 1"),
        )  # fmt: skip
        self.assertGreaterEqual(len(cases), 20)
        for both, first, other, line in cases:
            with self.subTest(line=line):
                usual = [] if {"--steps", "--epochs"} & {*map(str, first)} else ten
                self.refused([artifact, *both, *usual, *first], [artifact, *both, *usual, *other], line)
                self.assertFalse((self.folder / "kept").exists())

    def test_several_at_once(self):
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        self.refused([artifact, *rows, "--steps", 3, "--seed", 4], [artifact, *rows, "--steps", 5, "--nan", "skip"],
                     "--steps: 3 on rank 0, 5 on rank 1", "--seed: 4 on rank 0, 1 on rank 1", "--nan: abort on rank 0, skip on rank 1")  # fmt: skip

    def test_checkpoints_of_another_run(self):
        """Each rank has a folder of its own, with another run's checkpoint of the same step and the same sizes."""
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        for seed in (1, 2):
            self.weir_run(artifact, *rows, "--steps", 2, "--seed", seed, "--checkpoint", self.folder / f"run-{seed}")
        for words in (lambda seed: ["--init", self.folder / f"run-{seed}"], lambda seed: ["--init", self.folder / f"run-{seed}" / "step-00000002"],
                      lambda seed: ["--checkpoint", self.folder / f"run-{seed}", "--resume"]):  # fmt: skip
            with self.subTest(words=words(1)):
                both = [[artifact, *rows, "--steps", 2, *words(seed)] for seed in (1, 2)]
                for _, err in self.all_end(self.given(*both), status=2, within=60):
                    self.assertRegex(err, r"rank 1's checkpoint at \S+step-00000002 differs from rank 0's: give all ranks the same")

    def test_copies_are_the_same(self):
        """Other paths, other threads, reports of rank 0 alone: nothing that a run depends on."""
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        self.weir_run(artifact, *rows, "--steps", 1, "--checkpoint", self.folder / "kept")
        weights = self.folder / "kept" / "step-00000001" / "model.safetensors"
        (self.folder / "host").mkdir()
        there = [shutil.copy(self.folder / f"train-{name}.idx", self.folder / "host") for name in ("images", "labels")]
        words = [artifact, "--steps", 3, "--checkpoint-every", 2, "--checkpoint", self.folder / "new"]
        processes = self.given([*words, *rows, "--init", weights, "--threads", 1, "--metrics", self.folder / "m.jsonl"],
                               [*words, *data(images=there[0], labels=there[1]), "--init", shutil.copy(weights, self.folder / "host"), "--threads", 2])  # fmt: skip
        self.all_end(processes)
        self.assertEqual(len(self.losses("m.jsonl")), 3)

    def test_compile_options(self):
        """Rank 0 compiles for all: what another is told to compile is not used, so it has to be the same."""
        rows = self.digits(64)
        words = ["train", ranks.MLP[0], "--set", "batch=8", "--mesh", "dp=2", *rows, "--steps", 2]
        for first, other, line in (
            (["--set", "hidden=24"], ["--set", "hidden=32"], "--set: batch=8, hidden=24 on rank 0, batch=8, hidden=32 on rank 1"),
            (["--precision", "bf16"], [], "--precision: bf16 on rank 0, not given on rank 1"),
            (["--zero", 1], ["--zero", 2], "--zero: 1 on rank 0, 2 on rank 1"),
            (["--deterministic"], [], "--deterministic: given on rank 0, not given on rank 1"),
        ):  # fmt: skip
            with self.subTest(line=line):
                self.refused([*words, *first], [*words, *other], line, tool="weir")
        # Of files it is the contents: paths may differ.
        content = r"\(\d+ bytes, content [0-9a-f]{16}\)"
        model = self.write("changed.weir", ranks.MLP[0].read_text() + "\n// Another line.\n")
        copy = shutil.copy(ranks.MLP[0], self.folder / "copy.weir")
        one, other = (self.write(f"{zero}.toml", f'[plan]\nmesh = "dp=2"\nzero = {zero}\n') for zero in (1, 2))
        given = [*words[:1], *words[2:4], *words[6:]]
        self.refused([*words], ["train", model, *words[2:]], rf"MODEL: \S+mnist-mlp.weir {content} on rank 0, \S+changed.weir {content} on rank 1", tool="weir")
        self.refused([*given, ranks.MLP[0], "--plan", one], [*given, copy, "--plan", other], rf"--plan: \S+1.toml {content} on rank 0, \S+2.toml {content} on rank 1", tool="weir")
        self.all_end(self.given([*given, ranks.MLP[0], "--plan", one], [*given, copy, "--plan", shutil.copy(one, self.folder / "copy.toml")], tool="weir"))
        # Equal values in other words.
        self.all_end(self.given([*words, "--memory", "1GB", "--link", "10GB/s,5us"], [*words, "--memory", "1000MB", "--link", "10000MB/s,5us"], tool="weir"))


class Replicas(ranks.Ranks):
    """Copies of a variable that should be the same and are not."""

    MODEL = """model net(x: [b, 2]) -> [b, 2] {
  param w: [2, 2] = ones()
  param mask: [64, 64] = zeros()
  return x @ w + 1e-12 * sum(mask)
}
train {
  input  x: f32[4, 2]
  steps  1000000
  loss   mse(net(x), 0.5 * x)
  lr     = constant(0.0001)
  update frozen() where name == "mask"
  update sgd(lr)
}
"""

    def test_a_bit_that_flips(self):
        """In the memory of one rank, as on faulty hardware: found at the next checkpoint, which is not written."""
        model = self.write("net.weir", self.MODEL)
        artifact = self.compiled(model, "--mesh", "dp=2")
        rows = weirtest.npy(self.folder / "x.npy", "f", [8, 2], [0.1 * at for at in range(16)])
        # Numbers that nothing else in the process has.
        mask = struct.pack("<4096f", *(float(1000 + at) for at in range(4096)))
        tensors = {"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "mask": {"dtype": "F32", "shape": [64, 64], "data_offsets": [16, 16 + len(mask)]}}
        header = json.dumps(tensors).encode()
        weights = self.folder / "w.safetensors"
        weights.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 0, 0, 1) + mask)
        processes = self.begin(2, artifact, *data(x=rows), "--init", weights, "--steps", 1000000, "--checkpoint-every", 2000, "--keep-checkpoints", 2,
                               "--checkpoint", self.folder / "kept", "--metrics", self.folder / "m.jsonl", tool="weir-run")  # fmt: skip
        self.await_steps(processes, steps=2100)
        self.assertGreater(self.flip(processes[1].pid, mask), 0)
        said = self.all_end(processes, status=6, within=120)
        for _, err in said:
            self.assertRegex(err, r"step \d+000: the copies of 'mask' on ranks 0, 1 differ\. The processor, memory or network of one of "
                                  r"these ranks is faulty: Weir saves nothing\. The newest checkpoint is \S+/step-\d+000")  # fmt: skip
        failed = int(re.search(r"step (\d+): the copies", said[0][1])[1])
        self.assertEqual(self.checkpoints(self.folder / "kept")[-1].name, f"step-{failed - 2000:08}")

    def flip(self, pid, content):
        """Flips a bit of that content wherever the process may write it. Returns how often it was there."""
        found = 0
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
            for line in maps:
                place, rights = line.split()[:2]
                if not rights.startswith("rw") or "[v" in line:
                    continue
                begin, end = (int(text, 16) for text in place.split("-"))
                try:
                    memory.seek(begin)
                    bytes_there = memory.read(end - begin)
                except OSError:
                    continue
                at = bytes_there.find(content)
                if at >= 0:
                    memory.seek(begin + at + 4000)
                    memory.write(bytes([content[4000] ^ 1]))
                    found += 1
        return found


if __name__ == "__main__":
    weirtest.main()
