"""weir inspect of a pipeline speaks of all its stages, or says of which it speaks."""

import json

import weirtest
from weirtest import MODELS

GPT = ["--set", "layers=2", "--set", "width=24", "--set", "heads=4", "--set", "context=12", "--set", "batch=8"]


class InspectStages(weirtest.Test):
    def compiled(self, mesh, *options):
        artifact = self.folder / "a.weirx"
        self.weir("compile", MODELS / "gpt-char.weir", *GPT, "--mesh", mesh, *options, "-o", artifact)
        return artifact

    def stages(self, mesh="pp=2"):
        return self.compiled(mesh, "--microbatches", 4)

    def facts(self, artifact, page):
        return json.loads(self.weir("inspect", artifact, page, "--json").stdout)

    def test_what_stages_send_each_other(self):
        """By line, together the bytes that the table of stages has."""
        for mesh in ("pp=2", "pp=2,tp=2"):
            with self.subTest(mesh=mesh):
                artifact = self.stages(mesh)
                facts = self.facts(artifact, "--sharding")
                sent = sum(stage["sent"] for stage in facts["pipeline"]["stages"])
                received = [row for row in facts["collectives"] if row["axis"] == "pp"]
                self.assertGreater(sent, 0)
                self.assertEqual(facts["totals"]["pp"]["bytes"], sent)
                self.assertEqual(sum(row["bytes"] for row in received), sent)
                self.assertEqual({row["kind"] for row in received}, {"receive"})
                # What the next stage begins with, of four microbatches, and its gradients back.
                self.assertIn(8, [row["times"] for row in received])
                text = self.weir("inspect", artifact, "--sharding").stdout
                self.assertNotIn("A step has no communication", text)
                self.assertIn("the bytes that the first ranks of all stages receive together:\n", text)
                self.assertRegex(text, r"\n +\S+gpt-char\.weir:\d+ +receive +pp +8 ")
                self.assertRegex(text, rf"\nTotal over pp: \d+ transfers, {sent:,} bytes\n")

    def test_collectives_of_all_stages(self):
        facts = self.facts(self.stages("pp=2,tp=2"), "--sharding")
        times = {}
        for row in facts["collectives"]:
            if row["axis"] == "tp":
                line = int(row["at"].rsplit(":", 1)[1])
                times[line] = times.get(line, 0) + row["times"]
        self.assertIn(28, times)  # the head is with the last stage
        self.assertIn(23, times)  # the embedding with the first
        self.assertEqual(sum(times.values()), facts["totals"]["tp"]["times"])
        # Each stage has one of the two layers, together they gather what one without stages does.
        alone = self.facts(self.compiled("tp=2", "--microbatches", 4, "--no-overlap"), "--sharding")
        gathers = [row["times"] for row in alone["collectives"] if row["at"].endswith(":13") and row["kind"] == "all_gather"]
        staged = [row["times"] for row in facts["collectives"] if row["at"].endswith(":13") and row["kind"] == "all_gather"]
        self.assertEqual(staged, gathers)

    def test_whose_whole_tensors_are(self):
        text = self.weir("inspect", self.stages(), "--sharding").stdout
        self.assertIn("without @: replicated on every rank of its stage):\n", text)
        self.assertIn("neither: computed whole by every rank of its stage):\n", text)
        text = self.weir("inspect", self.compiled("dp=2"), "--sharding").stdout
        self.assertIn("without @: replicated on every rank):\n", text)
        self.assertIn("neither: computed whole by every rank):\n", text)
        self.assertIn("the bytes that a rank receives:\n", text)

    def test_memory(self):
        artifact = self.stages("pp=2,tp=2")
        facts = self.facts(artifact, "--memory")
        ranks = {rank: row for row in self.facts(artifact, "--sharding")["ranks"] for rank in row["ranks"]}
        self.assertEqual([stage["rank"] for stage in facts["stages"]], [0, 2])
        for stage in facts["stages"]:
            for bytes in ("arena", "persistent"):
                self.assertEqual(stage[bytes], ranks[stage["rank"]][bytes])
            self.assertLessEqual(stage["persistent"] + stage["scratch"], stage["arena"])
        text = self.weir("inspect", artifact, "--memory").stdout
        self.assertNotIn("compile it again", text)
        self.assertIn(": memory of the first rank of each pipeline stage, in bytes:\n", text)
        self.assertIn("The saved activations of pipeline stages are not listed", text)
        last = facts["stages"][-1]
        self.assertRegex(text, rf"\n +2 +{last['arena']:,} +{last['persistent']:,} +{last['scratch']:,}\n")
        self.assertIsNone(self.facts(self.compiled("dp=2"), "--memory")["stages"])

    def test_time(self):
        self.fails(2, "`weir inspect --sharding` estimates the idle share of each stage", "weir", "inspect", self.stages(), "--time")

    def test_a_mesh_of_one_rank(self):
        artifact = self.compiled("dp=1")
        self.fails(2, "--sharding: .*a.weirx is for one device: compile it with a --mesh of several ranks\n", "weir", "inspect", artifact, "--sharding")


if __name__ == "__main__":
    weirtest.main()
