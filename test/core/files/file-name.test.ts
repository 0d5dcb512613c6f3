import { expect } from 'chai'
import { cleanFileName, nameInFormat } from '../../../src/core/files/file-name.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { shown } from '../shown.ts'

describe('stored file names', () => {
  for (const [name, kept] of [
    ['photo.png', 'photo.png'],
    ['Grüße aus 東京 🏯.png', 'Grüße aus 東京 🏯.png'],
    ['/etc/passwd', 'passwd'],
    ['../../a.png', 'a.png'],
    ['C:\\Users\\me\\a.png', 'a.png'],
    ['a/b\\c.png', 'c.png'],
    ['a\\b/c.png', 'c.png'],
    ['a/', ''],
    ['', ''],
    ['  a.png  ', 'a.png'],
    ['a\r\nSet-Cookie: x.png', 'aSet-Cookie: x.png'],
    ['a\0b\x7fc\x85d.png', 'abcd.png'],
    ['a\u2028b\u2029c.png', 'abc.png'],
    ['\n a.png', 'a.png'],
    ['a\ud800b.png', 'a\ufffdb.png'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['x'.repeat(256), 'x'.repeat(255)],
    ['ä'.repeat(128), 'ä'.repeat(127)],
    ['.', ''],
    ['a/..', ''],
    [' .. ', ''],
    ['..a', '..a'],
    ['photo\u202egnp.exe', 'photognp.exe'],
    ['\u2066a\u2069\u200e\u200f\u061c.png', 'a.png'],
    ['👩‍👩‍👧 e\u0301.png', '👩‍👩‍👧 e\u0301.png'],
    [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(250)}.jpeg`],
    [`${'ä'.repeat(126)}.png`, `${'ä'.repeat(125)}.png`],
    [`${'x'.repeat(300)}.one of many sentences`, 'x'.repeat(255)],
    [`.${'x'.repeat(300)}`, `.${'x'.repeat(254)}`],
    [`x${'🏯'.repeat(64)}`, `x${'🏯'.repeat(63)}`],
  ] as const) {
    it(`are ${shown(kept)} for ${shown(name)}`, () => {
      expect(cleanFileName(name)).to.equal(kept)
      expect(Buffer.byteLength(kept)).to.be.at.most(255)
    })
  }
})

describe('a file name in another format', () => {
  for (const [name, format, expected] of [
    ['photo.png', 'webp', 'photo.webp'],
    ['photo.PNG', 'jpeg', 'photo.jpg'],
    ['photo.jpeg', 'png', 'photo.png'],
    ['photo.final.jpg', 'avif', 'photo.final.avif'],
    ['photo', 'webp', 'photo.webp'],
    ['v1.2', 'webp', 'v1.2.webp'],
    ['.png', 'webp', '.png.webp'],
    ['a.png/b', 'webp', 'a.png/b.webp'],
    ['a/.png', 'webp', 'a/.png.webp'],
    ['a/b.svg', 'png', 'a/b.png'],
    ['', 'webp', '.webp'],
    [`${'x'.repeat(251)}.png`, 'webp', `${'x'.repeat(250)}.webp`],
    ['ü'.repeat(127), 'webp', `${'ü'.repeat(125)}.webp`],
  ] as const) {
    it(`is ${expected} for ${JSON.stringify(name)} as ${format}`, () => {
      expect(nameInFormat(name, knownFormat(format))).to.equal(expected)
    })
  }
})
