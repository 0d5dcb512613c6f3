import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../../support/backends.ts'
import { picture } from '../../../support/media/images.ts'
import { ask } from '../../../support/requests/ask.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../../support/requests/multipart.ts'
import { TUS } from '../../../support/requests/tus.ts'
import { type Service, startService } from '../../../support/service.ts'

describe('fields that a signed upload link refuses', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })

  const link = async () => {
    const answer = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 600 } })
    return (answer.body as { url: string }).url.slice(service.url.length)
  }
  const VALUES = {
    tags: '["approved"]',
    metadata: '{"role":"admin"}',
    focalPoint: '{"x":0,"y":0}',
    transforms: '["w=20"]',
  }

  for (const [param, value] of Object.entries(VALUES)) {
    it(`include ${param} in a form, before and after the file, and nothing is stored`, async () => {
      const target = await link()
      const before = await service.objects()
      const file = { disposition: 'name="file"; filename="a.png"', bytes: png }
      const field = (bytes: string) => ({ disposition: `name="${param}"`, bytes })
      const post = (parts: Parameters<typeof multipart>[0]) =>
        exchange(service, target, {
          method: 'POST',
          headers: { 'Content-Type': MULTIPART },
          body: multipart(parts),
        })
      for (const parts of [
        [field(value), file],
        [file, field(value)],
      ]) {
        const answer = await post(parts)
        expect([answer.status, jsonOf(answer).param]).to.deep.equal([400, param])
      }
      expect(await service.objects()).to.deep.equal(before)
      expect((await post([field(''), file])).status).to.equal(200)
    })

    it(`include ${param} in Upload-Metadata`, async () => {
      const answer = await exchange(service, await link(), {
        method: 'POST',
        headers: {
          ...TUS,
          'Upload-Length': '10',
          'Upload-Metadata': `${param} ${Buffer.from(value).toString('base64')}`,
        },
      })
      expect([answer.status, jsonOf(answer).param]).to.deep.equal([400, param])
    })
  }
})
