import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { fetchingFrom, fetchPath, fileServer, postUrl } from '../../support/requests/remote-files.ts'
import { startService } from '../../support/service.ts'

describe('rate limit points of fetches', () => {
  const start = stoppedAtTheEnd(startService)

  it('leave other addresses four fifths of the points of a client, and count no requests with a secret by address', async () => {
    const server = await fileServer({ '/a.png': await picture() })
    const env = { ...fetchingFrom(server), FETCH_RATE_WINDOW_SECONDS: '600', TRUST_PROXY: '1' }
    const service = await start({ env })
    await service.app.clients.setRules('first', { fetchHosts: 'any' })
    const url = server.url('/a.png')
    const get = (address: string) =>
      exchange(service, fetchPath(service, url), { headers: { 'X-Forwarded-For': address } })
    for (let i = 0; i < 10; i += 1) expect((await get('192.0.2.1')).status).to.equal(200)
    expect(jsonOf(await get('192.0.2.1'))).to.include({ status: 429, limit: 'fetch_address' })
    expect((await get('192.0.2.2')).status).to.equal(200)
    for (let i = 0; i < 12; i += 1) expect((await postUrl(service, { url })).status).to.equal(200)
    await server.close()
  })
})
