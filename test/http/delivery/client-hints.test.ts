import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

const WIDTH_HINTS = 'Sec-CH-Width, Width, Sec-CH-Viewport-Width, Viewport-Width, Sec-CH-DPR, DPR'

onOneBackend('delivery by client hints', (start) => {
  let service: Service
  let src: string
  before(async () => {
    service = await start()
    const bytes = await picture({ width: 900, height: 600 })
    src = (await uploadOne(service, { name: 'a.png', bytes })).src
  })

  const get = (query: string, headers: Record<string, string> = {}) =>
    exchange(service, `${src}?${query}`, { headers })

  async function widthOf(query: string, headers: Record<string, string> = {}): Promise<number> {
    const { status, body } = await get(query, headers)
    expect(status).to.equal(200)
    return (await sharp(body).metadata()).width
  }

  it('fit the width and the ratio of each request, with and without the cache of responses', async () => {
    const [phone, tablet] = [
      { 'Sec-CH-Width': '150', 'Sec-CH-DPR': '2' },
      { Width: '510', DPR: '1.5' },
    ]
    for (let i = 0; i < 3; i++) {
      expect(await widthOf('w=auto', phone)).to.equal(200)
      expect(await widthOf('w=auto', tablet)).to.equal(600)
      expect(await widthOf('w=auto')).to.equal(900)
      expect(await widthOf('w=100&dpr=auto', phone)).to.equal(200)
      expect(await widthOf('w=100&dpr=auto', tablet)).to.equal(150)
      expect(await widthOf('w=100&dpr=auto')).to.equal(100)
      await settled(service)
    }
  })

  it('are the derivatives of the same numbers', async () => {
    const { headers } = await get('w=400')
    for (const width of ['340', '400']) {
      const hinted = await get('w=auto', { 'Sec-CH-Width': width })
      expect(hinted.headers.etag).to.equal(headers.etag)
    }
  })

  it('have Vary and Accept-CH, also on a 304 and from the cache of responses', async () => {
    const { headers } = await get('w=auto', { Width: '300' })
    const again = { Width: '300', 'If-None-Match': String(headers.etag) }
    for (const answer of [await get('w=auto', { Width: '300' }), await get('w=auto', again)])
      expect([answer.headers.vary, answer.headers['accept-ch']]).to.deep.equal([WIDTH_HINTS, WIDTH_HINTS])
    const both = (await get('w=50&dpr=auto&f=auto', { Accept: 'image/webp' })).headers
    expect([both.vary, both['accept-ch']]).to.deep.equal(['Sec-CH-DPR, DPR, Accept', 'Sec-CH-DPR, DPR'])
    expect((await get('w=50')).headers).not.to.have.any.keys('vary', 'accept-ch')
  })
})
