import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { video } from '../support/media/videos.ts'
import { postFiles, uploadOne } from '../support/requests/client.ts'
import { getFrom, onLoopback } from './attack.ts'
import { attackedServer, watched } from './attacked.ts'

// H6 of docs/explanation/security.md.
describe('long: a stranger who requests many videos of one client', function () {
  this.timeout(300_000)
  const server = attackedServer()

  it('is next to others in the queue, not before them, and leaves places to the owner', async () => {
    const second = { width: 1920, height: 1080, rate: 30 }
    const long = await video({
      ...second,
      colours: Array.from({ length: 20 }, (_, i) => (i % 2 ? 'red' : 'blue')),
    })
    const short = await video({ width: 320, height: 240 })
    const attacked = onLoopback((await uploadOne(server(), { name: 'a.mp4', bytes: long })).src, server().url)
    const other = await uploadOne(await server().newClient(), { name: 'b.mp4', bytes: short })
    const statuses: number[] = []
    for (let i = 0; i < 25; i += 1)
      statuses.push(await getFrom('127.0.0.2', `${attacked}?w=${1200 + 2 * i}&f=webm`))
    expect(statuses.filter((status) => status === 429)).to.not.be.empty
    const { figures } = await watched(server(), async () => {
      const mine = await postFiles(server(), [{ name: 'c.mp4', bytes: short }])
      expect(mine.status).to.equal(200)
      const headers = { Authorization: server().tokens.secretClientToken }
      const [{ src }] = (await mine.json()) as [{ src: string }]
      const asOwner = await fetch(`${onLoopback(src, server().url)}?w=100`, { headers })
      expect(asOwner.status, 'the owner').to.be.oneOf([200, 423])
      for (let status = 0; status !== 200; await pause(500))
        status = await getFrom('127.0.0.3', `${onLoopback(other.src, server().url)}?w=100`)
    })
    // One job of the attacker's may run already.
    expect(figures.seconds).to.be.below(60)
    expect(figures.health.p99).to.be.below(250)
  })
})
