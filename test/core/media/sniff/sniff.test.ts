import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { FORMATS, knownFormat } from '../../../../src/core/media/formats.ts'
import { SNIFF_BYTES, sniff } from '../../../../src/core/media/sniff/sniff.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { shown } from '../../shown.ts'

/** What `sniff` answers: name and media type. */
async function sniffed(bytes: Uint8Array | string, fileName: string) {
  const { format, mediaType } = await sniff(Buffer.from(bytes as string), fileName)
  expect(FORMATS).to.include(format)
  return [format.name, mediaType]
}

const ascii = (...parts: Array<string | readonly number[]>) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  )

/** The local header of a file in a ZIP archive, stored, and the file. */
function zipEntry(name: string, content: string): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  header.writeUInt32LE(content.length, 18)
  header.writeUInt32LE(content.length, 22)
  header.writeUInt16LE(name.length, 26)
  return ascii([...header], name, content)
}

const utf16 = (text: string, endian: 'le' | 'be') => {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le')
  return endian === 'le' ? bytes : bytes.swap16()
}

const box = (type: string, ...content: Array<string | readonly number[]>) => {
  const body = ascii(type, ...content)
  return ascii([0, 0, 0, body.length + 4], [...body])
}

/** A little-endian TIFF with one directory of numbers and texts. */
function tiffOf(fields: ReadonlyArray<readonly [tag: number, value: number | string]>): Buffer {
  const directory = Buffer.alloc(2 + 12 * fields.length + 4)
  directory.writeUInt16LE(fields.length)
  let texts = ''
  for (const [i, [tag, value]] of fields.entries()) {
    const at = 2 + 12 * i
    const isText = typeof value === 'string'
    directory.writeUInt16LE(tag, at)
    directory.writeUInt16LE(isText ? 2 : 4, at + 2)
    directory.writeUInt32LE(isText ? value.length + 1 : 1, at + 4)
    directory.writeUInt32LE(isText ? 8 + directory.length + texts.length : value, at + 8)
    if (isText) texts += `${value}\0`
  }
  return ascii('II*\0', [8, 0, 0, 0], [...directory], texts)
}

describe('the type', () => {
  describe('of an image', () => {
    for (const format of ['png', 'jpeg', 'webp', 'gif', 'tiff', 'avif'] as const) {
      it(`is ${format} by its bytes, whatever its name`, async () => {
        const bytes = await picture({ width: 16, height: 16, format })
        for (const name of ['a.jpg', 'a.html', 'a.txt', 'a', '', 'a.exe']) {
          expect(await sniffed(bytes, name), name).to.deep.equal([format, `image/${format}`])
        }
      })
    }

    it('is tiff for the TIFFs of cameras and of the programs of their makers', async () => {
      const make = (maker: string) => [271, maker] as const
      // Any program may write the tag of PrintIM (50341).
      const others = [
        [make('SONY'), [50341, 'PrintIM']],
        [make('OLYMPUS'), [50341, 'PrintIM']],
        [make('NIKON CORPORATION'), [254, 0], [330, 8]],
        [make('PENTAX'), [262, 2]],
        [make('Canon')],
      ] as const
      for (const fields of others)
        expect(await sniffed(tiffOf(fields), 'a.nef')).to.deep.equal(['tiff', 'image/tiff'])
      const camera = [[254, 1], make('NIKON CORPORATION'), [330, 8]] as const
      expect(await sniffed(tiffOf(camera), 'a.tif')).to.deep.equal(['nef', 'image/x-nikon-nef'])
    })

    it('is that of the image format for an animation', async () => {
      expect(await sniffed(await animation({ format: 'webp' }), 'a.gif')).to.deep.equal([
        'webp',
        'image/webp',
      ])
      expect(await sniffed(await animation({ format: 'gif' }), 'a.webp')).to.deep.equal(['gif', 'image/gif'])
    })

    it('is detected from the first bytes of a larger file', async () => {
      const bytes = await picture({ width: 2000, height: 1500, format: 'jpeg' })
      expect(bytes.length).to.be.above(SNIFF_BYTES)
      expect(await sniffed(bytes.subarray(0, SNIFF_BYTES), 'a')).to.deep.equal(['jpeg', 'image/jpeg'])
    })

    it('is png for an animated PNG', async () => {
      const png = await picture({ width: 8, height: 8 })
      const acTL = ascii([0, 0, 0, 8], 'acTL', [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
      const apng = Buffer.concat([png.subarray(0, 33), acTL, png.subarray(33)])
      expect(await sniffed(apng, 'a')).to.deep.equal(['png', 'image/png'])
    })
  })

  describe('of a possible SVG', () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>'
    for (const [what, text] of [
      ['alone', svg],
      ['with white space before it', ` \r\n\t${svg}`],
      ['with a byte order mark', `\uFEFF${svg}`],
      ['with a prolog', `<?xml version="1.0" encoding="utf-8"?>\n${svg}`],
      ['with a style sheet', `<?xml version="1.0"?><?xml-stylesheet href="a.css"?>${svg}`],
      ['with a comment', `<!-- made by hand -->\n${svg}`],
      ['with a comment that mentions HTML', `<!-- <html> -->${svg}`],
      ['with two comments around the prolog', `<!-- a --><?xml version="1.0"?><!-- b -->${svg}`],
      [
        'with a doctype',
        `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">${svg}`,
      ],
      ['with a doctype that declares entities', `<!DOCTYPE svg [<!ENTITY a "b">]>${svg}`],
      ['with all of these', `\uFEFF<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE svg>\n<!-- y -->\n${svg}`],
      ['with a prefix', '<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>'],
      ['without attributes', '<svg></svg>'],
      ['closed at once', '<svg/>'],
    ] as const) {
      it(`is svg ${what}`, async () => {
        for (const name of ['a.svg', 'a.png', 'a.html', 'a.txt', '']) {
          expect(await sniffed(text, name), name).to.deep.equal(['svg', 'image/svg+xml'])
        }
      })
    }

    it('is svg in UTF-16', async () => {
      for (const endian of ['le', 'be'] as const) {
        expect(await sniffed(utf16(`<?xml version="1.0"?>${svg}`, endian), 'a')).to.deep.equal([
          'svg',
          'image/svg+xml',
        ])
      }
    })

    it('is not svg for a text that only mentions SVG', async () => {
      expect(await sniffed(`a text with ${svg}`, 'a.txt')).to.deep.equal(['txt', 'text/plain; charset=utf-8'])
      expect(await sniffed('<svgx/>', 'a.txt')).to.deep.equal(['txt', 'text/plain; charset=utf-8'])
      expect(await sniffed('plain words', 'a.svg')).to.deep.equal(['txt', 'text/plain; charset=utf-8'])
    })

    it('is text when a comment never ends', async () => {
      expect(await sniffed(`<!-- ${svg}`, 'a.txt')).to.deep.equal(['txt', 'text/plain; charset=utf-8'])
    })
  })

  describe('of a possible HTML document', () => {
    for (const text of [
      '<!doctype html><p>hello',
      '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">',
      '<html lang="en">',
      '<HTML>',
      '<head>',
      '<body onload="x()">',
      '<script>alert(1)</script>',
      '<script/src=//example.com>',
      '<iframe src="x">',
      '\uFEFF \n<!-- x --><html>',
      '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x"><html>',
    ]) {
      it(`is html for ${shown(text)}, whatever its name`, async () => {
        for (const name of ['a.png', 'a.txt', 'a.css', 'a.json', 'a.svg', '']) {
          expect(await sniffed(text, name), name).to.deep.equal(['html', 'text/html; charset=utf-8'])
        }
      })
    }

    it('is html without charset when it is not UTF-8', async () => {
      expect(await sniffed(ascii('<html>caf', [0xe9, 0x20]), 'a.png')).to.deep.equal(['html', 'text/html'])
      expect(await sniffed(utf16('<html>', 'le'), 'a.png')).to.deep.equal(['html', 'text/html'])
    })

    it('comes from the name when the bytes do not decide', async () => {
      expect(await sniffed('<p>hello', 'a.html')).to.deep.equal(['html', 'text/html; charset=utf-8'])
      expect(await sniffed('<p>hello', 'a.htm')).to.deep.equal(['html', 'text/html; charset=utf-8'])
      expect(await sniffed('<htmlx>', 'a.txt')).to.deep.equal(['txt', 'text/plain; charset=utf-8'])
    })
  })

  describe('of a text', () => {
    for (const [name, format, mediaType] of [
      ['a.txt', 'txt', 'text/plain; charset=utf-8'],
      ['a.text', 'txt', 'text/plain; charset=utf-8'],
      ['a.log', 'txt', 'text/plain; charset=utf-8'],
      ['a.css', 'css', 'text/css; charset=utf-8'],
      ['a.csv', 'csv', 'text/csv; charset=utf-8'],
      ['a.CSV', 'csv', 'text/csv; charset=utf-8'],
      ['a.tsv', 'tsv', 'text/tab-separated-values; charset=utf-8'],
      ['a.md', 'markdown', 'text/markdown; charset=utf-8'],
      ['a.markdown', 'markdown', 'text/markdown; charset=utf-8'],
      ['a.js', 'javascript', 'text/javascript; charset=utf-8'],
      ['a.mjs', 'javascript', 'text/javascript; charset=utf-8'],
      ['a.ics', 'calendar', 'text/calendar; charset=utf-8'],
      ['a.vcf', 'vcard', 'text/vcard; charset=utf-8'],
      ['a.vtt', 'vtt', 'text/vtt; charset=utf-8'],
      ['a.json', 'json', 'application/json'],
      ['a.xml', 'xml', 'application/xml'],
      ['a.tar.csv', 'csv', 'text/csv; charset=utf-8'],
      ['csv', 'csv', 'text/csv; charset=utf-8'],
      // Where the bytes contradict the name, or the name says nothing.
      ['a.png', 'txt', 'text/plain; charset=utf-8'],
      ['a.mp4', 'txt', 'text/plain; charset=utf-8'],
      ['a.pdf', 'txt', 'text/plain; charset=utf-8'],
      ['a.zip', 'txt', 'text/plain; charset=utf-8'],
      ['a.bin', 'txt', 'text/plain; charset=utf-8'],
      ['a.jpeg', 'txt', 'text/plain; charset=utf-8'],
      ['a.unknown', 'txt', 'text/plain; charset=utf-8'],
      ['a.constructor', 'txt', 'text/plain; charset=utf-8'],
      ['a.csv.', 'txt', 'text/plain; charset=utf-8'],
      ['', 'txt', 'text/plain; charset=utf-8'],
    ] as const) {
      it(`is ${format} when its name is ${JSON.stringify(name)}`, async () => {
        expect(await sniffed('Größe, Preis\n1, 2\n', name)).to.deep.equal([format, mediaType])
      })
    }

    it('has no charset for latin-1', async () => {
      expect(await sniffed(ascii('Gr', [0xf6, 0xdf], 'e;Preis\n'), 'a.csv')).to.deep.equal([
        'csv',
        'text/csv',
      ])
    })

    it('has no charset for UTF-16, in both byte orders', async () => {
      expect(await sniffed(utf16('Größe', 'le'), 'a.csv')).to.deep.equal(['csv', 'text/csv'])
      expect(await sniffed(utf16('Größe', 'be'), 'a.csv')).to.deep.equal(['csv', 'text/csv'])
    })

    it('is UTF-8 even when the end of the head cuts a character in two', async () => {
      for (const cut of [1, 2, 3]) {
        const head = Buffer.concat([Buffer.alloc(SNIFF_BYTES - cut, 'a'), Buffer.from('🏯').subarray(0, cut)])
        expect(await sniffed(head, 'a.txt'), `${cut} bytes`).to.deep.equal([
          'txt',
          'text/plain; charset=utf-8',
        ])
      }
    })

    it('is not UTF-8 when the file itself ends within a character', async () => {
      expect(await sniffed(ascii('caf', [0xe9]), 'a.csv')).to.deep.equal(['csv', 'text/csv'])
    })

    it('may have tabs, form feeds, line breaks and escapes', async () => {
      expect(await sniffed('a\tb\f\r\n\x1b[1mc\x1b[0m', 'a.txt')).to.deep.equal([
        'txt',
        'text/plain; charset=utf-8',
      ])
    })

    for (const [text, name, type] of [
      ['BMI,age\n22,41\n', 'a.csv', ['csv', 'text/csv; charset=utf-8']],
      ['GIFs are pictures that move', 'a.txt', ['txt', 'text/plain; charset=utf-8']],
      ['The wide world', 'a.txt', ['txt', 'text/plain; charset=utf-8']],
      ["I'm free", 'a.md', ['markdown', 'text/markdown; charset=utf-8']],
      ['ID3 is a tag', 'a.txt', ['txt', 'text/plain; charset=utf-8']],
      ['8BPS', 'a.txt', ['txt', 'text/plain; charset=utf-8']],
    ] as const) {
      it(`is not detected as image, video or audio: ${text.trim()}`, async () => {
        expect(await sniffed(text, name)).to.deep.equal(type)
      })
    }

    for (const [text, name, mediaType] of [
      ['BEGIN:VCALENDAR\r\nVERSION:2.0\r\nSUMMARY:Grüße', 'calendar', 'text/calendar; charset=utf-8'],
      ['BEGIN:VCARD\r\nVERSION:4.0\r\n', 'vcard', 'text/vcard; charset=utf-8'],
      ['WEBVTT\n\n00:00.000 --> 00:01.000\nhi', 'vtt', 'text/vtt; charset=utf-8'],
      ['<?xml version="1.0"?>\n<feed/>', 'xml', 'application/xml'],
      ['{\\rtf1 hi}', 'rtf', 'application/rtf'],
      ['%PDF-1.7\n1 0 obj', 'pdf', 'application/pdf'],
    ] as const) {
      it(`is ${name} by its first words, whatever its name`, async () => {
        for (const file of ['a.txt', 'a.png', ''])
          expect(await sniffed(text, file)).to.deep.equal([name, mediaType])
      })
    }
  })

  describe('of any other file', () => {
    const zeros = (length: number) => new Array<number>(length).fill(0)
    for (const [name, mediaType, bytes] of [
      ['pdf', 'application/pdf', ascii('%PDF-1.7\n%', [0xe2, 0xe3, 0xcf, 0xd3, 0x0a, 0])],
      ['zip', 'application/zip', zipEntry('a.txt', 'hello')],
      ['zip', 'application/zip', zipEntry('a.jpg', 'x'.repeat(9000)).subarray(0, SNIFF_BYTES)],
      ['zip', 'application/zip', ascii('PK', [5, 6], zeros(18))],
      ['epub', 'application/epub+zip', zipEntry('mimetype', 'application/epub+zip')],
      [
        'docx',
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        Buffer.concat([
          zipEntry(
            '[Content_Types].xml',
            '<Types><Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
          ),
          zipEntry('word/document.xml', 'x'.repeat(9000)),
        ]).subarray(0, SNIFF_BYTES),
      ],
      ['gzip', 'application/gzip', gzipSync('hello')],
      ['gzip', 'application/gzip', gzipSync(Buffer.alloc(100_000, 'ab')).subarray(0, SNIFF_BYTES)],
      ['mp3', 'audio/mpeg', ascii('ID3', [3, 0, 0, 0, 0, 0, 0], [0xff, 0xfb, 0x90, 0x64], zeros(64))],
      ['mp3', 'audio/mpeg', ascii([0xff, 0xfb, 0x90, 0x64], zeros(413))],
      ['wav', 'audio/wav', ascii('RIFF', [36, 0, 0, 0], 'WAVEfmt ', [16, 0, 0, 0], zeros(20))],
      ['flac', 'audio/flac', ascii('fLaC', [0, 0, 0, 34], zeros(34))],
      ['ogg', 'audio/ogg', ascii('OggS', zeros(22), [1, 30, 1], 'vorbis', zeros(23))],
      ['opus', 'audio/ogg', ascii('OggS', zeros(22), [1, 19], 'OpusHead', zeros(11))],
      ['m4a', 'audio/mp4', box('ftyp', 'M4A ', zeros(4), 'M4A isom')],
      ['midi', 'audio/midi', ascii('MThd', [0, 0, 0, 6, 0, 1])],
      ['mp4', 'video/mp4', box('ftyp', 'isom', zeros(4), 'isomavc1')],
      ['mov', 'video/quicktime', box('ftyp', 'qt  ', zeros(4), 'qt  ')],
      ['webm', 'video/webm', ascii([0x1a, 0x45, 0xdf, 0xa3, 0x87, 0x42, 0x82, 0x84], 'webm', zeros(16))],
      [
        'mkv',
        'video/matroska',
        ascii([0x1a, 0x45, 0xdf, 0xa3, 0x8b, 0x42, 0x82, 0x88], 'matroska', zeros(16)),
      ],
      ['avi', 'video/x-msvideo', ascii('RIFF', [36, 0, 0, 0], 'AVI LIST', zeros(20))],
      ['mpeg', 'video/mpeg', ascii([0, 0, 1, 0xba, 0x44], zeros(20))],
      ['heic', 'image/heic', box('ftyp', 'heic', zeros(4), 'mif1heic')],
      ['ico', 'image/vnd.microsoft.icon', ascii([0, 0, 1, 0, 1, 0], zeros(16))],
      ['bmp', 'image/bmp', ascii('BM', [54, 0, 0, 0], zeros(48))],
      ['woff2', 'font/woff2', ascii('wOF2', [0, 1, 0, 0], zeros(40))],
      ['wasm', 'application/wasm', ascii([0], 'asm', [1, 0, 0, 0])],
      ['bin', 'application/octet-stream', ascii([1, 2, 3, 0xff, 0, 0x80])],
      ['bin', 'application/octet-stream', ascii('words and then', [0])],
      ['exe', 'application/x-msdownload', ascii('MZ', [0x90, 0, 3], zeros(59))],
    ] as const) {
      it(`is ${name} by its bytes, whatever its name: ${shown(bytes.subarray(0, 12).toString('latin1'))}`, async () => {
        for (const file of ['a.png', 'a.txt', 'a.csv', '']) {
          expect(await sniffed(bytes, file), file).to.deep.equal([name, mediaType])
        }
      })
    }

    it('is DOCX for an encrypted one, which is no ZIP, only with that name', async () => {
      const bytes = await readFile(join('test', 'corpus', 'files', 'word-encrypted.docx'))
      const { mediaType } = knownFormat('docx')
      expect(await sniffed(bytes, 'a.docx')).to.deep.equal(['docx', mediaType])
      for (const file of ['a.png', 'a.zip', 'a.html', ''])
        expect(await sniffed(bytes, file), file).to.deep.equal(['cfb', 'application/x-cfb'])
    })

    it('is bin for an empty file, unless its name is that of a text', async () => {
      expect(await sniffed('', 'a.png')).to.deep.equal(['bin', 'application/octet-stream'])
      expect(await sniffed('', '')).to.deep.equal(['bin', 'application/octet-stream'])
      expect(await sniffed('', 'a.csv')).to.deep.equal(['csv', 'text/csv; charset=utf-8'])
    })
  })
})
