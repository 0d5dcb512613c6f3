import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import sharp from 'sharp'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends, S3_EMBEDDED } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { film } from '../../support/media/videos.ts'
import { type Caller, deleteFile, newClient } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fetchPath, fileServer, keepPath } from '../../support/requests/remote-files.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneOrTwoBackends('a stored remote file', (start, backend, itOnce) => {
  let service: Service
  let client: Caller & { id: string }
  let server: Remote
  let env: Record<string, string>
  let png: Buffer
  let now: Buffer | string
  let waiting: ServerResponse[] = []
  let failing: ((key: string) => boolean) | undefined

  const wrapStorage = wrapBuckets((bucket) => ({
    async put(key, bytes, options) {
      if (failing?.(key)) {
        bytes.destroy()
        throw new Error('the process has been killed')
      }
      return bucket.put(key, bytes, options)
    },
  }))

  before(async () => {
    png = await picture({ width: 80, height: 60 })
    server = await fileServer({
      '/now': (_req, res) => void res.end(now),
      '/waits': (_req, res) => void waiting.push(res),
      '/page': '<!doctype html><title>a page</title>',
      '/film.mp4': await film(),
      '/cut': (_req, res) => {
        res.writeHead(200, { 'Content-Length': png.length + 1 })
        res.write(png, () => res.destroy())
      },
    })
    env = { ...fetchingFrom(server), FETCH_RATE_LIMIT: '0', FETCH_RATE_LIMIT_PER_IP: '0' }
    service = await start({ env, wrapStorage })
  })
  beforeEach(async () => {
    now = png
    waiting = []
    failing = undefined
    client = await newClient(service)
    await service.app.clients.setRules(client.id, { fetchHosts: 'any' })
  })
  after(() => server.close())

  /** One that this test has for itself. */
  let last = 0
  const fresh = (path = '/now') => {
    last += 1
    return server.url(`${path}?${last}`)
  }
  const get = (
    url: string,
    options?: Parameters<typeof keepPath>[2],
    from: Service = service,
  ): Promise<Answer> => exchange(from, keepPath(client, url, options))
  const keyOf = ({ headers }: Answer) => String(headers.etag).replaceAll('"', '')
  const originals = async () =>
    (await service.objects()).filter((name) => name.startsWith(`${client.id}/image/`) && /\.\w+$/.test(name))
  const objects = async () => (await service.objects()).filter((name) => name.startsWith(`${client.id}/`))

  it('is stored at its first request and delivered from there, also by its key', async () => {
    const url = fresh()
    const made = server.requests.length
    const first = await get(url)
    expect(first.status).to.equal(200)
    expect(first.body.equals(png)).to.equal(true)
    expect(keyOf(first)).to.match(/^image\/png\/[1-9A-HJ-NP-Za-km-z]{22}\.png$/)
    expect(first.headers).to.include({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=604800',
    })
    for (const answer of [
      await get(url),
      await exchange(service, `/v1/image/upload/${client.tokens.clientToken}/${keyOf(first)}`),
    ]) {
      expect(answer.body.equals(png)).to.equal(true)
      expect(answer.headers.etag).to.equal(first.headers.etag)
    }
    expect(server.requests.length - made).to.equal(1)
    expect(await originals()).to.deep.equal([`${client.id}/${keyOf(first)}`])
  })

  itOnce('is transformed as any other file, and its derivative is stored', async () => {
    const url = fresh()
    const answer = await get(url, { query: '?w=20&f=webp' })
    expect(answer.status).to.equal(200)
    expect(keyOf(answer)).to.match(/\.png_f=webp&w=20$/)
    expect(await sharp(answer.body).metadata()).to.include({ format: 'webp', width: 20 })
    await eventually(async () => expect(await objects()).to.include(`${client.id}/${keyOf(answer)}`))
    const bad = await get(url, { query: '?w=0' })
    expect(jsonOf(bad)).to.include({ status: 400, code: 'bad_parameter' })
  })

  it('is fetched and stored once for concurrent first requests', async () => {
    const url = fresh('/waits')
    const asked = Array.from({ length: 20 }, (_, i) => get(url, { query: i % 2 ? '' : '?w=20' }))
    await eventually(() => expect(waiting).to.have.length(1))
    await new Promise((done) => setTimeout(done, 200))
    for (const res of waiting) res.end(png)
    for (const { status } of await Promise.all(asked)) expect(status).to.equal(200)
    expect(waiting).to.have.length(1)
    expect(await originals()).to.have.length(1)
  })

  itOnce('is separate for each client', async () => {
    const url = fresh()
    const key = keyOf(await get(url))
    const other = await newClient(service)
    await service.app.clients.setRules(other.id, { fetchHosts: 'any' })
    expect(keyOf(await exchange(service, keepPath(other, url)))).not.to.equal(key)
  })

  itOnce('is fetched again under a new name once it has been deleted', async () => {
    const url = fresh()
    const before = await get(url, { query: '?w=20' })
    const key = keyOf(before).replace(/_.*$/, '')
    expect((await deleteFile(client, key)).status).to.equal(200)
    now = await picture({ width: 90, height: 60 })
    const after = await get(url)
    expect(after.body.equals(now)).to.equal(true)
    expect(keyOf(after)).not.to.equal(key)
    expect((await exchange(service, `/v1/image/upload/${client.tokens.clientToken}/${key}`)).status).to.equal(
      404,
    )
    expect(keyOf(await get(url))).to.equal(keyOf(after))
  })

  itLong('is available after a restart, and after the index was lost', async () => {
    const dataDir = await temporaryFolder()
    const first = await start({ dataDir, env })
    client = { ...(await newClient(first)) }
    await first.app.clients.setRules(client.id, { fetchHosts: 'any' })
    const url = fresh()
    const key = keyOf(await get(url, {}, first))
    const made = server.requests.length
    await first.stop({ keepData: true })
    const second = await start({ dataDir, env })
    expect(keyOf(await get(url, {}, second))).to.equal(key)
    await second.stop({ keepData: true })
    await backend.emptyIndex(dataDir)
    const third = await start({ dataDir, env })
    expect(keyOf(await get(url, {}, third))).to.equal(key)
    expect(server.requests.length).to.equal(made)
    await third.stop()
  })

  const isShared = backend !== EMBEDDED && backend !== S3_EMBEDDED
  if (isShared)
    itLong('is stored once by several processes, and all of them return it', async () => {
      const dataDir = await temporaryFolder()
      const one = await start({ dataDir, env })
      const mine = await newClient(one)
      await one.app.clients.setRules(mine.id, { fetchHosts: 'any' })
      const another = await start({ dataDir, env })
      const url = fresh('/waits')
      const ask = (from: Service) => exchange(from, keepPath(mine, url))
      const asked = [one, another, one, another].map(ask)
      await eventually(() => expect(waiting).to.have.length(1))
      await new Promise((done) => setTimeout(done, 300))
      waiting[0]?.end(png)
      const keys = (await Promise.all(asked)).map(keyOf)
      expect(new Set(keys)).to.have.property('size', 1)
      expect(waiting).to.have.length(1)
      // The other one remembers where it was.
      const [key = ''] = keys
      expect((await deleteFile({ ...mine, url: one.url }, key)).status).to.equal(200)
      const again = ask(another)
      await eventually(() => expect(waiting).to.have.length(2))
      waiting[1]?.end(png)
      const next = keyOf(await again)
      expect(next).not.to.equal(key)
      expect(keyOf(await ask(one))).to.equal(next)
      await another.stop({ keepData: true })
      await one.stop()
    })

  for (const [step, isStep] of [
    ['the note of its URL is written', (key: string) => key.startsWith('.sluice/remote/')],
    ['its record is written', (key: string) => key.startsWith('.sluice/meta/')],
  ] as const) {
    it(`leaves nothing, and is fetched again, after a failure before ${step}`, async () => {
      const url = fresh()
      failing = isStep
      expect((await get(url)).status).to.equal(500)
      failing = undefined
      await eventually(async () => expect(await originals()).to.deep.equal([]))
      const answer = await get(url)
      expect(answer.body.equals(png)).to.equal(true)
      expect(await originals()).to.deep.equal([`${client.id}/${keyOf(answer)}`])
      expect(keyOf(await get(url))).to.equal(keyOf(answer))
    })
  }

  it('passes a check, and is removed with its client', async () => {
    await get(fresh(), { query: '?w=20' })
    await eventually(async () => expect(await objects()).to.have.length(4))
    const { answer, findings } = await command(service, 'check', { clientId: client.id })
    expect(findings).to.deep.equal([])
    expect(answer).to.include({ originals: 1, others: 0 })
    await command(service, 'client remove', { id: client.id, files: true })
    expect(await objects()).to.deep.equal([])
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  it('is another file for another query, and the same for another fragment', async () => {
    const url = fresh()
    const key = keyOf(await get(url))
    expect(keyOf(await get(`${url}#part`))).to.equal(key)
    expect(keyOf(await get(`${url}&more`))).not.to.equal(key)
  })

  for (const [what, path, status, code] of [
    ['is of another type', '/page', 422, 'wrong_type'],
    ['is cut', '/cut', 502, 'remote_failed'],
    ['is not there', '/none', 404, 'remote_not_found'],
  ] as const) {
    it(`is refused and not stored when it ${what}: ${status} ${code}`, async () => {
      const answer = await get(fresh(path))
      expect(jsonOf(answer)).to.include({ status, code })
      expect(answer.headers['cache-control']).to.equal('no-store')
      expect(await objects()).to.deep.equal([])
    })
  }

  itLong('can be of any type, with the media group of that type in the path', async () => {
    const page = fresh('/page')
    const html = await get(page, { group: 'text' })
    expect(html.status).to.equal(200)
    expect(html.headers['content-type']).to.equal('text/html; charset=utf-8')
    expect(html.headers['content-security-policy']).to.include('sandbox')
    expect(jsonOf(await get(page, { group: 'image' }))).to.include({ status: 422, code: 'wrong_type' })
    const video = await get(fresh('/film.mp4'), { group: 'video', query: '?thumbnail&w=20' })
    expect(await sharp(video.body).metadata()).to.include({ format: 'jpeg', width: 20 })
  })

  it('is refused until the operator allows hosts', async () => {
    const mine = await newClient(service)
    const made = server.connections.made
    const answer = await exchange(service, keepPath(mine, fresh()))
    expect(jsonOf(answer)).to.include({ status: 403, code: 'fetch_not_allowed' })
    await service.app.clients.setRules(mine.id, { fetchHosts: 'any', fetchDenyHosts: ['127.0.0.1'] })
    expect((await exchange(service, keepPath(mine, fresh()))).status).to.equal(400)
    expect(server.connections.made).to.equal(made)
  })

  it('counts as a fetch only when it is fetched', async () => {
    const limited = await start({ env: { ...env, FETCH_RATE_LIMIT: '2', FETCH_RATE_WINDOW_SECONDS: '600' } })
    await limited.app.clients.setRules('first', { fetchHosts: 'any' })
    const status = async (url: string) => (await exchange(limited, keepPath(limited, url))).status
    const urls = [fresh(), fresh()]
    for (const url of [...urls, ...urls, ...urls]) expect(await status(url)).to.equal(200)
    expect(await status(fresh())).to.equal(429)
    expect((await exchange(limited, fetchPath(limited, urls[0] as string))).status).to.equal(429)
    for (const url of urls) expect(await status(url)).to.equal(200)
  })
})
