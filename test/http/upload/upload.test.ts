import { expect } from 'chai'
import { onTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { newClient, postFiles, rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { usuallyOnce } from '../../support/sized.ts'

const FIELDS = [
  'sourceName',
  'src',
  'originalSrc',
  'originalName',
  's3PathOriginal',
  's3Path',
  'options',
  'size',
  'mimeType',
  'format',
]
const HTML = '<!doctype html><title>a page</title><script>alert(1)</script>'
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'

onTwoBackends('POST /v1/upload', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })

  it('returns an array of records with exactly the ten documented fields, also for one file', async () => {
    const response = await postFiles(service, [{ name: 'photo.png', bytes: png }])
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.match(/^application\/json\b/)
    expect(response.headers.get('cache-control')).to.equal('no-store')
    expect(response.headers.get('etag')).to.equal(null)
    const records = (await response.json()) as WireRecord[]
    expect(records).to.be.an('array').with.length(1)
    const [record] = records as [WireRecord]
    expect(Object.keys(record)).to.deep.equal(FIELDS)
    // What originalSrc is depends on the bucket: original-src.test.ts.
    const { sourceName, originalSrc } = record
    expect(sourceName).to.match(/^[1-9A-HJ-NP-Za-km-z]{22}\.png$/)
    expect(record).to.deep.equal({
      sourceName,
      src: `${service.url}/v1/image/upload/${service.tokens.clientToken}/${sourceName}`,
      originalSrc,
      originalName: 'photo.png',
      s3PathOriginal: `image/png/${sourceName}`,
      s3Path: `image/png/${sourceName}`,
      options: {},
      size: png.length,
      mimeType: 'image',
      format: 'png',
    })
  })

  it('stores several files and returns their records in the order sent', async () => {
    const files = ['first', 'second', 'third'].map((name) => ({ name: `${name}.txt`, bytes: `the ${name}` }))
    const response = await postFiles(service, files)
    const records = (await response.json()) as WireRecord[]
    expect(records.map(({ originalName }) => originalName)).to.deep.equal(files.map(({ name }) => name))
    for (const [i, { src, size }] of records.entries()) {
      const { body } = await exchange(service, src)
      expect(body.toString()).to.equal(files[i]?.bytes)
      expect(size).to.equal(body.length)
    }
  })

  it('gives every upload its own name, also for equal bytes', async () => {
    const names = new Set<string>()
    for (let i = 0; i < 3; i += 1)
      names.add((await uploadOne(service, { name: 'a.png', bytes: png })).sourceName)
    expect(names.size).to.equal(3)
  })

  const types: Array<{
    name: string
    bytes: () => Uint8Array | string
    claimed?: string
    expected: string
    contentType: string
  }> = [
    {
      name: 'a.jpg',
      bytes: () => png,
      claimed: 'text/html',
      expected: 'image/png',
      contentType: 'image/png',
    },
    {
      name: 'a.png',
      bytes: () => HTML,
      claimed: 'image/png',
      expected: 'text/html',
      contentType: 'text/html; charset=utf-8',
    },
    {
      name: 'a.png',
      bytes: () => SVG,
      claimed: 'image/png',
      expected: 'image/svg',
      contentType: 'image/svg+xml',
    },
    {
      name: 'notes.csv',
      bytes: () => 'a,b\n1,2\n',
      claimed: 'image/png',
      expected: 'text/csv',
      contentType: 'text/csv; charset=utf-8',
    },
    {
      name: 'plain words.png',
      bytes: () => 'no picture at all',
      claimed: 'image/png',
      expected: 'text/txt',
      contentType: 'text/plain; charset=utf-8',
    },
    {
      name: 'a.png',
      bytes: () => Buffer.from('0001020304050607', 'hex'),
      claimed: 'image/png',
      expected: 'application/bin',
      contentType: 'application/octet-stream',
    },
    {
      name: 'a.png',
      bytes: () => '%PDF-1.7\n%\xe2\xe3\n',
      expected: 'application/pdf',
      contentType: 'application/pdf',
    },
    {
      name: 'a.txt',
      bytes: () => Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt '), Buffer.alloc(24)]),
      expected: 'audio/wav',
      contentType: 'audio/wav',
    },
    {
      name: 'a',
      bytes: () => Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42'), Buffer.alloc(24)]),
      expected: 'video/mp4',
      contentType: 'video/mp4',
    },
  ]
  for (const { name, bytes, claimed, expected, contentType } of types) {
    itOnce(
      `detects the type from the bytes: ${name}, sent as ${claimed ?? 'nothing'}, is ${expected}`,
      async () => {
        const record = await uploadOne(service, {
          name,
          bytes: bytes(),
          ...(claimed ? { type: claimed } : {}),
        })
        expect(`${record.mimeType}/${record.format}`).to.equal(expected)
        expect(record.s3PathOriginal).to.equal(`${expected}/${record.sourceName}`)
        for (const address of [record.src, rawPath(service, record.s3Path)]) {
          const { status, headers } = await exchange(service, address)
          expect({ status, type: headers['content-type'] }).to.deep.equal({ status: 200, type: contentType })
        }
      },
    )
  }

  it('keeps every byte, at and around the size of the block that detects the type', async () => {
    for (const size of [1, 4099, 4100, 4101, 65_536, 1_000_003]) {
      const bytes = Buffer.alloc(size, 'the quick brown fox, \xff\xfe ')
      const record = await uploadOne(service, { name: 'a.bin', bytes })
      const { body } = await exchange(service, rawPath(service, record.s3Path))
      expect(body.equals(bytes), `${size} bytes`).to.equal(true)
    }
  })

  itUsuallyOnce('accepts 100 files in one request', async () => {
    const files = Array.from({ length: 100 }, (_, i) => ({ name: `${i}.txt`, bytes: `file ${i}` }))
    const response = await postFiles(service, files)
    expect(response.status).to.equal(200)
    const records = (await response.json()) as WireRecord[]
    expect(records.map(({ originalName }) => originalName)).to.deep.equal(files.map(({ name }) => name))
  })

  itOnce('accepts a file part with any other headers, and ignores unknown fields', async () => {
    const { status, body } = await postForm(service, [
      { disposition: 'name="comment"', bytes: 'hello' },
      { disposition: 'name="file"; filename="a.txt"', bytes: 'one', type: 'nonsense' },
      { disposition: 'filename=b.txt; name=file', bytes: 'two' },
      { disposition: 'name="other"', bytes: '' },
    ])
    expect(status).to.equal(200)
    const records = JSON.parse(body.toString()) as WireRecord[]
    expect(records.map(({ originalName, size }) => [originalName, size])).to.deep.equal([
      ['a.txt', 3],
      ['b.txt', 3],
    ])
  })

  itOnce('stores for the client of the secret', async () => {
    const other = await newClient(service)
    const record = await uploadOne(other, { name: 'theirs.txt', bytes: 'theirs' })
    expect(record.src).to.include(`/${other.tokens.clientToken}/`)
    expect(await service.objects()).to.include(`${other.id}/${record.s3PathOriginal}`)
  })

  itOnce('responds 405 with Allow to other methods', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await exchange(service, '/v1/upload', { method })
      expect({ status: answer.status, allow: answer.headers.allow }, method).to.deep.equal({
        status: 405,
        allow: 'POST',
      })
      expect(jsonOf(answer).code).to.equal('method_not_allowed')
    }
  })
})
