"""Every kernel of programs for GPUs does on the emulated one, with every check on, what the interpreter does."""

import json
import pathlib

import emulated
import weirtest
from emulated import GPT, PLAIN
from weirtest import MODELS, SHIPPED, SMALL_GPT, small


class Cuda(emulated.Test):
    @weirtest.takes(30)
    @weirtest.each(SHIPPED)
    def test_every_kernel(self, name):
        """Each action against the interpreter, each result against the program, and the graph against launches one by one."""
        for sizes in small(name):
            with self.subTest(sizes=sizes):
                done = self.emulated("verify", MODELS / f"{name}.weir", *sizes)
                self.assertRegex(done.stdout, r"verified: .* results with gradients\n")

    @weirtest.takes(20)
    @weirtest.each(weirtest.half(SHIPPED))
    def test_bf16(self, name):
        """The others run in bf16 in cuda-runs-test."""
        self.emulated("verify", MODELS / f"{name}.weir", *small(name)[0], "--precision", "bf16")

    def test_microbatches_begin_anywhere(self):
        model = pathlib.Path(__file__).resolve().parent / "models" / "slices-of-microbatches.weir"
        for target in ("cuda", "cuda+none"):
            self.emulated("verify", model, target=target)

    # Linear layers, convolutions, products over other axes, and one for each expert; the other sizes are ProductTest's
    # (test/codegen/cuda) and the random programs'.
    @weirtest.takes(20)
    @weirtest.each(("gpt-char", "mixer", "mnist-cnn", "moe"))
    def test_generated_kernels_alone(self, name):
        self.emulated("verify", MODELS / f"{name}.weir", *small(name)[0], target="cuda+none", env=PLAIN)

    @weirtest.takes(20)
    def test_tf32(self):
        """f32 in memory, and factors rounded where tensor cores read them."""
        for name in ("gpt-char", "mnist-mlp"):
            with self.subTest(model=name):
                self.emulated("verify", MODELS / f"{name}.weir", *small(name)[0], "--precision", "tf32")
        self.fails(2, r"--precision tf32: x86-64-\S+ cannot multiply tf32; .*--target cuda", "weir", "compile",
                   GPT, "--precision", "tf32", "-o", self.folder / "a.weirx")  # fmt: skip
        self.weir("compile", GPT, "--precision", "tf32", "--target", "cuda", "-o", self.folder / "a.weirx")
        said = self.weir("inspect", "--precision", self.folder / "a.weirx").stdout
        self.assertRegex(said, r"it multiplies f32 rounded to tf32, its sums are f32")

    @weirtest.takes(30)
    def test_products_of_f8(self):
        """Every product of a step whose sizes 16 divides is cuBLASLt's, of factors of eight bits; with others, and where nothing is
        known of the GPU, of bf16."""
        for sizes, target, count in ((["vocab=96"], "cuda:sm_90", 27), ([], "cuda:sm_90", 24), (["vocab=96"], "cuda", 0)):
            with self.subTest(sizes=sizes, target=target):
                model = [GPT, *SMALL_GPT, *(word for size in sizes for word in ("--set", size)), "--precision", "f8"]
                self.weir("compile", *model, "--target", target, "-o", self.folder / "a.weirx")
                report = json.loads(self.weir("inspect", "--json", self.folder / "a.weirx").stdout)
                products = [call["what"] for call in report["calls"] if call["entry"] == "step" for _ in range(call["times"])]
                self.assertEqual(len(products), 27)
                self.assertEqual(sum(", scaled" in what and "f8e4m3 to " in what for what in products), count)
                if not sizes or (not count and not weirtest.ALL):
                    continue  # its kernels are of the same kinds
                options = [*model, *weirtest.data(window=self.text()), "--steps", 2, "--seed", 1]
                expected = self.trained("cpu", *options)
                run = lambda *args: self.emulated(*args, target=target)
                self.assert_close(self.trained("checked", *options, run=run), expected, loss=1e-2, gradient=1e-1)
        self.emulated("verify", GPT, *SMALL_GPT, "--set", "vocab=96", "--precision", "f8", target="cuda:sm_90")

    @weirtest.takes(60)
    @weirtest.each(("cuda", "cuda+none"))
    def test_random_programs(self, target):
        done = self.run_tool("weir-smith", "--target", target, "--device", "emulated", "--seed", 900000, "--count", 8, "--jobs", 1,
                             env=dict(PLAIN, WEIR_KERNEL_CACHE=self.cache), timeout=600)  # fmt: skip
        self.assertRegex(done.stdout, r"8 programs")


if __name__ == "__main__":
    weirtest.main()
