"""What people bring: published weights of other types and names, data of any format and outputs called anything."""

import json
import random
import struct

import weirtest
from weirtest import MODELS, SMALL_GPT, data, npy

KEYWORDS = """
model m(x: [b, 2]) -> [b, 2] {
  for i in 0..2 { x = linear(x, 2) as model.layers[i].in }
  param next.in: [2] = ones()
  return linear(x * next.in, 2) as block
}
train {
  input x: [2, 2]
  steps 1
  loss mse(m(x), x)
  update sgd(0.1)
}
"""
LINEAR = """
model m(x: [b, 2]) -> [b, 2] { return linear(x, 2) as l }
train {
  input x: [2, 2]
  steps 1
  loss mse(m(x), x)
  lr = cosine(0.1, warmup = 10)
  update sgd(lr)
}
"""
# A step with a learning rate of 0 makes 0.75 of each state that begins as w does.
STATES = """
model m(x: [b, 2]) -> [b, 2] {
  param w: [2] = 1.0
  state kept = w
  state twice = 2.0 * kept + 1.0
  state apart: [2] = 3.0
  next kept = 0.5 * kept + 0.25 * w
  return x * w + 0.0 * (kept + twice + apart)
}
train {
  input x: [8, 2]
  steps 1
  y = m(x)
  loss mse(y, x)
  lr = 0.0
  update average(lr)
}
optimizer average(p, g, lr: f32) {
  state a = p
  next a = 0.5 * a + 0.25 * p
  next p = p - lr * g
}
"""


def tensors(path, **named):
    """Writes a safetensors file of (dtype, shape, bytes)."""
    header, content = {}, b""
    for name, (dtype, shape, raw) in named.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(content), len(content) + len(raw)]}
        content += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)
    return path


def numbers(path):
    raw = path.read_bytes()
    start = 10 + struct.unpack_from("<H", raw, 8)[0]
    return list(struct.unpack(f"<{(len(raw) - start) // 4}f", raw[start:]))


class Weights(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.artifact, self.out = self.folder / "m.weirx", self.folder / "out.npy"
        self.x = npy(self.folder / "x.npy", "f", [2, 2], [1.0, 2.0, 3.0, 4.0])

    def predict(self, *weights, **more):
        return self.weir("predict", self.artifact, *weights, *data(x=self.x), "-o", self.out, **more)

    def test_keywords_in_paths(self):
        self.weir("compile", self.write("m.weir", KEYWORDS), "-o", self.artifact)
        names = [v["name"] for v in json.loads(self.weir("inspect", self.artifact, "--json").stdout)["variables"] if v["role"] == "parameter"]
        self.assertEqual(sorted(names), ["block.bias", "block.weight", "model.layers.0.in.bias", "model.layers.0.in.weight",
                                         "model.layers.1.in.bias", "model.layers.1.in.weight", "next.in"])
        self.weir("run", self.artifact, *data(x=self.x))
        self.fails(3, r"m.weir:2:9: error: expected the parameter's name, found the keyword `in`", "weir", "check",
                   self.write("m.weir", "model m(x: [b, 2]) -> [b, 2] {\n  param in: [2] = ones()\n  return x\n}\n"))

    def test_other_types_and_buffers(self):
        self.weir("compile", self.write("m.weir", LINEAR), "-o", self.artifact)
        weight, bias = [1.0, 0.5, -2.0, 0.25], [0.125, -1.0]
        expected = [sum(weight[2 * o + i] * row[i] for i in range(2)) + bias[o] for row in ([1.0, 2.0], [3.0, 4.0]) for o in range(2)]
        for dtype, letter in (("F16", "e"), ("F64", "d"), ("F32", "f")):
            path = tensors(self.folder / f"{dtype}.safetensors", **{
                "l.weight": (dtype, [2, 2], struct.pack(f"<4{letter}", *weight)),
                "l.bias": (dtype, [2], struct.pack(f"<2{letter}", *bias)),
                "bn.num_batches_tracked": ("I64", [], struct.pack("<q", 7)),
                "h.0.attn.bias": ("F32", [1, 1, 2, 2], struct.pack("<4f", 1, 0, 1, 1)),
            })
            for option in ("--init", "--init-partial"):
                done = self.predict(option, path)
                self.assertEqual(numbers(self.out), expected, dtype)
                self.assertEqual("tensors are of f64, and Weir rounds them to f32" in done.stderr, dtype == "F64", done.stderr)
                self.assertIn("bn.num_batches_tracked I64[]", done.stderr)
                self.assertIn("h.0.attn.bias F32[1, 1, 2, 2]", done.stderr)
        # Of a file that lacks one, the other begins as in training.
        part = tensors(self.folder / "part.safetensors", **{"l.bias": ("F32", [2], struct.pack("<2f", *bias))})
        self.fails(3, "missing: l.weight", "weir", "predict", self.artifact, "--init", part, *data(x=self.x), "-o", self.out)
        done = self.predict("--init-partial", part)
        self.assertIn("not in the file, initialized by the model: 1\n  l.weight F32[2, 2]", done.stderr)

    def test_files_that_are_no_safetensors(self):
        self.weir("compile", self.write("m.weir", LINEAR), "-o", self.artifact)
        zipped = b"PK\3\4" + bytes(22) + struct.pack("<HH", 16, 0) + b"archive/data.pkl" + b"content"
        for name, content, said in (
            ("model.pt", zipped, r"model.pt: is a torch.save file, not safetensors; convert it to safetensors in Python: safetensors.torch.save_file"),
            ("old.pt", b"\x80\2\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", r"is a Python pickle, .*torch.save write, not safetensors"),
            ("model.safetensors.index.json", b'{"weight_map": {"a": "b.safetensors"}}', "is the index of weights in several files, not safetensors; merge them"),
            ("config.json", b'{"architectures": []}', "is a JSON file, not safetensors; give the .safetensors file next to it"),
            ("w.npz", b"PK\3\4" + bytes(22) + struct.pack("<HH", 5, 0) + b"w.npy" + b"content", "is a .npz file.*safetensors.numpy.save_file"),
            ("w.gguf", b"GGUF\3\0\0\0", "is a GGUF file, not safetensors"),
            ("lfs.safetensors", b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer, .*git lfs pull"),
        ):
            path = self.folder / name
            path.write_bytes(content)
            self.fails(4, said, "weir", "predict", self.artifact, "--init", path, *data(x=self.x), "-o", self.out)

    @weirtest.each([(), ("--mesh", "dp=2", "--zero", "1"), ("--mesh", "tp=2"), ("--param-dtype", "bf16"), ("--deterministic",)])
    def test_states_begin_as_loaded_parameters(self, options):
        model, x = self.write("m.weir", STATES), npy(self.folder / "x.npy", "f", [8, 2], [1.0, 2.0] * 8)
        weights = tensors(self.folder / "w.safetensors", w=("F32", [2], struct.pack("<2f", 5.0, 6.0)))
        self.weir("compile", model, *options, "-o", self.artifact)

        def states(name, *init):
            kept = self.folder / name
            self.weir("run", self.artifact, *data(x=x), *init, "--checkpoint", kept)
            file = self.checkpoints(kept)[-1] / "state.safetensors"
            names = ["kept", "twice", "apart"] + (["average.a/w"] if "bf16" not in options else [])
            return [weirtest.floats_of(file, one) for one in names]

        loaded = [[3.75, 4.5], [11.0, 13.0], [3.0, 3.0], [3.75, 4.5]]
        begun = states("loaded", "--init", weights)
        self.assertEqual(begun, loaded[: len(begun)])
        # What a checkpoint has of states counts; an optimizer's begin anew.
        loaded[0] = [3.125, 3.75]
        self.assertEqual(states("again", "--init", self.folder / "loaded"), loaded[: len(begun)])
        # Without weights they begin as the initialiser's.
        self.assertEqual(states("first"), [[0.75] * 2, [3.0] * 2, [3.0] * 2, [0.75] * 2][: len(begun)])

    def test_verify_runs_what_begins_states(self):
        self.assertIn("verified:", self.weir("verify", self.write("m.weir", STATES), "--full").stdout)


class Data(weirtest.Test):
    def test_formats(self):
        choose = random.Random(1)
        tokens = [choose.randrange(65) for _ in range(400)]
        run = ["weir", "train", MODELS / "gpt-char.weir", *SMALL_GPT, "--steps", 2, "--json"]
        losses = []
        for letter, format in (("H", "u16"), ("I", "u32"), ("i", "i32"), ("q", "i64"), ("B", "u8")):
            path = self.folder / f"{format}.bin"
            path.write_bytes(struct.pack(f"<{len(tokens)}{letter}", *tokens))
            losses.append(json.loads(self.run_tool(*run, *data(window=f"{format}:{path}")).stdout)["loss"])
            if letter in "Iiq":
                self.fails(4, rf"{format}.bin: does not look like nanoGPT's .*give the format: (u32|i64):", *run, *data(window=path))
        self.assertEqual(losses, losses[:1] * 5)
        self.fails(4, "table.csv: is a table, which Weir would read as characters; .*text:", *run,
                   *data(window=self.write("table.csv", "1,2\n3,4\n" * 40)))
        self.run_tool(*run, *data(window=f"text:{self.folder}/table.csv"))
        self.fails(2, "unknown format 'csv'", *run, *data(window="csv:nowhere.csv"))

    def test_endings(self):
        artifact, out = self.folder / "m.weirx", self.folder / "out.csv"
        model = self.write("m.weir", LINEAR)
        x = data(x=npy(self.folder / "x.npy", "f", [2, 2], [1.0] * 4))
        done = self.weir("train", model, *x, "-o", self.folder / "m.onnx", "--checkpoint", self.folder / "kept", "--metrics", self.folder / "m.csv")
        self.assertIn("m.onnx: Weir writes this file as .weirx, regardless of its extension", done.stderr)
        self.assertIn("m.csv: Weir writes this file as .jsonl, regardless of its extension", done.stderr)
        self.assertNotIn("ending", self.weir("compile", model, "-o", artifact).stderr)
        done = self.weir("predict", artifact, "--checkpoint", self.folder / "kept", *x, "-o", out)
        self.assertIn(f"warning: -o {out}: Weir writes this file as .npy, regardless of its extension", done.stderr)
        self.assertEqual(out.read_bytes()[:6], b"\x93NUMPY")


class Schedules(weirtest.Test):
    def test_a_warmup_that_few_steps_cut(self):
        """The compiler knows the recipe's steps alone; the run says what its own number of them cuts."""
        x = npy(self.folder / "x.npy", "f", [8, 2], [1.0, 2.0] * 8)
        warning = "warning: the warm-up of 10 steps is cut to "
        for recipe, options, cut in (
            ("steps 40", [], None),
            ("steps 40", ["--steps", "39"], "9, a quarter of the run's 39"),
            ("steps 40", ["--steps", "3"], "0, a quarter of the run's 3"),
            ("steps 39", [], None),  # said by the compiler
            ("epochs 10", [], None),
            ("epochs 3", [], "3, a quarter of the run's 12"),
            ("epochs 10", ["--epochs", "5"], "5, a quarter of the run's 20"),
        ):
            with self.subTest(recipe=recipe, options=options):
                model = self.write("m.weir", LINEAR.replace("steps 1\n", recipe + "\n"))
                compiled = self.weir("compile", model, "-o", self.folder / "m.weirx")
                self.assertEqual(warning in compiled.stderr, recipe == "steps 39", compiled.stderr)
                said = self.weir("run", self.folder / "m.weirx", *data(x=x), *options).stderr
                if cut:
                    self.assertIn(warning + cut, said)
                else:
                    self.assertNotIn(warning, said)


if __name__ == "__main__":
    weirtest.main()
