"""Ranks on hosts of their own: network namespaces and a switch between them, whose links are slow, broken and mended."""

import importlib
import json
import os
import shutil
import subprocess
import time
import unittest

import weirtest
from weirtest import BIN

ranks = importlib.import_module("processes-test")

# Debian has them where only root looks.
TOOLS = {name: shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") for name in ("ip", "tc", "bridge")}


def ask(words):
    """What a command of iproute2 says."""
    tool, *rest = words.split()
    done = subprocess.run([TOOLS[tool], *rest], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """Hosts on a switch. Each is a namespace, the switch too: nothing is in the machine's own network."""

    def __init__(self, size):
        forget_the_dead()
        self.switch, *self.hosts = names = [f"weir-{os.getpid()}-{i}" for i in range(size + 1)]
        self.made = []
        try:
            for name in names:
                ask(f"ip netns add {name}")
                self.made.append(name)
                ask(f"ip -n {name} link set lo up")
            ask(f"ip -n {self.switch} link add switch up type bridge")
            for i, host in enumerate(self.hosts):
                ask(f"ip -n {self.switch} link add port{i} type veth peer name eth0 netns {host}")
                ask(f"ip -n {self.switch} link set port{i} up master switch")
                ask(f"ip -n {host} link set eth0 up")
                ask(f"ip -n {host} addr add 10.77.0.{i + 1}/24 dev eth0")
        except BaseException:
            self.close()
            raise

    def close(self):
        while self.made:
            ask(f"ip netns del {self.made.pop()}")

    def slow(self, rate):
        """What hosts send leaves them at that rate, from buffers of 400 ms."""
        for host in self.hosts:
            ask(f"tc -n {host} qdisc replace dev eth0 root tbf rate {rate} burst 32kbit latency 400ms")

    def fast(self):
        for host in self.hosts:
            ask(f"tc -n {host} qdisc del dev eth0 root")

    def bytes_sent(self, host):
        (link,) = json.loads(ask(f"ip -n {self.hosts[host]} -s -j link show eth0"))
        return link["stats64"]["tx"]["bytes"]

    def set(self, host, state):
        """The cable between a host and the switch: up or down."""
        ask(f"ip -n {self.switch} link set port{host} {state}")

    def part(self, *hosts):
        """They reach each other no more, and all others as before."""
        for host in hosts:
            ask(f"bridge -n {self.switch} link set dev port{host} isolated on")


def forget_the_dead():
    """Deletes what a test has left that was killed."""
    for line in ask("ip netns list").splitlines():
        name = line.split()[0]
        owner = name.split("-")[1] if name.startswith("weir-") else ""
        if owner and not os.path.exists(f"/proc/{owner}"):
            subprocess.run([TOOLS["ip"], "netns", "del", name], capture_output=True)


class OnHosts(ranks.Ranks):
    network = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not all(TOOLS.values()):
            raise unittest.SkipTest("ip, tc and bridge (Debian's iproute2) are not all installed")
        try:
            network = Network(2)
            try:
                network.slow("1gbit")
                network.part(0, 1)
            finally:
                network.close()
        except RuntimeError as refused:
            raise unittest.SkipTest(f"hosts cannot be made here: {refused}")

    def setUp(self):
        super().setUp()
        self.secret = self.write("secret", "0123456789abcdef\n")
        self.secret.chmod(0o600)

    def connect(self, size):
        if self.network:
            self.network.close()
        self.network = Network(size)
        self.addCleanup(self.network.close)

    def command(self, rank, tool):
        host = rank * len(self.network.hosts) // self.size
        return [TOOLS["ip"], "netns", "exec", self.network.hosts[host], BIN / tool]

    def begin(self, size, *words, **more):
        self.size = size
        return super().begin(size, *words, **more)

    def environment(self, rank, size, port):
        return super().environment(rank, size, port) | {"MASTER_ADDR": "10.77.0.1", "WEIR_JOB_SECRET_FILE": str(self.secret)}

    def test_bits_of_virtual_devices(self):
        text, rows = ranks.data(window=self.text()), self.digits(64)
        for size, model, zero, fed in ((2, ranks.GPT, 3, text), (4, ranks.MLP, 1, rows)):
            with self.subTest(size=size):
                self.connect(size)
                artifact = self.compiled(*model, "--mesh", f"dp={size}", "--zero", zero)
                self.weir("run", artifact, *fed, *self.options(f"virtual-{size}", steps=4))
                said = self.all_end(self.begin(size, "run", artifact, *fed, *self.options(f"hosts-{size}", steps=4)))
                self.assertRegex(said[0][1], r"; rendezvous at 10\.77\.0\.1:\d+ \(MASTER_ADDR=10\.77\.0\.1\)")
                self.assert_same(f"virtual-{size}", f"hosts-{size}")
                for host in range(size):
                    self.assertGreater(self.network.bytes_sent(host), 100000)

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this machine has no IPv6")
    def test_ipv6(self):
        self.connect(2)
        for i, host in enumerate(self.network.hosts):
            ask(f"ip -n {host} addr add fd77::{i + 1}/64 dev eth0 nodad")
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        self.weir("run", artifact, *rows, *self.options("virtual"))
        words = ["run", artifact, *rows, *self.options("hosts"), "--rendezvous", "[fd77::1]:29500", "--trust-network"]
        said = self.all_end(self.begin(2, *words, env={"WEIR_JOB_SECRET_FILE": ""}))
        self.assertIn("rendezvous at [fd77::1]:29500", said[0][1])
        self.assert_same("virtual", "hosts")

    def test_a_slow_link(self):
        """A run takes the time that its bytes take, and nothing else changes."""
        self.connect(2)
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        self.weir("run", artifact, *rows, *self.options("virtual", steps=40))
        self.network.slow("20mbit")
        began = time.monotonic()
        self.all_end(self.begin(2, "run", artifact, *rows, *self.options("hosts", steps=40)))
        took = time.monotonic() - began
        self.assert_same("virtual", "hosts")
        sent = self.network.bytes_sent(1)
        self.assertGreater(sent, 40 * 19690 * 4)  # at least a part of the gradient and of the parameters, half each
        self.assertGreater(took, 0.9 * sent * 8 / 20e6)

    def test_nodes_of_a_launcher(self):
        """Two nodes of two ranks, of which the launcher says how many are beside each. In a node collectives run first."""
        self.connect(2)
        rows = self.digits(64)
        words = ["train", ranks.MODELS / "mnist-mlp.weir", "--set", "hidden=256", "--set", "batch=8", *rows]

        def trained(mesh, name, **env):
            before = self.network.bytes_sent(1)
            artifact = self.folder / f"{name}.weirx"
            more = ["--mesh", mesh, *self.options(name, steps=4), "-o", artifact]
            self.all_end(self.begin(4, *words, *more, env=env))
            return self.weir("inspect", artifact).stdout, self.network.bytes_sent(1) - before

        _, all_sent = trained("dp=4", "flat")
        said, sent = trained("dp=4", "nodes", LOCAL_WORLD_SIZE="2")
        self.assertRegex(said, r"\nRanks +dp=2x2;")
        self.assertLess(sent, 0.6 * all_sent)
        self.weir(*words, "--mesh", "dp=2x2", *self.options("virtual", steps=4))
        self.assert_same("virtual", "nodes")

    def unsettled(self, size, unsettle):
        """The losses of a run are the same, whatever is done to the network once it is at its steps."""
        self.connect(size)
        artifact = self.compiled(*ranks.MLP, "--mesh", f"dp={size}")
        words = ["run", artifact, *self.digits(64), "--steps", 30, "--metrics"]
        self.weir(*words, self.folder / "virtual.jsonl")
        self.network.slow("20mbit")
        processes = self.begin(size, *words, self.folder / "m.jsonl")
        self.await_steps(processes)
        unsettle(processes)
        self.all_end(processes)
        self.assertEqual(self.losses("m.jsonl"), self.losses("virtual.jsonl"))

    @weirtest.takes(25)
    def test_a_link_that_is_slow_for_long(self):
        """Who is late is alive, however little comes through for longer than the silence that ends a run."""

        def unsettle(processes):
            self.network.slow("64kbit")
            time.sleep(1)
            before = len(self.losses_by_step("m.jsonl"))
            time.sleep(10)
            # A step sends 160 kB, which takes 20 s.
            self.assertLessEqual(len(self.losses_by_step("m.jsonl")) - before, 1)
            self.network.fast()

        self.unsettled(2, unsettle)

    def test_a_link_that_is_down_for_a_moment(self):
        def unsettle(processes):
            self.network.set(1, "down")
            time.sleep(3)
            self.network.set(1, "up")

        self.unsettled(2, unsettle)

    @weirtest.takes(40)
    @weirtest.each(["0", "2,3"])
    def test_a_broken_link_ends_all(self, lost):
        """Nothing that was saved is lost: all go on, or half of them do."""
        rows, lost = self.digits(64), list(map(int, lost.split(",")))
        four, two = (self.compiled(*ranks.MLP, "--mesh", f"dp={size}", "--zero", 1, name=f"{size}.weirx") for size in (4, 2))

        def words(artifact, name, folder):
            return ["run", artifact, *rows, "--steps", 40, "--checkpoint-every", 3, "--metrics", self.folder / f"{name}.jsonl",
                    "--checkpoint", self.folder / folder]  # fmt: skip

        self.weir(*words(four, "whole", "whole"))
        whole = self.losses_by_step("whole.jsonl")
        self.connect(4)
        self.network.slow("20mbit")
        processes = self.begin(4, *words(four, "without", "without"))
        self.await_steps(processes, "without.jsonl", 10)
        saved = self.checkpoints(self.folder / "without")[-1].name
        for host in lost:
            self.network.set(host, "down")
        for rank, (out, err) in enumerate(self.all_end(processes, status=7, within=30)):
            waits = rf"step \d+: rank {rank} was waiting in .* for rank \d"
            self.assertRegex(err, rf"error: rank {rank}: {waits}: rank \d has sent no heartbeat for 8 s: .*; its last actions are in ")
        self.assertGreaterEqual(self.checkpoints(self.folder / "without")[-1].name, saved)
        self.assertLessEqual(self.losses_by_step("without.jsonl").items(), whole.items())
        for host in lost:
            self.network.set(host, "up")
        self.network.fast()
        shutil.copytree(self.folder / "without", self.folder / "by-two")
        self.all_end(self.begin(4, *words(four, "on", "without"), "--resume"))
        on = self.losses_by_step("on.jsonl")
        self.assertGreater(min(on), int(saved.split("-")[1]))
        self.assertEqual(on, {step: whole[step] for step in range(min(on), 41)})
        self.assertEqual(self.weights(self.folder / "without"), self.weights(self.folder / "whole"))
        self.all_end(self.begin(2, *words(two, "by-two", "by-two"), "--resume"))
        by_two = self.losses_by_step("by-two.jsonl")
        self.assertEqual(by_two.keys(), on.keys())
        for step in on:
            self.assertAlmostEqual(by_two[step] / whole[step], 1, delta=1e-5)

    def test_two_that_do_not_reach_each_other(self):
        """All reach rank 0, so none is lost: the time for who is late ends them."""
        self.connect(3)
        artifact = self.compiled(*ranks.MLP, "--mesh", "dp=3")
        processes = self.begin(3, "run", artifact, *self.digits(64), "--steps", 10000000, "--checkpoint-every", 5000000, "--collective-timeout", 5,
                               "--metrics", self.folder / "m.jsonl", "--checkpoint", self.folder / "kept")  # fmt: skip
        self.await_steps(processes)
        self.network.part(1, 2)
        for rank, (out, err) in enumerate(self.all_end(processes, status=7, within=30)):
            self.assertRegex(err, rf"rank {rank} was waiting in .* for rank \d: .*rank \d is alive, but did not arrive within 5 s")

    def test_what_is_down_from_the_beginning(self):
        """No rank looks for another for longer than it was told to, though each of many ports is silent."""
        self.connect(2)
        artifact = self.compiled(*ranks.MLP, "--mesh", "dp=2")
        self.network.set(1, "down")
        said = self.all_end(self.begin(2, "run", artifact, *self.digits(64), "--steps", 3, "--collective-timeout", 3), status=7, within=30)
        self.assertRegex(said[0][1], r"rank 1 has not joined at 10\.77\.0\.1:\d+ for 3 s")
        self.assertIn("rank 1 found no rank 0 of this job at 10.77.0.1", said[1][1])

    def test_two_that_are_not_connected(self):
        self.connect(3)
        artifact = self.compiled(*ranks.MLP, "--mesh", "dp=3")
        self.network.part(1, 2)
        for out, err in self.all_end(self.begin(3, "run", artifact, *self.digits(64), "--steps", 3), status=7, within=90):  # 60 s to connect
            self.assertRegex(err, r"error: .*rank 1 cannot connect to all other ranks: rank 2 cannot be reached|"
                                  r"error: .*rank 2 cannot connect to all other ranks: rank 1 cannot be reached")  # fmt: skip


if __name__ == "__main__":
    ranks.weirtest.main()
