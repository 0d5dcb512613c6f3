import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Service, startService } from '../../support/service.ts'

describe('the request log under load', () => {
  let service: Service
  before(async () => {
    service = await startService({ env: { TRANSFORM_WAITING: '4', TRANSFORM_WAITING_ADDRESS: '1' } })
  })
  after(() => service.stop())

  it('has one line without a stack trace, and no error, for each request over a limit', async () => {
    const { src } = await uploadOne(service, {
      name: 'a.png',
      bytes: await picture({ width: 900, height: 900 }),
    })
    service.log.lines.length = 0
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => exchange(service, `${src}?w=${100 + i}&f=webp`)),
    )
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused).to.not.have.length(0)
    for (const answer of refused) expect(jsonOf(answer)).to.include({ code: 'unavailable', reason: 'busy' })
    expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
    const lines = service.log.lines.filter(({ message }) => message === 'a request was refused')
    expect(lines).to.have.length(refused.length)
    for (const { level, fields } of lines) {
      expect(level).to.equal('warn')
      expect(fields).to.include({ status: 503, code: 'unavailable' }).and.not.have.property('err')
    }
  })
})
