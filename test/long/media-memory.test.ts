import { expect } from 'chai'
import { boastingMovie } from '../support/media/boasting-movie.ts'
import { video } from '../support/media/videos.ts'
import { uploadOne } from '../support/requests/client.ts'
import { getFrom, onLoopback } from './attack.ts'
import { attackedServer, watched } from './attacked.ts'

// H2 of docs/explanation/security.md.
describe('long: a video that takes much memory', function () {
  this.timeout(300_000)
  const server = attackedServer()

  it('costs at most 1.5 GB with a table of 160 million samples in 1 KB, and is refused', async () => {
    const bytes = boastingMovie({ samples: 80_000_000, tracks: 2 })
    const { src } = await uploadOne(server(), { name: 'a.mp4', bytes })
    const url = onLoopback(src, server().url)
    const { outcome, figures } = await watched(server(), async () => [
      await getFrom('127.0.0.2', url.replace('/upload/', '/info/')),
      await getFrom('127.0.0.2', `${url}?thumbnail`),
    ])
    // The file information has the values of the file's headers, or the reason why they cannot be read.
    expect(outcome[0]).to.be.oneOf([200, 422])
    expect(outcome[1]).to.equal(422)
    expect(figures.peakMib).to.be.below(1536)
    expect(figures.health.p99).to.be.below(250)
  })

  for (const query of ['mute', 'f=webm'])
    it(`costs at most 1.5 GB with frames of 49 megapixels: ?${query}`, async () => {
      const bytes = await video({ width: 7000, height: 7000, rate: 30, colours: ['red'] })
      const { src } = await uploadOne(server(), { name: 'a.mp4', bytes })
      const url = `${onLoopback(src, server().url)}?${query}&wait=20`
      const { outcome, figures } = await watched(server(), async () => {
        for (let i = 0; i < 6; i += 1) {
          const status = await getFrom('127.0.0.2', url)
          if (status !== 423) return status
        }
        return 423
      })
      expect(outcome).to.be.oneOf([200, 422])
      expect(figures.peakMib).to.be.below(1536)
      expect(figures.health.p99).to.be.below(250)
    })
})
