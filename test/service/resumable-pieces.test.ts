import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../src/adapters/bucket/disk.ts'
import { resumablePiece } from '../../src/core/object-key.ts'
import type { Bucket } from '../../src/core/ports/bucket.ts'
import { createResumablePieces, offsetOf } from '../../src/service/resumable-pieces.ts'
import { rejection } from '../support/rejection.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

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
    it(`go as far as there is no gap, and make a whole: ${what}`, async () => {
      const pieces = await stored(parts)
      expect(offsetOf(await pieces.list(ref))).to.equal(offset)
      const joined = Readable.from(pieces.join(ref, options)).toArray()
      if (offset < WHOLE.length) expect(await rejection(joined)).to.have.property('status', 503)
      else expect(Buffer.concat(await joined).toString()).to.equal(WHOLE)
    })

  it('keep what came before a stream failed', async () => {
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

  it('are not kept when they may not be any more', async () => {
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
})
