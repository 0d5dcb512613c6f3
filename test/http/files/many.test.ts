import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { listAll } from '../../support/stored/files.ts'

interface Answer {
  results: Array<{ path: string; status: string; code?: string }>
  more: boolean
}

onOneOrTwoBackends('POST /v1/files/delete', (start, backend, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const text = async (path?: string) =>
    (await uploadOne(client, { name: 'a.txt', bytes: 'a' }, path === undefined ? {} : { path }))
      .s3PathOriginal
  const remove = async (json: unknown, options = {}) => {
    const { status, body } = await ask(client, '/v1/files/delete', { method: 'POST', json, ...options })
    return { status, body: body as Answer }
  }
  const left = async () => (await listAll(client)).map(({ s3PathOriginal }) => s3PathOriginal).sort()
  const objects = async () => (await service.objects()).filter((name) => name.includes(client.id))

  it('returns the result of each path, in the requested order', async () => {
    const [one, two, kept] = [await text(), await text('größe/b'), await text()]
    const missing = 'text/txt/1111111111111111111111.txt'
    const other = await newClient(service)
    const theirs = (await uploadOne(other, { name: 'a.txt', bytes: 'a' })).s3PathOriginal
    const short = `größe/b/${two.split('/').at(-1)}`
    const { status, body } = await remove({ paths: [one, missing, '../x', short, theirs] })
    expect(status).to.equal(200)
    expect(body.more).to.equal(false)
    expect(body.results.map(({ path, status: outcome, code }) => [path, outcome, code])).to.deep.equal([
      [one, 'deleted', undefined],
      [missing, 'error', 'file_not_found'],
      ['../x', 'error', 'bad_path'],
      [short, 'deleted', undefined],
      [theirs, 'error', 'file_not_found'],
    ])
    expect(await left()).to.deep.equal([kept])
    expect(await listAll(other)).to.have.length(1)
    // Its bytes and its record.
    expect(await objects()).to.have.length(2)
  })

  it('deletes a folder with its subfolders, and none that only begins with its name', async () => {
    const inside = [await text('a'), await text('a/b'), await text('a/b/c')]
    const outside = [await text('ab'), await text('b/a'), await text(), await text('text')]
    const { body } = await remove({ prefix: 'a/' })
    expect(body.more).to.equal(false)
    expect(body.results.map(({ path }) => path).sort()).to.deep.equal([...inside].sort())
    expect(await left()).to.deep.equal([...outside].sort())
    // The keys of those without a folder begin so, too.
    expect((await remove({ prefix: 'text' })).body.results.map(({ path }) => path)).to.deep.equal([
      outside[3],
    ])
    expect((await remove({ prefix: 'none' })).body).to.deep.equal({ results: [], more: false })
    expect((await remove({ all: true })).body.results).to.have.length(3)
    expect(await objects()).to.deep.equal([])
  })

  it('deletes in parts of limit files', async () => {
    for (let i = 0; i < 5; i += 1) await text('a')
    const counts: Array<[number, boolean]> = []
    for (let more = true; more; ) {
      const { body } = await remove({ prefix: 'a', limit: 2 })
      counts.push([body.results.length, body.more])
      more = body.more
    }
    expect(counts).to.deep.equal([
      [2, true],
      [2, true],
      [1, false],
    ])
  })

  itOnce(
    'requires a secret that is not limited by only, and stays within the folder of the secret',
    async () => {
      const [inside, outside] = [await text('a/b'), await text('b')]
      const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'a' } })
      const { body } = await remove({ paths: [outside, inside] }, { secret })
      expect(body.results.map(({ status }) => status)).to.deep.equal(['error', 'deleted'])
      await text('a')
      expect((await remove({ prefix: 'b' }, { secret })).body.results).to.deep.equal([])
      expect((await remove({ all: true }, { secret })).body.results).to.have.length(1)
      expect(await left()).to.deep.equal([outside])
      for (const only of ['read', 'upload'] as const) {
        const limited = await service.app.clients.addSecret(client.id, { scope: { only } })
        expect((await remove({ all: true }, { secret: limited.secret })).status, only).to.equal(403)
      }
      const anonymous = await exchange(service, '/v1/files/delete', { method: 'POST' })
      expect(anonymous.status).to.equal(401)
      expect((await ask(client, '/v1/files/delete')).headers.get('allow')).to.equal('POST')
    },
  )

  itOnce('reports files that could not be deleted yet, and deletes the others', async () => {
    let failing = true
    const stubborn = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async delete(keys) {
          const [key] = keys
          if (failing && key?.startsWith('stuck/')) return { failed: [{ key, error: new Error('EIO') }] }
          return bucket.delete(keys)
        },
      })),
    })
    const keys: string[] = []
    for (const path of ['fine', 'stuck', 'fine'])
      keys.push((await uploadOne(stubborn, { name: 'a.txt', bytes: 'a' }, { path })).s3PathOriginal)
    const { body } = await ask(stubborn, '/v1/files/delete', { method: 'POST', json: { paths: keys } })
    expect((body as Answer).results.map(({ status, code }) => code ?? status)).to.deep.equal([
      'deleted',
      'unavailable',
      'deleted',
    ])
    failing = false
    expect((await deleteFile(stubborn, String(keys[1]))).status).to.equal(200)
    expect(await stubborn.objects()).to.deep.equal([])
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  it('accepts a thousand paths, and no more', async () => {
    const paths = Array.from(
      { length: 1000 },
      (_, i) => `text/txt/${String(i).padStart(22, '1').replaceAll('0', '2')}.txt`,
    )
    const { status, body } = await remove({ paths })
    expect(status).to.equal(200)
    expect(body.results).to.have.length(1000)
    expect((await remove({ paths: [...paths, 'x'] })).status).to.equal(400)
  })

  it('refuses ambiguous requests, and deletes nothing', async () => {
    const key = await text('a')
    for (const json of [
      {},
      [],
      null,
      '{',
      { paths: [] },
      { paths: 'a' },
      { paths: [1] },
      { paths: [key], prefix: 'a' },
      { paths: [key], limit: 1 },
      { paths: [key], now: 'yes' },
      { prefix: '' },
      { prefix: '/' },
      { prefix: '..' },
      { prefix: 'a', all: true },
      { all: false },
      { prefix: 'a', limit: 0 },
      { prefix: 'a', limit: 1001 },
      { paths: [key], folder: 'a' },
    ])
      expect((await remove(json)).status, JSON.stringify(json)).to.equal(400)
    for (const [json, received] of [
      [{}, undefined],
      [{ paths: [key], all: true }, 'paths, all'],
    ] as const)
      expect((await remove(json)).body).to.deep.include({ param: 'the body', ...(received && { received }) })
    expect((await remove({})).body).not.to.have.property('received')
    expect(await left()).to.deep.equal([key])
  })
})
