import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { askAlias, outcomeOf, setAlias, type WireAliasList } from '../../support/stored/aliases.ts'

onOneBackend('access to aliases', (start) => {
  let service: Service
  let inside: string
  let outside: string
  before(async () => {
    service = await start({ env: { CORS_ORIGINS: 'https://app.example' } })
    const bytes = await picture()
    inside = (await uploadOne(service, { name: 'a.png', bytes }, { path: 'shop' })).s3PathOriginal
    outside = (await uploadOne(service, { name: 'b.png', bytes }, { path: 'other' })).s3PathOriginal
    await setAlias(service, 'shop/a', inside)
    await setAlias(service, 'other/a', outside)
    await setAlias(service, 'top', outside)
  })
  const secretOf = async (scope: object) => (await service.app.clients.addSecret('first', { scope })).secret
  const put = (name: string, file: string, secret?: string) =>
    askAlias(service, name, { method: 'PUT', json: { file }, ...(secret ? { secret } : {}) })

  it('needs a secret that may change files, or may read them', async () => {
    const outcomes = async (secret: string) => {
      const all = [
        await ask(service, '/v1/aliases', { secret }),
        await askAlias(service, 'shop/a', { secret }),
        await put('shop/a', inside, secret),
        await askAlias(service, 'shop/a/rollback', { method: 'POST', secret }),
        await askAlias(service, 'shop/never', { method: 'DELETE', secret }),
      ]
      return all.map(({ status }) => status)
    }
    expect(await outcomes(await secretOf({ only: 'read' }))).to.deep.equal([200, 200, 403, 403, 403])
    expect(await outcomes(await secretOf({ only: 'upload' }))).to.deep.equal([403, 403, 403, 403, 403])
    expect(await outcomes('sec_wrong')).to.deep.equal([401, 401, 401, 401, 401])
    // Of another client.
    const { secretClientToken } = (await newClient(service)).tokens
    expect(await outcomes(secretClientToken)).to.deep.equal([200, 404, 404, 404, 404])
    const all: WireAliasList = (await ask(service, '/v1/aliases', { secret: secretClientToken })).body
    expect(all.aliases).to.deep.equal([])
  })

  it('with the secret of a folder has only aliases and files of the folder', async () => {
    const secret = await secretOf({ folder: 'shop' })
    const page: WireAliasList = (await ask(service, '/v1/aliases', { secret })).body
    expect(page.aliases.map(({ name }) => name)).to.deep.equal(['shop/a'])
    const empty: WireAliasList = (await ask(service, '/v1/aliases?prefix=other', { secret })).body
    expect(empty.aliases).to.deep.equal([])
    for (const name of ['other/a', 'top', 'shopping/a']) {
      expect(outcomeOf(await put(name, inside, secret)), name).to.equal('403 out_of_scope')
      for (const [path, method] of [
        [name, 'GET'],
        [name, 'DELETE'],
        [`${name}/rollback`, 'POST'],
      ] as const)
        expect(outcomeOf(await askAlias(service, path, { method, secret })), path).to.equal(
          '404 alias_not_found',
        )
    }
    expect(outcomeOf(await put('shop/b', outside, secret))).to.equal('404 file_not_found')
    expect(outcomeOf(await put('shop/b', inside, secret))).to.equal('201')
    // It cannot restore a file outside of the folder, which another secret had set.
    await put('shop/b', outside)
    await put('shop/b', inside)
    const back = { method: 'POST', secret }
    expect(outcomeOf(await askAlias(service, 'shop/b/rollback', back))).to.equal('404 alias_target_missing')
    expect(outcomeOf(await askAlias(service, 'shop/b', { method: 'DELETE', secret }))).to.equal('204')
  })

  const refused: Array<[what: string, path: string, options: object, outcome: string]> = [
    ['a name outside of the rules', 'a%2f..%2fb', { method: 'PUT', json: { file: 'x' } }, '400 bad_path'],
    ['the folder of records', '.sluice/a', { method: 'PUT', json: { file: 'x' } }, '400 bad_path'],
    ['no file', 'a', { method: 'PUT', json: {} }, '400 bad_parameter'],
    ['another member', 'a', { method: 'PUT', json: { file: 'x', to: 'y' } }, '400 bad_parameter'],
    [
      'a file that never existed',
      'a',
      { method: 'PUT', json: { file: 'image/png/x.png' } },
      '404 file_not_found',
    ],
    ['a path outside of the rules', 'a', { method: 'PUT', json: { file: '../x' } }, '400 bad_path'],
    ['a body that is no JSON', 'a', { method: 'PUT', json: '{' }, '400 bad_json'],
    ['no body', 'a', { method: 'PUT' }, '415 unsupported_media_type'],
    ['a long body', 'a', { method: 'PUT', json: { file: 'x'.repeat(9000) } }, '413 too_large'],
    ['another method', 'a', { method: 'POST', json: {} }, '405 method_not_allowed'],
    ['an alias to roll back that never existed', 'a/rollback', { method: 'POST' }, '404 alias_not_found'],
    ['no previous version', 'top/rollback', { method: 'POST' }, '404 alias_version_not_found'],
    [
      'no such version',
      'top/rollback',
      { method: 'POST', json: { version: 9 } },
      '404 alias_version_not_found',
    ],
    ['version 0', 'top/rollback', { method: 'POST', json: { version: 0 } }, '400 bad_parameter'],
    [
      'another member of a rollback',
      'top/rollback',
      { method: 'POST', json: { to: 1 } },
      '400 bad_parameter',
    ],
  ]
  for (const [what, path, options, outcome] of refused)
    it(`is refused for ${what}`, async () => {
      expect(outcomeOf(await ask(service, `/v1/aliases/${path}`, options))).to.equal(outcome)
    })

  it('is refused for the path of a derivative', async () => {
    expect(outcomeOf(await put('a', `${inside}_w=20`))).to.equal('404 file_not_found')
  })

  for (const query of ['limit=0', 'limit=1001', 'limit=a', 'cursor=a', 'sort=name', 'limit=1&limit=2'])
    it(`is refused for a list with ${query}`, async () => {
      expect(outcomeOf(await ask(service, `/v1/aliases?${query}`))).to.equal('400 bad_parameter')
    })

  it('is possible for an alias whose name ends with /rollback', async () => {
    expect(outcomeOf(await put('x/rollback', inside))).to.equal('201')
    expect(outcomeOf(await askAlias(service, 'x/rollback'))).to.equal('200')
    await put('x/rollback', outside)
    const back = await askAlias(service, 'x/rollback/rollback', { method: 'POST' })
    expect(back.body).to.include({ name: 'x/rollback', file: inside })
    expect(outcomeOf(await askAlias(service, 'x/rollback', { method: 'DELETE' }))).to.equal('204')
  })

  it('is permitted to pages of the allowed origins', async () => {
    const { headers } = await exchange(service, '/v1/aliases/a', {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
    })
    expect(headers['access-control-allow-origin']).to.equal('https://app.example')
    expect(headers['access-control-allow-methods']).to.include('PUT')
  })
})
