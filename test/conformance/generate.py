#!/usr/bin/env python3
"""Makes the golden files of conformance-test.py with JAX, in float64, on the CPU.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install jax numpy xxhash
    /tmp/golden/bin/python test/conformance/generate.py            # writes test/conformance/golden/*.safetensors
    /tmp/golden/bin/python test/conformance/generate.py --check    # compares with what is there

The models are written a second time here, as anyone would write them in JAX: jax.grad, no code and no formula of Weir's. What
has to agree to the bit is the random numbers of dropout; they are made as weir.random is specified (docs/reference/ops.md).

A golden file holds, in float32: `gradient/NAME`, of step 1's loss, summed over microbatches, before clipping; `after/NAME`, the
parameters and running averages after step 1; and in float64 `losses` and `rates`, of ten steps.
"""

import argparse
import functools
import sys

import golden
import jax
import jax.numpy as jnp
import numpy as np
import xxhash

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


# ---- layers ----


def linear(p, name, x):
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def layer_norm(p, name, x):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def cross_entropy_sum(logits, labels):
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)
    return -jnp.sum(picked)


# ---- gpt-char ----


def gpt_shapes(c):
    w = c["width"]
    shapes = {"wte.weight": (c["vocab"], w), "wpe.weight": (c["context"], w)}

    def add(name, out, inputs):
        shapes[f"{name}.weight"] = (out, inputs)
        shapes[f"{name}.bias"] = (out,)

    def norm(name):
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (w,)

    for i in range(c["layers"]):
        norm(f"h.{i}.ln_1")
        add(f"h.{i}.attn.c_attn", 3 * w, w)
        add(f"h.{i}.attn.c_proj", w, w)
        norm(f"h.{i}.ln_2")
        add(f"h.{i}.mlp.c_fc", 4 * w, w)
        add(f"h.{i}.mlp.c_proj", w, 4 * w)
    norm("ln_f")
    return shapes


def gpt_loss(c, p, states, batch, draws):
    window = batch["window"]
    tokens, targets = window[:, :-1], window[:, 1:]
    b, t = tokens.shape
    heads, size = c["heads"], c["width"] // c["heads"]
    x = p["wte.weight"][tokens] + p["wpe.weight"][:t]
    for i in range(c["layers"]):
        qkv = linear(p, f"h.{i}.attn.c_attn", layer_norm(p, f"h.{i}.ln_1", x))
        q, k, v = (part.reshape(b, t, heads, size) for part in jnp.split(qkv, 3, axis=-1))
        scores = jnp.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(size)
        scores = jnp.where(np.tri(t, dtype=bool), scores, -jnp.inf)
        y = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), v).reshape(b, t, heads * size)
        x = x + linear(p, f"h.{i}.attn.c_proj", y)
        hidden = jax.nn.gelu(linear(p, f"h.{i}.mlp.c_fc", layer_norm(p, f"h.{i}.ln_2", x)), approximate=True)
        x = x + linear(p, f"h.{i}.mlp.c_proj", hidden)
    logits = layer_norm(p, "ln_f", x) @ p["wte.weight"].T
    return cross_entropy_sum(logits, targets) / targets.size, states


# ---- mnist-mlp ----


def mlp_shapes(c):
    h = c["hidden"]
    return {
        "fc1.weight": (h, 784), "fc1.bias": (h,),
        "fc2.weight": (h, h), "fc2.bias": (h,),
        "head.weight": (c["classes"], h), "head.bias": (c["classes"],),
    }  # fmt: skip


def mlp_loss(c, p, states, batch, draws):
    x = batch["images"].reshape(-1, 784) / 255.0
    x = jax.nn.relu(linear(p, "fc1", x))
    x = jax.nn.relu(linear(p, "fc2", x))
    return cross_entropy_sum(linear(p, "head", x), batch["labels"]) / batch["labels"].size, states


# ---- mnist-cnn ----


def cnn_shapes(c):
    f, w = c["filters"], c["width"]
    shapes = {}
    for i, (out, inputs) in enumerate([(f, 1), (2 * f, f)], start=1):
        shapes[f"stage{i}.conv.weight"] = (out, inputs, 3, 3)
        shapes[f"stage{i}.norm.weight"] = shapes[f"stage{i}.norm.bias"] = (out,)
    shapes |= {"fc.weight": (w, 2 * f * 49), "fc.bias": (w,)}
    shapes |= {"head.weight": (c["classes"], w), "head.bias": (c["classes"],)}
    return shapes


def cnn_states(c):
    states = {}
    for i, size in ((1, c["filters"]), (2, 2 * c["filters"])):
        states[f"stage{i}.norm.running_mean"] = np.zeros(size)
        states[f"stage{i}.norm.running_var"] = np.ones(size)
    return states


def cnn_loss(c, p, states, batch, draws):
    """Of all microbatches: each normalises by its own statistics, and the count that divides is that of all."""
    microbatches = c["microbatches"]
    states = dict(states)
    total = 0.0
    for r in range(microbatches):
        rows = slice(r * c["batch"], (r + 1) * c["batch"])
        x = batch["images"][rows, None] / 255.0
        for stage in ("stage1", "stage2"):
            x = jax.lax.conv_general_dilated(x, p[f"{stage}.conv.weight"], (1, 1), [(1, 1), (1, 1)])
            mean, variance = jnp.mean(x, axis=(0, 2, 3)), jnp.var(x, axis=(0, 2, 3))
            count = x.shape[0] * x.shape[2] * x.shape[3]
            for state, value in (("mean", mean), ("var", variance * count / (count - 1))):
                name = f"{stage}.norm.running_{state}"
                states[name] = 0.9 * states[name] + 0.1 * jax.lax.stop_gradient(value)

            def channels(v):
                return v[:, None, None]

            x = (x - channels(mean)) / jnp.sqrt(channels(variance) + 1e-5)
            x = x * channels(p[f"{stage}.norm.weight"]) + channels(p[f"{stage}.norm.bias"])
            x = jax.nn.relu(x)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = jax.nn.relu(linear(p, "fc", x.reshape(x.shape[0], -1)))
        x = jnp.where(draws[r] >= 0.1, x / 0.9, 0.0)
        total += cross_entropy_sum(linear(p, "head", x), batch["labels"][rows])
    return total / batch["labels"].size, states


def uniform_draws(key, seed, step, first, shape):
    """Weir's uniform numbers of one draw: Philox4x32-10 (Salmon et al., SC 2011) in 64-bit integers.

    The key is (seed, step), the counter the element's index (from `first` on, 64 bits) and what the draw is for (64 bits).
    """
    mask = np.uint64(0xFFFFFFFF)
    count = int(np.prod(shape))
    element = np.arange(first, first + count, dtype=np.uint64)
    word = [element & mask, element >> np.uint64(32), *(np.full(count, v, np.uint64) for v in (key & 0xFFFFFFFF, key >> 32))]
    k0, k1 = np.uint64(seed), np.uint64(step)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * word[0], np.uint64(0xCD9E8D57) * word[2]
        word = [(b >> np.uint64(32)) ^ word[1] ^ k0, b & mask, (a >> np.uint64(32)) ^ word[3] ^ k1, a & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return ((word[0] >> np.uint64(8)).astype(np.float64) * 2.0**-24).reshape(shape)


def cnn_draws(c, step):
    """For the first draw of the model's own instance, whose path is empty: one tensor per microbatch, indices counting on."""
    key = xxhash.xxh3_64_intdigest(b"draw/#0")
    shape = (c["batch"], c["width"])
    return [uniform_draws(key, golden.SEED, step, r * shape[0] * shape[1], shape) for r in range(c["microbatches"])]


# ---- training ----


def cosine(step, peak, warmup, floor, total):
    warmup = min(warmup, total // 4)
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    return floor + 0.5 * (1 + np.cos(np.pi * (step - warmup) / (total - warmup))) * (peak - floor)


class AdamW:
    def __init__(self, beta2, decay):
        self.beta2, self.decay, self.m, self.v, self.t = beta2, decay, {}, {}, 0

    def __call__(self, parameters, gradients, rate):
        self.t += 1
        after = {}
        for name, p in parameters.items():
            g = gradients[name]
            self.m[name] = 0.9 * self.m.get(name, 0.0) + 0.1 * g
            self.v[name] = self.beta2 * self.v.get(name, 0.0) + (1 - self.beta2) * g * g
            m, v = self.m[name] / (1 - 0.9**self.t), self.v[name] / (1 - self.beta2**self.t)
            after[name] = p - rate * (m / (jnp.sqrt(v) + 1e-8) + self.decay(p) * p)
        return after


def clipped(gradients, limit):
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients.values()))
    return {name: g * jnp.minimum(1.0, limit / (norm + 1e-6)) for name, g in gradients.items()}


MODELS = {
    "gpt-char": dict(
        shapes=gpt_shapes, loss=gpt_loss, clip=1.0,
        optimizer=lambda: AdamW(0.99, lambda p: 0.1 if p.ndim >= 2 else 0.0),
    ),
    "mnist-mlp": dict(shapes=mlp_shapes, loss=mlp_loss, optimizer=lambda: AdamW(0.999, lambda p: 0.01)),
    "mnist-cnn": dict(
        shapes=cnn_shapes, loss=cnn_loss, states=cnn_states, draws=cnn_draws,
        optimizer=lambda: AdamW(0.999, lambda p: 0.01),
    ),
}  # fmt: skip


def train(case):
    model, configs = MODELS[case.name], case.configs
    parameters = {n: jnp.asarray(golden.initial(n, s), jnp.float64) for n, s in model["shapes"](configs).items()}
    states = model.get("states", lambda c: {})(configs)
    rows = golden.data(case)
    optimizer = model["optimizer"]()
    step_of = jax.jit(jax.value_and_grad(functools.partial(model["loss"], configs), has_aux=True))
    result, losses, rates = {}, [], []
    for step in range(golden.STEPS):
        batch = {n: jnp.asarray(a[step * case.rows : (step + 1) * case.rows]) for n, a in rows.items()}
        draws = model["draws"](configs, step) if "draws" in model else None
        (loss, states), gradients = step_of(parameters, states, batch, draws)
        losses.append(float(loss))
        rates.append(cosine(step, 1e-3, 100, 1e-4, golden.STEPS))
        used = clipped(gradients, model["clip"]) if "clip" in model else gradients
        parameters = optimizer(parameters, used, rates[-1])
        if step == 0:
            result |= {f"gradient/{n}": np.asarray(g, np.float32) for n, g in gradients.items()}
            result |= {f"after/{n}": np.asarray(p, np.float32) for n, p in (parameters | states).items()}
    return result | {"losses": np.array(losses), "rates": np.array(rates)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    check = parser.parse_args().check
    golden.FOLDER.mkdir(exist_ok=True)
    bad = 0
    for case in golden.CASES:
        made = train(case)
        if not check:
            golden.write_safetensors(case.file, made)
            print(f"{case.file}: {len(made)} tensors, {case.file.stat().st_size} bytes; losses {made['losses']}")
            continue
        stored = golden.read_safetensors(case.file)
        if list(stored) != list(made):
            bad += 1
            print(f"{case.file}: holds other tensors than are made now", file=sys.stderr)
            continue
        worst = max(
            (np.linalg.norm(made[n] - stored[n]) / max(np.linalg.norm(made[n]), 1e-9), n) for n in made
        )
        print(f"{case.file}: the largest relative difference is {worst[0]:.2g}, of {worst[1]}")
        bad += worst[0] > 1e-5
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
