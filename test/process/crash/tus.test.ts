import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import type { Caller } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { begin, offsetAt, patch, tus } from '../../support/requests/tus.ts'
import { crashedBackends, crashPoints, isTriedOn, preparedOnce } from '../../support/servers/crash-points.ts'
import { type Service, startService } from '../../support/service.ts'
import { sweptLater } from '../../support/stored/clock.ts'
import { noise } from '../../support/stored/noise.ts'

// More than a piece has at most, and more than a part of an upload to S3.
const LARGE = { size: 9_000_000, first: 8_200_000 }
// A first piece so small that the next request reads it and stores it again, with what comes.
const SMALL = { size: 900_000, first: 20_000 }

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
// Steps that leave parts in S3, or a difference between bucket and index.
const S3_REDIS_STEPS = [
  'within bucket.put piece',
  'after bucket.put piece',
  'before bucket.delete piece',
  'within bucket.put original',
  'after bucket.put record',
]

// One of a piece, and one of the original.
const USUAL_STEPS = ['within bucket.put piece', 'after bucket.put original']

for (const backend of crashedBackends(EMBEDDED, S3_REDIS))
  describe(`a process killed during a resumable upload (${backend.name})`, () => {
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    const { size, first: firstBytes } = backend === EMBEDDED ? SMALL : LARGE
    const bytes = noise(size)
    const crash = crashPoints(backend)

    const later = (dataDir: string) => sweptLater(start, dataDir)

    const at = ({ url }: Caller, address: string) => `${url}${new URL(address).pathname}`

    async function expectOneOriginal(service: Service, address: string, sent = bytes): Promise<void> {
      const here = at(service, address)
      await eventually(async () => expect((await tus(service, here)).status).to.equal(200))
      const [record] = jsonOf(await tus(service, here)) as unknown as Array<{ src: string }>
      const { body } = await exchange(service, new URL(record?.src ?? '').pathname)
      expect(body.equals(sent)).to.equal(true)
      const objects = await service.objects()
      expect(objects.filter((key) => !key.includes('.sluice'))).to.have.lengthOf(1)
      await command(service, 'sweep', {})
      expect((await service.objects()).filter((key) => key.includes('/tus/pieces/'))).to.deep.equal([])
    }

    const begun = async (dataDir: string) => {
      // A living process receives the first bytes.
      const first = await start({ dataDir })
      const address = await begin(first, size, { values: { filename: 'a.bin' } })
      await patch(first, address, { offset: 0, body: bytes.subarray(0, firstBytes) })
      await first.stop({ keepData: true })
      return address
    }
    const prepare = backend === EMBEDDED ? preparedOnce(begun) : begun
    for (const step of STEPS.filter((name) =>
      isTriedOn(backend, name, { onS3: S3_REDIS_STEPS, usual: USUAL_STEPS }),
    ))
      crash(`resumes where it was, and stores one original: ${step}`, {
        step,
        prepare,
        work: (dying, address) =>
          patch(dying, at(dying, address), { offset: firstBytes, body: bytes.subarray(firstBytes) }),
        async test(dataDir, address) {
          const service = await later(dataDir)
          const here = at(service, address)
          let offset = 0
          // To the sweep, which is ahead, an upload that the new service completes looks abandoned too: a 503, and then a retry.
          await eventually(async () => {
            offset = await offsetAt(service, here)
          })
          expect(offset).to.be.within(firstBytes, size)
          if (offset < size)
            expect((await patch(service, here, { offset, body: bytes.subarray(offset) })).status).to.equal(
              204,
            )
          await expectOneOriginal(service, address)
        },
      })

    // Of several pieces, on both backends.
    const large = backend === EMBEDDED ? noise(LARGE.size) : bytes
    crash('is stored by a sweep when the client does not return', {
      step: 'before index.beginUpload',
      prepare: async () => ({ address: '' }),
      async work(dying, upload) {
        upload.address = await begin(dying, large.length)
        await patch(dying, upload.address, { offset: 0, body: large })
      },
      async test(dataDir, { address }) {
        const service = await later(dataDir)
        await eventually(async () => {
          await command(service, 'sweep', {})
          expect((await service.objects()).filter((key) => !key.includes('.sluice'))).to.have.lengthOf(1)
        })
        await expectOneOriginal(service, address, large)
      },
    })
  })
