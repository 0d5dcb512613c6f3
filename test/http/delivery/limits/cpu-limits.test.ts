import { expect } from 'chai'
import { corrupted, picture } from '../../../support/media/images.ts'
import { postZip, uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'

describe('the CPU time limit of new derivatives', () => {
  let service: Service
  let src: string
  before(async () => {
    // Everything costs more than a millisecond.
    service = await startService({ env: { CPU_RATE_LIMIT_PER_IP: '1', TRUST_PROXY: '1' } })
    src = (await uploadOne(service, { name: 'a.png', bytes: await picture({ width: 900, height: 900 }) })).src
  })
  after(() => service.stop())

  const from = (address: string, url: string) =>
    exchange(service, url, { headers: { 'X-Forwarded-For': address } })

  it('is charged to the address, which then gets only stored derivatives, and Retry-After', async () => {
    expect((await from('127.0.0.1', `${src}?w=300`)).status).to.equal(200)
    const refused = await from('127.0.0.1', `${src}?w=301`)
    expect(refused.status).to.equal(429)
    expect(jsonOf(refused)).to.include({ code: 'rate_limited', limit: 'cpu_address' })
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 300)
    expect(refused.headers['ratelimit-policy']).to.equal('"cpu_address";q=1;w=300')
    for (const url of [src, `${src}?w=300`]) expect((await from('127.0.0.1', url)).status).to.equal(200)
    expect((await from('127.0.0.2', `${src}?w=301`)).status).to.equal(200)
  })

  it('applies to the first request for info, and to a file that cannot be transformed', async () => {
    const bytes = corrupted(await picture({ width: 900, height: 900 }))
    const other = await uploadOne(service, { name: 'b.png', bytes })
    expect((await from('127.0.0.3', `${other.src}?w=30`)).status).to.equal(422)
    const info = src.replace('/upload/', '/info/')
    expect((await from('127.0.0.3', info)).status).to.equal(429)
    expect((await from('127.0.0.4', info)).status).to.equal(200)
    expect((await from('127.0.0.3', info)).status).to.equal(200)
  })

  it('does not charge archives with a secret to the address', async () => {
    const { sourceName } = await uploadOne(service, { name: 'c.png', bytes: await picture({ width: 500 }) })
    for (const width of [20, 21]) {
      const archive = await postZip(service, { files: [{ path: sourceName, params: { w: width } }] })
      expect(archive.status).to.equal(200)
      expect(Buffer.from(await archive.arrayBuffer()).includes('rate_limited')).to.equal(false)
    }
  })
})
