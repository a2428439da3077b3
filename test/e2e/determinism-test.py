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
            ("again", "weir", ["train", MODELS / model, *sets, *run]),
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

    def test_mlp(self):
        self.check("mnist-mlp.weir", [], [*self.digits(), "--steps", 20])

    def test_cnn(self):
        self.check("mnist-cnn.weir", [], [*self.digits(), "--steps", 20])

    def test_every_model(self):
        """At small sizes, where compiling is what takes the time: one artifact, three runs."""
        for model in SHIPPED:
            sets = small(model)[0]
            artifact, rows = self.folder / f"{model}.weirx", self.rows_of(model, sets)
            self.weir("compile", MODELS / f"{model}.weir", *sets, "-o", artifact)
            runs = [
                self.run_once(f"{model}-{threads}-{again}", "weir-run", artifact, *rows, "--steps", 5, "--threads", threads)
                for threads, again in ((1, 0), (3, 0), (3, 1))
            ]
            with self.subTest(model):
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

    def test_artifacts_are_reproducible(self):
        for model in SHIPPED:
            with self.subTest(model):
                a, b = self.folder / "a.weirx", self.folder / "b.weirx"
                for path in (a, b):
                    self.weir("compile", MODELS / f"{model}.weir", *small(model)[0], "-o", path)
                self.assertEqual(a.read_bytes(), b.read_bytes())


if __name__ == "__main__":
    weirtest.main()
