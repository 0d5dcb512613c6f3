import { expect } from 'chai'
import fc from 'fast-check'
import {
  classifyKey,
  clientRecordKey,
  clientRecordPrefix,
  derivativeKey,
  derivativePrefix,
  newFileId,
  newOriginal,
  type ObjectKey,
  type OriginalName,
  parseFolder,
  parseKey,
  partKey,
  partsPrefix,
  provisionalKey,
  recordKey,
  storedKey,
} from '../../../src/core/files/object-key.ts'
import { PARTITIONS, partitionHash } from '../../../src/core/files/partition.ts'
import { parsePath } from '../../../src/core/files/request-path.ts'
import { FORMATS, formatNamed, knownFormat } from '../../../src/core/media/formats.ts'
import { MEDIA_GROUPS } from '../../../src/core/media/groups.ts'
import { Problem } from '../../../src/core/problem.ts'
import { holds } from '../../contracts/property.ts'

const ID = '7uLqEUXG4WpoGGa38h2U9Z'
const KEY = `image/png/${ID}.png`

/** One format of each media group. */
const SAMPLES = ['jpeg', 'mp4', 'mp3', 'markdown', 'pdf']

/** Paths that no file could have, and a word of the reason. */
const HOSTILE: ReadonlyArray<readonly [what: string, path: string, reason: string]> = [
  ['an empty text', '', 'not empty'],
  ['a ".." segment', `../${KEY}`, '".."'],
  ['a ".." segment in the middle', `a/../${KEY}`, '".."'],
  ['a ".." segment at the end', `a/..`, '".."'],
  ['a ".." segment alone', '..', '".."'],
  ['a "." segment', `./${KEY}`, '"."'],
  ['a "." segment in the middle', `a/./${ID}.png`, '"."'],
  ['an empty segment', `a//${ID}.png`, 'empty segment'],
  ['a slash at the start', `/${KEY}`, '"/" at its start'],
  ['two slashes at the start', `//host/${ID}.png`, '"/" at its start'],
  ['a slash at the end', `${KEY}/`, 'empty segment'],
  ['a backslash', `a\\${ID}.png`, '\\'],
  ['a ".." segment with backslashes', `..\\..\\${ID}.png`, '\\'],
  ['a query', `${KEY}?w=1`, '?'],
  ['a fragment', `${KEY}#top`, '#'],
  ['NUL', `${KEY}\0.jpg`, 'control'],
  ['a line feed', `${KEY}\n`, 'control'],
  ['a carriage return', `a\r${KEY}`, 'control'],
  ['a tab', `a\tb/${ID}.png`, 'control'],
  ['DEL', `a\x7f/${ID}.png`, 'control'],
  ['the first C1 control', `a\x80/${ID}.png`, 'control'],
  ['the last C1 control', `a\x9f/${ID}.png`, 'control'],
  ['a line separator', `a\u2028/${ID}.png`, 'control'],
  ['a paragraph separator', `a\u2029/${ID}.png`, 'control'],
  ['a high surrogate alone', `a\ud800/${ID}.png`, 'well-formed'],
  ['a low surrogate alone', `a\udc00/${ID}.png`, 'well-formed'],
  ['http:', `http://example.com/${ID}.png`, 'scheme'],
  ['a scheme in capitals', `FILE:/etc/passwd`, 'scheme'],
  ['a scheme without slashes', `data:${ID}.png`, 'scheme'],
  ['a scheme of all its characters', `a1+.-:x/${ID}.png`, 'scheme'],
  ['a drive letter', `c:/${ID}.png`, 'scheme'],
  ['an encoded ".." segment', `%2e%2e/${KEY}`, 'encoded twice'],
  ['an encoded ".." segment in capitals', `%2E%2E/${KEY}`, 'encoded twice'],
  ['a half encoded ".." segment', `.%2e/${KEY}`, 'encoded twice'],
  ['an encoded slash', `a%2f${ID}.png`, 'encoded twice'],
  ['an encoded slash in capitals', `a%2F${ID}.png`, 'encoded twice'],
  ['an encoded backslash', `a%5c${ID}.png`, 'encoded twice'],
  ['an encoded percent sign', `%252e%252e/${KEY}`, 'encoded twice'],
  ['an encoded NUL', `${KEY}%00.jpg`, 'encoded twice'],
  ['an encoded line feed', `${KEY}%0a`, 'encoded twice'],
  ['an encoded unit separator', `a%1F/${KEY}`, 'encoded twice'],
  ['an encoded DEL', `a%7f/${KEY}`, 'encoded twice'],
  ['an encoded C1 control', `a%C2%85/${KEY}`, 'encoded twice'],
  ['the last encoded C1 control', `a%c2%9f/${KEY}`, 'encoded twice'],
  ['an encoded question mark', `${KEY}%3Fw=1`, 'encoded twice'],
  ['an encoded fragment', `${KEY}%23top`, 'encoded twice'],
  ['513 bytes', `${'a'.repeat(513 - 27)}/${ID}.png`, '512 bytes'],
  ['513 bytes in fewer characters', `${'é'.repeat(243)}/${ID}.png`, '512 bytes'],
]

describe('object keys', () => {
  describe('newFileId', () => {
    it('returns 22 characters of base58, different each time', () => {
      const ids = new Set(Array.from({ length: 10_000 }, () => newFileId()))
      expect(ids.size).to.equal(10_000)
      for (const id of ids) expect(id).to.match(/^[1-9A-HJ-NP-Za-km-z]{22}$/)
    })

    it('returns ids that are equally many in all partitions, and one with the hash of another id', () => {
      const counts = Array.from({ length: PARTITIONS }, () => 0)
      for (let i = 0; i < 100 * PARTITIONS; i += 1) {
        const hash = partitionHash(newFileId())
        counts[hash] = (counts[hash] ?? 0) + 1
      }
      // Seven standard deviations.
      for (const count of counts) expect(count).to.be.within(30, 170)
      for (let i = 0; i < 100; i += 1) {
        const id = newFileId()
        const alike = newFileId(`${id}.png`)
        expect(alike).to.not.equal(id)
        expect(partitionHash(alike)).to.equal(partitionHash(id))
      }
    })
  })

  describe('newOriginal', () => {
    it('joins folder, group, format and name', () => {
      expect(newOriginal({ folder: 'a/b', format: knownFormat('jpeg'), id: ID })).to.deep.equal({
        key: `a/b/image/jpeg/${ID}.jpg`,
        folder: 'a/b',
        format: formatNamed('jpeg'),
        sourceName: `${ID}.jpg`,
      })
    })

    it('starts with the group without a folder', () => {
      expect(newOriginal({ folder: '', format: knownFormat('png'), id: ID }).key).to.equal(KEY)
    })
  })

  describe('parseKey', () => {
    it('has an example of every media group', () => {
      expect(SAMPLES.map((name) => knownFormat(name).group)).to.deep.equal([...MEDIA_GROUPS])
    })

    for (const format of FORMATS) {
      it(`parses a key of newOriginal in the format ${format.name}`, () => {
        for (const folder of ['', 'a', 'photos/2024/märz']) {
          const name = newOriginal({ folder, format, id: newFileId() })
          expect(parseKey(name.key)).to.deep.equal(name)
        }
      })
    }

    for (const sample of SAMPLES) {
      it(`parses derivatives of ${sample}`, () => {
        for (const folder of ['', 'a/b']) {
          const name = newOriginal({ folder, format: knownFormat(sample), id: ID })
          for (const variant of ['h=200&w=100', '~0123456789abcdef', 'w=1&~89abcdef', 'a_b=1']) {
            expect(parseKey(derivativeKey(name.key, variant))).to.deep.equal({ ...name, variant })
          }
        }
      })
    }

    it('parses the files of a bundle, which are in a folder of their own', () => {
      const name = newOriginal({ folder: 'a/b', format: knownFormat('mp4'), id: ID })
      const entry = derivativeKey(name.key, 'hls&start=1/master.m3u8')
      expect(parseKey(entry)).to.deep.equal({ ...name, variant: 'hls&start=1/master.m3u8' })
      expect(classifyKey(entry)).to.deep.equal({ kind: 'derivative', original: name })
      expect(partsPrefix(entry)).to.equal(`${name.key}_hls&start=1/`)
      for (const file of [
        '0a1b2c3d-720p.m3u8',
        '0a1b2c3d-sound.mp4',
        '0a1b2c3d-720p-00012.m4s',
        'live.m3u8',
      ]) {
        const part = partKey(entry, file)
        expect(part).to.equal(`${name.key}_hls&start=1/${file}`)
        expect(classifyKey(part)).to.deep.equal({ kind: 'part', original: name, derivative: entry })
        expect(parsePath(part, { group: 'video' }).full?.variant).to.equal(`hls&start=1/${file}`)
        expect(partsPrefix(part)).to.equal(undefined)
        expect(provisionalKey(part)).to.equal(undefined)
      }
      expect(provisionalKey(entry)).to.equal(`${name.key}_hls&start=1/live.m3u8`)
      expect(provisionalKey(derivativeKey(name.key, 'w=16'))).to.equal(undefined)
    })

    it('finds the bundle of a part', () => {
      const name = newOriginal({ folder: '', format: knownFormat('mp4'), id: ID })
      const entry = derivativeKey(name.key, 'storyboard/storyboard.vtt')
      const sprite = partKey(entry, '0a1b2c3d-sprite.jpg')
      expect(classifyKey(sprite)).to.deep.equal({ kind: 'part', original: name, derivative: entry })
    })

    for (const file of [
      'x',
      'sprite.jpg',
      '0a1b2c3d-sprite.png',
      'other.m3u8',
      'MASTER.m3u8',
      '0a1b2c3d-live.m3u8x',
      'live.mp4',
      'master.m3u8/x',
      'a/master.m3u8',
      '0a1b2c3d-720p.mp4.json',
      '0a1b2c3d-720p-1.m4s',
      '0a1b2c3-720p.mp4',
      '0a1b2c3d-.mp4',
      '0a1b2c3d-720 p.mp4',
      `0a1b2c3d-${'a'.repeat(17)}.mp4`,
      '../master.m3u8',
    ]) {
      it(`does not accept ${file} as a part`, () => {
        const key = newOriginal({ folder: '', format: knownFormat('mp4'), id: ID }).key
        const entry = derivativeKey(key, 'hls/master.m3u8')
        expect(() => partKey(entry, file)).to.throw('not a part of')
        expect(parseKey(`${key}_hls/${file}`)).to.equal(undefined)
        expect(() => partKey(derivativeKey(key, 'w=16'), '0a1b2c3d-720p.mp4')).to.throw('not a part of')
        expect(partsPrefix(derivativeKey(key, 'w=16'))).to.equal(undefined)
      })
    }

    it('does not accept a bundle next to an original', () => {
      const { key } = newOriginal({ folder: '', format: knownFormat('mp4'), id: ID })
      expect(parseKey(`${key}/master.m3u8`)).to.equal(undefined)
      expect(parseKey('video/mp4/master.m3u8')).to.equal(undefined)
    })

    it('accepts a folder that looks like group and format', () => {
      const name = newOriginal({ folder: 'image/png', format: knownFormat('png'), id: ID })
      expect(name.key).to.equal(`image/png/image/png/${ID}.png`)
      expect(parseKey(name.key)).to.deep.equal(name)
    })

    for (const [what, text] of [
      ['an empty text', ''],
      ['a name alone', `${ID}.png`],
      ['a name and a format', `png/${ID}.png`],
      ['a format of another group', `video/png/${ID}.png`],
      ['a format that does not exist', `image/pong/${ID}.png`],
      ['a group that does not exist', `picture/png/${ID}.png`],
      ['the extension of another format', `image/png/${ID}.jpg`],
      ['the format for the extension', `image/jpeg/${ID}.jpeg`],
      ['the extension for the format', `image/jpg/${ID}.jpg`],
      ['a missing extension', `image/png/${ID}`],
      ['an extension in capitals', `image/png/${ID}.PNG`],
      ['a format in capitals', `image/PNG/${ID}.png`],
      ['an id of 21 characters', `image/png/${ID.slice(1)}.png`],
      ['an id of 23 characters', `image/png/${ID}Z.png`],
      ['an id with 0, which is not in base58', `image/png/0${ID.slice(1)}.png`],
      ['an id with l, which is not in base58', `image/png/l${ID.slice(1)}.png`],
      ['an empty variant', `${KEY}_`],
      ['an invalid variant', `${KEY}.bak`],
      ['a file in a stored file', `${KEY}/x`],
      ["a file's record", recordKey(KEY as ObjectKey)],
      ["the service's folder", `.sluice/${KEY}`],
      ["a folder in the service's", `.sluice/meta/${KEY}`],
      ["the service's folder, for a disk that ignores case", `.SLUICE/${KEY}`],
    ] as const) {
      it(`refuses ${what}: ${JSON.stringify(text)}`, () => {
        expect(parseKey(text)).to.equal(undefined)
      })
    }

    it("reserves the service's folder by its complete name at the start only", () => {
      for (const folder of ['.sluices', 'a/.sluice', 'sluice']) {
        expect(parseKey(`${folder}/${KEY}`)?.folder).to.equal(folder)
      }
    })
  })

  describe('classifyKey', () => {
    for (const folder of ['', 'a/b/', 'image/png/']) {
      const key = storedKey(`${folder}${KEY}`)
      it(`finds the original of ${key}`, () => {
        const original = parseKey(key)
        expect(classifyKey(key)).to.deep.equal({ kind: 'original', original })
        expect(classifyKey(derivativeKey(key, 'w=1'))).to.deep.equal({ kind: 'derivative', original })
        expect(classifyKey(recordKey(key))).to.deep.equal({ kind: 'record', original })
      })
    }

    for (const text of [
      clientRecordKey('first'),
      `.sluice/meta/${KEY}`,
      `.sluice/meta/${KEY}_w=1.json`,
      `.sluice/meta/photo.json`,
      `${KEY}.json`,
      'photo.png',
    ])
      it(`finds no original in ${text}`, () => expect(classifyKey(storedKey(text))).to.equal(undefined))
  })

  describe('parsePath', () => {
    for (const [what, path, reason] of HOSTILE) {
      it(`refuses ${what}`, () => {
        expect(() => parsePath(path, { param: 'files[3].path' }))
          .to.throw(Problem)
          .that.includes({ status: 400, code: 'bad_path' })
          .and.has.property('message')
          .that.includes(' for files[3].path but received ')
          .and.includes(reason)
      })
    }

    it('uses the parameter name "path" by default, and shows the received value', () => {
      expect(() => parsePath('../x'))
        .to.throw('expected a relative path without a ".." segment for path but received "../x"')
        .with.deep.property('members', {
          param: 'path',
          expected: 'a relative path without a ".." segment',
          received: '../x',
        })
    })

    it('accepts 512 bytes', () => {
      const path = `${'a'.repeat(512 - 27)}/${ID}.png`
      expect(Buffer.byteLength(path)).to.equal(512)
      expect(parsePath(path).short?.key).to.equal(`${'a'.repeat(485)}/${KEY}`)
    })

    it('accepts the longest possible key', () => {
      const [longest] = FORMATS.map((format) =>
        newOriginal({ folder: 'ä'.repeat(100), format, id: ID }),
      ).sort((a, b) => b.key.length - a.key.length)
      const key = derivativeKey(longest?.key as ObjectKey, `${'w'.repeat(180)}&~01234567`)
      expect(Buffer.byteLength(key)).to.be.above(430)
      expect(parsePath(key).full?.key).to.equal(longest?.key)
    })

    it('accepts dots, percent signs, colons and spaces without a special meaning', () => {
      for (const folder of [
        '..a',
        'a..',
        '...',
        '.hidden',
        '100%',
        'a%zz',
        '%41',
        'a/b:c',
        'über uns',
        '%c3%9f',
      ]) {
        expect(parsePath(`${folder}/${ID}.png`).short?.folder, folder).to.equal(folder)
      }
    })

    it('reads a full key also as the short path of a file in a folder of that name', () => {
      const { full, short } = parsePath(KEY)
      expect(full).to.deep.equal({
        key: KEY,
        folder: '',
        format: formatNamed('png'),
        sourceName: `${ID}.png`,
      })
      expect(short?.key).to.equal(`image/png/${KEY}`)
      expect(short?.folder).to.equal('image/png')
    })

    it('reads the key of a derivative only as that', () => {
      const { full, short } = parsePath(`a/${KEY}_h=200&w=100`)
      expect(full).to.include({ key: `a/${KEY}`, folder: 'a', variant: 'h=200&w=100' })
      expect(short).to.equal(undefined)
    })

    it('reads a name alone as a short path', () => {
      expect(parsePath(`${ID}.jpg`)).to.deep.equal({
        short: {
          key: `image/jpeg/${ID}.jpg`,
          folder: '',
          format: formatNamed('jpeg'),
          sourceName: `${ID}.jpg`,
        },
      })
    })

    for (const name of SAMPLES) {
      it(`finds group and format of a short path by its extension: ${name}`, () => {
        const format = knownFormat(name)
        const { short } = parsePath(`a/b/${ID}.${format.extension}`, { group: format.group })
        expect(short?.key).to.equal(`a/b/${format.group}/${format.name}/${ID}.${format.extension}`)
      })
    }

    it('ignores a short path of another group than the URL', () => {
      expect(parsePath(`${ID}.png`, { group: 'video' })).to.deep.equal({})
      expect(parsePath(`${ID}.mp4`, { group: 'video' }).short?.format.name).to.equal('mp4')
    })

    it('reads any other extension as that of an unknown file, in short and full paths', () => {
      for (const path of [`${ID}.step`, `a/b/${ID}.7zz`]) {
        const { short, full } = parsePath(path, { group: 'application' })
        const key = path.replace(ID, `application/bin/${ID}`)
        expect(short?.key).to.equal(key)
        expect(full).to.equal(undefined)
        expect(parsePath(key).full).to.deep.equal(short)
        expect(classifyKey(key as ObjectKey)).to.deep.equal({ kind: 'original', original: short })
        expect(newOriginal({ ...(short as OriginalName), id: ID })).to.deep.equal(short)
        expect(parsePath(path, { group: 'image' })).to.deep.equal({})
      }
    })

    it('finds an unknown file whose extension has become a format of another group since then', () => {
      const key = `application/bin/${ID}.png`
      expect(parsePath(key).full?.key).to.equal(key)
      expect(parsePath(`${ID}.png`, { group: 'application' }).short?.key).to.equal(key)
      expect(parsePath(`${ID}.png`).short?.key).to.equal(KEY)
    })

    it('does not read extensions that browsers run as those of an unknown file', () => {
      for (const extension of ['html', 'htm', 'xhtml', 'svg', 'xml', 'js', 'mjs', 'swf'])
        expect(parseKey(`application/bin/${ID}.${extension}`), extension).to.equal(undefined)
    })

    it('finds nothing for paths outside the grammar', () => {
      for (const path of [
        'a',
        'a/b.png',
        `${ID}`,
        `${ID}.htm`,
        `${ID}.12345`,
        `${ID}.${'x'.repeat(16)}`,
        `${ID}.png.exe`,
        'favicon.ico',
        `x${ID}.png`,
      ]) {
        expect(parsePath(path), path).to.deep.equal({})
      }
    })

    it("finds nothing for the service's own records", () => {
      for (const path of [
        `.sluice/${ID}.json`,
        `.Sluice/${ID}.json`,
        `.sluice/clients/${ID}.json`,
        recordKey(KEY as ObjectKey),
      ]) {
        expect(parsePath(path), path).to.deep.equal({})
      }
    })
  })

  describe('parseFolder', () => {
    it('reads a missing folder as an empty one', () => {
      expect(parseFolder(undefined)).to.equal('')
    })

    for (const folder of [
      'a',
      'a/b',
      'a/b/c/d/e/f/g/h',
      'a'.repeat(200),
      'ä'.repeat(100),
      'image/png',
      'über uns/100 %',
      'a/.sluice',
      '.sluices',
      '..a/...',
      `${ID}.png.d`,
      ID,
    ]) {
      it(`accepts ${JSON.stringify(folder).slice(0, 40)}`, () => {
        expect(parseFolder(folder)).to.equal(folder)
      })
    }

    for (const [what, folder, reason] of [
      [
        'a segment that reads as a signature',
        `a/s--1..${'x'.repeat(43)}--`,
        'like the signature of a folder',
      ],
      [
        'a segment that reads as a signature with an expiry',
        `s--1.99.${'x'.repeat(43)}--/a`,
        'like the signature of a folder',
      ],
      ['nine segments', 'a/b/c/d/e/f/g/h/i', 'at most 8 segments'],
      ['201 bytes', 'a'.repeat(201), 'at most 200 bytes'],
      ['201 bytes in 101 characters', `${'ä'.repeat(100)}a`, 'at most 200 bytes'],
      ["the service's own folder", '.sluice', 'outside .sluice'],
      ["a folder inside the service's own", '.sluice/meta', 'outside .sluice'],
      ["the service's own folder in another case", '.Sluice/clients', 'outside .sluice'],
      ['a segment named like a stored file', `a/${ID}.png/b`, 'named like a stored file'],
      ['a segment named like a derivative', `${ID}.png_w=100`, 'named like a stored file'],
      ...HOSTILE.filter(([, path]) => Buffer.byteLength(path) <= 512),
    ] as const) {
      it(`refuses ${what}`, () => {
        expect(() => parseFolder(folder, 'path'))
          .to.throw(Problem)
          .that.includes({ status: 400, code: 'bad_path' })
          .and.has.property('message')
          .that.includes(reason)
      })
    }
  })

  describe('keys of the service', () => {
    it('puts a derivative next to its original, under a unique prefix', () => {
      const key = KEY as ObjectKey
      expect(derivativeKey(key, 'w=1')).to.equal(`${KEY}_w=1`)
      expect(derivativeKey(key, 'w=1').startsWith(derivativePrefix(key))).to.equal(true)
      expect(KEY.startsWith(derivativePrefix(key))).to.equal(false)
    })

    it('stores records of files and clients where no path of a request leads', () => {
      expect(recordKey(KEY as ObjectKey)).to.equal(`.sluice/meta/${KEY}.json`)
      expect(clientRecordKey('first')).to.equal(`${clientRecordPrefix}first.json`)
      expect(clientRecordPrefix).to.equal('.sluice/clients/')
    })

    it('accepts a key that it has stored', () => {
      // The last as from a time when folders could hold marks of text direction.
      for (const key of [KEY, `${KEY}_h=1&w=2`, `.sluice/meta/${KEY}.json`, `\u200f/${KEY}`]) {
        expect(storedKey(key)).to.equal(key)
      }
    })

    it('refuses a key that it can never have stored', () => {
      for (const [, key] of HOSTILE) {
        expect(() => storedKey(key), key)
          .to.throw(Error, 'not an object key')
          .that.is.not.instanceOf(Problem)
      }
    })
  })
})

describe('the key of a file', () => {
  const folders = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'é', '-', '_', ' ', '.x'), minLength: 1, maxLength: 9 }), {
      maxLength: 4,
    })
    .map((segments) => segments.map((segment) => `f${segment}f`).join('/'))
  const formats = fc.constantFrom(...FORMATS.filter(({ name }) => name !== 'bin'))

  it('is read as it was made, in any folder, with and without a derivative', () =>
    holds(
      fc.property(folders, formats, fc.constantFrom('w=300', 'f=webp&q=75'), (folder, format, variant) => {
        const made = newOriginal({ folder, format, id: newFileId() })
        expect(parseKey(made.key)).to.deep.equal(made)
        expect(parseKey(derivativeKey(made.key, variant))).to.deep.equal({ ...made, variant })
        expect(classifyKey(recordKey(made.key))).to.deep.equal({ kind: 'record', original: made })
      }),
    ))

  it('is never outside the root, and never a record, whatever path is requested', () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '%2e',
      '%2F',
      '\0',
      'image',
      'png',
      `${ID}.png`,
      '.sluice',
      'meta',
      '_w=3',
      ' ',
    )
    const paths = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''))
    return holds(
      fc.property(fc.oneof(paths, fc.string()), (path) => {
        let meanings: ReturnType<typeof parsePath>
        try {
          meanings = parsePath(path)
        } catch (error) {
          expect(error).to.be.instanceOf(Problem).and.include({ status: 400, code: 'bad_path' })
          return
        }
        for (const name of [meanings.full, meanings.short]) {
          if (!name) continue
          expect(name.key.split('/')).not.to.include.oneOf(['..', '.', ''])
          expect(name.key).not.to.match(/^\/|\\|\0|^\.sluice(?:\/|$)/i)
          expect(parseKey(name.key)?.key).to.equal(name.key)
        }
      }),
    )
  })
})
