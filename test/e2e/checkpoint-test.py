"""Checkpoints of several ranks: of any mesh for any other, each rank's own bytes, and behind the steps."""

import importlib
import os
import resource
import shutil
import signal
import time
import unittest

import weirtest
from weirtest import MODELS, data

ranks = importlib.import_module("processes-test")

# What bytes of four ranks are: cut over both axes, over one and over none.
FOUR = ["--mesh", "dp=2,tp=2", "--zero", 3]
MESHES = {
    "one": [],
    "two": ["--mesh", "dp=2", "--zero", 1],
    "two-tp": ["--mesh", "tp=2"],
    "four": FOUR,
    "four-dp": ["--mesh", "dp=4", "--zero", 2],
    "eight": ["--mesh", "dp=4,tp=2", "--zero", 3],
    "eight-dp": ["--mesh", "dp=8"],
}
FILES = ("model.safetensors", "state.safetensors", "manifest.json")
GPT = [MODELS / "gpt-char.weir", "--set", "layers=2", "--set", "width=32", "--set", "context=16", "--set", "batch=8"]


class Checkpoints(ranks.Ranks):
    def files_of(self, folder):
        """The newest checkpoint: tensors, where the data are, and what the run was begun with."""
        newest = self.checkpoints(self.folder / folder)[-1]
        return newest.name, [(newest / name).read_bytes() for name in FILES]

    def copy(self, artifact, source, target, size=1):
        """Loaded by the artifact's ranks, and saved by them again."""
        shutil.rmtree(self.folder / target, ignore_errors=True)
        words = [artifact, self.folder / source, self.folder / target]
        if size == 1:
            self.run_tool("copy-checkpoint", *words)
        else:
            self.all_end(self.begin(size, *words, tool="copy-checkpoint"))
        return self.files_of(target)

    def test_any_mesh_goes_on_with_it(self):
        text = data(window=self.text())
        artifacts = {name: self.compiled(*GPT, *mesh, name=f"{name}.weirx") for name, mesh in MESHES.items()}
        train = ["--checkpoint", self.folder / "first", "--metrics", self.folder / "m.jsonl"]
        self.all_end(self.begin(4, "run", artifacts["four"], *text, "--steps", 3, *train))
        saved = self.files_of("first")
        for name, artifact in artifacts.items():
            size = {"one": 1, "two": 2, "fou": 4, "eig": 8}[name[:3]]
            with self.subTest(mesh=name):
                self.assertEqual(self.copy(artifact, "first", "virtual"), saved)
                self.assertEqual(self.copy(artifact, "first", "there", size), saved)
                # It goes on there, and the four load what it saves then.
                shutil.copytree(self.folder / "first", self.folder / name)
                more = ["--steps", 5, "--resume", "--extend", "--checkpoint", self.folder / name]
                self.weir("run", artifact, *text, *more, "--metrics", self.folder / f"{name}.jsonl")
                self.assertEqual(self.copy(artifacts["four"], name, "back", 4), self.files_of(name))
                losses = self.losses(f"{name}.jsonl")
                self.assertEqual(len(losses), 2)
                for loss, expected in zip(losses, self.losses("one.jsonl")):
                    self.assertAlmostEqual(loss, expected, delta=1e-4)

    def test_saves_behind_the_steps_are_the_same(self):
        rows, artifact = self.digits(64), self.compiled(*ranks.MLP, *FOUR)
        words = ["run", artifact, *rows, "--steps", 9, "--checkpoint-every", 2, "--keep-checkpoints", 9]
        for name, more in (("between", []), ("behind", ["--async-checkpoint"])):
            self.all_end(self.begin(4, *words, *more, "--checkpoint", self.folder / name, "--metrics", self.folder / f"{name}.jsonl"))
            self.weir(*words, *more, "--checkpoint", self.folder / f"{name}-virtual")
        self.assertEqual(self.losses("between.jsonl"), self.losses("behind.jsonl"))
        for step in self.checkpoints(self.folder / "between"):
            for name in FILES:
                expected = (step / name).read_bytes()
                for folder in ("behind", "between-virtual", "behind-virtual"):
                    self.assertEqual((self.folder / folder / step.name / name).read_bytes(), expected, f"{folder} {step.name} {name}")
        self.assertEqual(len(self.checkpoints(self.folder / "behind")), 5)

    def behind(self, kept, metrics, *more, **options):
        """Two ranks that save behind the steps, on a disk that takes longer than some of them."""
        artifact = self.compiled(*ranks.MLP, "--mesh", "dp=2", "--zero", 1)
        slow = {"LD_PRELOAD": os.environ["WEIR_SLOW_WRITES"], "WEIR_WRITE_MS": "50"}
        words = ["run", artifact, *self.digits(64), "--steps", 60, "--async-checkpoint", "--checkpoint", self.folder / kept]
        return words, self.begin(2, *words, "--checkpoint-every", 15, "--metrics", self.folder / metrics, *more, env=slow, **options)

    def await_a_save(self, kept, metrics, processes):
        """That one is written while steps go on, when there was one before it: which that was."""
        end, kept = time.monotonic() + 120, self.folder / kept
        while True:
            for process in processes:
                self.assertIsNone(process.poll(), process.returncode is not None and process.communicate())
            self.assertLess(time.monotonic(), end, "nothing is saved while steps go on")
            done = (self.folder / metrics).read_text().count("\n") if (self.folder / metrics).exists() else 0
            written = [int(path.name[5:13]) for path in kept.glob("*.tmp") if path.name.startswith("step")]
            if written and done > written[0] + 1 and self.checkpoints(kept):
                return self.checkpoints(kept)[-1].name
            time.sleep(0.005)

    def test_a_rank_killed_behind_a_save(self):
        whole = None
        for victim in (0, 1):
            with self.subTest(victim=victim):
                kept, metrics = f"kept-{victim}", f"m-{victim}.jsonl"
                words, processes = self.behind(kept, metrics)
                saved = self.await_a_save(kept, metrics, processes)
                processes[victim].kill()
                processes[victim].wait()
                ((_, err),) = self.all_end([processes[1 - victim]], status=7, within=30)
                self.assertRegex(err, f"rank {victim} exited without a message")
                # The one that was being written is not there; the one before it is whole.
                self.assertEqual(self.checkpoints(self.folder / kept)[-1].name, saved)
                done = self.all_end(self.begin(2, *words, "--resume"))
                self.assertIn(f"from {self.folder / kept / saved}", done[0][1])
                self.assertNotIn("incomplete or damaged", done[0][1])
                if not whole:
                    self.weir(*words[:-1], self.folder / "whole", "--metrics", self.folder / "whole.jsonl")
                    whole = self.files_of("whole")
                self.assertEqual(self.files_of(kept), whole)
                self.assertEqual(list((self.folder / kept).glob("*.tmp")), [])
                self.assertLessEqual(self.losses_by_step(metrics).items(), self.losses_by_step("whole.jsonl").items())

    def test_a_signal_waits_for_what_is_saved(self):
        words, processes = self.behind("kept", "m.jsonl")
        self.await_a_save("kept", "m.jsonl", processes)
        processes[1].send_signal(signal.SIGTERM)
        said = self.all_end(processes, status=75)
        self.assertRegex(said[0][1], r"SIGTERM: stopped after step \d+, saved in")
        self.all_end(self.begin(2, *words, "--resume"))
        self.weir(*words[:-1], self.folder / "whole")
        self.assertEqual(self.files_of("kept"), self.files_of("whole"))

    def test_who_fails_behind_a_save_says_so_at_once(self):
        """The other does not wait for its disk, and knows why."""
        artifact, port, processes = self.compiled(*ranks.GPT, "--mesh", "dp=2"), weirtest.free_port(), []
        held_out = [self.folder / f"{rank}.bin" for rank in (0, 1)]
        slow = {"LD_PRELOAD": os.environ["WEIR_SLOW_WRITES"], "WEIR_WRITE_MS": "7000"}
        for rank, file in enumerate(held_out):
            file.write_bytes(bytes(at % 7 * (1 - at % 2) for at in range(400)))
            words = [*data(window=self.text()), *weirtest.eval_data(window=file), "--eval-every", 1, "--steps", 10000000, "--checkpoint-every", 3]
            processes.append(weirtest.start("weir", "run", artifact, *words, "--async-checkpoint", "--collective-timeout", 3, "--checkpoint",
                                            self.folder / "kept", env=self.environment(rank, 2, port) | slow))  # fmt: skip
            self.addCleanup(self.put_away, processes[-1])
        end = time.monotonic() + 60
        while not list((self.folder / "kept").glob("step-*.tmp")):
            self.assertLess(time.monotonic(), end, "nothing is saved")
            time.sleep(0.01)
        held_out[1].write_bytes(b"")
        (_, first), (_, other) = self.all_end(processes, status=4, within=60)
        self.assertRegex(other, r"error: rank 1: .*1\.bin: was .*while it was in use")
        self.assertRegex(first, r"rank 1 exited with status 4: .*1\.bin")

    def test_a_disk_that_fails_one_rank(self):
        """All end with what it says, and what was saved is as it was."""
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2", "--zero", 3), self.digits(64)
        for more in ([], ["--async-checkpoint"]):
            with self.subTest(more=more):
                shutil.rmtree(self.folder / "kept", ignore_errors=True)
                words = ["run", artifact, *rows, "--checkpoint", self.folder / "kept", *more]
                self.all_end(self.begin(2, *words, "--steps", 3))
                before, port, processes = self.files_of("kept"), weirtest.free_port(), []
                for rank in (0, 1):
                    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))) if rank else None
                    processes.append(weirtest.start("weir", *words, "--steps", 90, "--checkpoint-every", 3, "--resume", "--extend",
                                                    env=self.environment(rank, 2, port), preexec_fn=limit))  # fmt: skip
                    self.addCleanup(self.put_away, processes[-1])
                (_, first), (_, other) = self.all_end(processes, status=8)
                self.assertRegex(other, r"error: rank 1: .*step-00000006.tmp/model\.safetensors: cannot write: File too large")
                self.assertRegex(first, r"rank 1 (reports|exited with status 8): .*cannot write: File too large")
                self.assertEqual(self.files_of("kept"), before)
                self.assertEqual(list((self.folder / "kept").glob("*.tmp")), [])

    def test_all_see_one_folder(self):
        artifact, rows, port, processes = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64), weirtest.free_port(), []
        for rank in (0, 1):
            (self.folder / f"host-{rank}").mkdir()
            processes.append(weirtest.start("weir", "run", artifact, *rows, "--steps", 3, "--checkpoint", self.folder / f"host-{rank}" / "kept",
                                            env=self.environment(rank, 2, port)))  # fmt: skip
            self.addCleanup(self.put_away, processes[-1])
        said = self.all_end(processes, status=2)
        self.assertRegex(said[1][1], r"host-1/kept: is not the same directory as on rank 0; give all ranks the same directory")

    def test_needs_a_folder(self):
        self.fails(2, "--async-checkpoint requires --checkpoint", "weir", "train", MODELS / "mnist-mlp.weir", "--async-checkpoint")


if __name__ == "__main__":
    weirtest.main()
