import { expect } from 'chai'
import fc from 'fast-check'
import { derivativeKey, newOriginal } from '../../../src/core/files/object-key.ts'
import { originalCandidates, parsePath, readCandidates } from '../../../src/core/files/request-path.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { isFileWithin } from '../../../src/http/caller/signed-cookie.ts'
import { holds } from '../../contracts/property.ts'

const ID = '7JAiMJ5xg1xH6JYSiPjo5R'

// Segments that are also the names of types and formats, or begin like each other.
const segment = fc.constantFrom('a', 'ab', 'A', 'image', 'png', 'video', 'mp4', 'a b')
const folders = fc.array(segment, { minLength: 0, maxLength: 4 }).map((segments) => segments.join('/'))
const cookies = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))
const names = fc
  .tuple(folders, fc.constantFrom('png', 'mp4'))
  .map(([folder, format]) => newOriginal({ folder, format: knownFormat(format), id: ID }))
/** Segment by segment, without any text that begins another one. */
function isBelow(folder: string, around: string): boolean {
  const [own, outer] = [folder.split('/'), around.split('/')]
  return outer.every((one, i) => own[i] === one)
}

describe('a signed cookie', () => {
  it('opens exactly the files in its folder and subfolders, by their keys and those of their derivatives', () =>
    holds(
      fc.property(names, cookies, ({ key, folder }, around) => {
        const expected = isBelow(folder, around)
        for (const path of [key, derivativeKey(key, 'w=20'), `${derivativeKey(key, 'hls')}/master.m3u8`])
          expect(isFileWithin(path, around), `${path} in ${around}`).to.equal(expected)
      }),
    ))

  it('opens no path that may also mean a file outside of its folder', () =>
    holds(
      fc.property(names, cookies, ({ folder, sourceName, format }, around) => {
        const path = folder === '' ? sourceName : `${folder}/${sourceName}`
        const meanings = parsePath(path, { group: format.group })
        const all = [...readCandidates(meanings), ...originalCandidates(meanings)]
        expect(all).not.to.deep.equal([])
        const expected = all.every((one) => isBelow(one.folder, around))
        expect(isFileWithin(path, around), `${path} in ${around}`).to.equal(expected)
      }),
    ))

  it('opens no path that leaves the folder, is encoded twice, or shows a private file', () => {
    for (const path of [
      'a/../b',
      'a/./b',
      'a//b',
      'a/%2e%2e/b',
      'a/b\0',
      '/a/b',
      `a/image/png/${ID}.png_w=30&~private`,
    ])
      expect(isFileWithin(path, 'a'), path).to.equal(false)
    expect(isFileWithin('a', 'a')).to.equal(false)
  })
})
