import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('GET /v1/presets', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('returns shared presets, and those of the client in their place', async () => {
    const client = await newClient(service)
    const thumbnail = { f: 'auto', h: 200, w: 200 }
    const shared = await ask(client, '/v1/presets')
    expect(shared.status).to.equal(200)
    expect(shared.headers.get('cache-control')).to.equal('no-store')
    const named = (body: { presets: Array<{ name: string }> }, name: string) =>
      body.presets.filter((preset) => preset.name === name)
    expect(named(shared.body, 'thumbnail')).to.deep.equal([
      { name: 'thumbnail', types: ['image'], parameters: thumbnail, from: 'shared' },
    ])
    await service.app.clients.setRules(client.id, {
      presets: { thumbnail: { width: '300' }, both: { w: 64 } },
    })
    const { body } = await ask(client, '/v1/presets')
    expect(named(body, 'both')).to.deep.equal([
      { name: 'both', types: ['image', 'video', 'audio'], parameters: { w: 64 }, from: 'client' },
    ])
    expect(named(body, 'thumbnail')).to.deep.equal([
      { name: 'thumbnail', types: ['image', 'video', 'audio'], parameters: { w: 300 }, from: 'client' },
    ])
    expect(named(body, 'preview')).to.have.length(1)
    const { presets } = body as { presets: Array<{ name: string }> }
    const names = presets.map(({ name }) => name)
    expect(names).to.deep.equal([...names].sort())
    expect((await ask(service, '/v1/presets')).body).to.deep.equal(shared.body)
  })

  it('needs a secret that may read, and takes no parameters', async () => {
    expect((await ask(service, '/v1/presets', { secret: 'wrong' })).status).to.equal(401)
    const { secret } = await service.app.clients.addSecret('first', { scope: { only: 'upload' } })
    expect((await ask(service, '/v1/presets', { secret })).status).to.equal(403)
    expect((await ask(service, '/v1/presets?a=1')).status).to.equal(400)
    expect((await ask(service, '/v1/presets', { method: 'POST' })).status).to.equal(405)
  })
})
