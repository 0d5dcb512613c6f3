import { Readable } from 'node:stream'
import { expect } from 'chai'
import { readAll } from '../../../src/core/bytes/asset.ts'
import type { ObjectKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { newClient, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf, sendBytes } from '../../support/requests/exchange.ts'
import { multipart, postForm } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

/** Ways to write a step up and what follows it, as they stand in a request line. */
const STEPS = [
  '../',
  '..%2f',
  '..%2F',
  '%2e%2e/',
  '%2e%2e%2f',
  '%2E%2e%2F',
  '.%2e/',
  '%2e./',
  '%252e%252e/',
  '%252e%252e%252f',
  '..%252f',
  '%25252e%25252e%25252f',
  '..\\',
  '..%5c',
  '%2e%2e%5c',
  '..%255c',
  '%c0%ae%c0%ae/',
  '%c0%ae%c0%ae%c0%af',
  '..%c0%af',
  '%e0%80%ae%e0%80%ae/',
  '%uff0e%uff0e%u2215',
  '\xc0\xae\xc0\xae/',
  '..;/',
  '../;/',
  '..%00/',
  '.%00./',
  '..%0d%0a/',
  './../',
  '/../',
  '....//',
]

onOneBackend('hostile requests', (start) => {
  let service: Service
  let png: WireRecord
  before(async () => {
    service = await start({ env: { ZIP_RATE_LIMIT: '100000' } })
    png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })
  // Whatever came, the file is there and the service answers.
  afterEach(async () => {
    expect((await exchange(service, png.src)).status).to.equal(200)
    expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  /** One request line, byte by byte. */
  async function ask(target: string, { method = 'GET', headers = '' } = {}): Promise<string> {
    return sendBytes(
      service,
      Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`, 'latin1'),
    )
  }

  function expectRefused(answer: string, target: string): void {
    expect(answer, target).to.match(/^HTTP\/1\.1 4\d\d /)
    expect(answer).not.to.include('secretDigests')
    expect(answer).not.to.include(service.tokens.secretClientToken)
    expect(answer).not.to.include('root:')
    expect(answer).not.to.match(/^location:/im)
    // Node itself answers to what is no HTTP; everything else is a problem document.
    if (!/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/.test(answer))
      expect(answer).to.match(/^Content-Type: application\/problem\+json\r$/im)
  }

  describe('with path traversal', () => {
    const loot = [
      'credentials.json',
      'first/.sluice/clients/first.json',
      '.sluice/clients/first.json',
      'etc/passwd',
    ]
    for (const step of STEPS.filter((_, i) => i % sized(3, 1) === 0)) {
      it(`are refused in every part of the URL: ${JSON.stringify(step)}`, async () => {
        const { clientToken } = service.tokens
        const ups = sized([2, 12], [1, 2, 3, 12]).flatMap((times, i) =>
          sized([loot[i], loot[i + 2]], loot).map((file) => step.repeat(times) + file),
        )
        for (const up of ups) {
          for (const target of [
            `/${up}`,
            `/v1/${up}`,
            `/v1/bucket/${up}`,
            `/v1/bucket/${clientToken}/${up}`,
            `/v1/bucket/${clientToken}/image/png/${up}`,
            `/v1/image/upload/${clientToken}/${up}`,
            `/v1/image/upload/${clientToken}/a/b/${up}`,
            `/v1/image/upload/${clientToken}/${png.s3PathOriginal}/${up}`,
          ]) {
            const answer = await ask(target)
            expectRefused(answer, target)
          }
        }
      })

      it(`are refused for upload, delete and archive: ${JSON.stringify(step)}`, async () => {
        const { secretClientToken: secret } = service.tokens
        const before = await service.objects()
        for (const file of ['credentials.json', `first/${png.s3PathOriginal}`]) {
          const target = `/v1/upload/${step.repeat(2)}${file}`
          expectRefused(
            await ask(target, { method: 'DELETE', headers: `Authorization: ${secret}\r\n` }),
            target,
          )
          const zipped = await postZip(service, { files: [{ path: step.repeat(2) + file }] })
          if (zipped.status === 200) {
            const [entry] = manifestOf(entriesOf(Buffer.from(await zipped.arrayBuffer())))
            expect(entry).to.include({ status: 'error', code: 404 })
          } else {
            expect(zipped.status).to.equal(400)
            await zipped.arrayBuffer()
          }
        }
        const form = multipart([{ disposition: 'name="file"; filename="a.txt"', bytes: 'x' }])
        const query = `?path=${step.replaceAll('\\', '%5c').replaceAll('\xc0\xae', '%c0%ae')}x`
        const uploaded = await postForm(service, form, { query })
        if (uploaded.status === 200) {
          // What is no step up at all is a folder of a strange name, inside the client's own.
          const [record] = jsonOf(uploaded) as unknown as [WireRecord]
          expect(await service.objects()).to.include(`first/${record.s3PathOriginal}`)
          expect(record.s3PathOriginal.split('/')).not.to.include('..')
        } else {
          expect(uploaded.status).to.equal(400)
          expect(await service.objects()).to.deep.equal(before)
        }
      })
    }
  })

  describe('for internal records', () => {
    it('get 404, in any spelling', async () => {
      const { clientToken, secretClientToken } = service.tokens
      const meta = `.sluice/meta/${png.s3PathOriginal}.json`
      expect(await service.objects()).to.include(`first/${meta}`)
      for (const record of [
        meta,
        '.sluice/clients/first.json',
        '.sluice',
        '.sluice/',
        `.sluice/meta/${png.s3PathOriginal}`,
        `.sluice/${png.sourceName}`,
        `.sluice/image/png/${png.sourceName}`,
      ]) {
        for (const spelling of [
          record,
          encodeURIComponent(record),
          record.replace('.s', '%2es'),
          record.replace('.sluice', './.sluice'),
          record.replace('.sluice', 'x/../.sluice'),
          record.replace('.sluice', '.SLUICE'),
          `/${record}`,
        ]) {
          for (const route of ['bucket', 'image/upload', 'text/upload', 'application/upload']) {
            const target = `/v1/${route}/${clientToken}/${spelling}`
            expectRefused(await ask(target), target)
          }
          const target = `/v1/upload/${spelling}`
          const headers = `Authorization: ${secretClientToken}\r\n`
          expectRefused(await ask(target, { method: 'DELETE', headers }), target)
        }
        const zipped = await postZip(service, {
          files: [{ path: record, type: 'application', name: 'x' }],
        })
        if (zipped.ok)
          expect(manifestOf(entriesOf(Buffer.from(await zipped.arrayBuffer())))[0]).to.include({ code: 404 })
        else expect(zipped.status).to.equal(400)
      }
      expect(await service.objects()).to.include(`first/${meta}`)
    })

    it('get 404 also when an internal record looks like an upload of a client', async () => {
      const { clientToken, secretClientToken } = service.tokens
      const bucket = service.storage.buckets.of({ id: 'first', token: '' })
      const key = `.sluice/image/png/${png.sourceName}` as ObjectKey
      const mine = await bucket.find(png.s3PathOriginal as ObjectKey)
      const record = await bucket.find(`.sluice/meta/${png.s3PathOriginal}.json` as ObjectKey)
      if (!mine || !record) throw new Error('the upload is gone')
      const text = (await readAll(record)).toString().replace(png.s3PathOriginal, key)
      await bucket.put(key, await mine.open(), { mediaType: 'image/png' })
      await bucket.put(`.sluice/meta/${key}.json` as ObjectKey, Readable.from([Buffer.from(text)]), {
        mediaType: 'application/json',
      })
      for (const path of [key, `.sluice/${png.sourceName}`, `${key}_w=10`]) {
        for (const target of [
          `/v1/image/upload/${clientToken}/${path}`,
          `/v1/image/upload/${clientToken}/${path}?w=10`,
          `/v1/bucket/${clientToken}/${path}`,
        ])
          expectRefused(await ask(target), target)
        const headers = `Authorization: ${secretClientToken}\r\n`
        expectRefused(await ask(`/v1/upload/${path}`, { method: 'DELETE', headers }), path)
      }
      expect(await bucket.find(key)).not.to.equal(undefined)
    })
  })

  describe('with thousands of parameters', () => {
    const many = (text: (i: number) => string, count: number) =>
      Array.from({ length: count }, (_, i) => text(i))
    const queries: Record<string, string> = {
      'the same name': many(() => 'w=1', 3000).join('&'),
      'unknown names': many((i) => `a${i}`, 2000).join('&'),
      'only separators': '&'.repeat(15_000),
      brackets: many(() => 'a[b][c][d]=1', 1000).join('&'),
      'one long name': 'x'.repeat(15_000),
      'one long value': `w=${'9'.repeat(15_000)}`,
      'ignored names, and a bad one at the end': `${many((i) => `utm_${i}`, 1500).join('&')}&bad=1`,
    }
    for (const [what, query] of Object.entries(queries)) {
      it(`get a 4xx: ${what}`, async () => {
        for (const target of [`${png.src.slice(service.url.length)}?${query}`]) {
          const answer = await ask(target)
          if (what === 'only separators') expect(answer).to.match(/^HTTP\/1\.1 200 /)
          else expectRefused(answer, what)
        }
        if (what !== 'only separators') {
          const upload = await exchange(service, `/v1/upload?${query}`, {
            method: 'POST',
            headers: { Authorization: service.tokens.secretClientToken },
          })
          expect(upload.status).to.equal(400)
          expect(upload.body.length).to.be.below(1000)
        }
      })
    }

    it('get 431 when the request line is too long', async () => {
      const answer = await ask(`${png.src.slice(service.url.length)}?${'w=1&'.repeat(10_000)}`)
      expect(answer).to.match(/^HTTP\/1\.1 431 /)
    })

    it('get 400 for an archive', async () => {
      for (const name of ['p', 'utm_']) {
        const params = Object.fromEntries(many((i) => `${name}${i}`, 20_000).map((each) => [each, 1]))
        const response = await postZip(service, { files: [{ path: png.sourceName, params }] })
        expect(response.status).to.equal(400)
        expect((await response.arrayBuffer()).byteLength).to.be.below(1000)
      }
    })

    it('are an error of the entry in an archive while they are few', async () => {
      const params = Object.fromEntries(many((i) => `p${i}`, 50).map((name) => [name, 1]))
      const ignored = Object.fromEntries(many((i) => `utm_${i}`, 50).map((name) => [name, 1]))
      const response = await postZip(service, {
        files: [
          { path: png.sourceName, params },
          { path: png.sourceName, params: ignored },
        ],
      })
      const manifest = manifestOf(entriesOf(Buffer.from(await response.arrayBuffer())))
      expect(manifest.map(({ status, code }) => code ?? status)).to.deep.equal([400, 'ok'])
    })
  })

  describe('with names of prototype properties', () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
    afterEach(() => {
      const plain = {} as Record<string, unknown>
      expect(plain.polluted).to.equal(undefined)
      expect(plain.w).to.equal(undefined)
      expect(Object.keys(Object.prototype)).to.deep.equal([])
    })

    for (const name of names) {
      it(`get 400 with ${name} in a query`, async () => {
        for (const query of [
          `${name}=1`,
          `${name}[polluted]=1`,
          `${name}.polluted=1`,
          `a[${name}][polluted]=1`,
          `w=10&${name}=1`,
        ]) {
          const answer = await exchange(service, `${png.src}?${query}`)
          expect({ status: answer.status, code: jsonOf(answer).code }, query).to.deep.equal({
            status: 400,
            code: 'unknown_parameter',
          })
        }
        for (const query of [`f=${name}`, `fit=${name}`, `w=${name}`])
          expect((await exchange(service, `${png.src}?${query}`)).status, query).to.equal(400)
      })

      it(`get an error with ${name} in JSON`, async () => {
        const item = `{"path": "${png.sourceName}"`
        const bodies: Record<string, string> = {
          'the body': `{"files": [${item}}], "${name}": {"polluted": 1}}`,
          'an item': `{"files": [${item}, "${name}": {"polluted": 1}}]}`,
          'the path': `{"files": [{"${name}": {"path": "${png.sourceName}"}}]}`,
          'params of another kind': `{"files": [${item}, "params": {"${name}": {"w": 10}}}]}`,
        }
        for (const [where, body] of Object.entries(bodies)) {
          const response = await postZip(service, body)
          expect(response.status, where).to.equal(400)
          await response.arrayBuffer()
        }
        const response = await postZip(service, `{"files": [${item}, "params": {"${name}": "1"}}]}`)
        // JSON.parse creates an own member from it, which must not be ignored.
        expect(response.status).to.equal(name === '__proto__' ? 400 : 200)
        if (name === '__proto__') return
        const [entry] = manifestOf(entriesOf(Buffer.from(await response.arrayBuffer())))
        expect(entry).to.include({ status: 'error', code: 400 })
      })
    }
  })

  it('cannot change the URLs in responses by their Host', async () => {
    const body = multipart([{ disposition: 'name="file"; filename="a.txt"', bytes: 'x' }])
    const headers = {
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    }
    const answer = await postForm(service, body, { headers })
    const [record] = jsonOf(answer) as unknown as [WireRecord]
    expect(record.src).to.match(new RegExp(`^${service.url}/`))
    const plain = await uploadOne(service, { name: 'a.txt', bytes: 'x' })
    expect(record.originalSrc).to.equal(plain.originalSrc.replace(plain.sourceName, record.sourceName))
  })

  it('cannot choose the ID of their response', async () => {
    const { headers } = await exchange(service, png.src, { headers: { 'X-Request-Id': 'mine' } })
    expect(headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/)
  })

  it('learn nothing about the software', async () => {
    for (const target of ['/', '/nothing', '/v1/upload', png.src]) {
      const { headers, body } = await exchange(service, target)
      for (const name of ['x-powered-by', 'server', 'set-cookie']) expect(headers).not.to.have.property(name)
      expect(body.toString('latin1')).not.to.match(/express|node_modules/i)
    }
  })

  it('get a proper response to methods of no route', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'PURGE', 'LOCK', 'SEARCH']) {
      const target = png.src.slice(service.url.length)
      expectRefused(await ask(target, { method }), method)
    }
  })

  it('cannot reach the files of another client through a folder', async () => {
    const other = await newClient(service)
    const theirs = await uploadOne(other, { name: 'a.txt', bytes: 'theirs' })
    for (const folder of [other.id, 'first', `../${other.id}`]) {
      const path = `${folder}/${theirs.s3PathOriginal}`
      const target = `/v1/text/upload/${service.tokens.clientToken}/${path}`
      expectRefused(await ask(target), target)
    }
  })
})
