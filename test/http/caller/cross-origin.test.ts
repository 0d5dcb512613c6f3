import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { prefixesWithSecret } from '../../../src/http/caller/cross-origin.ts'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import { onOneBackend } from '../../support/backends.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'

const APP = 'https://app.example'
const DEV = 'http://127.0.0.1:5173'
const OTHER = 'https://other.example'

const PATHS = [
  ...[
    '/v1/files',
    '/v1/files/a/image/png/b.png',
    '/v1/files/delete',
    '/v1/folders',
    '/v1/upload',
    '/v1/upload/a.png',
  ],
  ...[
    '/v1/sign',
    '/v1/sign/url',
    '/v1/sign/cookie',
    '/v1/zip',
    '/v1/usage',
    '/v1/presets',
    '/v1/presets/small',
  ],
  ...['/v1/aliases', '/v1/aliases/a/b.png', '/v1/aliases/a/b.png/rollback', '/v1/foreign'],
  ...['/v1/jobs', '/v1/jobs/a', '/v1/jobs/a/retry', '/v1/webhooks/deliveries', '/v1/webhooks/test'],
]

onOneBackend('CORS for pages with a secret', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { CORS_ORIGINS: `${APP} ${DEV}` } })
  })

  const preflight = (path: string, origin: string, to = service) =>
    fetch(`${to.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'authorization,content-type,if-match',
      },
    })

  it('answers the preflight request of a listed origin, on each endpoint', async () => {
    for (const path of PATHS)
      for (const origin of [APP, DEV]) {
        const { status, headers } = await preflight(path, origin)
        expect(status, path).to.equal(204)
        expect(headers.get('access-control-allow-origin')).to.equal(origin)
        expect(headers.get('access-control-allow-methods')).to.include('PATCH')
        expect(headers.get('access-control-allow-headers')).to.match(/Authorization, Content-Type.*If-Match/)
        expect(headers.get('access-control-allow-credentials')).to.equal(null)
        expect(headers.get('vary')).to.include('Origin')
      }
  })

  it('lets pages of a listed origin read responses and errors, with their headers', async () => {
    const { s3Path } = await uploadOne(service, { name: 'a.txt', bytes: 'a' }, { path: 'f' })
    for (const [path, status] of [
      ['/v1/files', 200],
      [`/v1/files/${s3Path}`, 200],
      ['/v1/folders', 200],
      ['/v1/files/f/text/txt/none', 404],
      ['/v1/usage?from=x', 400],
    ] as const) {
      const answer = await ask(service, path, { headers: { Origin: APP } })
      expect(answer.status, path).to.equal(status)
      expect(answer.headers.get('access-control-allow-origin')).to.equal(APP)
      expect(answer.headers.get('access-control-expose-headers')).to.match(/ETag.*RateLimit.*Retry-After/)
      expect(answer.headers.get('vary')).to.include('Origin')
    }
    const unauthorized = await ask(service, '/v1/files', { secret: 'wrong', headers: { Origin: APP } })
    expect([unauthorized.status, unauthorized.headers.get('access-control-allow-origin')]).to.deep.equal([
      401,
      APP,
    ])
  })

  it('permits nothing to other origins, and never any origin', async () => {
    for (const origin of [OTHER, 'null', `${APP}.evil.example`, `${APP}:444`, 'http://app.example']) {
      const refused = await preflight('/v1/files', origin)
      expect(refused.status, origin).to.equal(405)
      const answer = await ask(service, '/v1/files', { headers: { Origin: origin } })
      for (const { headers } of [refused, answer]) {
        expect(headers.get('access-control-allow-origin'), origin).to.equal(null)
        expect(headers.get('vary')).to.include('Origin')
      }
    }
    expect((await ask(service, '/v1/files')).headers.get('access-control-allow-origin')).to.equal(null)
  })

  it('does not include the endpoints of the operator', async () => {
    for (const path of ['/v1/clients', '/v1/sign-in', '/metrics', '/v1/filesystem'])
      expect((await preflight(path, APP)).headers.get('access-control-allow-origin'), path).to.equal(null)
  })

  it('includes every endpoint that accepts a secret, as the manual lists them', async () => {
    const manual = readFileSync('docs/how-to/browser-apps.md', 'utf8')
    const prefixes = prefixesWithSecret(ENDPOINTS)
    expect(prefixes).to.include.members(['/v1/files', '/v1/foreign', '/v1/jobs', '/v1/webhooks'])
    for (const prefix of prefixes) {
      const { headers } = await preflight(prefix, APP)
      expect(headers.get('access-control-allow-origin'), prefix).to.equal(prefix === '/v1/tus' ? '*' : APP)
      if (prefix !== '/v1/tus') expect(manual).to.include(`\`${prefix}\``)
    }
  })

  it('leaves signed links, tus and the states of jobs to pages of any origin', async () => {
    for (const path of ['/v1/upload/sign/a/b/c', '/v1/tus']) {
      const { headers } = await preflight(path, APP)
      expect(headers.get('access-control-allow-origin'), path).to.equal('*')
      expect(headers.get('access-control-allow-headers')).to.include('Upload-Offset')
    }
    // As deliveries: pages of listed origins may send signed cookies.
    for (const [origin, allowed] of [
      [OTHER, '*'],
      [APP, APP],
    ] as const) {
      const { headers } = await preflight('/v1/jobs/token/video/mp4/a.mp4', origin)
      expect(headers.get('access-control-allow-origin')).to.equal(allowed)
    }
  })

  it('is off by default', async () => {
    const plain = await start()
    const refused = await preflight('/v1/files', APP, plain)
    expect(refused.status).to.equal(405)
    const answer = await ask(plain, '/v1/files', { headers: { Origin: APP } })
    for (const { headers } of [refused, answer]) {
      expect(headers.get('access-control-allow-origin')).to.equal(null)
      expect(headers.get('vary') ?? '').to.not.include('Origin')
    }
  })
})
