# A copy of an artifact with another format version: version.py VERSION FROM TO
import struct
import sys

with open(sys.argv[2], "rb") as file:
    artifact = bytearray(file.read())
artifact[8:12] = struct.pack("<I", int(sys.argv[1]))
with open(sys.argv[3], "wb") as file:
    file.write(artifact)
