"""WEIR_MAX_CPU lowers the level of the machine: programs behave as on a processor of that level."""

import json
import re

import weirtest

MODEL = weirtest.MODELS / "mnist-mlp.weir"
SIZES = ["--set", "hidden=40", "--set", "batch=8"]
V3 = {"WEIR_MAX_CPU": "x86-64-v3"}


class CpuLevel(weirtest.Test):
    def compile(self, name, *options, **more):
        artifact = self.folder / name
        self.weir("compile", MODEL, *SIZES, *options, "-o", artifact, **more)
        return artifact

    def level(self, **more):
        return re.search(r"CPU level: (\S+)", self.weir("--version", **more).stdout)[1]

    def test_the_default_target_is_the_lowered_level(self):
        named = self.compile("named.weirx", "--target", "cpu:x86-64-v3")
        lowered = self.compile("lowered.weirx", env=V3)
        self.assertEqual(self.level(env=V3), "x86-64-v3")
        self.assertEqual(lowered.read_bytes(), named.read_bytes())

    def test_both_programs_have_a_version(self):
        said = self.weir("--version").stdout
        self.assertRegex(said, r"^weir \d+\.\d+\.\d+\nCPU level: x86-64-v\S+\n$")
        for command in (["weir-run"], ["weir-run", "eval"]):
            self.assertEqual(self.run_tool(*command, "--version").stdout, said.replace("weir", "weir-run", 1))

    def test_the_level_is_never_raised(self):
        highest = {"WEIR_MAX_CPU": "x86-64-v4+bf16+amx"}
        own = self.compile("own.weirx", env={"WEIR_MAX_CPU": ""})
        self.assertEqual(self.level(env=highest), self.level(env={"WEIR_MAX_CPU": ""}))
        self.assertEqual(self.compile("highest.weirx", env=highest).read_bytes(), own.read_bytes())

    def test_another_target_can_be_named(self):
        artifact = self.compile("v4.weirx", "--target", "cpu:x86-64-v4", env=V3)
        self.assertRegex(self.weir("inspect", artifact, env=V3).stdout, r"Model +mlp for x86-64-v4;")

    def test_an_artifact_that_needs_more_is_refused(self):
        artifact = self.compile("v4.weirx", "--target", "cpu:x86-64-v4")
        refused = r"the artifact needs a CPU of level x86-64-v4, this one has x86-64-v3(?: \(WEIR_MAX_CPU; without it the processor has x86-64-v4\S*\))?: compile the model again with `--target cpu:x86-64-v3`"
        for tool in (["weir-run"], ["weir", "run"]):
            self.fails(3, refused, *tool, artifact, *self.digits(32), "--steps", 1, env=V3)

    def test_a_lower_level_computes_the_same_bits_everywhere(self):
        """Products included: oneDNN has the artifact's level, and so that of the variable."""
        artifact = self.compile("v3.weirx", "--target", "cpu:x86-64-v3")
        losses = []
        for name, more in (("own", {}), ("lowered", {"env": V3})):
            metrics = self.folder / f"{name}.jsonl"
            self.weir_run(artifact, *self.digits(32), "--steps", 4, "--metrics", metrics, **more)
            losses.append(self.losses(metrics.name))
        self.assertEqual(*losses)

    def test_plans_are_those_of_the_lowered_level(self):
        def seconds(target, **more):
            cluster = self.write("cluster.toml", f"""[[devices]]
kind = "cpu"
target = "{target}"
count = 2
[[links]]
name = "memory"
devices = 2
bandwidth = "5GB/s"
latency = "20us"
""")
            said = self.weir("plan", MODEL, *SIZES, "--cluster", cluster, "--mesh", "dp=2", "--precision", "bf16", "--json", **more)
            return [plan["seconds"] for plan in json.loads(said.stdout)["plans"]]

        self.assertEqual(seconds("cpu", env=V3), seconds("cpu:x86-64-v3"))
        self.assertNotEqual(seconds("cpu:x86-64-v3"), seconds("cpu:x86-64-v4+bf16"))

    @weirtest.depends_on_cpu_level
    @weirtest.each(["mnist-mlp", "mnist-cnn", "gpt-char"])
    def test_verified(self, model):
        """Here, and once more where CI lowers the level: verify-test.py takes all models, and too long for that."""
        for precision in ("f32", "bf16"):
            done = self.weir("verify", weirtest.MODELS / f"{model}.weir", *weirtest.small(model)[0], "--precision", precision)
            self.assertIn("verified:", done.stdout)

    def test_a_value_that_is_no_level(self):
        expected = "the environment variable WEIR_MAX_CPU is 'avx2': expected x86-64-v3, x86-64-v4, x86-64-v4\\+bf16, x86-64-v4\\+bf16\\+amx\n"
        for command in (["weir", "compile", MODEL, "-o", self.folder / "none.weirx"], ["weir-run", "none.weirx"], ["weir", "plan", MODEL],
                        ["weir-check", "none.mlir"], ["weir-opt", "none.mlir"], ["weir-smith"]):  # fmt: skip
            self.fails(2, expected, *command, env={"WEIR_MAX_CPU": "avx2"})
        self.assertFalse((self.folder / "none.weirx").exists())


if __name__ == "__main__":
    weirtest.main()
