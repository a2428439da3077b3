"""What generate.py and conformance-test.py share: the cases, and the weights and data that both make from a formula.

Golden files hold results alone (gradients, losses, updated variables). Inputs are a function of their name and index, so
that they need not be stored: numpy's own random distributions may change between its versions, integer arithmetic does not.
"""

import dataclasses
import json
import pathlib
import struct
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(__file__).resolve().parent / "golden"
STEPS = 10
SEED = 1


@dataclasses.dataclass(frozen=True)
class Case:
    """A model at small sizes: no width or length is a multiple of a vector."""

    model: str
    configs: dict
    inputs: dict  # name -> (numpy type, shape of a row, exclusive upper limit)
    rows: int  # of a step

    @property
    def name(self):
        return self.model

    @property
    def file(self):
        return FOLDER / f"{self.model}.safetensors"


def _digits(classes):
    return {"images": (np.uint8, (28, 28), 256), "labels": (np.int32, (), classes)}


CASES = [
    Case(
        "gpt-char",
        {"vocab": 65, "context": 17, "layers": 2, "heads": 4, "width": 40, "batch": 3},
        {"window": (np.int32, (18,), 65)},
        rows=3,
    ),
    Case("mnist-mlp", {"hidden": 41, "batch": 7, "classes": 10}, _digits(10), rows=7),
    # Two microbatches of five: statistics of the batch are a microbatch's, running averages go through both.
    Case(
        "mnist-cnn",
        {"filters": 7, "width": 33, "batch": 5, "microbatches": 2, "classes": 10},
        _digits(10),
        rows=10,
    ),
]


def _bits(name, count):
    """64 well-mixed bits for each index: splitmix64 (Steele, Lea and Flood, OOPSLA 2014), begun at the name's CRC."""
    with np.errstate(over="ignore"):
        z = np.uint64(zlib.crc32(name.encode())) << np.uint64(32)
        z = (z + np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def initial(name, shape):
    """The parameter `name` before the first step, float32. None is a constant, so that no factor can be lost unseen."""
    count = int(np.prod(shape))
    unit = (_bits(name, count) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0  # in [-1, 1)
    if len(shape) >= 2:
        values = unit * np.sqrt(3.0 / np.prod(shape[1:]))
    elif name.endswith("weight"):
        values = 1.0 + 0.25 * unit
    else:
        values = 0.25 * unit
    return values.reshape(shape).astype(np.float32)


def data(case):
    """The rows of all steps, for each input."""
    found = {}
    for name, (dtype, shape, limit) in case.inputs.items():
        shape = (STEPS * case.rows, *shape)
        bits = _bits(f"{case.name}/{name}", int(np.prod(shape))) >> np.uint64(33)
        found[name] = (bits % np.uint64(limit)).astype(dtype).reshape(shape)
    return found


_DTYPES = {"F64": np.float64, "F32": np.float32, "I32": np.int32, "U8": np.uint8, "BOOL": np.bool_}


def write_safetensors(path, tensors):
    """Name -> array, in their order; the same bytes for the same tensors."""
    header, offset, parts = {}, 0, []
    for name, array in tensors.items():
        array = np.asarray(array, order="C")
        dtype = next(k for k, v in _DTYPES.items() if array.dtype == v)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
        parts.append(array.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read_safetensors(path):
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = content[8 + length + begin : 8 + length + end]
        tensors[name] = np.frombuffer(raw, _DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors
