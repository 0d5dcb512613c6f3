import { expect } from 'chai'
import { cleanFileName } from '../../src/core/file-name.ts'
import { shown } from './shown.ts'

describe('file names as they are kept', () => {
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
    [`x${'🏯'.repeat(64)}`, `x${'🏯'.repeat(63)}`],
  ] as const) {
    it(`makes ${shown(kept)} of ${shown(name)}`, () => {
      expect(cleanFileName(name)).to.equal(kept)
      expect(Buffer.byteLength(kept)).to.be.at.most(255)
    })
  }
})
