"""How many digits functions, gradients, sums and optimizers keep, on a CPU and on the emulated GPU, beside f64."""

import json
import math
import re
import struct

import emulated
import numpy as np
import weirtest
from weirtest import floats

ADAM = """
config beta = 0.999
model m(x: [b, 1]) -> [b, 1] {
  param w: [1] = zeros()
  return x * w
}
train {
  input x: [1, 1]
  steps 3
  loss ratio(sum(m(x)), 1)
  lr = constant(0.1)
  update adamw(lr, beta2 = beta, decay = 0.0)
}
"""
LEAST = 2.0**-126  # what is below it may be 0


def logarithmic(low, high, count=3000):
    """A grid of f32 from low to high, with both ends."""
    return np.unique(np.float32(np.exp(np.linspace(math.log(low), math.log(high), count))))


def both(low, high, count=3000):
    return np.concatenate([-logarithmic(low, high, count)[::-1], logarithmic(low, high, count)])


def erf(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def cdf(x):
    return np.vectorize(lambda t: math.erfc(-t / math.sqrt(2)) / 2, otypes=[float])(x)


def density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def sigmoid(x):
    return np.where(x < 0, np.exp(x) / (1 + np.exp(np.minimum(x, 0))), 1 / (1 + np.exp(-np.abs(x))))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def power(exponent):
    """x ^ exponent and its derivative; the exponents are f32."""
    n = float(np.float32(exponent))
    return lambda x: x**n, lambda x: n * x ** float(np.float32(n - 1))


SCALE = 2 * math.sqrt(2 / math.pi)


def inner(x):
    """What gelu_tanh takes the sigmoid of."""
    return SCALE * (x + 0.044715 * x**3)


def gelu_tanh_gradient(x):
    s = sigmoid(inner(x))
    return s + x * s * sigmoid(-inner(x)) * SCALE * (1 + 3 * 0.044715 * x * x)


# Each function: its text, itself and its derivative in f64, the grid, and which bounds it has (docs/reference/language.md, "Digits"): of a
# primitive 4 units in the last place, of the others and of gradients that times the condition number; of a gradient that is computed
# from the output 2^-23.
PRIMITIVE, COMPOSED, FROM_OUTPUT = "primitive", "composed", "from output"
FUNCTIONS = {
    "exp": ("exp(x)", np.exp, np.exp, both(LEAST, 87.3), PRIMITIVE),
    "expm1": ("expm1(x)", np.expm1, np.exp, both(LEAST, 87.3), PRIMITIVE),
    "log": ("log(x)", np.log, lambda x: 1 / x, logarithmic(LEAST, 3e38), PRIMITIVE),
    "log1p": ("log1p(x)", np.log1p, lambda x: 1 / (1 + x),
              np.concatenate([both(LEAST, 0.9999999), logarithmic(1, 3e38)]), PRIMITIVE),
    "log_sigmoid": ("log_sigmoid(x)", lambda x: -softplus(-x), lambda x: sigmoid(-x), both(LEAST, 87.3), PRIMITIVE),
    "sqrt": ("sqrt(x)", np.sqrt, lambda x: 0.5 / np.sqrt(x), logarithmic(LEAST, 3e38), PRIMITIVE),
    "rsqrt": ("rsqrt(x)", lambda x: x**-0.5, lambda x: -0.5 * x**-1.5, logarithmic(1e-25, 3e38), PRIMITIVE),
    "tanh": ("tanh(x)", np.tanh, lambda x: 1 / np.cosh(np.clip(x, -350, 350)) ** 2, both(LEAST, 3e38), FROM_OUTPUT),
    "sigmoid": ("sigmoid(x)", sigmoid, lambda x: sigmoid(x) * sigmoid(-x), both(LEAST, 87.3), PRIMITIVE),
    "sin": ("sin(x)", np.sin, np.cos, both(LEAST, 1e5), PRIMITIVE),
    "cos": ("cos(x)", np.cos, lambda x: -np.sin(x), both(LEAST, 1e5), PRIMITIVE),
    "erf": ("erf(x)", erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), both(LEAST, 9), PRIMITIVE),
    "normal_cdf": ("normal_cdf(x)", cdf, density, both(LEAST, 12.9), COMPOSED),
    "power": ("x ^ 2.7", *power(2.7), logarithmic(1e-14, 1e14), PRIMITIVE),
    "root": ("x ^ (-0.3)", *power(-0.3), logarithmic(1e-25, 1e25), PRIMITIVE),
    "decay": ("0.999 ^ x", lambda x: 0.999**x, lambda x: math.log(0.999) * 0.999**x, logarithmic(LEAST, 8e4), COMPOSED),
    "silu": ("silu(x)", lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * sigmoid(-x)), both(LEAST, 87.3), COMPOSED),
    "gelu": ("gelu(x)", lambda x: x * cdf(x), lambda x: cdf(x) + x * density(x), both(LEAST, 12.9), COMPOSED),
    "gelu_tanh": ("gelu_tanh(x)", lambda x: x * sigmoid(inner(x)), gelu_tanh_gradient, both(LEAST, 9), COMPOSED),
    "softplus": ("softplus(x)", softplus, sigmoid, both(LEAST, 87.3), COMPOSED),
    "focal": ("-log(sigmoid(x))", lambda x: softplus(-x), lambda x: -sigmoid(-x), -logarithmic(LEAST, 87), COMPOSED),
}  # fmt: skip


def units(got, truth):
    """The distance in units of the truth's last place, with what is below the least normal f32 taken for 0."""
    unit = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(truth), LEAST))) - 23)
    distance = np.abs(np.float64(got) - truth) / unit
    return np.where((np.abs(truth) < LEAST) & (np.abs(got) <= LEAST), 0, distance)


def condition(f, x):
    """|x f'(x) / f(x)|, at least 1."""
    step = 1e-6
    with np.errstate(all="ignore"):
        change = np.abs(f(x * (1 + step)) - f(x * (1 - step))) / (2 * step * np.abs(f(x)))
    return np.maximum(1, np.where(np.isfinite(change), change, np.inf))


def write_floats(path, tensors):
    """A safetensors file of float32."""
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [offset, offset + 4 * len(values)]}
        offset += 4 * len(values)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(np.float32(v).tobytes() for v in tensors.values()))


class Digits(emulated.Test):
    def trained_on(self, device, *options, **more):
        run = self.weir if device == "cpu" else lambda *words, **rest: self.emulated(*words, env=emulated.PLAIN, **rest)
        return run("train", *options, **more)

    @weirtest.takes(60)
    @weirtest.depends_on_cpu_level
    @weirtest.each(("cpu", "emulated"))
    def test_functions_and_gradients(self, device):
        """The loss is the sum of f(x) weight, so that the weight's gradient is f(x), and that of x the derivative."""
        text, total, tensors = "model digits(u: [b, 1]) -> ratio {\n", [], {}
        for name, (call, _, _, grid, _) in FUNCTIONS.items():
            text += f"  param {name}_x: [{len(grid)}] = ones()\n  param {name}_w: [{len(grid)}] = ones()\n"
            at = re.sub(r"\bx\b", f"{name}_x", call)
            total.append(f"sum({name}_w * ({at}))")
            tensors[f"{name}_x"], tensors[f"{name}_w"] = grid, np.ones(len(grid))
        text += f"  return ratio({' + '.join(total)} + 0 * sum(u), 1)\n}}\n"
        text += "train {\n  input u: [1, 1]\n  steps 1\n  loss digits(u)\n  lr = constant(0.0)\n  update sgd(lr)\n}\n"
        init, gradients = self.folder / "init.safetensors", self.folder / "g.safetensors"
        write_floats(init, tensors)
        data = weirtest.npy(self.folder / "u.npy", "f", (1, 1), [0.0])
        # The loss may be infinite: what is asked for are the gradients.
        self.trained_on(device, self.write("digits.weir", text), *weirtest.data(u=data), "--init", init, "--gradients", gradients, status=None)
        found = floats(gradients)
        faults = []
        for name, (_, f, derivative, grid, kind) in FUNCTIONS.items():
            x = np.float64(grid)
            for what, truth, got in (("value", f, f"{name}_w"), ("gradient", derivative, f"{name}_x")):
                got = np.float64(found[got][1])
                if kind == FROM_OUTPUT and what == "gradient":
                    worst = np.max(np.abs(got - truth(x))) * 2**23
                    print(f"{device}: {name} {what}: {worst:.2f} x 2^-23")
                    faults += [f"{name} {what}: {worst} x 2^-23"] if not worst <= 1 else []
                    continue
                error = units(got, truth(x))
                bound = 4 * (condition(truth, x) if kind != PRIMITIVE or what == "gradient" else np.ones(len(x)))
                worst = int(np.argmax(error / bound))
                print(f"{device}: {name} {what}: {np.max(error):.2f} units; {error[worst]:.2f} of {bound[worst]:.3g} at {x[worst]:.6g}")
                if not np.all(error <= bound):
                    faults.append(f"{name} {what}: {error[worst]} units of {bound[worst]} at {x[worst]}, not {truth(x)[worst]} but {got[worst]}")
        self.assertEqual(faults, [])

    @weirtest.each(("cpu", "emulated"))
    def test_a_beta_near_one(self, device):
        """With the gradient 1 at every step Adam moves w by the learning rate, whatever its betas: -0.3 after three steps."""
        model = self.write("adam.weir", ADAM)
        data = weirtest.npy(self.folder / "x.npy", "f", (3, 1), [1.0, 1.0, 1.0])
        for beta in (0.99999999, 0.9999999, 0.999999, 0.99999, 0.999, 0.0):
            kept = self.folder / f"kept-{beta}"
            self.trained_on(device, model, "--set", f"beta={beta:.8f}", *weirtest.data(x=data), "--checkpoint", kept)
            (w,) = floats(self.checkpoints(kept)[-1] / "model.safetensors")["w"][1]
            self.assertAlmostEqual(w, -0.3, delta=1e-6, msg=f"beta2 = {beta}")


if __name__ == "__main__":
    weirtest.main()
