import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { type Caller, newClient } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import {
  fetchingFrom,
  fetchPath,
  fileServer,
  keepPath,
  postUrl,
} from '../../support/requests/remote-files.ts'

onOneBackend('the fetch limit of remote images', (start) => {
  it('counts every request, by client and by address', async () => {
    const server = await fileServer({ '/a.png': await picture() })
    const service = await start({
      env: {
        ...fetchingFrom(server),
        FETCH_RATE_WINDOW_SECONDS: '60',
        TRUST_PROXY: '1',
        FETCH_RATE_LIMIT: '3',
        FETCH_RATE_LIMIT_PER_IP: '2',
      },
    })
    await service.app.clients.setRules('first', { fetchHosts: 'any' })
    const from = (address: string) =>
      exchange(service, fetchPath(service, server.url('/a.png')), {
        headers: { 'X-Forwarded-For': address },
      })
    const first = await from('192.0.2.1')
    expect(first.status).to.equal(200)
    // Others get it from a cache.
    expect(first.headers).to.not.have.property('ratelimit')
    expect((await from('192.0.2.1')).status).to.equal(200)
    expect(jsonOf(await from('192.0.2.1'))).to.include({ status: 429, limit: 'fetch_address' })
    expect((await from('192.0.2.2')).status).to.equal(200)
    const refused = await from('192.0.2.3')
    expect(jsonOf(refused)).to.include({ status: 429, limit: 'fetch' })
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60)
    expect(server.requests).to.have.length(3)
    await server.close()
  })

  it('counts no request without a fetch, and requests of strangers only for public URLs', async () => {
    const server = await fileServer({ '/a.png': await picture() })
    const service = await start({
      env: {
        ...fetchingFrom(server),
        FETCH_RATE_WINDOW_SECONDS: '60',
        FETCH_RATE_LIMIT: '2',
        FETCH_RATE_LIMIT_PER_IP: '0',
      },
    })
    const url = server.url('/a.png')
    const get = async (path: string) => (await exchange(service, path)).status
    const setRules = (rules: object) => service.app.clients.setRules('first', rules)
    const refusals: Array<readonly [rules: object, status: number]> = [
      [{}, 403],
      [{ fetchHosts: ['example.com'] }, 400],
      [{ fetchHosts: 'any', fetchDenyHosts: ['127.0.0.1'] }, 400],
    ]
    for (const [rules, status] of refusals) {
      await setRules(rules)
      for (const path of [fetchPath, keepPath])
        for (let i = 0; i < 3; i += 1) expect(await get(path(service, url))).to.equal(status)
    }
    await setRules({ fetchHosts: 'any', fetchDenyHosts: false })
    for (const status of [200, 200, 429, 429]) expect(await get(fetchPath(service, url))).to.equal(status)
    expect(await get(keepPath(service, url))).to.equal(429)
    for (const status of [200, 200, 429]) expect((await postUrl(service, { url })).status).to.equal(status)
    await server.close()
  })

  it('is 16 concurrent fetches per client, so that other clients can fetch', async () => {
    const waiting: ServerResponse[] = []
    const png = await picture()
    const server = await fileServer({ '/a.png': png, '/waits': (_req, res) => void waiting.push(res) })
    const service = await start({
      env: {
        ...fetchingFrom(server),
        TRUST_PROXY: '1',
        FETCH_RATE_LIMIT: '0',
        FETCH_RATE_LIMIT_PER_IP: '0',
      },
    })
    const other = await newClient(service)
    for (const id of ['first', other.id]) await service.app.clients.setRules(id, { fetchHosts: 'any' })
    const get = (caller: Caller, path: string, from = 9) =>
      exchange(service, fetchPath(caller, server.url(path)), {
        headers: { 'X-Forwarded-For': `192.0.2.${from}` },
      })
    // Four of one address.
    const slow = Array.from({ length: 16 }, (_, i) => get(service, `/waits?${i}`, i % 4))
    await eventually(async () => expect(waiting).to.have.length(16))
    const refused = await get(service, '/a.png')
    expect(jsonOf(refused)).to.include({ status: 503, code: 'unavailable' })
    expect(Number(refused.headers['retry-after'])).to.be.at.least(1)
    expect((await get(other, '/a.png')).status).to.equal(200)
    // Callers with a secret have places of their own.
    expect((await postUrl(service, { url: server.url('/a.png') })).status).to.equal(200)
    for (const res of waiting) res.end(png)
    expect((await Promise.all(slow)).map(({ status }) => status)).to.deep.equal(Array(16).fill(200))
    expect((await get(service, '/a.png')).status).to.equal(200)
    await server.close()
  })
})
