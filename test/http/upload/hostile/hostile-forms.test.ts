import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import type { WireRecord } from '../../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../../support/requests/exchange.ts'
import {
  BOUNDARY,
  MULTIPART,
  multipart,
  postForm,
  type RawPart,
} from '../../../support/requests/multipart.ts'
import type { Service } from '../../../support/service.ts'

const MIB = 1024 * 1024
const FILE = 'name="file"; filename="a.txt"'
const WHOLE = multipart([{ disposition: FILE, bytes: 'bytes' }])

onOneBackend('hostile forms', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { UPLOAD_MAX_BYTES: String(20 * MIB) } })
  })
  // What is refused leaves nothing; what is taken is deleted by its test.
  afterEach(async () => {
    await eventually(async () => expect(await service.objects()).to.deep.equal([]))
    expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  /** A body that repeats a text until the server stops reading. */
  async function postEndless(head: string, text: string): Promise<Answer> {
    const block = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)))
    const body = Readable.from(
      (async function* () {
        yield Buffer.from(head)
        for (;;) {
          yield block
          await turn()
        }
      })(),
    )
    const answer = await exchange(service, '/v1/upload', {
      method: 'POST',
      headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': MULTIPART },
      body,
    })
    body.destroy()
    await once(body, 'close')
    return answer
  }

  async function recordsOf(answer: Answer): Promise<WireRecord[]> {
    expect(answer.status).to.equal(200)
    const records = jsonOf(answer) as unknown as WireRecord[]
    for (const { s3PathOriginal } of records)
      await exchange(service, `/v1/upload/${s3PathOriginal}`, {
        method: 'DELETE',
        headers: { Authorization: service.tokens.secretClientToken },
      })
    return records
  }

  const head = (disposition: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`
  const endless: Record<string, [head: string, text: string, status: number]> = {
    'text before the first boundary': ['', 'no boundary\r\n', 413],
    'text behind the last boundary': [WHOLE.toString(), 'more ', 413],
    'a field': [head('name="comment"'), 'comment ', 413],
    'a field after a whole file': [`${head(FILE)}bytes\r\n${head('name="comment"')}`, 'comment ', 413],
    'a file': [head(FILE), 'bytes ', 413],
    'a header of a part': [`--${BOUNDARY}\r\nX: `, 'header ', 400],
    'headers of a part': [`--${BOUNDARY}\r\n`, 'X: y\r\n', 400],
    parts: ['', `${head('name="x"')}\r\n`, 400],
    files: ['', `${head(FILE)}x\r\n`, 400],
    'empty parts': ['', `--${BOUNDARY}\r\n\r\n\r\n`, 400],
  }
  for (const [what, [before, text, status]] of Object.entries(endless)) {
    it(`get ${status} when they never end: ${what}`, async () => {
      const answer = await postEndless(before, text)
      expect({ status: answer.status, type: answer.headers['content-type'] }).to.deep.equal({
        status,
        type: 'application/problem+json',
      })
    })
  }

  it('are not those with large files', async () => {
    const large = { disposition: FILE, bytes: Buffer.alloc(12 * MIB) }
    expect(await recordsOf(await postForm(service, [large, large]))).to.have.length(2)
  })

  it('are refused wherever they are truncated', async () => {
    // After the last dash but the line's end nothing is missing.
    for (let length = 0; length < WHOLE.length - 2; length += 1) {
      const answer = await postForm(service, WHOLE.subarray(0, length))
      expect(answer.status, `${length} bytes`).to.equal(400)
    }
  })

  const refused: Record<string, { body: Buffer; type?: string }> = {
    'a boundary of nothing': {
      body: Buffer.from('--\r\n\r\n\r\n----'),
      type: 'multipart/form-data; boundary=',
    },
    'a boundary of 10 KB': { body: WHOLE, type: `multipart/form-data; boundary=${'x'.repeat(10_000)}` },
    'two boundaries': { body: WHOLE, type: `multipart/form-data; boundary=x; boundary=${BOUNDARY}x` },
    'a boundary that continues': { body: Buffer.from(WHOLE.toString().replaceAll(BOUNDARY, `${BOUNDARY}x`)) },
    'a boundary in other letters': {
      body: Buffer.from(WHOLE.toString().replaceAll(BOUNDARY, 'The-Boundary')),
    },
    'bare line feeds': { body: Buffer.from(WHOLE.toString().replaceAll('\r\n', '\n')) },
    'a part without a disposition': {
      body: Buffer.from(`--${BOUNDARY}\r\n\r\nbytes\r\n--${BOUNDARY}--\r\n`),
    },
    'a part that is an attachment': {
      body: Buffer.from(WHOLE.toString().replace('form-data', 'attachment')),
    },
    'a name without quotes next to a file': {
      body: multipart([
        { disposition: FILE, bytes: 'a' },
        { disposition: 'name="file"; filename=my file.png', bytes: 'b' },
      ]),
    },
    'a name in unknown letters next to a file': {
      body: multipart([
        { disposition: "name=file; filename*=x-unknown''b.png", bytes: 'b' },
        { disposition: FILE, bytes: 'a' },
      ]),
    },
    'a part without a disposition next to a file': {
      body: Buffer.from(`--${BOUNDARY}\r\nX: y\r\n\r\nbytes\r\n${WHOLE}`),
    },
    'a line in a file that begins as the boundary does': {
      body: multipart([{ disposition: FILE, bytes: `bytes\r\n--${BOUNDARY}x\r\nbytes` }]),
    },
    'names that reach for prototypes': {
      body: multipart(
        ['__proto__', 'constructor', '__proto__[polluted]'].map((name) => ({
          disposition: `name="${name}"`,
        })),
      ),
    },
  }
  for (const [what, { body, type }] of Object.entries(refused)) {
    it(`get 400 with ${what}`, async () => {
      const answer = await postForm(service, body, { headers: type ? { 'Content-Type': type } : {} })
      expect({ status: answer.status, code: jsonOf(answer).code }).to.deep.equal({
        status: 400,
        code: 'bad_multipart',
      })
      expect(({} as Record<string, unknown>).polluted).to.equal(undefined)
    })
  }

  it('are not those with fields, text around the parts, and a quoted boundary', async () => {
    const text = (where: string) => Buffer.from(`${where} --${BOUNDARY} the form\r\n`)
    const body = [
      text('before'),
      multipart([
        { disposition: 'name="a"', bytes: 'b' },
        { disposition: FILE, bytes: '\r\n--the' },
      ]),
      text('behind'),
      WHOLE,
    ]
    const headers = { 'Content-Type': `multipart/form-data; charset=utf-8; BOUNDARY="${BOUNDARY}"` }
    expect(await recordsOf(await postForm(service, Buffer.concat(body), { headers }))).to.have.length(1)
  })

  it('are stored as bytes when a file is itself a form', async () => {
    const inner = WHOLE.toString().replaceAll(BOUNDARY, 'inner')
    const part: RawPart = { disposition: FILE, bytes: inner, type: 'multipart/mixed; boundary=inner' }
    const [record, ...others] = await recordsOf(await postForm(service, [part]))
    expect(record?.size).to.equal(inner.length)
    expect(others).to.deep.equal([])
  })

  it('cannot set a folder by the name of a file', async () => {
    for (const name of [
      '../../a.txt',
      '..\\\\..\\\\a.txt',
      '/etc/passwd',
      'C:\\\\a.txt',
      '\xc0\xae\xc0\xae/a.txt',
      '__proto__',
    ]) {
      const [record] = await recordsOf(
        await postForm(service, [{ disposition: `name="file"; filename="${name}"`, bytes: 'bytes' }]),
      )
      expect(record?.s3PathOriginal, name).to.match(/^(text|application)\/[a-z-]+\/[\w-]+\.[a-z]+$/)
    }
  })
})
