import { expect } from 'chai'
import { sniff } from '../../../src/core/media/sniff/sniff.ts'

const UNKNOWN = Buffer.from([1, 2, 3, 0xff, 0xfe, 0, 7, 8])

async function extensionOf(name: string, bytes: Buffer = UNKNOWN): Promise<string> {
  const { format, mediaType } = await sniff(bytes, name)
  return [format.group, format.name, format.extension, mediaType].join(' ')
}

const kept = (extension: string) => `application bin ${extension} application/octet-stream`

describe('the extension of an unknown file', () => {
  for (const [name, extension] of [
    ['part.step', 'step'],
    ['Scene.MAX', 'max'],
    ['a.b.f3d', 'f3d'],
    ['archive.r00', 'r00'],
    ['x.123456789abcdef', '123456789abcdef'],
  ] as const)
    it(`comes from its name: ${name}`, async () => {
      expect(await extensionOf(name)).to.equal(kept(extension))
    })

  for (const [what, names] of [
    [
      'its bytes contradict the name',
      ['a.png', 'a.jpg', 'a.jpeg', 'a.tiff', 'a.mpg', 'a.doc', 'a.tgz', 'a.exe', 'a.dll'],
    ],
    [
      'browsers run such files',
      ['a.html', 'a.htm', 'a.xhtml', 'a.svg', 'a.xml', 'a.js', 'a.mjs', 'a.css', 'a.swf', 'a.jar', 'a.mht'],
    ],
    ['the name has none', ['Makefile', '.hidden', 'v1.2', 'a.', 'step', '']],
    ['it is no extension', ['a.b c', 'a.ä', 'a.x-y', 'a.1234567890abcdef', 'a.x/y', 'a.%2e']],
  ] as const)
    it(`is bin when ${what}`, async () => {
      for (const name of names) expect(await extensionOf(name), name).to.equal(kept('bin'))
    })

  it('is ignored when the bytes or a known name determine the format', async () => {
    expect(await extensionOf('a.step', Buffer.from('text'))).to.equal(
      'text txt txt text/plain; charset=utf-8',
    )
    expect(await extensionOf('a.step', Buffer.from('%PDF-1.4'))).to.equal(
      'application pdf pdf application/pdf',
    )
    expect(await extensionOf('a.iso')).to.equal('application iso iso application/x-iso9660-image')
  })
})
