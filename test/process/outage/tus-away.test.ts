import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { inTime } from '../../support/promised.ts'
import { type Answer, exchange } from '../../support/requests/exchange.ts'
import { begin, offsetAt, patch, recordIn, tus } from '../../support/requests/tus.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import { startRedis } from '../../support/servers/redis-server.ts'
import { s3Proxy } from '../../support/servers/s3-proxy.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { itLong } from '../../support/sized.ts'

describe('a resumable upload during an outage', function () {
  this.timeout(90_000)
  let fleet: Fleet
  afterEach(() => fleet.end())

  async function expectAway(answers: ReadonlyArray<Promise<Answer>>) {
    for (const { status, headers } of await inTime('all', Promise.all(answers))) {
      expect(status).to.equal(503)
      expect(headers['retry-after']).to.equal('5')
    }
  }

  it('is a 503 in time, and resumes when S3 is back', async () => {
    const { connection } = await s3Server()
    const proxy = await s3Proxy(connection.endpoint)
    fleet = await newFleet({ endpoint: proxy.endpoint })
    const server = await fleet.service()
    const png = await picture()
    const address = await begin(server, png.length)
    await patch(server, address, { offset: 0, body: png.subarray(0, 50) })
    proxy.decide(() => ({ kind: 'answer', status: 503 }))
    await expectAway([
      tus(server, '/v1/tus', { method: 'POST', headers: { 'Upload-Length': 5 } }),
      tus(server, address, { method: 'HEAD' }),
      tus(server, address),
    ])
    await expectAway([patch(server, address, { offset: 50, body: png.subarray(50) })])
    proxy.decide(() => undefined)
    expect(await offsetAt(server, address)).to.equal(50)
    const last = await patch(server, address, { offset: 50, body: png.subarray(50) })
    expect((await exchange(server, new URL(recordIn(last).src).pathname)).body.equals(png)).to.equal(true)
    await proxy.close()
  })

  itLong('is a 503 in time, and resumes when Redis is back', async () => {
    fleet = await newFleet({ files: 'disk', redis: () => startRedis({ appendOnly: true, fails: true }) })
    const server = await fleet.start()
    const png = await picture()
    const address = await begin(server, png.length)
    await patch(server, address, { offset: 0, body: png.subarray(0, 50) })
    await fleet.redis.stop()
    await expectAway([tus(server, address, { method: 'HEAD' })])
    await expectAway([patch(server, address, { offset: 50, body: png.subarray(50) })])
    await fleet.redis.start()
    await eventually(async () => expect(await offsetAt(server, address)).to.equal(50))
    const last = await patch(server, address, { offset: 50, body: png.subarray(50) })
    expect((await exchange(server, new URL(recordIn(last).src).pathname)).body.equals(png)).to.equal(true)
  })
})
