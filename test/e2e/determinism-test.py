"""The same seed gives the same bits: again, with any number of threads, from the artifact as from the model."""

import weirtest
from weirtest import MODELS, SHIPPED, SMALL_GPT, data, small


class Determinism(weirtest.Test):
    def run_once(self, name, tool, *args):
        self.run_tool(
            tool, *args, "--seed", 3, "--metrics", self.folder / f"{name}.jsonl", "--checkpoint", self.folder / name
        )
        return self.losses(f"{name}.jsonl"), self.weights(self.folder / name)

    def check(self, model, sets, run):
        artifact = self.folder / "m.weirx"
        self.weir("compile", MODELS / model, *sets, "-o", artifact)
        first = self.run_once("first", "weir", "train", MODELS / model, *sets, *run)
        self.assertEqual(len(first[0]), 20)
        for name, tool, args in [
            ("again", "weir", ["run", artifact, *run]),
            ("one-thread", "weir-run", [artifact, *run, "--threads", 1]),
            ("two-threads", "weir-run", [artifact, *run, "--threads", 2]),
            ("eight-threads", "weir", ["run", artifact, *run, "--threads", 8]),
        ]:
            with self.subTest(name):
                losses, weights = self.run_once(name, tool, *args)
                self.assertEqual(losses, first[0])
                self.assertEqual(weights, first[1])

    def test_gpt(self):
        self.check("gpt-char.weir", SMALL_GPT, [*data(window=self.text()), "--steps", 20])

    @weirtest.depends_on_cpu_level
    def test_mlp(self):
        self.check("mnist-mlp.weir", [], [*self.digits(), "--steps", 20])

    @weirtest.depends_on_cpu_level
    def test_cnn(self):
        self.check("mnist-cnn.weir", [], [*self.digits(), "--steps", 20])

    @weirtest.each(SHIPPED)
    def test_models(self, model):
        """At small sizes, where compiling is what takes the time: the same artifact again, and three runs of it."""
        sets = small(model)[0]
        artifact, other, rows = self.folder / "a.weirx", self.folder / "b.weirx", self.rows_of(model, sets)
        for path in (artifact, other):
            self.weir("compile", MODELS / f"{model}.weir", *sets, "-o", path)
        self.assertEqual(artifact.read_bytes(), other.read_bytes())
        runs = [
            self.run_once(f"{threads}-{again}", "weir-run", artifact, *rows, "--steps", 5, "--threads", threads)
            for threads, again in ((1, 0), (3, 0), (3, 1))
        ]
        self.assertEqual(runs[1], runs[0])
        self.assertEqual(runs[2], runs[0])

    def test_artifacts_depend_on_the_model_and_the_target_alone(self):
        """Not on the folder, nor on what libraries are told of the machine."""
        for model, sets in (("gpt-char", SMALL_GPT), ("mnist-cnn", small("mnist-cnn")[0])):
            for target in ("cpu:x86-64-v3", "cpu:x86-64-v4"):
                first, again = self.folder / "first.weirx", self.folder / "again" / "again.weirx"
                again.parent.mkdir(exist_ok=True)
                self.weir("compile", MODELS / f"{model}.weir", *sets, "--target", target, "-o", first)
                self.weir(
                    "compile", MODELS / f"{model}.weir", *sets, "--target", target, "-o", again,
                    env={"ONEDNN_MAX_CPU_ISA": "SSE41", "OMP_NUM_THREADS": "1"},
                )
                with self.subTest(model, target=target):
                    self.assertEqual(first.read_bytes(), again.read_bytes())

    def test_seeds_differ(self):
        for seed in (1, 2):
            self.weir(
                "train", MODELS / "gpt-char.weir", *SMALL_GPT, *data(window=self.text()), "--steps", 3,
                "--seed", seed, "--metrics", self.folder / f"{seed}.jsonl",
            )
        self.assertNotEqual(self.losses("1.jsonl"), self.losses("2.jsonl"))


if __name__ == "__main__":
    weirtest.main()
