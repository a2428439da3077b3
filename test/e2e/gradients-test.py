"""--gradients: what compile, run, train and weir-run do with it. Whether they are right is test/conformance's matter."""

import math

import weirtest
from weirtest import floats, norm


class Gradients(weirtest.Test):
    def rows(self):
        return weirtest.data(window=self.text())

    def test_an_artifact_without_gradients_is_a_usage_error(self):
        artifact = self.folder / "g.weirx"
        self.weir("compile", weirtest.MODELS / "gpt-char.weir", *weirtest.SMALL_GPT, "-o", artifact)
        for tool in (["weir", "run"], ["weir-run"]):
            self.fails(
                2, r"--gradients .*out.safetensors: the artifact of 'gpt' does not output its gradients; compile it with "
                r"`weir compile --gradients`", *tool, artifact, *self.rows(), "--gradients", self.folder / "out.safetensors",
            )  # fmt: skip
        self.assertFalse((self.folder / "out.safetensors").exists())

    def test_they_are_those_of_the_last_step(self):
        """One step after a checkpoint gives what the whole run gave; asking changes no loss."""
        artifact, plain, out = self.folder / "g.weirx", self.folder / "p.weirx", self.folder / "out.safetensors"
        model = [weirtest.MODELS / "gpt-char.weir", *weirtest.SMALL_GPT]
        self.weir("compile", *model, "--gradients", "-o", artifact)
        self.weir("compile", *model, "-o", plain)
        run = [*self.rows(), "--steps", 3, "--threads", 1]
        self.weir_run(artifact, *run, "--gradients", out, "--holdout", 0.1, "--poison", "--metrics", self.folder / "a.jsonl")
        first = out.read_bytes()
        self.weir_run(plain, *run, "--holdout", 0.1, "--metrics", self.folder / "b.jsonl")
        self.assertEqual(self.losses("a.jsonl"), self.losses("b.jsonl"))
        kept = self.folder / "kept"
        self.weir("run", artifact, *run, "--holdout", 0.1, "--checkpoint", kept, "--checkpoint-every", 2, "--gradients", out)
        self.assertEqual(out.read_bytes(), first)
        tensors = floats(out)
        self.assertEqual(tensors["h.1.mlp.c_fc.weight"][0], [128, 32])
        self.assertTrue(all(math.isfinite(x) for _, numbers in tensors.values() for x in numbers))
        total = norm([norm(numbers) for _, numbers in tensors.values()])
        self.assertAlmostEqual(total, self.metrics("a.jsonl")[0][-1]["grad_norm"], delta=1e-5 * total)
        done = self.weir("run", artifact, *run, "--holdout", 0.1, "--checkpoint", kept, "--resume", "--gradients", out)
        self.assertRegex(done.stderr, "there was no step left to run, so Weir writes no gradients")
        self.assertFalse(out.exists())

    def test_a_place_that_cannot_be_written_is_known_before_the_run(self):
        done = self.fails(
            8, r"no/such/g.safetensors: cannot create", "weir", "train", weirtest.MODELS / "gpt-char.weir",
            *weirtest.SMALL_GPT, *self.rows(), "--steps", 1, "--gradients", self.folder / "no/such/g.safetensors",
        )  # fmt: skip
        self.assertNotIn("step 1", done.stderr)

    def test_gradients_that_are_not_finite_are_written_too(self):
        """They say which parameters it came from."""
        model = self.write(
            "m.weir",
            "model m(x: [b, w]) -> [b, 1] {\n  param a: [w] = ones()\n  param c: [1] = zeros()\n"
            "  return sum(sqrt(x * a), axes = [1])[:, new] + c\n}\n"
            "train {\n  input x: [4, 8]\n  steps 1\n  loss mse(m(x), x[:, :1])\n  update sgd(lr = 0.1)\n}\n",
        )
        rows = weirtest.npy(self.folder / "x.npy", "f", (4, 8), [0.0] * 32)
        out = self.folder / "g.safetensors"
        self.fails(5, "not finite", "weir", "train", model, *weirtest.data(x=rows), "--gradients", out)
        tensors = floats(out)
        self.assertTrue(all(math.isnan(x) for x in tensors["a"][1]), tensors)
        self.assertEqual(tensors["c"][1], (0.0,))


if __name__ == "__main__":
    weirtest.main()
