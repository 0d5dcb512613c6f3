import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { diskBuckets } from '../../../../src/adapters/bucket/disk/disk.ts'
import { quickReads } from '../../../../src/adapters/bucket/disk/quick-reads.ts'
import { InMemoryStream } from '../../../../src/core/bytes/in-memory-stream.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../../src/core/ports/bucket.ts'
import { rejection } from '../../../support/rejection.ts'
import { openFilesIn, temporaryFolder } from '../../../support/temporary-folder.ts'
import { fileCalls, instead, systemError, type Wrap } from '../../calls.ts'

const KEY = storedKey('image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
const OPTIONS = { mediaType: 'image/png', durable: false }

describe('disk: a put of bytes in memory', () => {
  let folder: string
  let bucket: Bucket

  beforeEach(async () => {
    folder = await temporaryFolder()
    // Always in the event loop, however slow the disk is.
    const quick = quickReads({ isLocal: true, clock: () => 0 })
    bucket = (await diskBuckets({ folder, urlOf: () => '', quick })).of({ id: 'first', token: 'pub_1' })
  })

  const expectNothing = async () => expect(await readdir(join(folder, '.tmp'))).to.deep.equal([])

  it('flushes all bytes before the file gets its name', async () => {
    const calls = await fileCalls(folder, () =>
      bucket.put(KEY, new InMemoryStream(Buffer.from('0123456789')), OPTIONS),
    )
    const [temporary] = calls[0]?.split(' ').slice(1) ?? []
    const renamed = `rename ${temporary} first/${KEY}`
    // Its folder is missing the first time.
    expect(calls).to.deep.equal([`flush ${temporary}`, renamed, renamed])
    expect(await readFile(join(folder, 'first', KEY), 'utf8')).to.equal('0123456789')
  })

  it('writes the rest when the disk writes fewer bytes than given', async () => {
    const less: Wrap = (real) =>
      ((file: never, bytes: Buffer, at: never, length: number, position: never) =>
        real(file, bytes as never, at, Math.min(3, length) as never, position)) as never
    await instead('fs', 'writeSync', less, () =>
      bucket.put(KEY, new InMemoryStream(Buffer.from('0123456789')), OPTIONS),
    )
    expect(await readFile(join(folder, 'first', KEY), 'utf8')).to.equal('0123456789')
  })

  for (const name of ['openSync', 'writeSync', 'fsync', 'renameSync']) {
    it(`leaves no file, closed or open, when the disk is full during ${name}`, async () => {
      const full: Wrap =
        () =>
        (...args: never[]) => {
          const done = args.at(-1) as unknown
          if (typeof done === 'function') done(systemError('ENOSPC'))
          else throw systemError('ENOSPC')
        }
      const error = await instead('fs', name, full, () =>
        rejection(bucket.put(KEY, new InMemoryStream(Buffer.from('x')), OPTIONS)),
      )
      expect(error).to.have.property('code', 'storage_full')
      await expectNothing()
      expect(await bucket.find(KEY)).to.equal(undefined)
      expect(openFilesIn(folder)).to.deep.equal([])
    })
  }

  it('stores nothing for a signal that has aborted, before the write or during it', async () => {
    const early = new InMemoryStream(Buffer.from('x'))
    await rejection(bucket.put(KEY, early, { ...OPTIONS, signal: AbortSignal.abort() }))
    expect(early.destroyed).to.equal(true)
    const late = new AbortController()
    const aborting: Wrap =
      (real) =>
      (...args: never[]) => {
        late.abort()
        return real(...args)
      }
    const error = await instead('fs', 'fsync', aborting, () =>
      rejection(bucket.put(KEY, new InMemoryStream(Buffer.from('x')), { ...OPTIONS, signal: late.signal })),
    )
    expect(error).to.have.property('name', 'AbortError')
    await expectNothing()
    expect(await bucket.find(KEY)).to.equal(undefined)
  })
})
