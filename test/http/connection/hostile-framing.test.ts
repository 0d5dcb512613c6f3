import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, sendBytes } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

const FORM = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nbytes\r\n--b--\r\n'
// What a sender that has misled the program in front would have slipped in.
const SMUGGLED = 'DELETE /v1/upload/smuggled HTTP/1.1\r\nHost: x\r\n\r\n'

/** Header lines of an upload of {@link FORM}, and its body, that say more than one thing about its length, or nothing. */
const FRAMINGS: Record<string, string> = {
  'both Content-Length and Transfer-Encoding': `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'both, the other way round': `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'two lengths': `Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef${SMUGGLED}`,
  'the same length twice': `Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde${SMUGGLED}`,
  'a list of lengths': `Content-Length: 5, 5\r\n\r\nabcde${SMUGGLED}`,
  'a length below zero': `Content-Length: -1\r\n\r\n${SMUGGLED}`,
  'a length with a sign': `Content-Length: +5\r\n\r\nabcde${SMUGGLED}`,
  'a length in hexadecimal': `Content-Length: 0x5\r\n\r\nabcde${SMUGGLED}`,
  'a length that is no number': `Content-Length: NaN\r\n\r\n${SMUGGLED}`,
  'a length past 64 bits': `Content-Length: 99999999999999999999\r\n\r\n${SMUGGLED}`,
  'a coding that is unknown': `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'another coding after chunked': `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'two codings': `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a coding after a vertical tab': `Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a space before the colon': `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a folded line': `Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  'a chunk past 64 bits': `Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx${SMUGGLED}`,
  'a chunk below zero': `Transfer-Encoding: chunked\r\n\r\n-1\r\nx${SMUGGLED}`,
  'a chunk that is longer than its size': `Transfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n${SMUGGLED}`,
  'an extension of 30 KB on a chunk': `Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(30_000)}\r\nx\r\n0\r\n\r\n${SMUGGLED}`,
  'bare line feeds': `Content-Length: 0\n\n${SMUGGLED}`,
}

onOneBackend('requests with ambiguous framing', (start) => {
  let service: Service
  let png: WireRecord
  before(async () => {
    service = await start()
    png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })
  // Whatever came, nothing was kept, and the service answers.
  afterEach(async () => {
    expect((await exchange(service, png.src)).status).to.equal(200)
    await eventually(async () => {
      const files = (await service.objects()).filter((name) => !name.includes('.sluice/'))
      expect(files).to.deep.equal([`first/${png.s3PathOriginal}`])
    })
    expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  const target = () => new URL(png.src).pathname
  const upload = () =>
    `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
    'Content-Type: multipart/form-data; boundary=b\r\n'

  /** The statuses of all that is answered, and the last answer's body. */
  async function ask(bytes: string): Promise<{ statuses: number[]; body: string }> {
    const answer = await sendBytes(service, Buffer.from(bytes, 'latin1'))
    return {
      statuses: [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status)),
      body: answer.split('\r\n\r\n').at(-1) ?? '',
    }
  }

  async function expectProblem(bytes: string, status: number): Promise<void> {
    const { statuses, body } = await ask(bytes)
    expect(statuses).to.deep.equal([status])
    expect(JSON.parse(body)).to.include({ status })
  }

  for (const [what, framing] of Object.entries(FRAMINGS)) {
    it(`get 400, once, and the connection is closed: ${what}`, async () => {
      await expectProblem(upload() + framing, 400)
    })
  }

  it('ignore their trailers', async () => {
    const trailers = 'Authorization: another\r\nContent-Length: 5\r\nTransfer-Encoding: identity\r\n'
    const chunked = `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${FORM.length.toString(16)}\r\n`
    await expectProblem(`${upload()}${chunked}${FORM}\r\n0\r\n${trailers}\r\n`, 400)
  })

  const lines: Record<string, () => string> = {
    'no Host': () => `GET ${target()} HTTP/1.1\r\nConnection: close\r\n\r\n`,
    'two Hosts': () => `GET ${target()} HTTP/1.1\r\nHost: x\r\nhOST: y\r\nConnection: close\r\n\r\n`,
    'the same Host twice': () =>
      `GET ${target()} HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n`,
    'a tunnel to elsewhere': () => 'CONNECT evil.example:80 HTTP/1.1\r\nHost: x\r\n\r\n',
    'HTTP/2 without a word of warning': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'HTTP of a version to come': () => `GET ${target()} HTTP/3.7\r\nHost: x\r\n\r\n`,
    'a method in small letters': () => `get ${target()} HTTP/1.1\r\nHost: x\r\n\r\n`,
    'a method of 10 KB': () => `${'G'.repeat(10_000)} ${target()} HTTP/1.1\r\nHost: x\r\n\r\n`,
    'an address that begins with its query': () => 'GET ?w=10 HTTP/1.1\r\nHost: x\r\n\r\n',
    'an invalid Host': () => 'GET http://[/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'a host in broken punycode': () => 'GET http://xn--a/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'a scheme that is unknown': () => 'GET a://?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'the first bytes of TLS': () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    zeros: () => '\0'.repeat(1000),
  }
  for (const [what, bytes] of Object.entries(lines)) {
    it(`get 400: ${what}`, () => expectProblem(bytes(), 400))
  }

  it('get 100 Continue when they expect it, and 417 for any other expectation', async () => {
    const whole = `Content-Length: 7\r\nConnection: close\r\n`
    expect((await ask(`${upload()}${whole}Expect: 100-continue\r\n\r\n--b--\r\n`)).statuses).to.deep.equal([
      100, 400,
    ])
    await expectProblem(`${upload()}${whole}Expect: 200-ok\r\n\r\n--b--\r\n`, 417)
  })

  it('get no 100 Continue when they are refused before their body is read', async () => {
    const wrong = upload().replace(service.tokens.secretClientToken, 'sec_of_nobody_at_all')
    // Resolves when the connection is closed.
    const { statuses } = await ask(`${wrong}Content-Length: 7\r\nExpect: 100-continue\r\n\r\n`)
    expect(statuses).to.deep.equal([401])
  })

  it('get 404 for OPTIONS *', () =>
    expectProblem('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404))

  it('are logged without any secret when their URL is invalid', async () => {
    const earlier = service.log.lines.length
    const warnings: Error[] = []
    const keep = (warning: Error) => warnings.push(warning)
    process.on('warning', keep)
    const secret = service.tokens.secretClientToken
    const close = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    await expectProblem(`GET http://u:${secret}@h:b:c/x ${close}`, 400)
    await expectProblem(`GET //u:p@h:b:c/x#y ${close}`, 404)
    process.off('warning', keep)
    expect(warnings).to.deep.equal([])
    const told = service.log.lines.slice(earlier).map(({ fields: { path, status } }) => ({ path, status }))
    expect(told[0]).to.deep.equal({ path: '/', status: 400 })
    expect(told).to.have.length(2)
  })

  it('get 501 for a compressed transfer coding', async () => {
    const earlier = service.log.lines.length
    const rest = `Connection: close\r\n\r\n${FORM.length.toString(16)}\r\n${FORM}\r\n0\r\n\r\n`
    await expectProblem(`${upload()}Transfer-Encoding: gzip, chunked\r\n${rest}`, 501)
    expect(service.log.lines.slice(earlier).some(({ level }) => level === 'error')).to.equal(false)
  })

  it('may have an absolute URL', async () => {
    const { pathname } = new URL(png.src)
    const close = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    for (const address of [`http://x${pathname}?download`, `HTTPS://u@x:80${pathname}?download#top`])
      expect((await ask(`GET ${address} ${close}`)).statuses).to.deep.equal([200])
    await expectProblem(`GET http://x${pathname}?w=0 ${close}`, 400)
  })

  it('may have no Host in HTTP/1.0', async () => {
    expect((await ask(`GET ${target()} HTTP/1.0\r\n\r\n`)).statuses).to.deep.equal([200])
  })

  it('keep all of their headers, however many there are', async () => {
    const flood = 'a:\r\n'.repeat(3000)
    const { statuses } = await ask(
      `GET ${target()} HTTP/1.1\r\nHost: x\r\n${flood}Range: bytes=0-1\r\nConnection: close\r\n\r\n`,
    )
    expect(statuses).to.deep.equal([206])
  })

  it('use the first of two Authorization headers', async () => {
    const secret = service.tokens.secretClientToken
    await expectProblem(
      `DELETE /v1/upload/${png.s3PathOriginal} HTTP/1.1\r\nHost: x\r\nAuthorization: wrong\r\n` +
        `Authorization: ${secret}\r\nConnection: close\r\n\r\n`,
      401,
    )
  })
})
