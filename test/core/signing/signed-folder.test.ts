import { expect } from 'chai'
import fc from 'fast-check'
import { signFolderCookie } from '../../../client/index.ts'
import { COOKIE_MAX_SECONDS, readSignedFolder, signFolder } from '../../../src/core/signing/signed-folder.ts'
import { holds } from '../../contracts/property.ts'

const TOKEN = 'pub_1'
const KEY = { version: 3, key: 'the key of these tests' }
const NOW = 1_800_000_000

const read = (value: string, { token = TOKEN, now = NOW } = {}) =>
  readSignedFolder(value, {
    token,
    now: 1000 * now,
    findKey: (version) => (version === KEY.version ? KEY.key : undefined),
  })
const folders = fc.string({
  unit: fc.constantFrom('a', 'b', '/', '.', 'ü', '🙂', ' '),
  minLength: 1,
  maxLength: 40,
})

describe('the value of a signed cookie', () => {
  it('is valid as it was signed, and only for its client', () =>
    holds(
      fc.property(folders, fc.integer({ min: 1, max: COOKIE_MAX_SECONDS }), (folder, seconds) => {
        const until = NOW + seconds
        const value = signFolder({ token: TOKEN, folder, until }, KEY)
        expect(value).to.match(/^[\w.-]+$/)
        expect(read(value)).to.deep.equal({ folder, until, version: 3 })
        expect(read(value, { token: 'pub_2' })).to.equal(undefined)
        expect(read(value, { now: until - 1 })).to.include({ until })
        expect(read(value, { now: until })).to.equal('expired')
      }),
    ))

  it('is invalid when any of its characters is another one', () =>
    holds(
      fc.property(
        folders,
        fc.nat(),
        fc.constantFrom('a', '1', '.', '-', '_', 'Z', '='),
        (folder, at, character) => {
          const value = signFolder({ token: TOKEN, folder, until: NOW + 600 }, KEY)
          const i = at % value.length
          fc.pre(value[i] !== character)
          expect(read(value.slice(0, i) + character + value.slice(i + 1))).to.equal(undefined)
        },
      ),
    ))

  it('is invalid in another spelling, and without a folder', () => {
    const value = signFolder({ token: TOKEN, folder: 'a', until: NOW + 600 }, KEY)
    expect(value).to.match(/\.YQ$/)
    for (const other of ['YR', 'YQ=', 'YQ\n', ' YQ'])
      expect(read(value.replace(/YQ$/, other))).to.equal(undefined)
    expect(read(signFolder({ token: TOKEN, folder: '', until: NOW + 600 }, KEY))).to.equal(undefined)
  })

  it('is invalid for a longer time than a week and an hour, for clocks that differ', () => {
    const lasting = (seconds: number) =>
      read(signFolder({ token: TOKEN, folder: 'a', until: NOW + seconds }, KEY))
    expect(lasting(COOKIE_MAX_SECONDS + 3600)).to.include({ folder: 'a' })
    expect(lasting(COOKIE_MAX_SECONDS + 3601)).to.equal(undefined)
  })

  it('is that of the client library', async () => {
    for (const folder of ['a', 'galleries/ü 🙂/b']) {
      const { value, maxAge, link } = await signFolderCookie({
        token: TOKEN,
        key: KEY,
        folder,
        expiresIn: 600,
        now: () => 1000 * NOW + 999,
      })
      expect(value).to.equal(signFolder({ token: TOKEN, folder, until: NOW + 600 }, KEY))
      expect([maxAge, link]).to.deep.equal([600, `/v1/cookie/${TOKEN}/${value}`])
    }
  })

  it('is not created by the client library for all folders, or without an end', async () => {
    const refused = async (folder: string, expiresIn: number) =>
      signFolderCookie({ token: TOKEN, key: KEY, folder, expiresIn }).then(
        () => 'signed',
        (error: Error) => error.name,
      )
    for (const folder of ['', '/', 'a/', '/a'])
      expect(await refused(folder, 60), folder).to.equal('TypeError')
    for (const seconds of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, COOKIE_MAX_SECONDS + 1])
      expect(await refused('a', seconds), String(seconds)).to.equal('RangeError')
  })
})
