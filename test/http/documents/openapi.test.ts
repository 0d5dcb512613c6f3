import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { RulesetDefinition } from '@stoplight/spectral-core'
import { expect } from 'chai'
import { type IRoute, Router } from 'express'
import { shippedParameters } from '../../../src/assembly/shipped-parameters.ts'
import { documentedEndpoints } from '../../../src/http/documents/documented.ts'
import type { DocumentedEndpoint } from '../../../src/http/documents/endpoint.ts'
import type { OpenApiDocument } from '../../../src/http/documents/openapi/document.ts'
import { diskCheck, onOneBackend } from '../../support/backends.ts'
import { type Issuer, startIssuer } from '../../support/console/issuer.ts'
import { pluginFolder } from '../../support/drop-ins.ts'
import { picture } from '../../support/media/images.ts'
import { type ExampleSender, exampleSender, METRICS_TOKEN } from '../../support/openapi/examples.ts'
import { validatorOf } from '../../support/openapi/validators.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fileServer } from '../../support/requests/remote-files.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

const CORPUS = join(PROJECT, 'test', 'corpus', 'files')
const PASSWORD = 'of the operator alone'
const PLUGIN = `export default {
  name: 'image-stripes',
  engine: 'sharp',
  phase: 'effect',
  params: { stripes: { type: 'integer', min: 3, max: 17, aliases: ['lines'], help: 'Number of stripes.' } },
  transform: (image) => image,
}`
const ENDPOINTS = documentedEndpoints(await shippedParameters(PROJECT))

/** The members of a value, and of the values in it; each item of an array is named by its own shape. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))].sort()
  if (typeof value !== 'object' || value === null) return typeof value
  const members = Object.entries(value).map(([name, member]) => [name, shapeOf(member)] as const)
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)))
}

onOneBackend('the API document', (start, backend) => {
  let service: Service
  let document: OpenApiDocument
  let sender: ExampleSender
  let other: Remote
  let issuer: Issuer
  const routes: IRoute[] = []

  before(async () => {
    const folder = await pluginFolder({ 'image-stripes.js': PLUGIN })
    const prototype = Router.prototype as unknown as { route: (path: string) => IRoute }
    const { route } = prototype
    prototype.route = function (path) {
      const made = route.call(this, path)
      routes.push(made)
      return made
    }
    const bytes = {
      image: await picture({ format: 'jpeg' }),
      video: await readFile(join(CORPUS, 'mp4-sound.mp4')),
      audio: await readFile(join(CORPUS, 'sound.mp3')),
      text: Buffer.from('text'),
      application: await readFile(join(CORPUS, 'hello.pdf')),
    }
    other = await fileServer(
      Object.fromEntries(Object.entries(bytes).map(([group, file]) => [`/${group}`, file])),
    )
    issuer = await startIssuer()
    const env = {
      PLUGINS_DIR: folder,
      ADMIN_PASSWORD: PASSWORD,
      METRICS_TOKEN,
      COMPAT: 'cloudinary imgproxy openinary default-uploader',
      FOREIGN_PREFIXES: 'legacy',
      // The endpoints of the sign-in exist only with an issuer.
      ...issuer.env,
      ...fetchingFrom(other),
    }
    service = await start({ env }).finally(() => {
      prototype.route = route
    })
    document = jsonOf(await exchange(service, '/v1/openapi.json')) as unknown as OpenApiDocument
    const files = { bytes, urlOf: (group: string) => other.url(`/${group}`) }
    sender = await exampleSender(service, { password: PASSWORD, files })
  })
  after(() => Promise.all([other.close(), issuer.stop()]))

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors ?? []).to.deep.equal([])
    expect(valid).to.equal(true)
    expect(document.openapi).to.match(/^3\.1\./)
    expect(document.servers).to.deep.equal([{ url: service.url }])
  })

  /** They refuse localhost as the server of a document. */
  const linted = () => JSON.stringify({ ...document, servers: [{ url: 'https://files.example.org' }] })

  itLong('has no warning of redocly', async () => {
    const source = linted()
    // Endpoints for the sign-in in a browser only redirect.
    const config = await createConfig({
      extends: ['recommended'],
      rules: { 'operation-2xx-response': 'off' },
    })
    const byRedocly = await lintFromString({ source, absoluteRef: '/openapi.json', config })
    expect(byRedocly.map(({ ruleId, message }) => `${ruleId}: ${message}`)).to.deep.equal([])
  })

  itLong('has no warning of spectral', async () => {
    const { Spectral } = await import('@stoplight/spectral-core')
    const { oas } = await import('@stoplight/spectral-rulesets')
    const linter = new Spectral()
    // The types of the two packages disagree.
    linter.setRuleset({ extends: [oas as unknown as RulesetDefinition] })
    const bySpectral = await linter.run(linted())
    expect(
      bySpectral.map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`),
    ).to.deep.equal([])
  })

  it('has a tag, and a unique ID of its own, for each operation', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).to.equal(ids.length).and.to.be.above(50)
    for (const { operationId, tags } of operations) {
      expect(operationId).to.match(/^[a-z]+([A-Z][a-z]+)*$/)
      expect(tags).to.have.length(1)
    }
  })

  it('states which scoped secrets each operation refuses', () => {
    const refused = (path: string, method: string) =>
      /Secrets (.*) refused\./.exec(String(document.paths[path]?.[method]?.description))?.[1]
    expect(refused('/v1/tus', 'post')).to.equal('for reading only are')
    expect(refused('/v1/files/{path}', 'get')).to.equal('for uploads only are')
    expect(refused('/v1/files/{path}', 'patch')).to.equal('for uploads only or for reading only are')
    expect(refused('/v1/usage', 'get')).to.equal('for uploads only, or of a folder, are')
  })

  it('describes every route of the service, and no other', () => {
    const described = new Set(ENDPOINTS.map(({ route }) => route))
    const served = new Set(
      routes.flatMap(({ path, stack }) =>
        stack.flatMap(({ method }) => (method ? [`${method.toUpperCase()} ${path}`] : [])),
      ),
    )
    // Routes for all methods have no method of their own; those for a refusal only answer 405.
    const REFUSALS = /^(GET|PATCH) \/v1\/upload\/sign\/|^GET \/v1\/sign\/url$|^OPTIONS /
    expect([...served].filter((name) => !described.has(name) && !REFUSALS.test(name))).to.deep.equal([])
    const OF_TUS = / \/v1\/tus/
    expect([...described].filter((name) => !served.has(name) && !OF_TUS.test(name))).to.deep.equal([])
  })

  it('has the parameters of drop-in plugins, with their bounds', () => {
    const delivery = document.paths['/v1/image/upload/{token}/{path}']?.get
    const parameters = delivery?.parameters as Array<{ $ref?: string }>
    expect(parameters.map(({ $ref }) => $ref)).to.include('#/components/parameters/query_stripes')
    expect(document.components.parameters)
      .to.have.property('query_stripes')
      .that.deep.equals({
        name: 'stripes',
        in: 'query',
        description: 'Number of stripes. Accepts an integer from 3 to 17. Also: `lines`.',
        schema: { type: 'integer', minimum: 3, maximum: 17 },
        required: false,
        'x-aliases': ['lines'],
      })
  })

  it('has the parameter wait only where a media job may render the file', () => {
    const hasWait = (path: string) => JSON.stringify(document.paths[path]).includes('parameters/query_wait"')
    expect(
      ['/v1/image/upload/{token}/{path}', '/v1/video/fetch/keep/{token}/{url}'].map(hasWait),
    ).to.deep.equal([true, true])
    expect(['/v1/image/fetch/{token}/{url}', '/v1/image/foreign/{token}/{path}'].map(hasWait)).to.deep.equal([
      false,
      false,
    ])
  })

  it('is cached until it changes', async () => {
    const { headers } = await exchange(service, '/v1/openapi.json')
    const again = await exchange(service, '/v1/openapi.json', {
      headers: { 'If-None-Match': String(headers.etag) },
    })
    expect([again.status, again.body.length]).to.deep.equal([304, 0])
    expect(headers['access-control-allow-origin']).to.equal('*')
    expect((await exchange(service, '/v1/openapi.json', { method: 'PUT' })).status).to.equal(405)
  })

  it('has examples of each endpoint', () => {
    const without = ENDPOINTS.filter(({ examples = [] }) => examples.length === 0)
    expect(without.map(({ id }) => id)).to.deep.equal([])
  })

  const examples = (endpoint: DocumentedEndpoint) =>
    (endpoint.examples ?? []).map((example) => ({ endpoint, example }))
  for (const { endpoint, example } of ENDPOINTS.flatMap(examples))
    it(`has an example ${example.id} of ${endpoint.id} that works`, async () => {
      const { status, response } = example
      const answer = await sender.send(endpoint, example)
      if (endpoint.id.endsWith('DirectUpload') && diskCheck(backend).disk && status < 300) {
        // The example is of a service with files in S3. test/http/upload/direct sends it to one.
        expect(answer.status).to.equal(endpoint.id === 'beginDirectUpload' ? 403 : 404)
        return
      }
      expect(answer.status, answer.body.toString().slice(0, 500)).to.equal(status)
      if (response === undefined) return
      const content = endpoint.responses[status]?.content?.['application/json']
      if (!content || !('schema' in content)) throw new Error('the response has no schema')
      expect(validatorOf(content.schema)(JSON.stringify(response))).to.equal(undefined)
      const body = JSON.parse(answer.body.toString())
      // The example is of a service with data on its disk.
      if (endpoint.id === 'getReadiness' && !diskCheck(backend).disk) body.checks.disk = 'ok'
      // And of a machine with all fonts.
      Reflect.deleteProperty(body, 'scriptsWithoutFont')
      const received = shapeOf(body)
      const shown = shapeOf(response)
      // Other clients may be in a list too.
      if (Array.isArray(received) && Array.isArray(shown)) expect(received).to.include.members(shown)
      else expect(received).to.deep.equal(shown)
    })
})
