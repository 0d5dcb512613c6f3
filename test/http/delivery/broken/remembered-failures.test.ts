import { expect } from 'chai'
import { corrupted, picture } from '../../../support/media/images.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'

describe('a file that cannot be decoded', () => {
  let service: Service
  let opened = 0
  before(async () => {
    service = await startService({
      wrapStorage: (storage) => ({
        ...storage,
        index: new Proxy(storage.index, {
          get(index, name) {
            if (name === 'beginDerivative') opened += 1
            const value = Reflect.get(index, name)
            return typeof value === 'function' ? value.bind(index) : value
          },
        }),
      }),
    })
  })
  after(() => service.stop())

  it('costs one decode for each derivative, and one for info', async () => {
    const { src } = await uploadOne(service, { name: 'a.png', bytes: corrupted(await picture()) })
    const info = src.replace('/upload/', '/info/')
    opened = 0
    for (let i = 0; i < 3; i += 1) {
      const answer = await exchange(service, `${src}?w=33`)
      expect([answer.status, jsonOf(answer).code]).to.deep.equal([422, 'not_transformable'])
      const known = await exchange(service, info)
      expect(known.status).to.equal(200)
      expect(jsonOf(known)).to.have.property('problem')
    }
    expect(opened).to.equal(2)
  })
})
