"""Writes the arrays that run-errors.mlir reads, in .npy's version 1, with the standard library alone."""

import os
import struct
import sys


def write(path, kind, shape, values):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{'d' if kind == '<f8' else 'q'}", *values))


folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
write(f"{folder}/f64.npy", "<f8", (2, 3), [1.5, -2.0, 3.25, 0.1, 5.0, 6.0])
write(f"{folder}/i64.npy", "<i8", (3,), [3, -4, 5])
write(f"{folder}/large.npy", "<i8", (3,), [0, 2**31, 1])
