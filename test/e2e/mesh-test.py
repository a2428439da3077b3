"""Several ranks as threads of one process: they compute what one device does, and keep what it keeps."""

import json
import unittest

import weirtest
from weirtest import MODELS, data, npy

MOE = ["--set", "layers=1", "--set", "width=24", "--set", "context=12", "--set", "experts=4", "--set", "hidden=16", "--set", "batch=6"]
GPT = ["--set", "layers=2", "--set", "width=32", "--set", "context=16", "--set", "batch=6"]


class Mesh(weirtest.Test):
    def compiled(self, model, *options, name):
        artifact = self.folder / name
        self.weir("compile", MODELS / f"{model}.weir", *options, "-o", artifact)
        return artifact

    def losses(self, artifact, *options, steps=10):
        metrics = self.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        self.weir("run", artifact, *options, "--steps", steps, "--metrics", metrics)
        return [json.loads(line)["loss"] for line in metrics.read_text().splitlines() if "loss" in json.loads(line)][:steps]

    def agree(self, some, others, delta=1e-5):
        self.assertEqual(len(some), len(others))
        for a, b in zip(some, others):
            self.assertAlmostEqual(a / b, 1, delta=delta)

    @weirtest.each(["mnist-mlp", "gpt-char"])
    def test_losses_are_one_devices(self, model):
        options, fed, meshes = {
            "mnist-mlp": (["--set", "hidden=24", "--set", "batch=8"], self.digits(64), (["dp=2"], ["dp=3"], ["dp=4"], ["dp=2:1"])),
            "gpt-char": (GPT, data(window=self.text()), (["dp=4"], ["dp=2x2"], ["dp=2x2", "--zero", 2], ["dp=2x2", "--zero", 3])),
        }[model]
        alone = self.losses(self.compiled(model, *options, name="alone.weirx"), *fed)
        # 6 rows over 4 ranks, and 8 over 3, are not as many for each; nor are those of unequal shares meant to be.
        for mesh in (*meshes, ["dp=1:3", "--zero", 3], ["pp=1:2,dp=2:1", "--microbatches", 2]):
            with self.subTest(mesh=mesh):
                together = self.compiled(model, *options, "--mesh", *mesh, name="together.weirx")
                self.agree(self.losses(together, *fed), alone)

    @weirtest.takes(20)
    def test_matrices_in_parts(self):
        """Of what each rank has with the rows, or all of them."""
        text = data(window=self.text())
        alone = self.losses(self.compiled("gpt-char", *GPT, name="alone.weirx"), *text)
        # 4 heads over 3 ranks, and 8 of them.
        for mesh in (["tp=2"], ["tp=3", "--sequence-parallel", "off"], ["dp=2,tp=2", "--zero", 1], ["tp=2,dp=2", "--zero", 3], ["tp=8"]):
            with self.subTest(mesh=mesh):
                together = self.compiled("gpt-char", *GPT, "--mesh", *mesh, name="together.weirx")
                self.agree(self.losses(together, *text), alone)

    @weirtest.takes(30)
    @weirtest.each(["moe", "gpt-char", "llama"])
    def test_experts_and_sequences_in_parts(self, model):
        """Each axis by itself and with others; attention with too few heads gathers."""
        text = data(window=self.text())
        gpt = ["--set", "layers=1", "--set", "width=32", "--set", "context=18", "--set", "batch=6"]
        options, meshes = {
            "moe": (MOE, (["ep=2"], ["dp=2,ep=2", "--zero", 1], ["ep=2,cp=2,tp=2", "--zero", 3])),
            "gpt-char": (gpt, (["cp=2"], ["dp=2,cp=2,tp=2", "--zero", 1], ["cp=3", "--context-parallel", "gather"], ["cp=3", "--context-parallel", "ring"],
                               ["dp=2,cp=2", "--zero", 3, "--context-parallel", "ring"], ["cp=6", "--zero", 3])),  # fmt: skip
            "llama": ([*gpt, "--set", "hidden=40"], (["cp=2,tp=2"],)),
        }[model]
        alone = self.losses(self.compiled(model, *options, name="alone.weirx"), *text)
        for mesh in meshes:
            with self.subTest(mesh=mesh):
                together = self.compiled(model, *options, "--mesh", *mesh, name="together.weirx")
                self.agree(self.losses(together, *text), alone)

    def test_what_is_kept_is_in_parts(self):
        """Of what gradients read of the forward computation, a rank has its part."""
        options = ["--set", "layers=4", "--set", "vocab=64"]

        def kept(*more):
            artifact = self.compiled("gpt-char", *options, *more, name="a.weirx")
            return json.loads(self.weir("inspect", "--memory", "--json", artifact).stdout)["totals"]["kept"]

        # What is exchanged beside what is computed takes more, since it is there earlier.
        self.assertLessEqual(kept("--mesh", "tp=2", "--no-overlap"), 1.1 / 2 * kept())
        self.assertLessEqual(kept("--mesh", "tp=4", "--no-overlap"), 1.1 / 4 * kept())

    @weirtest.takes(20)
    @weirtest.each(["bf16", "bf16 --param-dtype bf16", "f16 --loss-scale dynamic", "f8"])
    def test_low_precision(self, low):
        """Ranks round their parts of a sum, so losses are as far from one device's as low precision is fine."""
        options = ["--set", "layers=1", *GPT[2:], "--precision", *low.split()]
        text = data(window=self.text())
        alone = self.losses(self.compiled("gpt-char", *options, name="alone.weirx"), *text)
        zero, rows = ["dp=2,tp=2", "--zero", 3], ["dp=3", "--zero", 1]
        stored = "f16" if low.startswith("f16") else "bf16"
        sums, gradients = ["tp=2", "--tp-reduce-dtype", stored], ["dp=2,tp=2", "--zero", 1, "--grad-reduce-dtype", stored]
        stages = ["pp=2,dp=2", "--grad-reduce-dtype", stored, "--microbatches", 3]
        # With bf16 all of them; with the others those that their masters, loss scale and scales of products have a part in.
        for mesh in {
            "bf16": (zero, sums, rows, gradients, stages),
            "bf16 --param-dtype bf16": (zero, gradients),
            "f16 --loss-scale dynamic": (sums, rows, stages),
            "f8": (zero, stages),
        }[low]:
            with self.subTest(mesh=mesh):
                together = self.compiled("gpt-char", *options, "--mesh", *mesh, name="together.weirx")
                self.agree(self.losses(together, *text), alone, delta=1e-3)

    @weirtest.takes(30)
    def test_low_gradients(self):
        """They are exchanged in half the bytes, whatever they are cut by, and a deterministic step is the same on every mesh."""
        options = ["--set", "layers=1", "--set", "width=64", "--set", "context=16", "--set", "batch=16", "--precision", "bf16"]

        def exchanged(*more):
            artifact = self.compiled("gpt-char", *options, *more, name="a.weirx")
            return json.loads(self.weir("inspect", "--sharding", "--json", artifact).stdout)["totals"]["dp"]["bytes"]

        # Of ZeRO's, the parameters that are gathered stay in f32: half of what is exchanged.
        for mesh, share in ((["dp=2"], 0.5), (["dp=2", "--zero", 1], 0.75), (["dp=2", "--microbatches", 2], 0.5)):
            self.assertAlmostEqual(exchanged("--mesh", *mesh, "--grad-reduce-dtype", "bf16"), share * exchanged("--mesh", *mesh), delta=10000)
        text = data(window=self.text())
        runs = [
            self.losses(self.compiled("gpt-char", *options, "--grad-reduce-dtype", "bf16", "--deterministic", *mesh, name="a.weirx"), *text)
            for mesh in ([], ["--mesh", "dp=2", "--zero", 1], ["--mesh", "dp=2,tp=2"])
        ]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    @weirtest.takes(20)
    def test_low_sums_of_a_deterministic_step(self):
        """Of dp=8,tp=8 there is always an axis tp: also on one device, and on a mesh without."""
        options = ["--set", "layers=1", "--set", "width=64", "--set", "context=16", "--set", "batch=16", "--precision", "bf16", "--deterministic"]
        text = data(window=self.text())

        def losses(*more):
            return self.losses(self.compiled("gpt-char", *options, *more, name="a.weirx"), *text)

        alone = losses("--tp-reduce-dtype", "bf16")
        self.assertNotEqual(alone, losses())
        for mesh in ("tp=2", "dp=2"):
            self.assertEqual(losses("--tp-reduce-dtype", "bf16", "--mesh", mesh), alone)

    def test_gradients_are_exchanged_once(self):
        """And not in each microbatch: of a table that is read twice, and where they are divided by the scale of the loss."""
        options = ["--set", "layers=1", "--set", "width=32", "--set", "context=16", "--set", "batch=32", "--set", "vocab=2000"]

        def exchanged(*more):
            artifact = self.compiled("gpt-char", *options, "--mesh", "dp=2", *more, name="a.weirx")
            return json.loads(self.weir("inspect", "--sharding", "--json", artifact).stdout)["totals"]["dp"]["bytes"]

        for precision in (["bf16"], ["f16", "--loss-scale", "dynamic"], ["f16", "--loss-scale", 1024], ["f16", "--loss-scale", 1024, "--grad-reduce-dtype", "f16"]):
            with self.subTest(precision=precision):
                more = ["--zero", 1, "--precision", *precision]
                self.assertLessEqual(exchanged(*more, "--microbatches", 4), exchanged(*more))

    def test_small_things_are_moved_together(self):
        """A step has collectives of a model's size in bytes, and not one for each of its 52 parameters."""
        for options in (["dp=2"], ["dp=2", "--zero", 1], ["dp=2,tp=2", "--zero", 2]):
            artifact = self.compiled("gpt-char", "--mesh", *options, name="a.weirx")
            totals = json.loads(self.weir("inspect", "--sharding", "--json", artifact).stdout)["totals"]
            self.assertLessEqual(totals["dp"]["times"], 12, options)

    def test_microbatches(self):
        options, rows = ["--set", "hidden=24", "--set", "batch=8", "--microbatches", 2], self.digits(64)
        alone = self.losses(self.compiled("mnist-mlp", *options, name="alone.weirx"), *rows)
        together = self.compiled("mnist-mlp", *options, "--mesh", "dp=2", name="together.weirx")
        self.agree(self.losses(together, *rows), alone)

    def test_batch_statistics_and_dropout(self):
        """They are of the whole batch, and each rank draws what one device does for its rows."""
        options, rows = ["--set", "width=8", "--set", "batch=6"], self.digits(64)
        # Ahead of batch_norm a bias has no gradient but rounding, which Adam makes as large as others: steps diverge.
        alone = self.losses(self.compiled("mnist-cnn", *options, name="alone.weirx"), *rows, steps=3)
        together = self.compiled("mnist-cnn", *options, "--mesh", "dp=2", name="together.weirx")
        self.agree(self.losses(together, *rows, steps=3), alone, delta=1e-4)

    def goes_on(self, fed, alone, *artifacts):
        """Each trains three steps from where the one before it has stopped; one device alone beside them."""

        def losses(folder, *artifacts):
            found = []
            for i, artifact in enumerate(artifacts):
                more = ["--resume", "--extend"] if i else []
                found += self.losses(artifact, *fed, "--checkpoint", self.folder / folder, *more, steps=3 * (i + 1))[-3:]
            return found

        self.agree(losses("kept", *artifacts), losses("beside", *[alone] * len(artifacts)))

    def test_a_run_goes_on_on_another_mesh(self):
        options, rows = ["--set", "hidden=24", "--set", "batch=8"], self.digits(64)
        alone = self.compiled("mnist-mlp", *options, name="alone.weirx")
        two = self.compiled("mnist-mlp", *options, "--mesh", "dp=2", name="two.weirx")
        four = self.compiled("mnist-mlp", *options, "--mesh", "dp=4", name="four.weirx")
        zero = self.compiled("mnist-mlp", *options, "--mesh", "dp=3", "--zero", 3, name="zero.weirx")
        both = self.compiled("mnist-mlp", *options, "--mesh", "dp=2,tp=2", "--zero", 3, name="both.weirx")
        unequal = self.compiled("mnist-mlp", *options, "--mesh", "dp=3:1", "--zero", 1, name="unequal.weirx")
        self.goes_on(rows, alone, two, four, unequal, zero, both, unequal, alone)

    def test_experts_go_on_on_another_mesh(self):
        text = data(window=self.text())
        alone = self.compiled("moe", *MOE, name="alone.weirx")
        experts = self.compiled("moe", *MOE, "--mesh", "ep=2", "--zero", 1, name="experts.weirx")
        rows = self.compiled("moe", *MOE, "--mesh", "dp=2", name="rows.weirx")
        places = self.compiled("moe", *MOE, "--mesh", "cp=2", "--zero", 3, name="places.weirx")
        self.goes_on(text, alone, experts, rows, places, alone, experts)

    def test_inspect(self):
        artifact = self.compiled("mnist-mlp", "--set", "hidden=24", "--set", "batch=8", "--mesh", "dp=2", name="a.weirx")
        self.assertRegex(self.weir("inspect", artifact).stdout, r"\nRanks +dp=2; bytes, kernels and times below are those of the first rank\n")
        self.assertEqual(json.loads(self.weir("inspect", artifact, "--json").stdout)["mesh"], "dp=2")
        self.assertIn('plan.collective all_gather over "dp"', self.weir("inspect", "--plan", artifact).stdout)
        artifact = self.compiled("mnist-mlp", "--set", "hidden=24", "--set", "batch=8", "--mesh", "dp=2", "--zero", 3, name="b.weirx")
        self.assertIn(" gathered from all ranks\n", self.weir("inspect", "--memory", artifact).stdout)

    def test_inspect_sharding(self):
        """How parameters lie, and a collective for each gradient and each gathered parameter."""
        artifact = self.compiled("mnist-mlp", "--set", "hidden=24", "--set", "batch=9", "--mesh", "dp=3", "--zero", 3, name="a.weirx")
        facts = json.loads(self.weir("inspect", artifact, "--sharding", "--json").stdout)
        # Of the ten classes' biases the first has four.
        self.assertEqual((facts["mesh"], [row["ranks"] for row in facts["ranks"]]), ("dp=3", [[0], [1, 2]]))
        parameters = [row for row in facts["variables"] if row["role"] == "parameter"]
        self.assertTrue(parameters)
        for row in parameters:
            self.assertIn("@dp", row["layout"])
            self.assertLessEqual(row["most"], row["bytes"])
        self.assertEqual(facts["totals"]["dp"]["bytes"], sum(row["bytes"] for row in facts["collectives"]))
        self.assertEqual(facts["totals"]["dp"]["times"], sum(row["times"] for row in facts["collectives"]))
        text = self.weir("inspect", artifact, "--sharding").stdout
        self.assertRegex(text, r"(?s)on dp=3\n.* 0 .*\n +1-2 .*all_to_all +dp.*Total over dp: ")
        alone = self.compiled("mnist-mlp", "--set", "hidden=24", "--set", "batch=8", name="b.weirx")
        self.fails(2, "is for one device", "weir", "inspect", alone, "--sharding")

    def test_who_decided(self):
        text = (MODELS / "gpt-char.weir").read_text()
        (self.folder / "pinned.weir").write_text(text + '\nplan { shard "h.*.mlp.c_proj.weight" on tp dim 1 }\n')
        options = ["--set", "layers=2", "--mesh", "dp=2,tp=2", "--zero", 1]
        artifact = self.compiled(self.folder / "pinned", *options, name="p.weirx")
        facts = json.loads(self.weir("inspect", "--sharding", "--json", artifact).stdout)
        why = {row["name"]: row["why"] for row in facts["variables"]}
        self.assertIn("what the model says", why["h.0.mlp.c_proj.weight"])
        self.assertIn("with h.*.attn.c_attn.weight", why["h.0.attn.c_proj.weight"])
        self.assertIn("dp: --zero 1", why["adamw.m/wte.weight"])
        self.assertEqual(why["ln_f.weight"], "")
        values = [row for row in facts["values"] if "attention" in row["ops"]]
        self.assertEqual(["dp: rows of a batch; tp: with h.*.attn.c_attn.weight"], [row["why"] for row in values])

    def test_too_few_heads(self):
        """Heads that are fewer than ranks are computed whole, or cut elsewhere: what is so is said."""
        artifact = self.compiled("gpt-char", "--set", "layers=2", "--mesh", "tp=8", name="h.weirx")
        values = json.loads(self.weir("inspect", "--sharding", "--json", artifact).stdout)["values"]
        attention = [row for row in values if "attention" in row["ops"]]
        self.assertTrue(attention)
        self.assertTrue(all("@tp" not in row["layout"].split()[1] for row in attention), attention)

    def test_ranks_have_the_same_collectives(self):
        """Also where the rows of some, and not of others, are many enough to add up in parts."""
        self.compiled("gpt-char", "--mesh", "dp=8,tp=8", name="a.weirx")

    @weirtest.takes(60)
    def test_tensors_larger_than_a_gpu_indexes(self):
        """2.16e9 elements on four ranks, or on one, are what they are in four microbatches."""
        model = """config batch = 4, rounds = 1
model m(x: [b, r]) -> [b, r] {
  param scale: [27000] = normal(std = 1.0)
  return mean(abs(x[:, :, new] * scale), axes = [2])
}
train {
  input x: [batch, 20000]
  accumulate rounds
  steps 2
  loss mse(m(x), 2.0 * x)
  update sgd(lr = 1e-1)
}
"""
        self.write("large.weir", model)
        numbers = [((i * 7919) % 1000) / 500 - 1 for i in range(8 * 20000)]
        fed = data(x=npy(self.folder / "x.npy", "f", (8, 20000), numbers))
        together = self.compiled(self.folder / "large", "--mesh", "dp=4", name="together.weirx")
        parts = self.compiled(self.folder / "large", "--set", "batch=1", "--set", "rounds=4", name="parts.weirx")
        self.agree(self.losses(together, *fed, steps=2), self.losses(parts, *fed, steps=2))
        # Nor is a parameter whole anywhere, or what its initialiser is computed of.
        parameter = """model m(x: [b, 65536]) -> [b, 32768] {
  param w: [65536, 32768] = normal(std = 0.02)
  return x @ w
}
train {
  input x: [8, 65536]
  input y: [8, 32768]
  steps 2
  loss mse(m(x), y)
  update sgd(lr = 1e-1)
}
"""
        self.write("parameter.weir", parameter)
        self.compiled(self.folder / "parameter", "--mesh", "tp=8", name="parameter.weirx")
        for name, refused in [
            ("parameter", r"2:\d+: error: a tensor of 65536x32768 elements"),
            ("large", "4:19: error: a tensor of 4x20000x27000 elements"),
        ]:
            self.fails(3, f"{name}.weir:{refused} is too large for cuda:sm_90", "weir", "compile", self.folder / f"{name}.weir",
                       "--target", "cuda:sm_90", "-o", self.folder / "no.weirx")  # fmt: skip
        # One CPU computes with as many.
        self.compiled(self.folder / "parameter", name="parameter.weirx")
        alone = self.compiled(self.folder / "large", name="alone.weirx")
        self.agree(self.losses(alone, *fed, steps=2), self.losses(parts, *fed, steps=2))

    def test_a_mesh_of_one(self):
        """It is one device."""
        options, rows = ["--set", "hidden=24", "--set", "batch=8"], self.digits(64)
        one = self.compiled("mnist-mlp", *options, "--mesh", "dp=1,tp=1", name="one.weirx")
        alone = self.compiled("mnist-mlp", *options, name="alone.weirx")
        self.assertEqual(self.losses(one, *rows), self.losses(alone, *rows))
        self.weir("verify", MODELS / "mnist-mlp.weir", *options, "--mesh", "dp=1")

    def test_verify(self):
        """All ranks after each pass, and compiled, beside one device."""
        run = self.weir("verify", MODELS / "mnist-mlp.weir", "--set", "hidden=5", "--set", "batch=5", "--mesh", "dp=2", "--zero", 3)
        self.assertRegex(run.stderr, r"2 ranks of dp=2 run 2 programs")
        self.assertRegex(run.stdout, r"^verified: \d+ passes")
        run = self.weir("verify", MODELS / "mnist-mlp.weir", "--set", "hidden=8", "--set", "batch=8", "--mesh", "dp=3:1", "--zero", 1)
        self.assertRegex(run.stderr, r"2 ranks of dp=3:1 run 2 programs")

    def test_what_is_not_for_ranks(self):
        """It is said before anything is run."""
        artifact = self.compiled("mnist-mlp", "--set", "hidden=24", "--set", "batch=8", "--mesh", "dp=2", name="a.weirx")
        self.fails(2, "--nan trace supports one device.*dp=2", "weir", "run", artifact, *self.digits(32), "--steps", 1, "--nan", "trace")
        self.fails(2, "--check-every-op checks a program of one device.*dp=2", "weir", "run", artifact, *self.digits(32), "--steps", 1, "--check-every-op")
        self.fails(2, "--check-every-op checks a program of one device.*dp=2", "weir", "train", MODELS / "mnist-mlp.weir", *self.digits(32), "--steps", 1,
                   "--mesh", "dp=2", "--check-every-op")  # fmt: skip
        self.fails(2, "--device emulated cannot run", "weir", "run", artifact, *self.digits(32), "--steps", 1, "--device", "emulated")  # fmt: skip
        self.fails(3, "a microbatch has 1 row, too few for the 2 shards of --mesh dp=2", "weir", "compile", MODELS / "mnist-mlp.weir",
                   "--set", "batch=8", "--microbatches", 8, "--mesh", "dp=2", "-o", self.folder / "b.weirx")  # fmt: skip
        self.fails(3, "a microbatch has 2 rows, too few for the 2 shards of --mesh dp=3:1: expected at least one row per shard", "weir", "compile", MODELS / "mnist-mlp.weir",
                   "--set", "batch=2", "--mesh", "dp=3:1", "-o", self.folder / "b.weirx")  # fmt: skip
        self.fails(2, "--memory here is this machine's memory, but --memory is per rank of --mesh dp=2: give the size for one rank", "weir", "compile", MODELS / "mnist-mlp.weir", "--memory", "here",
                   "--mesh", "dp=2", "-o", self.folder / "b.weirx")  # fmt: skip

    def test_what_is_no_mesh(self):
        model = MODELS / "mnist-mlp.weir"
        for mesh, words in (("dp", "not an axis with a size"), ("dp=0", "not a valid size of the axis dp"), ("dp=2,dp=2", "twice")):
            self.fails(2, words, "weir", "compile", model, "--mesh", mesh, "-o", self.folder / "a.weirx")
        self.fails(2, r"xp is not a mesh axis: expected dp \(data parallel\), tp \(tensor parallel\), pp \(pipeline parallel\), ep \(expert parallel\) or cp \(context parallel\)",
                   "weir", "compile", model, "--mesh", "xp=2", "-o", self.folder / "a.weirx")  # fmt: skip
        # No more than that is said: nothing of the compiler's own.
        self.fails(3, r"mnist-mlp.weir:16:1: error: --mesh ep=2 shards experts, but this model has none: [^\n]*; to shard only batches, use dp\n$", "weir",
                   "compile", model, "--mesh", "ep=2", "-o", self.folder / "a.weirx")  # fmt: skip
        self.fails(3, r"mnist-mlp.weir:16:1: error: --mesh cp=2 shards sequences, but this model does not call `attention`: to shard batches, use dp\n$", "weir",
                   "compile", model, "--mesh", "cp=2", "-o", self.folder / "a.weirx")  # fmt: skip
        self.fails(2, "--zero shards over data-parallel ranks, but there is no mesh axis dp, ep or cp: add dp=N to --mesh, or remove --zero", "weir", "compile", model, "--zero", 1,
                   "-o", self.folder / "a.weirx")  # fmt: skip
        self.fails(2, "--context-parallel selects how attention is sharded over cp, but there is no mesh axis cp: add cp=N to --mesh, or remove --context-parallel", "weir", "compile",
                   model, "--mesh", "dp=2", "--context-parallel", "gather", "-o", self.folder / "a.weirx")  # fmt: skip
        self.fails(2, "--no-overlap applies to communication between the ranks of a --mesh, but no --mesh is given", "weir", "compile", model, "--no-overlap",
                   "-o", self.folder / "a.weirx")  # fmt: skip
        self.fails(2, r"--sequence-parallel shards activations between tensor-parallel layers, but there is no mesh axis tp: add tp=N to --mesh", "weir",
                   "compile", model, "--mesh", "dp=2", "--sequence-parallel", "off", "-o", self.folder / "a.weirx")  # fmt: skip

    def test_what_pinned_shards_are_told(self):
        sizes = ["--set", "layers=1", "--set", "width=24", "--set", "context=12", "--set", "batch=8"]
        for lines, mesh, words in (
            (['shard "wpe.weight" on tp dim 0'], "tp=2,cp=2",
             "`wpe.weight` cannot be sharded this way over the 2 ranks of tp: dimension 0 is already sharded over cp; expected another dimension"),
            (['shard "h.*.mlp.c_fc.weight" on tp dim 0', 'shard "h.0.*.c_fc.weight" on tp dim 1'], "tp=2",
             "`h.0.mlp.c_fc.weight` cannot be sharded this way over the 2 ranks of tp: another line shards it along dimension 0; expected a single line for it"),
            (['shard "wpe.weight" on tp dim 0'], "tp=16",
             "`wpe.weight` cannot be sharded this way over the 16 ranks of tp: dimension 0 has size 12; expected at least 16, one per rank"),
        ):  # fmt: skip
            with self.subTest(lines=lines, mesh=mesh):
                model = self.write("pinned.weir", (MODELS / "gpt-char.weir").read_text() + "plan {\n" + "\n".join(lines) + "\n}\n")
                self.fails(3, words, "weir", "compile", model, *sizes, "--mesh", mesh, "-o", self.folder / "a.weirx")

    def test_heads_that_tp_cuts_besides(self):
        self.fails(3, "but there are 4 here: expected at least 8, one per rank of tp and cp, or --context-parallel gather",
                   "weir", "compile", MODELS / "gpt-char.weir", "--mesh", "cp=2,tp=4", "--context-parallel", "all-to-all",
                   "-o", self.folder / "a.weirx")  # fmt: skip

    def test_axes_of_one_rank_cut_nothing(self):
        self.compiled("mnist-mlp", "--mesh", "dp=2,ep=1,cp=1,tp=1,pp=1", name="a.weirx")

    @weirtest.takes(20)
    def test_deterministic_order(self):
        """Sums over several axes are made in one order, however the mesh names them."""
        for mesh in ("cp=2,ep=2", "cp=2,dp=2,ep=2"):
            artifact = self.compiled("moe", *MOE[:-1], "batch=32", "--mesh", mesh, "--deterministic", name="a.weirx")
            self.assertRegex(self.weir("inspect", artifact).stdout, f"\nRanks +ep=2,cp=2,dp=8,tp=8, deterministic on {mesh};")


if __name__ == "__main__":
    weirtest.main()
