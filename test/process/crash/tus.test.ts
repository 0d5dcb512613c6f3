import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { type Backend, EMBEDDED } from '../../support/backend.ts'
import { endLocks, S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import type { Caller } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { begin, noise, offsetAt, patch, tus } from '../../support/requests/tus.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { type Service, startService } from '../../support/service.ts'
import { withClock } from '../../support/stored/clock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SERVER = [await builtScript('crash-server')]
const SIZE = 9_000_000
const HALF = 8_200_000

/** Where a process dies that has taken the first part of an upload and gets the rest; each step comes once or more. */
const STEPS = [
  'before bucket.put piece',
  'within bucket.put piece',
  'after bucket.put piece',
  'before bucket.delete piece',
  'after bucket.delete piece',
  'before index.beginUpload',
  'after index.beginUpload',
  'within bucket.put original',
  'after bucket.put original',
  'before bucket.put record',
  'after bucket.put record',
  'after index.finishUpload',
  'before bucket.put resumable',
  'after bucket.put resumable',
]

for (const backend of [EMBEDDED, S3_REDIS] satisfies Backend[])
  describe(`a process killed during a resumable upload (${backend.name})`, function () {
    this.timeout(60_000)
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    const bytes = noise(SIZE)
    let dataDir: string
    let server: RunningServer | undefined
    beforeEach(async () => {
      dataDir = await temporaryFolder()
    })
    afterEach(async () => {
      server?.child.kill('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    })

    async function live(step: string): Promise<RunningServer> {
      server = await startProcess({
        script: SERVER,
        env: { ...(await backend.env(dataDir)), DATA_DIR: dataDir, CRASH_AT: step },
      })
      return server
    }

    /** The service ten minutes later, when all leases have expired. */
    async function later(): Promise<Service> {
      const service = await start({ dataDir, wrapStorage: withClock({ aheadMs: 600_000 }) })
      await endLocks(dataDir)
      await service.app.sweep()
      return service
    }

    const at = ({ url }: Caller, address: string) => `${url}${new URL(address).pathname}`

    async function expectOneOriginal(service: Service, address: string): Promise<void> {
      const here = at(service, address)
      await eventually(async () => expect((await tus(service, here)).status).to.equal(200))
      const [record] = jsonOf(await tus(service, here)) as unknown as Array<{ src: string }>
      const { body } = await exchange(service, new URL(record?.src ?? '').pathname)
      expect(body.equals(bytes)).to.equal(true)
      const objects = await service.objects()
      expect(objects.filter((key) => !key.includes('.sluice'))).to.have.lengthOf(1)
      await command(service, 'sweep', {})
      expect((await service.objects()).filter((key) => key.includes('/tus/pieces/'))).to.deep.equal([])
    }

    // A crash before a step leaves the same state as a crash after the previous step. On disk, both are tried.
    for (const step of STEPS.filter((name) => backend === EMBEDDED || !name.startsWith('before ')))
      it(`resumes where it was, and stores one original: ${step}`, async () => {
        // A living process receives the first bytes: their small rest is then read and stored again.
        const first = await start({ dataDir })
        const address = await begin(first, SIZE, { values: { filename: 'a.bin' } })
        await patch(first, address, { offset: 0, body: bytes.subarray(0, HALF) })
        await first.stop({ keepData: true })

        const dying = await live(step)
        const sent = patch(dying, at(dying, address), { offset: HALF, body: bytes.subarray(HALF) }).catch(
          () => {},
        )
        expect(await dying.ended).to.equal('SIGKILL')
        await sent

        const service = await later()
        const here = at(service, address)
        const offset = await offsetAt(service, here)
        expect(offset).to.be.within(HALF, SIZE)
        if (offset < SIZE)
          expect((await patch(service, here, { offset, body: bytes.subarray(offset) })).status).to.equal(204)
        await expectOneOriginal(service, address)
      })

    it('is stored by a sweep when the client does not return', async () => {
      const dying = await live('before index.beginUpload')
      const address = await begin(dying, SIZE)
      const sent = patch(dying, address, { offset: 0, body: bytes }).catch(() => {})
      expect(await dying.ended).to.equal('SIGKILL')
      await sent
      const service = await later()
      await eventually(async () => {
        await command(service, 'sweep', {})
        expect((await service.objects()).filter((key) => !key.includes('.sluice'))).to.have.lengthOf(1)
      })
      await expectOneOriginal(service, address)
    })
  })
