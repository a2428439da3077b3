# Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the GPU benchmark trains, in which sizes and on which data. The standard library alone: a kit carries this file."""

import array
import dataclasses
import hashlib
import re
import struct

OWN = "test/bench/gpu/models"


@dataclasses.dataclass(frozen=True)
class Case:
    """A model file in given sizes: every config that its peers need is named."""

    model: str
    sizes: dict
    precision: str = "bf16"

    @property
    def per_row(self):
        """What a row of the batch counts as: tokens of a text, else one sample."""
        return self.sizes.get("context", 1)

    @property
    def unit(self):
        return "tokens" if "context" in self.sizes else "samples"


GPT, LLAMA, RESNET, VIT = "models/gpt-char.weir", "models/llama.weir", f"{OWN}/resnet50.weir", f"{OWN}/vit-base.weir"

# What is timed. 50,304 is GPT-2's 50,257 tokens and as many unused ones as make a multiple of 128; the peers have them too.
# The llama has the sizes of TinyLlama (Zhang et al., 2024): 1.1 billion parameters.
TIMED = {
    "gpt2-124m": Case(GPT, dict(vocab=50304, context=1024, layers=12, heads=12, width=768, batch=32)),
    "llama-1b": Case(LLAMA, dict(vocab=32000, context=2048, layers=22, heads=32, groups=4, width=2048, hidden=5632, batch=4)),
    "vit-base": Case(VIT, dict(batch=128, side=224, classes=1000, patch=16, layers=12, heads=12, width=768)),
    "resnet50": Case(RESNET, dict(batch=256, side=224, classes=1000, width=64, blocks1=3, blocks2=4, blocks3=6, blocks4=3)),
}  # fmt: skip

# The same in sizes that any machine takes, to try the scripts.
SMALL = {
    "gpt2-124m": Case(GPT, dict(vocab=33, context=16, layers=2, heads=2, width=32, batch=4)),
    "llama-1b": Case(LLAMA, dict(vocab=33, context=16, layers=1, heads=4, groups=2, width=32, hidden=24, batch=4)),
    "vit-base": Case(VIT, dict(batch=4, side=16, classes=10, patch=8, layers=1, heads=2, width=16)),
    "resnet50": Case(RESNET, dict(batch=4, side=32, classes=10, width=4, blocks1=1, blocks2=1, blocks3=1, blocks4=1)),
}

# What is compared with the CPU beside the shipped models: the timed models' own widths, with less of everything else.
CUT = {
    "gpt2-cut": Case(GPT, dict(vocab=1000, context=128, layers=2, heads=12, width=768, batch=2)),
    "llama-cut": Case(LLAMA, dict(vocab=1000, context=128, layers=1, heads=32, groups=4, width=2048, hidden=1408, batch=2)),
    "vit-cut": Case(VIT, dict(batch=4, side=64, classes=100, patch=16, layers=2, heads=12, width=768)),
    "resnet50-cut": Case(RESNET, dict(batch=8, side=64, classes=100, width=16, blocks1=2, blocks2=1, blocks3=1, blocks4=1)),
}  # fmt: skip


def configs_of(text, sizes):
    """Every config of a model's text, as given or by default."""
    values = {}
    for line in re.findall(r"^config (.*?)(?://.*)?$", text, re.M):
        for name, value in re.findall(r"(\w+) = ([^,\s]+)", line):
            values[name] = float(value) if "." in value else int(value)
    return values | sizes


def inputs_of(text, sizes):
    """The recipe's inputs: name -> element type, shape of one row, and the number below which its integers stay."""
    values = configs_of(text, sizes)
    found = {}
    for name, element, dims in re.findall(r"^  input +(\w+): *(\w*)\[(.*)\]", text, re.M):
        row = [eval(dim, {"__builtins__": {}}, dict(values)) for dim in dims.split(",")[1:]]
        found[name] = dict(element=element, row=row, limit=256 if element == "u8" else values.get("vocab", values.get("classes")))
    return found


def draw(name, count):
    """That many bytes, the same everywhere and always."""
    return hashlib.shake_256(name.encode()).digest(count)


def integers(name, count):
    return [number[0] for number in struct.iter_unpack("<I", draw(name, 4 * count))]


def write_npy(path, element, shape, content):
    dtype = {"i32": "<i4", "u8": "|u1"}[element]
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(content)


def write_inputs(folder, inputs, rows):
    """The files of a run, which say something of what is to be learnt: --data options.

    Tokens follow from the one before but for a little chance. Labels are drawn; an image of the first label is darkest.
    """
    options = []
    labels = integers("labels", rows)
    for name, entry in inputs.items():
        size = 1
        for extent in entry["row"]:
            size *= extent
        if entry["element"] == "u8":
            classes = next((e["limit"] for e in inputs.values() if e["element"] == "i32"), 1)
            content = bytearray()
            for row in range(rows):
                base = labels[row] % classes * 128 // classes
                content += draw(f"{name} {row}", size).translate(bytes(base + value // 2 for value in range(256)))
        elif not entry["row"]:
            content = array.array("i", [label % entry["limit"] for label in labels]).tobytes()
        else:
            content, chance = array.array("i"), integers(name, rows * size)
            for place, number in enumerate(chance):
                content.append(((5 * content[-1] if place % size else number) + 1 + number % 3) % entry["limit"])
            content = content.tobytes()
        path = folder / f"{name}.npy"
        write_npy(path, entry["element"], [rows, *entry["row"]], content)
        options += ["--data", f"{name}={path}"]
    return options


def convolutions(sizes):
    """Multiply-adds of ResNet-50's convolutions and last layer for one image."""
    total, side, channels = 0, sizes["side"], 3

    def conv(filters, kernel, stride, inputs):
        nonlocal total, side
        side = (side + 2 * (kernel // 2) - kernel) // stride + 1
        total += side * side * filters * inputs * kernel * kernel

    conv(sizes["width"], 7, 2, channels)
    side, channels = (side + 1) // 2, sizes["width"]
    for stage in range(4):
        filters = sizes["width"] << stage
        for block in range(sizes[f"blocks{stage + 1}"]):
            stride = 2 if stage and not block else 1
            if not block:
                before = side
                conv(4 * filters, 1, stride, channels)
                side = before
            conv(filters, 1, 1, channels)
            conv(filters, 3, stride, filters)
            conv(4 * filters, 1, 1, filters)
            channels = 4 * filters
    return total + channels * sizes["classes"]


def flops_per_row(case):
    """Of a training step, for one row of the batch: two for each multiply-add of the model's own mathematics, three times for
    forward and backward, and nothing for what is computed again.

    Transformers as Chowdhery et al., "PaLM", 2022, appendix B: 6 N + 12 L W T a token, where N are the parameters that are
    multiplied, L the layers, W their width and T the positions; what a causal mask leaves out is counted, as is usual.
    """
    s = case.sizes
    if case.model == RESNET:
        return 6 * convolutions(s)
    layers, width = s["layers"], s["width"]
    if case.model == VIT:
        patches = (s["side"] // s["patch"]) ** 2
        tokens = patches + 1
        weights = layers * 12 * width * width
        return 6 * (tokens * weights + patches * 3 * s["patch"] ** 2 * width + width * s["classes"]) + 12 * layers * width * tokens**2
    if case.model == LLAMA:
        narrow = s["groups"] * width // s["heads"]
        weights = layers * (2 * width * width + 2 * width * narrow + 3 * width * s["hidden"])
    else:
        weights = layers * 12 * width * width
    context = s["context"]
    return context * (6 * (weights + width * s["vocab"]) + 12 * layers * width * context)
