import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import {
  type Caller,
  deleteFile,
  newClient,
  uploadOne,
  type WireRecord,
} from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { filePath, listAll, listPart } from '../../support/stored/files.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneOrTwoBackends('GET /v1/files', (start, backend, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })
  beforeEach(async () => {
    client = await newClient(service)
  })

  const text = (name: string, path?: string) =>
    uploadOne(client, { name, bytes: `this is ${name}` }, path === undefined ? {} : { path })
  const keysOf = (files: readonly WireRecord[]) => files.map(({ s3PathOriginal }) => s3PathOriginal)

  itOnce('is empty for a client without files, and has no cursor', async () => {
    expect(await listPart(client)).to.deep.equal({ files: [], cursor: null })
  })

  itOnce('returns the record of the upload, and further fields', async () => {
    const before = Date.now()
    const record = await uploadOne(client, { name: 'Größe.png', bytes: png }, { path: 'a/b c' })
    const [file, ...others] = (await listPart(client)).files
    expect(others).to.deep.equal([])
    const { uploadedAt, ...rest } = file ?? { uploadedAt: '' }
    expect(rest).to.deep.equal({
      ...record,
      mediaType: 'image/png',
      sha256: createHash('sha256').update(png).digest('hex'),
      tags: [],
      metadata: {},
    })
    expect(Date.parse(uploadedAt)).to.be.within(before, Date.now())
    expect((await ask(client, '/v1/files')).headers.get('cache-control')).to.equal('no-store')
  })

  it('returns pages of any size in the requested order, the newest first by default', async () => {
    const records: WireRecord[] = []
    for (const name of ['b.txt', 'a.txt', 'd.txt', 'c.txt', 'e.txt']) records.push(await text(name))
    const uploaded = keysOf(records)
    const sorted = [...uploaded].sort()
    const orders = {
      '': [...uploaded].reverse(),
      'sort=-uploaded': [...uploaded].reverse(),
      'sort=uploaded': uploaded,
      'sort=key': sorted,
      'sort=-key': [...sorted].reverse(),
    }
    for (const [query, expected] of Object.entries(orders))
      for (const limit of [1, 2, 5, 1000])
        expect(keysOf(await listAll(client, `${query}&limit=${limit}`)), `${query} ${limit}`).to.deep.equal(
          expected,
        )
    expect((await listPart(client, '?limit=5')).cursor).to.equal(null)
    expect((await listPart(client, '?limit=4')).cursor).to.be.a('string')
  })

  it('sorts by name, without case, and by size, in both directions, before and after a new name', async () => {
    const sizes = { 'b.txt': 5, 'A.txt': 12, 'a b.txt': 100, 'Z.txt': 1, 'ä.txt': 6 }
    const keys = new Map<string, string>()
    for (const [name, size] of Object.entries(sizes))
      keys.set(
        name,
        (await uploadOne(client, { name, bytes: 'x'.repeat(size) }, { path: 'f' })).s3PathOriginal,
      )
    const orders = {
      name: ['a b.txt', 'A.txt', 'b.txt', 'Z.txt', 'ä.txt'],
      size: ['Z.txt', 'b.txt', 'ä.txt', 'A.txt', 'a b.txt'],
      created: Object.keys(sizes),
    }
    const names = async (query: string) =>
      (await listAll(client, query)).map(({ originalName }) => originalName)
    for (const [sort, expected] of Object.entries(orders))
      for (const limit of [1, 2, 100]) {
        expect(await names(`sort=${sort}&limit=${limit}`), sort).to.deep.equal(expected)
        expect(await names(`sort=${sort}&order=asc&prefix=f`), sort).to.deep.equal(expected)
        const reversed = [...expected].reverse()
        expect(await names(`sort=-${sort}&limit=${limit}`), sort).to.deep.equal(reversed)
        expect(await names(`sort=${sort}&order=desc`), sort).to.deep.equal(reversed)
      }
    const patch = { method: 'PATCH', json: { originalName: 'aa.txt' } }
    expect((await ask(client, filePath(String(keys.get('Z.txt'))), patch)).status).to.equal(200)
    expect(await names('sort=name')).to.deep.equal(['a b.txt', 'A.txt', 'aa.txt', 'b.txt', 'ä.txt'])
  })

  it('counts all files of a folder, or all deleted ones, when count is set', async () => {
    await service.app.clients.setRules(client.id, { keepDeletedSeconds: 3600 })
    const { s3PathOriginal } = await text('1.txt', 'a/b')
    for (const path of ['a', 'a/b', 'ab', undefined]) await text('2.txt', path)
    await deleteFile(client, s3PathOriginal)
    const total = async (query: string, options = {}) =>
      ((await listPart(client, `?count=1&limit=1${query}`, options)) as { total?: number }).total
    expect(await total('')).to.equal(4)
    expect(await total('&prefix=a')).to.equal(2)
    expect(await total('&prefix=a/b&sort=name')).to.equal(1)
    expect(await total('&deleted=1')).to.equal(1)
    expect([await total('&direct=1'), await total('&direct=1&prefix=a')]).to.deep.equal([1, 1])
    expect(await total('&direct=1&deleted=1&prefix=a')).to.equal(0)
    expect(await total('&prefix=none')).to.equal(0)
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'a' } })
    expect(await total('', { secret })).to.equal(2)
    expect(await total('&direct=1', { secret })).to.equal(0)
    expect(await total('&prefix=ab', { secret })).to.equal(0)
    expect(await listPart(client)).to.not.have.property('total')
  })

  itLong('skips and repeats no remaining file while others are added and deleted', async () => {
    const staying: string[] = []
    for (let i = 0; i < 6; i += 1) staying.push((await text(`${i}.txt`)).s3PathOriginal)
    for (const sort of ['uploaded', '-uploaded', 'key', '-key']) {
      const going = await text('going.txt')
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const part = await listPart(client, `?sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`)
        seen.push(...keysOf(part.files))
        if (part.cursor === null) break
        cursor = part.cursor
        // Also the very file that the cursor stands at.
        const last = String(keysOf(part.files).at(-1))
        if (last === going.s3PathOriginal) await deleteFile(client, last)
        await text('new.txt')
      }
      expect(seen.filter((key) => staying.includes(key)).sort()).to.deep.equal([...staying].sort())
      expect(new Set(seen).size).to.equal(seen.length)
    }
  })

  it('filters by folder, type and name', async () => {
    const [plain, inA, inAB, inAx, inImage] = [
      await uploadOne(client, { name: 'Holiday 1.PNG', bytes: png }),
      await text('holiday.txt', 'a'),
      await text('b.txt', 'a/b'),
      await text('x.txt', 'ax'),
      await text('i.txt', 'image'),
    ].map(({ s3PathOriginal }) => s3PathOriginal)
    const queries: Record<string, unknown[]> = {
      'prefix=a': [inA, inAB],
      'prefix=a/': [inA, inAB],
      'prefix=a/b': [inAB],
      'prefix=none': [],
      // Of those without a folder keys begin with the group.
      'prefix=image': [inImage],
      'type=image': [plain],
      'type=text': [inA, inAB, inAx, inImage],
      'type=video': [],
      'search=HOLIDAY': [plain, inA],
      'search=day 1': [plain],
      'search=holiday&type=text&prefix=a': [inA],
      'direct=1': [plain],
      'direct=1&search=holiday': [plain],
      'direct=1&prefix=a': [inA],
      'direct=1&prefix=image': [inImage],
      'to=2020-01-01': [],
      'from=2020-01-01&to=2099-12-31&type=image': [plain],
      'from=2099-01-01': [],
    }
    for (const [query, expected] of Object.entries(queries))
      for (const sort of ['uploaded', 'key'])
        for (const limit of [1, 100])
          expect(
            keysOf(await listAll(client, `${query}&sort=${sort}&limit=${limit}`)).sort(),
            `${query} by ${sort}`,
          ).to.deep.equal([...expected].sort())
  })

  it('omits deleted and pending files, and those of other clients', async () => {
    const other = await newClient(service)
    await uploadOne(other, { name: 'theirs.txt', bytes: 'theirs' })
    const kept = await text('kept.txt')
    const deleted = await text('deleted.txt')
    await deleteFile(client, deleted.s3PathOriginal)
    for (const sort of ['uploaded', 'key'])
      expect(keysOf(await listAll(client, `sort=${sort}`))).to.deep.equal([kept.s3PathOriginal])
    expect(await listAll(other)).to.have.length(1)
  })

  itOnce('returns only the folder of a scoped secret', async () => {
    const { secret } = await scoped('a')
    const inA = await text('1.txt', 'a')
    const below = await text('2.txt', 'a/b')
    const outside = await text('3.txt', 'ab')
    const root = await text('4.txt')
    const seen = async (query: string) => keysOf(await listAll(client, query, { secret })).sort()
    const all = keysOf([inA, below]).sort()
    for (const query of ['', 'sort=key', 'prefix=a']) expect(await seen(query), query).to.deep.equal(all)
    expect(await seen('prefix=a/b')).to.deep.equal([below.s3PathOriginal])
    expect(await seen('prefix=ab')).to.deep.equal([])
    expect(await seen('direct=1')).to.deep.equal([])
    expect(await seen('direct=1&prefix=a')).to.deep.equal(keysOf([inA]))
    for (const { s3PathOriginal } of [outside, root])
      expect((await ask(client, filePath(s3PathOriginal), { secret })).status).to.equal(404)
    expect((await ask(client, filePath(inA.s3PathOriginal), { secret })).status).to.equal(200)
    const uploads = await scoped(undefined, 'upload')
    expect((await ask(client, '/v1/files', { secret: uploads.secret })).status).to.equal(403)
  })

  itOnce('has an opaque cursor, which is invalid for other clients', async () => {
    const scoped = async (folder: string) =>
      (await service.app.clients.addSecret(client.id, { scope: { folder } })).secret
    const [secret, elsewhere] = [await scoped('b'), await scoped('c')]
    for (const name of ['1', '2'])
      await uploadOne(client, { name: `${name}.txt`, bytes: 'text' }, { path: 'b' })
    const { cursor } = await listPart(client, '?limit=1', { secret })
    expect(cursor).to.match(/^[\w.-]{40,160}$/)
    expect(Buffer.from(String(cursor).slice(3), 'base64url').toString('latin1')).to.not.match(/text|uploaded/)
    expect((await listPart(client, `?cursor=${cursor}`, { secret })).files).to.have.length(1)
    const other = await newClient(service)
    for (const [caller, options, sort] of [
      [client, {}, '-uploaded'],
      [client, { secret: elsewhere }, '-uploaded'],
      [client, { secret }, 'uploaded'],
      [other, {}, '-uploaded'],
    ] as const)
      expect(await ask(caller, `/v1/files?sort=${sort}&cursor=${cursor}`, options)).to.include({
        status: 400,
      })
  })

  itOnce('describes one file, by each of its paths, with its derivatives', async () => {
    const record = await uploadOne(client, { name: 'a.png', bytes: png }, { path: 'x' })
    await exchange(service, `${record.src}?w=10&f=webp`)
    // What is known of a picture is a derivative by itself, and no file.
    await exchange(service, record.src.replace('/upload/', '/info/'))
    await settled(service)
    const key = `${record.s3PathOriginal}_f=webp&w=10`
    const [listed] = (await listPart(client)).files
    for (const path of [record.s3PathOriginal, `x/${record.sourceName}`]) {
      const { status, body } = await ask(client, filePath(path))
      expect({ status, body }).to.deep.equal({
        status: 200,
        body: {
          ...listed,
          derivatives: [
            {
              key,
              src: `${service.url}/v1/image/upload/${client.tokens.clientToken}/${key.split('/').map(encodeURIComponent).join('/')}`,
              mediaType: 'image/webp',
              size: (await exchange(service, `${record.src}?w=10&f=webp`)).body.length,
              state: 'stored',
            },
          ],
        },
      })
    }
    for (const path of [`${record.s3PathOriginal}_f=webp&w=10`, 'image/png/1111111111111111111111.png', 'x'])
      expect((await ask(client, filePath(path))).status, path).to.equal(404)
    expect((await ask(await newClient(service), filePath(record.s3PathOriginal))).status).to.equal(404)
    expect((await exchange(service, filePath(record.s3PathOriginal))).status).to.equal(401)
  })

  function scoped(folder: string | undefined, only?: 'upload' | 'read') {
    const scope = { ...(folder ? { folder } : {}), ...(only ? { only } : {}) }
    return service.app.clients.addSecret(client.id, { scope })
  }

  describe('after the index was lost', () => {
    it('is complete at the next start', async () => {
      const dataDir = await temporaryFolder()
      const first = await start({ dataDir })
      const records: WireRecord[] = []
      for (const name of ['1.txt', '2.txt', '3.txt'])
        records.push(await uploadOne(first, { name, bytes: name }, { path: 'f' }))
      await first.stop({ keepData: true })
      await backend.emptyIndex(dataDir)
      const second = await start({ dataDir })
      expect(keysOf(await listAll(second, 'sort=uploaded'))).to.deep.equal(keysOf(records))
      await eventually(async () => {
        for (const { s3PathOriginal } of records) await ask(second, filePath(s3PathOriginal))
        expect(keysOf(await listAll(second, 'sort=uploaded'))).to.deep.equal(keysOf(records))
      })
    })
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  it('refuses unknown parameters', async () => {
    const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=1&limit=2',
      'sort=date',
      'sort=-size&order=asc',
      'order=up',
      'count=1&search=a',
      'count=1&type=image',
      'count=1&tag=a',
      'count=1&from=2026-11-24',
      'direct=yes',
      'from=yesterday',
      'from=2026-11-24&to=2026-11-23',
      'sort=constructor',
      'type=png',
      'prefix=../a',
      'prefix=.sluice',
      'prefix=/a',
      'search=',
      `search=${'x'.repeat(256)}`,
      'cursor=x',
      `cursor=${cursor(['key', 'a'])}`,
      `cursor=${cursor(['-uploaded', 'a'])}`,
      `cursor=v1.${cursor(['-uploaded', 'a'])}`,
      'cursor=',
      'prefx=a',
    ])
      expect((await ask(client, `/v1/files?${query}`)).status, query).to.equal(400)
    const counted = await ask(client, '/v1/files?count=1&tag=a')
    expect(counted.body).to.deep.include({
      detail: 'expected no type, search, tag, from or to in the same request for count but received "tag"',
    })
    expect((await exchange(service, '/v1/files')).status).to.equal(401)
    expect((await ask(client, '/v1/files', { secret: client.tokens.clientToken })).status).to.equal(401)
    const { status, headers } = await ask(client, '/v1/files', { method: 'PUT' })
    expect({ status, allow: headers.get('allow') }).to.deep.equal({ status: 405, allow: 'GET, HEAD' })
  })
})
