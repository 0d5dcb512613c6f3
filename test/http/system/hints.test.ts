import { expect } from 'chai'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import { nearestRoute, suggestedRoutes } from '../../../src/http/nearest-route.ts'
import { onOneBackend } from '../../support/backends.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

const ROUTES = suggestedRoutes(ENDPOINTS.map(({ route }) => route))

onOneBackend('hints in errors', (start) => {
  let service: Service
  before(async () => {
    // The endpoints of the sign-in exist only with an issuer.
    service = await start({
      env: { OIDC_ISSUER: 'http://localhost:9', OIDC_CLIENT_ID: 'console', OIDC_ROLES: 'guests=viewer' },
    })
  })

  const problem = async (path: string, options: Parameters<typeof exchange>[2] = {}) =>
    jsonOf(await exchange(service, path, options)) as { status: number; code: string; detail: string }

  it('name the nearest route, with the method', async () => {
    expect(await problem('/v1/uploads', { method: 'POST' })).to.include({
      status: 404,
      code: 'route_not_found',
      detail: 'No route matches POST /v1/uploads. Did you mean POST /v1/upload?',
    })
    const { detail } = await problem('/nothing-like-it')
    expect(detail).not.to.include('Did you mean')
  })

  const MEANT: ReadonlyArray<[method: string, path: string, route: string | undefined]> = [
    ['GET', '/v1/uploads', 'POST /v1/upload'],
    ['POST', '/upload', 'POST /v1/upload'],
    ['POST', '/v2/zip', 'POST /v1/zip'],
    ['DELETE', '/v1/uploads/image/png/a.png', 'DELETE /v1/upload/<path>'],
    ['GET', '/v1/image/uplod/pub_1/a.png', 'GET /v1/image/upload/<token>/<path>'],
    ['GET', '/v1/file', 'GET /v1/files'],
    ['POST', '/v1/file/copy', 'POST /v1/files/copy'],
    ['GET', '/v1/image/foreing/pub_1/a.png', 'GET /v1/image/foreign/<token>/<path>'],
    ['GET', '/v1/webhook/deliveries', 'GET /v1/webhooks/deliveries'],
    ['GET', '/health', 'GET /healthz'],
    ['POST', '/v1/members/a/lnk', 'POST /v1/members/<id>/link'],
    ['POST', '/v1/members/a/b/c', undefined],
    ['GET', '/favicon.ico', undefined],
    ['GET', '/', undefined],
    ['GET', '/wp-login.php', undefined],
  ]
  for (const [method, path, route] of MEANT)
    it(`mean ${route ?? 'no route'} by ${method} ${path}`, () => {
      expect(nearestRoute(method, path, ROUTES)).to.equal(route)
    })

  for (const route of ROUTES)
    it(`name only routes that exist: ${route}`, async () => {
      const [method = '', path = ''] = route.split(' ')
      const answer = await exchange(service, path.replace(/<(\w+)>/g, 'x'), { method })
      const { code = '' } = answer.status >= 400 ? (jsonOf(answer) as { code?: string }) : {}
      expect(['route_not_found', 'method_not_allowed']).not.to.include(code)
    })

  it('name a placeholder in the URL', async () => {
    for (const token of ['<token>', '%3Ctoken%3E']) {
      const { status, code, detail } = await problem(`/v1/image/upload/${token}/a.png`)
      expect({ status, code }).to.deep.equal({ status: 404, code: 'client_not_found' })
      expect(detail).to.match(/Replace <token> with your client's public token\.$/)
    }
    const { clientToken } = service.tokens
    expect((await problem(`/v1/image/upload/${clientToken}/%3CsourceName%3E?w=3`)).detail).to.match(
      /Replace <sourceName> with the sourceName of an uploaded file\.$/,
    )
    expect((await problem(`/v1/image/upload/${clientToken}/a%3Cb%3Ec.png`)).detail).not.to.include('Replace')
  })

  it('name a placeholder in the Authorization header', async () => {
    for (const authorization of ['<secret>', 'Bearer <secret>']) {
      const { status, detail } = await problem('/v1/files', { headers: { authorization } })
      expect(status).to.equal(401)
      expect(detail).to.match(/Replace <secret> with your client's secret token\.$/)
    }
  })

  it('name the place of invalid JSON, and quote none of it', async () => {
    const { status, code, detail } = await problem('/v1/zip', {
      method: 'POST',
      headers: { authorization: service.tokens.secretClientToken, 'content-type': 'application/json' },
      body: '{"files": [\n  {"path": secret}\n]}',
    })
    expect({ status, code }).to.deep.equal({ status: 400, code: 'bad_json' })
    expect(detail).to.equal(
      'expected a JSON object as the body but received invalid JSON: see line 2, column 12',
    )
  })
})
