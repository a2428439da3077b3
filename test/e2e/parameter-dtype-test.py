"""Parameters kept in bf16: half the memory, updates that are not lost, and the same bits on any number of threads and after a resume."""

import functools
import json
import shutil
import struct

import weirtest
from weirtest import SMALL_GPT

GPT = weirtest.MODELS / "gpt-char.weir"

# Each step moves each weight by nearly 1e-4, a fortieth of what is between neighbours in bf16 below 1.
LINE = """
model line(x: [b, 64]) -> [b, 64] {
  param w: [64, 64] = 0.75
  return x @ w
}
train {
  input x: [4, 64]
  input y: [4, 64]
  steps 100
  loss mse(line(x), y)
  update sgd(lr = 3.2e-4)
}
"""


class Masters(weirtest.Test):
    def compiled(self, master, precision="f32"):
        """The artifact with those types, which is compiled once."""
        artifact = self.folder / f"{master}-{precision}.weirx"
        if not artifact.exists():
            self.weir("compile", GPT, *SMALL_GPT, "--param-dtype", master, "--precision", precision, "-o", artifact)
        return artifact

    def train(self, name, *more, master="bf16", precision="f32", seed=3):
        metrics = self.folder / f"{name}.jsonl"
        artifact = self.compiled(master, precision)
        self.weir("run", artifact, *weirtest.data(window=self.text()), "--seed", seed, "--metrics", metrics, *more)
        return self.losses(metrics.name)

    def inspected(self, *options):
        artifact = self.folder / "inspected.weirx"
        self.weir("compile", GPT, *SMALL_GPT, *options, "-o", artifact)
        return json.loads(self.weir("inspect", artifact, "--json").stdout)

    def test_parameters_and_optimizers_take_half_the_memory(self):
        wide, narrow = self.inspected(), self.inspected("--param-dtype", "bf16")
        self.assertEqual((wide["master"], narrow["master"]), ("f32", "bf16"))
        halved = 0
        for was, now in zip(wide["variables"], narrow["variables"]):
            self.assertEqual(was["name"], now["name"])
            if was["role"] in ("parameter", "optimizer"):
                self.assertEqual((now["type"], 2 * now["bytes"]), ("bf16", was["bytes"]), now["name"])
                halved += 1
            else:
                self.assertEqual(was, now)
        self.assertGreater(halved, 60)
        self.assertLess(narrow["memory"]["persistent"], 0.52 * wide["memory"]["persistent"])
        self.assertRegex(self.weir("inspect", self.folder / "inspected.weirx").stdout, r"Model +gpt for \S+, parameters in bf16;")

    @weirtest.depends_on_cpu_level
    def test_rounding_is_no_kernel_of_its_own(self):
        for precision in ("f32", "bf16"):
            wide, narrow = (self.inspected("--precision", precision, "--param-dtype", master) for master in ("f32", "bf16"))
            rounding = [one for one in narrow["kernels"] if "round_at_random" in " ".join(one["ops"])]
            self.assertTrue(rounding)
            for kernel in rounding:
                self.assertIn("select", " ".join(kernel["ops"]))
            # One kernel serves a parameter and its two moments.
            parameters = sum(one["role"] == "parameter" for one in narrow["variables"])
            self.assertLessEqual(sum(sum(one["launches"].values()) for one in rounding if "step" in one["launches"]), parameters)
            if precision == "bf16":
                self.assertLessEqual(narrow["step"]["launches"], wide["step"]["launches"])

    def test_inspect_says_what_is_kept_in_which_type(self):
        artifact = self.folder / "inspected.weirx"
        self.inspected("--param-dtype", "bf16")
        text = self.weir("inspect", artifact, "--precision").stdout
        self.assertEqual(text, "gpt in f32: all ops compute in f32, and all tensors are stored in f32, except parameters and optimizer state, in bf16\n")
        self.inspected("--param-dtype", "bf16", "--precision", "bf16")
        facts = json.loads(self.weir("inspect", artifact, "--precision", "--json").stdout)
        self.assertEqual(facts["casts"]["parameters"], {})
        kept = [one for one in facts["choices"] if one["op"] in ("parameter", "optimizer")]
        self.assertTrue(kept)
        for one in kept:
            self.assertEqual((one["stores"], one["why"]), ("bf16", "a master in bf16, rounded at random"))
        self.assertNotIn("cast once a step", json.dumps(facts["choices"]))

    @weirtest.each(["f32", "bf16"])
    def test_bits_are_the_same_on_any_number_of_threads_and_resumed(self, precision):
        whole, parts = self.folder / "whole", self.folder / "parts"
        train = functools.partial(self.train, precision=precision)
        losses = train("whole", "--steps", 20, "--checkpoint-every", 10, "--checkpoint", whole, "--threads", 1)
        shutil.copytree(whole, parts)
        shutil.rmtree(self.checkpoints(parts)[-1])
        rest = train("rest", "--steps", 20, "--checkpoint", parts, "--threads", 2, "--resume")
        self.assertEqual(rest, losses[10:])
        self.assertEqual(self.weights(whole), self.weights(parts))
        again = self.folder / "again"
        self.assertEqual(train("again", "--steps", 20, "--checkpoint", again, "--threads", 3), losses)
        self.assertEqual(self.weights(whole), self.weights(again))
        self.assertNotEqual(train("other", "--steps", 20, seed=4), losses)

    def test_losses_are_near_those_of_f32(self):
        wide, narrow = (self.train(master, "--steps", 60, master=master) for master in ("f32", "bf16"))
        worst = max(abs(a - b) for a, b in zip(wide, narrow))
        print(f"losses are up to {worst:.1e} from those with parameters in f32")
        self.assertGreater(worst, 0)
        self.assertLess(worst, 5e-2)

    def mean_weight(self, master):
        data = weirtest.data(
            x=weirtest.npy(self.folder / "x.npy", "f", (64, 64), [1.0] * 4096),
            y=weirtest.npy(self.folder / "y.npy", "f", (64, 64), [58.0] * 4096),
        )
        kept = self.folder / master
        self.weir("train", self.write("line.weir", LINE), "--param-dtype", master, *data, "--checkpoint", kept)
        content = (self.checkpoints(kept)[-1] / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        entry = json.loads(content[8 : 8 + length])["w"]
        self.assertEqual(entry["dtype"], "BF16" if master == "bf16" else "F32")
        body = content[8 + length :]
        if master == "bf16":
            body = b"".join(b"\0\0" + body[i : i + 2] for i in range(0, len(body), 2))
        weights = struct.unpack(f"<{len(body) // 4}f", body)
        return sum(weights) / len(weights), len(set(weights))

    def test_updates_smaller_than_a_rounding_are_not_lost(self):
        wide, _ = self.mean_weight("f32")
        narrow, different = self.mean_weight("bf16")
        print(f"after 100 steps: {wide:.6f} in f32, {narrow:.6f} on average in bf16, {different} values")
        self.assertGreater(abs(wide - 0.75), 5e-3)
        self.assertGreater(different, 2)
        # Of 4096 weights, each off by at most the root of 100 times 1e-4 times 2^-8: five of their mean's deviations.
        self.assertLess(abs(wide - narrow), 5e-4)

    def test_a_run_goes_on_in_the_masters_it_was_begun_with(self):
        kept = self.folder / "kept"
        self.train("begun", "--steps", 4, "--checkpoint", kept)
        options = [
            "train", GPT, *SMALL_GPT, *weirtest.data(window=self.text()), "--seed", 3, "--checkpoint", kept, "--resume", "--extend",
        ]  # fmt: skip
        wanted = r"param-dtype: bf16 -> f32\nUse the settings of the run, or allow these differences: --change param-dtype"
        self.fails(3, wanted, "weir", *options, "--steps", 8)
        self.weir(*options, "--steps", 8, "--change", "param-dtype")
        self.fails(3, r"param-dtype: f32 -> bf16", "weir", *options, "--steps", 12, "--param-dtype", "bf16")
        self.weir(*options, "--steps", 12, "--param-dtype", "bf16", "--change", "master")

    def test_weights_are_converted_and_what_is_rounded_is_said(self):
        text = self.text()
        losses = {}
        for trained in ("f32", "bf16"):
            self.train(trained, "--steps", 4, "--checkpoint", self.folder / trained, master=trained)
            for used in ("f32", "bf16"):
                artifact = self.compiled(used)
                done = self.weir("eval", artifact, "--checkpoint", self.folder / trained, *weirtest.data(window=text), "--json")
                said = "tensors are of f32, and Weir rounds them to bf16" in done.stderr
                self.assertEqual(said, (trained, used) == ("f32", "bf16"), done.stderr)
                losses[trained, used] = json.loads(done.stdout)["loss"]
        self.assertEqual(losses["bf16", "f32"], losses["bf16", "bf16"])
        self.assertNotEqual(losses["f32", "f32"], losses["f32", "bf16"])
        self.assertAlmostEqual(losses["f32", "f32"], losses["f32", "bf16"], delta=1e-2)
        weights = self.checkpoints(self.folder / "f32")[-1] / "model.safetensors"
        done = self.weir("run", artifact, *weirtest.data(window=text), "--init", weights, "--steps", 1)
        self.assertIn("tensors are of f32, and Weir rounds them to bf16", done.stderr)

    def test_what_is_finite_stays_so(self):
        # The usual mask is the least f32, and is rounded to minus infinity in bf16.
        least = struct.unpack("<f", b"\xff\xff\x7f\xff")[0]
        header = json.dumps({"mask": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}).encode()
        weights = self.folder / "mask.safetensors"
        weights.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<3f", least, 0, -least))
        model = self.write("mask.weir", """
model m(x: [b, 4]) -> [b, 3] {
  param mask: [3] = zeros()
  return linear(x, 3) as out + 1e-38 * mask
}
train {
  input x: [2, 4]
  input y: [2, 3]
  steps 1
  loss mse(m(x), y)
  update frozen() where name == "mask"
  update sgd(lr = 0.1)
}
""")
        rows = weirtest.data(
            x=weirtest.npy(self.folder / "x.npy", "f", (2, 4), [1.0] * 8), y=weirtest.npy(self.folder / "y.npy", "f", (2, 3), [1.0] * 6)
        )
        said = self.weir("train", model, "--param-dtype", "bf16", *rows, "--init-partial", weights)
        self.assertNotIn("not finite", said.stderr)

    def test_what_is_not_finite_is_found(self):
        kept = self.folder / "kept"
        self.train("begun", "--steps", 2, "--checkpoint", kept)
        content = bytearray((self.checkpoints(kept)[-1] / "model.safetensors").read_bytes())
        (length,) = struct.unpack_from("<Q", content)
        begin, _ = json.loads(content[8 : 8 + length])["wpe.weight"]["data_offsets"]
        struct.pack_into("<H", content, 8 + length + begin + 2 * 33, 0x7FC0)
        broken = self.folder / "broken.safetensors"
        broken.write_bytes(content)
        options = ["train", GPT, *SMALL_GPT, "--param-dtype", "bf16", *weirtest.data(window=self.text()), "--init", broken, "--steps", 2]
        self.fails(5, r"'wpe\.weight' is nan at \[1, 1\]", "weir", *options)

    def test_unknown_masters_are_told_of(self):
        artifact = self.folder / "low.weirx"
        self.fails(2, r"--param-dtype: expected f32 or bf16, but found f16", "weir", "compile", GPT, "--param-dtype", "f16", "-o", artifact)
        self.fails(2, r"--param-dtype: expected f32 or bf16, but found f16", "weir", "verify", GPT, "--param-dtype", "f16")

    def test_verify_takes_the_rounded_program_for_what_is_true(self):
        sizes = ["--set", "layers=1", "--set", "width=16", "--set", "heads=2", "--set", "context=8", "--set", "batch=2"]
        for model, sizes, precision in (
            ("gpt-char", sizes, "f32"), ("gpt-char", sizes, "bf16"), ("mnist-mlp", ["--set", "hidden=40", "--set", "batch=5"], "bf16"),
        ):  # fmt: skip
            said = self.weir("verify", weirtest.MODELS / f"{model}.weir", *sizes, "--precision", precision, "--param-dtype", "bf16")
            self.assertRegex(said.stderr, r"bf16-parameters +results are up to \d\.\de-\d\d from what they were")
            self.assertIn("verified:", said.stdout)


if __name__ == "__main__":
    weirtest.main()
