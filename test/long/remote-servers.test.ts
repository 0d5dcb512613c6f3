import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { picture } from '../support/media/images.ts'
import { sluiceJson } from '../support/programs/cli.ts'
import { endless, type Remote, rawRemote, remote } from '../support/requests/remote.ts'
import { fetchPath } from '../support/requests/remote-files.ts'
import { getFrom } from './attack.ts'
import { attackedServer, watched } from './attacked.ts'

// M3 and M4 of docs/explanation/security.md.
describe('long: remote servers that never end their response', function () {
  this.timeout(300_000)
  let hostile: Remote
  let slow: Remote
  let good: Remote
  const env: Record<string, string> = { FETCH_ALLOW_ADDRESSES: '127.0.0.0/8' }
  before(async () => {
    const bytes = await picture()
    hostile = await rawRemote((socket) => endless(socket, 'HTTP/1.1 100 Continue\r\n\r\n'))
    slow = await rawRemote((socket) => endless(socket, 'HTTP/1.1', 20_000))
    good = await remote((_, res) => res.setHeader('Content-Type', 'image/png').end(bytes), {
      host: '127.0.0.1',
    })
    env.FETCH_PORTS = [hostile, slow, good].map(({ port }) => port).join(',')
  })
  after(() => Promise.all([hostile, slow, good].map((server) => server.close())))
  const server = attackedServer(env)
  beforeEach(() =>
    sluiceJson(['client', 'set', 'first', '--fetch-hosts', 'any'], { DATA_DIR: server().dataDir }),
  )

  it('do not block the event loop with interim responses', async () => {
    const { outcome, figures } = await watched(server(), () =>
      Promise.all(
        Array.from({ length: 16 }, (_, i) =>
          getFrom(`127.0.0.${20 + i}`, server().url + fetchPath(server(), hostile.url(`/${i}`))),
        ),
      ),
    )
    expect(new Set(outcome)).to.deep.equal(new Set([502]))
    expect(figures.seconds).to.be.below(5)
    expect(figures.health.max).to.be.below(250)
  })

  it('leave places to other callers and to the secret with slow headers', async () => {
    const hanging = Array.from({ length: 16 }, (_, i) =>
      getFrom('127.0.0.2', server().url + fetchPath(server(), slow.url(`/${i}`))).catch(() => 0),
    )
    await pause(1000)
    const visitor = await getFrom('127.0.0.3', server().url + fetchPath(server(), good.url('/a.png')))
    const headers = { Authorization: server().tokens.secretClientToken, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ url: good.url('/b.png') })
    const owner = await fetch(`${server().url}/v1/upload`, { method: 'POST', headers, body })
    expect([visitor, owner.status]).to.deep.equal([200, 200])
    await Promise.all(hanging)
  })
})
