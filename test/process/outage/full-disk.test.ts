import { execFile } from 'node:child_process'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { deleteFile, postFiles, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { readState, storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('a disk on which the index cannot grow', () => {
  let dataDir: string
  let server: RunningServer
  let stored: WireRecord
  let doomed: WireRecord
  before(async () => {
    dataDir = await temporaryFolder()
    const photo = await picture({ width: 40, height: 30 })
    server = await startProcess({ env: { DATA_DIR: dataDir } })
    stored = await uploadOne(server, { name: 'a.png', bytes: photo })
    doomed = await uploadOne(server, { name: 'c.png', bytes: photo })
    await fill()
  })
  after(async () => {
    server.child.kill('SIGKILL')
    await server.ended
    await rm(dataDir, { recursive: true, force: true })
  })

  const get = ({ src }: WireRecord, query = '') =>
    fetch(`${server.url}${new URL(src).pathname}${query}`).then(async (response) => {
      await response.arrayBuffer()
      return response
    })

  /** As on a full disk: the next row is cut after ten bytes, and so is all that comes after it. */
  async function fill(): Promise<void> {
    const index = join(dataDir, 'index')
    const log = (await readdir(index)).find((name) => /^\d+\.log$/.test(name)) ?? ''
    const { size } = await stat(join(index, log))
    await limitFiles(server, String(size + 10))
  }

  it('causes 503 for writes, and does not affect reads', async () => {
    for (let i = 0; i < 3; i += 1) {
      for (const response of [
        await postFiles(server, [{ name: 'b.txt', bytes: 'b' }]),
        await get(stored, '?w=20'),
        await deleteFile(server, stored.s3PathOriginal),
      ]) {
        expect(response.status).to.equal(503)
        expect(response.headers.get('retry-after')).to.equal('60')
      }
      expect((await get(stored)).status).to.equal(200)
    }
    const problem = await postFiles(server, [{ name: 'b.txt', bytes: 'b' }])
    expect(await problem.json()).to.include({ code: 'storage_full' })
  })

  it('has no lasting effect when there is space again: without a restart, and after one', async () => {
    expect((await postFiles(server, [{ name: 'b.txt', bytes: 'b' }])).status).to.equal(503)
    expect((await deleteFile(server, doomed.s3PathOriginal)).status).to.equal(503)
    await limitFiles(server, 'unlimited')

    // All at once: writers and readers wait until the index is opened again.
    const [reads, uploads] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, () => get(stored))),
      Promise.all([1, 2, 3].map((n) => uploadOne(server, { name: `${n}.txt`, bytes: String(n) }))),
    ])
    expect(reads.map(({ status }) => status)).to.deep.equal(Array(20).fill(200))
    expect((await get(stored, '?w=20&f=png')).status).to.equal(200)
    expect((await deleteFile(server, doomed.s3PathOriginal)).status).to.equal(200)

    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(0)
    const state = storedState('first', {
      [stored.s3PathOriginal]: ['w=20'],
      ...Object.fromEntries(uploads.map(({ s3PathOriginal }) => [s3PathOriginal, []])),
    })
    expect(await readState(dataDir)).to.deep.equal(state)
  })
})

/** How large a file this process may write from now on: prlimit(1), RLIMIT_FSIZE, which needs no privilege. */
async function limitFiles({ pid }: RunningServer, bytes: string): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
}
