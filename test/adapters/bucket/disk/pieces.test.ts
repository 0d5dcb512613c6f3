import { openSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { diskPieces } from '../../../../src/adapters/bucket/disk/pieces.ts'
import {
  type FileCalls,
  IN_THREADS,
  type QuickReads,
  quickReads,
} from '../../../../src/adapters/bucket/disk/quick-reads.ts'
import { eventually } from '../../../support/eventually.ts'
import { openFilesIn, temporaryFolder } from '../../../support/temporary-folder.ts'

const PIECE = 100_000
const BYTES = Buffer.from(Array.from({ length: 450_000 }, (_, i) => i % 251))

for (const where of ['in the event loop', 'in threads'])
  describe(`pieces of a file, read ${where}`, () => {
    let folder: string
    let path: string
    let quick: QuickReads
    beforeEach(async () => {
      folder = await temporaryFolder()
      path = join(folder, 'file')
      await writeFile(path, BYTES)
      quick = where === 'in threads' ? { calls: () => IN_THREADS } : quickReads({ isLocal: true })
    })
    afterEach(() => rm(folder, { recursive: true }))

    const pieces = async (options: Partial<Parameters<typeof diskPieces>[1]> = {}) =>
      diskPieces((await quick.calls().open(path)) as number, {
        start: 0,
        length: BYTES.length,
        isPart: false,
        newPiece: () => Buffer.alloc(PIECE),
        quick,
        ...options,
      })
    const isOpen = () => openFilesIn(folder).includes(path)

    it('are all bytes, in the memory that was asked for, and then the file is closed', async () => {
      const all = await collected(await pieces())
      expect(all.map(({ length }) => length)).to.deep.equal([PIECE, PIECE, PIECE, PIECE, 50_000])
      expect(Buffer.concat(all).equals(BYTES)).to.equal(true)
      expect(isOpen()).to.equal(false)
    })

    it('are those of a part', async () => {
      const all = await collected(await pieces({ start: 99_999, length: 200_001, isPart: true }))
      expect(Buffer.concat(all).equals(BYTES.subarray(99_999, 300_000))).to.equal(true)
    })

    it('are more than expected when the file has grown', async () => {
      const all = await collected(await pieces({ length: 200_000 }))
      expect(Buffer.concat(all).length).to.equal(200_001)
    })

    it('close the file when the reader leaves, after a read in progress', async () => {
      let reading = 0
      const slow: FileCalls = {
        ...quick.calls(),
        async read(...args) {
          reading += 1
          const bytes = await quick.calls().read(...args)
          await new Promise((done) => setTimeout(done, 20))
          // Another file would get the number of a closed one.
          expect(isOpen()).to.equal(true)
          reading -= 1
          return bytes
        },
      }
      const stream = await pieces({ quick: { calls: () => slow } })
      stream.on('data', () => {})
      await eventually(() => expect(reading).to.equal(1))
      stream.destroy()
      await eventually(() => expect(isOpen()).to.equal(false))
      expect(reading).to.equal(0)
    })

    it('leave a turn of the event loop to others after each one', async () => {
      let turns = 0
      let ended = false
      const count = () => {
        turns += 1
        if (!ended) setImmediate(count)
      }
      setImmediate(count)
      const all = await collected(await pieces({ newPiece: () => Buffer.alloc(10_000) }))
      ended = true
      expect(all).to.have.length(45)
      expect(turns).to.be.at.least(44)
    })
  })

describe('pieces of a file on a disk that fails', () => {
  it('fail, and the file is closed', async () => {
    const folder = await temporaryFolder()
    // A folder can be opened, but not read.
    const file = openSync(folder, 'r')
    const quick = quickReads({ isLocal: true })
    const options = { start: 0, length: 10, isPart: false, newPiece: () => Buffer.alloc(10), quick }
    const error = await collected(diskPieces(file, options)).catch((thrown) => thrown)
    expect(error).to.have.property('code', 'EISDIR')
    await rm(folder, { recursive: true })
  })
})

async function collected(stream: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = []
  for await (const piece of stream) all.push(piece)
  return all
}
