"""What ranks exchange beside what they compute: the same bits as one after the other, and what it is said to take."""

import json
import re

import weirtest
from weirtest import MODELS, data, start

# Larger than a bucket, so that there is something beside which to exchange.
GPT = ["--set", "layers=2", "--set", "width=128", "--set", "context=16", "--set", "batch=6"]
# By its clock everything is worth it: a link as slow as these models are small.
SLOW = ["--link", "100MB/s,20us"]


class Overlap(weirtest.Test):
    def compiled(self, model, *options, name):
        artifact = self.folder / name
        self.weir("compile", MODELS / f"{model}.weir", *options, "-o", artifact)
        return artifact

    def both(self, model, *options):
        """Compiled to exchange beside what is computed, and not to."""
        beside = self.compiled(model, *options, *SLOW, name="beside.weirx")
        inline = self.compiled(model, *options, "--no-overlap", name="inline.weirx")
        self.assertGreaterEqual(max(self.queues(beside)), 3)
        self.assertLess(max(self.queues(inline)), 3)  # 1 and 2 are transfers' with the host
        return beside, inline

    def queues(self, artifact):
        """Of the actions of its step."""
        plan = self.weir("inspect", "--plan", artifact).stdout
        step = plan[plan.index("plan.entry @step"):].split("plan.entry", 2)[1]
        return {0} | {int(queue) for queue in re.findall(r"plan\.[a-z]+ [^\n]*queue = (\d+) ", step)}

    def losses(self, metrics):
        return [row["loss"] for row in map(json.loads, metrics.read_text().splitlines()) if "loss" in row]

    def run_threads(self, artifact, *options, **more):
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        self.weir("run", artifact, *options, "--steps", 6, "--metrics", metrics, **more)
        return self.losses(metrics)

    def run_processes(self, artifact, size, *options):
        port = weirtest.free_port()
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        ranks = [
            start("weir-run", artifact, *options, "--steps", 6, "--metrics", metrics,
                  env={"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
            for rank in range(size)
        ]
        for rank in ranks:
            _, err = rank.communicate(timeout=300)
            self.assertEqual(rank.returncode, 0, err[-2000:])
        return self.losses(metrics)

    @weirtest.takes(30)
    def test_the_bits_are_the_same(self):
        rows, text = self.digits(64), data(window=self.text())
        for model, options, fed, mesh in (
            ("mnist-mlp", ["--set", "hidden=384", "--set", "batch=8"], rows, ["dp=3"]),  # not as many rows for each
            ("gpt-char", GPT, text, ["dp=2", "--zero", 1]),
            ("gpt-char", [*GPT, "--microbatches", 3], text, ["dp=2", "--zero", 3]),
            ("gpt-char", GPT, text, ["dp=2,tp=2", "--zero", 3]),
            ("gpt-char", GPT, text, ["tp=2,dp=2", "--zero", 2]),
        ):
            with self.subTest(model=model, mesh=mesh):
                beside, inline = self.both(model, *options, "--mesh", *mesh)
                losses = self.run_threads(inline, *fed)
                self.assertGreaterEqual(len(losses), 6)
                self.assertEqual(self.run_threads(beside, *fed), losses)

    def test_ranks_of_other_sizes(self):
        """Whose programs have other ops around what they exchange, and the same order of it."""
        sizes = ["--set", "layers=1", "--set", "heads=3", "--set", "width=399", "--set", "context=16", "--set", "batch=6"]
        text = data(window=self.text())
        beside, inline = self.both("gpt-char", *sizes, "--mesh", "dp=2,tp=2")
        self.assertEqual(self.run_threads(beside, *text), self.run_threads(inline, *text))

    def test_with_what_lies_with_the_host(self):
        text = data(window=self.text())
        beside, inline = self.both("gpt-char", *GPT, "--mesh", "dp=2", "--offload", "optimizer")
        self.assertEqual(self.run_threads(beside, *text), self.run_threads(inline, *text))

    def test_processes(self):
        text = data(window=self.text())
        beside, inline = self.both("gpt-char", *GPT, "--mesh", "dp=2,tp=2", "--zero", 1)
        self.assertEqual(self.run_processes(beside, 4, *text), self.run_threads(inline, *text))

    def test_poison(self):
        """What is exchanged is in memory that nobody else has."""
        text = data(window=self.text())
        beside, inline = self.both("gpt-char", *GPT, "--mesh", "dp=2", "--zero", 3)
        losses = self.run_threads(inline, *text)
        self.assertEqual(self.run_threads(beside, *text, "--poison"), losses)
        slow = {"WEIR_SLOW_LINK": "100MB/s,1ms"}
        self.assertEqual(self.run_threads(beside, *text, env=slow), losses)

    def test_a_budget_is_kept(self):
        options = [*GPT, "--mesh", "dp=2", "--zero", 3]
        inline = self.compiled("gpt-char", *options, "--no-overlap", name="inline.weirx")
        budget = self.taken(inline, threads=1)[1] * 23 // 20
        beside = self.compiled("gpt-char", *options, *SLOW, "--memory", budget, "--threads", 1, name="beside.weirx")
        self.assertGreater(self.queues(beside), {0})
        self.assertLessEqual(self.taken(beside, threads=1)[1], budget)

    def test_a_trace_has_a_lane_for_each_queue(self):
        beside, _ = self.both("gpt-char", *GPT, "--mesh", "dp=2")
        trace = self.folder / "trace.json"
        self.weir("run", beside, *data(window=self.text()), "--steps", 2, "--trace", trace)
        lanes = {event["tid"] for event in json.loads(trace.read_text())["traceEvents"] if "all_" in event["name"]}
        self.assertEqual(lanes, {4})

    def test_predicted(self):
        beside, inline = self.both("gpt-char", *GPT, "--mesh", "dp=2")
        link = ["--link", "100MB/s,20us"]

        def time(artifact):
            return json.loads(self.weir("inspect", artifact, "--time", *link, "--json").stdout)

        one, other = time(beside), time(inline)
        self.assertAlmostEqual(one["communicating"], other["communicating"])
        self.assertAlmostEqual(other["exposed"], other["communicating"])
        self.assertLess(one["seconds"], other["seconds"])
        self.assertAlmostEqual(one["seconds"], one["computing"] + one["exposed"])
        self.assertEqual(sum(row["bytes"] for row in one["lines"]), sum(row["bytes"] for row in other["lines"]))
        text = self.weir("inspect", beside, "--time").stdout
        self.assertRegex(text, r"\nPredicted time of a step, for [\d.]+ TFLOP/s and [\d.]+ GB/s of memory bandwidth \(assumed\); a link of 10 GB/s with a latency of 20 us \(assumed\)\n")
        self.assertRegex(text, r"\n  exposed communication +[\d.]+\n")
        said = self.weir("inspect", beside, "--time", "--rates", "400TFLOP/s,3TB/s", *link).stdout
        self.assertIn("Predicted time of a step, for 400 TFLOP/s and 3000 GB/s of memory bandwidth; a link of 0.1 GB/s with a latency of 20 us\n", said)

    def test_stages_are_not_predicted(self):
        artifact = self.compiled("mnist-mlp", "--mesh", "pp=2", name="stages.weirx")
        self.fails(2, "--time predicts ranks that run the same program, but pipeline stages differ and wait for each other", "weir", "inspect", artifact, "--time")

    def test_what_is_no_link(self):
        self.fails(2, "--link describes the interconnect of a --mesh, but no --mesh is given", "weir", "compile", MODELS / "mnist-mlp.weir", "--link", "50GB/s",
                   "-o", self.folder / "a.weirx")  # fmt: skip
        self.fails(2, r"--link: expected bytes per second and the latency of an exchange, such as 50GB/s or 50GB/s,5us, but found 50",
                   "weir", "compile", MODELS / "mnist-mlp.weir", "--link", "50", "-o", self.folder / "a.weirx")
        inline = self.compiled("mnist-mlp", "--mesh", "dp=2", "--no-overlap", name="inline.weirx")
        self.fails(2, r"--rates: expected FLOPs per second and memory bandwidth, such as 400TFLOP/s,3TB/s, but found 9",
                   "weir", "inspect", inline, "--time", "--rates", "9")


if __name__ == "__main__":
    weirtest.main()
