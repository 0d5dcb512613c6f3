import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { unavailable } from '../../../src/core/problem.ts'
import { onOneOrTwoBackends, stoppedAtTheEnd } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { begin, offsetAt, patch, recordIn, tus } from '../../support/requests/tus.ts'
import { type Service, startService } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

onOneOrTwoBackends('resumable uploads during a storage outage', (start) => {
  let service: Service
  let png: Buffer
  /** Which puts fail. */
  let fails: (key: string) => boolean = () => false
  /** Which puts fail when all their bytes have been sent. */
  let landsLater: (key: string) => boolean = () => false
  before(async () => {
    png = await picture()
    service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (landsLater(key)) {
            for await (const _ of bytes);
            throw unavailable('the bucket does not answer')
          }
          if (!fails(key)) return bucket.put(key, bytes, options)
          bytes.destroy()
          throw unavailable('The bucket cannot be reached.')
        },
      })),
    })
  })
  beforeEach(() => {
    fails = () => false
  })

  it('are stored by the next request after a put that failed but may still complete', async () => {
    for (const asked of ['HEAD', 'GET']) {
      const address = await begin(service, png.length)
      landsLater = (key) => key.startsWith('image/png/')
      expect((await patch(service, address, { offset: 0, body: png })).status).to.equal(503)
      landsLater = () => false
      const answer = await tus(service, address, { method: asked })
      expect(answer.status).to.equal(200)
      const record = asked === 'HEAD' ? recordIn(answer) : (jsonOf(answer) as unknown as [{ src: string }])[0]
      expect((await exchange(service, record.src)).body.equals(png)).to.equal(true)
    }
  })

  it('respond 503 to bytes that could not be stored, and lose none of the stored bytes', async () => {
    const address = await begin(service, png.length)
    await patch(service, address, { offset: 0, body: png.subarray(0, 50) })
    fails = (key) => key.includes('/tus/pieces/')
    const sent = await patch(service, address, { offset: 50, body: png.subarray(50) })
    expect(sent.status).to.equal(503)
    expect(sent.headers['retry-after']).to.equal('5')
    expect(jsonOf(sent)).to.include({ code: 'unavailable', instance: sent.headers['x-request-id'] })
    expect(await offsetAt(service, address)).to.equal(50)
    fails = () => false
    const again = await patch(service, address, { offset: 50, body: png.subarray(50) })
    expect((await exchange(service, recordIn(again).src)).body.equals(png)).to.equal(true)
  })

  it('respond 503 to the last bytes when the original cannot be stored, and store it on the next HEAD or GET', async () => {
    for (const asked of ['HEAD', 'GET']) {
      const address = await begin(service, png.length)
      fails = (key) => key.startsWith('image/png/')
      const sent = await patch(service, address, { offset: 0, body: png })
      expect(sent.status).to.equal(503)
      expect(sent.headers['retry-after']).to.equal('5')
      fails = () => false
      const answer = await tus(service, address, { method: asked })
      expect(answer.status).to.equal(200)
      const record = asked === 'HEAD' ? recordIn(answer) : (jsonOf(answer) as unknown as [{ src: string }])[0]
      expect((await exchange(service, record.src)).body.equals(png)).to.equal(true)
    }
  })
})

describe('a resumable upload whose original is slow to store', () => {
  const start = stoppedAtTheEnd(startService)

  itLong('responds within 20 s, and returns the record once it is stored', async () => {
    const png = await picture()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, ...rest) {
          if (key.startsWith('image/png/')) await released
          return bucket.put(key, ...rest)
        },
      })),
    })
    const address = await begin(service, png.length)
    const sent = patch(service, address, { offset: 0, body: png })
    await pause(500)
    const asked = await tus(service, address)
    expect(asked.status).to.equal(202)
    expect(asked.headers['retry-after']).to.equal('2')
    expect(jsonOf(asked)).to.deep.equal({ state: 'storing', offset: png.length, size: png.length })
    const { status, headers } = await sent
    expect(status).to.equal(204)
    expect(headers['upload-offset']).to.equal(String(png.length))
    expect(headers).not.to.have.property('upload-record')
    release()
    const [record] = jsonOf(await tus(service, address)) as unknown as [{ src: string }]
    expect((await exchange(service, record.src)).body.equals(png)).to.equal(true)
  })
})
