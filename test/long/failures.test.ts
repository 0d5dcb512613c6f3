import { expect } from 'chai'
import { nestedUses } from '../support/requests/attacks.ts'
import { uploadOne } from '../support/requests/client.ts'
import { getFrom, onLoopback } from './attack.ts'
import { attackedServer } from './attacked.ts'

// H4 of docs/explanation/security.md: what fails costs once.
describe('long: a hostile SVG that is requested again and again', function () {
  this.timeout(120_000)
  const server = attackedServer()

  it('costs once for each derivative, and once for info', async () => {
    const { src } = await uploadOne(server(), { name: 'a.svg', bytes: nestedUses(9) })
    const url = onLoopback(src, server().url)
    // The file information states why it has no placeholder.
    for (const [asked, status] of [
      [`${url}?w=33`, 422],
      [url.replace('/upload/', '/info/'), 200],
    ] as const) {
      expect(await getFrom('127.0.0.2', asked), 'the first').to.equal(status)
      const began = performance.now()
      for (let i = 0; i < 20; i += 1) expect(await getFrom('127.0.0.2', asked)).to.equal(status)
      expect(performance.now() - began, 'twenty more').to.be.below(1000)
    }
  })
})
