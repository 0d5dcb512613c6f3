import { expect } from 'chai'
import { type IRoute, Router } from 'express'
import { signFolder } from '../../../src/core/signing/signed-folder.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { type Caller, newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange } from '../../support/requests/exchange.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'
import type { Service } from '../../support/service.ts'
import { setAlias } from '../../support/stored/aliases.ts'

/** Asks for what is the other's, with all tokens of one's own. */
type Trespass = (file: WireRecord, own: Caller) => Promise<Answer>

const MARK = 'a-mark-of-the-owner'

onOneBackend('the tokens of another client', (start) => {
  let service: Service
  let owner: Caller & { id: string }
  let other: Caller & { id: string }
  let secrets: string[]
  let file: WireRecord
  let target: Receiver
  const routes: IRoute[] = []

  before(async () => {
    target = await receiver()
    const prototype = Router.prototype as unknown as { route: (path: string) => IRoute }
    const { route } = prototype
    prototype.route = function (path) {
      const made = route.call(this, path)
      routes.push(made)
      return made
    }
    try {
      service = await start({
        env: {
          COMPAT: 'cloudinary imgproxy openinary default-uploader',
          ZIP_RATE_LIMIT: '0',
          ADMIN_PASSWORD: 'of the operator alone',
          METRICS_TOKEN: 'of-the-metrics-alone',
          WEBHOOK_URL: target.url('/hooks'),
          WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
          WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        },
      })
    } finally {
      prototype.route = route
    }
    owner = await newClient(service)
    other = await newClient(service)
    const scoped = async (scope: object) => (await service.app.clients.addSecret(other.id, { scope })).secret
    secrets = [
      other.tokens.secretClientToken,
      await scoped({ only: 'upload' }),
      await scoped({ only: 'read' }),
      await scoped({ folder: MARK }),
    ]
    file = await uploadOne(owner, { name: `${MARK}.png`, bytes: await picture() }, { path: MARK })
    await exchange(service, `${file.src}?w=20`)
    await setAlias(owner, `${MARK}/a`, file.s3PathOriginal)
  })

  after(() => target.close())

  /** The id of a delivery of an event of this client. */
  async function deliveryOf(caller: Caller): Promise<string> {
    let id = ''
    await eventually(async () => {
      const { body } = await call('GET', '/v1/webhooks/deliveries', caller)
      id = JSON.parse(String(body)).deliveries[0].id
    })
    expect((await call('GET', `/v1/webhooks/deliveries/${id}`, caller)).status).to.equal(200)
    return id
  }

  const call = (
    method: string,
    target: string,
    { tokens }: Caller,
    { body, headers = {} }: { body?: object | string; headers?: Record<string, string> } = {},
  ) =>
    exchange(service, target, {
      method,
      headers: {
        Authorization: tokens.secretClientToken,
        ...(typeof body === 'object' ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'object' ? JSON.stringify(body) : body }),
    })
  /** The owner's address of a file with one's own token. */
  const withToken = (address: string, own: Caller) =>
    new URL(address).pathname.replace(owner.tokens.clientToken, own.tokens.clientToken)
  const key = () => file.s3PathOriginal
  const jobId = () => Buffer.from(`${key()}_w=20`).toString('base64url')
  const onlyOwn = [200]

  /** Every route that has to do with files: what it answers to who asks for another's, and how they would. */
  const walks: Record<string, { statuses: readonly number[]; ask: Trespass }> = {
    'GET /v1/:group/upload/:token/*path': {
      statuses: [404],
      ask: ({ src }, own) => call('GET', `${withToken(src, own)}?w=20`, own),
    },
    'GET /v1/bucket/:token/*path': {
      statuses: [404],
      ask: ({ src }, own) =>
        call(
          'GET',
          withToken(src, own).replace(/\/v1\/image\/upload\/([^/]+)\/.*/, `/v1/bucket/$1/${key()}`),
          own,
        ),
    },
    'GET /v1/:group/info/:token/*path': {
      statuses: [404],
      ask: ({ src }, own) => call('GET', withToken(src, own).replace('/upload/', '/info/'), own),
    },
    'GET /v1/jobs/:token/*path': {
      statuses: [404],
      ask: (_, own) => call('GET', `/v1/jobs/${own.tokens.clientToken}/${key()}_w=20`, own),
    },
    'DELETE /v1/upload/*path': {
      statuses: [403, 404],
      ask: (_, own) => call('DELETE', `/v1/upload/${key()}`, own),
    },
    'POST /v1/zip/links': {
      statuses: [200, 403],
      ask: async (_, own) => {
        const body = { files: [{ path: key(), name: 'a.png' }] }
        const made = await call('POST', '/v1/zip/links', own, { body })
        if (made.status !== 201) return made
        return call('GET', new URL(JSON.parse(String(made.body)).url).pathname, own)
      },
    },
    'GET /v1/zip/:id/:archiveName': {
      statuses: [404],
      ask: (_, own) => call('GET', `/v1/zip/${'1'.repeat(22)}/archive.zip`, own),
    },
    'POST /v1/zip': {
      statuses: [200, 403],
      ask: (_, own) => call('POST', '/v1/zip', own, { body: { files: [{ path: key(), name: 'a.png' }] } }),
    },
    'POST /v1/sign/url': {
      statuses: [400, 403, 409],
      ask: ({ src }, own) => call('POST', '/v1/sign/url', own, { body: { url: src } }),
    },
    'POST /v1/sign/cookie': {
      statuses: [400, 403, 409],
      ask: (_, own) => call('POST', '/v1/sign/cookie', own, { body: { folder: MARK, expiresIn: 60 } }),
    },
    'GET /v1/cookie/:token/:value': {
      statuses: [403],
      ask: (_, own) => {
        const token = owner.tokens.clientToken
        const until = Math.floor(Date.now() / 1000) + 60
        const value = signFolder(
          { token, folder: MARK, until },
          service.app.clients.urlKeys.make(other.id, 1),
        )
        return call('GET', `/v1/cookie/${token}/${value}`, own)
      },
    },
    'GET /v1/files': {
      statuses: [200, 403],
      ask: (_, own) => call('GET', `/v1/files?prefix=${MARK}`, own),
    },
    'GET /v1/folders': {
      statuses: [200, 403],
      ask: (_, own) => call('GET', `/v1/folders?prefix=${MARK}`, own),
    },
    'GET /v1/:group/foreign/:token/*path': {
      statuses: [404],
      ask: (_, own) => call('GET', `/v1/image/foreign/${own.tokens.clientToken}/${MARK}/a.png`, own),
    },
    'GET /v1/foreign': { statuses: [200, 403], ask: (_, own) => call('GET', '/v1/foreign', own) },
    'GET /v1/:group/alias/:token/*path': {
      statuses: [404],
      ask: (_, own) => call('GET', `/v1/image/alias/${own.tokens.clientToken}/${MARK}/a?w=20`, own),
    },
    'GET /v1/aliases': {
      statuses: [200, 403],
      ask: (_, own) => call('GET', `/v1/aliases?prefix=${MARK}`, own),
    },
    'GET /v1/aliases/*path': {
      statuses: [403, 404],
      ask: (_, own) => call('GET', `/v1/aliases/${MARK}/a`, own),
    },
    'PUT /v1/aliases/*path': {
      statuses: [403, 404],
      ask: (_, own) => call('PUT', `/v1/aliases/${MARK}/a`, own, { body: { file: key() } }),
    },
    'POST /v1/aliases/*path/rollback': {
      statuses: [403, 404],
      ask: (_, own) => call('POST', `/v1/aliases/${MARK}/a/rollback`, own),
    },
    'DELETE /v1/aliases/*path': {
      statuses: [403, 404],
      ask: (_, own) => call('DELETE', `/v1/aliases/${MARK}/a`, own),
    },
    'GET /v1/presets': { statuses: [200, 403], ask: (_, own) => call('GET', '/v1/presets', own) },
    'GET /v1/jobs': { statuses: [200, 403], ask: (_, own) => call('GET', '/v1/jobs', own) },
    'POST /v1/jobs/:id/retry': {
      statuses: [403, 404],
      ask: (_, own) => call('POST', `/v1/jobs/${jobId()}/retry`, own),
    },
    'DELETE /v1/jobs/:id': {
      statuses: [403, 404],
      ask: (_, own) => call('DELETE', `/v1/jobs/${jobId()}`, own),
    },
    'PUT /v1/presets/:name': {
      statuses: [200, 403],
      ask: (_, own) => call('PUT', '/v1/presets/card', own, { body: { group: 'image', parameters: 'w=20' } }),
    },
    'DELETE /v1/presets/:name': {
      statuses: [403, 404],
      ask: (_, own) => call('DELETE', '/v1/presets/of-the-owner', own),
    },
    'GET /v1/files/*path': {
      statuses: [403, 404],
      ask: (_, own) => call('GET', `/v1/files/${key()}`, own),
    },
    'PATCH /v1/files/*path': {
      statuses: [403, 404],
      ask: (_, own) => call('PATCH', `/v1/files/${key()}`, own, { body: { tags: ['mine'] } }),
    },
    'DELETE /v1/files/*path/derivatives': {
      statuses: [403, 404],
      ask: (_, own) => call('DELETE', `/v1/files/${key()}/derivatives`, own),
    },
    'POST /v1/files/delete': {
      statuses: [200, 403],
      ask: (_, own) => call('POST', '/v1/files/delete', own, { body: { paths: [key()] } }),
    },
    'POST /v1/files/restore': {
      statuses: [200, 403],
      ask: (_, own) => call('POST', '/v1/files/restore', own, { body: { paths: [key()] } }),
    },
    'POST /v1/files/copy': {
      statuses: [200, 403],
      ask: (_, own) => call('POST', '/v1/files/copy', own, { body: { files: [{ from: key(), to: MARK }] } }),
    },
    'POST /v1/files/move': {
      statuses: [200, 403],
      ask: (_, own) => call('POST', '/v1/files/move', own, { body: { files: [{ from: key(), to: MARK }] } }),
    },
    'GET /v1/usage': { statuses: [200, 403], ask: (_, own) => call('GET', '/v1/usage', own) },
    'POST /v1/webhooks/test': {
      statuses: [200, 403],
      ask: (_, own) => call('POST', '/v1/webhooks/test', own),
    },
    'GET /v1/webhooks/receivers': {
      statuses: [200, 403],
      ask: (_, own) => call('GET', '/v1/webhooks/receivers', own),
    },
    'GET /v1/webhooks/deliveries': {
      statuses: [200, 403],
      ask: (_, own) => call('GET', '/v1/webhooks/deliveries', own),
    },
    'GET /v1/webhooks/deliveries/:id': {
      statuses: [403, 404],
      ask: async (_, own) => call('GET', `/v1/webhooks/deliveries/${await deliveryOf(owner)}`, own),
    },
    'POST /v1/webhooks/deliveries/:id/replay': {
      statuses: [403, 404],
      ask: async (_, own) => call('POST', `/v1/webhooks/deliveries/${await deliveryOf(owner)}/replay`, own),
    },
    'POST /v1/webhooks/replay': {
      statuses: [202, 403],
      ask: (_, own) => call('POST', '/v1/webhooks/replay', own, { body: { since: '2020-01-01T00:00:00Z' } }),
    },
    // They name no file that there is: what comes of them is one's own.
    'POST /v1/upload': {
      statuses: [400, 403, 415],
      ask: (_, own) => call('POST', `/v1/upload?path=../${MARK}`, own, { body: 'x' }),
    },
    'POST /v1/upload/url': {
      statuses: [400, 403],
      ask: (_, own) =>
        call('POST', `/v1/upload/url?path=../${MARK}`, own, { body: { url: 'http://127.0.0.1:9/a' } }),
    },
    'PUT /v1/upload/:name': {
      statuses: [400, 403],
      ask: (_, own) => call('PUT', `/v1/upload/a?path=../${owner.id}`, own, { body: 'x' }),
    },
    'POST /v1/sign': {
      statuses: [400, 403],
      ask: (_, own) => call('POST', '/v1/sign', own, { body: { expiresIn: 60, folder: `../${owner.id}` } }),
    },
    'GET /v1/sign/*path': {
      statuses: [400, 403],
      ask: (_, own) => call('GET', `/v1/sign/..%2f${owner.id}?expirationIn=60`, own),
    },
    'PUT /v1/upload/sign/:id/:signature/*folder': {
      statuses: [403],
      ask: async (_, own) => {
        const signed = await call('POST', '/v1/sign', own, { body: { expiresIn: 60, folder: MARK } })
        if (signed.status !== 200) return signed
        const { url } = JSON.parse(String(signed.body))
        const { pathname, search } = new URL(url)
        return call('PUT', pathname.replace(`/${other.id}.`, `/${owner.id}.`) + search, own, { body: 'x' })
      },
    },
    'POST /v1/upload/sign/:id/:signature/*folder': {
      statuses: [403],
      ask: (_, own) =>
        call(
          'POST',
          `/v1/upload/sign/${'1'.repeat(22)}/${owner.id}.1...${'A'.repeat(43)}/_?expirationIn=60`,
          own,
        ),
    },
  }
  // By URLs: of the other's file, with one's own token.
  for (const route of ['fetch/keep/:token/:url', 'fetch/:token/*url'])
    walks[`GET /v1/:group/${route}`] = {
      statuses: [400, 403],
      ask: ({ src }, own) =>
        call(
          'GET',
          `/v1/image/${route.replace(':token', own.tokens.clientToken).replace(/[:*]url/, encodeURIComponent(src))}`,
          own,
        ),
    }
  // By URLs of other services: the name of the other's alias, with one's own token.
  for (const [service, url] of [
    ['cloudinary', 'image/upload/w_20/'],
    ['imgproxy', '_/w:20/plain/'],
    ['openinary', 't/w_20/'],
    ['default-uploader', 'v1/image/upload/theirs/'],
  ])
    walks[`GET /compat/${service}/:token/*path`] = {
      statuses: [404],
      ask: (_, own) => call('GET', `/compat/${service}/${own.tokens.clientToken}/${url}${MARK}/a`, own),
    }
  // These concern no file, or have a test below; those of the operator have their own tests, and require another token.
  const OF_NO_FILE =
    /^\w+ \/($|healthz|readyz|metrics|docs|dashboard|v1\/tus|v1\/upload\/direct|v1\/parameters|v1\/openapi\.json|v1\/sign-in|v1\/clients|v1\/session|v1\/members|v1\/system|v1\/audit)/

  it('are tested on every route', () => {
    const named = new Set(
      routes.flatMap(({ path, stack }) =>
        stack.flatMap(({ method }) => (method ? [`${method.toUpperCase()} ${path}`] : [])),
      ),
    )
    const left = [...named].filter(
      (name) =>
        !OF_NO_FILE.test(name) && !(name in walks) && !/^(PATCH|GET) .*:signature|^OPTIONS /.test(name),
    )
    expect(left).to.deep.equal([])
    expect(Object.keys(walks).filter((name) => !named.has(name))).to.deep.equal([])
  })

  for (const [name, { statuses, ask }] of Object.entries(walks)) {
    it(`grant no access to a file by ${name}`, async () => {
      for (const secret of secrets) {
        const own = { ...other, tokens: { ...other.tokens, secretClientToken: secret } }
        const { status, body } = await ask(file, own)
        expect(statuses, `${secrets.indexOf(secret)}: ${status} ${body.toString().slice(0, 200)}`).to.include(
          status,
        )
        const id = file.sourceName.slice(0, 22)
        // A problem, a report or a manifest may repeat the path that was asked for.
        if (status === 200 && !/zip|delete|restore|copy|move/.test(name))
          expect(body.includes(id), name).to.equal(false)
        expect(body.includes('IHDR'), name).to.equal(false)
      }
      const { src } = file
      const mine = await exchange(service, src)
      expect(onlyOwn).to.include(mine.status)
      const described = await call('GET', `/v1/files/${key()}`, owner)
      expect(JSON.parse(String(described.body)).tags ?? []).to.deep.equal([])
    })
  }

  it('grant no access to a resumable upload', async () => {
    const tus = { 'Tus-Resumable': '1.0.0' }
    const created = await call('POST', '/v1/tus', owner, { headers: { ...tus, 'Upload-Length': '10' } })
    expect(created.status).to.equal(201)
    const { pathname } = new URL(String(created.headers.location))
    const part = { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' }
    for (const [method, headers] of Object.entries({ HEAD: tus, GET: {}, PATCH: part, DELETE: tus }))
      for (const secret of [...secrets, owner.tokens.clientToken]) {
        const own = { ...other, tokens: { ...other.tokens, secretClientToken: secret } }
        const body = method === 'PATCH' ? { body: 'x' } : {}
        const { status } = await call(method, pathname, own, { headers, ...body })
        expect(status, `${method} ${secrets.indexOf(secret)}`).to.be.oneOf([401, 403, 404])
      }
    const known = await call('HEAD', pathname, owner, { headers: tus })
    expect([known.status, known.headers['upload-offset']]).to.deep.equal([200, '0'])
  })

  it('grant no access to secret endpoints when they are public, or to those of the operator', async () => {
    const asPublic = { ...owner, tokens: { ...owner.tokens, secretClientToken: owner.tokens.clientToken } }
    for (const [method, target] of [
      ['GET', '/v1/files'],
      ['GET', `/v1/files/${key()}`],
      ['GET', '/v1/usage'],
      ['GET', '/v1/aliases'],
      ['DELETE', `/v1/aliases/${MARK}/a`],
      ['GET', '/v1/clients'],
      ['GET', '/v1/system'],
      ['GET', '/v1/audit'],
      ['GET', '/v1/clients/usage'],
      ['GET', `/v1/clients/${owner.id}`],
      ['DELETE', `/v1/upload/${key()}`],
      ['POST', '/v1/sign'],
      ['POST', '/v1/sign/url'],
      ['POST', '/v1/zip'],
      ['GET', '/metrics'],
    ] as const)
      for (const secret of [
        asPublic.tokens.secretClientToken,
        ...(/^\/(v1\/(clients|system|audit)|metrics)/.test(target) ? secrets : []),
      ]) {
        const as = { ...owner, tokens: { ...owner.tokens, secretClientToken: secret } }
        expect((await call(method, target, as)).status, `${method} ${target}`).to.be.oneOf([401, 403])
      }
  })
})
