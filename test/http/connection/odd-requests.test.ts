import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

describe('unusual requests', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('are refused with more than 200 parameters', async () => {
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const times = (n: number) => 'v=1&'.repeat(n)
    for (const path of [src, src.replace('/upload/', '/info/')])
      for (const many of [times(199), times(200), '&'.repeat(5000)])
        expect((await exchange(service, `${path}?${many}`)).status, path).to.equal(200)
    for (const path of [src, src.replace('/upload/', '/info/'), '/v1/files']) {
      const refused = await exchange(service, `${path}?${times(201)}`, {
        headers: path === '/v1/files' ? { Authorization: service.tokens.secretClientToken } : {},
      })
      expect(refused.status, path).to.equal(400)
      expect(jsonOf(refused).code).to.equal('too_many_parameters')
    }
  })

  for (const [width, height] of [
    ['1e9', '1e9'],
    ['1e10', '1'],
    ['0', '0'],
    ['1e38', '1e38'],
  ])
    it(`for an SVG of ${width} x ${height} get 422, and no error in the log`, async () => {
      const bytes = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="9" height="9"/></svg>`
      const before = service.log.lines.length
      const { src } = await uploadOne(service, { name: 'a.svg', bytes })
      for (const query of ['w=20', 'w=20&h=20&fit=inside', 'f=png', 'f=webp']) {
        const answer = await exchange(service, `${src}?${query}`)
        expect([answer.status, jsonOf(answer).code], query).to.deep.equal([422, 'not_transformable'])
      }
      expect((await exchange(service, src.replace('/upload/', '/info/'))).status).to.equal(200)
      expect(service.log.lines.slice(before).filter(({ level }) => level === 'error')).to.deep.equal([])
    })
})
