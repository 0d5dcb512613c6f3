"""Creates TIFF files with tags about which libtiff warns."""
import struct, sys

plain = open(sys.argv[1], 'rb').read()
assert plain[:4] == b'II*\0'
start = struct.unpack_from('<I', plain, 4)[0]
count = struct.unpack_from('<H', plain, start)[0]
entries = [struct.unpack_from('<HHI4s', plain, start + 2 + 12 * i) for i in range(count)]


def write(name, directory):
    body = struct.pack('<H', len(directory)) + b''.join(struct.pack('<HHI4s', *each) for each in directory) + bytes(4)
    at = len(plain) + len(plain) % 2
    with open(name, 'wb') as out:
        out.write(plain[:4] + struct.pack('<I', at) + plain[8:] + bytes(at - len(plain)) + body)


# Private tags of several types.
write('tags-private.tif', entries + [(50000, 3, 1, b'\1\0\0\0'), (65000, 2, 4, b'own\0'), (65001, 7, 3, b'abc\0')])
# A count that does not fit the tag, a wrong order, and a repeated tag.
write('tags-odd.tif', [(65002, 3, 1, b'\1\0\0\0')] + entries + [(296, 3, 3, b'\2\0\0\0'), entries[0]])
