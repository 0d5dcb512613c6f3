"""Creates office documents, a database, the header of a class file and similar files with Python's own libraries."""
import sqlite3, os, zipfile

OOXML = {
    'docx': ('word/document.xml', 'wordprocessingml.document'), 'dotx': ('word/document.xml', 'wordprocessingml.template'),
    'xlsx': ('xl/workbook.xml', 'spreadsheetml.sheet'), 'xltx': ('xl/workbook.xml', 'spreadsheetml.template'),
    'pptx': ('ppt/presentation.xml', 'presentationml.presentation'), 'ppsx': ('ppt/presentation.xml', 'presentationml.slideshow'),
    'potx': ('ppt/presentation.xml', 'presentationml.template'),
}
MACROS = {'docm': ('word/document.xml', 'ms-word.document'), 'xlsm': ('xl/workbook.xml', 'ms-excel.sheet'),
          'pptm': ('ppt/presentation.xml', 'ms-powerpoint.presentation')}


def archive(name, entries):
    with zipfile.ZipFile(name, 'w') as out:
        for path, content in entries:
            out.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), content)


def office(name, part, media_type, last=False):
    types = ('[Content_Types].xml', '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
             f'content-types"><Override PartName="/{part}" ContentType="{media_type}.main+xml"/></Types>')
    body = [(part, '<a/>'), ('docProps/app.xml', '<a/>' * 2000)]
    archive(name, body + [types] if last else [types] + body)


for ext, (part, kind) in OOXML.items():
    office(f'office.{ext}', part, f'application/vnd.openxmlformats-officedocument.{kind}')
for ext, (part, kind) in MACROS.items():
    office(f'office.{ext}', part, f'application/vnd.{kind}.macroEnabled')
office('types-last.docx', 'word/document.xml', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', True)
for ext, kind in {'odt': 'text', 'ods': 'spreadsheet', 'odp': 'presentation', 'odg': 'graphics', 'ott': 'text-template',
                  'ots': 'spreadsheet-template', 'otp': 'presentation-template'}.items():
    archive(f'office.{ext}', [('mimetype', f'application/vnd.oasis.opendocument.{kind}'), ('content.xml', '<a/>')])
archive('book.epub', [('mimetype', 'application/epub+zip'), ('META-INF/container.xml', '<a/>')])
for ext, stream in {'doc': 'WordDocument', 'xls': 'Workbook', 'ppt': 'PowerPoint Document', 'msg': '__properties_version1.0'}.items():
    data = bytearray(512 * 12)
    data[:8] = bytes.fromhex('d0cf11e0a1b11ae1')
    data[30] = 9
    data[48:52] = (10).to_bytes(4, 'little')
    for i, entry in enumerate(['Root Entry', stream]):
        at = 512 * 11 + 128 * i
        name = entry.encode('utf-16le')
        data[at:at + len(name)] = name
        data[at + 64] = len(name) + 2
    open(f'compound.{ext}', 'wb').write(data)
if os.path.exists('table.sqlite'):
    os.remove('table.sqlite')
database = sqlite3.connect('table.sqlite')
database.execute('create table a (b)')
database.commit()
database.close()


def tagged(name, source, size):
    length = bytes([size >> 21, size >> 14 & 127, size >> 7 & 127, size & 127])
    open(name, 'wb').write(b'ID3\4\0\0' + length + bytes(size) + open(source, 'rb').read())


for ext in ('flac', 'aac'):
    tagged(f'large-tag.{ext}', f'sound.{ext}', 60_000)
tagged('large-tag.mp3', 'mp3-no-tag.mp3', 60_000)
open('hello.pdf', 'wb').write(b'%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n')
open('hello.rtf', 'wb').write(b'{\\rtf1 hello}')
open('hello.ps', 'wb').write(b'%!PS-Adobe-3.0\nshowpage\n')
open('hello.eps', 'wb').write(b'%!PS-Adobe-3.0 EPSF-3.0\nshowpage\n')
open('tone.mid', 'wb').write(b'MThd\0\0\0\6\0\0\0\1\0\x60MTrk\0\0\0\4\0\xff\x2f\0')
open('program.wasm', 'wb').write(b'\0asm\1\0\0\0')
for order, name in (('little', 'photo-le.dng'), ('big', 'photo-be.dng')):
    mark = b'II' if order == 'little' else b'MM'
    number = lambda value, size: value.to_bytes(size, order)
    directory = number(1, 2) + number(50706, 2) + number(1, 2) + number(4, 4) + b'\1\4\0\0' + number(0, 4)
    open(name, 'wb').write(mark + number(42, 2) + number(6000, 4) + bytes(5992) + directory)
