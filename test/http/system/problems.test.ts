import { STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import { expect } from 'chai'
import supertest from 'supertest'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'

onOneBackend('problem documents', (start) => {
  let failing: Error | undefined
  let service: Service
  let record: WireRecord
  before(async () => {
    service = await start({
      env: { ZIP_RATE_LIMIT: '1', UPLOAD_MAX_BYTES: '100000' },
      wrapStorage: wrapBuckets((bucket) => ({
        async find(key, known) {
          if (failing) throw failing
          return bucket.find(key, known)
        },
      })),
    })
    record = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })
  afterEach(() => {
    failing = undefined
  })

  const path = () => record.src.slice(service.url.length)
  const secret = () => service.tokens.secretClientToken
  const api = () => supertest(service.url)
  const cases: Array<[what: string, send: () => supertest.Test, status: number, code: string]> = [
    ['an address that does not exist', () => api().get('/nothing'), 404, 'route_not_found'],
    ['a file that does not exist', () => api().get(path().replace('.png', '.jpg')), 404, 'file_not_found'],
    ['an unknown client', () => api().get('/v1/image/upload/x/y.png'), 404, 'client_not_found'],
    ['a parameter out of range', () => api().get(`${path()}?w=0`), 400, 'bad_parameter'],
    ['an unknown parameter', () => api().get(`${path()}?x=0`), 400, 'unknown_parameter'],
    ['a bad path', () => api().get(`${path()}%00`), 400, 'bad_path'],
    ['a path that is not encoded well', () => api().get(`${path()}%zz`), 400, 'bad_request'],
    ['two names to save under', () => api().get(`${path()}?download=a&download=b`), 400, 'bad_parameter'],
    ['a missing secret', () => api().delete('/v1/upload/x.png'), 401, 'unauthorized'],
    ['a method that is not there', () => api().put('/v1/zip'), 405, 'method_not_allowed'],
    ['a failed condition', () => api().get(path()).set('If-Match', '"x"'), 412, 'precondition_failed'],
    [
      'too large a file',
      () =>
        api().post('/v1/upload').set('Authorization', secret()).attach('file', Buffer.alloc(100_001), 'a'),
      413,
      'too_large',
    ],
    [
      'another type of body',
      () => api().post('/v1/upload').set('Authorization', secret()).type('text').send('x'),
      415,
      'unsupported_media_type',
    ],
    [
      'a range past the end',
      () => api().get(path()).set('Range', 'bytes=9999999-'),
      416,
      'range_not_satisfiable',
    ],
    [
      'bad JSON',
      () =>
        api()
          .post('/v1/zip')
          .set('Authorization', secret())
          .set('Content-Type', 'application/json')
          .send('{'),
      400,
      'bad_json',
    ],
  ]
  for (const [what, send, status, code] of cases)
    it(`describe ${what}: ${status} ${code}`, () => expectProblem(send(), { status, code }))

  it('describe too many requests: 429 rate_limited', async () => {
    const { tokens } = await newClient(service)
    const send = () =>
      api()
        .post('/v1/zip')
        .set('Authorization', tokens.secretClientToken)
        .send({ files: [{ path: 'missing.png' }] })
    // Takes the one point of this client.
    await send().expect(200)
    await expectProblem(send(), { status: 429, code: 'rate_limited' })
  })

  async function expectProblem(sent: supertest.Test, { status, code }: { status: number; code: string }) {
    const { body, headers, text } = await sent
      .buffer(true)
      .expect(status)
      .expect('Content-Type', 'application/problem+json')
      .expect('Cache-Control', 'no-store')
      .expect('X-Content-Type-Options', 'nosniff')
    const problem = typeof body === 'object' && 'code' in body ? body : JSON.parse(text)
    const { detail, ...rest } = problem
    expect(rest).to.include({
      type: `urn:sluice:problem:${code}`,
      title: STATUS_CODES[status],
      status,
      code,
      instance: headers['x-request-id'],
    })
    expect(detail).to.be.a('string').with.length.above(10)
    expect(headers['content-length']).to.equal(String(Buffer.byteLength(text)))
    for (const name of ['etag', 'last-modified', 'accept-ranges', 'content-disposition'])
      expect(headers).not.to.have.property(name)
  }

  it('have their headers on HEAD as well, without a body', async () => {
    const { headers, text } = await api().head(path().replace('.png', '.jpg')).expect(404)
    expect(text ?? '').to.equal('')
    expect(headers['content-type']).to.equal('application/problem+json')
  })

  it('can be read by pages of other origins', async () => {
    for (const target of [path().replace('.png', '.jpg'), `${path()}?w=0`])
      await api().get(target).expect('Access-Control-Allow-Origin', '*')
  })

  it('hide internal errors, which the log has under the same ID', async () => {
    failing = new Error('EACCES: permission denied, open /srv/sluice/private/place')
    const { headers, text } = await api().get(path()).buffer(true).expect(500)
    const problem = JSON.parse(text)
    expect(problem).to.include({ status: 500, code: 'internal', instance: headers['x-request-id'] })
    expect(headers['content-type']).to.equal('application/problem+json')
    expect(headers['cache-control']).to.equal('no-store')
    expect(text).not.to.match(/EACCES|\/srv|\bat \w|\.ts|node:/)
    const line = service.log.lines.find(
      ({ level, fields }) => level === 'error' && fields.requestId === headers['x-request-id'],
    )
    expect(line?.fields.err).to.have.property('message', failing.message)
  })

  for (const code of ['EMFILE', 'ENFILE'])
    it(`ask for a retry when no more files can be opened: ${code}`, async () => {
      failing = Object.assign(new Error(`${code}: too many open files, open /srv/place`), { code })
      const { body, headers, text } = await api().get(path()).expect(503)
      expect(body).to.include({ code: 'unavailable', retryAfterSeconds: 5 })
      expect(headers).to.have.property('retry-after', '5')
      expect(text).not.to.include('/srv')
      const line = service.log.lines.find(({ fields }) => fields.requestId === headers['x-request-id'])
      expect(line).to.have.property('level', 'error')
    })

  it('are not logged as errors when the caller caused them', async () => {
    const before = service.log.lines.length
    await api().get(`${path()}?w=0`).expect(400)
    await api().get('/nothing').expect(404)
    const levels = service.log.lines.slice(before).map(({ level }) => level)
    expect(new Set(levels)).to.deep.equal(new Set(['info']))
  })

  it('have a unique ID each, in one line of the log', async () => {
    const ids = new Set<string>()
    for (let i = 0; i < 5; i += 1)
      ids.add((await api().get('/nothing?token=x')).headers['x-request-id'] ?? '')
    expect(ids.size).to.equal(5)
    for (const id of ids) {
      const lines = service.log.lines.filter(({ fields }) => fields.requestId === id)
      expect(lines).to.have.length(1)
      expect(lines[0]?.fields).to.include({ method: 'GET', path: '/nothing', status: 404, complete: true })
    }
  })

  it('have their code in the log line of the request, and only there', async () => {
    const refused = await api().get(`${path()}?w=0`).expect(400)
    const fine = await api().get(path()).expect(200)
    await eventually(() => {
      expect(linesOf(refused)).to.have.length(1)
      expect(linesOf(refused)[0]?.fields).to.include({ status: 400, code: 'bad_parameter' })
      expect(linesOf(fine)[0]?.fields).to.include({ status: 200 }).and.not.have.any.keys('code', 'aborted')
    })
  })

  it('log their cause at level info', async () => {
    const cut = (await picture({ format: 'jpeg', width: 800, height: 600 })).subarray(0, 200)
    const { src } = await uploadOne(service, { name: 'cut.jpg', bytes: cut })
    const refused = await api()
      .get(`${src.slice(service.url.length)}?w=10`)
      .expect(422)
    const line = linesOf(refused).find(({ message }) => message === 'a request was refused')
    expect(line).to.deep.include({ level: 'info' })
    expect(line?.fields).to.include({ status: 422, code: 'not_transformable' })
    expect(line?.fields.reason).to.be.a('string').that.matches(/jpeg/i).and.does.not.match(/\n/)
  })

  it('quote nothing of the request in the log, since it may contain a secret', async () => {
    const before = service.log.lines.length
    await api().get(`/v1/upload/${secret()}%zz`).expect(400)
    await api().delete(`/v1/upload/${secret()}%zz`).expect(400)
    await eventually(() => expect(service.log.lines).to.have.length(before + 2))
    expect(inspect(service.log.lines.slice(before), { depth: 9 })).not.to.include(secret())
  })

  function linesOf({ headers }: supertest.Response) {
    return service.log.lines.filter(({ fields }) => fields.requestId === headers['x-request-id'])
  }
})
