import { execFile } from 'node:child_process'
import { open, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../src/core/clients/client.ts'
import { storedKey } from '../../src/core/files/object-key.ts'
import { postZip, uploadOne, type WireRecord } from '../support/requests/client.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// More than 4 bytes can say.
const SIZE = 4_300_000_000
const ZEROS = Buffer.alloc(1024 * 1024)
const PYTHON = `
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print([(entry.filename, entry.file_size) for entry in archive.infolist()[:3]])
print(archive.read('after.txt').decode())
`

// test/service/archive/zip64.test.ts checks the fields of such an archive in `npm test`, without its bytes.
describe('an archive of more than 4 GiB', function () {
  this.timeout(900_000)
  let service: Service
  let folder: string
  let file: string
  before(async () => {
    service = await startService()
    folder = await temporaryFolder()
    file = join(folder, 'large.zip')
    const large = await uploadOne(service, {
      name: 'large.gif',
      bytes: Buffer.from('GIF89a'.padEnd(99, '\0')),
    })
    const small = await uploadOne(service, { name: 'small.txt', bytes: 'a few words' })
    await stretched(service, large)
    const response = await postZip(service, {
      files: [
        { path: small.sourceName, type: 'text', name: 'before.txt' },
        { path: large.sourceName, name: 'large.gif' },
        { path: small.sourceName, type: 'text', name: 'after.txt' },
      ],
    })
    await saveSparse(response.body as AsyncIterable<Uint8Array>, file)
  })
  after(async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const run = async (program: string, ...args: string[]) =>
    (await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 1e6 })).stdout

  it('is read by unzip', async () => {
    // All of it would take half a minute: its sums are made byte by byte.
    await run('unzip', '-tq', file, 'before.txt', 'after.txt')
    expect(await run('unzip', '-Zl', file)).to.match(/ 4300000000 .* large\.gif/)
    expect(await run('unzip', '-p', file, 'after.txt')).to.equal('a few words')
  })

  it('is read by Python', async () => {
    const files = `[('before.txt', 11), ('large.gif', ${SIZE}), ('after.txt', 11)]`
    expect(await run('python3', '-c', PYTHON, file)).to.equal(`${files}\na few words\n`)
  })

  it('is read by bsdtar', async () => {
    expect(await run('bsdtar', '-tvf', file)).to.match(/ 4300000000 .* large\.gif/)
    const count = 'bsdtar -xOf "$0" large.gif | wc -c; bsdtar -xOf "$0" after.txt'
    expect(await run('sh', '-c', count, file)).to.match(/^\s*4300000000\na few words$/)
  })

  it('is read by 7z', async () => {
    const told = await run('7z', 't', '-bd', file)
    expect(told)
      .to.match(/Everything is Ok/)
      .and.to.match(/Size: +43000\d+/)
    expect(told).not.to.match(/warning/i)
  })
})

/** Makes an original as long as that, behind the bucket's back, without using the disk's room. */
async function stretched({ dataDir, storage }: Service, { s3PathOriginal }: WireRecord): Promise<void> {
  await truncate(join(dataDir, 'bucket', FIRST_CLIENT_ID, s3PathOriginal), SIZE)
  const { original } = await storage.index.find({ clientId: FIRST_CLIENT_ID, key: storedKey(s3PathOriginal) })
  if (original?.state !== 'stored') throw new Error(`${s3PathOriginal} is not stored`)
  await storage.index.amend(FIRST_CLIENT_ID, original.record, { ...original.record, size: SIZE })
}

/** Leaves out what is nothing but zeros, so that the file takes no room either. */
async function saveSparse(chunks: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await open(path, 'w')
  let at = 0
  for await (const chunk of chunks) {
    if (!ZEROS.subarray(0, chunk.length).equals(chunk)) await file.write(chunk, 0, chunk.length, at)
    at += chunk.length
  }
  await file.truncate(at)
  await file.close()
}
