import { execFile } from 'node:child_process'
import { open, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// More than fits into 4 bytes.
const SIZE = 4_300_000_000
const END = 4096

// test/long/zip64.test.ts reads all bytes of such a file.
describe('a link to an archive of more than 4 GiB', () => {
  let service: Service
  let folder: string
  before(async () => {
    service = await startService()
    folder = await temporaryFolder()
  })
  after(async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Uploads a file, and extends it by zeros to {@link SIZE}, without using space on the disk. */
  async function uploadLarge(): Promise<string> {
    const file = await uploadOne(service, { name: 'a.gif', bytes: Buffer.from('GIF89a'.padEnd(99, '\0')) })
    const key = storedKey(file.s3PathOriginal)
    await truncate(join(service.dataDir, 'bucket', FIRST_CLIENT_ID, key), SIZE)
    const { index } = service.storage
    const { original } = await index.find({ clientId: FIRST_CLIENT_ID, key })
    if (original?.state !== 'stored') throw new Error(`${key} is not stored`)
    await index.amend(FIRST_CLIENT_ID, original.record, { ...original.record, size: SIZE })
    return file.sourceName
  }

  it('has its length, and its end is read by ranges; unzip, 7z, bsdtar and Python list its files', async () => {
    const large = await uploadLarge()
    const small = await uploadOne(service, { name: 'a.txt', bytes: 'a few words' })
    const body = JSON.stringify({
      files: [
        { path: large, name: 'large.gif' },
        { path: small.sourceName, type: 'text', name: 'after.txt' },
      ],
    })
    const headers = { Authorization: service.tokens.secretClientToken, 'Content-Type': 'application/json' }
    const link = await exchange(service, '/v1/zip/links', { method: 'POST', headers, body })
    const { pathname } = new URL((jsonOf(link) as { url: string }).url)
    const size = Number((await exchange(service, pathname, { method: 'HEAD' })).headers['content-length'])
    expect(size).to.be.within(SIZE, SIZE + END)
    const part = async (range: string) => {
      const { status, body: bytes } = await exchange(service, pathname, { headers: { Range: range } })
      expect(status).to.equal(206)
      return bytes
    }
    const file = join(folder, 'a.zip')
    const archive = await open(file, 'w')
    await archive.write(await part(`bytes=0-${END - 1}`), 0, END, 0)
    await archive.write(await part(`bytes=-${END}`), 0, END, size - END)
    await archive.close()
    const run = async (program: string, ...args: string[]) =>
      (await promisify(execFile)(program, args, { cwd: folder })).stdout
    expect(await run('unzip', '-Zl', file)).to.match(/ 4300000000 .* large\.gif\n/)
    expect(await run('unzip', '-p', file, 'after.txt')).to.equal('a few words')
    expect(await run('7z', 'l', '-ba', file)).to.match(/ 4300000000 +4300000000 +large\.gif\n/)
    expect(await run('bsdtar', '-tvf', file)).to.match(/ 4300000000 .* large\.gif\n/)
    expect(await run('python3', '-c', PYTHON, file)).to.equal(`${SIZE} ${crc32('a few words')}\n`)
  })
})

const PYTHON = `
import sys, zipfile
files = {file.filename: file for file in zipfile.ZipFile(sys.argv[1]).infolist()}
print(files['large.gif'].file_size, files['after.txt'].CRC)
`
