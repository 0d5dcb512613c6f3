import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { ZipArchive } from 'archiver'
import { expect } from 'chai'
import { createZipWriter } from '../../../src/service/archive/zip-writer.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// The sum of 4 GiB takes half a minute of CPU time. So the library believes that one file is followed by 4.3 GB more, and the
// archive has a hole there. test/long/zip64.test.ts writes all bytes, in `npm run test:long`.
const HOLE = 4_300_000_000
const PYTHON = `
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print([(entry.filename, entry.file_size, entry.compress_size) for entry in archive.infolist()])
print(archive.read('before.txt').decode(), archive.read('after.txt').decode())
`

/** The parts of the library that count: how far the archive has come, and how large an entry is. */
interface Engine {
  offset: number
  _smartStream(entry: unknown, callback: unknown): Transform & { size(isCompressed?: boolean): number }
}

describe('the fields of an archive of more than 4 GiB', () => {
  let folder: string
  let file: string
  before(async () => {
    folder = await temporaryFolder()
    file = join(folder, 'large.zip')
    const pieces = await written()
    const archive = await open(file, 'w')
    for (const { at, bytes } of pieces) await archive.write(bytes, 0, bytes.length, at)
    await archive.close()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const run = async (program: string, ...args: string[]) => (await promisify(execFile)(program, args)).stdout

  it('are understood by unzip', async () => {
    await run('unzip', '-tq', file, 'before.txt', 'after.txt')
    expect(await run('unzip', '-Zl', file)).to.match(/ 4300000006 .* large\.gif/)
    expect(await run('unzip', '-p', file, 'after.txt')).to.equal('the end')
  })

  it('are understood by Python', async () => {
    const listed = `[('before.txt', 9, 9), ('large.gif', ${HOLE + 6}, ${HOLE + 6}), ('after.txt', 7, 7)]`
    expect(await run('python3', '-c', PYTHON, file)).to.equal(`${listed}\nthe start the end\n`)
  })
})

/** Writes three files. The bytes after the hole have their place behind it. */
async function written(): Promise<Array<{ at: number; bytes: Buffer }>> {
  const writer = createZipWriter()
  const chunks: Buffer[] = []
  const ended = (async () => {
    for await (const chunk of writer.output) chunks.push(chunk)
  })()
  const entry = { modifiedAt: new Date(0), deflated: false }
  await writer.add({ ...entry, name: 'before.txt', bytes: Buffer.from('the start') })
  const holeAt = await withHole(() =>
    writer.add({ ...entry, name: 'large.gif', bytes: Readable.from([Buffer.from('GIF89a')]) }),
  )
  await writer.add({ ...entry, name: 'after.txt', bytes: Buffer.from('the end') })
  await writer.end()
  await ended
  const all = Buffer.concat(chunks)
  return [
    { at: 0, bytes: all.subarray(0, holeAt) },
    { at: holeAt + HOLE, bytes: all.subarray(holeAt) },
  ]
}

/** Adds the hole to the entry that `add` writes. @returns where it begins */
async function withHole(add: () => Promise<void>): Promise<number> {
  const { append } = ZipArchive.prototype
  let at = 0
  ZipArchive.prototype.append = function (this: { _module: { engine: Engine } }, ...args) {
    const { engine } = this._module
    const original = engine._smartStream
    engine._smartStream = (...entry) => {
      engine._smartStream = original
      const sum = original.apply(engine, entry)
      const { size } = sum
      sum.size = (isCompressed) => size.call(sum, isCompressed) + HOLE
      return sum.prependOnceListener('end', () => {
        at = engine.offset
        engine.offset += HOLE
      })
    }
    return append.apply(this as never, args)
  } as typeof append
  try {
    await add()
    return at
  } finally {
    ZipArchive.prototype.append = append
  }
}
