"""Collectives between nodes: bytes on each link beside the closed forms. network-test.py runs them on hosts."""

import json

import weirtest

# One matrix: gradients have as many bytes as it has.
MODEL = """
config batch = 32
model m(x: f32[b, 512]) -> [b, 1024] { return linear(x, 1024, bias = false) as only }
train {
  input  x: f32[batch, 512]
  input  y: f32[batch, 1024]
  steps  1
  loss   mse(m(x), y)
  update adamw(1e-3)
}
"""
BYTES = 4 * 512 * 1024


class Nodes(weirtest.Test):
    def received(self, mesh, zero):
        """Bytes that a rank receives in a step: over each axis, by collective."""
        (self.folder / "m.weir").write_text(MODEL)
        artifact = self.folder / "m.weirx"
        self.weir("compile", self.folder / "m.weir", "--mesh", mesh, "--zero", zero, "-o", artifact)
        facts = json.loads(self.weir("inspect", artifact, "--sharding", "--json").stdout)
        bytes_of = {}
        for row in facts["collectives"]:
            key = row["axis"], row["kind"]
            bytes_of[key] = bytes_of.get(key, 0) + row["bytes"]
        return bytes_of

    @weirtest.takes(20)
    def test_bytes_on_each_link(self):
        """Thakur et al., "Optimization of collective communication operations in MPICH", 2005, and Patarasuk and Yuan,
        "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009: a reduce-scatter or an all-gather of n bytes
        over k ranks moves (k - 1) / k * n through each, an all-reduce both. Between m nodes of k ranks each, a rank moves
        (m - 1) / m of its k-th part."""
        for nodes in (1, 2, 4):
            for ranks in (2, 4, 8):
                inside = (ranks - 1) / ranks * BYTES
                between = (nodes - 1) / nodes * BYTES / ranks
                # DDP all-reduces gradients, ZeRO 1 reduce-scatters them and all-gathers parameters; each is one of both.
                for zero in (0, 1):
                    with self.subTest(nodes=nodes, ranks=ranks, zero=zero):
                        received = self.received(f"dp={nodes}x{ranks}", zero)
                        for kind in ("all_to_all", "all_gather"):
                            self.assertAlmostEqual(received[("dp", kind)] / inside, 1, delta=0.01)
                            if nodes > 1:
                                self.assertAlmostEqual(received[("dp.nodes", kind)] / between, 1, delta=0.01)

    def test_a_quarter_crosses_the_network(self):
        """Of eight ranks in a row, each receives from four on the other node."""
        for zero in (0, 1, 3):
            flat, split = self.received("dp=8", zero), self.received("dp=2x4", zero)
            crossing = sum(flat.values()) * 4 / 7
            between = sum(size for (axis, _), size in split.items() if axis == "dp.nodes")
            self.assertAlmostEqual(between / crossing, 0.25, delta=0.0025)


if __name__ == "__main__":
    weirtest.main()
