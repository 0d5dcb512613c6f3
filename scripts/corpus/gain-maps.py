"""Makes photos with a gain map, as phones store them, turned by a quarter clockwise. Usage: gain-maps.py <folder>

Needs ImageMagick, heif-enc, and avifenc of libavif 1.1 or later with libxml2. The upper left quarter of the stored picture is red,
and bright in the map.
"""
import os
import struct
import subprocess
import sys
import tempfile

FOLDER = sys.argv[1]
TEMP = tempfile.mkdtemp()


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def drawn(name, width, height, ground, ink):
    path = f'{TEMP}/{name}'
    box = f'rectangle 0,0 {width // 2 - 1},{height // 2 - 1}'
    run('convert', '-size', f'{width}x{height}', f'xc:{ground}', '-fill', ink, '-draw', box, '-strip', '-define', 'png:bit-depth=8', '-quality', '90', path)
    return path


def bytes_of(path):
    with open(path, 'rb') as file:
        return file.read()


def written(name, data):
    with open(f'{FOLDER}/{name}', 'wb') as file:
        file.write(data)


# EXIF: an orientation, and the notes of an iPhone. Tag 33 is the headroom, tag 48 the gain: 3 - 70 x 0.005 = 2.65 stops.
def exif(orientation, of_apple=True):
    if not of_apple:
        return b'MM\0*' + struct.pack('>IHHHIHHI', 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    notes = b'Apple iOS\0\0\1MM' + struct.pack('>HHHIIHHIII', 2, 33, 10, 1, 44, 48, 10, 1, 52, 0)
    notes += struct.pack('>iIiI', 12, 10, 5, 1000)
    ifd = struct.pack('>HHHIHHHHIII', 2, 0x0112, 3, 1, orientation, 0, 0x8769, 4, 1, 38, 0)
    sub = struct.pack('>HHHIII', 1, 0x927C, 7, len(notes), 56, 0)
    return b'MM\0*' + struct.pack('>I', 8) + ifd + sub + notes


# HEIC of iPhones before iOS 18: the gain map is an auxiliary image.
def box(kind, *content):
    data = b''.join(content)
    return struct.pack('>I', len(data) + 8) + kind.encode() + data


def full(kind, version, flags, *content):
    return box(kind, struct.pack('>I', version << 24 | flags), *content)


def inside(data, *kinds):
    """The content of nested boxes."""
    for kind in kinds:
        at = data.index(kind.encode())
        size = struct.unpack_from('>I', data, at - 4)[0]
        data = data[at + 4 : at - 4 + size]
    return data


def heic_image(path):
    """The properties and the bytes of the only image of a file."""
    run('heif-enc', '-q', '80', path, '-o', f'{TEMP}/one.heic')
    data = bytes_of(f'{TEMP}/one.heic')
    ipco = inside(data, 'ipco')
    properties = [box(kind, inside(ipco, kind)) for kind in ('hvcC', 'ispe', 'pixi')]
    return properties, inside(data, 'mdat')


def apple_heic():
    base, pixels = heic_image(drawn('base.png', 2688, 1536, '#808080', '#f00000'))
    grey, values = heic_image(drawn('map.png', 672, 384, 'gray(0)', 'gray(255)'))
    kind = full('auxC', 0, 0, b'urn:com:apple:photo:2020:aux:hdrgainmap\0')
    turn = box('irot', b'\3')
    ipco = base + grey + [kind, turn]
    block = struct.pack('>I', 6) + b'Exif\0\0' + exif(1)
    data = [pixels, values, block]
    entry = lambda item, flags, name: full('infe', 2, flags, struct.pack('>HH', item, 0), name + b'\0')

    def meta(start):
        places, at = b'', start
        for item, part in enumerate(data, 1):
            places += struct.pack('>HHHII', item, 0, 1, at, len(part))
            at += len(part)
        return full(
            'meta', 0, 0,
            full('hdlr', 0, 0, bytes(4), b'pict', bytes(13)),
            full('pitm', 0, 0, b'\0\1'),
            full('iinf', 0, 0, b'\0\3', entry(1, 0, b'hvc1'), entry(2, 1, b'hvc1'), entry(3, 1, b'Exif')),
            full('iref', 0, 0, box('auxl', struct.pack('>HHH', 2, 1, 1)), box('cdsc', struct.pack('>HHH', 3, 1, 1))),
            box(
                'iprp',
                box('ipco', *ipco),
                full('ipma', 0, 0, bytes([0, 0, 0, 2, 0, 1, 4, 0x81, 2, 3, 0x88, 0, 2, 5, 0x84, 5, 6, 7, 0x88])),
            ),
            full('iloc', 0, 0, b'\x44\0', struct.pack('>H', 3), places),
        )

    ftyp = box('ftyp', b'heic\0\0\0\0mif1heic')
    written('heic-gainmap.heic', ftyp + meta(len(ftyp) + len(meta(0)) + 8) + box('mdat', *data))


# JPEG: the gain map is a second image, listed in an index.
def segment(marker, data):
    return struct.pack('>BBH', 0xFF, marker, len(data) + 2) + data


def xmp(attributes, elements=''):
    rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    return segment(
        0xE1,
        b'http://ns.adobe.com/xap/1.0/\0'
        + f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF {rdf}><rdf:Description rdf:about="" {attributes}>{elements}</rdf:Description></rdf:RDF></x:xmpmeta>'.encode(),
    )


def with_index(base, before, second, order='>'):
    start = b'\xff\xd8' + before
    index_bytes = 90
    whole = len(start) + index_bytes + len(base) - 2
    offset = whole - (len(start) + 8)
    packed = lambda kinds, *values: struct.pack(order + kinds, *values)
    index = b'MPF\0' + (b'MM\0*' if order == '>' else b'II*\0')
    index += packed('IH', 8, 3) + packed('HHI4s', 0xB000, 7, 4, b'0100')
    index += packed('HHII', 0xB001, 4, 1, 2) + packed('HHII', 0xB002, 7, 32, 50) + bytes(4)
    index += packed('IIIHH', 0x030000, whole, 0, 0, 0) + packed('IIIHH', 0, len(second), offset, 0, 0)
    return start + segment(0xE2, index) + base[2:] + second


def jpegs():
    base = bytes_of(drawn('base.jpg', 512, 256, '#808080', '#f00000'))
    grey = bytes_of(drawn('map.jpg', 128, 64, 'gray(0)', 'gray(255)'))
    described = segment(0xE1, b'Exif\0\0' + exif(6))
    of_apple = xmp(
        'xmlns:apdi="http://ns.apple.com/pixeldatainfo/1.0/" apdi:AuxiliaryImageType="urn:com:apple:photo:2020:aux:hdrgainmap" '
        'xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" HDRGainMap:HDRGainMapVersion="65536"'
    )
    written('jpeg-iphone-gainmap.jpg', with_index(base, described, grey[:2] + of_apple + grey[2:]))
    name = 'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"'
    gains = xmp(
        f'{name} hdrgm:GainMapMin="-0.5" hdrgm:Gamma="1.25" hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.03125" '
        'hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2.25" hdrgm:BaseRenditionIsHDR="False"',
        '<hdrgm:GainMapMax><rdf:Seq><rdf:li>2.5</rdf:li><rdf:li>2.25</rdf:li><rdf:li>2</rdf:li></rdf:Seq></hdrgm:GainMapMax>',
    )
    described = segment(0xE1, b'Exif\0\0' + exif(6, of_apple=False))
    written('jpeg-adobe-gainmap.jpg', with_index(base, described + xmp(name), grey[:2] + gains + grey[2:], '<'))


apple_heic()
jpegs()
run(
    *[os.environ.get('AVIFENC', 'avifenc'), '-q', '80', '--qgain-map', '80', '-s', '6', '--ignore-xmp'],
    *[f'{FOLDER}/jpeg-adobe-gainmap.jpg', f'{FOLDER}/avifenc-gainmap.avif'],
)
