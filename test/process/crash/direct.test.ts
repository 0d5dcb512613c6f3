import { expect } from 'chai'
import { S3_EMBEDDED, S3_REDIS, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { crashedBackends, crashPoints } from '../../support/servers/crash-points.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { sweptLater } from '../../support/stored/clock.ts'
import {
  type Begun,
  begunDirect,
  completeDirect,
  putAll,
  recordOf,
} from '../../support/stored/direct-uploads.ts'
import { noise } from '../../support/stored/noise.ts'

/** Where a process dies that completes a direct upload in two parts. */
const STEPS = [
  'before bucket.joinParts piece',
  'after bucket.joinParts piece',
  'before bucket.put resumable',
  'after bucket.put resumable',
  'before index.beginUpload',
  'after index.beginUpload',
  'before bucket.copy original',
  'after bucket.copy original',
  'before bucket.put record',
  'after bucket.put record',
  'after index.finishUpload',
  'before bucket.delete piece',
  'after bucket.delete piece',
]
const FEW_STEPS = ['after bucket.joinParts piece', 'after bucket.copy original', 'after bucket.put record']
const USUAL_STEPS = ['after bucket.copy original']

for (const backend of crashedBackends(S3_EMBEDDED, S3_REDIS))
  describe(`a process killed while it completes a direct upload (${backend.name})`, () => {
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    const bytes = noise(17 * 1024 ** 2)
    const crash = crashPoints(backend)

    const later = (dataDir: string) => sweptLater(start, dataDir)

    const prepare = async (dataDir: string): Promise<Begun> => {
      const first = await start({ dataDir })
      const begun = await begunDirect(first, { name: 'a.bin', size: bytes.length })
      await putAll(begun, bytes)
      await first.stop({ keepData: true })
      return begun
    }

    const originals = async (service: Service) =>
      (await service.objects()).filter((key) => !key.includes('.sluice/'))

    for (const step of backend === S3_EMBEDDED ? sized(USUAL_STEPS, STEPS) : FEW_STEPS)
      crash(`stores one original, and answers its record to a repetition: ${step}`, {
        step,
        prepare,
        work: completeDirect,
        async test(dataDir, begun) {
          const service = await later(dataDir)
          await eventually(async () => expect((await completeDirect(service, begun)).status).to.equal(200))
          const record = recordOf(await completeDirect(service, begun))
          const { body } = await exchange(service, new URL(record.src).pathname)
          expect(body.equals(bytes)).to.equal(true)
          await eventually(async () => expect(await originals(service)).to.have.lengthOf(1))
          await command(service, 'sweep', {})
          expect((await service.objects()).filter((key) => key.includes('/tus/pieces/'))).to.deep.equal([])
        },
      })

    crash('is stored by a sweep when the client does not return', {
      step: 'before index.beginUpload',
      prepare,
      work: completeDirect,
      async test(dataDir, begun) {
        const service = await later(dataDir)
        await eventually(async () => {
          await command(service, 'sweep', {})
          expect(await originals(service)).to.have.lengthOf(1)
        })
        expect(recordOf(await completeDirect(service, begun)).size).to.equal(bytes.length)
      },
    })
  })
