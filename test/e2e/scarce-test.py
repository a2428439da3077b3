"""Where threads, memory or open files end, wherever that is, the status is 6 and there is a message."""

import json
import os
import resource
import signal
import subprocess
import time
import unittest

import weirtest
from weirtest import BIN, MODELS

MODEL = [MODELS / "mnist-mlp.weir", "--set", "hidden=24", "--set", "batch=8"]


class Scarce(weirtest.Test):
    def setUp(self):
        super().setUp()
        self.rows = self.digits(32)

    def ends(self, tool, *arguments, statuses=(0, 6), **more):
        done = subprocess.run(
            [BIN / tool, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=300, **more
        )
        self.assertIn(done.returncode, statuses, done.stderr[-2000:])
        if done.returncode == 6:
            self.assertRegex(
                done.stderr,
                r"error: .*(cannot start a thread|raise the limit on open files, which is now \d+ \(ulimit -n\)|unavailable"
                r"|Too many open files|memory|cannot allocate)",
            )
        return done.returncode

    def test_threads(self):
        artifact = self.folder / "m.weirx"
        self.weir("compile", *MODEL, "-o", artifact)
        # A run's threads are its workers and one that signals come to.
        for tool, arguments, enough in (
            ("weir-run", [artifact, *self.rows, "--steps", 2, "--threads", 4], 5),
            ("weir", ["compile", *MODEL, "-o", self.folder / "again.weirx"], 40),
            ("weir", ["run", artifact, *self.rows, "--steps", 1, "--threads", 2, "--check-every-op"], 3),
        ):
            statuses = []
            for count in (*range(6), enough):
                environment = dict(os.environ, LD_PRELOAD=os.environ["WEIR_FEW_THREADS"], WEIR_THREADS=str(count))
                statuses.append(self.ends(tool, *arguments, env=environment))
            self.assertEqual((statuses[0], statuses[-1]), (6, 0), arguments[0])
        # Reading a plan takes no thread.
        environment = dict(os.environ, LD_PRELOAD=os.environ["WEIR_FEW_THREADS"], WEIR_THREADS="0")
        self.assertEqual(self.ends("weir", "inspect", "--plan", artifact, env=environment), 0)

    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer sets address space aside")
    def test_memory(self):
        statuses = []
        for mebibytes in (380, 430, 500, 600, 700, 800, 1000, 4000):
            limit = mebibytes << 20
            statuses.append(
                self.ends(
                    "weir", "train", *MODEL, *self.rows, "--steps", 2, "--threads", 2,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
                )  # fmt: skip
            )
        self.assertEqual((statuses[0], statuses[-1]), (6, 0))

    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer sets address space aside")
    def test_memory_for_the_compiler(self):
        """Wherever in LLVM memory ends, in whichever of its threads: not all of it looks whether it was given any."""
        loader = 127  # did not get what the libraries themselves take
        statuses = set()
        for mebibytes in range(330, 420, 2):
            limit = mebibytes << 20
            statuses.add(
                self.ends(
                    "weir", "compile", *MODEL, "-o", self.folder / "m.weirx", statuses=(0, 6, loader),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
                )  # fmt: skip
            )
        self.assertIn(6, statuses)

    def test_signals_that_are_sent(self):
        """What looks whether memory has ended leaves other ends as they are."""
        for number in (signal.SIGABRT, signal.SIGSEGV):
            command = [BIN / "weir", "compile", MODELS / "gpt-char.weir", "--set", "layers=200", "-o", self.folder / "m.weirx", "--time-passes"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
                time.sleep(1)
                child.send_signal(number)
                self.assertNotEqual(child.wait(timeout=300), 0)

    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer sets address space aside")
    def test_memory_of_ranks(self):
        """There is room for each rank of a process alone, and not for both."""
        artifact = self.folder / "m.weirx"
        self.weir("compile", MODEL[0], "--set", "hidden=4096", "--set", "batch=8", "--mesh", "dp=2", "-o", artifact)
        limit = json.loads(self.weir("inspect", artifact, "--sharding", "--json").stdout)["ranks"][0]["arena"] * 3 // 2
        done = subprocess.run(
            [BIN / "weir-run", artifact, *map(str, self.rows), "--steps", "1"], capture_output=True, text=True, timeout=100,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )  # fmt: skip
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"tensors of the 2 ranks on this machine: \d+ bytes are needed, but the machine has \d+; compile with")

    @unittest.skipIf(weirtest.SANITIZED, "AddressSanitizer sets address space aside")
    def test_memory_for_the_first_call_of_a_thread(self):
        """A library that does not get what it keeps for a thread ends the process, so it is not asked then."""
        artifact = self.folder / "m.weirx"
        self.weir("compile", *MODEL, "-o", artifact)

        def run(kibibytes):
            limit = kibibytes << 10
            return self.ends(
                "weir", "run", artifact, *self.rows, "--steps", 1, "--threads", 4,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            )  # fmt: skip

        least, most = 300 << 10, 1000 << 10
        scarce, enough = least, most
        while enough - scarce > 32:
            limit = (scarce + enough) // 2
            if run(limit):
                scarce = limit
            else:
                enough = limit
        self.assertTrue(least < scarce and enough < most, "the border is elsewhere")
        for below in (0, 8 << 10):  # the stack of the last thread
            for more in range(-64, 448, 32):
                run(scarce - below - more)

    def test_open_files_of_a_run(self):
        artifact = self.folder / "m.weirx"
        self.weir("compile", *MODEL, "--gradients", "-o", artifact)
        results = (
            [], ["--checkpoint", "kept"], ["--metrics", "m.jsonl"], ["--tensorboard", "board"], ["--trace", "t.json"],
            ["--gradients", "g.safetensors"],
        )  # fmt: skip
        for result in results:
            with self.subTest(result=result):
                statuses = []
                for count in (*range(4, 14), 40):
                    place = [result[0], self.folder / f"{count}-{result[1]}"] if result else []
                    statuses.append(
                        self.ends(
                            "weir-run", artifact, *self.rows, "--steps", 1, "--threads", 2, *place,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)),
                        )  # fmt: skip
                    )
                self.assertEqual((statuses[0], statuses[-1]), (6, 0))

    def test_open_files(self):
        statuses = []
        for count in (*range(4, 14), 40):
            statuses.append(
                self.ends(
                    "weir", "compile", *MODEL, "-o", self.folder / "m.weirx",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)),
                )  # fmt: skip
            )
        self.assertEqual((statuses[0], statuses[-1]), (6, 0))


if __name__ == "__main__":
    weirtest.main()
