"""Each rank a process, as launchers start them: the bits of virtual devices, and an end for all where one ends."""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import time
import unittest

import weirtest
from weirtest import BIN, MODELS, SHIPPED, data, free_port, small, start

MLP = [MODELS / "mnist-mlp.weir", "--set", "hidden=24", "--set", "batch=8"]
GPT = [MODELS / "gpt-char.weir", "--set", "layers=2", "--set", "width=32", "--set", "context=16", "--set", "batch=6"]
MOE = [MODELS / "moe.weir", "--set", "layers=1", "--set", "width=24", "--set", "context=12", "--set", "experts=4", "--set", "hidden=16", "--set", "batch=6"]
# What launchers set must come from the test alone.
LAUNCHERS = ("RANK", "WORLD_SIZE", "MASTER_", "OMPI_", "PMI", "SLURM_", "PET_", "JAX_", "TORCHELASTIC_", "WEIR_JOB")


class Ranks(weirtest.Test):
    """A test that starts processes as a launcher does."""

    def setUp(self):
        super().setUp()
        for name in list(os.environ):
            if name.startswith(LAUNCHERS):
                self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))

    def compiled(self, *model, name="a.weirx"):
        self.weir("compile", *model, "-o", self.folder / name)
        return self.folder / name

    def command(self, rank, tool):
        """What starts a tool as that rank."""
        return [tool]

    def environment(self, rank, size, port):
        return {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}

    def begin(self, size, *words, tool="weir", **more):
        """As a shell's loop does: one after the other, the last rank first."""
        port = free_port()
        env = more.pop("env", {})
        processes = []
        for rank in reversed(range(size)):
            processes.insert(0, start(*self.command(rank, tool), *words, env=self.environment(rank, size, port) | env, **more))
            self.addCleanup(self.put_away, processes[0])
        return processes

    def put_away(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def all_end(self, processes, status=0, within=300):
        """What each says, where all end so."""
        end = time.monotonic() + within
        said = []
        for process in processes:
            out, err = process.communicate(timeout=max(0.1, end - time.monotonic()))
            said.append((out, err))
        for process, (out, err) in zip(processes, said):
            self.assertEqual(process.returncode, status, "\n".join(f"--- {out}\n{err}" for out, err in said))
        return said

    def files(self, name):
        return self.folder / f"{name}.jsonl", self.folder / name

    def options(self, name, steps=6):
        metrics, kept = self.files(name)
        return ["--steps", steps, "--checkpoint-every", 3, "--metrics", metrics, "--checkpoint", kept]

    def assert_same(self, one, other):
        """Losses and checkpoints to the bit."""
        self.assertEqual(self.losses(f"{one}.jsonl"), self.losses(f"{other}.jsonl"))
        for folder, beside in zip(self.checkpoints(self.folder / one), self.checkpoints(self.folder / other), strict=True):
            for file in ("model.safetensors", "state.safetensors"):
                self.assertEqual((folder / file).read_bytes(), (beside / file).read_bytes(), f"{folder} {file}")

    def losses_by_step(self, name):
        """Also of a run that was ended."""
        records = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        return {record["step"]: record["loss"] for record in records if "event" not in record}

    def await_steps(self, processes, name="m.jsonl", steps=3):
        end = time.monotonic() + 120
        path = self.folder / name
        while not path.exists() or path.read_text().count("\n") < steps:
            for process in processes:
                self.assertIsNone(process.poll(), process.returncode is not None and process.communicate())
            self.assertLess(time.monotonic(), end, "no step is done")
            time.sleep(0.02)


class Processes(Ranks):
    @weirtest.takes(25)
    def test_bits_of_virtual_devices(self):
        text, rows = data(window=self.text()), self.digits(64)
        for model, fed, mesh in (
            (MLP, rows, ["--mesh", "dp=2"]),
            (GPT, text, ["--mesh", "dp=2", "--zero", 3]),
            (GPT, text, ["--mesh", "dp=1:2", "--zero", 1]),
            (GPT, [*text, "--holdout", 0.1, "--eval-every", 4], ["--mesh", "dp=4", "--zero", 2]),
            (MOE, [*text, "--holdout", 0.1, "--eval-every", 4], ["--mesh", "ep=2"]),
            (GPT, [*text, "--holdout", 0.1, "--eval-every", 4], ["--mesh", "cp=2", "--zero", 1]),
        ):
            with self.subTest(model=model[0].name, mesh=mesh):
                for name in ("virtual", "processes"):
                    shutil.rmtree(self.folder / name, ignore_errors=True)
                    self.files(name)[0].unlink(missing_ok=True)
                artifact = self.compiled(*model, *mesh)
                self.weir("run", artifact, *fed, *self.options("virtual"))
                said = self.all_end(self.begin(int(mesh[1][-1]), "run", artifact, *fed, *self.options("processes")))
                self.assert_same("virtual", "processes")
                # Rank 0 alone reports.
                self.assertRegex(said[0][1], r"^rank 0 of \d \(RANK=0 and WORLD_SIZE=\d, set by torchrun or a shell\); rendezvous at 127")
                self.assertRegex(said[0][0], r"steps 6\n")
                for out, err in said[1:]:
                    self.assertEqual((out, err), ("", ""))

    def test_runtime_alone(self):
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2", "--zero", 1)
        self.weir_run(artifact, *rows, *self.options("virtual"))
        self.all_end(self.begin(2, artifact, *rows, *self.options("processes"), tool="weir-run"))
        self.assert_same("virtual", "processes")

    def test_train_compiles_once(self):
        rows = self.digits(64)
        self.weir("train", *MLP, "--mesh", "dp=2", *rows, *self.options("virtual"))
        kept = self.folder / "kept.weirx"
        self.all_end(self.begin(2, "train", *MLP, "--mesh", "dp=2", *rows, *self.options("processes"), "-o", kept))
        self.assert_same("virtual", "processes")
        self.assertTrue(kept.exists())
        # What cannot be compiled ends all, and is said once.
        said = self.all_end(self.begin(2, "train", MLP[0], "--set", "hidden=0", "--mesh", "dp=2", *rows, "--steps", 1), status=3)
        self.assertIn("hidden", said[0][1])
        self.assertRegex(said[1][1], r"^error: rank 1: .*rank 0 exited with status 3\n$")

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    def test_mpirun(self):
        """On one machine it needs no --rendezvous, and two runs at once do not meet each other."""
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2")
        self.weir("run", artifact, *rows, *self.options("virtual"))
        for more in (["--rendezvous", f"127.0.0.1:{free_port()}"], []):
            folders = ["processes", "others"][: 1 if more else 2]
            runs = []
            for folder in folders:
                command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", BIN / "weir", "run", artifact, *rows,
                           *self.options(folder), *more]  # fmt: skip
                runs.append(subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            for run, folder in zip(runs, folders):
                _, said = run.communicate(timeout=300)
                self.assertEqual(run.returncode, 0, said)
                self.assertIn("OMPI_COMM_WORLD_SIZE=2, set by Open MPI)", said)
                self.assert_same("virtual", folder)
                shutil.rmtree(self.folder / folder)

    @unittest.skipUnless(shutil.which("torchrun"), "PyTorch is not installed")
    def test_torchrun(self):
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2")
        self.weir("run", artifact, *rows, *self.options("virtual"))
        command = ["torchrun", "--no-python", "--nproc-per-node", "2", "--master-port", str(free_port()), BIN / "weir", "run", artifact,
                   *rows, *self.options("processes")]  # fmt: skip
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same("virtual", "processes")

    def endless(self, size=2, *more, **options):
        """A run that is at its steps."""
        artifact = self.compiled(*MLP, "--mesh", f"dp={size}", "--zero", 1)
        processes = self.begin(size, "run", artifact, *self.digits(64), "--steps", 10000000, "--checkpoint-every", 5000000,
                               "--checkpoint", self.folder / "kept", "--metrics", self.folder / "m.jsonl", *more, **options)  # fmt: skip
        self.await_steps(processes)
        return processes

    @weirtest.each([0, 2])
    def test_a_killed_rank_ends_all(self, victim):
        processes = self.endless(3)
        processes[victim].kill()
        others = [process for process in processes if process is not processes[victim]]
        for out, err in self.all_end(others, status=7, within=30):
            self.assertRegex(err, rf"error: rank \d: .*rank {victim} exited without a message")
            self.assertRegex(err, r"step \d+: rank \d was waiting in .*; its last actions are in \S+last-actions-of-rank-\d\.txt")
        last = (self.folder / "kept" / f"last-actions-of-rank-{1}.txt").read_text()
        self.assertRegex(last, r"(?s)exited without a message.*: step \d+ round 0: .*mnist-mlp\.weir:\d+")
        self.assertEqual(len(last.split("last one:\n")[1].splitlines()), 100)

    def test_last_actions_follow_no_link(self):
        """Another user may know the process and put a link where it might write."""
        artifact, shared, victim = self.compiled(*MLP, "--mesh", "dp=2"), self.folder / "shared", self.folder / "victim"
        shared.mkdir()
        victim.mkdir()
        processes = self.begin(2, "run", artifact, *self.digits(64), "--steps", 10000000, "--metrics", self.folder / "m.jsonl", env={"TMPDIR": str(shared)})
        self.await_steps(processes)
        (shared / f"weir-{processes[0].pid}").symlink_to(victim)
        processes[1].kill()
        ((out, err),) = self.all_end([processes[0]], status=7, within=30)
        path = pathlib.Path(re.search(r"its last actions are in (\S+last-actions-of-rank-0\.txt)", err)[1])
        self.assertIn("exited without a message", path.read_text())
        self.assertEqual((path.parent.parent, path.parent.stat().st_mode & 0o777), (shared, 0o700))
        self.assertEqual(list(victim.iterdir()), [])

    @weirtest.takes(30)
    def test_killed_at_random_moments(self):
        """At any of them, the first of loading and the last of saving included, nothing that was saved is lost."""
        choose, kills = random.Random(5), int(os.environ.get("WEIR_KILLS", 5))
        artifact, rows = self.compiled(*MLP, "--mesh", "dp=2", "--zero", 1), self.digits(64)
        words = ["run", artifact, *rows, "--steps", 150 * kills, "--checkpoint-every", 7]
        # Who has not come yet may still be started: that is waited for as long as this.
        patience = ["--collective-timeout", 7]
        for kill in range(kills):
            processes = self.begin(2, *words, "--checkpoint", self.folder / "killed", "--resume", *patience,
                                   "--metrics", self.folder / f"{kill}.jsonl")  # fmt: skip
            if kill % 4:
                self.await_steps(processes, f"{kill}.jsonl", choose.randrange(1, 60))
            time.sleep(choose.random() * 0.3)
            saved = [path.name for path in self.checkpoints(self.folder / "killed")]
            victim = choose.randrange(2)
            processes[victim].kill()
            processes[victim].wait()
            ((out, err),) = self.all_end([processes[1 - victim]], status=7, within=30)
            self.assertRegex(err, f"rank {victim} exited without a message|rank 1 found no rank 0|rank 1 has not joined")
            if saved:
                self.assertGreaterEqual(self.checkpoints(self.folder / "killed")[-1].name, saved[-1])
        self.all_end(self.begin(2, *words, "--checkpoint", self.folder / "killed", "--resume"))
        self.weir(*words, "--checkpoint", self.folder / "whole", "--metrics", self.folder / "whole.jsonl")
        self.assertEqual(self.weights(self.folder / "killed"), self.weights(self.folder / "whole"))
        whole = self.losses_by_step("whole.jsonl")
        for kill in range(kills):
            if (self.folder / f"{kill}.jsonl").exists():
                self.assertLessEqual(self.losses_by_step(f"{kill}.jsonl").items(), whole.items())

    @weirtest.each([0, 2])
    def test_a_stopped_rank_ends_all(self, victim):
        processes = self.endless(3)
        began = time.monotonic()
        processes[victim].send_signal(signal.SIGSTOP)
        others = [process for process in processes if process is not processes[victim]]
        for out, err in self.all_end(others, status=7, within=30):
            self.assertRegex(err, rf"rank {victim} has sent no heartbeat for 8 s")
        self.assertGreater(time.monotonic() - began, 6)
        # It finds out as it goes on, and does not blame another one.
        processes[victim].send_signal(signal.SIGCONT)
        ((out, err),) = self.all_end([processes[victim]], status=7, within=30)
        self.assertRegex(err, rf"this process \(rank {victim}\) was stopped or disconnected for \d+ s, and the other ranks went on without it")
        self.assertNotRegex(err, "without a message|has sent no heartbeat")

    def test_a_rank_without_data(self):
        """Its file is cut short during the run: all save together what was learnt until then."""
        artifact, port = self.compiled(*GPT, "--mesh", "dp=2"), free_port()
        files = [self.folder / f"{rank}.bin" for rank in range(2)]
        processes = []
        for rank, file in enumerate(files):
            file.write_bytes(struct.pack("<5000H", *(at % 7 for at in range(5000))))
            processes.append(start("weir", "run", artifact, *data(window=file), "--steps", 10000000, "--checkpoint-every", 5000000,
                                   "--checkpoint", self.folder / "kept", "--metrics", self.folder / "m.jsonl",
                                   env=self.environment(rank, 2, port)))  # fmt: skip
            self.addCleanup(self.put_away, processes[-1])
        self.await_steps(processes)
        files[1].write_bytes(b"")
        (_, first), (_, other) = self.all_end(processes, status=4, within=60)
        self.assertRegex(other, r"1\.bin: was .*while it was in use.*; the run is saved after step \d+")
        self.assertRegex(first, r"rank 1 has no data for step \d+; see its error message; the run is saved after step \d+")
        self.assertEqual(len(self.checkpoints(self.folder / "kept")), 1)

    def test_a_rank_that_does_not_come(self):
        artifact, port = self.compiled(*MLP, "--mesh", "dp=2"), free_port()
        for rank, words in ((0, r"rank 1 has not joined at 127.0.0.1:\d+ for 2 s"), (1, "rank 1 found no rank 0 of this job at 127")):
            self.fails(7, words, "weir", "run", artifact, *self.digits(64), "--steps", 3, "--collective-timeout", 2,
                       env=self.environment(rank, 2, port))  # fmt: skip

    def test_signal_to_one(self):
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2", "--zero", 3)
        for victim in (0, 1):
            with self.subTest(victim=victim):
                name = f"stopped-{victim}"
                metrics, kept = self.files(name)
                words = ["run", artifact, *rows, "--steps", 1000, "--checkpoint", kept, "--checkpoint-every", 100000, "--metrics", metrics]
                processes = self.begin(2, *words)
                self.await_steps(processes, metrics.name, 20)
                processes[victim].send_signal(signal.SIGTERM)
                said = self.all_end(processes, status=75)
                self.assertRegex(said[0][1], r"SIGTERM: stopped after step \d+, saved in")
                self.all_end(self.begin(2, *words, "--resume"))
        metrics, kept = self.files("whole")
        self.weir("run", artifact, *rows, "--steps", 1000, "--checkpoint", kept, "--checkpoint-every", 100000, "--metrics", metrics)
        for victim in (0, 1):
            for file in ("model.safetensors", "state.safetensors"):
                ours, theirs = (self.checkpoints(self.folder / name)[-1] for name in (f"stopped-{victim}", "whole"))
                self.assertEqual((ours / file).read_bytes(), (theirs / file).read_bytes())

    def test_signal_without_a_checkpoint(self):
        artifact = self.compiled(*MLP, "--mesh", "dp=2")
        processes = self.begin(2, "run", artifact, *self.digits(64), "--steps", 10000000, "--metrics", self.folder / "m.jsonl")
        self.await_steps(processes)
        processes[1].send_signal(signal.SIGTERM)
        self.all_end(processes, status=-signal.SIGTERM)

    def test_failures_of_one(self):
        """They are everybody's, with their status."""
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2")
        absent = self.folder / "absent" / "m.jsonl"
        said = self.all_end(self.begin(2, "run", artifact, *rows, "--steps", 3, "--metrics", absent), status=8)
        self.assertIn("rank 0 exited with status 8", said[1][1])
        # A disk that is full while the others are at a checkpoint.
        few = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
        processes = self.begin(2, "run", artifact, *rows, "--steps", 3, "--checkpoint", self.folder / "kept", preexec_fn=few)
        said = self.all_end(processes, status=8)
        self.assertRegex(said[1][1], "rank 0 (reports|exited with status 8): .*File too large")
        # Data that one host does not have.
        port = free_port()
        processes = []
        for rank, fed in enumerate((rows, data(images=self.folder / "absent", labels=self.folder / "absent"))):
            processes.append(start("weir", "run", artifact, *fed, "--steps", 3, env=self.environment(rank, 2, port)))
            self.addCleanup(self.put_away, processes[-1])
        said = self.all_end(processes, status=4)
        self.assertRegex(said[0][1], "rank 1 exited with status 4: .*absent")
        self.assertNotRegex(said[0][1], "was waiting in --")  # an option that nobody gave

    def test_peaks_add_up(self):
        """A step is that of all processes, and each is a device."""
        rows, artifact, used = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2"), []
        for peak, words in (("1.5T", "3000 GFLOP/s of 2 devices together, as given"), ("measure", r"[\d.]+ GFLOP/s of 2 devices together, measured with products of f32")):
            said = self.all_end(self.begin(2, "run", artifact, *rows, "--steps", 3, "--peak-flops", peak, "--json"))
            self.assertRegex(said[0][1], f"peak: {words}\n")
            used.append(json.loads(said[0][0]))
        self.assertEqual(used[0]["peak_flops"], 3e12)
        self.assertLess(used[1]["mfu"], 1)

    def test_another_artifact(self):
        rows, port = self.digits(64), free_port()
        processes = []
        for rank in (0, 1):
            artifact = self.compiled(*MLP, "--mesh", "dp=2", "--zero", rank, name=f"{rank}.weirx")
            processes.append(start("weir", "run", artifact, *rows, "--steps", 3, env=self.environment(rank, 2, port)))
            self.addCleanup(self.put_away, processes[-1])
        for out, err in self.all_end(processes, status=2):
            self.assertIn("rank 1's artifact differs from rank 0's", err)

    def test_what_no_launcher_means(self):
        rows = self.digits(64)
        alone, two = self.compiled(*MLP, name="alone.weirx"), self.compiled(*MLP, "--mesh", "dp=2")
        of = lambda **more: {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"} | more
        for artifact, env, words in (
            (alone, of(), "WORLD_SIZE=2 .*compiled without a mesh. Compile it with --mesh dp=2"),
            (two, of(WORLD_SIZE="4"), "WORLD_SIZE=4 .* dp=2 of the artifact has 2 ranks: start one process"),
            # Nobody trains alone for a number that cannot be read.
            (two, of(WORLD_SIZE=" 2"), "WORLD_SIZE= 2: expected a number from 1 to 4096"),
            (alone, of(WORLD_SIZE="abc"), "WORLD_SIZE=abc: expected a number from 1 to 4096"),
            (alone, {"SLURM_STEP_NUM_TASKS": "-2"}, "SLURM_STEP_NUM_TASKS=-2: expected a number from 1 to 4096"),
            (two, of(LOCAL_WORLD_SIZE="1"), "127.0.0.1 on this machine, which no other machine can reach, .* 1 of the 2 processes .*Set MASTER_ADDR"),
            (two, of(RANK="2"), "RANK=2: expected a number from 0 to 1"),
            (two, of(RANK="one"), "RANK=one: expected a number from 0 to 1"),
            (two, of(RANK=""), "WORLD_SIZE=2 .*RANK.* is not set"),
            (two, of(MASTER_ADDR=""), "does not set the address of rank 0 .*--rendezvous HOST:PORT"),
            (two, of(MASTER_PORT="zero"), "MASTER_PORT=zero: expected a number"),
            (two, of(MASTER_ADDR="192.0.2.7"), "192.0.2.7, is reachable from the network: .*WEIR_JOB_SECRET_FILE.*--trust-network"),
            (two, of(WEIR_JOB_SECRET_FILE="/dev/null"), "WEIR_JOB_SECRET_FILE=/dev/null: expected a readable file with 16 to 4096 bytes"),
        ):
            with self.subTest(words=words):
                self.fails(2, words, "weir", "run", artifact, *rows, "--steps", 1, env=env)
        self.fails(2, "dp=2 of the artifact has 2 ranks", "weir", "train", *MLP, "--mesh", "dp=2", *rows, "--steps", 1, env=of(WORLD_SIZE="3"))
        self.fails(2, "--rendezvous: expected HOST:PORT", "weir", "run", two, *rows, "--rendezvous", "nowhere")
        # One process of a launcher is a run as any other.
        self.weir("run", two, *rows, "--steps", 1, env={"RANK": "0", "WORLD_SIZE": "1"})

    def test_a_long_name_of_the_job(self):
        """What tells jobs apart may be longer than what rank 0 hears of a stranger."""
        artifact, nodes = self.compiled(*MLP, "--mesh", "dp=2"), ",".join(["127.0.0.1", *(f"node{at:04}" for at in range(600))])
        self.assertGreater(len(nodes), 5000)
        words = ["run", artifact, *self.digits(64), "--steps", 1, "--collective-timeout", 20]
        self.all_end(self.begin(2, *words, env={"WEIR_JOB_ID": "a" * 5000}))
        # As srun starts them.
        job = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": nodes, "SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0"}
        processes = [start("weir", *words, env=job | {"SLURM_PROCID": str(rank)}) for rank in (0, 1)]
        for process in processes:
            self.addCleanup(self.put_away, process)
        self.all_end(processes)

    def test_secret(self):
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2")
        secret = self.write("secret", "0123456789abcdef\n")
        secret.chmod(0o644)
        words, env = ["run", artifact, *rows, "--steps", 3], {"WEIR_JOB_SECRET_FILE": str(secret)}
        said = self.all_end(self.begin(2, *words, env=env))
        self.assertRegex(said[0][1], r"warning: WEIR_JOB_SECRET_FILE=\S+secret: every user of this machine can read the secret; chmod 600 it")
        secret.chmod(0o600)
        self.assertNotRegex(self.all_end(self.begin(2, *words, env=env))[0][1], "warning: (?!the warm-up)")
        for mode, whose in ((0o602, "every user"), (0o620, r"its group \(gid \d+\)")):
            secret.chmod(mode)
            for _, err in self.all_end(self.begin(2, *words, env=env), status=2):
                self.assertRegex(err, rf"secret: {whose} may write to it; give a file of your own, with mode 600")
        if os.geteuid() == 0:
            secret.chmod(0o600)
            os.chown(secret, 65534, 65534)
            for _, err in self.all_end(self.begin(2, *words, env=env), status=2):
                self.assertRegex(err, r"secret: belongs to another user \(uid 65534\); give a file of your own, with mode 600")

    def test_another_secret(self):
        """Neither takes the other, and both say why."""
        artifact, port, processes = self.compiled(*MLP, "--mesh", "dp=2"), free_port(), []
        for rank in (0, 1):
            secret = self.write(f"secret-{rank}", f"the secret of rank {rank}\n")
            secret.chmod(0o600)
            env = self.environment(rank, 2, port) | {"WEIR_JOB_SECRET_FILE": str(secret)}
            processes.append(start("weir", "run", artifact, *self.digits(64), "--steps", 1, "--collective-timeout", 10, env=env))
            self.addCleanup(self.put_away, processes[-1])
        (_, first), (_, other) = [process.communicate(timeout=60) for process in processes]
        self.assertEqual([process.returncode for process in processes], [7, 2], first + other)
        self.assertIn("warning: rank 0 rejected a process at 127.0.0.1, which tried to join this job with a secret other than rank 0's", first)
        self.assertIn("rank 1 has not joined", first)
        self.assertRegex(other, r"the process that listens at 127\.0\.0\.1:\d+ does not have the secret of rank 1 \(WEIR_JOB_SECRET_FILE\)")

    def test_a_port_that_is_taken(self):
        artifact, port = self.compiled(*MLP, "--mesh", "dp=2"), free_port()
        words, env = ["run", artifact, *self.digits(64), "--steps", 1, "--trust-network"], {"MASTER_PORT": str(port)}
        with socket.socket() as other:
            other.bind(("127.0.0.1", port + 1))
            other.listen()
            said = self.all_end(self.begin(2, *words, env=env))
        self.assertIn(f"warning: another program uses the port of rank 0, 127.0.0.1:{port + 1}: rank 0 listens at "
                      f"127.0.0.1:{port + 2} instead", said[0][1])  # fmt: skip
        self.assertNotRegex(self.all_end(self.begin(2, *words, env=env))[0][1], "warning: (?!the warm-up)")

    def test_what_is_linked(self):
        """Gloo is opened by runs of several processes alone."""
        rows, artifact = self.digits(64), self.compiled(*MLP, "--mesh", "dp=2")
        alone = self.weir_run(artifact, *rows, "--steps", 1, env={"LD_DEBUG": "libs"})
        self.assertNotRegex(alone.stderr, "libgloo|libssl|libcrypto|libweir-gloo")
        processes = self.begin(2, artifact, *rows, "--steps", 1, tool="weir-run", env={"LD_DEBUG": "libs"})
        self.assertRegex(self.all_end(processes)[0][1], "libgloo")


class Deterministic(Ranks):
    """--deterministic: the same bits, whatever the mesh."""

    def train(self, name, size, *words):
        self.files(name)[0].unlink(missing_ok=True)
        if size == 1:
            self.weir("train", *words, "--deterministic", *self.options(name, steps=3))
        else:
            self.all_end(self.begin(size, "train", *words, "--deterministic", *self.options(name, steps=3)))

    @weirtest.takes(45)
    def test_meshes(self):
        """Of sizes that ranks do not have as many of. Two devices, and four of two axes, are in the tests below."""
        model = [MODELS / "gpt-char.weir", "--set", "layers=1", "--set", "width=16", "--set", "context=16", "--set", "batch=11", *data(window=self.text())]
        self.train("one", 1, *model)
        for mesh, size in (("dp=4", 4), ("dp=8", 8), ("tp=8", 8), ("tp=4,dp=2", 8)):
            with self.subTest(mesh=mesh):
                self.train(mesh, size, *model, "--mesh", mesh)
                self.assert_same("one", mesh)
        # As virtual devices, whatever --zero says.
        self.train("virtual", 1, *model, "--mesh", "dp=2,tp=4", "--zero", 1)
        self.assert_same("one", "virtual")

    @weirtest.takes(20)
    @weirtest.each(SHIPPED)
    def test_models(self, model):
        """One artifact, by one process and by four. Sizes that ranks have as many of as not take few programs."""
        sets = [{"batch": "batch=8", "width": "width=24"}.get(str(word).split("=")[0], word) for word in small(model)[0]]
        artifact = self.compiled(MODELS / f"{model}.weir", *sets, "--mesh", "dp=2,tp=2", "--deterministic")
        run = ["run", artifact, *self.rows_of(model, sets)]
        self.weir(*run, *self.options("one", steps=3))
        self.all_end(self.begin(4, *run, *self.options("four", steps=3)))
        self.assert_same("one", "four")

    @weirtest.takes(30)
    def test_a_run_goes_on_elsewhere(self):
        words = [*GPT[:-1], "batch=8", *data(window=self.text())]
        self.train("there", 4, *words, "--mesh", "dp=2,tp=2")
        self.train("here", 1, *words)
        for name, size, mesh in (("there", 2, ["--mesh", "tp=2"]), ("here", 1, [])):
            more = [*words, *mesh, "--deterministic", "--resume", "--extend", *self.options(name)]
            self.weir("train", *more) if size == 1 else self.all_end(self.begin(size, "train", *more))
        self.assert_same("here", "there")

    @weirtest.takes(40)
    def test_stages(self):
        """At as many microbatches; sizes that ranks do not have as many of."""
        words = [MODELS / "gpt-char.weir", "--set", "layers=1", "--set", "width=12", "--set", "context=9", "--set", "batch=18",
                 "--microbatches", 2, *data(window=self.text())]  # fmt: skip
        self.train("alone", 1, *words)
        # 1f1b is in the test below.
        for mesh, size, schedule in (("pp=2", 2, "gpipe"), ("pp=2", 1, "interleaved"), ("dp=2,pp=2", 4, "zero-bubble")):
            name = f"{mesh}-{size}-{schedule}"
            with self.subTest(mesh=mesh, size=size, schedule=schedule):
                self.train(name, size, *words, "--mesh", mesh, "--schedule", schedule)
                self.assert_same("alone", name)

    @weirtest.takes(40)
    @weirtest.each(["moe layers=3 width=96 context=9 batch=32", "gpt-char layers=1 width=8 context=16 batch=32"])
    def test_layouts_and_sums_of_stages(self, case):
        """Sizes at which stages once had other cuts, sums in other parts, and a loss alone in its bucket."""
        model, *sets = case.split()
        words = [MODELS / f"{model}.weir", *(word for one in sets for word in ("--set", one)), "--microbatches", 4, *data(window=self.text())]
        self.train("alone", 1, *words)
        self.train("pp", 1, *words, "--mesh", "pp=2")
        self.train("pp4", 1, *words, "--mesh", "pp=4", "--schedule", "zero-bubble")
        self.assert_same("alone", "pp")
        self.assert_same("alone", "pp4")

    @weirtest.takes(25)
    @weirtest.each(["moe", "llama"])
    def test_experts_and_sequences(self, model):
        """On meshes of as many ep and cp, whatever dp and tp."""
        sets = ["--set", "layers=1", "--set", "width=32", "--set", "context=16", "--set", "batch=16"]
        more, first, mesh, size = {
            "moe": ([], "ep=2", "dp=2,ep=2", 4),
            "llama": (["--set", "hidden=48", "--context-parallel", "ring"], "cp=2", "cp=2,tp=2", 1),
        }[model]
        words = [MODELS / f"{model}.weir", *sets, *more, *data(window=self.text())]
        self.train("threads", 1, *words, "--mesh", first)
        self.train("more", size, *words, "--mesh", mesh)
        self.assert_same("threads", "more")

    def test_what_it_costs_is_said(self):
        words = [*MLP, *self.digits(64), "--deterministic", "--steps", 2]
        said = self.weir("train", *words).stderr
        self.assertRegex(said, r"--deterministic: a step runs as on 64 ranks \(dp=8,tp=8\) on any mesh: \d\.\d+ times the model's multiply-adds, and \d+\.\d MB")
        said = self.weir("train", *words, "--mesh", "pp=2,ep=1").stderr
        self.assertRegex(said, r"a step runs as on 128 ranks \(pp=2,dp=8,tp=8\) on any mesh with pp=2: ")
        artifact = self.compiled(*MLP, "--mesh", "tp=2", "--deterministic")
        self.assertRegex(self.weir("inspect", artifact).stdout, r"\nRanks +dp=8,tp=8, deterministic on tp=2; ")
        self.assertIn(" on dp=8,tp=8, with its ranks on the devices of tp=2\n", self.weir("inspect", "--sharding", artifact).stdout)

    def test_what_it_does_not_go_with(self):
        words = ["weir", "compile", *MLP, "-o", self.folder / "no.weirx", "--deterministic"]
        self.fails(2, "dp=3 does not divide dp=8,tp=8; expected 1, 2, 4 or 8", *words, "--mesh", "dp=3")
        self.fails(2, "--memory is not supported with --deterministic", *words, "--memory", "1GB")
        for fits in (["--offload", "activations"], ["--offload", "auto"], ["--microbatches", "auto"]):
            self.fails(2, f"{' '.join(fits)} is not supported with --deterministic", *words, *fits)
        self.fails(2, "--deterministic", *words, "--sequence-parallel", "off")
        self.fails(2, "--deterministic reduces over at most 8 ranks of an axis in a fixed order, but --mesh cp=16 has cp=16: expected at most 8", *words,
                   "--mesh", "cp=16")  # fmt: skip
        self.fails(2, "--deterministic shards every step as on pp=2048,dp=8,tp=8, whatever dp and tp are: ", *words, "--mesh", "pp=2048")
        self.fails(3, "has 4 rows, too few for the 8 shards of --deterministic", *words, "--microbatches", 2)
        artifact = self.compiled(*MLP, "--mesh", "dp=2", "--deterministic")
        for out, err in self.all_end(self.begin(4, "run", artifact, *self.digits(64), "--steps", 1), status=2):
            self.assertIn("dp=2 of the artifact has 2 ranks", err)


if __name__ == "__main__":
    weirtest.main()
