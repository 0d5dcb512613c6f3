import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { FileRef } from '../../../src/core/files/file-ref.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { postFiles, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf, openSocket, received, sendBytes } from '../../support/requests/exchange.ts'
import { BOUNDARY, MULTIPART, multipart, postForm, type RawPart } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { withClock } from '../../support/stored/clock.ts'
import { noise } from '../../support/stored/noise.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MAX_BYTES = 100_000
const FILE = 'name="file"; filename="a.txt"'

onOneBackend('refused uploads', (start) => {
  let service: Service
  const begun: FileRef[] = []
  const clock = { aheadMs: 0 }
  before(async () => {
    service = await start({
      env: { UPLOAD_MAX_BYTES: String(MAX_BYTES) },
      wrapStorage(storage) {
        const { buckets, index } = withClock(clock)(storage)
        return {
          buckets,
          index: {
            ...index,
            beginUpload(ref, leaseUntil) {
              begun.push(ref)
              return index.beginUpload(ref, leaseUntil)
            },
          },
        }
      },
    })
  })
  // Whatever is refused leaves neither bytes nor records, half done or not.
  afterEach(() => eventually(nothingIsLeft))

  async function nothingIsLeft() {
    expect(await service.objects()).to.deep.equal([])
    for (const ref of begun) expect(await service.storage.index.find(ref)).to.deep.equal({})
  }

  /** What broke off after its last byte could still land: its entry goes with a sweep after its lease. */
  async function sweepLater() {
    clock.aheadMs = 61_000
    await service.app.sweep()
    clock.aheadMs = 0
  }

  function authorized(headers: Record<string, string> = {}) {
    return { Authorization: service.tokens.secretClientToken, 'Content-Type': MULTIPART, ...headers }
  }

  describe('by what would be lost in silence', () => {
    for (const [name, field] of [
      ['tag', 'tags'],
      ['meta', 'metadata'],
      ['transform', 'transforms'],
    ] as const)
      it(`name the field that is meant by ${name}`, async () => {
        const parts = [
          { disposition: `name="${name}"`, bytes: 'x' },
          { disposition: FILE, bytes: 'one' },
        ]
        const answer = jsonOf(await postForm(service, parts))
        expect(answer).to.include({ status: 400, code: 'bad_parameter', param: name })
        expect(answer.detail).to.include(field)
      })

    it('name the encoding of a part that is not binary', async () => {
      const type = 'image/png\r\nContent-Transfer-Encoding: base64'
      const answer = jsonOf(await postForm(service, [{ disposition: FILE, bytes: 'iVBORw0KGgo=', type }]))
      expect(answer).to.include({ status: 415, code: 'unsupported_media_type' })
      expect(answer.detail).to.include('Content-Transfer-Encoding: base64')
    })
  })

  describe('by size', () => {
    it('accept a file of exactly UPLOAD_MAX_BYTES, and refuse one byte more', async () => {
      const exact = await uploadOne(service, { name: 'a.bin', bytes: noise(MAX_BYTES) })
      expect(exact.size).to.equal(MAX_BYTES)
      const { body } = await exchange(service, exact.src)
      expect(body.length).to.equal(MAX_BYTES)
      await exchange(service, `/v1/upload/${exact.s3PathOriginal}`, {
        method: 'DELETE',
        headers: authorized(),
      })

      const response = await postFiles(service, [{ name: 'a.bin', bytes: noise(MAX_BYTES + 1) }])
      const problem = (await response.json()) as Record<string, unknown>
      expect({
        status: response.status,
        code: problem.code,
        maxBytes: problem.maxBytes,
      }).to.deep.equal({ status: 413, code: 'too_large', maxBytes: MAX_BYTES })
    })

    it('apply the limit to each file separately', async () => {
      const files = [1, 2, 3].map((i) => ({ name: `${i}.bin`, bytes: noise(MAX_BYTES) }))
      const response = await postFiles(service, files)
      expect(response.status).to.equal(200)
      for (const { s3PathOriginal } of (await response.json()) as Array<{ s3PathOriginal: string }>)
        await exchange(service, `/v1/upload/${s3PathOriginal}`, { method: 'DELETE', headers: authorized() })
    })

    it('respond while the client is still sending, and do not wait for the rest', async () => {
      const endless = new Readable({ read() {} })
      endless.push(multipart([{ disposition: FILE, bytes: noise(2 * MAX_BYTES) }], { end: false }))
      const answer = await exchange(service, '/v1/upload', {
        method: 'POST',
        headers: authorized({ 'Transfer-Encoding': 'chunked' }),
        body: endless,
      })
      endless.destroy()
      expect(answer.status).to.equal(413)
      expect(answer.headers['content-type']).to.equal('application/problem+json')
    })

    itLong('reach a client that reads only after it has sent everything', async () => {
      const body = multipart([{ disposition: FILE, bytes: Buffer.alloc(30_000_000) }])
      const socket = await openSocket(service)
      socket.pause()
      socket.write(`${head(body.length)}\r\n`)
      await new Promise<void>((sent, reject) => {
        socket.once('error', reject)
        socket.write(body, (error) => (error ? reject(error) : sent()))
      })
      const answer = received(socket)
      socket.resume()
      expect(await answer).to.match(/^HTTP\/1\.1 413 /)
    })

    it('reach curl', async () => {
      const folder = await temporaryFolder()
      const file = join(folder, 'large.bin')
      await writeFile(file, Buffer.alloc(30_000_000))
      const { stdout } = await promisify(execFile)('curl', [
        ...['--silent', '--show-error', '--output', join(folder, 'answer'), '--write-out', '%{http_code}'],
        ...['-H', `Authorization: ${service.tokens.secretClientToken}`, '-F', `file=@${file}`],
        `${service.url}/v1/upload`,
      ])
      await rm(folder, { recursive: true })
      expect(stdout).to.equal('413')
    })

    it('store nothing of many files that are refused at their first bytes', async () => {
      const strict = await start({ env: { UPLOAD_MAX_BYTES: '10' } })
      const file = { name: 'a.bin', bytes: noise(11) }
      for (let round = 0; round < sized(2, 5); round += 1) {
        const responses = await Promise.all(Array.from({ length: 20 }, () => postFiles(strict, [file])))
        expect(new Set(responses.map(({ status }) => status))).to.deep.equal(new Set([413]))
      }
      // Permanently: a file that is still being opened would appear afterwards.
      await pause(100)
      expect(await strict.objects()).to.deep.equal([])
    })

    it('leave the connection usable for the next request', async () => {
      const body = multipart([{ disposition: FILE, bytes: Buffer.alloc(5_000_000) }])
      const socket = await openSocket(service)
      const answers = received(socket)
      socket.write(`${head(body.length)}\r\n`)
      socket.write(body)
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      expect((await answers).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 200'])
    })
  })

  describe('with one invalid file', () => {
    const second: Record<string, { parts: () => RawPart[]; end?: boolean; status: number }> = {
      'is too large': {
        parts: () => [{ disposition: FILE, bytes: noise(MAX_BYTES + 1) }],
        status: 413,
      },
      'breaks off': { parts: () => [{ disposition: FILE, bytes: 'brok' }], end: false, status: 400 },
      'was not chosen': { parts: () => [{ disposition: 'name="file"; filename=""' }], status: 400 },
      'has another name': { parts: () => [{ disposition: 'name="image"; filename="b.txt"' }], status: 400 },
      'is a text field named file': {
        parts: () => [{ disposition: 'name="file"', bytes: 'b' }],
        status: 400,
      },
      'is the 101st': {
        parts: () => Array.from({ length: 100 }, () => ({ disposition: FILE, bytes: 'x' })),
        status: 400,
      },
    }
    for (const [what, { parts, end = true, status }] of Object.entries(second)) {
      it(`store nothing of the first file when a later one ${what}`, async () => {
        const first = { disposition: 'name="file"; filename="first.png"', bytes: await picture() }
        const body = multipart([first, ...parts()], { end })
        const answer = await postForm(service, end ? body : body.subarray(0, -2))
        expect(answer.status).to.equal(status)
        expect(answer.headers['content-type']).to.equal('application/problem+json')
      })
    }
  })

  describe('with an invalid form', () => {
    const cases: Record<
      string,
      { body: () => Uint8Array; type?: string; status: number; code: string; param?: string }
    > = {
      'a form without a part': {
        body: () => multipart([]),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      'a form without a file': {
        body: () => multipart([{ disposition: 'name="comment"', bytes: 'hello' }]),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      'a file under another name': {
        body: () => multipart([{ disposition: 'name="files[]"; filename="a.txt"', bytes: 'x' }]),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      'a text field named file': {
        body: () => multipart([{ disposition: 'name="file"', bytes: 'x' }]),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      '101 files': {
        body: () => multipart(Array.from({ length: 101 }, () => ({ disposition: FILE, bytes: 'x' }))),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      'thousands of fields': {
        body: () => multipart(Array.from({ length: 5000 }, (_, i) => ({ disposition: `name="f${i}"` }))),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      'a body that ends in a file': {
        body: () => Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${FILE}\r\n\r\nhalf a fi`),
        status: 400,
        code: 'bad_multipart',
      },
      'a body that ends in a large file': {
        body: () => multipart([{ disposition: FILE, bytes: Buffer.alloc(90_000) }], { end: false }),
        status: 400,
        code: 'bad_multipart',
      },
      'a body that ends in the header of a part': {
        body: () => Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-da`),
        status: 400,
        code: 'bad_multipart',
      },
      'a body without its last boundary': {
        body: () => multipart([{ disposition: FILE, bytes: 'x' }], { end: false }),
        status: 400,
        code: 'bad_multipart',
      },
      'another boundary than the header names': {
        body: () => multipart([{ disposition: FILE, bytes: 'x' }]),
        type: 'multipart/form-data; boundary=another',
        status: 400,
        code: 'bad_multipart',
      },
      'no boundary in the header': {
        body: () => multipart([{ disposition: FILE, bytes: 'x' }]),
        type: 'multipart/form-data',
        status: 400,
        code: 'bad_multipart',
      },
      'no body': { body: () => Buffer.alloc(0), status: 400, code: 'bad_multipart', param: 'file' },
      'a file that was not chosen': {
        body: () =>
          multipart([{ disposition: 'name="file"; filename=""', type: 'application/octet-stream' }]),
        status: 400,
        code: 'bad_multipart',
        param: 'file',
      },
      'what is no form at all': {
        body: () => Buffer.from('hello'),
        status: 400,
        code: 'bad_multipart',
      },
      'a header of a part that never ends': {
        body: () => Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: ${'x'.repeat(90_000)}`),
        status: 400,
        code: 'bad_multipart',
      },
    }
    for (const [what, { body, type, status, code, param }] of Object.entries(cases)) {
      it(`respond ${status} to ${what}`, async () => {
        const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
        const answer = await postForm(service, body(), { headers })
        const problem = jsonOf(answer)
        expect({ status: answer.status, code: problem.code, param: problem.param }).to.deep.equal({
          status,
          code,
          param,
        })
      })
    }

    it('state what is missing in a form without a file', async () => {
      const head =
        `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
        `Content-Type: ${MULTIPART}\r\nConnection: close\r\n`
      const expected = 'expected at least one part named file but received no body'
      for (const rest of ['\r\n', 'Content-Length: 0\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'])
        expect(await sendBytes(service, head + rest)).to.include(expected)
      const none = [{ disposition: 'name="file"; filename=""', type: 'application/octet-stream' }]
      expect(jsonOf(await postForm(service, none)).detail).to.equal(
        'expected a file in the part file but received no file',
      )
    })

    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/mixed; boundary=x',
      'nonsense',
      undefined,
    ]) {
      it(`respond 415 to a body of type ${type}`, async () => {
        const answer = await exchange(service, '/v1/upload', {
          method: 'POST',
          headers: {
            Authorization: service.tokens.secretClientToken,
            ...(type ? { 'Content-Type': type } : {}),
          },
          body: '{}',
        })
        expect({
          status: answer.status,
          code: jsonOf(answer).code,
          accept: answer.headers['accept-post'],
        }).to.deep.equal({
          status: 415,
          code: 'unsupported_media_type',
          accept: 'multipart/form-data, application/json',
        })
      })
    }
  })

  describe('with a client that disconnects', () => {
    const form = multipart([
      { disposition: FILE, bytes: 'a first, whole file' },
      { disposition: FILE, bytes: noise(90_000) },
    ])
    const moments: Record<string, number> = {
      'before the body': 0,
      'in the header of a part': 40,
      'in the first bytes of a file, before its type is known': form.indexOf('a first') + 5,
      'between two files': form.indexOf('whole file') + 30,
      'in the middle of the second file': 50_000,
      'before the last boundary': form.length - 10,
    }
    for (const [moment, sent] of Object.entries(moments)) {
      it(`leave nothing ${moment}, and no pending work`, async () => {
        const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
        const before = timers()
        const earlier = service.log.lines.length
        for (let i = 0; i < 10; i += 1) {
          const socket = await openSocket(service)
          socket.on('error', () => {})
          socket.write(`${head(form.length)}\r\n`)
          socket.write(form.subarray(0, sent))
          await pause(20)
          socket.destroy()
        }
        await eventually(async () => {
          const lines = service.log.lines.slice(earlier).filter(({ message }) => message === 'request')
          expect(lines).to.have.length(10)
          await sweepLater()
          await nothingIsLeft()
          // Each upload renews its lease by a timer until it has ended; a few timers are the test's own.
          expect(timers()).to.be.below(before + 5)
        })
      })
    }
  })

  function head(length: number): string {
    return [
      'POST /v1/upload HTTP/1.1',
      'Host: sluice',
      `Authorization: ${service.tokens.secretClientToken}`,
      `Content-Type: ${MULTIPART}`,
      `Content-Length: ${length}`,
      '',
    ].join('\r\n')
  }
})
