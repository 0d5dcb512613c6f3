import { expect } from 'chai'
import type { Readiness } from '../../../src/http/wire/system.ts'
import { version } from '../../../src/process/version.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { sluice, sluiceJson } from '../../support/programs/sluice.ts'
import { deleteFile, postFiles, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { type SmallDisk, smallDisk } from '../../support/servers/small-disk.ts'
import { itLong } from '../../support/sized.ts'

const MIB = 1024 ** 2

describe('a full file system', () => {
  let disk: SmallDisk
  let env: Record<string, string>
  let server: RunningServer
  let photo: Buffer
  before(async () => {
    disk = await smallDisk({ bytes: 64 * MIB })
    env = { DATA_DIR: `${disk.folder}/data`, DISK_RESERVE_BYTES: String(24 * MIB) }
    photo = await picture({ width: 40, height: 30 })
    server = await startProcess({ env })
  })
  after(async () => {
    server?.child.kill('SIGKILL')
    await server?.ended
    await disk?.remove()
  })

  const get = async ({ src }: WireRecord, query = '') => {
    const response = await fetch(`${server.url}${new URL(src).pathname}${query}`)
    await response.arrayBuffer()
    return response.status
  }
  const ready = async () => {
    const response = await fetch(`${server.url}/readyz`)
    const answer = (await response.json()) as Readiness
    // Another machine has other fonts.
    const { fonts: _, ...checks } = answer.checks
    return { status: response.status, body: { status: answer.status, version: answer.version, checks } }
  }
  const reserveIsWhole = () =>
    eventually(async () =>
      expect(await disk.freeBytes())
        .to.be.below(40 * MIB)
        .and.above(0),
    )
  const full = {
    status: 'degraded',
    version: version(),
    checks: { bucket: 'ok', index: 'ok', ffmpeg: 'ok', disk: 'full' },
  }

  it('allows deletes, kill -9 and a start, and refuses uploads until there is space', async () => {
    const files: WireRecord[] = []
    for (let i = 0; i < 20; i += 1) files.push(await uploadOne(server, { name: `${i}.png`, bytes: photo }))
    const [first, ...others] = files as [WireRecord, ...WireRecord[]]
    expect(await get(first, '?w=20')).to.equal(200)
    await reserveIsWhole()
    await disk.fill()

    expect(await ready()).to.deep.equal({ status: 200, body: full })
    expect((await postFiles(server, [{ name: 'b.bin', bytes: Buffer.alloc(100_000) }])).status).to.equal(503)
    const permanent = others.slice(0, 14)
    for (const file of permanent) {
      expect((await deleteFile(server, file.s3PathOriginal)).status).to.equal(200)
      expect(await get(file)).to.equal(404)
      // Another program takes what the delete has made free.
      if (!server.output().includes('a part of the reserve was released')) await disk.fill()
    }
    expect(server.output()).to.include('a part of the reserve was released')
    // What was given up for deletes is not for uploads.
    for (let i = 0; i < 3; i += 1) {
      const refused = await postFiles(server, [{ name: 'b.txt', bytes: 'b' }])
      expect(refused.status).to.equal(503)
      expect(await refused.json()).to.include({ code: 'storage_full' })
    }
    expect(await get(first)).to.equal(200)

    // It takes what was given up as well, and the process dies.
    await disk.fill()
    server.child.kill('SIGKILL')
    await server.ended
    await disk.fill()
    server = await startProcess({ env })
    expect(await get(first)).to.equal(200)
    expect(await get(permanent[0] as WireRecord)).to.equal(404)
    expect(await ready()).to.deep.equal({ status: 200, body: full })
    expect((await deleteFile(server, others[15]?.s3PathOriginal ?? '')).status).to.equal(200)

    await disk.makeRoom()
    expect((await ready()).body).to.have.property('status', 'ok')
    expect((await postFiles(server, [{ name: 'b.txt', bytes: 'b' }])).status).to.equal(200)
    const { code, stdout } = await sluice(['check'], env)
    expect(stdout).to.include('bucket and index agree')
    expect(code).to.equal(0)
    await reserveIsWhole()
  })

  itLong('allows soft deletes', async () => {
    const kept = await uploadOne(server, { name: 'kept.png', bytes: photo })
    const { code, stderr } = await sluice(['client', 'set', 'first', '--keep-deleted', '1d'], env)
    expect(stderr + code).to.equal('0')
    await disk.fill()
    expect((await deleteFile(server, kept.s3PathOriginal)).status).to.equal(200)
    expect(await get(kept)).to.equal(404)
    await disk.makeRoom()
    expect(await sluiceJson(['check'], env)).to.deep.include({ findings: {} })
  })
})
