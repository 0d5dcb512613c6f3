import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { type Caller, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('presets that a client saves', (start) => {
  let service: Service
  let shop: Caller & { id: string }

  before(async () => {
    service = await start()
    shop = await newClient(service)
  })

  const call = (method: string, path: string, body?: object, secret = shop.tokens.secretClientToken) =>
    exchange(service, path, {
      method,
      headers: { Authorization: secret, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const save = (name: string, parameters: string, more = {}) =>
    call('PUT', `/v1/presets/${name}`, { group: 'image', parameters, ...more })
  const ownNames = async () => {
    const { presets } = jsonOf(await call('GET', '/v1/presets')) as unknown as {
      presets: Array<{ name: string; from: string }>
    }
    return presets.filter(({ from }) => from === 'client').map(({ name }) => name)
  }
  const refusal = async (answer: ReturnType<typeof save>) => {
    const { status, code, detail } = jsonOf(await answer)
    return { status, code, detail }
  }

  it('are usable at once, replaced, listed and deleted', async () => {
    const { src } = await uploadOne(shop, { name: 'a.png', bytes: await picture() })
    const widthOf = async () =>
      (await sharp((await exchange(service, `${src}?preset=card`)).body).metadata()).width
    const saved = await save('card', 'w=40&f=webp', { description: 'For lists' })
    const card = { name: 'card', types: ['image'], from: 'client' }
    expect([saved.status, jsonOf(saved)]).to.deep.equal([
      200,
      { ...card, parameters: { w: 40, f: 'webp' }, description: 'For lists' },
    ])
    expect(await widthOf()).to.equal(40)
    expect(jsonOf(await save('card', 'w=50&f=webp'))).to.deep.equal({
      ...card,
      parameters: { w: 50, f: 'webp' },
    })
    expect(await widthOf()).to.equal(50)
    expect(await ownNames()).to.deep.equal(['card'])
    expect((await call('DELETE', '/v1/presets/card')).status).to.equal(204)
    expect(await ownNames()).to.deep.equal([])
    expect((await exchange(service, `${src}?preset=card`)).status).to.equal(400)
    expect(await refusal(call('DELETE', '/v1/presets/card'))).to.include({
      status: 404,
      code: 'preset_not_found',
    })
    expect(await refusal(call('DELETE', '/v1/presets/constructor'))).to.include({ status: 404 })
  })

  it('keep the presets that others save at the same time', async () => {
    const names = Array.from({ length: 5 }, (_, i) => `at-once-${i}`)
    const answers = await Promise.all(names.map((name, i) => save(name, `w=${i + 1}`)))
    expect(answers.map(({ status }) => status)).to.deep.equal(names.map(() => 200))
    expect(await ownNames()).to.include.members(names)
  })

  it('keep the other rules of the client, and a description as long as its preset exists', async () => {
    const { clients } = service.app
    await clients.update(shop.id, { rules: { variantLimit: 7 } })
    await save('described', 'w=30', { description: 'Small' })
    await save('other', 'w=31')
    expect(
      await clients.update(shop.id, { rules: { presets: { other: { w: 9 } } } }),
    ).to.have.nested.property('rules.variantLimit', 7)
    const changed = await clients.savePreset(shop.id, {
      name: 'described',
      parameters: { w: 8 },
      group: 'image',
    })
    expect(changed.presetDescriptions).to.equal(undefined)
    expect(changed.rules?.presets).to.deep.equal({ other: { w: 9 }, described: { w: 8 } })
  })

  it('leave nothing in the record of the client when the last one is deleted', async () => {
    const { clients } = service.app
    const { id } = await newClient(service)
    const preset = { parameters: { w: '8' }, group: 'image' as const }
    await clients.savePreset(id, { ...preset, name: 'one', description: 'One' })
    await clients.savePreset(id, { ...preset, name: 'two', description: 'Two' })
    const { presetDescriptions } = await clients.removePreset(id, 'one')
    expect(presetDescriptions).to.deep.equal({ two: 'Two' })
    const last = await clients.removePreset(id, 'two')
    expect(last).to.not.have.any.keys('presetDescriptions', 'rules')
  })

  it('are refused with the reasons when they are invalid', async () => {
    expect(await refusal(save('a%20b', 'w=1'))).to.include({ status: 400, code: 'bad_presets' })
    const tooWide = await refusal(save('wide', 'w=0'))
    expect(tooWide).to.include({ code: 'bad_presets' })
    expect(tooWide.detail).to.match(/^wide: expected .* for w/)
    expect(await refusal(save('empty', ''))).to.include({ code: 'bad_presets' })
    expect(await refusal(save('twice', 'w=1&w=2'))).to.include({ code: 'bad_parameter', status: 400 })
    expect(await refusal(save('own', 'preset=card'))).to.include({ code: 'bad_presets' })
    const long = { description: 'x'.repeat(301) }
    expect(await refusal(save('long', 'w=1', long))).to.include({ code: 'bad_parameter' })
    expect(await refusal(call('PUT', '/v1/presets/x', { group: 'movie', parameters: 'w=1' }))).to.include({
      code: 'bad_parameter',
    })
    // Valid for videos, but not for the type that was named.
    expect(await refusal(save('movie', 'vc=h264'))).to.include({ code: 'bad_presets' })
  })

  it('cannot replace shared presets', async () => {
    expect(await refusal(save('thumbnail', 'w=1'))).to.include({ status: 409, code: 'preset_is_shared' })
    expect(await refusal(call('DELETE', '/v1/presets/thumbnail'))).to.include({ code: 'preset_is_shared' })
  })

  it('are at most 100', async () => {
    const presets = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { w: 1 + i }]))
    await service.app.clients.update(shop.id, { rules: { presets } })
    expect(await refusal(save('one-more', 'w=1'))).to.include({ status: 400, code: 'bad_presets' })
    expect((await save('p99', 'w=7')).status).to.equal(200)
  })

  it('need a secret that is valid for everything', async () => {
    const { addSecret } = service.app.clients
    for (const scope of [{ only: 'read' as const }, { only: 'upload' as const }, { folder: 'a' }]) {
      const { secret } = await addSecret(shop.id, { scope })
      const answer = call('PUT', '/v1/presets/p1', { group: 'image', parameters: 'w=1' }, secret)
      expect(await refusal(answer)).to.include({ status: 403, code: 'out_of_scope' })
      expect(await refusal(call('DELETE', '/v1/presets/p1', undefined, secret))).to.include({ status: 403 })
    }
  })
})
