import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { newClient, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf, openSocket, received } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('POST /v1/zip with an invalid request', (start) => {
  let service: Service
  let png: WireRecord
  before(async () => {
    service = await start({ env: { ZIP_RATE_LIMIT: '100000' } })
    png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })

  async function refusal(body: unknown): Promise<Record<string, unknown>> {
    const response = await postZip(service, body)
    const problem = (await response.json()) as Record<string, unknown>
    expect(response.headers.get('content-type')).to.equal('application/problem+json')
    expect(response.headers.get('cache-control')).to.equal('no-store')
    expect(response.headers.get('content-disposition')).to.equal(null)
    expect({ status: response.status, member: problem.status }).to.deep.equal({ status: 400, member: 400 })
    return problem
  }

  it('states what is wrong with a request without a body', async () => {
    const socket = await openSocket(service)
    const answer = received(socket)
    socket.write(
      `POST /v1/zip HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
        'Content-Type: application/json\r\nConnection: close\r\n\r\n',
    )
    expect(await answer)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.include('expected a JSON object as the body')
  })

  const hostile: Record<string, string> = {
    'a parent': '..',
    'a parent at the start': '../first/a.png',
    'a parent in the middle': 'a/../b.png',
    'a parent at the end': 'a/..',
    'an encoded parent': '%2e%2e/a.png',
    'a half encoded parent': '.%2E/a.png',
    'a parent behind an encoded slash': 'a%2f..%2fb.png',
    'a parent encoded twice': '%252e%252e/a.png',
    'an encoded slash, twice': 'a%252fb.png',
    'the folder itself': './a.png',
    'a backslash': 'a\\b.png',
    'an encoded backslash': 'a%5cb.png',
    'a parent with a backslash': '..\\a.png',
    'a query': 'a.png?w=100',
    'an encoded query': 'a.png%3fw=100',
    'a fragment': 'a.png#x',
    'an encoded fragment': 'a.png%23x',
    'an absolute path': '/etc/passwd',
    'an encoded slash at the start': '%2fetc/passwd',
    'two slashes at the start': '//host/a.png',
    'an empty segment': 'a//b.png',
    'a slash at the end': 'a/',
    NUL: 'a.png\0',
    'an encoded NUL': 'a.png%00',
    'a line break': 'a\r\nb.png',
    'an encoded line break': 'a%0d%0ab.png',
    'a scheme': 'http://example.com/a.png',
    'the scheme of a file': 'file:///etc/passwd',
    'a scheme in capitals': 'FILE:a.png',
    'a drive letter': 'C:/a.png',
    'broken percent-encoding': '%zz.png',
    'an overlong dot': '%c0%ae%c0%ae/a.png',
    'half a surrogate pair': '\ud800.png',
    nothing: '',
    '513 bytes': `${'x'.repeat(509)}.png`,
  }
  for (const [what, path] of Object.entries(hostile)) {
    it(`responds 400 to ${what} as a path, and names the entry`, async () => {
      const problem = await refusal({
        files: [{ path: png.sourceName }, { path: png.sourceName }, { path, name: 'a.png' }],
      })
      expect(problem).to.include({ code: 'bad_path', param: 'files[2].path' })
      expect(problem.detail).to.include('files[2].path')
    })
  }

  const leaving: Record<string, string> = {
    'a parent': '../a.png',
    'a parent alone': '..',
    'a parent in the middle': 'a/../../b.png',
    'a parent with a backslash': '..\\a.png',
    'a backslash': 'a\\b.png',
    'a slash at the start': '/a.png',
    'an empty segment': 'a//b.png',
    'a slash at the end': 'a/',
    'the folder itself': './a.png',
    nothing: '',
    'half a surrogate pair': '\udfff.png',
    '1025 bytes': 'x'.repeat(1025),
  }
  for (const [what, name] of Object.entries(leaving)) {
    it(`responds 400 to ${what} in a name, and names the entry`, async () => {
      const problem = await refusal({ files: [{ path: png.sourceName }, { path: png.sourceName, name }] })
      expect(problem).to.include({ code: 'bad_path', param: 'files[1].name' })
    })
  }

  const bodies: Array<[what: string, body: unknown, param: string]> = [
    ['no files', { files: [] }, 'files'],
    [
      '101 files',
      { files: Array.from({ length: 101 }, () => ({ path: '1111111111111111111111.png' })) },
      'files',
    ],
    ['files that are no array', { files: { path: 'a.png' } }, 'files'],
    ['files that are a text', { files: 'a.png' }, 'files'],
    ['files that are null', { files: null }, 'files'],
    ['an empty object', {}, 'files'],
    ['an array', [], 'the body'],
    ['an item that is a text', { files: ['a.png'] }, 'files[0]'],
    ['an item that is null', { files: [null] }, 'files[0]'],
    ['an item without a path', { files: [{ path: 'a.png' }, { name: 'b.png' }] }, 'files[1].path'],
    ['a path that is a number', { files: [{ path: 1 }] }, 'files[0].path'],
    ['a path that is an array', { files: [{ path: ['..'] }] }, 'files[0].path'],
    ['a name that is a number', { files: [{ path: 'a.png', name: 1 }] }, 'files[0].name'],
    ['a name that is null', { files: [{ path: 'a.png', name: null }] }, 'files[0].name'],
    ['an unknown type', { files: [{ path: 'a.png', type: 'font' }] }, 'files[0].type'],
    ['a type of another case', { files: [{ path: 'a.png', type: 'Image' }] }, 'files[0].type'],
    ['a type of every object', { files: [{ path: 'a.png', type: 'constructor' }] }, 'files[0].type'],
    ['params that are a text', { files: [{ path: 'a.png', params: 'w=1' }] }, 'files[0].params'],
    ['params that are an array', { files: [{ path: 'a.png', params: ['w=1'] }] }, 'files[0].params'],
    ['a parameter that is an object', { files: [{ path: 'a.png', params: { w: {} } }] }, 'files[0].params.w'],
    ['a parameter that is null', { files: [{ path: 'a.png', params: { w: null } }] }, 'files[0].params.w'],
    ['a parameter that is an array', { files: [{ path: 'a.png', params: { w: [1] } }] }, 'files[0].params.w'],
    ['an unknown member', { files: [{ path: 'a.png' }], archivename: 'a.zip' }, 'the body'],
    ['an unknown member of an item', { files: [{ path: 'a.png', size: 1 }] }, 'files[0]'],
    ['an archive name that is empty', { files: [{ path: 'a.png' }], archiveName: '' }, 'archiveName'],
    [
      'an archive name with a line break',
      { files: [{ path: 'a.png' }], archiveName: 'a\r\nX-Injected: 1.zip' },
      'archiveName',
    ],
    ['an archive name with NUL', { files: [{ path: 'a.png' }], archiveName: 'a\0.zip' }, 'archiveName'],
    ['an archive name with a folder', { files: [{ path: 'a.png' }], archiveName: 'a/b.zip' }, 'archiveName'],
    [
      'an archive name with a backslash',
      { files: [{ path: 'a.png' }], archiveName: 'a\\b.zip' },
      'archiveName',
    ],
    ['an archive name that is a number', { files: [{ path: 'a.png' }], archiveName: 1 }, 'archiveName'],
    ['an archive name that is only spaces', { files: [{ path: 'a.png' }], archiveName: '  ' }, 'archiveName'],
    [
      'an archive name that reads from right to left',
      { files: [{ path: 'a.png' }], archiveName: 'photos\u202epiz.zip' },
      'archiveName',
    ],
    [
      'an archive name of 256 bytes with its ending',
      { files: [{ path: 'a.png' }], archiveName: 'é'.repeat(126) },
      'archiveName',
    ],
    [
      'half a surrogate pair as the archive name',
      { files: [{ path: 'a.png' }], archiveName: '\ud800.zip' },
      'archiveName',
    ],
  ]
  for (const [what, body, param] of bodies) {
    it(`responds 400 to ${what}`, async () => {
      const problem = await refusal(body)
      expect(problem).to.include({ code: 'bad_parameter', param })
      expect(problem.detail).to.be.a('string').and.include('expected')
    })
  }

  it('responds 400 to a number out of range, with the received value', async () => {
    const problem = await refusal('{"files":[{"path":"a.png","params":{"w":1e309}}]}')
    expect(problem).to.include({ code: 'bad_parameter', param: 'files[0].params.w', received: 'Infinity' })
    expect(problem.detail).to.match(/ but received "Infinity"$/)
  })

  for (const [what, body] of Object.entries({
    'what is no JSON': '{"files": [',
    nothing: '',
    'a text': '"files"',
    null: 'null',
    'a number': '1',
    'JSON with a comma too many': '{"files": [],}',
  })) {
    it(`responds 400 to ${what} as the body`, async () => {
      const problem = await refusal(body)
      expect(problem.code).to.be.oneOf(['bad_json', 'bad_parameter'])
      expect(JSON.stringify(problem)).not.to.match(/Unexpected|position|SyntaxError/)
    })
  }

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    undefined,
  ]) {
    it(`responds 415 to a body of type ${type}`, async () => {
      const answer = await exchange(service, '/v1/zip', {
        method: 'POST',
        headers: {
          Authorization: service.tokens.secretClientToken,
          ...(type ? { 'Content-Type': type } : {}),
        },
        body: JSON.stringify({ files: [{ path: png.sourceName }] }),
      })
      expect({
        status: answer.status,
        code: jsonOf(answer).code,
        accept: answer.headers['accept-post'],
      }).to.deep.equal({ status: 415, code: 'unsupported_media_type', accept: 'application/json' })
    })
  }

  for (const mark of ['', '\ufeff']) {
    it(`accepts JSON with a charset, ${mark ? 'after' : 'without'} a byte order mark`, async () => {
      const answer = await exchange(service, '/v1/zip', {
        method: 'POST',
        headers: {
          Authorization: service.tokens.secretClientToken,
          'Content-Type': 'application/json; charset=utf-8',
        },
        body: mark + JSON.stringify({ files: [{ path: png.sourceName }] }),
      })
      expect(answer.status).to.equal(200)
    })
  }

  it('responds 415 to a compressed body, and 400 to one that is not UTF-8', async () => {
    const body = Buffer.from(JSON.stringify({ files: [{ path: png.sourceName, name: 'ü' }] }), 'latin1')
    const send = (headers: Record<string, string>, body: Buffer) =>
      exchange(service, '/v1/zip', {
        method: 'POST',
        headers: {
          Authorization: service.tokens.secretClientToken,
          'Content-Type': 'application/json',
          ...headers,
        },
        body,
      })
    const compressed = await send({ 'Content-Encoding': 'gzip' }, gzipSync(body))
    expect({ status: compressed.status, detail: jsonOf(compressed).detail }).to.deep.equal({
      status: 415,
      detail: 'expected application/json but received "application/json in gzip"',
    })
    const latin = await send({}, body)
    expect({ status: latin.status, code: jsonOf(latin).code }).to.deep.equal({
      status: 400,
      code: 'bad_json',
    })
  })

  for (const announced of [true, false]) {
    const how = announced ? 'whose length is announced' : 'that comes in chunks'
    it(`responds 413 to a body of more than a megabyte ${how} before its end`, async () => {
      const socket = await openSocket(service)
      socket.write(
        `POST /v1/zip HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
          'Content-Type: application/json\r\n' +
          (announced ? 'Content-Length: 3000000\r\n\r\n' : 'Transfer-Encoding: chunked\r\n\r\n'),
      )
      if (!announced) socket.write(`${(2_000_000).toString(16)}\r\n${' '.repeat(1_500_000)}`)
      const [answer] = await once(socket, 'data')
      socket.destroy()
      expect(String(answer)).to.match(/^HTTP\/1\.1 413 /)
    })

    it(`responds 413 to a body of more than a megabyte ${how}, and serves the next request`, async () => {
      const body = JSON.stringify({ files: [{ path: 'x'.repeat(3_000_000) }] })
      const socket = await openSocket(service)
      const answer = received(socket)
      socket.write(
        `POST /v1/zip HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
          `Content-Type: application/json\r\n` +
          (announced ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked') +
          '\r\n\r\n',
      )
      const chunk = (text: string) => (announced ? text : `${text.length.toString(16)}\r\n${text}\r\n`)
      socket.write(chunk(body.slice(0, 1_500_000)))
      await pause(100)
      socket.write(chunk(body.slice(1_500_000)))
      if (!announced) socket.write('0\r\n\r\n')
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      expect((await answer).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200'])
    })
  }

  it('responds 405 with Allow to other methods', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await exchange(service, '/v1/zip', { method })
      expect({ status, allow: headers.allow }, method).to.deep.equal({ status: 405, allow: 'POST' })
    }
  })
})

onOneBackend('the rate limit of archives', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { ZIP_RATE_WINDOW_SECONDS: '600' } })
  })

  it('responds 429 to the eleventh request of this client only, with the time until the window ends', async () => {
    const other = await newClient(service)
    const body = { files: [{ path: 'missing.png' }] }
    // Requests without a secret take no points, and get the same response however often they are sent.
    for (let i = 0; i < 12; i += 1)
      expect((await postZip(service, body, { secret: 'wrong' })).status).to.equal(401)
    const { secretClientToken: secret } = service.tokens
    for (let i = 1; i <= 10; i += 1) {
      const response = await postZip(service, body, { secret: i % 2 ? secret : `Bearer ${secret}` })
      expect(response.status).to.equal(200)
      expect(response.headers.get('ratelimit-policy')).to.equal('"zip";q=10;w=600')
      expect(response.headers.get('ratelimit')).to.match(new RegExp(`^"zip";r=${10 - i};t=[1-9]\\d*$`))
      await response.arrayBuffer()
    }
    const refused = await postZip(service, body)
    expect(refused.status).to.equal(429)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).to.be.within(1, 600)
    expect(refused.headers.get('ratelimit-policy')).to.equal('"zip";q=10;w=600')
    expect(refused.headers.get('ratelimit')).to.equal(`"zip";r=0;t=${seconds}`)
    expect(refused.headers.get('cache-control')).to.equal('no-store')
    expect(await refused.json()).to.include({ code: 'rate_limited', retryAfterSeconds: seconds })

    expect((await postZip(other, body)).status).to.equal(200)
  })

  it('does not count requests that are refused for another reason', async () => {
    const client = await newClient(service)
    const answers = async (times: number, body: unknown) => {
      const statuses = new Set<number>()
      for (let i = 0; i < times; i += 1) statuses.add((await postZip(client, body)).status)
      return [...statuses]
    }
    expect(await answers(11, '{')).to.deep.equal([400])
    expect(await answers(11, { files: [] })).to.deep.equal([400])
    expect(await answers(11, { files: [{ path: 'x'.repeat(1_100_000) }] })).to.deep.equal([413])
    const headers = { Authorization: client.tokens.secretClientToken, 'Content-Type': 'text/plain' }
    for (let i = 0; i < 11; i += 1)
      expect((await exchange(service, '/v1/zip', { method: 'POST', headers, body: '{}' })).status).to.equal(
        415,
      )
    const response = await postZip(client, { files: [{ path: 'missing.png' }] })
    expect(response.headers.get('ratelimit')).to.match(/^"zip";r=9;/)
  })

  it('is 10 in 60 seconds by default', async () => {
    const usual = await start()
    const response = await postZip(usual, { files: [{ path: 'missing.png' }] })
    expect(response.headers.get('ratelimit-policy')).to.equal('"zip";q=10;w=60')
    for (let i = 2; i <= 10; i += 1)
      expect((await postZip(usual, { files: [{ path: 'missing.png' }] })).status).to.equal(200)
    const eleventh = await postZip(usual, { files: [{ path: 'missing.png' }] })
    expect(eleventh.status).to.equal(429)
    expect(Number(eleventh.headers.get('retry-after'))).to.be.within(50, 60)
  })
})
