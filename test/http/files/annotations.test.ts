import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { filePath, listAll, listPart, type WireFile } from '../../support/stored/files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneOrTwoBackends('tags and metadata of files', (start, backend, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  before(async () => {
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const text = (name = 'a.txt') => uploadOne(client, { name, bytes: `this is ${name}` })
  const change = (key: string, json: unknown, options = {}) =>
    ask(client, filePath(key), { method: 'PATCH', json, ...options })
  const told = async (key: string) => (await ask(client, filePath(key))).body as WireFile

  async function upload(fields: Record<string, string>, caller: Caller = client): Promise<Response> {
    const form = new FormData()
    form.append('file', new Blob(['one']), 'one.txt')
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    form.append('file', new Blob(['two']), 'two.txt')
    const headers = { Authorization: caller.tokens.secretClientToken }
    return fetch(`${caller.url}/v1/upload`, { method: 'POST', headers, body: form })
  }

  itOnce('are set by the form, for all of its files', async () => {
    const [tags, metadata] = [['red', 'größer', 'red'], { 'x.y': 'ä "b"', 1: '' }]
    const response = await upload({ tags: JSON.stringify(tags), metadata: JSON.stringify(metadata) })
    expect(response.status).to.equal(200)
    expect(((await response.json()) as object[])[0], 'the ten fields').to.have.keys(
      ...['sourceName', 'src', 'originalSrc', 'originalName', 's3PathOriginal', 's3Path', 'options', 'size'],
      ...['mimeType', 'format'],
    )
    for (const file of await listAll(client)) {
      expect(file.tags).to.deep.equal(['red', 'größer'])
      expect(file.metadata).to.deep.equal(metadata)
    }
    expect(await listAll(client)).to.have.length(2)
    await text()
    expect(await listAll(client, `tag=${encodeURIComponent('größer')}`)).to.have.length(2)
    expect(await listAll(client, 'tag=gr')).to.have.length(0)
  })

  it('are changed by a merge patch, without other changes', async () => {
    const { s3PathOriginal: key, src } = await text()
    const before = await told(key)
    const first = await change(key, {
      originalName: 'Neuer Name.txt',
      tags: ['a', 'b'],
      metadata: { one: '1', two: '2' },
    })
    const expected = {
      ...before,
      originalName: 'Neuer Name.txt',
      tags: ['a', 'b'],
      metadata: { one: '1', two: '2' },
    }
    expect({ status: first.status, body: first.body }).to.deep.equal({ status: 200, body: expected })
    expect(await told(key)).to.deep.equal(expected)
    await change(
      key,
      { metadata: { two: null, three: '3' } },
      { headers: { 'Content-Type': 'application/merge-patch+json' } },
    )
    expect(await told(key)).to.deep.equal({ ...expected, metadata: { one: '1', three: '3' } })
    await change(key, { tags: null, metadata: null })
    expect(await told(key)).to.deep.equal({ ...expected, tags: [], metadata: {} })
    expect((await change(key, {})).status).to.equal(200)
    const saved = await exchange(service, `${src}?download`)
    expect(saved.headers['content-disposition']).to.contain('Neuer Name.txt')
    expect(await listAll(client, 'search=neuer')).to.have.length(1)
  })

  it('combine concurrent patches', async () => {
    const { s3PathOriginal: key } = await text()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => change(key, { metadata: { [`n${i}`]: `${i}` } })),
    )
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(12).fill(200))
    expect(Object.keys((await told(key)).metadata)).to.have.length(12)
  })

  it('are changed with If-Match only in the version that was read', async () => {
    const { s3PathOriginal: key } = await text()
    const seen = await ask(client, filePath(key))
    const etag = String(seen.headers.get('etag'))
    const one = await change(key, { tags: ['one'] }, { headers: { 'If-Match': etag } })
    expect(one.status).to.equal(200)
    expect(one.headers.get('etag')).to.equal((await ask(client, filePath(key))).headers.get('etag'))
    for (const other of [etag, '"x"', `W/${one.headers.get('etag')}`])
      expect((await change(key, { tags: ['two'] }, { headers: { 'If-Match': other } })).status).to.equal(412)
    expect((await told(key)).tags).to.deep.equal(['one'])
    for (const other of ['*', `"x", ${one.headers.get('etag')}`])
      expect((await change(key, {}, { headers: { 'If-Match': other } })).status, other).to.equal(200)
  })

  it('leave nothing of a file that is deleted during the change', async () => {
    for (let round = 0; round < sized(3, 10); round += 1) {
      const { s3PathOriginal: key, sourceName } = await text()
      const [deleted, ...changes] = await Promise.all([
        deleteFile(client, key),
        ...[1, 2, 3].map((i) => change(key, { metadata: { a: `${i}` } })),
      ])
      expect(deleted?.status).to.equal(200)
      for (const { status } of changes) expect(status).to.be.oneOf([200, 404])
      expect((await service.objects()).filter((name) => name.includes(sourceName))).to.deep.equal([])
    }
  })

  it('have their record removed again when the file was deleted just before the write', async () => {
    let before: (() => Promise<unknown>) | undefined
    const late = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (key.startsWith('.sluice/meta/')) await before?.()
          return bucket.put(key, bytes, options)
        },
      })),
    })
    const { s3PathOriginal: key } = await uploadOne(late, { name: 'a.txt', bytes: 'a' })
    before = () => deleteFile(late, key)
    const answer = await ask(late, filePath(key), { method: 'PATCH', json: { tags: ['late'] } })
    expect(answer.status).to.equal(404)
    expect(await late.objects()).to.deep.equal([])
  })

  it('are restored from the bucket when the index was lost', async () => {
    const dataDir = await temporaryFolder()
    const first = await start({ dataDir })
    const { s3PathOriginal: key } = await uploadOne(first, { name: 'a.txt', bytes: 'a' })
    const path = filePath(key)
    await ask(first, path, { method: 'PATCH', json: { tags: ['old'], metadata: { a: 'old' } } })
    await ask(first, path, {
      method: 'PATCH',
      json: { tags: ['new'], metadata: { a: 'new' }, originalName: 'b.txt' },
    })
    const before = (await ask(first, path)).body
    await first.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const second = await start({ dataDir })
    expect(before).to.include({ originalName: 'b.txt' })
    const [listed] = (await listPart(second)).files
    expect(listed?.tags).to.deep.equal(['new'])
    expect(((await ask(second, path)).body as WireFile).metadata).to.deep.equal({ a: 'new' })
  })

  describe('tags and metadata when the index has missed a change', () => {
    let key: string
    let ref: { clientId: string; key: ReturnType<typeof storedKey> }
    beforeEach(async () => {
      key = (await text()).s3PathOriginal
      ref = { clientId: client.id, key: storedKey(key) }
      await change(key, { metadata: { a: '1' } })
      const { index } = service.storage
      const { original } = await index.find(ref)
      if (original?.state !== 'stored') throw new Error('it is not stored')
      // As if the step had been lost.
      const before = { ...original.record, metadata: { a: '0' }, probe: 'kept' }
      await index.amend(client.id, original.record, before)
      expect((await told(key)).metadata).to.deep.equal({ a: '0' })
    })
    afterEach(async () => {
      expect((await service.storage.index.find(ref)).original).to.have.nested.property('record.probe', 'kept')
      expect((await command(service, 'check', { clientId: client.id })).findings).to.deep.equal([])
    })

    it('are changed on the basis of the bucket', async () => {
      await change(key, { metadata: { b: '2' } })
      expect((await told(key)).metadata).to.deep.equal({ a: '1', b: '2' })
    })

    it('refuse the outdated version once, and return the current one afterwards', async () => {
      const seen = async () => String((await ask(client, filePath(key))).headers.get('etag'))
      const changed = async () =>
        (await change(key, { tags: ['new'] }, { headers: { 'If-Match': await seen() } })).status
      expect(await changed()).to.equal(412)
      expect((await told(key)).metadata).to.deep.equal({ a: '1' })
      expect(await changed()).to.equal(200)
      expect(await told(key)).to.deep.include({ tags: ['new'], metadata: { a: '1' } })
    })

    it('are those of the bucket after a reindex', async () => {
      const { answer, findings } = await command(service, 'reindex', { clientId: client.id })
      expect(answer).to.deep.include({ originals: { known: 1, added: 0, left: 0, removed: 0 } })
      expect(findings).to.deep.equal([])
      expect((await told(key)).metadata).to.deep.equal({ a: '1' })
      expect((await listAll(client))[0]?.metadata).to.deep.equal({ a: '1' })
    })
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  it('are refused with a form that has invalid ones, and nothing is stored', async () => {
    const pairs = (count: number, value = '') =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, value])))
    const refused: Array<[name: string, value: string]> = [
      ['tags', 'red'],
      ['tags', '"red"'],
      ['tags', '[""]'],
      ['tags', '[1]'],
      ['tags', '["a\\u0000"]'],
      ['tags', '["\\ud800"]'],
      ['tags', JSON.stringify(['x'.repeat(101)])],
      ['tags', JSON.stringify(Array.from({ length: 51 }, (_, i) => `${i}`))],
      ['metadata', '[]'],
      ['metadata', '{"a":1}'],
      ['metadata', '{"a":{"b":"c"}}'],
      ['metadata', '{"a b":"c"}'],
      ['metadata', '{"":"c"}'],
      ['metadata', '{"__proto__":"c"}'],
      ['metadata', JSON.stringify({ [`${'x'.repeat(65)}`]: '' })],
      ['metadata', JSON.stringify({ a: 'ä'.repeat(513) })],
      ['metadata', pairs(51)],
      ['metadata', pairs(17, 'x'.repeat(1000))],
    ]
    for (const [name, value] of refused)
      expect((await upload({ [name]: value })).status, `${name} ${value.slice(0, 60)}`).to.equal(400)
    expect(await listAll(client)).to.deep.equal([])
    for (const [name, value] of [
      ['tags', JSON.stringify(Array.from({ length: 50 }, (_, i) => `${i}`))],
      ['tags', ''],
      ['metadata', pairs(50, 'x'.repeat(300))],
      ['metadata', JSON.stringify({ a: 'x'.repeat(1024) })],
    ] as const)
      expect((await upload({ [name]: value })).status, `${name} ${value.slice(0, 60)}`).to.equal(200)
  })

  it('remain unchanged when a patch is refused', async () => {
    const { s3PathOriginal: key } = await text()
    await change(key, { tags: ['a'], metadata: { a: 'b' } })
    const before = await told(key)
    for (const json of [
      [],
      null,
      1,
      { size: 1 },
      { originalName: '' },
      { originalName: null },
      { originalName: 'a/b' },
      { originalName: '..' },
      { originalName: 'x'.repeat(256) },
      { tags: 'a' },
      { tags: [''] },
      { metadata: { ö: 'x' } },
      { metadata: { a: 1 } },
      { tags: ['fine'], metadata: { a: ['x'] } },
      '{',
      '{"metadata":{"__proto__":"x"}}',
    ])
      expect((await change(key, json)).status, JSON.stringify(json)).to.equal(400)
    const typed = { headers: { 'Content-Type': 'text/plain' } }
    expect((await change(key, {}, typed)).status).to.equal(415)
    expect((await change(key, { metadata: { a: 'x'.repeat(300_000) } })).status).to.equal(413)
    const other = await newClient(service)
    expect((await ask(other, filePath(key), { method: 'PATCH', json: {} })).status).to.equal(404)
    const reading = await service.app.clients.addSecret(client.id, { scope: { only: 'read' } })
    expect((await change(key, {}, { secret: reading.secret })).status).to.equal(403)
    const elsewhere = await service.app.clients.addSecret(client.id, { scope: { folder: 'x' } })
    expect((await change(key, {}, { secret: elsewhere.secret })).status).to.equal(404)
    expect(await told(key)).to.deep.equal(before)
  })
})
