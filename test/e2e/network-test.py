"""Ranks on hosts of their own: network namespaces and a switch between them, whose links are slow, broken and mended."""

import importlib
import json
import os
import shutil
import subprocess
import time
import unittest

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

    def connect(self, size):
        self.network = Network(size)
        self.addCleanup(self.network.close)
        self.secret = self.write("secret", "0123456789abcdef\n")

    def command(self, rank, tool):
        return [TOOLS["ip"], "netns", "exec", self.network.hosts[rank], BIN / tool]

    def environment(self, rank, size, port):
        return super().environment(rank, size, port) | {"MASTER_ADDR": "10.77.0.1", "WEIR_JOB_SECRET_FILE": str(self.secret)}

    def test_bits_of_virtual_devices(self):
        rows = self.digits(64)
        for size, model, fed in ((2, ranks.MLP, rows), (4, ranks.GPT, ranks.data(window=self.text()))):
            with self.subTest(size=size):
                self.connect(size)
                artifact = self.compiled(*model, "--mesh", f"dp={size}", "--zero", size - 1)
                self.weir("run", artifact, *fed, *self.options(f"virtual-{size}"))
                said = self.all_end(self.begin(size, "run", artifact, *fed, *self.options(f"hosts-{size}")))
                self.assertRegex(said[0][1], r"; ranks meet at 10\.77\.0\.1:\d+ \(MASTER_ADDR=10\.77\.0\.1\)")
                self.assert_same(f"virtual-{size}", f"hosts-{size}")
                for host in range(size):
                    self.assertGreater(self.network.bytes_sent(host), 100000)
                self.network.close()

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this machine has no IPv6")
    def test_ipv6(self):
        self.connect(2)
        for i, host in enumerate(self.network.hosts):
            ask(f"ip -n {host} addr add fd77::{i + 1}/64 dev eth0 nodad")
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        self.weir("run", artifact, *rows, *self.options("virtual"))
        words = ["run", artifact, *rows, *self.options("hosts"), "--rendezvous", "[fd77::1]:29500", "--trust-network"]
        said = self.all_end(self.begin(2, *words, env={"WEIR_JOB_SECRET_FILE": ""}))
        self.assertIn("ranks meet at [fd77::1]:29500", said[0][1])
        self.assert_same("virtual", "hosts")

    def test_a_slow_link(self):
        """It takes the time that the bytes take, and nothing else changes."""
        self.connect(2)
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        self.weir("run", artifact, *rows, *self.options("virtual", steps=60))
        self.network.slow("20mbit")
        began = time.monotonic()
        self.all_end(self.begin(2, "run", artifact, *rows, *self.options("hosts", steps=60)))
        took = time.monotonic() - began
        self.assert_same("virtual", "hosts")
        sent = self.network.bytes_sent(1)
        self.assertGreater(sent, 60 * 38000)  # half of a gradient and of the parameters, at least
        self.assertGreater(took, sent * 8 / 20e6 * 0.9)

    def test_a_link_that_is_slow_for_long(self):
        """Who is late is alive, however little comes through for longer than the silence that ends a run."""
        self.connect(2)
        artifact, rows = self.compiled(*ranks.MLP, "--mesh", "dp=2"), self.digits(64)
        words = ["run", artifact, *rows, "--steps", 400]
        self.weir(*words, "--metrics", self.folder / "virtual.jsonl")
        self.network.slow("20mbit")
        processes = self.begin(2, *words, "--metrics", self.folder / "m.jsonl")
        self.await_steps(processes)
        self.network.slow("64kbit")
        time.sleep(1)
        before = len(self.losses_by_step("m.jsonl"))
        time.sleep(11)
        self.assertLessEqual(len(self.losses_by_step("m.jsonl")) - before, 3)
        self.network.fast()
        self.all_end(processes, within=60)
        self.assertEqual(self.losses("m.jsonl"), self.losses("virtual.jsonl"))

    def test_a_broken_link_ends_all(self):
        """Nothing that was saved is lost: all go on, or half of them do."""
        self.connect(4)
        rows = self.digits(64)
        four, two = (self.compiled(*ranks.MLP, "--mesh", f"dp={size}", "--zero", 1, name=f"{size}.weirx") for size in (4, 2))

        def words(artifact, name, folder):
            return ["run", artifact, *rows, "--steps", 100, "--every", 7, "--metrics", self.folder / f"{name}.jsonl",
                    "--checkpoint", self.folder / folder]  # fmt: skip

        self.weir(*words(four, "whole", "whole"))
        whole = self.losses_by_step("whole.jsonl")
        for lost in ((0,), (2, 3)):
            with self.subTest(lost=lost):
                name = f"without-{lost[0]}"
                self.network.slow("20mbit")
                processes = self.begin(4, *words(four, name, name))
                self.await_steps(processes, f"{name}.jsonl", 20)
                for host in lost:
                    self.network.set(host, "down")
                began = time.monotonic()
                said = self.all_end(processes, status=7, within=10)
                print(f"{lost}: all ended after {time.monotonic() - began:.1f} s", *(err for out, err in said), sep="\n")
                for rank, (out, err) in enumerate(said):
                    self.assertRegex(err, rf"error: rank {rank}: .*step \d+: rank {rank} waits in .* for rank \d: rank \d is not heard of for 8 s")
                    self.assertRegex(err, r"last-actions-of-rank-\d\.txt")
                self.assertLessEqual(self.losses_by_step(f"{name}.jsonl").items(), whole.items())
                for host in lost:
                    self.network.set(host, "up")
                self.network.fast()
                shutil.copytree(self.folder / name, self.folder / f"{name}-by-two")
                self.all_end(self.begin(4, *words(four, f"{name}-on", name), "--resume"))
                on = self.losses_by_step(f"{name}-on.jsonl")
                self.assertGreater(min(on), 14)
                self.assertEqual(on, {step: whole[step] for step in range(min(on), 101)})
                self.assertEqual(self.weights(self.folder / name), self.weights(self.folder / "whole"))
                self.all_end(self.begin(2, *words(two, f"{name}-by-two", f"{name}-by-two"), "--resume"))
                by_two = self.losses_by_step(f"{name}-by-two.jsonl")
                self.assertEqual(by_two.keys(), on.keys())
                print("by two:", max(abs(by_two[step] / whole[step] - 1) for step in on))
                for step in on:
                    self.assertAlmostEqual(by_two[step] / whole[step], 1, delta=1e-4)

    def test_two_that_do_not_reach_each_other(self):
        """All of them reach rank 0, so none is lost: the time for who is late ends them."""
        self.connect(3)
        artifact = self.compiled(*ranks.MLP, "--mesh", "dp=3")
        processes = self.begin(3, "run", artifact, *self.digits(64), "--steps", 10000000, "--collective-timeout", 5,
                               "--metrics", self.folder / "m.jsonl")  # fmt: skip
        self.await_steps(processes)
        self.network.part(1, 2)
        said = self.all_end(processes, status=7, within=10)
        print(*(err for out, err in said), sep="\n")
        for out, err in said:
            self.assertRegex(err, r"rank \d waits in .* for rank \d: .*rank \d is alive, and has not come within 5 s \(--collective-timeout\)")


if __name__ == "__main__":
    ranks.weirtest.main()
