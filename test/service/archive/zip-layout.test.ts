import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { type LaidOutEntry, layOut } from '../../../src/service/archive/zip-layout.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

const MODIFIED_AT = new Date(Date.UTC(2026, 10, 26, 13, 30, 42))
const LIST = { name: '_manifest.json', bytes: Buffer.from('[]\n'), modifiedAt: MODIFIED_AT }
const SMALL = Buffer.from('small')
const small = (name: string): LaidOutEntry => ({
  name,
  size: SMALL.length,
  crc32: crc32(SMALL),
  modifiedAt: MODIFIED_AT,
})

/** Writes the archive as a file in which large entries are holes, and returns what Python reads: names, sizes, dates, and the last file but one. */
async function read(entries: readonly LaidOutEntry[]): Promise<{ files: unknown[]; content: string }> {
  const folder = await temporaryFolder()
  const path = join(folder, 'a.zip')
  const { segments, size } = layOut(entries, LIST)
  const file = await open(path, 'w')
  let end = 0
  let pieces: Buffer[] = []
  const write = async () => {
    const bytes = Buffer.concat(pieces)
    pieces = []
    await file.write(bytes, 0, bytes.length, end - bytes.length)
  }
  for (const segment of segments) {
    expect(segment.start).to.equal(end)
    const isHole = 'entry' in segment && segment.size !== SMALL.length
    if (isHole) await write()
    else pieces.push('bytes' in segment ? segment.bytes : SMALL)
    end += segment.size
  }
  await write()
  expect(end).to.equal(size)
  await file.close()
  try {
    // Each of them stops at a field that it does not understand.
    const count = entries.length + 1
    expect((await run('unzip', ['-Zh', path])).stdout).to.match(new RegExp(`entries: ${count}\n$`))
    expect((await run('7z', ['l', path], LARGE)).stdout).to.match(new RegExp(` ${count} files\n$`))
    return JSON.parse((await run('python3', ['-c', PYTHON, path], LARGE)).stdout)
  } finally {
    await rm(folder, { recursive: true })
  }
}

// Their output.
const LARGE = { maxBuffer: 1e8 }
const PYTHON = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
files = archive.infolist()
print(json.dumps({
  'files': [[f.filename, f.file_size, list(f.date_time)] for f in files[-3:]],
  'content': archive.read(files[-2]).decode() + archive.read(files[-1]).decode(),
}))
`

describe('the layout of an archive', () => {
  const date = [2026, 11, 26, 13, 30, 42]

  it('has its list alone, without any file', async () => {
    const { segments, size } = layOut([], LIST)
    expect(segments.reduce((sum, segment) => sum + segment.size, 0)).to.equal(size)
  })

  it('has names in UTF-8, sizes and dates', async () => {
    const { files, content } = await read([small('a/größe 🏯.txt'), small('b')])
    expect(files).to.deep.equal([
      ['a/größe 🏯.txt', 5, date],
      ['b', 5, date],
      ['_manifest.json', 3, date],
    ])
    expect(content).to.equal('small[]\n')
  })

  it('has files of more than 4 GiB, and files behind them', async () => {
    const large = { ...small('large'), size: 5_000_000_000 }
    const { files, content } = await read([large, small('behind')])
    expect(files).to.deep.equal([
      ['large', 5_000_000_000, date],
      ['behind', 5, date],
      ['_manifest.json', 3, date],
    ])
    expect(content).to.equal('small[]\n')
  })

  it('has more than 65,535 files', async () => {
    const { files, content } = await read(Array.from({ length: 70_000 }, (_, i) => small(`${i}`)))
    expect(files).to.deep.equal([
      ['69998', 5, date],
      ['69999', 5, date],
      ['_manifest.json', 3, date],
    ])
    expect(content).to.equal('small[]\n')
  })

  it('has the first date that the format knows for earlier ones', async () => {
    const { files } = await read([{ ...small('a'), modifiedAt: new Date(0) }])
    expect(files[0]).to.deep.equal(['a', 5, [1980, 1, 1, 0, 0, 0]])
  })
})
