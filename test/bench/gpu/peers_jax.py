#!/usr/bin/env python3
# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A step of a timed model in JAX, as who wants it fast has it: one jitted function with donated state, bf16 products over f32
parameters, cuDNN's attention, images with channels last.

    python3 peers_jax.py --case gpt2-124m
    python3 peers_jax.py --case vit-base --small --device cpu

The models are those of the same name in cases.py, op for op, with the same optimizer and clipping. Batches lie on the device
beforehand. JAX alone: no Flax, no Optax. Prints one JSON object.
"""

import argparse
import json
import math
import os
import statistics
import time

import cases

BF16 = "bfloat16"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=list(cases.TIMED), required=True)
    parser.add_argument("--small", action="store_true", help="in sizes that any machine takes")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    case = (cases.SMALL if options.small else cases.TIMED)[options.case]
    os.environ["JAX_PLATFORMS"] = options.device
    # Another program's memory is not to be had by taking all of it at the start.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    print(json.dumps(measure(case, options)))


def parameters(case):
    """name -> (shape, standard deviation, or the number that all elements are)."""
    s, p = case.sizes, {}
    if case.model == cases.RESNET:

        def conv_bn(name, inputs, filters, kernel):
            p[f"{name}.conv"] = ((kernel, kernel, inputs, filters), math.sqrt(2 / (kernel * kernel * filters)))
            p[f"{name}.weight"], p[f"{name}.bias"] = ((filters,), "ones"), ((filters,), "zeros")

        conv_bn("stem", 3, s["width"], 7)
        inputs = s["width"]
        for stage in range(4):
            filters = s["width"] << stage
            for block in range(s[f"blocks{stage + 1}"]):
                name = f"{stage}.{block}"
                conv_bn(f"{name}.one", inputs, filters, 1)
                conv_bn(f"{name}.two", filters, filters, 3)
                conv_bn(f"{name}.three", filters, 4 * filters, 1)
                if inputs != 4 * filters or (stage and not block):
                    conv_bn(f"{name}.around", inputs, 4 * filters, 1)
                inputs = 4 * filters
        p["head.weight"], p["head.bias"] = ((inputs, s["classes"]), 0.01), ((s["classes"],), "zeros")
        return p

    width, llama, vit = s["width"], case.model == cases.LLAMA, case.model == cases.VIT
    residual = 0.02 if vit else 0.02 / math.sqrt(2 * s["layers"])

    def dense(name, inputs, outputs, std=0.02):
        p[f"{name}.weight"] = ((inputs, outputs), std)
        if not llama:
            p[f"{name}.bias"] = ((outputs,), "zeros")

    def norm(name):
        p[f"{name}.weight"] = ((width,), "ones")
        if not llama:
            p[f"{name}.bias"] = ((width,), "zeros")

    for layer in range(s["layers"]):
        narrow = s.get("groups", s["heads"]) * width // s["heads"]
        norm(f"{layer}.norm1")
        norm(f"{layer}.norm2")
        dense(f"{layer}.qkv", width, width + 2 * narrow)
        dense(f"{layer}.out", width, width, residual)
        if llama:
            dense(f"{layer}.gate", width, s["hidden"])
            dense(f"{layer}.up", width, s["hidden"])
            dense(f"{layer}.down", s["hidden"], width, residual)
        else:
            dense(f"{layer}.up", width, 4 * width)
            dense(f"{layer}.down", 4 * width, width, residual)
    norm("norm")
    if vit:
        p["patches.weight"] = ((s["patch"], s["patch"], 3, width), 0.02)
        p["patches.bias"] = ((width,), "zeros")
        p["first"] = ((1, 1, width), 0.02)
        p["positions"] = (((s["side"] // s["patch"]) ** 2 + 1, width), 0.02)
        dense("head", width, s["classes"])
    else:
        p["tokens"] = ((s["vocab"], width), 0.02)
        if llama:
            dense("head", width, s["vocab"])
        else:
            p["positions"] = ((s["context"], width), 0.02)
    return p


def loss_function(case, flash):
    """(parameters, state, *batch) -> loss, new state; the state is batch normalisation's. `flash` says whose attention."""
    import jax
    import jax.numpy as jnp

    s, llama = case.sizes, case.model == cases.LLAMA

    def dense(p, name, x):
        y = x.astype(BF16) @ p[f"{name}.weight"].astype(BF16)
        return y + p[f"{name}.bias"].astype(BF16) if f"{name}.bias" in p else y

    def norm(p, name, x):
        x = x.astype(jnp.float32)
        if llama:
            y = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
            return (y * p[f"{name}.weight"]).astype(BF16)
        mean = x.mean(-1, keepdims=True)
        y = (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
        return (y * p[f"{name}.weight"] + p[f"{name}.bias"]).astype(BF16)

    def rotary(x):
        size, t = x.shape[-1], x.shape[1]
        angle = jnp.arange(t)[:, None] * 10000.0 ** (jnp.arange(size // 2) * (-2.0 / size))
        cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
        a, b = jnp.split(x.astype(jnp.float32), 2, -1)
        return jnp.concatenate((a * cos - b * sin, b * cos + a * sin), -1).astype(BF16)

    def attention(p, name, x, causal):
        b, t, width = x.shape
        size, groups = width // s["heads"], s.get("groups", s["heads"])
        q, k, v = jnp.split(dense(p, f"{name}.qkv", x), [width, width + groups * size], -1)
        q, k, v = (y.reshape(b, t, -1, size) for y in (q, k, v))
        if llama:
            q, k = rotary(q), rotary(k)
        y = jax.nn.dot_product_attention(q, k, v, is_causal=causal, implementation=flash)
        return dense(p, f"{name}.out", y.reshape(b, t, width))

    def layers(p, x, causal, gelu):
        for layer in range(s["layers"]):
            x = x + attention(p, f"{layer}", norm(p, f"{layer}.norm1", x), causal)
            y = norm(p, f"{layer}.norm2", x)
            up = dense(p, f"{layer}.up", y)
            x = x + dense(p, f"{layer}.down", jax.nn.silu(dense(p, f"{layer}.gate", y)) * up if llama else gelu(up))
        return norm(p, "norm", x)

    def cross_entropy(logits, labels):
        logits = logits.astype(jnp.float32)
        taken = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - taken).mean()

    def text(p, state, window):
        tokens, targets = window[:, :-1], window[:, 1:]
        x = p["tokens"][tokens]
        if not llama:
            x = x + p["positions"]
        x = layers(p, x, True, lambda y: jax.nn.gelu(y, approximate=True))
        return cross_entropy(dense(p, "head", x) if llama else x @ p["tokens"].T.astype(BF16), targets), state

    def convolution(x, w, stride, padding):
        return jax.lax.conv_general_dilated(
            x.astype(BF16), w.astype(BF16), (stride, stride), [(padding, padding)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def pixels(images):
        return images.astype(jnp.float32) / 255 - 0.5

    def vit(p, state, images, labels):
        x = convolution(pixels(images), p["patches.weight"], s["patch"], 0) + p["patches.bias"].astype(BF16)
        x = x.reshape(len(x), -1, s["width"])
        first = jnp.broadcast_to(p["first"].astype(x.dtype), (len(x), 1, s["width"]))
        x = jnp.concatenate((first, x), 1) + p["positions"]
        x = layers(p, x, False, lambda y: jax.nn.gelu(y, approximate=False))
        return cross_entropy(dense(p, "head", x[:, 0]), labels), state

    def resnet(p, state, images, labels):
        after = {}

        def conv_bn(name, x, stride=1):
            w = p[f"{name}.conv"]
            y = convolution(x, w, stride, w.shape[0] // 2).astype(jnp.float32)
            mean, square = y.mean((0, 1, 2)), (y * y).mean((0, 1, 2))
            var = square - mean * mean
            count = y.size / y.shape[-1]
            old = state[name]
            after[name] = jnp.stack((0.9 * old[0] + 0.1 * mean, 0.9 * old[1] + 0.1 * var * count / (count - 1)))
            scale = p[f"{name}.weight"] * jax.lax.rsqrt(var + 1e-5)
            return (y * scale + (p[f"{name}.bias"] - mean * scale)).astype(BF16)

        x = jax.nn.relu(conv_bn("stem", pixels(images), 2))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
        for stage in range(4):
            for block in range(s[f"blocks{stage + 1}"]):
                name, stride = f"{stage}.{block}", 2 if stage and not block else 1
                y = jax.nn.relu(conv_bn(f"{name}.one", x))
                y = jax.nn.relu(conv_bn(f"{name}.two", y, stride))
                y = conv_bn(f"{name}.three", y)
                around = conv_bn(f"{name}.around", x, stride) if f"{name}.around.conv" in p else x
                x = jax.nn.relu(around + y)
        return cross_entropy(dense(p, "head", x.mean((1, 2))), labels), after

    return {cases.RESNET: resnet, cases.VIT: vit}.get(case.model, text)


def step_function(case, flash):
    """(parameters, state, optimizer's state, number of the step, *batch) -> the first three, and the loss."""
    import jax
    import jax.numpy as jnp

    loss_of = loss_function(case, flash)
    beta2, decay = {cases.GPT: (0.99, 0.1), cases.LLAMA: (0.95, 0.1), cases.VIT: (0.999, 0.05)}.get(case.model, (0, 0))

    def sgd(p, g, m, number):
        m = {n: 0.9 * m[n] + g[n] + 1e-4 * p[n] for n in p}
        return {n: p[n] - 0.1 * m[n] for n in p}, m

    def adamw(p, g, moments, number):
        norm = jnp.sqrt(sum(jnp.sum(x * x) for x in g.values()))
        scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
        t, fresh, updated = number + 1.0, {}, {}
        for name in p:
            m, v = moments[name]
            clipped = g[name] * scale
            m = 0.9 * m + 0.1 * clipped
            v = beta2 * v + (1 - beta2) * clipped * clipped
            fresh[name] = (m, v)
            update = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - beta2**t)) + 1e-8)
            updated[name] = p[name] - 1e-3 * (update + (decay if p[name].ndim >= 2 else 0.0) * p[name])
        return updated, fresh

    def step(p, state, moments, number, *batch):
        (loss, state), g = jax.value_and_grad(loss_of, has_aux=True)(p, state, *batch)
        p, moments = (sgd if case.model == cases.RESNET else adamw)(p, g, moments, number)
        return p, state, moments, number + 1.0, loss

    return jax.jit(step, donate_argnums=(0, 1, 2, 3))


def batches(case):
    """Two batches, which take turns."""
    import jax
    import jax.numpy as jnp

    s, found = case.sizes, []
    for number in range(2):
        one, two = jax.random.split(jax.random.key(number))
        if "context" in s:
            found.append((jax.random.randint(one, (s["batch"], s["context"] + 1), 0, s["vocab"]),))
        else:
            shape = (s["batch"], s["side"], s["side"], 3)
            images = jax.random.randint(one, shape, 0, 256).astype(jnp.uint8)
            found.append((images, jax.random.randint(two, (s["batch"],), 0, s["classes"])))
    return found


def measure(case, options):
    import jax
    import jax.numpy as jnp

    start = time.perf_counter()
    p, state = {}, {}
    for number, (name, (shape, std)) in enumerate(parameters(case).items()):
        if isinstance(std, str):
            p[name] = jnp.ones(shape) if std == "ones" else jnp.zeros(shape)
        else:
            p[name] = std * jax.random.normal(jax.random.fold_in(jax.random.key(1), number), shape)
    if case.model == cases.RESNET:
        state = {n[: -len(".conv")]: jnp.stack((jnp.zeros(x.shape[-1]), jnp.ones(x.shape[-1]))) for n, x in p.items() if n.endswith(".conv")}
        moments = {n: jnp.zeros_like(x) for n, x in p.items()}
    else:
        moments = {n: (jnp.zeros_like(x), jnp.zeros_like(x)) for n, x in p.items()}
    count = sum(x.size for x in p.values())
    data, number = batches(case), jnp.zeros(())
    flash, why = ("cudnn" if options.device == "cuda" else None), None
    step = step_function(case, flash)
    try:
        p, state, moments, number, loss = step(p, state, moments, number, *data[0])
    except (NotImplementedError, RuntimeError, ValueError) as failure:  # not for every length of a sequence
        if not flash:
            raise
        flash, why = None, str(failure)[:300]
        step = step_function(case, flash)
        p, state, moments, number, loss = step(p, state, moments, number, *data[0])
    first, compiled = float(loss), time.perf_counter() - start
    for turn in range(2 if options.small else 6):
        p, state, moments, number, loss = step(p, state, moments, number, *data[turn % 2])
    loss.block_until_ready()
    rounds, each = (2, 2) if options.small else (5, 8)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for turn in range(each):
            p, state, moments, number, loss = step(p, state, moments, number, *data[turn % 2])
        loss.block_until_ready()
        times.append(1e3 * (time.perf_counter() - start) / each)
    memory = jax.devices()[0].memory_stats() or {}
    return {
        "peer": "jax", "version": jax.__version__, "step_ms": statistics.median(times), "fastest_ms": min(times),
        "compile_s": compiled, "first_loss": first, "last_loss": float(loss), "parameters": count,
        "memory_bytes": memory.get("peak_bytes_in_use"), "attention": flash or "xla", "why_not_cudnn": why,
    }  # fmt: skip


if __name__ == "__main__":
    main()
