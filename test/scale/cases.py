# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compiled at its real size, and for what. Nothing here is run."""

import dataclasses
import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = "test/scale/models"
GPT, LLAMA, GRU = "models/gpt-char.weir", "models/llama.weir", "models/gru.weir"
V3, V4, CUDA = "cpu:x86-64-v3", "cpu:x86-64-v4", "cuda"


@dataclasses.dataclass(frozen=True)
class Case:
    """A model file in given sizes, and options of `weir compile` that leave nothing to the machine that compiles."""

    model: str
    target: str
    sizes: dict
    options: tuple = ()
    large: bool = False  # minutes rather than seconds: not in CI

    @property
    def is_mesh(self):
        return "--mesh" in self.options

    def command(self):
        """What `weir` is given, from the repository's root: an artifact has the path of its model."""
        sets = [word for name, value in self.sizes.items() for word in ("--set", f"{name}={value}")]
        return ["compile", self.model, "--target", self.target, "--threads", "8", *sets, *self.options]


def timed_on_gpus():
    """The benchmark's own cases, for any GPU: without NVRTC."""
    spec = importlib.util.spec_from_file_location("gpu_cases", ROOT / "test/bench/gpu/cases.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    return {name: Case(case.model, CUDA, case.sizes, ("--precision", case.precision)) for name, case in bench.TIMED.items()}


def llama(mesh, zero, layers, width, hidden, heads, groups, vocab, context, batch, more=(), large=False):
    """On several GPUs, in bf16."""
    sizes = dict(
        vocab=vocab, context=context, layers=layers, heads=heads, groups=groups, width=width, hidden=hidden, batch=batch
    )
    options = ("--precision", "bf16", "--mesh", mesh, "--zero", str(zero), *more)
    return Case(LLAMA, CUDA, sizes, options, large)


def llama_1024(mesh, zero):
    return llama(mesh, zero, layers=8, width=1024, hidden=2816, heads=16, groups=4, vocab=32000, context=2048, batch=16)


def llama_of_few_tokens(zero, microbatches):
    """A step whose scratch memory is gradients and gathered parameters, not activations: ZeRO's part of the memory."""
    sizes = dict(context=64, layers=8, heads=16, groups=16, width=1024, hidden=2816, batch=16 * microbatches)
    return Case(LLAMA, CUDA, sizes, ("--mesh", "dp=8", "--zero", str(zero), "--microbatches", str(microbatches)))


# Sizes of Touvron et al., "LLaMA", 2023 (7B), and of Dubey et al., "The Llama 3 herd of models", 2024 (70B, 405B).
def llama_7b(zero):
    return llama("dp=64", zero, layers=32, width=4096, hidden=11008, heads=32, groups=32, vocab=32000, context=4096, batch=64, large=True)  # fmt: skip


def llama_70b(zero, mesh="dp=64,tp=8", batch=64, *more):
    return llama(mesh, zero, layers=80, width=8192, hidden=28672, heads=64, groups=8, vocab=128256, context=8192, batch=batch, more=more, large=True)  # fmt: skip


# With its batch of 16 million tokens.
def llama_405b(zero):
    return llama("dp=1024,tp=16", zero, layers=126, width=16384, hidden=53248, heads=128, groups=8, vocab=128256, context=8192, batch=2048, large=True)  # fmt: skip


GPT6 = dict(vocab=65, context=256, layers=6, heads=6, width=384, batch=64)
GPT12 = dict(vocab=50304, context=1024, layers=12, heads=12, width=768, batch=8)

CASES = {
    **timed_on_gpus(),
    "gpt-6x384-v3": Case(GPT, V3, GPT6),
    "gpt-6x384-v4": Case(GPT, V4, GPT6),
    "gpt-12x768-v3": Case(GPT, V3, GPT12),
    "gpt-12x768-v4": Case(GPT, V4, GPT12),
    "llama-1024x8-dp8-zero0": llama_1024("dp=8", 0),
    "llama-1024x8-dp8-zero1": llama_1024("dp=8", 1),
    "llama-1024x8-dp8-zero3": llama_1024("dp=8", 3),
    "llama-1024x8-few-tokens-zero1": llama_of_few_tokens(1, 1),
    "llama-1024x8-few-tokens-zero2-microbatches": llama_of_few_tokens(2, 4),
    "llama-1024x8-few-tokens-zero3": llama_of_few_tokens(3, 1),
    "llama-1024x8-dp2-tp4": llama_1024("dp=2,tp=4", 0),
    "chain-of-norms": Case(f"{MODELS}/chain-of-norms.weir", V3, dict(k=20)),
    "concat-of-slices": Case(f"{MODELS}/concat-of-slices.weir", V3, {}),
    "gru-256-steps": Case(GRU, V3, dict(context=256)),
    "llama-7b-64-ranks-zero1": llama_7b(1),
    "llama-7b-64-ranks-zero3": llama_7b(3),
    "llama-70b-512-ranks-zero1": llama_70b(1),
    "llama-70b-512-ranks-zero3": llama_70b(3),
    "llama-70b-512-ranks-zero3-recompute": llama_70b(3, "dp=512", 512, "--recompute", "layers.*"),
    "llama-405b-16384-ranks-zero1": llama_405b(1),
    "llama-405b-16384-ranks-zero3": llama_405b(3),
}  # fmt: skip
