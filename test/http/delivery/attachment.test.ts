import { expect } from 'chai'
import { attachment } from '../../../src/http/delivery/content-disposition.ts'

describe('Content-Disposition of a download', () => {
  for (const [name, ascii, extended] of [
    ['photo.png', 'photo.png', undefined],
    ['a;b,c=d.txt', 'a;b,c=d.txt', undefined],
    ["a'b (2)*.txt", "a'b (2)*.txt", undefined],
    ['my "best".png', 'my _best_.png', 'my%20%22best%22.png'],
    ['a\\b.png', 'a_b.png', 'a%5Cb.png'],
    ['100%25.zip', '100_25.zip', '100%2525.zip'],
    ['café.txt', 'cafe.txt', 'caf%C3%A9.txt'],
    ['cafe\u0301.txt', 'cafe.txt', 'cafe%CC%81.txt'],
    ['Größe Ångström ﬁ.txt', 'Gro_e Angstrom fi.txt', 'Gr%C3%B6%C3%9Fe%20%C3%85ngstr%C3%B6m%20%EF%AC%81.txt'],
    ['写真.png', '__.png', '%E5%86%99%E7%9C%9F.png'],
    ['🙂.png', '_.png', '%F0%9F%99%82.png'],
    ["é'()*!.txt", "e'()*!.txt", '%C3%A9%27%28%29%2A!.txt'],
    ['a\r\nX-Injected: 1', 'a__X-Injected: 1', 'a%0D%0AX-Injected%3A%201'],
    ['a\0b', 'a_b', 'a%00b'],
    [
      '．．／．．／etc／passwd',
      '.._.._etc_passwd',
      '%EF%BC%8E%EF%BC%8E%EF%BC%8F%EF%BC%8E%EF%BC%8E%EF%BC%8Fetc%EF%BC%8Fpasswd',
    ],
    ['a＼b', 'a_b', 'a%EF%BC%BCb'],
    ['‥', '_', '%E2%80%A5'],
    ['․', '_', '%E2%80%A4'],
    ['\u0344', '_', '%CD%84'],
    ['\u00a8', '_', '%C2%A8'],
    ['写真．png', '__.png', '%E5%86%99%E7%9C%9F%EF%BC%8Epng'],
  ] as const) {
    it(`is correct for ${JSON.stringify(name)}`, () => {
      const header = attachment(name)
      // What a reader of RFC 8187 saves it under.
      const saved = /filename\*=UTF-8''(.*)$/.exec(header)?.[1]
      expect(saved === undefined ? ascii : decodeURIComponent(saved)).to.equal(name)
      const more = extended === undefined ? '' : `; filename*=UTF-8''${extended}`
      expect(header).to.equal(`attachment; filename="${ascii}"${more}`)
    })
  }

  it('truncates the name to 255 bytes before its extension, also where a character takes several bytes', () => {
    const ascii = /filename="([^"]*)"/.exec(attachment(`${'\ufdfa'.repeat(80)}.png`))?.[1]
    expect(ascii)
      .to.have.length(255)
      .and.match(/_\.png$/)
  })
})
