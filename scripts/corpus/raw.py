"""Writes RAW files of cameras, with a JPEG as their preview and other bytes as their pixels.

The directories have the structure that the cameras of each maker write: exiftool finds the same previews. Each photo is
48 x 36 px and red at the top; its orientation is 6, so that it is shown with 36 x 48 px and red at the right."""
import subprocess

BYTE, ASCII, SHORT, LONG, UNDEFINED = 1, 2, 3, 4, 7
SIZES = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, UNDEFINED: 1}
TURNED = 6


def jpeg(size):
    command = ['convert', '-size', size, 'gradient:red-blue', '-quality', '85', '-sampling-factor', '4:4:4', 'jpg:-']
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


PHOTO = jpeg('48x36')
SMALL = jpeg('16x12')
# A lossless JPEG, as Canon and Adobe store the pixels of the sensor, longer than the preview.
LOSSLESS = b'\xff\xd8\xff\xc3\0\x0b\x0e\0\x24\0\x30\1\1\x11\0' + bytes(range(256)) * 8 + b'\xff\xd9'


class Tiff:
    """Bytes of a TIFF. The first directory follows the header; it is written last."""

    def __init__(self, order, version, first_fields, extra=b''):
        self.order = order
        head = (b'II' if order == 'little' else b'MM') + version + self.number(8 + len(extra), 4) + extra
        self.first = len(head)
        self.bytes = bytearray(head + bytes(2 + 12 * first_fields + 4))

    def number(self, value, size):
        return value.to_bytes(size, self.order)

    def put(self, data):
        self.bytes += bytes(len(self.bytes) % 2)
        self.bytes += data
        return len(self.bytes) - len(data)

    def fields(self, fields, following, base):
        table = self.number(len(fields), 2)
        for tag, kind, value in sorted(fields):
            values = value if isinstance(value, (list, bytes)) else [value]
            data = values if isinstance(values, bytes) else b''.join(self.number(v, SIZES[kind]) for v in values)
            count = len(data) // SIZES[kind]
            inside = data.ljust(4, b'\0') if len(data) <= 4 else self.number(self.put(data) - base, 4)
            table += self.number(tag, 2) + self.number(kind, 2) + self.number(count, 4) + inside
        return table + self.number(following, 4)

    def directory(self, fields, following=0, base=0):
        return self.put(self.fields(fields, following, base))

    def finish(self, fields, following=0):
        table = self.fields(fields, following, 0)
        self.bytes[self.first:self.first + len(table)] = table
        return bytes(self.bytes)


def camera(make, model):
    return [(271, ASCII, make + b'\0'), (272, ASCII, model + b'\0'), (274, SHORT, TURNED)]


def named(tiff, data):
    return [(513, LONG, tiff.put(data)), (514, LONG, len(data))]


def strip(tiff, data, compression):
    return [(259, SHORT, compression), (273, LONG, tiff.put(data)), (279, LONG, len(data))]


def size(width=48, height=36):
    return [(256, LONG, width), (257, LONG, height)]


def canon_cr2():
    tiff = Tiff('little', b'*\0', 8, b'CR\2\0\0\0\0\0')
    raw = tiff.directory(strip(tiff, LOSSLESS, 6))
    thumb = tiff.directory(named(tiff, SMALL), raw)
    return tiff.finish(size() + camera(b'Canon', b'Canon EOS 350D DIGITAL') + strip(tiff, PHOTO, 6), thumb)


def nikon_nef():
    tiff = Tiff('big', b'\0*', 10)
    preview = tiff.directory([(254, LONG, 1), (259, SHORT, 6)] + named(tiff, PHOTO))
    raw = tiff.directory([(254, LONG, 0)] + size(96, 72) + strip(tiff, bytes(range(256)) * 16, 34713))
    fields = size(2, 2) + camera(b'NIKON CORPORATION', b'NIKON D70') + strip(tiff, bytes(12), 1)
    return tiff.finish(fields + [(254, LONG, 1), (330, LONG, [preview, raw])])


def sony_arw():
    tiff = Tiff('little', b'*\0', 9)
    raw = tiff.directory([(254, LONG, 0)] + size(96, 72) + strip(tiff, bytes(range(256)) * 16, 32767))
    thumb = tiff.directory([(254, LONG, 1)] + named(tiff, SMALL))
    fields = [(254, LONG, 1), (259, SHORT, 6), (330, LONG, raw), (50740, BYTE, [0, 1, 0, 0])]
    return tiff.finish(fields + camera(b'SONY', b'ILCE-7M3') + named(tiff, PHOTO), thumb)


def pentax_pef():
    tiff = Tiff('big', b'\0*', 9)
    preview = tiff.directory(named(tiff, PHOTO))
    thumb = tiff.directory(named(tiff, SMALL), preview)
    pixels = strip(tiff, bytes(range(256)) * 16, 65535)
    return tiff.finish(size(96, 72) + pixels + [(262, SHORT, 32803)] + camera(b'PENTAX', b'PENTAX K-5'), thumb)


def adobe_dng():
    tiff = Tiff('little', b'*\0', 11)
    raw = tiff.directory([(254, LONG, 0), (262, SHORT, 32803)] + size(96, 72) + strip(tiff, LOSSLESS, 7))
    preview = tiff.directory([(254, LONG, 1), (262, SHORT, 6)] + size() + strip(tiff, PHOTO, 7))
    fields = [(254, LONG, 1), (330, LONG, [raw, preview]), (50706, BYTE, [1, 4, 0, 0])]
    return tiff.finish(fields + size(2, 2) + camera(b'Leica', b'M10') + strip(tiff, bytes(12), 1))


def olympus_orf():
    tiff = Tiff('little', b'RO', 9)
    note = b'OLYMPUS\0II\3\0'
    at = tiff.put(note + bytes(2 + 12 + 4 + 2 + 36 + 4) + PHOTO)
    settings = len(note) + 18
    start = settings + 42
    within = Tiff('little', b'', 0)
    table = within.fields([(0x2020, LONG, settings)], 0, 0)
    table += within.fields([(256, LONG, 1), (257, LONG, start), (258, LONG, len(PHOTO))], 0, 0)
    length = start + len(PHOTO)
    tiff.bytes[at + len(note):at + len(note) + len(table)] = table
    exif = tiff.directory([(37500, UNDEFINED, bytes(tiff.bytes[at:at + length]))])
    fields = size(96, 72) + strip(tiff, bytes(range(256)) * 16, 1) + [(34665, LONG, exif)]
    return tiff.finish(fields + camera(b'OLYMPUS IMAGING CORP.', b'E-M5'))


def panasonic_rw2():
    tiff = Tiff('little', b'U\0', 4, bytes.fromhex('88e774d8f8251d4d947a6e77822b5d6a'))
    fields = camera(b'Panasonic', b'DMC-LX3')
    return tiff.finish(fields + [(46, UNDEFINED, PHOTO)])


def fuji_raf():
    exif = b'Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\3\0\0\0\1\0' + bytes([TURNED]) + bytes(6)
    photo = PHOTO[:2] + b'\xff\xe1' + (len(exif) + 2).to_bytes(2, 'big') + exif + PHOTO[2:]
    head = b'FUJIFILMCCD-RAW 0201FF383501' + b'FinePix S5Pro'.ljust(32, b'\0') + b'0100' + bytes(20)
    return head + (108).to_bytes(4, 'big') + len(photo).to_bytes(4, 'big') + bytes(16) + photo + bytes(256)


def box(kind, *contents):
    content = b''.join(contents)
    return (8 + len(content)).to_bytes(4, 'big') + kind + content


def canon_cr3():
    tiff = Tiff('little', b'*\0', 5)
    version = box(b'CNCV', b'CanonCR3_001/00.09.00/00.00.00')
    notes = box(b'CMT1', tiff.finish(size() + camera(b'Canon', b'Canon EOS M50')))
    canon = box(b'uuid', bytes.fromhex('85c0b687820f11e08111f4ce462b6a48'), version, notes)

    def track(at, length):
        places = box(b'co64', bytes(4), (1).to_bytes(4, 'big'), at.to_bytes(8, 'big'))
        sizes = box(b'stsz', bytes(4), length.to_bytes(4, 'big'), (1).to_bytes(4, 'big'))
        return box(b'trak', box(b'mdia', box(b'minf', box(b'stbl', sizes, places))))

    small = box(b'PRVW', bytes(4) + b'\0\1\0\x10\0\x0c\0\1' + len(SMALL).to_bytes(4, 'big'), SMALL)
    preview = box(b'uuid', bytes.fromhex('eaf42b5e1c984b88b9fbb7dc406e4d16'), bytes(8), small)
    start = box(b'ftyp', b'crx \0\0\0\1crx isom')
    pixels = bytes(range(256)) * 16

    def moov(at):
        return box(b'moov', canon, track(at, len(PHOTO)), track(at + len(PHOTO), len(pixels)))

    at = len(start + moov(0) + preview) + 8
    return start + moov(at) + preview + box(b'mdat', PHOTO, pixels)


for make in (canon_cr2, canon_cr3, nikon_nef, sony_arw, pentax_pef, adobe_dng, olympus_orf, panasonic_rw2, fuji_raf):
    extension = make.__name__.split('_')[1]
    with open(f'camera.{extension}', 'wb') as file:
        file.write(make())
