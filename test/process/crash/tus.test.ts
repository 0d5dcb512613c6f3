import { expect } from 'chai'
import { type Backend, EMBEDDED } from '../../support/backend.ts'
import { endLocks, S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import type { Caller } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { begin, noise, offsetAt, patch, tus } from '../../support/requests/tus.ts'
import { crashPoints } from '../../support/servers/crash-points.ts'
import { type Service, startService } from '../../support/service.ts'
import { withClock } from '../../support/stored/clock.ts'

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
    const crash = crashPoints(backend)

    /** Another service, after a sweep ten minutes later, when all leases have expired. */
    async function later(dataDir: string): Promise<Service> {
      const clock = { aheadMs: 600_000 }
      const service = await start({ dataDir, wrapStorage: withClock(clock) })
      await endLocks(dataDir)
      await service.app.sweep()
      clock.aheadMs = 0
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
      crash(`resumes where it was, and stores one original: ${step}`, {
        step,
        async prepare(dataDir) {
          // A living process receives the first bytes: their small rest is then read and stored again.
          const first = await start({ dataDir })
          const address = await begin(first, SIZE, { values: { filename: 'a.bin' } })
          await patch(first, address, { offset: 0, body: bytes.subarray(0, HALF) })
          await first.stop({ keepData: true })
          return address
        },
        work: (dying, address) =>
          patch(dying, at(dying, address), { offset: HALF, body: bytes.subarray(HALF) }),
        async test(dataDir, address) {
          const service = await later(dataDir)
          const here = at(service, address)
          let offset = 0
          // To the sweep, which is ahead, an upload that the new service completes looks abandoned too: a 503, and then a retry.
          await eventually(async () => {
            offset = await offsetAt(service, here)
          })
          expect(offset).to.be.within(HALF, SIZE)
          if (offset < SIZE)
            expect((await patch(service, here, { offset, body: bytes.subarray(offset) })).status).to.equal(
              204,
            )
          await expectOneOriginal(service, address)
        },
      })

    crash('is stored by a sweep when the client does not return', {
      step: 'before index.beginUpload',
      prepare: async () => ({ address: '' }),
      async work(dying, upload) {
        upload.address = await begin(dying, SIZE)
        await patch(dying, upload.address, { offset: 0, body: bytes })
      },
      async test(dataDir, { address }) {
        const service = await later(dataDir)
        await eventually(async () => {
          await command(service, 'sweep', {})
          expect((await service.objects()).filter((key) => !key.includes('.sluice'))).to.have.lengthOf(1)
        })
        await expectOneOriginal(service, address)
      },
    })
  })
