import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ADMIN_PASSWORD, type Admin, askAs, signedIn } from '../../support/requests/admin.ts'
import { type Caller, postFiles, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { expectLasting } from '../../support/texts/lasting.ts'

onOneBackend('/v1/clients', (start) => {
  let service: Service
  let ask: Admin
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start({ env: { ADMIN_PASSWORD } })
    ask = await signedIn(service)
  })

  const newOne = async (body: object = {}) => (await ask('POST', '', body)).json
  const caller = (client: Caller['tokens']): Caller => ({ url: service.url, tokens: client })
  const accepts = async (client: Caller['tokens'], secret = client.secretClientToken) =>
    (await postFiles(caller(client), [{ name: 'a.png', bytes: png }], { secret })).status

  it('creates, shows, changes and removes clients', async () => {
    const made = await ask('POST', '', { name: 'My shop', rules: { variantLimit: 3 } })
    expect(made.status).to.equal(200)
    expect(made.headers.get('cache-control')).to.equal('no-store')
    expect(made.headers.get('access-control-allow-origin')).to.equal(null)
    const { secretClientToken, ...client } = made.json
    expect(client).to.deep.include({ name: 'My shop', state: 'active', rules: { variantLimit: 3 } })
    expect(await accepts(made.json)).to.equal(200)

    expect((await ask('GET', `/${client.id}`)).json).to.deep.equal(client)
    const list = (await ask('GET', '')).json
    expect(list[0]).to.include({ id: 'first', clientToken: service.tokens.clientToken })
    expect(list).to.deep.include(client)
    expect(JSON.stringify(list)).to.not.match(/sec_|digest/)

    const changed = await ask('PATCH', `/${client.id}`, {
      name: null,
      rules: { presetsOnly: true, variantLimit: null },
    })
    const { name, ...nameless } = client
    expect(changed.json).to.deep.equal({ ...nameless, rules: { presetsOnly: true } })
    expect((await ask('PATCH', `/${client.id}`, { name: 'Shop' })).json).to.deep.equal({
      ...client,
      name: 'Shop',
      rules: { presetsOnly: true },
    })

    const kept = await ask('DELETE', `/${client.id}`)
    expect(kept.status).to.equal(409)
    expect(kept.json).to.include({ code: 'client_conflict' })
    expect(await accepts(made.json)).to.equal(200)
    const removed = await ask('DELETE', `/${client.id}?files`)
    expect(removed.json).to.deep.equal({ originals: 2 })
    expect(await accepts(made.json)).to.equal(401)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'a' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', {}],
      ['POST', '/secrets', {}],
      ['DELETE', '/secrets/1', undefined],
    ] as const) {
      const gone = await ask(method, `/${client.id}${path}`, body)
      expect(gone.status, path).to.equal(404)
      expect(gone.json).to.include({ code: 'client_not_found' })
    }
  }).timeout(60_000)

  it('rotates the secret, and accepts the old one for the requested time', async () => {
    const client = await newOne()
    const since = Date.now()
    const kept = await ask('POST', `/${client.id}/rotate`, { keepOldSeconds: 3600 })
    expectLasting(kept.json.oldSecretUntil, { since, ms: 3_600_000 })
    expect(await accepts(client)).to.equal(200)
    expect(await accepts(kept.json)).to.equal(200)
    const fresh = await ask('POST', `/${client.id}/rotate`, { keepOldSeconds: 0 })
    expect([await accepts(client), await accepts(kept.json), await accepts(fresh.json)]).to.deep.equal([
      401, 401, 200,
    ])
    for (const body of [{}, undefined]) {
      const byDefault = await ask('POST', `/${client.id}/rotate`, body)
      expectLasting(byDefault.json.oldSecretUntil, { since, ms: 86_400_000 })
    }
  })

  it('creates scoped secrets, which stop working when they are revoked', async () => {
    const client = await newOne()
    const since = Date.now()
    const { secretClientToken, ...secret } = (
      await ask('POST', `/${client.id}/secrets`, {
        name: 'app',
        only: 'upload',
        folder: 'a/b',
        validSeconds: 60,
      })
    ).json
    expect(secret).to.include({ name: 'app', only: 'upload', folder: 'a/b' })
    expectLasting(secret.until, { since, ms: 60_000 })
    expect((await ask('GET', `/${client.id}`)).json.secrets).to.deep.equal([secret])
    const { s3PathOriginal } = await uploadOne(
      caller(client),
      { name: 'a.png', bytes: png },
      { secret: secretClientToken },
    )
    expect(s3PathOriginal).to.match(/^a\/b\//)
    expect(await accepts(client, secretClientToken)).to.equal(200)

    const removed = await ask('DELETE', `/${client.id}/secrets/${secret.id}`)
    expect(removed.json).to.not.have.property('secrets')
    expect(await accepts(client, secretClientToken)).to.equal(401)
    const again = await ask('DELETE', `/${client.id}/secrets/${secret.id}`)
    expect(again.status).to.equal(404)
    expect(again.json).to.include({ code: 'secret_not_found' })
  })

  it('creates URL keys, and requires one before signedUrls can be set', async () => {
    const { id } = await newOne()
    const without = await ask('PATCH', `/${id}`, { rules: { signedUrls: true } })
    expect([without.status, without.json.code]).to.deep.equal([409, 'client_conflict'])
    expect((await ask('POST', '', { rules: { signedUrls: true } })).status).to.equal(409)
    const noKey = await ask('POST', '', { rules: { privateFolders: ['a'] } })
    expect(noKey.status).to.equal(409)
    expect(noKey.json.detail).to.match(
      /^Signed URLs and private folders need a key, .* sluice client key add/,
    )
    const added = await ask('POST', `/${id}/keys`)
    expect(added.json.urlKeys).to.deep.equal([1])
    expect(added.json.urlKey).to.have.keys('version', 'key')
    expect((await ask('GET', `/${id}`)).json).to.not.have.property('urlKey')
    expect((await ask('PATCH', `/${id}`, { rules: { signedUrls: true } })).json.rules).to.deep.equal({
      signedUrls: true,
    })
    expect((await ask('DELETE', `/${id}/keys/1`)).status).to.equal(409)
    await ask('PATCH', `/${id}`, { rules: { signedUrls: null } })
    expect((await ask('DELETE', `/${id}/keys/1`)).json).to.not.have.property('urlKeys')
    for (const version of ['1', 'x'])
      expect((await ask('DELETE', `/${id}/keys/${version}`)).status).to.equal(404)
  })

  it('is available only to an operator who has signed in', async () => {
    const { id, ...client } = await newOne()
    for (const authorization of [
      undefined,
      client.secretClientToken,
      `Bearer ${client.secretClientToken}`,
      'Bearer x',
    ])
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', `/${id}`],
        ['PATCH', `/${id}`],
        ['DELETE', `/${id}?files`],
        ['POST', `/${id}/rotate`],
        ['POST', `/${id}/secrets`],
        ['GET', '/no/such/address'],
      ] as const) {
        const refused = await askAs(service, authorization)(method, path)
        expect(refused.status, `${method} ${path}`).to.equal(401)
        expect(refused.json).to.include({ code: 'not_signed_in' })
        expect(refused.headers.get('www-authenticate')).to.equal('Bearer realm="sluice admin"')
        expect(refused.headers.get('cache-control')).to.equal('no-store')
      }
    const preflight = await exchange(service, '/v1/clients', {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example' },
    })
    expect(preflight.status).to.equal(401)
    expect(preflight.headers).to.not.have.property('access-control-allow-origin')
  })

  it('refuses invalid requests, and changes nothing', async () => {
    const { id } = await newOne({ name: 'same' })
    for (const [method, path, body, status, param] of [
      ['POST', '', { nam: 'a' }, 400, 'the body'],
      ['POST', '', { name: 5 }, 400, 'name'],
      ['POST', '', { name: ' a' }, 400, 'name'],
      ['POST', '', { name: null }, 400, 'name'],
      ['POST', '', [], 400, 'the body'],
      ['POST', '', '{', 400, undefined],
      ['POST', '', { rules: { variantLimit: 0 } }, 400, 'variantLimit'],
      ['PATCH', `/${id}`, {}, 400, 'the body'],
      ['PATCH', `/${id}`, { rules: {} }, 400, 'the body'],
      ['PATCH', `/${id}`, { rules: { variantLimit: '5' } }, 400, 'rules.variantLimit'],
      ['PATCH', `/${id}`, { rules: { allowedWidths: ['5'] } }, 400, 'rules.allowedWidths'],
      ['PATCH', `/${id}`, { rules: { allowedWidths: [5001] } }, 400, 'allowedWidths'],
      ['PATCH', `/${id}`, { rules: { presetOnly: true } }, 400, 'rules'],
      ['PATCH', `/${id}`, { secrets: [] }, 400, 'the body'],
      ['POST', `/${id}/rotate`, { keepOldSeconds: -1 }, 400, 'keepOldSeconds'],
      ['POST', `/${id}/rotate`, { keepOldSeconds: 1.5 }, 400, 'keepOldSeconds'],
      ['POST', `/${id}/rotate`, { keepOldSeconds: 31_536_001 }, 400, 'keepOldSeconds'],
      ['POST', `/${id}/secrets`, { only: 'manage' }, 400, 'only'],
      ['POST', `/${id}/secrets`, { folder: '../a' }, 400, 'folder'],
      ['POST', `/${id}/secrets`, { validSeconds: 0 }, 400, 'validSeconds'],
      ['DELETE', `/${id}?file`, undefined, 400, 'file'],
      ['DELETE', `/${id}?files=0`, undefined, 400, 'files'],
      ['DELETE', '/first?files', undefined, 409, undefined],
      ['PUT', `/${id}`, {}, 405, undefined],
      ['DELETE', '', undefined, 405, undefined],
      ['GET', `/${id}/secrets`, undefined, 405, undefined],
      ['GET', `/${id}/no/such`, undefined, 404, undefined],
    ] as const) {
      const refused = await ask(method, path, body)
      const what = `${method} ${path} ${JSON.stringify(body)}`
      expect(refused.status, what).to.equal(status)
      if (param) expect(refused.json.param, what).to.equal(param)
    }
    expect((await ask('POST', '', undefined)).status).to.equal(415)
    expect((await ask('GET', `/${id}`)).json).to.deep.include({ id, name: 'same', state: 'active' })
  })
})
