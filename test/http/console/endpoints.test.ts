import { expect } from 'chai'
import { documentedEndpoints } from '../../../src/http/documents/documented.ts'
import type { DocumentedEndpoint } from '../../../src/http/documents/endpoint.ts'
import { documentedPath } from '../../../src/http/documents/openapi/operation.ts'
import { methodOf } from '../../../src/http/endpoint/route.ts'
import { onOneBackend } from '../../support/backends.ts'
import {
  type Browser,
  browser,
  type ConsoleAnswer,
  firstOwner,
  newMember,
} from '../../support/console/browser.ts'
import type { Service } from '../../support/service.ts'

const NO_PARAMETERS = { image: [], video: [], audio: [], text: [], application: [] }
const ENDPOINTS = documentedEndpoints(NO_PARAMETERS)
const OF_OWNERS = ENDPOINTS.filter(({ access }) => access === 'admin')
// A response to HEAD has no code to compare.
const OF_CLIENTS = ENDPOINTS.filter(
  ({ access, route }) => typeof access === 'object' && 'secret' in access && methodOf(route) !== 'HEAD',
)
/** What a viewer may send. All other endpoints of a client change something, or show uploads in progress. */
const READS = /^GET (?!\/v1\/(sign|tus|upload)\/)|^POST \/v1\/(zip(\/links)?|sign\/(url|cookie))$/

onOneBackend('the console at each endpoint', (start) => {
  let service: Service
  let owner: Browser
  let editor: Browser
  let viewer: Browser

  before(async () => {
    service = await start({ env: { ZIP_RATE_LIMIT: '0' } })
    owner = await firstOwner(service)
    const seen = { clients: ['first'] }
    editor = await newMember(service, owner, { email: 'e@example.com', role: 'editor', ...seen })
    viewer = await newMember(service, owner, { email: 'v@example.com', role: 'viewer', ...seen })
  })

  /** A request without a body, for files and clients that do not exist. */
  function call(own: Browser, endpoint: DocumentedEndpoint, client?: string): Promise<ConsoleAnswer> {
    const path = documentedPath(endpoint).replaceAll(/\{\w+\}/g, 'none')
    const headers = client === undefined ? {} : { 'Sluice-Client': client }
    const tus = path.startsWith('/v1/tus') ? { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' } : {}
    return own.send(methodOf(endpoint.route), path, undefined, { ...headers, ...tus })
  }

  for (const endpoint of OF_OWNERS)
    it(`is for owners only at ${endpoint.route}`, async () => {
      for (const own of [editor, viewer]) {
        const { status, json } = await call(own, endpoint)
        expect([status, json?.code]).to.deep.equal([403, 'role_forbids'])
      }
      expect((await call(owner, endpoint)).status).to.not.be.oneOf([401, 403, 405, 500])
      expect((await call(browser(service), endpoint)).json.code).to.equal('not_signed_in')
    })

  for (const endpoint of OF_CLIENTS)
    it(`permits what the role does at ${endpoint.route}`, async () => {
      expect((await call(editor, endpoint, 'none')).status).to.equal(404)
      const { status, json } = await call(viewer, endpoint, 'first')
      const isRefused = status === 403 && json?.code === 'role_forbids'
      expect(isRefused, `${status} ${JSON.stringify(json)}`).to.equal(!READS.test(endpoint.route))
      const permitted = await call(editor, endpoint, 'first')
      expect(permitted.status).to.not.be.oneOf([401, 403, 405, 500])
    })
})
