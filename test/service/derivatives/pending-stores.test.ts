import { expect } from 'chai'
import type { Storage } from '../../../src/app.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { createPendingStores } from '../../../src/service/derivatives/pending-stores.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'
import { type Service, startService } from '../../support/service.ts'

describe('a delete while a derivative in a response is being stored', () => {
  let service: Service
  let target: Receiver
  let underWay: (() => void) | undefined
  let finish: Promise<void>
  before(async () => {
    finish = new Promise((resolve) => {
      underWay = resolve
    })
    target = await receiver()
    service = await startService({
      env: {
        WEBHOOK_URL: target.url('/hooks'),
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        WEBHOOK_EVENTS: 'original.stored,original.deleted,derivative.stored',
      },
      wrapStorage: ({ buckets, index }: Storage) => ({
        buckets,
        index: {
          ...index,
          async finishDerivative(...args) {
            await finish
            return index.finishDerivative(...args)
          },
        },
      }),
    })
  })
  after(async () => {
    await service.stop()
    await target.close()
  })

  it("waits, so that the derivative's event comes before its own event, which names the derivative", async () => {
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const response = await fetch(`${src}?w=20`)
    await response.arrayBuffer()
    expect(response.status).to.equal(200)
    const deleted = deleteFile(service, s3PathOriginal)
    setTimeout(() => underWay?.(), 100)
    expect(await (await deleted).json()).to.include({ derivatives: 1 })
    const data = () => target.received.map(({ body }) => JSON.parse(String(body)))
    await eventually(() =>
      expect(data().map(({ type }) => type)).to.have.members([
        'original.stored',
        'derivative.stored',
        'original.deleted',
      ]),
    )
    const at = (type: string) => data().find((one) => one.type === type).timestamp
    expect(at('derivative.stored') <= at('original.deleted')).to.equal(true)
  })

  it('does not wait for long, nor for another original', async () => {
    const answered = createPendingStores({ waitMs: 20 })
    const ref = { clientId: 'first', key: storedKey('image/png/a.png') }
    const end = answered.begin(ref)
    await answered.ended(ref)
    let isOver = false
    const long = createPendingStores({ waitMs: 60_000 })
    const ends = [long.begin(ref), long.begin(ref)]
    await long.ended({ ...ref, clientId: 'other' })
    const waiting = long.ended(ref).then(() => {
      isOver = true
    })
    ends[0]?.()
    await new Promise(setImmediate)
    expect(isOver).to.equal(false)
    ends[1]?.()
    await waiting
    end()
  })
})
