import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../../src/adapters/bucket/disk/disk.ts'
import { resumablePiece } from '../../../../src/core/files/resumable-key.ts'
import type { Bucket } from '../../../../src/core/ports/bucket.ts'
import { createResumablePieces, offsetOf } from '../../../../src/service/upload/resumable/pieces.ts'
import { rejection } from '../../../support/rejection.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const WHOLE = 'the bytes of one upload'

describe('the pieces of a resumable upload', () => {
  const ref = { clientId: 'first', id: '1111111111111111111111' }
  const { signal } = new AbortController()
  const options = { size: WHOLE.length, signal }
  let bucket: Bucket
  before(async () => {
    const folder = join(await temporaryFolder(), 'bucket')
    bucket = (await diskBuckets({ folder, urlOf: () => '' })).of({ id: 'first', token: '' })
  })

  /** Has these parts of the whole be there, and no others. */
  async function stored(parts: ReadonlyArray<readonly [start: number, end: number]>) {
    const pieces = createResumablePieces(bucket)
    await pieces.delete(ref)
    for (const [start, end] of parts) {
      const bytes = Readable.from([Buffer.from(WHOLE.slice(start, end))])
      await bucket.put(resumablePiece(ref, { start, end }).key, bytes, { mediaType: 'a/b' })
    }
    return pieces
  }

  for (const [what, parts, offset] of [
    ['nothing', [], 0],
    ['one', [[0, 5]], 5],
    [
      'one after the other',
      [
        [0, 5],
        [5, 12],
        [12, WHOLE.length],
      ],
      WHOLE.length,
    ],
    ['one that is not the first', [[5, 12]], 0],
    [
      'a gap',
      [
        [0, 5],
        [6, 12],
      ],
      5,
    ],
    [
      'a gap that another one closes',
      [
        [0, 5],
        [6, 12],
        [3, 7],
        [12, WHOLE.length],
      ],
      WHOLE.length,
    ],
    [
      'one within another',
      [
        [0, 12],
        [3, 7],
        [12, WHOLE.length],
      ],
      WHOLE.length,
    ],
    [
      'two of a late and a new request',
      [
        [0, 5],
        [5, 12],
        [5, 14],
        [12, 13],
        [14, WHOLE.length],
      ],
      WHOLE.length,
    ],
  ] as ReadonlyArray<[string, ReadonlyArray<readonly [number, number]>, number]>)
    it(`are complete up to the first gap: ${what}`, async () => {
      const pieces = await stored(parts)
      expect(offsetOf(await pieces.list(ref))).to.equal(offset)
      const joined = Readable.from(pieces.join(ref, options)).toArray()
      if (offset < WHOLE.length) expect(await rejection(joined)).to.have.property('status', 503)
      else expect(Buffer.concat(await joined).toString()).to.equal(WHOLE)
    })

  it('include the bytes before a stream failed', async () => {
    const pieces = await stored([])
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from(WHOLE.slice(0, 5))
        throw new Error('no more')
      })(),
    )
    const appended = pieces.append(ref, { offset: 0, bytes: failing, check: async () => {} })
    expect(await rejection(appended)).to.have.property('message', 'no more')
    expect(offsetOf(await pieces.list(ref))).to.equal(5)
  })

  it('are not stored when the check before the write fails', async () => {
    const pieces = await stored([])
    const check = async () => {
      throw new Error('its client is gone')
    }
    const bytes = () => Readable.from([Buffer.from(WHOLE)])
    expect(await rejection(pieces.append(ref, { offset: 0, bytes: bytes(), check }))).to.have.property(
      'message',
      'its client is gone',
    )
    expect(await pieces.list(ref)).to.deep.equal([])
  })

  const check = async () => {}
  const sha1 = (bytes: Buffer) => ({
    header: 'Upload-Checksum',
    algorithm: 'sha1' as const,
    digest: createHash('sha1').update(bytes).digest(),
    length: bytes.length,
  })

  for (const isChecked of [false, true])
    it(`are few, and tiny pieces cost little, ${isChecked ? 'with' : 'without'} checksums`, async () => {
      const put = { bytes: 0 }
      const counting: Bucket = Object.assign(Object.create(bucket), {
        async put(...[key, source, options]: Parameters<Bucket['put']>) {
          const whole = Buffer.concat(await source.toArray())
          put.bytes += whole.length
          return bucket.put(key, Readable.from([whole]), options)
        },
      })
      await stored([])
      const pieces = createResumablePieces(counting)
      let offset = 0
      const send = async (length: number) => {
        const bytes = Buffer.alloc(length, offset % 251)
        const options = { offset, bytes: Readable.from([bytes]), check }
        offset = isChecked
          ? await pieces.appendChecked(ref, { ...options, checksum: sha1(bytes) })
          : await pieces.append(ref, options)
      }
      for (let i = 0; i < 25; i += 1) await send(1)
      expect(await pieces.list(ref)).to.have.lengthOf(1)
      for (let i = 0; i < 25; i += 1) await send(40_000)
      expect(await pieces.list(ref)).to.have.lengthOf.within(2, 14)
      await send(500_000)
      put.bytes = 0
      for (let i = 0; i < 25; i += 1) await send(1)
      expect(put.bytes).to.equal((25 * 26) / 2)
      expect(offsetOf(await pieces.list(ref))).to.equal(offset)
    })

  it('of a tiny piece with a wrong checksum leave the piece before unchanged', async () => {
    const pieces = await stored([[0, 5]])
    const bytes = Buffer.from(WHOLE.slice(5, 9))
    const wrong = { offset: 5, bytes: Readable.from([bytes]), check, checksum: sha1(Buffer.from('four')) }
    expect(await rejection(pieces.appendChecked(ref, wrong))).to.have.property('status', 460)
    expect((await pieces.list(ref)).map(({ start, end }) => [start, end])).to.deep.equal([[0, 5]])
    const right = { ...wrong, bytes: Readable.from([bytes]), checksum: sha1(bytes) }
    expect(await pieces.appendChecked(ref, right)).to.equal(9)
    expect((await pieces.list(ref)).map(({ start, end }) => [start, end])).to.deep.equal([[0, 9]])
  })
})
