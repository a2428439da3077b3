"""--restarts: a run goes on by itself where its processes are killed, and a rank that is slow is named."""

import importlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest

ranks = importlib.import_module("processes-test")


def child_of(process):
    """The process that runs, behind the one that was started; None between two of them."""
    return child_of_pid(process.pid)


def child_of_pid(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (IndexError, OSError):
        return None


def kill(pid, how=signal.SIGKILL):
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        pass


class Restarts(ranks.Ranks):
    def artifact_and_data(self, mesh="dp=2", *options):
        return self.compiled(*ranks.MLP, "--mesh", mesh, "--zero", 1, *options), self.digits(64)

    def endless(self, *more, size=2, every=7, steps=10000000, **options):
        artifact, rows = self.artifact_and_data(f"dp={size}")
        (self.folder / "m.jsonl").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        processes = self.begin(size, artifact, *rows, "--steps", steps, "--checkpoint-every", every, "--checkpoint", self.folder / "kept",
                               "--metrics", self.folder / "m.jsonl", *more, tool="weir-run", **options)  # fmt: skip
        self.await_steps(processes, steps=10)
        return processes

    def await_child(self, process, other_than=None):
        end = time.monotonic() + 60
        while (child := child_of(process)) in (None, other_than):
            self.assertIsNone(process.poll(), process.returncode is not None and process.communicate())
            self.assertLess(time.monotonic(), end, "no process is there")
            time.sleep(0.01)
        return child

    def await_last_step(self, processes, beyond, name="m.jsonl"):
        """Until a later step is told of than the one that was the last."""
        end = time.monotonic() + 60
        while (last := self.last_step(name)) <= beyond:
            for process in processes:
                self.assertIsNone(process.poll(), process.returncode is not None and process.communicate())
            self.assertLess(time.monotonic(), end, "no step is done")
            time.sleep(0.02)
        return last

    def last_step(self, name="m.jsonl"):
        path = self.folder / name
        found = re.findall(r'^\{"step":(\d+),', path.read_text() if path.exists() else "", re.M)
        return int(found[-1]) if found else 0

    @ranks.weirtest.takes(30)
    def test_killed_at_random_moments(self):
        """Whoever it is and whenever, the run goes on by itself, to the bits of one that nothing happened to."""
        self.kill_at_random("dp=2", 2)

    @ranks.weirtest.takes(40)
    def test_stages_killed_at_random_moments(self):
        self.kill_at_random("pp=2,dp=2", 4, "--microbatches", 2)

    def kill_at_random(self, mesh, size, *options):
        choose, kills = random.Random(7), int(os.environ.get("WEIR_KILLS", 5))
        artifact, rows = self.artifact_and_data(mesh, *options)
        steps = 60 * kills + 100
        words = [*rows, "--steps", steps, "--checkpoint-every", 7]
        self.weir_run(artifact, *words, "--checkpoint", self.folder / "whole", "--metrics", self.folder / "whole.jsonl")
        processes = self.begin(size, artifact, *words, "--checkpoint", self.folder / "kept", "--metrics", self.folder / "kept.jsonl",
                               "--restarts", 4 * kills, tool="weir-run")  # fmt: skip
        done = 0
        for _ in range(kills):
            if choose.random() < 0.75:
                done = self.await_last_step(processes, min(done, self.last_step("kept.jsonl")) + choose.randrange(1, 40), "kept.jsonl")
            time.sleep(choose.random() * 0.4)  # also of loading, and of meeting again
            kill(self.await_child(processes[choose.randrange(size)]))
        said = self.all_end(processes)
        self.assertRegex(said[0][1], r"generation \d")
        self.assertIn("terminated by SIGKILL: killed, or out of memory; restarting, attempt ", "".join(err for _, err in said))
        self.assertEqual(self.weights(self.folder / "kept"), self.weights(self.folder / "whole"))
        self.assertEqual(self.losses_by_step("kept.jsonl"), self.losses_by_step("whole.jsonl"))

    def test_a_launcher_starts_one_again(self):
        """As torchrun's agent, Kubernetes or a loop does: without --resume, it joins those that wait for it."""
        port = ranks.weirtest.free_port()
        artifact, rows = self.artifact_and_data()
        words = [artifact, *rows, "--steps", 200, "--checkpoint-every", 7, "--checkpoint", self.folder / "kept", "--restarts", 3]

        def begin(rank):
            process = ranks.start("weir-run", *words, "--metrics", self.folder / "m.jsonl", env=self.environment(rank, 2, port))
            self.addCleanup(self.put_away, process)
            return process

        processes = [begin(rank) for rank in range(2)]
        for victim in (1, 0):
            last = self.await_last_step(processes, self.last_step() + 10)
            child = self.await_child(processes[victim])
            processes[victim].kill()
            processes[victim].communicate()
            # Nobody is left of it.
            end = time.monotonic() + 10
            while os.path.exists(f"/proc/{child}") and pathlib.Path(f"/proc/{child}/stat").read_text().split()[2] != "Z":
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            processes[victim] = begin(victim)
            self.await_last_step(processes, min(last, self.last_step()))
        said = self.all_end(processes)
        self.assertRegex(said[0][1], r"(?s)generation 3\n.*resuming after step \d+ from ")
        self.weir_run(artifact, *rows, "--steps", 200, "--checkpoint-every", 7, "--checkpoint", self.folder / "whole")
        self.assertEqual(self.weights(self.folder / "kept"), self.weights(self.folder / "whole"))

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    def test_mpirun_does_not_notice(self):
        artifact, rows = self.artifact_and_data()
        words = [artifact, *rows, "--steps", 150, "--checkpoint-every", 7, "--checkpoint"]
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", ranks.BIN / "weir-run", *words, self.folder / "kept", "--restarts", 3,
                   "--metrics", self.folder / "m.jsonl", "--rendezvous", f"127.0.0.1:{ranks.weirtest.free_port()}"]  # fmt: skip
        mpirun = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.put_away, mpirun)
        self.await_steps([mpirun], steps=20)
        kill(child_of_pid(child_of(mpirun)))
        ((out, err),) = self.all_end([mpirun])
        self.assertRegex(err, r"rank \d: the process was terminated by SIGKILL: .*; restarting, attempt 1 of 3")
        self.weir_run(*words, self.folder / "whole")
        self.assertEqual(self.weights(self.folder / "kept"), self.weights(self.folder / "whole"))

    def test_what_is_compiled_first(self):
        rows = self.digits(64)
        words = ["train", *ranks.MLP, "--mesh", "dp=4", "--mesh", "dp=2", *rows, "--steps", 150, "--checkpoint-every", 7]
        processes = self.begin(2, *words, "--checkpoint", self.folder / "kept", "--restarts", 1, "--metrics", self.folder / "m.jsonl")
        self.await_steps(processes, steps=20)
        kill(self.await_child(processes[0]))
        said = self.all_end(processes)
        self.assertRegex(said[0][1], r"generation 2\n")
        self.all_end(self.begin(2, *words, "--checkpoint", self.folder / "whole"))
        self.assertEqual(self.weights(self.folder / "kept"), self.weights(self.folder / "whole"))

    def test_who_always_fails_is_given_up(self):
        artifact, rows = self.artifact_and_data()
        processes = self.begin(2, artifact, *rows, "--steps", 10000000, "--checkpoint", self.folder / "kept", "--restarts", 2,
                               "--collective-timeout", 5, "--metrics", self.folder / "m.jsonl", tool="weir-run")  # fmt: skip
        self.await_steps(processes)
        seen = None
        for _ in range(3):
            kill(seen := self.await_child(processes[1], seen))
        said = self.all_end(processes, status=7, within=30)
        self.assertRegex(said[1][1], r"error: rank 1: started 3 times \(--restarts 2\) without finishing; the last time, the process was terminated by SIGKILL")
        self.assertRegex(said[0][1], r"restarting, attempt \d of 2")

    def test_what_no_retry_mends(self):
        artifact, rows = self.artifact_and_data()
        more = ["--checkpoint", self.folder / "kept", "--restarts", 9]
        fails = lambda status, words, *args: self.assertNotIn("restarting", self.fails(status, words, "weir-run", *args, *more).stderr)
        fails(4, "absent", artifact, *ranks.data(images=self.folder / "absent", labels=self.folder / "absent"), "--steps", 3)
        fails(3, "not a Weir artifact", self.write("no.weirx", "x" * 100), *rows, "--steps", 3)
        self.fails(2, "--restarts requires --checkpoint", "weir-run", artifact, *rows, "--restarts", 1)
        # Not in a folder of another run, either, since none was begun there by this one.
        self.weir_run(artifact, *rows, "--steps", 3, "--checkpoint", self.folder / "kept")
        fails(2, "add --resume", artifact, *rows, "--steps", 3)

    def test_killed_before_it_began(self):
        """What is in a folder that was never taken for the run is another's, whoever is killed."""
        artifact, rows = self.artifact_and_data()
        self.weir_run(artifact, *rows, "--steps", 3, "--checkpoint", self.folder / "kept")
        process = ranks.start("weir", "train", *ranks.MLP, *rows, "--steps", 9, "--checkpoint", self.folder / "kept", "--restarts", 1)
        self.addCleanup(self.put_away, process)
        kill(self.await_child(process))  # it compiles
        (said,) = self.all_end([process], status=2)
        self.assertRegex(said[1], r"the run: the process was terminated by SIGKILL: .*; restarting, attempt 1 of 1\n")
        self.assertIn("add --resume", said[1])

    def test_one_process_alone(self):
        artifact, rows = self.artifact_and_data()
        words = [artifact, *rows, "--steps", 150, "--checkpoint-every", 7]
        process = ranks.start("weir-run", *words, "--checkpoint", self.folder / "kept", "--restarts", 1, "--metrics", self.folder / "m.jsonl")
        self.addCleanup(self.put_away, process)
        self.await_steps([process], steps=20)
        kill(self.await_child(process))
        (said,) = self.all_end([process])
        self.assertRegex(said[1], r"the process was terminated by SIGKILL: .*; restarting, attempt 1 of 1; the last complete checkpoint is \S+/step-000000\d\d\n")
        self.weir_run(*words, "--checkpoint", self.folder / "whole")
        self.assertEqual(self.weights(self.folder / "kept"), self.weights(self.folder / "whole"))

    def test_signals(self):
        """They end it, and are no failure: to the one that was started, or to it and its child as from a terminal."""
        for to_both in (False, True):
            with self.subTest(to_both=to_both):
                processes = self.endless("--restarts", 3, "--resume")
                child = self.await_child(processes[1])
                processes[1].send_signal(signal.SIGINT)
                if to_both:
                    kill(child, signal.SIGINT)
                said = self.all_end(processes, status=75)
                self.assertRegex(said[0][1], r"SIGINT: stopped after step \d+, saved in")
                self.assertNotIn("restarting", said[0][1] + said[1][1])

    def test_a_loss_and_then_a_signal(self):
        """As torchrun does it: a rank is lost, and the others are told to end. A dead rank's part is gone: nobody saves."""
        for more in ([], ["--restarts", 3]):
            with self.subTest(more=more):
                processes = self.endless("--resume", *more, size=3)
                before = {path.name: self.content(path) for path in self.checkpoints(self.folder / "kept")}
                processes[2].kill()
                for process in processes[:2]:
                    process.send_signal(signal.SIGTERM)
                last = None
                for out, err in self.all_end(processes[:2], status=7, within=30):
                    self.assertRegex(err, r"the last complete checkpoint is \S+/step-\d+")
                    self.assertNotIn("saved in", err)
                    last = re.findall(r"the last complete checkpoint is \S+/(step-\d+)", err)[-1]
                kept = self.checkpoints(self.folder / "kept")
                self.assertEqual(kept[-1].name, last)
                for path in kept:
                    if path.name in before:
                        self.assertEqual(self.content(path), before[path.name])

    def content(self, folder):
        return {path.name: path.read_bytes() for path in folder.iterdir()}


class Generations(ranks.Ranks):
    def test_a_rank_that_was_replaced_is_refused(self):
        """It was stopped until the others went on with another in its place."""
        port = ranks.weirtest.free_port()
        artifact = self.compiled(*ranks.MLP, "--mesh", "dp=2", "--zero", 1)
        words = [artifact, *self.digits(64), "--steps", 10000000, "--checkpoint-every", 7, "--checkpoint", self.folder / "kept", "--restarts", 3,
                 "--metrics", self.folder / "m.jsonl"]  # fmt: skip

        def begin(rank):
            process = ranks.start("weir-run", *words, env=self.environment(rank, 2, port))
            self.addCleanup(self.put_away, process)
            return process

        first, old = begin(0), begin(1)
        self.await_steps([first, old], steps=20)
        stopped, before = child_of(old), child_of(first)
        kill(stopped, signal.SIGSTOP)
        while list((self.folder / "kept").glob("*.tmp")):  # it would miss its file, which the others clear away
            kill(stopped, signal.SIGCONT)
            time.sleep(0.02)
            kill(stopped, signal.SIGSTOP)
        new = begin(1)
        end = time.monotonic() + 60
        while child_of(first) in (None, before):
            self.assertLess(time.monotonic(), end, "nobody misses it")
            time.sleep(0.05)
        self.await_steps([first, new], steps=60)
        kill(stopped, signal.SIGCONT)
        ((out, err),) = self.all_end([old], status=7, within=30)
        self.assertRegex(err, r"error: rank 0 at 127\.0\.0\.1:\d+ refuses rank 1: generation 1 has ended, and generation 2 has another process as rank 1")
        for process in (first, new):
            self.assertIsNone(process.poll())
        first.send_signal(signal.SIGTERM)
        self.all_end([first, new], status=75)


class SeveralMeshes(ranks.Ranks):
    WORDS = [*ranks.MLP, "--mesh", "dp=4", "--mesh", "dp=2", "--mesh", "dp=1", "--zero", 1]

    @ranks.weirtest.takes(20)
    def test_a_run_takes_what_fits(self):
        """And goes on with it from what another has saved. The bits are those of an artifact for that mesh alone."""
        rows, artifact = self.digits(64), self.compiled(*self.WORDS)
        for size in (4, 2, 1):
            alone = self.compiled(*ranks.MLP, "--mesh", f"dp={size}", "--zero", 1, name=f"{size}.weirx")
            for name, what in ((f"all-{size}", artifact), (f"one-{size}", alone)):
                words = ["run", what, *rows, *self.options(name)]
                if size == 1:
                    self.weir(*words, env={"RANK": "0", "WORLD_SIZE": "1"})
                else:
                    self.all_end(self.begin(size, *words))
            self.assert_same(f"all-{size}", f"one-{size}")
        # Without a launcher it is the first.
        self.assertIn("4 ranks (dp=4)", self.weir("run", artifact, *rows, *self.options("first")).stderr)
        self.assert_same("first", "one-4")
        words = ["run", artifact, *rows, "--checkpoint", self.folder / "all-4", "--resume", "--extend"]
        said = self.all_end(self.begin(2, *words, "--steps", 12))
        self.assertRegex(said[0][1], r"2 processes \(dp=2\)[^\n]*\nresuming after step 6")
        said = self.weir(*words, "--steps", 15, env={"RANK": "0", "WORLD_SIZE": "1"}).stderr
        self.assertIn("resuming after step 12", said)

    def test_what_is_said_of_them(self):
        artifact, rows = self.compiled(*self.WORDS), self.digits(64)
        meshes = json.loads(self.weir("inspect", "--json", artifact).stdout)["meshes"]
        self.assertEqual([(mesh["mesh"], mesh["processes"]) for mesh in meshes], [("dp=4", 4), ("dp=2", 2), ("", 1)])
        self.assertGreater(min(mesh["code"] for mesh in meshes), 0)
        self.assertRegex(self.weir("inspect", artifact).stdout, r"\nMeshes +dp=4 \([\d,]+ bytes of code, [\d,]+ of memory\), dp=2 \(.*, one device \(")
        for out, err in self.all_end(self.begin(3, "run", artifact, *rows, "--steps", 1), status=2):
            self.assertRegex(err, r"WORLD_SIZE=3 \(set by torchrun or a shell\), but none of the artifact's meshes has that many ranks; its meshes are "
                                  r"dp=4 \(4\), dp=2 \(2\), one device \(1\): start one process for each rank of one of these meshes, or compile it with a --mesh for 3")  # fmt: skip
        fails = lambda words, *more: self.fails(2, words, "weir", "compile", *ranks.MLP, "-o", self.folder / "no.weirx", *more)
        fails("--mesh dp=2 and --mesh tp=2 both have 2 ranks", "--mesh", "dp=2", "--mesh", "tp=2")
        fails("--stop-after works on one mesh, but --mesh is given 2 times: give it once", "--mesh", "dp=2", "--mesh", "dp=4", "--stop-after", "plan")

    def test_code_that_is_the_same_is_there_once(self):
        artifact = self.compiled(*ranks.MLP, "--deterministic", "--mesh", "dp=4", "--mesh", "dp=2")
        meshes = json.loads(self.weir("inspect", "--json", artifact).stdout)["meshes"]
        self.assertEqual([mesh["mesh"] for mesh in meshes], ["dp=4", "dp=2"])
        self.assertEqual(meshes[1]["code"], 0)
        rows = self.digits(64)
        self.weir("run", artifact, *rows, *self.options("first"))
        self.all_end(self.begin(2, "run", artifact, *rows, *self.options("two")))
        self.assert_same("first", "two")


class Pulses:
    """Stops a process for most of the time. What runs between two stops is less than a step."""

    def __init__(self, pid, stopped=0.015, running=0.003):
        self.pid, self.stopped, self.running, self.over = pid, stopped, running, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.is_set():
            kill(self.pid, signal.SIGSTOP)
            time.sleep(self.stopped)
            kill(self.pid, signal.SIGCONT)
            time.sleep(self.running)

    def end(self):
        self.over.set()
        self.thread.join()


class SlowRanks(ranks.Ranks):
    # It tells ranks apart by how long each of them computes.
    @ranks.weirtest.takes(60, alone=True)
    def test_it_is_named_once(self):
        # A warning takes 50 slow steps in a row: each of them is stopped at least once.
        artifact = self.compiled(ranks.MLP[0], "--set", "hidden=2048", "--set", "batch=128", "--mesh", "dp=2", "--no-overlap")
        processes = self.begin(2, artifact, *self.digits(512), "--steps", 100000, "--metrics", self.folder / "m.jsonl", tool="weir-run")
        self.await_steps(processes, steps=5)
        for told in (1, 2):
            pulses = Pulses(processes[1].pid)
            try:
                self.await_event(processes, "slow_rank", told)
                time.sleep(1)
            finally:
                pulses.end()
            self.await_event(processes, "usual_rank", told)
        processes[0].send_signal(signal.SIGTERM)
        said = self.all_end(processes, status=-signal.SIGTERM)
        host = os.uname().nodename
        figures = r"\S+ ms a step without waiting, \S+ ms is the median"
        self.assertEqual(len(re.findall(rf"^warning: rank 1 \({host}\) is a straggler, and all other ranks wait for it: {figures} of the ranks, over 50 steps$",
                                        said[0][1], re.M)), 2, said[0][1])  # fmt: skip
        self.assertEqual(len(re.findall(rf"^rank 1 \({host}\) is no longer a straggler: {figures}$", said[0][1], re.M)), 2)
        self.assertNotIn("straggler", said[1][1])

    def await_event(self, processes, event, count):
        end = time.monotonic() + 120
        while (self.folder / "m.jsonl").read_text().count(f'"event":"{event}"') < count:
            for process in processes:
                self.assertIsNone(process.poll(), process.returncode is not None and process.communicate())
            self.assertLess(time.monotonic(), end, f"no {event}")
            time.sleep(0.05)


if __name__ == "__main__":
    ranks.weirtest.main()
