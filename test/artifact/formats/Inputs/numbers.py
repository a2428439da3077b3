# The npy file of [[1], [2], [3], [4]].
import struct
import sys

header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }"
header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4))
