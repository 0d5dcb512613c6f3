import { expect } from 'chai'
import { type Downloader, downloader } from '../../support/peers/downloader.ts'
import { startNginx } from '../../support/peers/nginx.ts'
import { type Service, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

describe('uploads through nginx', () => {
  let service: Service
  let nginx: Awaited<ReturnType<typeof startNginx>>
  let curl: Downloader
  before(async () => {
    service = await startService()
    nginx = await startNginx(service)
    curl = await downloader('curl')
    await curl.begin(Buffer.alloc(20_000_000))
  })
  after(() => Promise.all([service.stop(), nginx.stop(), curl.remove()]))

  for (const [what, args, code] of [
    ['a wrong secret', ['-H', 'Authorization: wrong', '-F', 'file=@file'], 401],
    ['another type of body', ['-H', 'Content-Type: text/plain', '--data-binary', '@file'], 415],
  ] as const)
    it(`get the same status as without nginx, not a 502: ${what}`, async () => {
      const authorization = code === 401 ? [] : ['-H', `Authorization: ${service.tokens.secretClientToken}`]
      for (let i = 0; i < sized(5, 20); i += 1) {
        const { said } = await curl.run(['-sS', ...authorization, ...args, `${nginx.passing.url}/v1/upload`])
        expect(JSON.parse(said)).to.include({ status: code })
      }
    })
})
