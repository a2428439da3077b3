"""Wrong artifacts, data and storage: a clear message, the right exit status, and nothing damaged."""

import json
import os
import pathlib
import random
import struct
import subprocess

import weirtest
from weirtest import BIN, MODELS, ROOT, SMALL_GPT, data

CRASHED = (-6, -7, -8, -11, 1)

TWO_RESULTS = """
model m(x: [b, 2]) -> ([b, 2], [b, 2]) {
  param w: [2] = ones()
  return x * w, x + w
}
train {
  input  x: [2, 2]
  steps  1
  y, _ = m(x)
  loss   mse(y, x)
  update sgd(lr = 0.1)
}
"""


def rehash(path, out):
    subprocess.run([os.environ["WEIR_REHASH"], path, out], check=True)


class Artifacts(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.artifact = self.folder / "g.weirx"
        self.weir("compile", MODELS / "gpt-char.weir", *SMALL_GPT, "-o", self.artifact)
        self.whole = self.artifact.read_bytes()
        self.bad = self.folder / "bad.weirx"
        self.options = [*data(window=self.text()), "--steps", 1]

    def refused(self, raw, pattern, again=False):
        self.bad.write_bytes(raw)
        if again:
            rehash(self.bad, self.bad)
        for tool, arguments in (("weir-run", [self.bad, *self.options]), ("weir", ["inspect", self.bad])):
            self.fails(3, pattern, tool, *arguments)

    def test_missing(self):
        self.fails(3, "nowhere.weirx", "weir-run", self.folder / "nowhere.weirx", *self.options)

    def test_not_an_artifact(self):
        self.refused(b"hello\n" * 100, "(?i)not an? .*artifact")

    def test_a_file_without_end(self):
        for tool, arguments in (("weir-run", ["/dev/zero", *self.options]), ("weir", ["inspect", "/dev/zero"])):
            self.fails(3, "not a Weir artifact", tool, *arguments, timeout=60)

    def test_truncated(self):
        for keep in (0, 7, 31, 32, 100, len(self.whole) // 2, len(self.whole) - 1):
            with self.subTest(keep):
                self.refused(self.whole[:keep], "(?i)artifact|truncated|bytes")

    def test_damaged(self):
        raw = bytearray(self.whole)
        raw[len(raw) // 2] ^= 4
        self.refused(raw, "(?i)damaged|hash")

    def test_another_format_version(self):
        raw = bytearray(self.whole)
        raw[8:12] = struct.pack("<I", 999)
        self.refused(raw, "(?i)format.*999")

    def test_another_cpu_level(self):
        at = self.whole.index(b"x86-64-v")
        raw = bytearray(self.whole)
        raw[at + 8] = ord("9")
        self.bad.write_bytes(raw)
        rehash(self.bad, self.bad)
        self.fails(3, "x86-64-v9", "weir-run", self.bad, *self.options)

    def test_flipped_bits_with_the_hash_made_right(self):
        code = self.whole.index(b"\x7fELF")
        places = [i for i in range(32, len(self.whole)) if not code <= i < self.end_of_code(code)]
        choose = random.Random(1)
        refused = 0
        for _ in range(120):
            raw = bytearray(self.whole)
            at = choose.choice(places)
            raw[at] ^= 1 << choose.randrange(8)
            self.bad.write_bytes(raw)
            rehash(self.bad, self.bad)
            done = subprocess.run(
                [BIN / "weir-run", self.bad, *map(str, self.options)], capture_output=True, text=True, errors="replace", timeout=120
            )
            self.assertNotIn(done.returncode, CRASHED, f"byte {at}: {done.stderr[-2000:]}")
            refused += done.returncode == 3
        self.assertGreater(refused, 10)

    def end_of_code(self, code):
        """The end of the ELF image that starts at `code`: its section headers stand last."""
        offset, = struct.unpack_from("<Q", self.whole, code + 0x28)
        size, count = struct.unpack_from("<HH", self.whole, code + 0x3A)
        return code + offset + size * count


class Data(weirtest.Test):
    def mlp(self, status, pattern, *arguments):
        self.fails(status, pattern, "weir", "train", MODELS / "mnist-mlp.weir", *arguments, "--steps", 1)

    def test_names(self):
        rows = self.digits()
        self.mlp(2, "imges.*images", *[word.replace("images=", "imges=") for word in rows])
        self.mlp(2, "labels", *rows[:2])

    def test_files(self):
        rows = self.digits()
        images, labels = self.folder / "train-images.idx", self.folder / "train-labels.idx"
        self.mlp(4, "nowhere.idx", *data(images=self.folder / "nowhere.idx", labels=labels))
        short = self.folder / "short.idx"
        short.write_bytes(images.read_bytes()[:-5])
        self.mlp(4, "short.idx", *data(images=short, labels=labels))
        odd = self.folder / "odd.idx"
        odd.write_bytes(b"\x00\x00\x77\x03" + images.read_bytes()[4:])
        self.mlp(4, "odd.idx", *data(images=odd, labels=labels))
        empty = self.folder / "empty.idx"
        empty.write_bytes(b"")
        self.mlp(4, "empty.idx", *data(images=empty, labels=labels))
        self.mlp(4, "train-labels.idx", *data(images=labels, labels=labels))
        self.digits(rows=64, name="few")
        self.mlp(4, "320.*64|64.*320", *data(images=images, labels=self.folder / "few-labels.idx"))
        self.weir("train", MODELS / "mnist-mlp.weir", *rows, "--steps", 1)

    def test_labels_outside_their_range(self):
        self.digits()
        labels = self.folder / "train-labels.idx"
        raw = bytearray(labels.read_bytes())
        raw[20] = 77
        labels.write_bytes(raw)
        self.mlp(4, "77", *data(images=self.folder / "train-images.idx", labels=labels))

    def test_text_with_too_many_characters_names_the_command_that_would_work(self):
        text = self.write("many.txt", "".join(chr(0x100 + i % 300) for i in range(5000)))
        self.fails(
            4, "--set vocab=300", "weir", "train", MODELS / "gpt-char.weir", *SMALL_GPT, *data(window=text), "--steps", 1
        )

    def test_text_shorter_than_a_window(self):
        text = self.write("short.txt", "to be")
        self.fails(4, "short.txt", "weir", "train", MODELS / "gpt-char.weir", *data(window=text), "--steps", 1)


class Storage(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.artifact = self.folder / "m.weirx"
        self.weir("compile", MODELS / "mnist-mlp.weir", "-o", self.artifact)
        self.run_options = [self.artifact, *self.digits(), "--steps", 4, "--seed", 1]

    def test_unwritable_folder(self):
        file = self.write("file", "")
        self.fails(8, "file/kept", "weir-run", *self.run_options, "--checkpoint", file / "kept")

    def test_unwritable_output(self):
        file = self.write("file", "")
        self.fails(8, "file/m.weirx", "weir", "compile", MODELS / "mnist-mlp.weir", "-o", file / "m.weirx")

    def test_folder_in_use(self):
        kept = self.folder / "kept"
        self.weir_run(*self.run_options, "--checkpoint", kept)
        before = self.weights(kept)
        self.fails(2, "--resume", "weir-run", *self.run_options, "--checkpoint", kept)
        self.assertEqual(self.weights(kept), before)

    def test_no_whole_checkpoint_left(self):
        kept = self.folder / "kept"
        self.weir_run(*self.run_options, "--checkpoint", kept)
        for path in kept.rglob("model.safetensors"):
            path.write_bytes(path.read_bytes()[:-1])
        self.fails(8, "model.safetensors", "weir-run", *self.run_options, "--checkpoint", kept, "--resume")

    def test_checkpoint_of_another_model(self):
        kept = self.folder / "kept"
        self.weir_run(*self.run_options, "--checkpoint", kept)
        other = self.folder / "other.weirx"
        self.weir("compile", MODELS / "mnist-cnn.weir", "-o", other)
        self.fails(
            3, "(?i)another model|checkpoint", "weir-run", other, *self.run_options[1:], "--checkpoint", kept, "--resume"
        )

    def on_a_small_disk(self, kibibytes, tool, *arguments):
        """The tool with self.folder / "small" as a disk of its own, or the test is skipped."""
        small = self.folder / "small"
        small.mkdir(exist_ok=True)
        command = f"mount -t tmpfs -o size={kibibytes}k tmpfs '{small}' && exec \"$@\""
        enter = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
        if subprocess.run([*enter, "sh", "-c", command, "sh", "true"], capture_output=True).returncode != 0:
            self.skipTest("not allowed to mount a small disk here")
        return subprocess.run([*enter, "sh", "-c", command, "sh", BIN / tool, *map(str, arguments)], capture_output=True, text=True)

    def test_full_disk(self):
        done = self.on_a_small_disk(256, "weir-run", *self.run_options, "--checkpoint", self.folder / "small" / "kept")
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertRegex(done.stderr, "(?i)(no|enough) space")

    def test_full_disk_under_the_dumps(self):
        out = self.folder / "d.weirx"
        compile_ = ["compile", MODELS / "mnist-mlp.weir", "--dump-ir", self.folder / "small" / "ir", "-o", out]
        done = self.on_a_small_disk(64, "weir", *compile_)
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertRegex(done.stderr, r"^error: --dump-ir: \S+/small/ir/\d\d-\S+\.mlir: cannot write: No space left on device\n$")
        self.assertFalse(out.exists())
        file = self.write("file", "")
        self.fails(8, "--dump-ir .*file/ir: Not a directory", "weir", *compile_[:2], "--dump-ir", file / "ir", "-o", out)


class Sources(weirtest.Test):
    """Nothing is written over what the same command reads, and no two results into one file."""

    def kept(self, file, option, source, tool, *arguments):
        with self.subTest(option=option, source=source, command=arguments[0]):
            before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
            self.fails(
                2, f"error: {option} {file}.*: would overwrite a file that {source}.* reads; give another file", tool, *arguments
            )
            after = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
            self.assertTrue(after == before, [str(path) for path in after if after[path] != before.get(path)])

    def test_a_model_and_its_artifact(self):
        model = self.write("m.weir", (MODELS / "mnist-mlp.weir").read_text())
        link = self.folder / "link"
        link.symlink_to(model)
        rows = self.digits()
        for place in (model, link, self.folder / "." / "m.weir"):
            self.kept(place, "-o", "MODEL", "weir", "compile", model, "-o", place)
            self.kept(place, "-o", "MODEL", "weir", "compile", model, "--stop-after", "plan", "-o", place)
            self.kept(place, "-o", "MODEL", "weir", "train", model, *rows, "--steps", 1, "-o", place)
        self.kept(model, "--trace", "MODEL", "weir", "train", model, *rows, "--steps", 1, "--trace", model)
        images = self.folder / "train-images.idx"
        artifact = self.folder / "m.weirx"
        self.kept(images, "-o", "--data", "weir", "train", model, *rows, "--steps", 1, "-o", images)
        self.kept(images, "--metrics", "--data", "weir", "train", model, *rows, "--metrics", images, "-o", artifact)
        self.weir("compile", model, "-o", artifact)
        self.weir("compile", model, "-o", artifact)

    def test_what_a_run_reads(self):
        artifact, kept = self.folder / "m.weirx", self.folder / "kept"
        self.weir("compile", MODELS / "mnist-mlp.weir", "--gradients", "-o", artifact)
        rows = self.digits()
        metrics = self.folder / "m.jsonl"
        self.weir_run(artifact, *rows, "--steps", 2, "--checkpoint", kept, "--metrics", metrics)
        resume = ["--checkpoint", kept, "--resume", "--extend", "--steps", 3]
        self.weir_run(artifact, *rows, *resume, "--metrics", metrics)
        images = self.folder / "train-images.idx"
        raw = [word.replace("images=", "images=bytes:") for word in rows]
        weights = self.checkpoints(kept)[-1] / "model.safetensors"
        run = ["--steps", 1]
        for option in ("--metrics", "--trace", "--gradients", "--tensorboard"):
            for tool, *command in (("weir", "run", artifact), ("weir-run", artifact)):
                self.kept(images, option, "--data", tool, *command, *rows, *run, option, images)
            self.kept(images, option, "--data", "weir-run", artifact, *raw, *run, option, images)
            self.kept(artifact, option, "ARTIFACT", "weir", "run", artifact, *rows, *run, option, artifact)
            self.kept(weights, option, "--init", "weir-run", artifact, *rows, *run, "--init", weights, option, weights)
            self.kept(weights, option, "--init-partial", "weir-run", artifact, *rows, *run, "--init-partial", kept, option, weights)
            self.kept(weights, option, "--checkpoint", "weir-run", artifact, *rows, *resume, option, weights)
        held_out = [word.replace("--data", "--eval-data") for word in rows]
        self.digits(rows=64, name="few")
        few = data(images=self.folder / "few-images.idx", labels=self.folder / "few-labels.idx")
        self.kept(images, "--metrics", "--eval-data", "weir-run", artifact, *few, *held_out, *run, "--metrics", images)
        self.weir_run(artifact, *rows, *run, "--metrics", "/dev/null", "--trace", "/dev/null")

    def test_nobody_reads_what_is_said(self):
        """A pipe without a reader, and a full disk, behind standard error end no compile and change no status."""
        model, artifact = MODELS / "mnist-mlp.weir", self.folder / "said.weirx"
        for words, status in ((["--memory", "100MB", "--offload", "optimizer"], 0), (["--memory", "1"], 3)):
            command = [BIN / "weir", "compile", model, *words, "-o", artifact]
            self.assertNotEqual(subprocess.run(command, capture_output=True).stderr, b"")
            reader, writer = os.pipe()
            os.close(reader)
            with self.subTest(words=words), open("/dev/full", "wb") as full, os.fdopen(writer, "wb") as pipe:
                self.assertEqual([subprocess.run(command, stderr=to).returncode for to in (full, pipe)], [status] * 2)

    def test_two_results_in_one_file(self):
        model, artifact, out = self.folder / "m.weir", self.folder / "m.weirx", self.folder / "out"
        model.write_text((MODELS / "mnist-mlp.weir").read_text())
        rows = self.digits()
        train, run = ("weir", "train", model, *rows, "--steps", 1), ("weir-run", artifact, *rows, "--steps", 1)
        self.weir("compile", model, "--gradients", "-o", artifact)
        (self.folder / "here").symlink_to(self.folder)
        link = self.folder / "link"
        link.symlink_to("out")

        def refused(first, one, second, other, tool, *command):
            with self.subTest(first=first, second=second, there=out.exists()):
                before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
                self.fails(
                    2, f"^error: {second} {other}: would overwrite a file that {first} {one} writes; give another file\n$",
                    tool, *command, first, one, second, other,
                )  # fmt: skip
                after = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
                self.assertEqual(after, before)

        for _ in range(2):
            refused("--metrics", out, "--trace", out, *run)
            refused("--trace", out, "--gradients", self.folder / "here" / "out", *run)
            refused("--metrics", out, "--gradients", link, *run)
            refused("--metrics", out, "--tensorboard", f"{out}/", *run)
            refused("-o", out, "--metrics", self.folder / "here" / ".." / self.folder.name / "out", *train)
            refused("-o", out, "--dump-ir", out, "weir", "compile", model)
            out.write_text("")
        self.weir_run(*run[1:], "--metrics", "/dev/null", "--trace", "/dev/null")
        self.weir_run(*run[1:], "--metrics", out, "--trace", self.folder / "trace")

    def test_what_predictions_are_made_of(self):
        model = self.write("two.weir", TWO_RESULTS)
        artifact, kept, out = self.folder / "two.weirx", self.folder / "kept", self.folder / "o.npy"
        rows, second = self.folder / "x.npy", self.folder / "o_1.npy"
        for path in (rows, second):
            weirtest.npy(path, "f", (4, 2), range(8))
        self.weir("train", model, *data(x=rows), "--checkpoint", kept, "-o", artifact)
        weights = self.checkpoints(kept)[-1] / "model.safetensors"
        for tool in ("weir", "weir-run"):
            predict = ["predict", artifact, "--checkpoint", kept]
            self.kept(rows, "-o", "--data", tool, *predict, *data(x=rows), "-o", rows)
            self.kept(out, "-o", "--data", tool, *predict, *data(x=second), "-o", out)
            self.kept(artifact, "-o", "ARTIFACT", tool, *predict, *data(x=rows), "-o", artifact)
            self.kept(weights, "-o", "--checkpoint", tool, *predict, *data(x=rows), "-o", weights)
            init = ["predict", artifact, "--init", weights, *data(x=rows)]
            self.kept(weights, "-o", "--init", tool, *init, "-o", weights)
        self.run_tool("weir", *predict, *data(x=rows), "-o", out)
        self.run_tool("weir", *predict, *data(x=rows), "-o", out)
        for tool in ("weir", "weir-run"):
            self.fails(2, "error: -o /dev/null: is not a regular file, but the model has 2 results", tool, *predict, *data(x=rows), "-o", "/dev/null")
        self.assertFalse(pathlib.Path("/dev/null_1").exists())
        second.unlink()
        second.symlink_to(out)
        self.fails(2, f"error: -o {out} \\({second}\\): would overwrite a file that -o {out} writes", "weir", *predict, *data(x=rows), "-o", out)


class Paths(weirtest.Test):
    """Places that no file can be at, in every option that takes one, are nobody's fault but the command's."""

    def setUp(self):
        super().setUp()
        self.artifact = self.folder / "m.weirx"
        self.weir("compile", MODELS / "mnist-mlp.weir", "--gradients", "-o", self.artifact)
        self.rows = self.digits()
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        self.places = [loop, loop / "in", self.folder / ("long" * 100), self.folder / "/".join(["deep" * 50] * 25)]

    def test_places_that_cannot_be(self):
        run = [self.artifact, *self.rows, "--steps", 1]
        model = MODELS / "mnist-mlp.weir"
        kept = self.folder / "kept"
        self.weir_run(*run, "--checkpoint", kept)
        gpt = self.folder / "gpt.weirx"
        self.weir("compile", MODELS / "gpt-char.weir", *SMALL_GPT, "-o", gpt)
        there = sorted(path.name for path in ROOT.iterdir())
        for place in self.places:
            for status, tool, *arguments in (
                (2, "weir", "check", place),
                (8, "weir", "compile", model, "-o", place),
                (3, "weir", "inspect", place),
                (3, "weir-run", place, *self.rows),
                (4, "weir-run", self.artifact, *data(images=place, labels=place)),
                (4, "weir-run", *run, "--init", place),
                (8, "weir-run", *run, "--checkpoint", place),
                (8, "weir-run", *run, "--checkpoint", place, "--resume"),
                (8, "weir-run", *run, "--metrics", place),
                (8, "weir-run", *run, "--tensorboard", place),
                (8, "weir-run", *run, "--trace", place),
                (8, "weir-run", *run, "--gradients", place),
                (8, "weir", "predict", self.artifact, *self.rows[:2], "--checkpoint", kept, "-o", place),
                (8, "weir", "predict", self.artifact, *self.rows[:2], "--checkpoint", place, "-o", self.folder / "o.npy"),
                (8, "weir", "eval", self.artifact, *self.rows, "--checkpoint", place),
                (4, "weir", "eval", self.artifact, *self.rows, "--init", place),
                (8, "weir", "generate", gpt, "--checkpoint", place),
            ):
                with self.subTest(place=str(place)[:60], tool=tool, option=str(arguments[-2])[:60]):
                    done = subprocess.run([BIN / tool, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
                    self.assertEqual(done.returncode, status, done.stderr[:200])
                    self.assertRegex(done.stderr, "(?i)symbolic links|too long|is not a directory|no such directory|cannot read `")
                    self.assertNotIn("fault of Weir", done.stderr)
        self.assertEqual(sorted(path.name for path in ROOT.iterdir()), there)

    def test_names_that_are_no_text(self):
        model = os.fsencode(self.folder) + b"/m\xff.weir"
        with open(model, "wb") as file:
            file.write((MODELS / "mnist-mlp.weir").read_bytes())
        artifact = self.folder / "odd.weirx"
        self.weir("compile", os.fsdecode(model), "-o", artifact)
        json.loads(self.weir("inspect", artifact, "--json").stdout)
        self.weir("inspect", artifact)
        trace = self.folder / "trace.json"
        out = self.weir_run(artifact, *self.rows, "--steps", 1, "--trace", trace, "--json").stdout
        json.loads(out)
        json.loads(trace.read_text())
        with open(model, "ab") as file:
            file.write(b"\nconst x = \xff\n")
        for line in self.run_tool("weir", "check", os.fsdecode(model), "--json", status=3).stdout.splitlines():
            json.loads(line)


if __name__ == "__main__":
    weirtest.main()
