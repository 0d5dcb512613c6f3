import { expect } from 'chai'
import {
  FORMATS,
  formatNamed,
  formatOfExtension,
  formatOfMediaType,
  isActiveContent,
  isDownloadedFromBucket,
  isMediaGroup,
  knownFormat,
} from '../../../src/core/media/formats.ts'
import { MEDIA_GROUPS } from '../../../src/core/media/groups.ts'

describe('media formats', () => {
  for (const member of ['name', 'extension'] as const) {
    it(`have a ${member} of a-z and 0-9, all different`, () => {
      const words = FORMATS.map((format) => format[member])
      for (const word of words) expect(word).to.match(/^[a-z0-9]+$/)
      expect(new Set(words).size).to.equal(words.length)
    })
  }

  it('are in the group of their media type, except where browsers or IANA differ', () => {
    for (const { name, group, mediaType } of FORMATS) {
      expect(MEDIA_GROUPS, name).to.include(group)
      const [type] = mediaType.split('/')
      const expected = /^(font|model)$/.test(type as string) ? 'application' : type
      expect(group, name).to.equal(name === 'rm' || name === 'mxf' ? 'video' : expected)
    }
  })

  it('exist in every group', () => {
    for (const group of MEDIA_GROUPS) expect(FORMATS.map((format) => format.group)).to.include(group)
  })

  for (const [name, group, mediaType, extension] of [
    ['png', 'image', 'image/png', 'png'],
    ['jpeg', 'image', 'image/jpeg', 'jpg'],
    ['svg', 'image', 'image/svg+xml', 'svg'],
    ['mp4', 'video', 'video/mp4', 'mp4'],
    ['mov', 'video', 'video/quicktime', 'mov'],
    ['mp3', 'audio', 'audio/mpeg', 'mp3'],
    ['markdown', 'text', 'text/markdown', 'md'],
    ['json', 'application', 'application/json', 'json'],
    ['woff2', 'application', 'font/woff2', 'woff2'],
    ['bin', 'application', 'application/octet-stream', 'bin'],
  ] as const) {
    it(`include ${name} by name and by extension`, () => {
      const format = { name, group, mediaType, extension }
      expect(formatNamed(name)).to.deep.equal(format)
      expect(formatOfExtension(extension)).to.deep.equal(format)
      expect(knownFormat(name)).to.deep.equal(format)
    })
  }

  it('are distinguished by name and by extension', () => {
    expect(formatNamed('jpg')).to.equal(undefined)
    expect(formatOfExtension('jpeg')).to.equal(undefined)
    expect(formatNamed('constructor')).to.equal(undefined)
    expect(() => knownFormat('jpg')).to.throw('no format is called jpg')
  })

  for (const [mediaType, name] of [
    ['image/png', 'png'],
    ['image/svg+xml', 'svg'],
    ['text/plain; charset=utf-8', 'txt'],
    ['text/html;charset=utf-8', 'html'],
    ['text/css ; charset=latin1', 'css'],
    ['audio/ogg', 'ogg'],
    ['image/unheard-of', 'bin'],
    ['image/pn', 'bin'],
    ['', 'bin'],
  ] as const) {
    it(`are found by media type: ${JSON.stringify(mediaType)} is ${name}`, () => {
      expect(formatOfMediaType(mediaType).name).to.equal(name)
    })
  }

  it('are active content when a browser would run them', () => {
    const active = FORMATS.map(({ mediaType }) => mediaType).filter(isActiveContent)
    expect(active).to.have.members([
      'image/svg+xml',
      'image/svg+xml-compressed',
      'text/html',
      'application/xml',
    ])
    for (const type of ['text/html; charset=utf-8', 'text/xml', 'application/xhtml+xml'])
      expect(isActiveContent(type)).to.equal(true)
  })

  it('are downloaded from a bucket when a browser might run them at their URL', () => {
    for (const type of ['text/javascript', 'application/javascript', 'application/rss+xml', 'text/html'])
      expect(isDownloadedFromBucket(type), type).to.equal(true)
    for (const type of ['image/png', 'text/plain', 'application/json', 'text/css', 'application/pdf'])
      expect(isDownloadedFromBucket(type), type).to.equal(false)
  })

  it('belong to the groups of URLs', () => {
    for (const group of MEDIA_GROUPS) expect(isMediaGroup(group)).to.equal(true)
    for (const word of ['', 'Image', 'images', 'font', 'toString']) expect(isMediaGroup(word)).to.equal(false)
  })
})
