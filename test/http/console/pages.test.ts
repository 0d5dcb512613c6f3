import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import express from 'express'
import request from 'supertest'
import { acceptedEncoding } from '../../../src/core/media/encodings.ts'
import type { BuiltConsole } from '../../../src/http/console/built-files.ts'
import { baseOf, CONSOLE_PAGES } from '../../../src/http/console/pages.ts'
import { routesOf } from '../../../src/http/endpoint/routes.ts'
import { onOneBackend } from '../../support/backends.ts'
import { startSubPath } from '../../support/peers/sub-path.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('GET /dashboard', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })
  const page = async (path: string) => {
    const answer = await exchange(service, path)
    return { ...answer, text: answer.body.toString() }
  }

  it('is the same page for each path, with the base of that path', async () => {
    const pages: [path: string, base: string][] = [
      ['/dashboard', 'dashboard/'],
      ['/dashboard/', './'],
      ['/dashboard/account?a=b/c', './'],
      ['/dashboard/c/first/files/a%2Fb/c', '../../../../'],
      ['/dashboard/c/first/files/', '../../../'],
    ]
    for (const [path, base] of pages) {
      const { status, headers, text } = await page(path)
      expect(status, path).to.equal(200)
      expect(text, path).to.include(`<base href="${base}">`)
      expect(headers['cache-control'], path).to.equal('no-store')
    }
    expect(baseOf('/dashboard//'), 'an empty segment').to.equal('../')
  })

  it('tries again while the console is not built yet, as after a first npm start', async () => {
    let files: BuiltConsole | undefined
    const app = express().use(
      routesOf(CONSOLE_PAGES, { builtConsole: () => files } as Parameters<typeof routesOf>[1]),
    )
    const early = await request(app).get('/dashboard').expect(503).expect('Retry-After', '2')
    expect(early.text).to.include('The console is not built yet').and.include('http-equiv="refresh"')
    await request(app).get('/dashboard/assets/main.js').expect(404)
    files = { asset: () => undefined, page: () => 'the page' }
    expect((await request(app).get('/dashboard').expect(200)).text).to.equal('the page')
  })

  it('allows no inline scripts, no frames around it, and nothing from other servers', async () => {
    const [one, other] = [await page('/dashboard'), await page('/dashboard')]
    const policy = String(one.headers['content-security-policy'])
    expect(policy).to.include("default-src 'none'").and.include("script-src 'self';")
    expect(policy).to.include("frame-ancestors 'none'").and.not.include('unsafe')
    const policies = policy.split(';').map((directive) => directive.replace(/'nonce-[^']+'/, 'nonce'))
    expect(policies).to.have.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' nonce",
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "worker-src 'self' blob:",
      "frame-src 'self' blob:",
      "manifest-src 'self'",
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(one.headers).to.include({ 'referrer-policy': 'no-referrer' })
    expect(policy).not.to.equal(other.headers['content-security-policy'])
    const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? []
    expect(one.text).to.include(`content="${nonce}"`)
    expect(one.headers).to.include({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
    expect(one.text).not.to.match(/(src|href)="(https?:)?\//)
    expect(one.text).not.to.match(/<script>|<style|\son\w+=/)
  })

  it('isolates its window over https only, where browsers accept it, and leaves HSTS to the proxy', async () => {
    const proxied = await start({ env: { TRUST_PROXY: '1' } })
    const headersOver = async (proto: string) =>
      (await exchange(proxied, '/dashboard', { headers: { 'X-Forwarded-Proto': proto } })).headers
    const [http, https] = [await headersOver('http'), await headersOver('https')]
    for (const name of ['cross-origin-opener-policy', 'origin-agent-cluster', 'strict-transport-security'])
      expect(http).not.to.have.property(name)
    expect(https).to.include({ 'cross-origin-opener-policy': 'same-origin', 'origin-agent-cluster': '?1' })
    expect(https).not.to.have.property('strict-transport-security')
  })

  it('has files that browsers store for a year, compressed as they accept it', async () => {
    const [, file] = /src="\.\/(assets\/[^"]+\.js)"/.exec((await page('/dashboard')).text) ?? []
    const as = (encoding?: string) =>
      exchange(service, `/dashboard/${file}`, {
        headers: encoding === undefined ? {} : { 'Accept-Encoding': encoding },
      })
    const [plain, gzip, brotli] = [await as(), await as('gzip, deflate'), await as('gzip, deflate, br')]
    expect(plain.headers).to.include({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    })
    expect(plain.headers).not.to.have.property('content-encoding')
    expect(plain.headers).to.include({ 'x-content-type-options': 'nosniff' })
    expect(gzip.headers).to.include({ 'content-encoding': 'gzip' })
    expect(brotli.headers).to.include({ 'content-encoding': 'br' })
    expect(gunzipSync(gzip.body).equals(plain.body)).to.equal(true)
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).to.equal(true)
    const head = await exchange(service, `/dashboard/${file}`, { method: 'HEAD' })
    expect(head).to.deep.include({ status: 200, body: Buffer.alloc(0) })
    expect(Number(head.headers['content-length'])).to.equal(plain.body.length)
  })

  it('serves nothing else', async () => {
    for (const path of ['none.js', '..%2findex.html', '..%2f..%2f.env', 'index.js.br'])
      expect((await exchange(service, `/dashboard/assets/${path}`)).status, path).to.equal(404)
    for (const path of ['/dashboard', '/dashboard/account'])
      expect((await exchange(service, path, { method: 'POST' })).status, path).to.equal(405)
    expect((await exchange(service, '/dashboards')).status).to.equal(404)
  })

  it('is linked from the home page', async () => {
    expect((await page('/')).text).to.include('href="dashboard"')
  })

  it('works below a path of a proxy', async () => {
    const proxy = await startSubPath(service.url)
    try {
      const url = `${proxy.url}/dashboard/c/first/files/`
      const text = await (await fetch(url)).text()
      const [, base = ''] = /<base href="([^"]+)"/.exec(text) ?? []
      const [, script = ''] = /src="([^"]+\.js)"/.exec(text) ?? []
      const { headers } = await fetch(new URL(script, new URL(base, url)))
      // Every other path is the page itself.
      expect(headers.get('content-type')).to.include('text/javascript')
    } finally {
      await proxy.stop()
    }
  })
})

describe('the encoding of a response', () => {
  const cases: [header: string | undefined, encoding: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['BR;q=0.1, gzip', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', undefined],
    ['identity, zstd', undefined],
    ['br;q=x', undefined],
  ]
  for (const [header, encoding] of cases)
    it(`is ${encoding ?? 'none'} for ${JSON.stringify(header)}`, () => {
      expect(acceptedEncoding(header, ['br', 'gzip'])).to.equal(encoding)
    })
})
