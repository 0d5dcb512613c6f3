import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { film } from '../../support/media/videos.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { askAlias, outcomeOf, setAlias, type WireAlias } from '../../support/stored/aliases.ts'
import { copiedOrMoved } from '../../support/stored/moves.ts'

const SHORT = 'public, max-age=60, stale-while-revalidate=60'

onOneBackend('the delivery of an alias', (start) => {
  let service: Service
  let former: WireRecord
  let current: WireRecord
  let png: Buffer
  let alias: WireAlias
  let path: string
  before(async () => {
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    png = await picture({ width: 40, height: 30 })
    former = await uploadOne(service, { name: 'old.png', bytes: await picture({ width: 80, height: 60 }) })
    current = await uploadOne(service, { name: 'new.png', bytes: png })
  })
  beforeEach(async () => {
    await setAlias(service, 'shop/chair.png', former.s3PathOriginal)
    alias = await setAlias(service, 'shop/chair.png', current.s3PathOriginal)
    path = new URL(alias.src).pathname
  })
  const get = (target: string, headers: Record<string, string> = {}) => exchange(service, target, { headers })
  const codeOf = (answer: Answer) => `${answer.status} ${jsonOf(answer).code}`

  it('has the headers of the file, except for a short lifetime', async () => {
    const direct = await get(new URL(current.src).pathname)
    const answer = await get(path)
    expect(answer.status).to.equal(200)
    expect(answer.body.equals(png)).to.equal(true)
    expect(answer.headers['cache-control']).to.equal(SHORT)
    expect(answer.headers.etag).to.equal(direct.headers.etag)
    const VARYING = ['date', 'x-request-id', 'cache-control', 'last-modified']
    for (const headers of [answer.headers, direct.headers]) for (const name of VARYING) delete headers[name]
    expect(answer.headers).to.deep.equal(direct.headers)
  })

  it('has all transformations, ranges, HEAD, downloads and OPTIONS', async () => {
    const small = await get(`${path}?w=20&f=webp`)
    expect(small.headers['content-type']).to.equal('image/webp')
    expect(small.headers['cache-control']).to.equal(SHORT)
    expect(await sharp(small.body).metadata()).to.include({ width: 20, format: 'webp' })
    // The derivative is that of the original: it is rendered once.
    const direct = await get(`${new URL(current.src).pathname}?w=20&f=webp`)
    expect(small.headers.etag).to.equal(direct.headers.etag)
    expect(direct.body.equals(small.body)).to.equal(true)
    const part = await get(path, { Range: 'bytes=0-9' })
    expect([part.status, part.body.length]).to.deep.equal([206, 10])
    const head = await exchange(service, path, { method: 'HEAD' })
    expect([head.status, head.headers['content-length']]).to.deep.equal([200, String(png.length)])
    const download = await get(`${path}?download`)
    expect(download.headers['content-disposition']).to.equal('attachment; filename="new.png"')
    expect((await exchange(service, path, { method: 'OPTIONS' })).status).to.equal(204)
    expect(codeOf(await exchange(service, path, { method: 'PUT' }))).to.equal('405 method_not_allowed')
    expect(codeOf(await get(`${path}?w=0`))).to.equal('400 bad_parameter')
  })

  it('is validated by the tag of the file, and by a date that never goes back', async () => {
    const { headers } = await get(path)
    const [etag, date] = [String(headers.etag), String(headers['last-modified'])]
    expect((await get(path, { 'If-None-Match': etag })).status).to.equal(304)
    expect((await get(path, { 'If-None-Match': etag })).headers['cache-control']).to.equal(SHORT)
    expect((await get(path, { 'If-Modified-Since': date })).status).to.equal(304)
    expect(Date.parse(date)).to.be.at.least(Math.floor(Date.parse(alias.setAt) / 1000) * 1000)

    // The former file was stored first. A client that has the current one must receive it all the same.
    const back: WireAlias = (await askAlias(service, 'shop/chair.png/rollback', { method: 'POST' })).body
    const again = await get(path, { 'If-None-Match': etag })
    expect(again.status).to.equal(200)
    const floor = Math.floor(Date.parse(back.setAt) / 1000) * 1000
    expect(Date.parse(String(again.headers['last-modified']))).to.be.at.least(floor)
    const secondBefore = new Date(floor - 1000).toUTCString()
    expect((await get(path, { 'If-Modified-Since': secondBefore })).status).to.equal(200)
  })

  it('has an error for an alias or a client that does not exist, and for another type', async () => {
    expect(codeOf(await get(path.replace('chair', 'table')))).to.equal('404 alias_not_found')
    expect(codeOf(await get(path.replace('chair.png', '..%2f..%2fa')))).to.equal('400 bad_path')
    expect(codeOf(await get(path.replace('pub_', 'pub_a')))).to.equal('404 client_not_found')
    const video = await get(path.replace('/image/', '/video/'))
    expect(codeOf(video)).to.equal('404 alias_of_other_type')
    expect(jsonOf(video)).to.include({ expected: 'image', received: 'video' })
    expect(codeOf(await get(path.replace('/image/', '/picture/')))).to.equal('404 route_not_found')
    const other = await newClient(service)
    const misplaced = path.replace(service.tokens.clientToken, other.tokens.clientToken)
    expect(codeOf(await get(misplaced))).to.equal('404 alias_not_found')
  })

  it('redirects to the playlist of the current file, for as short a time', async () => {
    const record = await uploadOne(service, { name: 'a.mp4', bytes: await film() })
    const { src } = await setAlias(service, 'clip', record.s3PathOriginal)
    await eventually(
      async () => {
        const { status, headers } = await get(`${new URL(src).pathname}?hls&wait=1`)
        // While the job is in progress, the response is 423 or not cached.
        expect([status, headers['cache-control']]).to.deep.equal([302, SHORT])
        expect(headers.location).to.include(record.sourceName)
        expect((await get(new URL(String(headers.location)).pathname)).status).to.equal(200)
      },
      { withinMs: LONG_MS },
    )
  }).timeout(120_000)

  it('counts as a delivery of the client', async () => {
    const other = await newClient(service)
    const { s3PathOriginal } = await uploadOne(other, { name: 'a.png', bytes: png })
    const { src } = await setAlias(other, 'a', s3PathOriginal)
    await get(new URL(src).pathname)
    // It is counted when the response has been sent.
    await eventually(async () => {
      const { body } = await ask(other, '/v1/usage')
      const { days } = body as { days: Array<{ deliveries: number }> }
      expect(days.at(-1)?.deliveries).to.equal(1)
    })
  })
})

onOneBackend('a signed alias', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let key: { version: number; key: string }
  let path: string
  let record: WireRecord
  before(async () => {
    service = await start()
    client = await newClient(service)
    key = (await service.app.clients.addUrlKey(client.id)).urlKey
    await service.app.clients.setRules(client.id, { signedUrls: true })
    record = await uploadOne(client, { name: 'a.png', bytes: await picture() }, { path: 'shop' })
    path = new URL((await setAlias(client, 'shop/a b', record.s3PathOriginal)).src).pathname
  })
  const signed = (target: string) => {
    const mac = createHmac('sha256', key.key).update(target).digest('base64url')
    return `${target}${target.includes('?') ? '&' : '?'}s=${key.version}.${mac}`
  }
  const codeOf = async (target: string) => {
    const answer = await exchange(service, target)
    return answer.status === 200 ? '200' : `${answer.status} ${jsonOf(answer).code}`
  }
  const sign = (url: string, options: { secret?: string } = {}) =>
    ask(client, '/v1/sign/url', { method: 'POST', json: { url, expiresIn: 60 }, ...options })

  it('needs its signature', async () => {
    for (const target of [path, `${path}?w=20`]) {
      expect(await codeOf(target)).to.equal('403 url_unsigned')
      expect(await codeOf(signed(target))).to.equal('200')
      expect(await codeOf(`${signed(target)}&h=1`)).to.equal('403 url_invalid')
      expect(await codeOf(signed(target).replace('/shop/', '/shop/b/'))).to.equal('403 url_invalid')
    }
    // Without a signature, a caller does not learn which aliases exist.
    expect(await codeOf(path.replace('/shop/', '/other/'))).to.equal('403 url_unsigned')
  })

  it('is private, and cached no longer than its URL is valid', async () => {
    const lifetime = async (target: string) =>
      (await exchange(service, signed(target))).headers['cache-control']
    const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
    expect(await lifetime(path)).to.equal('private, max-age=60, stale-while-revalidate=60')
    expect(await lifetime(`${path}?exp=${inSeconds(3600)}`)).to.equal(
      'private, max-age=60, stale-while-revalidate=60',
    )
    const short = await lifetime(`${path}?exp=${inSeconds(30)}`)
    expect(short).to.match(/^private, max-age=(1\d|2\d|30)$/)
  })

  it('is signed by POST /v1/sign/url, also for a file that it gets later', async () => {
    const { status, body } = await sign(`${path}?w=20`)
    expect(status).to.equal(200)
    const { url } = body as { url: string }
    expect(await codeOf(url)).to.equal('200')
    const later = await uploadOne(client, { name: 'b.png', bytes: await picture({ width: 99 }) })
    await setAlias(client, 'shop/a b', later.s3PathOriginal)
    expect(await codeOf(url)).to.equal('200')
    expect(outcomeOf(await sign(path.replace('a%20b', '..%2fb')))).to.equal('400 bad_path')
  })

  it('needs a signature for the file of a private folder, wherever the alias is', async () => {
    const other = await newClient(service)
    await service.app.clients.addUrlKey(other.id)
    await service.app.clients.setRules(other.id, { privateFolders: ['private'] })
    const bytes = await picture()
    const file = async (folder: string) =>
      (await uploadOne(other, { name: 'a.png', bytes }, { path: folder })).s3PathOriginal
    const hidden = await file('private')
    const open = await file('open')
    for (const [name, target, expected] of [
      ['shown/a', hidden, '403 url_unsigned'],
      ['private/a', open, '403 url_unsigned'],
      ['shown/b', open, '200'],
    ] as const) {
      const { pathname } = new URL((await setAlias(other, name, target)).src)
      expect(await codeOf(pathname), name).to.equal(expected)
      expect(await codeOf(`${pathname}?w=20`), name).to.equal(expected)
      const { body } = await ask(other, '/v1/sign/url', { method: 'POST', json: { url: pathname } })
      expect(await codeOf((body as { url: string }).url), name).to.equal('200')
    }
    // A private file that was moved into a public folder, and the other way round.
    const { pathname } = new URL((await setAlias(other, 'shown/c', open)).src)
    await copiedOrMoved(other, 'move', { from: open, to: 'private', redirect: '1d' })
    expect(await codeOf(pathname)).to.equal('403 url_unsigned')
  })

  it('is signed with the secret of a folder only for aliases and files of the folder', async () => {
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'shop' } })
    const other = await uploadOne(client, { name: 'c.png', bytes: await picture() }, { path: 'other' })
    const { src } = await setAlias(client, 'other/a', other.s3PathOriginal)
    const outcome = async (url: string) => outcomeOf(await sign(url, { secret }))
    expect(await outcome(`${path}?w=20`)).to.equal('200')
    expect(await outcome(`${path}?w=20&wm=${record.s3PathOriginal}`)).to.equal('200')
    expect(await outcome(`${path}?w=20&wm=${other.s3PathOriginal}`)).to.equal('404 asset_not_found')
    expect(await outcome(`${path}?w=0`)).to.equal('400 bad_parameter')
    expect(await outcome(new URL(src).pathname)).to.equal('404 alias_not_found')
  })
})
