import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, inflateRawSync } from 'node:zlib'

/** A file inside a ZIP archive. */
export interface ZipEntry {
  name: string
  bytes: Buffer
  /** Stored as it is, not deflated. */
  stored: boolean
}

/** The entries of an archive in its order, by its central directory; sizes and checksums are compared. */
export function entriesOf(archive: Buffer): ZipEntry[] {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (end === -1) throw new Error('the archive has no end of central directory')
  const entries: ZipEntry[] = []
  let at = archive.readUInt32LE(end + 16)
  for (let count = archive.readUInt16LE(end + 10); count > 0; count -= 1) {
    const method = archive.readUInt16LE(at + 10)
    const [checksum, packed, size] = [16, 20, 24].map((field) => archive.readUInt32LE(at + field)) as [
      number,
      number,
      number,
    ]
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      archive.readUInt16LE(at + field),
    ) as [number, number, number]
    const local = archive.readUInt32LE(at + 42)
    const name = archive.subarray(at + 46, at + 46 + nameLength).toString('utf8')
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const data = archive.subarray(start, start + packed)
    const bytes = method === 0 ? data : inflateRawSync(data)
    if (bytes.length !== size || crc32(bytes) !== checksum) throw new Error(`the entry ${name} is damaged`)
    entries.push({ name, bytes, stored: method === 0 })
    at += 46 + nameLength + extraLength + commentLength
  }
  return entries
}

/** The entries of `_manifest.json`. */
export function manifestOf(entries: readonly ZipEntry[]): Array<Record<string, unknown>> {
  const manifest = entries.find(({ name }) => name === '_manifest.json')
  if (!manifest) throw new Error('the archive has no manifest')
  return JSON.parse(manifest.bytes.toString('utf8'))
}

const PYTHON = `
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
broken = archive.testzip()
if broken: sys.exit('broken: ' + broken)
archive.extractall(sys.argv[2])
`

/** Unpacks an archive with each of four programs into its own folder, after the program's own test where it has one. */
export async function unpackedByTools(
  archive: Buffer,
): Promise<{ folders: Record<string, string>; remove: () => Promise<void> }> {
  // As on a machine that shows its users more than ASCII.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  const run = (program: string, args: string[]) => promisify(execFile)(program, args, { env })
  const folder = await mkdtemp(join(tmpdir(), 'sluice-zip-'))
  const file = join(folder, 'archive.zip')
  const into = (name: string) => mkdtemp(join(folder, `${name}-`))
  await writeFile(file, archive)
  const folders = {
    unzip: await into('unzip'),
    python: await into('python'),
    bsdtar: await into('bsdtar'),
    '7z': await into('7z'),
    'bsdtar, from a pipe': await into('pipe'),
  }
  await run('unzip', ['-tq', file])
  await run('unzip', ['-q', file, '-d', folders.unzip])
  await run('python3', ['-c', PYTHON, file, folders.python])
  await run('bsdtar', ['-xf', file, '-C', folders.bsdtar])
  await run('7z', ['t', '-bd', file])
  await run('7z', ['x', '-bd', `-o${folders['7z']}`, file])
  await run('sh', ['-c', 'cat "$0" | bsdtar -xf - -C "$1"', file, folders['bsdtar, from a pipe']])
  return { folders, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** The bytes of a file that a program has unpacked. */
export function unpacked(folder: string, name: string): Promise<Buffer> {
  return readFile(join(folder, ...name.split('/')))
}
