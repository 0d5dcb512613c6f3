import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf, sendBytes } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

onOneBackend('delivery headers', (start) => {
  let service: Service
  let record: WireRecord
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
    record = await uploadOne(service, { name: 'photo.png', bytes: png })
  })

  it('are the documented ones on an original', async () => {
    const { status, headers, body } = await exchange(service, record.src)
    expect(status).to.equal(200)
    expect(body.equals(png)).to.equal(true)
    const {
      date,
      connection,
      'keep-alive': _,
      'x-request-id': id,
      'last-modified': modified,
      ...rest
    } = headers
    expect(rest).to.deep.equal({
      'cache-control': 'public, max-age=604800',
      etag: `"${record.s3PathOriginal}"`,
      'accept-ranges': 'bytes',
      'content-length': String(png.length),
      'content-range': `bytes 0 - ${png.length}`,
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'access-control-expose-headers':
        'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Repr-Digest, Retry-After, X-Request-Id, X-Sluice-Transform',
      'cross-origin-resource-policy': 'cross-origin',
    })
    expect(id).to.match(/^[0-9a-f-]{36}$/)
    expect(Date.parse(String(modified))).to.be.within(Date.now() - 60_000, Date.now())
  })

  it('are the same on a derivative, with its own key as ETag, when rendered and when stored', async () => {
    const answers = []
    for (let i = 0; i < 3; i += 1) answers.push(await exchange(service, `${record.src}?w=100&f=webp`))
    const original = await exchange(service, record.src)
    for (const { status, headers, body } of answers) {
      expect(status).to.equal(200)
      expect(body.equals(answers[0]?.body as Buffer)).to.equal(true)
      const { date, connection, 'keep-alive': _, 'x-request-id': id, ...rest } = headers
      expect(rest).to.deep.equal({
        'cache-control': 'public, max-age=604800',
        etag: `"${record.s3PathOriginal}_f=webp&w=100"`,
        // A derivative is as old as its original.
        'last-modified': original.headers['last-modified'],
        'accept-ranges': 'bytes',
        'content-length': String(body.length),
        'content-range': `bytes 0 - ${body.length}`,
        'content-type': 'image/webp',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
        'access-control-expose-headers':
          'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Repr-Digest, Retry-After, X-Request-Id, X-Sluice-Transform',
        'cross-origin-resource-policy': 'cross-origin',
      })
    }
  })

  it('are the same on the raw bucket route', async () => {
    const served = await exchange(service, record.src)
    const raw = await exchange(service, rawPath(service, record.s3Path))
    expect(raw.status).to.equal(200)
    expect(raw.body.equals(png)).to.equal(true)
    for (const { headers } of [served, raw]) {
      delete headers.date
      delete headers['x-request-id']
    }
    expect(raw.headers).to.deep.equal(served.headers)
  })

  for (const query of ['', '?w=90', '?w=91&f=avif', '?download=a.png', '?f=auto']) {
    it(`are the same for HEAD, without a body: ${query || 'no query'}`, async () => {
      const target = `${record.src}${query}`
      // HEAD first: the derivative is made for it.
      const answers = [await exchange(service, target, { method: 'HEAD' }), await exchange(service, target)]
      const lengths = answers.map(({ body }) => body.length)
      for (const { status, headers } of answers) {
        expect(status).to.equal(200)
        expect(headers['content-length']).to.equal(String(lengths[1]))
        delete headers.date
        delete headers['x-request-id']
      }
      expect(lengths[0]).to.equal(0)
      expect(answers[0]?.headers).to.deep.equal(answers[1]?.headers)
    })
  }

  const others: Record<string, () => { target?: string; headers?: Record<string, string>; status: number }> =
    {
      'not modified': () => ({ headers: { 'If-None-Match': '*' }, status: 304 }),
      'another than expected': () => ({ headers: { 'If-Match': '"another"' }, status: 412 }),
      'a bad parameter': () => ({ target: `${record.src}?w=0`, status: 400 }),
      'a file that there is not': () => ({
        target: record.src.replace(/\w{10}\.png/, '1111111111.png'),
        status: 404,
      }),
    }
  for (const [what, request] of Object.entries(others)) {
    it(`are the same for HEAD, without a body: ${what}`, async () => {
      const { target = record.src, headers = {}, status } = request()
      const head = await exchange(service, target, { method: 'HEAD', headers })
      const get = await exchange(service, target, { headers })
      expect([head.status, get.status]).to.deep.equal([status, status])
      expect(head.body.length).to.equal(0)
      for (const answer of [head, get]) {
        delete answer.headers.date
        delete answer.headers['x-request-id']
      }
      expect(head.headers).to.deep.equal(get.headers)
    })
  }

  it('have no Last-Modified later than Date, though the clock of another machine may be ahead', async () => {
    const ahead = await start({
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          async find(ref, derivative) {
            const found = await index.find(ref, derivative)
            if (found.original?.state !== 'stored') return found
            const { record, ...original } = found.original
            const storedAt = record.storedAt + 3_600_000
            return { ...found, original: { ...original, record: { ...record, storedAt } } }
          },
        },
      }),
    })
    const { src } = await uploadOne(ahead, { name: 'a.png', bytes: png })
    for (const query of ['', '?w=70', '?w=70']) {
      const before = Date.now()
      const { headers } = await exchange(ahead, src + query)
      const [modified, date] = [headers['last-modified'], headers.date].map((text) =>
        Date.parse(String(text)),
      )
      // To the second, and the date of an answer is made a moment later.
      expect(modified).to.be.within(before - 2000, (date ?? 0) + 1000)
      const again = { 'If-Modified-Since': String(headers['last-modified']) }
      // It may have changed since, as far as this clock knows.
      expect((await exchange(ahead, src + query, { headers: again })).status).to.equal(200)
    }
  })

  it('percent-encode characters of the key that an ETag may not contain', async () => {
    const { src, s3PathOriginal } = await uploadOne(
      service,
      { name: 'a.txt', bytes: 'x' },
      { path: 'Größe "x"/写' },
    )
    const { headers, rawHeaders } = await exchange(service, src)
    expect(headers.etag).to.equal(`"${encodeURI(s3PathOriginal)}"`)
    expect(rawHeaders.join('')).to.match(/^[\x20-\x7e]*$/)
    const again = await exchange(service, src, { headers: { 'If-None-Match': String(headers.etag) } })
    expect(again.status).to.equal(304)
  })

  describe('methods of delivery routes', () => {
    const routes: Record<string, () => string> = {
      'the delivery route': () => record.src,
      'the raw bucket route': () => rawPath(service, record.s3Path),
    }
    for (const [route, address] of Object.entries(routes)) {
      it(`respond to OPTIONS with CORS headers on ${route}`, async () => {
        const { status, headers, body } = await exchange(service, address(), {
          method: 'OPTIONS',
          headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'GET' },
        })
        expect({ status, body: body.length }).to.deep.equal({ status: 204, body: 0 })
        expect(headers.allow).to.equal('GET, HEAD, OPTIONS')
        expect(headers['access-control-allow-origin']).to.equal('*')
        expect(headers['access-control-allow-methods']).to.equal('GET, HEAD, OPTIONS')
        expect(headers['access-control-allow-headers']).to.match(/\bRange\b.*\bIf-Range\b/)
        expect(Number(headers['access-control-max-age'])).to.be.above(0)
      })

      it(`respond 405 with Allow to POST, PUT, DELETE and PATCH on ${route}`, async () => {
        for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
          const { status, headers } = await exchange(service, address(), { method })
          expect({ status, allow: headers.allow }, method).to.deep.equal({
            status: 405,
            allow: 'GET, HEAD, OPTIONS',
          })
        }
        expect((await exchange(service, address())).status).to.equal(200)
      })
    }
  })

  describe('delivery headers of active content', () => {
    const active: Record<string, string> = {
      svg: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>',
      html: '<!doctype html><script>alert(1)</script>',
      xml: '<?xml version="1.0"?><page xmlns="http://www.w3.org/1999/xhtml"/>',
      javascript: 'self.addEventListener("fetch", () => {})',
      css: 'body { color: red }',
    }
    for (const [extension, bytes] of Object.entries(active)) {
      it(`sandbox ${extension} on both routes`, async () => {
        const file = await uploadOne(service, {
          name: `a.${extension === 'javascript' ? 'js' : extension}`,
          bytes,
        })
        expect(file.format).to.equal(extension)
        for (const address of [file.src, rawPath(service, file.s3Path)]) {
          for (const headers of [{}, { Range: 'bytes=0-9' }, { Range: 'bytes=0-1,4-5' }]) {
            const answer = await exchange(service, address, { headers })
            const policy = String(answer.headers['content-security-policy'])
              .split(';')
              .map((part) => part.trim())
            expect(policy).to.include("default-src 'none'").and.to.include('sandbox')
            expect(answer.headers['x-content-type-options']).to.equal('nosniff')
          }
        }
      })
    }

    it('refuse to be the script of a service worker, also in memory', async () => {
      const { src } = await uploadOne(service, { name: 'sw.js', bytes: 'self.skipWaiting()' })
      for (const address of [src, src, `${service.url}/v1/image/nothing`]) {
        const answer = await exchange(service, address, { headers: { 'Service-Worker': 'script' } })
        expect(jsonOf(answer)).to.include({ status: 403, code: 'worker_script' })
        await exchange(service, src)
      }
    })

    it('do not sandbox images', async () => {
      expect((await exchange(service, record.src)).headers).not.to.have.property('content-security-policy')
    })
  })

  describe('delivery headers of f=auto', () => {
    const accepts: Array<[accept: string | undefined, type: string]> = [
      ['image/avif,image/webp,*/*', 'image/avif'],
      ['image/webp,*/*;q=0.8', 'image/webp'],
      ['image/avif;q=0, image/webp', 'image/webp'],
      ['*/*', 'image/png'],
      ['image/*', 'image/png'],
      [undefined, 'image/png'],
    ]
    for (const [accept, type] of accepts) {
      it(`follow Accept, with Vary: ${accept} gets ${type}`, async () => {
        for (let i = 0; i < 2; i += 1) {
          const { status, headers } = await exchange(service, `${record.src}?f=auto&w=300`, {
            headers: accept === undefined ? {} : { Accept: accept },
          })
          expect({ status, type: headers['content-type'], vary: headers.vary }).to.deep.equal({
            status: 200,
            type,
            vary: 'Accept',
          })
        }
      })
    }

    it('have Vary on a 304', async () => {
      const first = await exchange(service, `${record.src}?f=auto&w=40`)
      const { status, headers } = await exchange(service, `${record.src}?f=auto&w=40`, {
        headers: { 'If-None-Match': String(first.headers.etag) },
      })
      expect({ status, vary: headers.vary }).to.deep.equal({ status: 304, vary: 'Accept' })
    })

    it('have Vary on a partial response, with one range and with several', async () => {
      for (const Range of ['bytes=0-9', 'bytes=0-1,5-6']) {
        const { status, headers } = await exchange(service, `${record.src}?f=auto&w=40`, {
          headers: { Range },
        })
        expect({ status, vary: headers.vary }).to.deep.equal({ status: 206, vary: 'Accept' })
      }
    })

    it('have no Vary for an explicit format', async () => {
      const { headers } = await exchange(service, `${record.src}?f=webp&w=40`, {
        headers: { Accept: 'image/avif' },
      })
      expect(headers).not.to.have.property('vary')
      expect(headers['content-type']).to.equal('image/webp')
    })
  })
})

onOneBackend('Content-Range on a full response', (start) => {
  const PROXIES: Record<string, string> = {
    Via: '1.1 varnish',
    Forwarded: 'for=192.0.2.1',
    'X-Forwarded-For': '192.0.2.1',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'example.com',
    'CF-Ray': '230b030023ae2822-SJC',
    'X-Varnish': '32770',
  }

  describe('FULL_CONTENT_RANGE=auto', () => {
    let service: Service
    let src: string
    before(async () => {
      service = await start()
      src = (await uploadOne(service, { name: 'a.txt', bytes: '0123456789' })).src
    })

    it('is sent to a client that connects directly', async () => {
      for (const headers of [{}, { 'X-Custom': '1', 'User-Agent': 'via', Cookie: 'forwarded=1' }]) {
        const answer = await exchange(service, src, { headers })
        expect(answer.headers['content-range']).to.equal('bytes 0 - 10')
      }
    })

    for (const [name, value] of Object.entries(PROXIES)) {
      it(`is not sent when ${name} indicates a proxy`, async () => {
        const { status, headers } = await exchange(service, src, { headers: { [name]: value } })
        expect(status).to.equal(200)
        expect(headers).not.to.have.property('content-range')
        expect(headers['content-length']).to.equal('10')
      })
    }

    it('is not sent to aria2, which would take the file for empty', async () => {
      const headers = { 'User-Agent': 'Mozilla/5.0', 'Want-Digest': 'SHA-512;q=1, SHA-256;q=1, SHA;q=0.1' }
      const answer = await exchange(service, src, { headers })
      expect(answer.status).to.equal(200)
      expect(answer.headers).not.to.have.property('content-range')
    })

    it('is not sent over HTTP/1.0', async () => {
      const answer = await sendBytes(
        service,
        `GET ${src.slice(service.url.length)} HTTP/1.0\r\nHost: x\r\n\r\n`,
      )
      expect(answer).to.match(/^HTTP\/1\.1 200 /)
      expect(answer).not.to.match(/^content-range:/im)
    })

    it('follows the standard on a partial response, with and without a proxy', async () => {
      for (const headers of [{}, { Via: '1.1 nginx' }]) {
        const answer = await exchange(service, src, { headers: { ...headers, Range: 'bytes=2-4' } })
        expect(answer.status).to.equal(206)
        expect(answer.rawHeaders.filter((name) => /^content-range$/i.test(name))).to.have.length(1)
        expect(answer.headers['content-range']).to.equal('bytes 2-4/10')
      }
    })

    it('is not sent with a 304', async () => {
      const { headers } = await exchange(service, src)
      const again = await exchange(service, src, { headers: { 'If-None-Match': String(headers.etag) } })
      expect(again.status).to.equal(304)
      for (const name of ['content-range', 'content-length', 'content-type'])
        expect(again.headers).not.to.have.property(name)
    })
  })

  for (const [mode, expected] of Object.entries({ always: 'bytes 0 - 10', never: undefined })) {
    it(`follows FULL_CONTENT_RANGE=${mode} for every client`, async () => {
      const service = await start({ env: { FULL_CONTENT_RANGE: mode } })
      const { src } = await uploadOne(service, { name: 'a.txt', bytes: '0123456789' })
      for (const headers of [{}, PROXIES]) {
        const answer = await exchange(service, src, { headers })
        expect(answer.headers['content-range']).to.equal(expected)
      }
      const part = await exchange(service, src, { headers: { Range: 'bytes=0-0' } })
      expect(part.headers['content-range']).to.equal('bytes 0-0/10')
    })
  }
})
