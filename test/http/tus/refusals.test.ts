import { Readable } from 'node:stream'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, jsonOf, openSocket, received } from '../../support/requests/exchange.ts'
import { begin, metadata, OFFSET_STREAM, offsetAt, patch, TUS, tus } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

const MAX = 1000

onOneBackend('refused resumable uploads', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { UPLOAD_MAX_BYTES: String(MAX), UPLOAD_MIN_BYTES_PER_SECOND: '1000' } })
  })

  function expectProblem(what: string, answer: Answer, { status, code }: { status: number; code: string }) {
    expect(answer.status, what).to.equal(status)
    expect(answer.headers['content-type'], what).to.equal('application/problem+json')
    expect(answer.headers['cache-control'], what).to.equal('no-store')
    expect(answer.headers['access-control-allow-origin'], what).to.equal('*')
    expect(jsonOf(answer), what).to.include({ status, code, instance: answer.headers['x-request-id'] })
  }

  it('state why the upload cannot be created, and store nothing', async () => {
    const before = await service.objects()
    const cases: Array<
      [what: string, headers: Record<string, string | number>, status: number, code: string]
    > = [
      ['no version', { 'Tus-Resumable': '', 'Upload-Length': 5 }, 412, 'tus_version'],
      ['another version', { 'Tus-Resumable': '0.2.2', 'Upload-Length': 5 }, 412, 'tus_version'],
      [
        'a wrong secret',
        { Authorization: 'sec_nobody_has_this_one', 'Upload-Length': 5 },
        401,
        'unauthorized',
      ],
      ['no length', {}, 400, 'bad_request'],
      ['an invalid length', { 'Upload-Length': 'many' }, 400, 'bad_request'],
      ['a negative length', { 'Upload-Length': '-5' }, 400, 'bad_request'],
      ['a broken length', { 'Upload-Length': '1e2' }, 400, 'bad_request'],
      ['two lengths', { 'Upload-Length': 5, 'Upload-Defer-Length': '1' }, 400, 'bad_request'],
      ['an invalid deferral', { 'Upload-Defer-Length': '2' }, 400, 'bad_request'],
      ['too much', { 'Upload-Length': MAX + 1 }, 413, 'too_large'],
      ['far too much', { 'Upload-Length': '9007199254740991' }, 413, 'too_large'],
      ['broken metadata', { 'Upload-Length': 5, 'Upload-Metadata': 'filename ä' }, 400, 'bad_request'],
      ['a name twice', { 'Upload-Length': 5, 'Upload-Metadata': 'a eA==,a eA==' }, 400, 'bad_request'],
      ['a folder above', { 'Upload-Length': 5, ...metadata({ folder: '../x' }) }, 400, 'bad_path'],
      ['an encoded one', { 'Upload-Length': 5, ...metadata({ path: 'a/%2e%2e' }) }, 400, 'bad_path'],
      ["the service's own", { 'Upload-Length': 5, ...metadata({ folder: '.sluice/tus' }) }, 400, 'bad_path'],
      ['two folders', { 'Upload-Length': 5, ...metadata({ folder: 'a', path: 'b' }) }, 400, 'bad_parameter'],
      ['no part of one', { 'Upload-Length': 5, 'Upload-Concat': 'half' }, 400, 'bad_parameter'],
      ['a part without a length', { 'Upload-Concat': 'partial' }, 400, 'bad_request'],
      ['an unknown sum', { 'Upload-Length': 5, 'Upload-Checksum': 'crc9 AAAA' }, 400, 'bad_parameter'],
      ['an invalid checksum', { 'Upload-Length': 5, 'Upload-Checksum': 'sha1 ?' }, 400, 'bad_parameter'],
    ]
    for (const [what, headers, status, code] of cases) {
      const answer = await tus(service, '/v1/tus', { method: 'POST', headers })
      expectProblem(what, answer, { status, code })
      if (status === 412) expect(answer.headers['tus-version'], what).to.equal('1.0.0')
      if (status === 401) expect(answer.headers['www-authenticate'], what).to.match(/^Bearer/)
    }
    expect(await service.objects()).to.deep.equal(before)
  })

  it('state why bytes are refused, and keep the stored bytes', async () => {
    const body = Buffer.from('hello')
    const address = await begin(service, 10)
    expect((await patch(service, address, { offset: 0, body })).status).to.equal(204)
    const cases: Array<[what: string, headers: Record<string, string>, status: number, code: string]> = [
      ['from the start again', { 'Upload-Offset': '0' }, 409, 'offset_conflict'],
      ['with a gap', { 'Upload-Offset': '6' }, 409, 'offset_conflict'],
      ['a negative offset', { 'Upload-Offset': '-5' }, 400, 'bad_request'],
      ['an invalid offset', { 'Upload-Offset': '5x' }, 400, 'bad_request'],
      ['another type', { 'Content-Type': 'application/octet-stream' }, 415, 'unsupported_media_type'],
      ['another length', { 'Upload-Length': '20' }, 400, 'bad_request'],
      ['no version', { 'Tus-Resumable': '' }, 412, 'tus_version'],
      ['a wrong secret', { Authorization: 'sec_nobody_has_this_one' }, 401, 'unauthorized'],
      ['a wrong sum', { 'Upload-Checksum': 'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=' }, 460, 'checksum_mismatch'],
    ]
    for (const [what, headers, status, code] of cases)
      expectProblem(what, await patch(service, address, { offset: 5, body, headers }), { status, code })
    const long = await patch(service, address, { offset: 5, body: Buffer.from('longer than it is') })
    expectProblem('more than there is to be', long, { status: 413, code: 'too_large' })
    expect(jsonOf(long)).to.include({ maxBytes: 10 })
    const none = await tus(service, address, { method: 'PATCH', headers: OFFSET_STREAM, body })
    expectProblem('no offset', none, { status: 400, code: 'bad_parameter' })
    expect(await offsetAt(service, address)).to.equal(5)
    const inChunks = Readable.from([Buffer.from('wor'), Buffer.from('ld and more')])
    const endless = await patch(service, address, { offset: 5, body: inChunks })
    expectProblem('more, in chunks', endless, { status: 413, code: 'too_large' })
    expect(await offsetAt(service, address)).to.be.oneOf([5, 8])
  })

  it('accept no more than UPLOAD_MAX_BYTES when the length is unknown', async () => {
    const deferred = { method: 'POST', headers: { 'Upload-Defer-Length': '1' } }
    const address = String((await tus(service, '/v1/tus', deferred)).headers.location)
    expect((await patch(service, address, { offset: 0, body: Buffer.alloc(MAX) })).status).to.equal(204)
    const more = await patch(service, address, { offset: MAX, body: Buffer.alloc(1) })
    expectProblem('a byte more', more, { status: 413, code: 'too_large' })
    const said = { 'Upload-Length': String(MAX + 1) }
    const late = await patch(service, address, { offset: MAX, body: Buffer.alloc(0), headers: said })
    expectProblem('said late', late, { status: 413, code: 'too_large' })
    expect(await offsetAt(service, address)).to.equal(MAX)
  })

  it('respond 404 to an invalid ID', async () => {
    const ids = [
      '1111111111111111111111',
      'x',
      `${'1'.repeat(22)}.json`,
      '%2e%2e',
      '..%2f..%2fclients',
      `${'a'.repeat(3000)}`,
    ]
    for (const id of ids)
      for (const method of ['HEAD', 'GET', 'PATCH', 'DELETE']) {
        const headers = method === 'PATCH' ? { ...OFFSET_STREAM, 'Upload-Offset': 0 } : {}
        const answer = await tus(service, `/v1/tus/${id}`, { method, headers })
        expect(answer.status, `${method} ${id}`).to.be.oneOf([400, 404])
      }
    for (const path of ['/v1/tus/a/b', '/v1/tus/../bucket', '/v1/TUS'])
      expect((await tus(service, path, { method: 'HEAD' })).status, path).to.be.oneOf([400, 404])
  })

  it('list the allowed methods', async () => {
    for (const [method, path, allow] of [
      ['GET', '/v1/tus', 'POST, OPTIONS'],
      ['PUT', '/v1/tus/', 'POST, OPTIONS'],
      ['POST', '/v1/tus/1111111111111111111111', 'HEAD, GET, PATCH, DELETE, OPTIONS'],
      ['PUT', '/v1/tus/1111111111111111111111', 'HEAD, GET, PATCH, DELETE, OPTIONS'],
    ] as const) {
      const answer = await tus(service, path, { method })
      expectProblem(`${method} ${path}`, answer, { status: 405, code: 'method_not_allowed' })
      expect(answer.headers.allow).to.equal(allow)
    }
  })

  it('refuse secrets that may not upload, or not to this folder', async () => {
    const { url, app } = service
    const secret = async (scope: object) => {
      const { secret: secretClientToken } = await app.clients.addSecret('first', { scope })
      return { url, tokens: { ...service.tokens, secretClientToken } }
    }
    const reader = await secret({ only: 'read' })
    const sent = { method: 'POST', headers: { 'Upload-Length': 5 } }
    expectProblem('to read', await tus(reader, '/v1/tus', sent), { status: 403, code: 'out_of_scope' })
    const shop = await secret({ folder: 'shop' })
    const elsewhere = { method: 'POST', headers: { 'Upload-Length': 5, ...metadata({ folder: 'other' }) } }
    expectProblem('elsewhere', await tus(shop, '/v1/tus', elsewhere), { status: 403, code: 'out_of_scope' })
    expect((await tus(shop, await begin(service, 5), { method: 'HEAD' })).status).to.equal(404)
    const own = await begin(shop, 5)
    const { headers } = await patch(shop, own, { offset: 0, body: Buffer.from('hello') })
    expect(String(headers['upload-record'])).to.include('"s3PathOriginal":"shop/text/txt/')
  })

  it('respond 408 to a slow body, and keep the received bytes', async () => {
    const address = await begin(service, 900)
    const socket = await openSocket(service)
    const { pathname } = new URL(address)
    const headers = { ...TUS, ...OFFSET_STREAM, Authorization: service.tokens.secretClientToken }
    const lines = Object.entries({ ...headers, Host: 'a', 'Upload-Offset': 0, 'Content-Length': 900 })
    socket.write(
      `PATCH ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    socket.write(Buffer.alloc(100))
    expect(await received(socket)).to.match(
      /^HTTP\/1.1 408 .*the received bytes are stored.*"code":"slow_body"/s,
    )
    expect(await offsetAt(service, address)).to.equal(100)
  })

  it('respond 100 Continue when it is expected, and accept pipelined requests', async () => {
    const address = await begin(service, 10)
    const { pathname } = new URL(address)
    const socket = await openSocket(service)
    const head = (offset: number, more = '') =>
      `PATCH ${pathname} HTTP/1.1\r\nHost: a\r\nTus-Resumable: 1.0.0\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
      `Content-Type: application/offset+octet-stream\r\nUpload-Offset: ${offset}\r\nContent-Length: 5\r\n${more}\r\n`
    let text = ''
    socket.setEncoding('latin1').on('data', (part) => {
      text += part
    })
    socket.write(head(0, 'Expect: 100-continue\r\n'))
    await eventually(() => expect(text).to.include('100 Continue'))
    socket.write(`hello${head(5, 'Connection: close\r\n')}world`)
    await new Promise((done) => socket.once('close', done))
    expect(text).to.match(
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 204 .*Upload-Offset: 5.*HTTP\/1.1 204 .*Upload-Offset: 10/is,
    )
  })
})
