import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../../src/adapters/bucket/disk/disk.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { bucketCopyContract } from '../../../contracts/bucket-copy.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { fileCalls, instead, systemError } from '../../calls.ts'

const FROM = storedKey('a/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
const TO = storedKey('b/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
const PNG = { mediaType: 'image/png' }

bucketCopyContract('disk', async () => {
  const folder = await temporaryFolder()
  return {
    buckets: await diskBuckets({ folder, urlOf: (key) => key }),
    close: () => rm(folder, { recursive: true }),
  }
})

describe('disk: a copy', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true }))

  const copied = async () => {
    const bucket = (await diskBuckets({ folder, urlOf: (key) => key })).of({ id: 'first', token: 'pub_1' })
    await bucket.put(FROM, Readable.from(['bytes']), PNG)
    expect(await bucket.copy(FROM, TO, PNG)).to.equal(true)
    return [await stat(join(folder, 'first', FROM)), await stat(join(folder, 'first', TO))] as const
  }

  it('takes no space: it is a second name of the same file', async () => {
    const [from, to] = await copied()
    expect(to.ino).to.equal(from.ino)
    expect(to.nlink).to.equal(2)
  })

  it('survives a power cut: its folder and the new parents are flushed', async () => {
    const calls = await fileCalls(folder, copied)
    const flushed = ['first/b/image/png', 'first/b/image', 'first/b', 'first']
    expect(calls.slice(-6)).to.include.members(flushed.map((path) => `flush ${path}`))
  })

  for (const code of ['EPERM', 'EMLINK', 'ENOTSUP', 'EXDEV'])
    it(`has bytes of its own where hard links fail with ${code}`, async () => {
      const failing = () => async () => {
        throw systemError(code)
      }
      const [from, to] = await instead('promises', 'link', failing, copied)
      expect(to.ino).not.to.equal(from.ino)
      expect([to.size, to.nlink]).to.deep.equal([from.size, 1])
    })
})
