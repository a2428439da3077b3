"""What the end-to-end tests share: running the built tools, and small data made on the spot.

Each *-test.py is a unittest program, and each of its test methods is one CTest test (list-tests.py); WEIR_BIN names the folder of
the built tools. A method that would take over two minutes is cut with `each`; one of over half a minute says so with `takes`.
"""

import functools
import itertools
import json
import math
import os
import pathlib
import random
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
BIN = pathlib.Path(os.environ.get("WEIR_BIN", ROOT / "build" / "bin"))
DATA = ROOT.parent / "shared" / "data"
# Kernels that tests have compiled, by their content: who runs them again need not.
KERNELS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "weir-tests" / "kernels"
SANITIZED = (BIN / "weir-run").exists() and b"__asan_init" in (BIN / "weir-run").read_bytes()

# Small enough that compiling, not training, is what takes the time.
SMALL_GPT = ["--set", "layers=2", "--set", "width=32", "--set", "context=16", "--set", "batch=8"]

SHIPPED = sorted(path.stem for path in MODELS.glob("*.weir"))

needs_data = unittest.skipUnless(DATA.is_dir(), f"the real data ({DATA}) is not here")


def start(tool, *args, **more):
    """A tool as a running process, its streams captured."""
    environment = dict(os.environ, NO_COLOR="1", **more.pop("env", {}))
    return subprocess.Popen(
        [BIN / tool, *map(str, args)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", **more,
    )


def start_into(file, tool, *args):
    """A tool as a running process that writes its results into a file."""
    return subprocess.Popen([BIN / tool, *map(str, args)], cwd=ROOT, stdout=file, stderr=subprocess.DEVNULL)


SLOTS = itertools.count(os.getpid())
RESERVED = []


def free_port():
    """A free TCP port, with the 15 behind it, which no other test gets before this process exits, as FreePort.h says."""
    for slot in itertools.islice(SLOTS, 1200):
        base = 10000 + slot % 1200 * 16
        reserved = socket.socket(socket.AF_UNIX)
        try:
            reserved.bind(f"\0weir test ports {base}")
            RESERVED.append(reserved)
            for port in range(base, base + 16):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise RuntimeError("no 16 free ports in a row from 10000 on")


# By default sweeps over models, precisions and architectures run so that each occurs; this asks for all of their pairs.
ALL = bool(os.environ.get("WEIR_TEST_ALL"))


def half(cases, other=False):
    """Every other case, or the others; all with WEIR_TEST_ALL=1."""
    return list(cases) if ALL else list(cases)[int(other) :: 2]


def each(cases):
    """Makes a test of a method for each case, which the method gets as its argument: `test_models` becomes `test_models__gpt_char`."""

    def mark(method):
        method.cases = list(cases)
        return method

    return mark


def takes(seconds, alone=False):
    """Says about how long a test takes on two cores, so that CTest starts the longest first; with `alone`, CTest runs no other test beside it."""

    def mark(method):
        method.seconds, method.alone = seconds, alone
        return method

    return mark


def depends_on_cpu_level(method):
    """Says that a test's outcome could depend on the processor: it has CTest's label cpu-level (docs/internals/testing.md), and CI runs it once more for x86-64-v3."""
    method.depends_on_cpu_level = True
    return method


class Test(unittest.TestCase):
    """A test with a folder of its own, `self.folder`."""

    maxDiff = None

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        for name, method in list(vars(cls).items()):
            if not hasattr(method, "cases"):
                continue
            delattr(cls, name)
            for case in method.cases:
                one = functools.wraps(method)(lambda self, method=method, case=case: method(self, case))
                one.__name__ = name + "__" + re.sub(r"\W+", "_", str(case)).strip("_")
                assert one.__name__ not in vars(cls), f"{cls.__name__} has two cases of one name, {one.__name__}"
                setattr(cls, one.__name__, one)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_tool(self, tool, *args, status=0, timeout=600, **more):
        """A tool that ends with that status; with any, where it is None."""
        process = start(tool, *args, **more)
        out, err = process.communicate(timeout=timeout)
        command = " ".join([tool, *map(str, args)])
        if status is not None:
            self.assertEqual(process.returncode, status, f"\n$ {command}\n{out[-2000:]}\n{err[-4000:]}")
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def weir(self, *args, **more):
        return self.run_tool("weir", *args, **more)

    def weir_run(self, *args, **more):
        return self.run_tool("weir-run", *args, **more)

    def fails(self, status, pattern, tool, *args, **more):
        """The tool ends with that status and says something on standard error that matches, and nothing on standard output."""
        done = self.run_tool(tool, *args, status=status, **more)
        self.assertRegex(done.stderr, re.compile(pattern, re.S))
        self.assertNotRegex(done.stderr, r"Assertion|terminate called|Stack dump|LLVM ERROR")
        self.assertEqual(done.stdout, "")
        return done

    def taken(self, artifact, threads=2):
        """The bytes of a run on so many threads that no choice changes, and all of them, as --memory counts them."""
        memory = json.loads(self.weir("inspect", "--json", artifact).stdout)["memory"]
        besides = threads * -(-memory["thread_scratch"] // 4096) * 4096 + memory["batches"]
        return memory["persistent"] + besides, memory["arena"] + besides

    def metrics(self, name="metrics.jsonl"):
        """The steps' records and the last one."""
        records = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        steps = [r for r in records if r.get("event", "step") == "step"]
        self.assertEqual(records[-1].get("event"), "done")
        return steps, records[-1]

    def losses(self, name="metrics.jsonl"):
        return [record["loss"] for record in self.metrics(name)[0]]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def text(self, name="text.txt", length=20000):
        """Words of a small language, with fewer than 65 distinct characters."""
        choose = random.Random(1)
        words = ["to", "be", "or", "not", "that", "is", "the", "question", "whether", "nobler", "in", "mind"]
        out = ""
        while len(out) < length:
            out += choose.choice(words) + choose.choice("   .\n")
        return self.write(name, out)

    def rows_of(self, model, sets, rows=24):
        """Random rows for every input of a shipped model at the sizes of small(): its --data options."""
        text = (MODELS / f"{model}.weir").read_text()
        sizes = {}
        for line in re.findall(r"^config (.*)", text, re.M):
            for name, value in re.findall(r"(\w+) = ([^,]+)", line):
                sizes[name] = float(value) if "." in value else int(value)
        sizes |= {name: int(value) for name, value in (word.split("=") for word in sets if word != "--set")}
        choose = random.Random(rows)
        paths = {}
        for name, element, dims in re.findall(r"^  input +(\w+): *(\w*)\[(.*)\]", text, re.M):
            shape = [rows] + [eval(dim, {}, sizes) for dim in dims.split(",")[1:]]
            kind, limit = ("B", 256) if element == "u8" else ("i", 2)  # two classes or characters are in every model
            numbers = [choose.randrange(limit) for _ in range(math.prod(shape))]
            paths[name] = npy(self.folder / f"{model}-{name}.npy", kind, shape, numbers)
        return data(**paths)

    def digits(self, rows=320, name="train"):
        """idx files in the manner of MNIST: each class is a block of light in its own place, with noise. Their --data options."""
        choose = random.Random(rows)
        images, labels = bytearray(), bytearray()
        for _ in range(rows):
            label = choose.randrange(10)
            image = bytearray(choose.randrange(64) for _ in range(28 * 28))
            top, left = 2 + 12 * (label // 5), 1 + 5 * (label % 5)
            for y in range(top, top + 10):
                for x in range(left, left + 5):
                    image[28 * y + x] = 128 + choose.randrange(128)
            images += image
            labels.append(label)
        paths = self.folder / f"{name}-images.idx", self.folder / f"{name}-labels.idx"
        paths[0].write_bytes(struct.pack(">4i", 0x803, rows, 28, 28) + images)
        paths[1].write_bytes(struct.pack(">2i", 0x801, rows) + labels)
        return data(images=paths[0], labels=paths[1])

    def checkpoints(self, folder):
        """The step folders of a checkpoint directory, oldest first."""
        return sorted(p for p in pathlib.Path(folder).glob("step-*") if p.is_dir() and not p.name.endswith(".tmp"))

    def weights(self, folder):
        """Every tensor file of the newest checkpoint: name -> bytes."""
        newest = self.checkpoints(folder)[-1]
        files = {p.name: p.read_bytes() for p in newest.glob("*.safetensors")}
        self.assertIn("model.safetensors", files)
        return files


def small(model):
    """The sizes at which a shipped model is quick to check, of each `// small:` line at its head: lists of --set options."""
    lines = re.findall(r"^// small: (.*)", (MODELS / f"{model}.weir").read_text(), re.M)
    assert lines, f"models/{model}.weir has no line `// small: config=value ...`"
    return [[word for size in line.split() for word in ("--set", size)] for line in lines]


def data(**paths):
    """--data options."""
    return [word for name, path in paths.items() for word in ("--data", f"{name}={path}")]


def eval_data(**paths):
    return [word for name, path in paths.items() for word in ("--eval-data", f"{name}={path}")]


def npy(path, kind, shape, numbers):
    """Writes an .npy file of little-endian numbers; `kind` is struct's letter (i, f, B)."""
    dtype = {"i": "<i4", "f": "<f4", "B": "|u1"}[kind]
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    path.write_bytes(content + struct.pack(f"<{len(numbers)}{kind}", *numbers))
    return path


def floats(path):
    """The tensors of a safetensors file of float32: name -> (shape, numbers)."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        assert entry["dtype"] == "F32", entry
        tensors[name] = entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", content[begin:end])
    return tensors


def floats_of(path, name):
    """The numbers of one float32 tensor of a safetensors file, whatever the others are."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    entry = json.loads(content[8 : 8 + length])[name]
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    assert entry["dtype"] == "F32", entry
    return list(struct.unpack(f"<{(end - begin) // 4}f", content[begin:end]))


def norm(numbers):
    return math.sqrt(sum(x * x for x in numbers))


def mnist():
    folder = DATA / "mnist"
    return data(
        images=folder / "train-images.idx3-ubyte", labels=folder / "train-labels.idx1-ubyte"
    ) + eval_data(images=folder / "test-images.idx3-ubyte", labels=folder / "test-labels.idx1-ubyte")


def main():
    unittest.main(verbosity=2)
