import { expect } from 'chai'
import { signFolderCookie } from '../../../client/index.ts'
import { signFolder } from '../../../src/core/signing/signed-folder.ts'
import { signUrl, type UrlKey } from '../../../src/core/signing/signed-url.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { setAlias } from '../../support/stored/aliases.ts'

const APP = 'https://shop.example.com'
const OTHER = 'https://other.example.com'
const WEEK_SECONDS = 604_800

onOneBackend('signed cookies of folders', (start) => {
  let service: Service
  let client: Caller & { id: string }
  let key: UrlKey
  let png: Buffer
  let file: WireRecord
  let cookie: string
  before(async () => {
    service = await start({ env: { CORS_ORIGINS: APP } })
    client = await newClient(service)
    key = (await service.app.clients.addUrlKey(client.id)).urlKey
    await service.app.clients.setRules(client.id, { privateFolders: ['galleries', 'marks'] })
    png = await picture()
    file = await stored('galleries/a')
    cookie = await cookieOf('galleries/a')
  })

  const stored = (path: string, from: Caller = client) =>
    uploadOne(from, { name: 'a.png', bytes: png }, { path })
  async function cookieOf(folder: string, options: { token?: string; key?: UrlKey } = {}): Promise<string> {
    const token = client.tokens.clientToken
    const { name, value } = await signFolderCookie({ token, key, folder, expiresIn: 3600, ...options })
    return `${name}=${value}`
  }
  const get = (target: string, headers: Record<string, string> = { Cookie: cookie }) =>
    exchange(service, target, { headers })
  const outcome = async (target: string, headers?: Record<string, string>) => {
    const answer = await get(target, headers)
    return answer.status < 300 ? answer.status : `${answer.status} ${jsonOf(answer).code}`
  }
  const plain = ({ src }: WireRecord) => new URL(src).pathname
  const at = (record: WireRecord, kind: string) => plain(record).replace('/upload/', `/${kind}/`)
  const objectOf = ({ s3PathOriginal }: WireRecord) =>
    `/v1/bucket/${client.tokens.clientToken}/${s3PathOriginal}`

  it('open a file, its derivatives, ranges, information and object, for the caller alone', async () => {
    const below = await stored('galleries/a/b c/ü')
    for (const target of [
      plain(file),
      `${plain(file)}?w=20`,
      plain(below),
      at(file, 'info'),
      objectOf(file),
      `${objectOf(file)}_w=20`,
    ]) {
      const opened = await get(target)
      expect(opened.status, target).to.equal(200)
      expect(opened.headers['cache-control'], target).to.match(/^private, max-age=3[56]\d\d$/)
      expect(await outcome(target, {}), target).to.equal('403 url_unsigned')
    }
    expect((await get(plain(file), { Cookie: cookie, Range: 'bytes=1-3' })).status).to.equal(206)
    const { etag = '' } = (await get(plain(file))).headers
    expect((await get(plain(file), { Cookie: cookie, 'If-None-Match': etag })).status).to.equal(304)
    expect(await outcome(`/v1/jobs/${client.tokens.clientToken}/${file.s3PathOriginal}_w=20`)).to.equal(200)
  })

  it('open no other folder, client or file', async () => {
    const others = [
      plain(await stored('galleries/ab')),
      plain(await stored('galleries')),
      plain(await stored('galleries/A')),
      `/v1/image/foreign/${client.tokens.clientToken}/galleries/a/a.png`,
      plain(file).replace('galleries/a/', 'galleries/b/../a/'),
      plain(file).replace('galleries/a/', 'galleries/a/../ab/'),
      plain(file).replace('galleries/a/', 'galleries/a%2F..%2Fab/'),
    ]
    for (const target of others) expect(await outcome(target), target).to.equal('403 url_unsigned')
    const second = await newClient(service)
    await service.app.clients.addUrlKey(second.id)
    await service.app.clients.setRules(second.id, { signedUrls: true })
    const theirs = await stored('galleries/a', second)
    expect(await outcome(plain(theirs))).to.equal('403 url_unsigned')
    // With the key of this client, but for the token of the other one.
    const ofSecond = await cookieOf('galleries/a', { token: second.tokens.clientToken })
    expect(await outcome(plain(file), { Cookie: ofSecond })).to.equal('403 url_unsigned')
  })

  it('do not take the folder "image" for the type in the key of a file at the top', async () => {
    const own = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(own.id)
    await service.app.clients.setRules(own.id, { signedUrls: true })
    const token = own.tokens.clientToken
    const top = await uploadOne(own, { name: 'a.png', bytes: png })
    const below = await stored('image', own)
    const value = await cookieOf('image', { token, key: urlKey })
    const target = (key: string) => `/v1/image/upload/${token}/${key}`
    expect(await outcome(target(top.s3PathOriginal), { Cookie: value })).to.equal('403 url_unsigned')
    expect(await outcome(target(below.s3PathOriginal), { Cookie: value })).to.equal(200)
  })

  it('are refused when they are changed, expired, too long, for too long, or ambiguous', async () => {
    const [name = '', value = ''] = cookie.split('=')
    const token = client.tokens.clientToken
    const now = Math.floor(Date.now() / 1000)
    const until = (end: number, folder = 'galleries/a') => signFolder({ token, folder, until: end }, key)
    const [version, end, mac, folder] = value.split('.')
    const padded = Buffer.from('galleries/a').toString('base64')
    const wrong = [
      `${name}=`,
      name,
      `${name}=${value}x`,
      `${name}="${value}"`,
      `${name}=${value.replace(/^\d+/, '2')}`,
      `${name}=${[version, Number(end) + 1, mac, folder].join('.')}`,
      `${name}=${[version, end, mac, Buffer.from('galleries').toString('base64url')].join('.')}`,
      `${name}=${[version, end, mac, padded].join('.')}`,
      `${name}=${until(now - 1)}`,
      `${name}=${until(now + WEEK_SECONDS + 7200)}`,
      `${name}=${until(now + 600, '')}`,
      `${name}=${until(now + 600, 'galleries/a/')}`,
      `${name}=${until(now + 600, 'galleries/a'.repeat(30))}`,
      `${name}=${'a'.repeat(4000)}`,
      `other=${value}`,
      `x${cookie}`,
    ]
    for (const each of wrong)
      expect(await outcome(plain(file), { Cookie: each }), each).to.equal('403 url_unsigned')
    // Another page may have set a second one with the same name.
    for (const each of [
      `${name}=other; ${cookie}`,
      `a=b; ${cookie};c`,
      `${name}2=other;${cookie}`,
      `${name}=${until(now + WEEK_SECONDS)}`,
    ])
      expect(await outcome(plain(file), { Cookie: each }), each).to.equal(200)
  })

  it('give the rights of unsigned URLs: a signature counts alone, and private watermarks are refused', async () => {
    expect(await outcome(`${plain(file)}?exp=1&s=1.${'a'.repeat(43)}`)).to.equal('403 url_invalid')
    const mark = await stored('marks')
    const own = await stored('galleries/a')
    for (const { s3PathOriginal } of [mark, own])
      expect(await outcome(`${plain(file)}?w=30&wm=${s3PathOriginal}`)).to.equal('404 asset_not_found')
    const shown = await get(signUrl(`${plain(file)}?w=30&wm=${mark.s3PathOriginal}`, key), {})
    const derivative = `/v1/bucket/${client.tokens.clientToken}/${JSON.parse(String(shown.headers.etag))}`
    expect(await outcome(encodeURI(derivative))).to.equal('403 url_unsigned')
  })

  it('open aliases in the folder whose files are in it, and follow moves within it', async () => {
    const alias = (name: string) => `/v1/image/alias/${client.tokens.clientToken}/${name}`
    const outside = await stored('galleries/c')
    await setAlias(client, 'galleries/a/first.png', file.s3PathOriginal)
    await setAlias(client, 'galleries/a/outside.png', outside.s3PathOriginal)
    await setAlias(client, 'shown.png', file.s3PathOriginal)
    expect(await outcome(alias('galleries/a/first.png'))).to.equal(200)
    expect(await outcome(alias('shown.png'))).to.equal(200)
    expect(await outcome(alias('galleries/a/outside.png'))).to.equal('403 url_unsigned')
    expect(await outcome(alias('shown.png'), {})).to.equal('403 url_unsigned')
    for (const [folder, status] of [
      ['galleries/a/moved', 308],
      ['galleries/moved', 403],
    ] as const) {
      const moved = await stored('galleries/a')
      const json = { files: [{ from: moved.s3PathOriginal, to: folder, redirect: '1d' }] }
      expect((await ask(client, '/v1/files/move', { method: 'POST', json })).status).to.equal(200)
      expect((await get(plain(moved))).status, folder).to.equal(status)
    }
  })

  it('never put a private file into the cache in memory', async () => {
    const one = await stored('galleries/a')
    for (let i = 0; i < 3; i += 1) expect(await outcome(plain(one))).to.equal(200)
    expect(await outcome(plain(one), {})).to.equal('403 url_unsigned')
  })

  it('do not open files in the trash, nor after their key was removed', async () => {
    const own = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(own.id)
    await service.app.clients.setRules(own.id, { signedUrls: true, keepDeletedSeconds: 3600 })
    const [one, two] = [await stored('g', own), await stored('g', own)]
    const headers = { Cookie: await cookieOf('g', { token: own.tokens.clientToken, key: urlKey }) }
    const status = async (record: WireRecord) => (await get(plain(record), headers)).status
    expect(await status(one)).to.equal(200)
    expect((await ask(own, `/v1/upload/${one.s3PathOriginal}`, { method: 'DELETE' })).status).to.equal(200)
    expect([await status(one), await status(two)]).to.deep.equal([404, 200])
    await service.app.clients.addUrlKey(own.id)
    expect(await status(two)).to.equal(200)
    await service.app.clients.removeUrlKey(own.id, urlKey.version)
    expect(await status(two)).to.equal(403)
  })

  it('permit pages of listed origins to read with credentials, and no other page', async () => {
    const shared = await stored('public')
    const cors = async (target: string, headers: Record<string, string>, method = 'GET') => {
      const { headers: got } = await exchange(service, target, { method, headers })
      return [got['access-control-allow-origin'], got['access-control-allow-credentials'], got.vary ?? '']
    }
    const credentialed = [APP, 'true', 'Origin']
    const anyPage = ['*', undefined, '']
    const elsewhere = ['*', undefined, 'Origin']
    expect(await cors(plain(file), { Origin: APP, Cookie: cookie })).to.deep.equal(credentialed)
    expect(await cors(plain(file), { Origin: APP })).to.deep.equal(credentialed)
    expect(await cors(plain(file), { Origin: APP }, 'OPTIONS')).to.deep.equal(credentialed)
    expect(await cors(plain(file), { Origin: OTHER, Cookie: cookie })).to.deep.equal(elsewhere)
    expect(await cors(plain(file), { Origin: OTHER }, 'OPTIONS')).to.deep.equal(anyPage)
    // A public file, also when it is in the cache in memory: the response of one page is not that of another.
    for (let i = 0; i < 2; i += 1) {
      expect(await cors(plain(shared), { Origin: APP })).to.deep.equal(anyPage)
      expect(await cors(plain(shared), { Origin: APP, Cookie: cookie })).to.deep.equal(credentialed)
      expect(await cors(plain(shared), {})).to.deep.equal(anyPage)
    }
    const { headers } = await get(plain(shared), { Origin: APP, Cookie: cookie })
    expect(headers['cache-control']).to.match(/^private/)
  })

  it('never appear in the log', async () => {
    const { link, value } = await signFolderCookie({
      token: client.tokens.clientToken,
      key,
      folder: 'galleries/a',
      expiresIn: 600,
    })
    const [, , mac = ''] = value.split('.')
    for (const target of [link, `${link}/x`, link.replace('/v1/cookie', '/v1/cookies'), plain(file)])
      await get(target, { Cookie: `sluice_folder=${value}` })
    const logged = () => JSON.stringify(service.log.lines)
    await eventually(() => expect(logged()).to.include('/v1/cookies/'))
    expect(logged()).not.to.include(mac)
  })

  it('are signed for servers that have a secret and no key', async () => {
    const made = await ask(client, '/v1/sign/cookie', {
      method: 'POST',
      json: { folder: 'galleries/a', expiresIn: 600 },
    })
    const { name, value, path, maxAge, link } = made.body as Record<string, string>
    const token = client.tokens.clientToken
    const own = await signFolderCookie({ token, key, folder: 'galleries/a', expiresIn: 600 })
    expect({ name, path, maxAge }).to.deep.equal({ name: own.name, path: '/v1/', maxAge: 600 })
    expect(await outcome(plain(file), { Cookie: `${name}=${value}` })).to.equal(200)
    expect(await outcome(new URL(String(link)).pathname, {})).to.equal(204)
  })

  it('are not signed without a folder or for one outside of the folder of a secret, for too long, or without a key', async () => {
    const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'galleries' } })
    const scoped = { ...client, tokens: { ...client.tokens, secretClientToken: secret } }
    const withoutKey = await newClient(service)
    const made = async (as: Caller, json: object) => {
      const answer = await ask(as, '/v1/sign/cookie', { method: 'POST', json })
      const { code, value = '' } = answer.body as { code?: string; value?: string }
      return code ?? Buffer.from(String(value.split('.')[3]), 'base64url').toString()
    }
    expect(await made(scoped, { expiresIn: 60 })).to.equal('galleries')
    expect(await made(scoped, { folder: 'galleries/ü', expiresIn: 60 })).to.equal('galleries/ü')
    expect(await made(scoped, { folder: 'galleriesx', expiresIn: 60 })).to.equal('out_of_scope')
    expect(await made(scoped, { folder: 'marks', expiresIn: 60 })).to.equal('out_of_scope')
    for (const json of [{ expiresIn: 60 }, { folder: '', expiresIn: 60 }])
      expect(await made(client, json), JSON.stringify(json)).to.be.oneOf(['bad_parameter', 'bad_path'])
    for (const folder of ['/a', 'a/', 'a/../b', 'a'.repeat(201), 'a%2Fb'])
      expect(await made(client, { folder, expiresIn: 60 }), folder).to.equal('bad_path')
    for (const expiresIn of [0, WEEK_SECONDS + 1, 1.5, '60'])
      expect(await made(client, { folder: 'a', expiresIn }), String(expiresIn)).to.equal('bad_parameter')
    expect(await made(withoutKey, { folder: 'a', expiresIn: 60 })).to.equal('client_conflict')
  })

  it('are set by a link, and never by a changed or expired one', async () => {
    const { name, value, link } = await signFolderCookie({
      token: client.tokens.clientToken,
      key,
      folder: 'galleries/a',
      expiresIn: 600,
    })
    const set = await get(link, { Origin: APP })
    expect([set.status, set.headers['cache-control']]).to.deep.equal([204, 'no-store'])
    expect(set.headers['access-control-allow-credentials']).to.equal('true')
    const [sent = ''] = set.headers['set-cookie'] ?? []
    expect(sent).to.match(/; Path=\/v1\/; Max-Age=(600|59\d); Secure; HttpOnly; SameSite=None; Partitioned$/)
    expect(sent.split(';')[0]).to.equal(`${name}=${value}`)
    expect(await outcome(plain(file), { Cookie: String(sent.split(';')[0]) })).to.equal(200)
    const foreign = await get(link, { Origin: OTHER })
    expect(foreign.headers['access-control-allow-credentials']).to.equal(undefined)
    expect(await outcome(link.replace('.', '1.'), {})).to.equal('403 link_invalid')
    const ended = await signFolderCookie({
      token: client.tokens.clientToken,
      key,
      folder: 'galleries/a',
      expiresIn: 1,
      now: () => Date.now() - 60_000,
    })
    const refused = await get(ended.link, {})
    expect([jsonOf(refused).code, refused.headers['set-cookie']]).to.deep.equal(['link_expired', undefined])
  })
})
