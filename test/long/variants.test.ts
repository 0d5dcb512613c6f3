import { expect } from 'chai'
import { uploadOne } from '../support/requests/client.ts'
import { getFrom, onLoopback, photo } from './attack.ts'
import { attackedServer, watched } from './attacked.ts'

// H5 of docs/explanation/security.md.
describe('long: a stranger who requests a thousand variants of a file', function () {
  this.timeout(600_000)
  const server = attackedServer()

  it('leaves new variants, presets, info and archives to other callers', async () => {
    const bytes = await photo({ width: 1000, height: 750 })
    const { src, sourceName } = await uploadOne(server(), { name: 'a.jpg', bytes })
    const url = onLoopback(src, server().url)
    const { figures } = await watched(server(), async () => {
      for (let i = 0; i < 1050; i += 16)
        await Promise.all(
          Array.from({ length: 16 }, (_, j) =>
            getFrom('127.0.0.2', `${url}?w=${8 + ((i + j) % 100)}&q=${1 + Math.floor((i + j) / 100)}`),
          ),
        )
    })
    const asked = [
      `${url}?w=800`,
      `${url}?preset=thumbnail`,
      `${url}?w=600&f=webp`,
      url.replace('/upload/', '/info/'),
    ]
    for (const one of asked) expect(await getFrom('127.0.0.3', one), one).to.equal(200)
    const archive = await fetch(`${server().url}/v1/zip`, {
      method: 'POST',
      headers: { Authorization: server().tokens.secretClientToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ files: [{ path: sourceName, name: 'a.webp', params: { w: 801 } }] }),
    })
    const text = Buffer.from(await archive.arrayBuffer()).toString('latin1')
    expect(text).to.include('a.webp').and.not.include('"code"')
    expect(figures.health.p99).to.be.below(250)
  })
})
