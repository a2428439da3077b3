"""Every command of README.md, the other pages beside it, and docs/ works as it stands there, and does what the page says.

The commands of a page run in its order, in one scratch folder that looks like the repository's root. Blocks of a page are
commands where the first word is a program; the others are files and fragments, which the checks below use.
"""

import contextlib
import functools
import http.server
import json
import os
import re
import shlex
import struct
import subprocess
import threading

import weirtest
from weirtest import ROOT, SMALL_GPT

BIN = weirtest.BIN.resolve()

PAGES = [*sorted(p.name for p in ROOT.glob("*.md")), *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md"))]
PROGRAM = re.compile(r"(weir(-\w+)?|tools/\S+|python3|ctest|cmake|ninja|export|git|sh|apt-get|lit)\s|tools/\S+$")

PUBLISHED = ["--set", "vocab=65", "--set", "context=16", "--set", "layers=2", "--set", "heads=4", "--set", "width=32"]

# What takes long as it stands: (page, start of the command) -> options that it gets, or gets another value for.
STAND_INS = {
    ("README.md", "weir train models/gpt-char.weir"): ["--steps", "3", *SMALL_GPT],
    ("docs/reference/checkpoints.md", "weir run gpt.weirx"): ["--steps", "3"],
    ("docs/reference/data.md", "weir train models/gpt-char.weir"): ["--steps", "3", *SMALL_GPT],
    # verify-test has these sizes, and bits-test these models.
    ("docs/reference/verify.md", "weir verify models/gpt-char.weir"): weirtest.small("gpt-char")[1],
    ("docs/internals/emulated-gpu.md", "weir verify models/mnist-mlp.weir"): weirtest.small("mnist-mlp")[0],
    ("docs/internals/verification.md", "weir train models/gpt-char.weir"): SMALL_GPT,
    ("docs/internals/testing.md", "tools/dev/bits record"): ["--models", "mnist-mlp", "--programs", "2"],
    ("docs/internals/testing.md", "tools/dev/misspell models/mnist-mlp.weir"): ["--sample", "8"],
    ("docs/internals/verification.md", "weir-smith --seed 1"): ["--count", "2"],
    ("docs/internals/verification.md", "weir-smith --seed 60000"): ["--count", "1"],
    ("docs/internals/emulated-gpu.md", "weir-smith --target cuda"): ["--count", "1"],
    # Small sizes of the models that take a while, and the file of weights that before_published_weights writes for them.
    ("docs/guides/published-weights.md", "weir compile gpt2.weir"): PUBLISHED,
    ("docs/guides/published-weights.md", "weir run"): ["--steps", "2"],
    ("docs/guides/planning.md", "weir plan models/gpt-char.weir"): [*SMALL_GPT, "--exact", "2"],
    ("docs/guides/planning.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/concepts/mixed-precision.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/concepts/mixed-precision.md", "weir verify models/gpt-char.weir"): weirtest.small("gpt-char")[1],
    ("docs/concepts/parallelism.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/change-the-mesh.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/fit-in-memory.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/profile.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/profile.md", "weir run gpt.weirx"): ["--steps", "3"],
    ("docs/guides/find-a-nan.md", "weir run gpt.weirx"): ["--steps", "3"],
    ("docs/guides/resume-and-recover.md", "weir run gpt.weirx"): ["--steps", "3"],
    ("docs/guides/several-gpus.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/several-nodes.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/sweep.md", "weir train"): ["--steps", "10"],
    ("docs/guides/you-asked.md", "weir train models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/you-asked.md", "weir compile models/gpt-char.weir"): SMALL_GPT,
    ("docs/guides/you-asked.md", "weir verify models/mnist-mlp.weir"): weirtest.small("mnist-mlp")[0],
}

# What is not run here: (page, start of the command) -> why.
NOT_RUN = {
    ("README.md", "tools/quickstart"): "builds, then trains for minutes",
    ("README.md", "tools/test"): "is what runs this",
    ("README.md", "export PATH"): "the scratch folder's PATH is this one",
    ("docs/benchmarks.md", "python3 test/bench/step-time.py"): "needs PyTorch and an idle machine",
    ("docs/benchmarks.md", "python3 test/bench/products.py"): "needs PyTorch and an idle machine",
    ("docs/benchmarks.md", "python3 test/bench/mesh-time.py"): "needs real text and an idle machine",
    ("docs/benchmarks.md", "python3 test/bench/overlap-time.py"): "needs real text and an idle machine",
    ("docs/benchmarks/meshes.md", "weir compile models/gpt-char.weir --set vocab=50257"): "takes a while",
    ("docs/benchmarks/meshes.md", "weir inspect gpt2.weirx"): "is of what is not compiled here",
    ("docs/benchmarks/gpus.md", "tools/dev/gpu-kit"): "needs NVRTC and takes minutes",
    ("docs/internals/testing.md", "tools/dev/build tsan-runtime"): "builds the runtime once more",
    ("docs/internals/testing.md", "export WEIR_SANITIZED"): "names programs that are not built here",
    ("docs/internals/testing.md", "tools/test -R e2e-sanitized"): "is what runs this",
    ("docs/internals/verification.md", "weir-smith failures/"): "needs a failure that was kept",
    ("docs/internals/testing.md", "tools/dev/misspell --sample"): "takes minutes",
    ("docs/internals/testing.md", "tools/dev/coverage"): "builds everything once more",
    ("docs/internals/testing.md", "tools/dev/fuzz"): "builds with clang, then searches for minutes",
    ("docs/internals/building.md", "tools/dev/"): "installs packages, and builds",
    ("CONTRIBUTING.md", "tools/dev/build"): "builds",
    ("docs/guides/find-a-nan.md", "weir run gpt.weirx --data window=input.txt --checkpoint kept --replay"): "needs a run of 1,234 steps",
    ("docs/guides/several-gpus.md", "weir run"): "needs a GPU",
    ("docs/guides/several-gpus.md", "torchrun"): "needs GPUs and PyTorch",
    ("docs/guides/profile.md", "nsys"): "needs a GPU and NVIDIA's profiler",
    ("docs/guides/profile.md", "weir tune"): "needs a GPU",
    ("docs/guides/profile.md", "weir compile models/gpt-char.weir --target cuda:sm_90 --tuning"): "needs what weir tune writes",
    **{("docs/guides/several-nodes.md", start): "needs a launcher" for start in ("torchrun", "mpirun", "for", "RANK", "done")},
}

# Files that a page supposes: page -> a method of Docs.
BEFORE = {
    "docs/reference/checkpoints.md": "before_checkpoints",
    "docs/reference/data.md": "before_checkpoints",
    "docs/guides/change-the-mesh.md": "before_checkpoints",
    "docs/guides/find-a-nan.md": "before_checkpoints",
    "docs/guides/profile.md": "before_checkpoints",
    "docs/guides/resume-and-recover.md": "before_checkpoints",
    "docs/guides/planning.md": "before_planning",
    "docs/internals/verification.md": "before_verification",
    "docs/guides/from-pytorch.md": "before_from_pytorch",
    "docs/guides/published-weights.md": "before_published_weights",
    "docs/guides/sweep.md": "before_sweep",
    "docs/guides/write-a-layer.md": "before_write_a_layer",
    "docs/guides/tutorial.md": "before_tutorial",
}

# Pages with a test of their own below.
OWN = ("README.md", "docs/guides/tutorial.md", "docs/internals/verification.md")


def blocks(page):
    """The code blocks of a page that name no language but the shell's."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    return [text for language, text in fences if language in ("", "sh")]


def block(page, start):
    return next(b for b in blocks(page) if b.startswith(start))


def commands_of(text):
    """The commands of a block; nothing where it is none of commands."""
    if not PROGRAM.match(text):
        return []
    lines = (re.sub(r"\s+#.*", "", line).strip() for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def commands(page):
    return [command for text in blocks(page) for command in commands_of(text)]


def outputs(page):
    """What a page shows with the word "prints" between: the block's last command -> its output."""
    shown = re.findall(r"^```\n([^`]*?)^```\n\nprints\n\n```\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    return {commands_of(text)[-1]: output for text, output in shown}


@functools.cache
def anchors(path):
    """What a page's headings are called in links, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def entry(table, page, command):
    return next((key for key in table if key[0] == page and command.startswith(key[1])), None)


def with_stand_ins(page, command):
    words, instead = shlex.split(command), STAND_INS.get(entry(STAND_INS, page, command), [])
    for option, value in zip(instead[::2], instead[1::2]):
        # A config's value stands behind its name, in the word of --set.
        places = [at for at, word in enumerate(words) if word == option and (option != "--set" or words[at + 1].split("=")[0] == value.split("=")[0])]
        if places:
            words[places[0] + 1] = value
        else:
            words += [option, value]
    return shlex.join(words)


class Docs(weirtest.Test):
    def setUp(self):
        super().setUp()
        for path in ROOT.iterdir():
            if not path.name.startswith((".git", "build")):
                (self.folder / path.name).symlink_to(path)
        (self.folder / "build").mkdir()
        (self.folder / "build" / "bin").symlink_to(BIN)

    def shell(self, command, status=0):
        environment = dict(os.environ, NO_COLOR="1", PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
        done = subprocess.run(
            shlex.split(command), cwd=self.folder, env=environment, capture_output=True, text=True, errors="replace", timeout=1500
        )
        self.assertEqual(done.returncode, status, f"\n$ {command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done

    def run_page(self, page):
        """Runs a page's commands; command -> what it printed."""
        if page in BEFORE:
            getattr(self, BEFORE[page])()
        ran = {}
        for command in commands(page):
            if entry(NOT_RUN, page, command):
                continue
            ran[command] = self.shell(with_stand_ins(page, command))
        for command, output in outputs(page).items():
            self.assertEqual(ran[command].stdout, output, command)
        return ran

    def before_tutorial(self):
        self.write("bigram.weir", block("docs/guides/tutorial.md", "config"))

    def before_from_pytorch(self):
        self.write("net.weir", block("docs/guides/from-pytorch.md", "config"))

    def before_published_weights(self):
        """gpt2.weir with the page's blocks, weights for it, and tokens."""
        gpt = (ROOT / "models/gpt-char.weir").read_text()
        blocks_at = gpt.index("block self_attention"), gpt.index("model gpt")
        own = block("docs/guides/published-weights.md", "block self_attention")
        model = self.write("gpt2.weir", gpt[: blocks_at[0]] + own + gpt[blocks_at[1] :])
        (self.folder / "tokens.bin").write_bytes(b"".join(struct.pack("<H", 7 * i % 65) for i in range(2000)))
        self.shell(shlex.join(["weir", "train", model.name, *PUBLISHED, "--set", "batch=4", "--data", "window=u16:tokens.bin",
                               "--steps", "1", "--checkpoint", "published"]))  # fmt: skip
        (self.folder / "gpt2.safetensors").symlink_to("published/step-00000001/model.safetensors")

    def before_sweep(self):
        self.write("bigram.weir", block("docs/guides/sweep.md", "config"))

    def before_write_a_layer(self):
        self.write("classifier.weir", block("docs/guides/write-a-layer.md", "config"))

    def before_checkpoints(self):
        self.shell("tools/get-data input.txt")
        self.shell(shlex.join(["weir", "compile", "models/gpt-char.weir", *SMALL_GPT, "-o", "gpt.weirx"]))

    def before_planning(self):
        (self.folder / "cluster.toml").write_text(
            '[[devices]]\nkind = "cpu"\ncount = 2\n[[links]]\nbandwidth = "5GB/s"\nlatency = "20us"\n')

    def before_verification(self):
        self.before_checkpoints()
        self.write("net.weir", block("docs/internals/verification.md", "model net"))

    # Every page.

    def test_every_table_entry_is_used(self):
        everything = [(page, command) for page in PAGES for command in commands(page)]
        for table in (STAND_INS, NOT_RUN):
            for page, start in table:
                self.assertTrue(any(p == page and c.startswith(start) for p, c in everything), f"{page} has no '{start}'")

    @weirtest.takes(30)
    @weirtest.each(page for page in PAGES if page not in OWN and not all(entry(NOT_RUN, page, command) for command in commands(page)))
    def test_page(self, page):
        self.run_page(page)

    def test_links(self):
        for page in PAGES:
            for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", (ROOT / page).read_text()):
                path = (ROOT / page).parent / target if target else ROOT / page
                self.assertTrue(path.exists(), f"{page} links to {target}")
                if anchor:
                    self.assertIn(anchor, anchors(path), f"{page} links to {target}#{anchor}")

    def test_paths(self):
        """What stands in code quotes and looks like a file of ours is one."""
        folders = "|".join(p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith((".", "build")))
        for page in PAGES:
            for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", (ROOT / page).read_text()):
                if re.search(r"\b[A-Z]{2,}\b", path):
                    continue  # stands for any name
                self.assertTrue((ROOT / path).exists() or list(ROOT.glob(path + ".*")), f"{page} names {path}")

    # README.md

    def test_readme(self):
        self.run_page("README.md")
        self.assertTrue(self.checkpoints(self.folder / "kept"))
        self.shell(f"weir check {self.write('mlp.weir', block('README.md', 'config'))}")

    # docs/reference/language.md

    def test_language(self):
        page = "docs/reference/language.md"
        shown = next(b for b in blocks(page) if "error: expected `)`" in b)
        line = re.search(r"12 \| (.*)", shown)[1]
        model = self.write("x.weir", "\n" * 10 + "fn f(x: [..], y: float) -> [..] {\n" + line + "\n  return y\n}\n")
        error = self.shell(f"weir check {model}", status=3).stderr
        self.assertTrue(error.startswith(shown.replace("models/x.weir", str(model))), error)

    # docs/internals/verification.md

    @weirtest.takes(30)
    def test_verification(self):
        page = "docs/internals/verification.md"
        ran = self.run_page(page)
        self.assertTrue((self.folder / "first.safetensors").exists())
        for command, done in ran.items():
            if "--check-every-op" in command:
                self.assertRegex(done.stderr + done.stdout, r"(?i)agree|checked")
        # Two ways to run one step.
        steps = [done.stdout for command, done in ran.items() if command.startswith("weir-opt") and "--entry step" in command]
        self.assertEqual(len(steps), 2)
        for numbers in zip(*(map(float, re.findall(r"(?<= )-?\d[\d.e-]*", step)) for step in steps)):
            self.assertAlmostEqual(*numbers, places=6)
        self.assertEqual(len(outputs(page)), 1)

    # docs/guides/tutorial.md

    def test_tutorial(self):
        page = "docs/guides/tutorial.md"
        ran = self.run_page(page)
        done = lambda start: next(d for c, d in ran.items() if c.startswith(start))
        # 2. "says nothing"; "it says where, and what you meant".
        self.assertEqual(done("weir check").stdout + done("weir check").stderr, "")
        model = (self.folder / "bigram.weir").read_text()
        wrong = self.write("wrong.weir", model.replace("[vocab, width]", "[vocab, widht]"))
        self.assertRegex(self.shell(f"weir check {wrong}", status=3).stderr, r"wrong\.weir:4:\d+: error: .*widht(.|\n)*`width`")
        # 3. What is held out is evaluated, and the weights are kept under their paths.
        steps, last = self.metrics()
        self.assertEqual(len(steps), 500)
        self.assertLess(last["heldout_loss"], 0.75 * steps[0]["loss"])
        kept = weirtest.floats(self.checkpoints(self.folder / "kept")[-1] / "model.safetensors")
        self.assertEqual(set(kept), {"embedding", "hidden.weight", "hidden.bias", "head.weight", "head.bias"})
        many = self.write("many.txt", "".join(map(chr, range(0x4E00, 0x4E00 + 70))) * 10)
        error = self.shell(f"weir train bigram.weir --data window={many}", status=4).stderr
        self.assertIn("--set vocab=70", error)
        # 4. "the same losses to the last bit", and what inspect begins with.
        self.assertEqual(self.losses("again.jsonl"), self.losses())
        self.assertEqual(self.metrics("again.jsonl")[1]["heldout_loss"], last["heldout_loss"])
        report = done("weir inspect").stdout
        head = report.split("\n\n")[0].splitlines()
        names = ["Model", "Configs", "Training", "Parameters", "Memory", "A step", "Kernels", "Calls"]
        self.assertEqual([re.split(r"  |(?<=Parameters) ", line)[0] for line in head], names)
        for words in (r"machine code", r"bigram\.weir:\d", r"Library calls", r"Alive at the peak", r"\d%"):
            self.assertRegex(report, words)
        # 5. The prompt and 200 characters.
        written = done("weir generate").stdout
        self.assertTrue(written.startswith("The "), written)
        self.assertEqual(len(written.removesuffix("\n")), len("The ") + 200)

    def test_tutorial_extensions(self):
        page = "docs/guides/tutorial.md"
        bigram = block(page, "config")
        self.shell("tools/get-data input.txt")
        options = "--data window=input.txt --steps 5 --metrics metrics.jsonl"
        # 6. One kernel for all of it; large values do no harm.
        mish = block(page, "fn mish") + bigram.replace("gelu_tanh(", "mish(")
        self.write("mish.weir", mish.replace("std = 0.02", "std = 1000.0"))
        self.shell(f"weir train mish.weir {options} -o mish.weirx")
        facts = json.loads(self.shell("weir inspect mish.weirx --json").stdout)
        kinds = [{op.split(".")[-1] for op in kernel["ops"]} for kernel in facts["kernels"]]
        self.assertTrue([k for k in kinds if {"max", "exp", "log1p", "tanh", "mul"} <= k], kinds)
        # 7. An optimizer of one's own, and groups of parameters.
        own = block(page, "optimizer") + bigram.replace("adamw(lr)", "sign_momentum(lr)")
        self.write("own.weir", own)
        self.shell(f"weir train own.weir {options}")
        groups = re.sub(r"  update adamw\(lr\)\n", block(page, "  update"), bigram)
        self.assertIn("where rank", groups)
        self.write("groups.weir", groups)
        self.shell("weir check groups.weir")

    # tools/get-data

    def test_get_data(self):
        self.shell("tools/get-data own.txt")
        own = (self.folder / "own.txt").read_text()
        self.assertEqual(len(set(own)), 65)
        self.shell("tools/get-data again.txt")
        self.assertEqual((self.folder / "again.txt").read_text(), own)
        self.write("book.txt", "aaabbbccd\né")
        self.shell("tools/get-data few.txt --from book.txt --characters 3")
        self.assertEqual((self.folder / "few.txt").read_text(), "aaabbbcc")
        self.shell("tools/get-data all.txt --from book.txt --characters 0")
        self.assertEqual((self.folder / "all.txt").read_text(), "aaabbbccd\né")
        with served(self.folder) as address:
            self.shell(f"tools/get-data web.txt --from {address}/book.txt --characters 3")
        self.assertEqual((self.folder / "web.txt").read_text(), "aaabbbcc")
        (self.folder / "bytes").write_bytes(b"\xff\xfe")
        self.write("empty.txt", "")
        for source, reason in (("nowhere", "No such file"), ("bytes", "no UTF-8"), ("empty.txt", "is empty")):
            error = self.shell(f"tools/get-data x.txt --from {source}", status=4).stderr
            self.assertIn(f"error: {source}: ", error)
            self.assertIn(reason, error)
        with cut_download() as address:
            error = self.shell(f"tools/get-data x.txt --from {address}", status=4).stderr
        self.assertRegex(error, f"error: {address}: IncompleteRead")
        self.shell("tools/get-data nowhere/x.txt", status=8)
        self.shell("tools/get-data", status=2)


@contextlib.contextmanager
def cut_download():
    """The address of a text that ends before the length it states."""

    class Cut(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"to be")

        def log_message(self, *_):
            pass

    with listening(Cut) as address:
        yield address


@contextlib.contextmanager
def served(folder):
    """The folder on a web server of this machine; its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with listening(functools.partial(Quiet, directory=folder)) as address:
        yield address


@contextlib.contextmanager
def listening(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    weirtest.main()
