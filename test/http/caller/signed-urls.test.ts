import { expect } from 'chai'
import type { SecretScope } from '../../../src/core/clients/secret-scope.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { film } from '../../support/media/videos.ts'
import {
  type Caller,
  newClient,
  rawPath,
  signed,
  uploadOne,
  type WireRecord,
} from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'
import { expectLasting } from '../../support/texts/lasting.ts'

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

onOneBackend('signed delivery URLs', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let key: { version: number; key: string }
  let record: WireRecord
  let path: string
  before(async () => {
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    client = await newClient(service)
    key = (await service.app.clients.addUrlKey(client.id)).urlKey
    await service.app.clients.setRules(client.id, { signedUrls: true })
    record = await uploadOne(client, { name: 'a.png', bytes: await picture() })
    path = new URL(record.src).pathname
  })

  const get = (target: string, headers: Record<string, string> = {}) => exchange(service, target, { headers })
  const codeOf = async (target: string) => {
    const answer = await get(target)
    if (answer.status !== 403) return answer.status
    expect(answer.headers['cache-control']).to.equal('no-store')
    return jsonOf(answer).code
  }

  it('are required for a client with signedUrls, at every public URL', async () => {
    const info = path.replace('/upload/', '/info/')
    await get(signed(`${path}?w=30`, key))
    // Stored after its response. Its job is complete from then on.
    await settled(service)
    const raw = rawPath(client, record.s3PathOriginal)
    const job = raw.replace('/bucket/', '/jobs/').concat('_w=30')
    for (const target of [path, `${path}?w=20`, info, `${info}?location`, raw, job, `${path}?download`]) {
      expect(await codeOf(target), target).to.equal('url_unsigned')
      const answer = await get(signed(target, key))
      expect(answer.status, target).to.equal(200)
    }
    expect(await codeOf(path.replace('.png', '.jpg'))).to.equal('url_unsigned')
    expect((await get(signed(path.replace('.png', '.jpg'), key))).status).to.equal(404)
  })

  it('respond 403 when any character is changed, removed, added or moved', async () => {
    const target = signed(`${path}?w=20&h=10&exp=${inSeconds(60)}`, key)
    expect((await get(target)).status).to.equal(200)
    const wrong = new Set<string>()
    const end = target.length
    for (let at = path.length + 1; at < end; at += 1) {
      const char = target[at] ?? ''
      const swapped = char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase()
      for (const other of [swapped, '0', '1', '9', ''])
        if (other !== char) wrong.add(target.slice(0, at) + other + target.slice(at + 1))
    }
    for (const added of ['&w=30', '&s=', '&exp=9999999999', '&x', '&', '&f=webp']) wrong.add(target + added)
    wrong.add(target.replace('w=20&h=10', 'h=10&w=20')).add(target.replace('w=20', 'w=%320'))
    wrong.add(target.replace(record.sourceName, record.s3PathOriginal))
    for (const each of wrong) expect(await codeOf(each), each).to.be.oneOf(['url_invalid', 'url_unsigned'])
    for (const marked of ['&utm_source=a', '&fbclid=x', '&v=2'])
      expect((await get(target + marked)).status, marked).to.equal(200)
  })

  it('accept the signature anywhere in the query', async () => {
    const [before = '', signature = ''] = signed(`${path}?w=20`, key).split('&')
    expect((await get(before.replace('?', `?${signature}&`))).status).to.equal(200)
  })

  it('expire, and are not cached by shared caches or for longer than they are valid', async () => {
    const ending = await get(signed(`${path}?w=20&exp=${inSeconds(100)}`, key))
    expect(ending.headers['cache-control']).to.match(/^private, max-age=(9\d|100)$/)
    const cached = await get(signed(`${path}?w=20&exp=${inSeconds(100)}`, key), {
      'If-None-Match': String(ending.headers.etag),
    })
    expect(cached.status).to.equal(304)
    expect(cached.headers['cache-control']).to.match(/^private, max-age=/)
    expect((await get(signed(path, key))).headers['cache-control']).to.equal('private, max-age=604800')
    expect(await codeOf(signed(`${path}?exp=${inSeconds(0)}`, key))).to.equal('url_expired')
    expect(await codeOf(`${path}?exp=${inSeconds(60)}`)).to.equal('url_invalid')
    for (const exp of ['', 'x', '-1', '1e99', '99999999999'])
      expect(await codeOf(signed(`${path}?exp=${exp}`, key)), exp).to.equal('url_invalid')
  })

  it('belong to one key, which can be revoked without the others', async () => {
    const { urlKey: other } = await service.app.clients.addUrlKey(client.id)
    expect(other.key).not.to.equal(key.key)
    for (const each of [key, other]) expect((await get(signed(path, each))).status).to.equal(200)
    expect(await codeOf(signed(path, { ...other, version: key.version }))).to.equal('url_invalid')
    await service.app.clients.removeUrlKey(client.id, other.version)
    expect(await codeOf(signed(path, other))).to.equal('url_invalid')
    expect((await get(signed(path, key))).status).to.equal(200)
    const { urlKey: third } = await service.app.clients.addUrlKey(client.id)
    expect(third.version).to.be.above(other.version)
    expect(await codeOf(signed(path, other))).to.equal('url_invalid')
  })

  it('redirect to no URL that is signed with another key, which might be valid for longer', async () => {
    const { urlKey: old } = await service.app.clients.addUrlKey(client.id)
    await service.app.clients.addUrlKey(client.id)
    await get(signed(`${path}?w=33`, key))
    const job = `/v1/jobs/${client.tokens.clientToken}/${record.s3PathOriginal}_w=33`
    let target = ''
    await eventually(async () => {
      const { url } = jsonOf(await get(signed(job, old)))
      expect(url).to.be.a('string')
      target = String(url).slice(service.url.length)
    })
    expect((await get(target)).status).to.equal(200)
    await service.app.clients.removeUrlKey(client.id, old.version)
    expect(await codeOf(target)).to.equal('url_invalid')
  })

  it('belong to one client', async () => {
    const other = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(other.id)
    expect(await codeOf(signed(path, urlKey))).to.equal('url_invalid')
    const theirs = path.replace(client.tokens.clientToken, other.tokens.clientToken)
    expect((await get(signed(theirs, urlKey))).status).to.equal(404)
    expect(await codeOf(signed(theirs, key))).to.equal('url_invalid')
  })

  it('are verified also for a client that accepts unsigned URLs', async () => {
    const free = await newClient(service)
    const { src } = await uploadOne(free, { name: 'a.png', bytes: await picture() })
    const target = new URL(src).pathname
    expect((await get(`${target}?s=1`)).status).to.equal(400)
    const { urlKey } = await service.app.clients.addUrlKey(free.id)
    const plain = await get(target)
    expect([plain.status, plain.headers['cache-control']]).to.deep.equal([200, 'public, max-age=604800'])
    expect((await get(signed(target, urlKey))).headers['cache-control']).to.match(/^private/)
    expect(await codeOf(`${target}?s=1.${'A'.repeat(43)}`)).to.equal('url_invalid')
  })

  it('can be created by POST, for files of the calling client in the folder of its secret', async () => {
    const post = async (body: object, secret = client.tokens.secretClientToken) => {
      const headers = { Authorization: secret, 'Content-Type': 'application/json' }
      return exchange(service, '/v1/sign/url', { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const since = Date.now()
    const answer = jsonOf(await post({ url: `${record.src}?w=25`, expiresIn: 60 }))
    expectLasting(answer.expiresAt, { since, ms: 60_000 })
    expect((await get(String(answer.url))).status).to.equal(200)
    const { url, expiresAt } = jsonOf(await post({ url: path }))
    expect([String(url).startsWith(service.url), expiresAt]).to.deep.equal([true, undefined])
    expect((await get(String(url))).status).to.equal(200)

    const remote = `/v1/image/fetch/keep/${client.tokens.clientToken}/${encodeURIComponent('http://127.0.0.1:1/a')}`
    const fetched = String(jsonOf(await post({ url: remote })).url)
    expect(await codeOf(remote)).to.equal('url_unsigned')
    expect(await codeOf(fetched.slice(service.url.length))).to.equal('fetch_not_allowed')

    const other = await newClient(service)
    for (const wrong of [
      path.replace(client.tokens.clientToken, other.tokens.clientToken),
      `https://a.example${path}`,
      '/v1/zip',
      `${path}?s=1.x`,
      `${path}?exp=3`,
      path.replace(record.sourceName, '..%2fa'),
      `${path}#a`,
      '',
    ])
      expect((await post({ url: wrong })).status, wrong).to.equal(400)
    for (const expiresIn of [0, -1, 1.5, '60', 1e10])
      expect((await post({ url: path, expiresIn })).status, String(expiresIn)).to.equal(400)
    const secretFor = async (scope: SecretScope) =>
      (await service.app.clients.addSecret(client.id, { scope })).secret
    expect((await post({ url: path }, await secretFor({ only: 'upload' }))).status).to.equal(403)
    expect((await post({ url: path }, await secretFor({ only: 'read' }))).status).to.equal(200)
    const within = await secretFor({ folder: 'a' })
    expect((await post({ url: path }, within)).status).to.equal(404)
    const inner = await uploadOne(client, { name: 'a.png', bytes: await picture() }, { path: 'a/b' })
    expect((await post({ url: inner.src }, within)).status).to.equal(200)
    expect((await post({ url: path }, other.tokens.secretClientToken)).status).to.equal(409)
  })

  it('can be created many at once, each with its result or its problem', async () => {
    const post = async (body: object, secret = client.tokens.secretClientToken) => {
      const headers = { Authorization: secret, 'Content-Type': 'application/json' }
      return exchange(service, '/v1/sign/url', { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const many = await post({ urls: [`${record.src}?w=26`, '/v1/zip', path], expiresIn: 60 })
    const { results } = jsonOf(many) as { results: Array<Record<string, string>> }
    expect(results.map(({ status, code }) => [status, code])).to.deep.equal([
      ['signed', undefined],
      ['error', 'bad_parameter'],
      ['signed', undefined],
    ])
    expect(results[1]?.detail).to.include('/v1/zip')
    for (const one of [results[0], results[2]]) {
      expect(Date.parse(String(one?.expiresAt))).to.be.above(Date.now())
      expect((await get(String(one?.url))).status).to.equal(200)
    }
    expect(jsonOf(await post({ urls: Array(1000).fill(path) })).results).to.have.lengthOf(1000)
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'a' } })
    const outside = jsonOf(await post({ urls: [path] }, secret)).results
    expect(outside).to.have.deep.nested.property('[0].code', 'file_not_found')
    for (const wrong of [{}, { url: path, urls: [path] }, { urls: [] }, { urls: Array(1001).fill(path) }])
      expect((await post(wrong)).status).to.equal(400)
  })

  it('need a URL key as long as signedUrls is set', async () => {
    const { clients } = service.app
    const bare = await newClient(service)
    const refusal = async (work: Promise<unknown>) => work.then(() => undefined).catch(({ status }) => status)
    expect(await refusal(clients.setRules(bare.id, { signedUrls: true }))).to.equal(409)
    const { urlKey } = await clients.addUrlKey(bare.id)
    await clients.setRules(bare.id, { signedUrls: true })
    expect(await refusal(clients.removeUrlKey(bare.id, urlKey.version))).to.equal(409)
    expect(await refusal(clients.removeUrlKey(bare.id, 99))).to.equal(404)
    await clients.setRules(bare.id, { signedUrls: false })
    await clients.removeUrlKey(bare.id, urlKey.version)
  })

  it('give access to all that a video player needs, and to nothing else', async () => {
    const { src } = await uploadOne(client, { name: 'a.mp4', bytes: await film() })
    const video = new URL(src).pathname
    const exp = inSeconds(600)
    const waiting = await get(signed(`${video}?storyboard&exp=${exp}`, key))
    if (waiting.status === 423) {
      const job = new URL(String(jsonOf(waiting).job))
      expect((await get(job.pathname + job.search)).status).to.equal(200)
      expect(await codeOf(job.pathname)).to.equal('url_unsigned')
    }
    const answer = await get(signed(`${video}?storyboard&wait=30&exp=${exp}`, key))
    expect(answer.status, String(answer.body)).to.equal(302)
    expect(answer.headers['cache-control']).to.match(/^private, max-age=/)
    const entry = new URL(String(answer.headers.location)).pathname
    const cues = await get(entry)
    expect(cues.status).to.equal(200)
    expect(cues.headers['cache-control']).to.match(/^private, max-age=([1-5]\d\d)$/)
    const sprite = /^(\S+\.jpg)#/m.exec(String(cues.body))?.[1] ?? ''
    const beside = entry.replace(/[^/]+$/, sprite)
    expect((await get(beside)).status).to.equal(200)

    const [segment = ''] = /s--[^/]+--/.exec(entry) ?? []
    expect(await codeOf(beside.replace(`${segment}/`, ''))).to.equal('url_unsigned')
    expect(await codeOf(beside.replace(segment, segment.replace(`.${exp}.`, `.${exp + 1}.`)))).to.equal(
      'url_invalid',
    )
    const original = entry.replace(/_storyboard.*$/, '')
    expect(await codeOf(original)).to.equal('url_invalid')
    const elsewhere = path.replace(record.sourceName, `${segment}/${record.s3PathOriginal}`)
    expect(await codeOf(elsewhere)).to.equal('url_invalid')
    expect(await codeOf(entry.replace('/video/upload/', '/video/info/'))).to.equal(400)
  })
})
