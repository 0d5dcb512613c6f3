"""Turns a HEIC by a quarter, anticlockwise: adds the property `irot`, as phones do. Usage: turned-heic.py <in> <out>"""
import struct
import sys

data = bytearray(open(sys.argv[1], 'rb').read())
IROT = struct.pack('>I4sB', 9, b'irot', 1)


def grow(name, by):
    at = data.index(name) - 4
    struct.pack_into('>I', data, at, struct.unpack_from('>I', data, at)[0] + by)
    return at


# The property becomes the last one, and belongs to the primary item.
at = data.index(b'ipco') - 4
size = struct.unpack_from('>I', data, at)[0]
count, end = 0, at + 8
while end < at + size:
    end += struct.unpack_from('>I', data, end)[0]
    count += 1
for name in (b'meta', b'iprp', b'ipco'):
    grow(name, len(IROT))
data[end:end] = IROT
ipma = data.index(b'ipma')
for name in (b'meta', b'iprp', b'ipma'):
    grow(name, 1)
primary = struct.unpack_from('>H', data, data.index(b'pitm') + 8)[0]
at = ipma + 12
while struct.unpack_from('>H', data, at)[0] != primary:
    at += 3 + data[at + 2]
data[at + 2] += 1
data.insert(at + 2 + data[at + 2], 0x80 | (count + 1))

# `iloc` of libheif: version 1, numbers of four bytes. The data of the file has moved; that of `idat` has its own places.
iloc = data.index(b'iloc')
assert data[iloc + 4] == 1 and data[iloc + 8 : iloc + 10] == b'\x44\x40'
at = iloc + 12
for _ in range(struct.unpack_from('>H', data, iloc + 10)[0]):
    in_file = struct.unpack_from('>H', data, at + 2)[0] == 0
    extents = struct.unpack_from('>H', data, at + 10)[0]
    at += 12
    for _ in range(extents):
        if in_file:
            struct.pack_into('>I', data, at, struct.unpack_from('>I', data, at)[0] + len(IROT) + 1)
        at += 8
open(sys.argv[2], 'wb').write(data)
