import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { onTwoBackends } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { inTime } from '../../support/promised.ts'
import { ADMIN_PASSWORD, type Admin, signedIn } from '../../support/requests/admin.ts'
import { type Caller, deleteFile, postFiles, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { s3Proxy } from '../../support/servers/s3-proxy.ts'
import { type S3Server, s3Server } from '../../support/servers/s3-server.ts'
import type { Service } from '../../support/service.ts'
import { everyNth, itLong, sized, usuallyOnce } from '../../support/sized.ts'

onTwoBackends('a separate bucket for one client', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  const env = { ADMIN_PASSWORD }
  let service: Service
  let ask: Admin
  let s3: S3Server
  let png: Buffer
  let bucket: string
  let banner: Remote | undefined
  after(() => banner?.close())

  before(async () => {
    png = await picture()
    s3 = await s3Server()
    // `npm run test:long` measures the promised 5 s.
    const limit: Record<string, string> = sized({}, { S3_TIMEOUT_MS: '3500' })
    service = await start({ env: { ...env, ...limit }, clientCacheTtlMs: 1500 })
    ask = await signedIn(service)
  })
  beforeEach(async () => {
    bucket = await s3.newBucket()
  })

  const settings = (more: object = {}) => {
    const { endpoint, region, credentials, forcePathStyle } = s3.connection
    const { accessKeyId, secretAccessKey } = credentials
    return { endpoint, region, accessKeyId, secretAccessKey, forcePathStyle, bucket, ...more }
  }
  const created = async (more: object = {}) => {
    const { status, json } = await ask('POST', '', { storage: settings(more) })
    expect(status, JSON.stringify(json)).to.equal(200)
    return asCaller(json)
  }
  const asCaller = (json: { id: string } & Caller['tokens'], { url } = service): Caller & { id: string } => ({
    url,
    id: json.id,
    tokens: json,
  })
  const names = async (of = bucket) => {
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: of }))
    return Contents.map(({ Key = '' }) => Key).sort()
  }
  const refused = async (
    work: Promise<{ status: number; json: { code: string; detail: string; param?: string } }>,
  ) => {
    const { status, json } = await work
    return { status, ...json }
  }

  itUsuallyOnce('holds all files of this client, and no others', async () => {
    const before = await service.objects()
    const client = await created({ prefix: '/shop/files' })
    expect(await names()).to.deep.equal([])
    const record = await uploadOne(client, { name: 'a.png', bytes: png })
    const { endpoint } = s3.connection
    expect(record.originalSrc).to.equal(`${endpoint}/${bucket}/shop/files/${record.s3PathOriginal}`)
    const derived = await exchange(service, `${record.src}?w=20`)
    expect(derived.status).to.equal(200)
    await eventually(async () => {
      const key = record.s3PathOriginal
      const expected = [`.sluice/meta/${key}.json`, key, `${key}_w=20`]
      expect(await names()).to.deep.equal(expected.map((name) => `shop/files/${name}`).sort())
    })
    expect((await exchange(service, `${record.src}?w=20`)).body.equals(derived.body)).to.equal(true)
    expect((await exchange(service, record.src)).body.equals(png)).to.equal(true)
    const archive = await postZip(client, { files: [{ path: record.sourceName }] })
    expect((await archive.arrayBuffer()).byteLength).to.be.above(png.length / 2)
    expect(await service.objects()).to.deep.equal(before)

    expect((await command(service, 'check')).findings).to.deep.equal([])
    await s3.client.send(
      new PutObjectCommand({ Bucket: bucket, Key: `shop/files/${record.s3PathOriginal}_w=21`, Body: 'x' }),
    )
    expect((await command(service, 'check')).findings).to.have.length(1)
    const reindexed = await command(service, 'reindex', { clientId: client.id })
    expect(reindexed.answer.derivatives).to.deep.equal({ known: 1, added: 1, left: 0 })

    expect((await deleteFile(client, record.s3PathOriginal)).status).to.equal(200)
    expect(await names()).to.deep.equal([])
    await uploadOne(client, { name: 'a.png', bytes: png })
    expect((await ask('DELETE', `/${client.id}?files`)).json).to.deep.equal({ originals: 1 })
    expect(await names()).to.deep.equal([])
  })

  itOnce('shows and logs no secret, and stores it encrypted', async () => {
    const client = await created({ publicUrl: 'https://cdn.example/' })
    const shown = (await ask('GET', `/${client.id}`)).json
    const { secretAccessKey, ...open } = settings()
    expect(shown.storage).to.deep.equal({ ...open, prefix: '', publicUrl: 'https://cdn.example' })
    const { originalSrc, s3PathOriginal } = await uploadOne(client, { name: 'a.png', bytes: png })
    expect(originalSrc).to.equal(`https://cdn.example/${s3PathOriginal}`)
    for (const { json } of [await ask('GET', ''), await ask('PATCH', `/${client.id}`, { name: 'a' })])
      expect(JSON.stringify(json)).to.not.match(/testsecret|sealed/)
    const kept = await backend.holding(service.dataDir, 'testkey')
    expect(
      kept.some((name) => name.includes(client.id)),
      kept.join(),
    ).to.equal(true)
    expect(await backend.holding(service.dataDir, 'testsecret')).to.deep.equal([])
    expect(inspect(service.log.lines, { depth: 20, maxArrayLength: null })).to.not.include('testsecret')
  })

  itUsuallyOnce(
    'can be set and removed while the client has no files, and accepts new keys while it has',
    async () => {
      const client = asCaller((await ask('POST', '', {})).json)
      const first = await uploadOne(client, { name: 'a.png', bytes: png })
      const put = (more: object = {}) => ask('PUT', `/${client.id}/storage`, settings(more))
      const conflict = await refused(put())
      expect(conflict).to.include({ status: 409, code: 'client_conflict' })
      expect(await names()).to.deep.equal([])
      expect((await deleteFile(client, first.s3PathOriginal)).status).to.equal(200)
      const given = await put({ prefix: 'a' })
      expect(given.status, JSON.stringify(given.json)).to.equal(200)
      expect(given.json.storage).to.include({ bucket, prefix: 'a/', accessKeyId: 'testkey' })
      const { s3PathOriginal } = await uploadOne(client, { name: 'a.png', bytes: png })
      expect(await names()).to.include(`a/${s3PathOriginal}`)

      expect((await refused(put({ prefix: 'b' }))).status).to.equal(409)
      expect((await refused(ask('DELETE', `/${client.id}/storage`))).status).to.equal(409)
      const again = await put({ prefix: 'a', publicUrl: 'https://cdn.example' })
      expect(again.json.storage).to.include({ publicUrl: 'https://cdn.example' })
      expect((await deleteFile(client, s3PathOriginal)).status).to.equal(200)
      const back = await ask('DELETE', `/${client.id}/storage`)
      expect(back.json).to.not.have.property('storage')
      const last = await uploadOne(client, { name: 'a.png', bytes: png })
      expect(await names()).to.deep.equal([])
      expect((await service.objects()).some((name) => name.includes(last.s3PathOriginal))).to.equal(true)
    },
  )

  itOnce('is tested without a change, with the given settings or with the stored ones', async () => {
    const test = (id: string, body?: object) => ask('POST', `/${id}/storage/test`, body)
    const shared = (await ask('POST', '', {})).json
    const works = await test(shared.id, settings())
    expect([works.status, typeof works.json.ms]).to.deep.equal([200, 'number'])
    const wrong = await refused(test(shared.id, settings({ secretAccessKey: 'another' })))
    expect(wrong).to.include({ status: 422, code: 'storage_unusable' })
    expect(wrong.detail).to.match(/put an object: SignatureDoesNotMatch$/)
    expect(await refused(test(shared.id, { bucket }))).to.include({ status: 400, param: 'accessKeyId' })
    expect(await refused(test(shared.id))).to.include({ status: 409, code: 'client_conflict' })
    expect(await refused(test('unknown', settings()))).to.include({ status: 404, code: 'client_not_found' })
    expect((await ask('GET', `/${shared.id}`)).json).to.not.have.property('storage')

    const client = await created({ prefix: 'tested' })
    expect((await test(client.id)).status).to.equal(200)
    expect((await refused(test(client.id, settings({ bucket: 'no-such-bucket' })))).detail).to.match(
      /NoSuchBucket$/,
    )
    expect((await ask('GET', `/${client.id}`)).json.storage).to.include({ bucket, prefix: 'tested/' })
    expect(await names()).to.deep.equal([])
  })

  itOnce('must not overlap with another bucket or prefix', async () => {
    await created({ prefix: 'a/b' })
    const others = await backend.env(service.dataDir)
    const own = 'S3_BUCKET' in others ? [{ bucket: others.S3_BUCKET, prefix: '' }] : []
    const beside =
      'S3_PREFIX' in others ? [{ bucket: others.S3_BUCKET, prefix: `${others.S3_PREFIX}/x` }] : []
    const localhost = s3.connection.endpoint.replace('127.0.0.1', 'localhost')
    for (const more of [
      { prefix: 'a/b' },
      { prefix: 'a' },
      { prefix: '' },
      { prefix: 'a/b/c' },
      { prefix: '/a/b/.sluice/' },
      { prefix: 'a/b', endpoint: localhost },
      ...own,
      ...beside,
    ]) {
      const answer = await refused(ask('POST', '', { storage: settings(more) }))
      expect(answer, JSON.stringify(more)).to.include({ status: 409, code: 'client_conflict' })
    }
    await created({ prefix: 'a/bc' })
    const both = await Promise.all([1, 2].map(() => ask('POST', '', { storage: settings({ prefix: 'c' }) })))
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409])
    const first = await refused(ask('PUT', '/first/storage', settings({ prefix: 'd' })))
    expect(first).to.include({ status: 409 })
  })

  itOnce('affects only this client when it is unavailable', async () => {
    const proxy = await s3Proxy(s3.connection.endpoint)
    const client = await created({ endpoint: proxy.endpoint, prefix: 'away' })
    const { src } = await uploadOne(client, { name: 'a.png', bytes: png })
    for (const kind of everyNth(2, ['stall', 'reset'] as const)) {
      proxy.decide(() => ({ kind }))
      const asked = Promise.all([
        exchange(service, `${src}?w=20`),
        exchange(service, src),
        postFiles(client, [{ name: 'a.png', bytes: png }]).then(({ status, headers }) => ({
          status,
          headers: Object.fromEntries(headers),
        })),
      ])
      for (const { status, headers } of await inTime(kind, asked)) {
        expect(status).to.equal(503)
        expect(Number(headers['retry-after'])).to.be.above(0)
      }
      const { src: theirs } = await uploadOne(service, { name: 'a.png', bytes: png })
      expect((await exchange(service, `${theirs}?w=20`)).status).to.equal(200)
      expect((await exchange(service, '/readyz')).status).to.equal(200)
      await service.app.sweep()
      expect((await command(service, 'sweep')).answer).to.have.property('halfWritten')
      for (const name of ['check', 'reindex']) {
        const stopped = await command(service, name).catch((error) => error)
        expect(stopped.message, name).to.include(`the client ${client.id}: The bucket`)
      }
    }
    proxy.decide(() => undefined)
    await eventually(async () => expect((await exchange(service, `${src}?w=20`)).status).to.equal(200))
    await ask('DELETE', `/${client.id}?files`)
    await proxy.close()
  })

  itUsuallyOnce('is swept of incomplete multipart uploads', async () => {
    const client = await created({ prefix: 'half' })
    const Key = 'half/image/png/7uLqEUXG4WpoGGa38h2U9Z.png'
    for (const name of [Key, 'other/image/png/7uLqEUXG4WpoGGa38h2U9Z.png'])
      await s3.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: name }))
    const { buckets } = service.storage
    const clients = [service.app.clients.ofToken(client.tokens.clientToken)]
    expect(await buckets.sweep(60_000, { clients })).to.equal(0)
    expect(await buckets.sweep(-60_000, { clients })).to.be.at.least(1)
    expect(await buckets.sweep(-60_000, { clients })).to.equal(0)
  })

  itOnce(
    'responds 503 for this client only when another APP_SECRET cannot decrypt its key, until it is set again',
    async () => {
      const APP_SECRET = 'one'.padEnd(32, '!')
      const one = await start({ env: { ...env, APP_SECRET } })
      const { json } = await (await signedIn(one))('POST', '', { storage: settings() })
      const { src, sourceName } = await uploadOne(asCaller(json, one), { name: 'a.png', bytes: png })
      await one.stop({ keepData: true })
      const { dataDir } = one
      const other = await start({ env: { ...env, APP_SECRET: 'two'.padEnd(32, '!') }, dataDir })
      const path = new URL(src).pathname
      const away = await exchange(other, `${path}?w=20`)
      expect(away.status).to.equal(503)
      expect(jsonOf(away).detail).to.match(/credentials of this client's bucket cannot be decrypted/)
      const told = other.log.lines.filter(({ message }) => message.includes('APP_SECRET'))
      const lines = told.filter(({ level }) => level === 'error')
      expect(lines).to.have.length(1)
      expect(told.map(({ level }) => level)).to.have.members(['warn', 'error'])
      expect(lines[0]?.fields).to.include({ client: json.id })
      await uploadOne(other, { name: 'a.png', bytes: png })
      expect((await exchange(other, '/readyz')).status).to.equal(200)

      const set = await (await signedIn(other))('PUT', `/${json.id}/storage`, settings())
      expect(set.status, JSON.stringify(set.json)).to.equal(200)
      expect((await exchange(other, `${path}?w=20`)).status).to.equal(200)
      expect(path).to.include(sourceName)
      await other.stop()
    },
  )

  if (backend.name.endsWith('Redis'))
    it('is used by all processes within seconds', async () => {
      const { dataDir } = service
      const shared = { env: { ...env, ...(await backend.env(dataDir)) }, dataDir }
      // Both with the time that processes have in production.
      const here = await start(shared)
      const beside = await start(shared)
      const askHere = await signedIn(here)
      const { json } = await askHere('POST', '', {})
      const there = asCaller(json, beside)
      await eventually(async () =>
        expect((await postFiles(there, [{ name: '', bytes: '' }])).status).to.equal(400),
      )
      const changing = askHere('PUT', `/${json.id}/storage`, settings())
      // While it changes, whoever has heard of it waits; whoever has not is found out.
      const during = new Set<number>()
      let over = false
      const trying = (async () => {
        while (!over) {
          const { status } = await postFiles(there, [{ name: '', bytes: '' }])
          during.add(status)
          await pause(25)
        }
      })()
      const { status } = await changing
      over = true
      await trying
      expect(status).to.equal(200)
      expect([...during].sort()).to.deep.equal([400, 503])
      let record: Awaited<ReturnType<typeof uploadOne>> | undefined
      await eventually(async () => {
        record = await uploadOne(there, { name: 'a.png', bytes: png })
      })
      expect(await names()).to.include(record?.s3PathOriginal)
      const { Body } = await s3.client.send(
        new GetObjectCommand({ Bucket: bucket, Key: record?.s3PathOriginal }),
      )
      expect((await Body?.transformToByteArray())?.length).to.equal(png.length)
      expect((await exchange(here, new URL(record?.src ?? '').pathname)).status).to.equal(200)
      for (const running of [here, beside]) await running.stop({ keepData: true })
    })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  itLong('is refused with the reason of the store when it cannot be used, and nothing changes', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    silent.unref()
    const { port } = silent.address() as AddressInfo
    // A server of another kind, which says more of itself than is the caller's business.
    const said = '<Error><Code>internal-registry</Code><Message>version 7</Message></Error>'
    banner = await remote((_req, res) => res.writeHead(400, { 'Content-Type': 'application/xml' }).end(said))
    const UNREACHABLE = /put an object: no S3 store responds at this endpoint; the log has the reason$/
    const { id } = (await ask('POST', '', { name: 'same' })).json
    for (const [more, reason, logged] of [
      [{ secretAccessKey: 'another' }, /put an object: SignatureDoesNotMatch$/],
      [{ accessKeyId: 'nobody' }, /put an object: InvalidAccessKeyId$/],
      [{ bucket: 'no-such-bucket' }, /put an object: NoSuchBucket$/],
      [{ endpoint: `http://127.0.0.1:${await freePort()}` }, UNREACHABLE, /ECONNREFUSED/],
      [{ endpoint: 'http://no-such-host.invalid' }, UNREACHABLE, /ENOTFOUND|EAI_AGAIN/],
      [{ endpoint: `http://127.0.0.1:${port}` }, UNREACHABLE, /no response/],
      [{ endpoint: service.url }, UNREACHABLE, /not an S3 store/],
      [{ endpoint: banner.url() }, UNREACHABLE, /internal-registry: version 7/],
    ] as const) {
      const answer = await refused(ask('PUT', `/${id}/storage`, settings(more)))
      expect(answer, answer.detail).to.include({ status: 422, code: 'storage_unusable' })
      expect(answer.detail, answer.detail).to.match(reason)
      // The operator finds the rest in the log.
      if (logged) expect(service.log.lines.map(({ fields }) => fields.reason).join('\n')).to.match(logged)
      expect(answer.detail).to.not.include('another')
    }
    expect((await ask('GET', `/${id}`)).json).to.not.have.property('storage')
    expect(await names()).to.deep.equal([])
    silent.closeAllConnections()
    await new Promise((done) => silent.close(done))
  })

  for (const [param, more] of everyNth(2, [
    ['bucket', { bucket: 'A' }],
    ['bucket', { bucket: 5 }],
    ['prefix', { prefix: 'a/../b' }],
    ['prefix', { prefix: 'a b' }],
    ['endpoint', { endpoint: 'ftp://a.example' }],
    ['endpoint', { endpoint: 'http://user:pass@a.example' }],
    ['endpoint', { endpoint: 'http://a.example/path' }],
    ['endpoint', { endpoint: 'http://a.example/?x' }],
    ['region', { region: 'Europe!' }],
    ['accessKeyId', { accessKeyId: 'a b' }],
    ['secretAccessKey', { secretAccessKey: 'hidden hidden' }],
    ['secretAccessKey', { secretAccessKey: 987654321 }],
    ['publicUrl', { publicUrl: 'javascript:alert(1)' }],
    ['the body', { sessionToken: 'x' }],
  ] as const))
    it(`refuses ${JSON.stringify(more)}`, async () => {
      const { id } = (await ask('POST', '', {})).json
      const answer = await refused(ask('PUT', `/${id}/storage`, settings(more)))
      expect(answer, answer.detail).to.include({ status: 400, param })
      expect(JSON.stringify(answer)).to.not.match(/hidden|987654321|testsecret/)
    })
})
