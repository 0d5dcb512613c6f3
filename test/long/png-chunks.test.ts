import { expect } from 'chai'
import { manyChunks } from '../support/requests/attacks.ts'
import { uploadOne } from '../support/requests/client.ts'
import { getFrom, onLoopback } from './attack.ts'
import { attackedServer, watched } from './attacked.ts'

// H1 of docs/explanation/security.md.
describe('long: a PNG of 3.3 million chunks', function () {
  this.timeout(300_000)
  const server = attackedServer()

  for (const type of ['tEXt', 'zTXt', 'aaAa'])
    it(`of ${type} is refused, and does not block the event loop`, async () => {
      const { src } = await uploadOne(server(), { name: 'a.png', bytes: manyChunks(3_300_000, type) })
      const url = onLoopback(src, server().url)
      const { outcome, figures } = await watched(server(), async () => [
        await getFrom('127.0.0.2', `${url}?w=5`),
        await getFrom('127.0.0.2', `${url}?w=6`),
        // The file information needs no decode.
        await getFrom('127.0.0.2', url.replace('/upload/', '/info/')),
      ])
      expect(outcome).to.deep.equal([422, 422, 200])
      expect(figures.health.max).to.be.below(250)
      expect(figures.peakMib).to.be.below(400)
    })
})
