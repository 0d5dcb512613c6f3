import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { startDocumentedNginx } from '../../support/peers/documented-nginx.ts'
import { postFiles, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('nginx as docs/how-to/cdn.md configures it', (start) => {
  let service: Service
  let nginx: Awaited<ReturnType<typeof startDocumentedNginx>>
  before(async () => {
    service = await start()
    nginx = await startDocumentedNginx(service)
  })
  after(() => nginx.stop())

  const newPath = async () => {
    const { src } = await uploadOne(service, {
      name: 'a.png',
      bytes: await picture(),
    })
    return src.slice(service.url.length)
  }

  it('caches one answer to f=auto for each format, however browsers spell their Accept header', async () => {
    const path = `${await newPath()}?w=300&f=auto`
    for (const [accept, type, from] of [
      ['image/avif,image/webp,*/*', 'image/avif', 'MISS'],
      ['image/webp,*/*', 'image/webp', 'MISS'],
      ['*/*', 'image/png', 'MISS'],
      ['text/html,image/avif,image/webp,image/apng,*/*;q=0.8', 'image/avif', 'HIT'],
      ['image/webp,image/apng', 'image/webp', 'HIT'],
      ['text/html', 'image/png', 'HIT'],
    ]) {
      const { headers } = await exchange(nginx, path, { headers: { Accept: accept } })
      expect([headers['content-type'], headers['x-cache']], accept).to.deep.equal([type, from])
    }
  })

  it('distinguishes a question mark in a path from the one before a query', async () => {
    const path = await newPath()
    expect((await exchange(nginx, `${path}?w=20`)).status).to.equal(200)
    expect((await exchange(nginx, `${path}%3Fw=20`)).status).to.equal(400)
  })

  it('passes on uploads above 1 MB', async () => {
    const files = [{ name: 'a.bin', bytes: Buffer.alloc(2_000_000, 1) }]
    expect((await postFiles({ ...service, url: nginx.url }, files)).status).to.equal(200)
  })
})
