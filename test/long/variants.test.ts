import { expect } from 'chai'
import { stoppedAtTheEnd } from '../support/backends.ts'
import { uploadOne } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { getFrom, onLoopback, photo } from './attack.ts'

// H5 of docs/explanation/security.md, with a small limit in place of 1000.
describe('long: a stranger who asks for every variant of a file', function () {
  this.timeout(300_000)
  const start = stoppedAtTheEnd(startService)

  it('leaves new variants to others', async () => {
    const service = await start({ env: { VARIANT_LIMIT: '30', DERIVATIVE_RATE_ADDRESS_POINTS: '0' } })
    const bytes = await photo({ width: 300, height: 200 })
    const { src } = await uploadOne(service, { name: 'a.jpg', bytes })
    const url = onLoopback(src, service.url)
    for (let w = 8; w < 48; w += 1) await getFrom('127.0.0.2', `${url}?w=${w}`)
    for (const query of ['w=200', 'w=120&f=webp'])
      expect(await getFrom('127.0.0.3', `${url}?${query}`), query).to.equal(200)
  })
})
