import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { startService } from '../../support/service.ts'

describe('f=auto', () => {
  const start = stoppedAtTheEnd(startService)

  for (const [AUTO_FORMAT, type] of [
    ['webp', 'image/webp'],
    ['avif', 'image/avif'],
  ] as const)
    it(`is ${type} for every caller with AUTO_FORMAT=${AUTO_FORMAT}, without Vary, also by signed URL`, async () => {
      const service = await start({ env: { AUTO_FORMAT } })
      const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      await service.app.clients.addUrlKey('first')
      const json = { url: `${src}?w=300&f=auto` }
      const { body } = await ask(service, '/v1/sign/url', { method: 'POST', json })
      const tags = new Set<unknown>()
      for (const Accept of ['image/avif,image/webp', 'image/webp', '*/*'])
        for (const url of [json.url, (body as { url: string }).url]) {
          const { status, headers } = await exchange(service, url, { headers: { Accept } })
          expect(status, url).to.equal(200)
          expect(headers['content-type']).to.equal(type)
          expect(headers.vary ?? '').to.not.match(/accept\b/i)
          tags.add(headers.etag)
        }
      expect(tags.size).to.equal(1)
    })

  it('varies by Accept unless AUTO_FORMAT is set', async () => {
    const service = await start()
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const { headers } = await exchange(service, `${src}?w=300&f=auto`, { headers: { Accept: 'image/webp' } })
    expect(headers['content-type']).to.equal('image/webp')
    expect(headers.vary).to.match(/accept/i)
  })
})
