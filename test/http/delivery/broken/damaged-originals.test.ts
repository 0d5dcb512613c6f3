import { Readable } from 'node:stream'
import { expect } from 'chai'
import { assetFromBytes } from '../../../../src/core/bytes/asset.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { createDigestCheck } from '../../../../src/service/maintenance/digest-check.ts'
import { onTwoBackends } from '../../../support/backends.ts'
import { command } from '../../../support/command.ts'
import { picture } from '../../../support/media/images.ts'
import { type FileToUpload, rawPath, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import type { Service } from '../../../support/service.ts'
import { usuallyOnce } from '../../../support/sized.ts'
import { settled } from '../../../support/stored/settled.ts'

onTwoBackends('files that were changed in the bucket directly', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  before(async () => {
    service = await start()
    png = await picture({ width: 60, height: 40 })
  })

  const upload = (bytes: FileToUpload['bytes'] = png) => uploadOne(service, { name: 'a.png', bytes })
  const put = (key: string, bytes: Uint8Array) =>
    service.storage.buckets
      .of({ id: 'first', token: '' })
      .put(storedKey(key), Readable.from([bytes]), { mediaType: 'image/png' })
  const get = async (path: string, headers = {}) => {
    const response = await fetch(path.startsWith('http') ? path : `${service.url}${path}`, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes }
  }
  const raw = ({ s3PathOriginal }: WireRecord) => rawPath(service, s3PathOriginal)

  it('respond with an uncached error when the size is wrong, and are delivered again once restored', async () => {
    const file = await upload()
    for (const wrong of [png.subarray(0, 50), Buffer.concat([png, png]), Buffer.alloc(0)]) {
      await put(file.s3PathOriginal, wrong)
      for (const [path, headers] of [
        [file.src, {}],
        [file.src, { Range: 'bytes=0-9' }],
        [raw(file), {}],
      ] as const) {
        service.log.lines.length = 0
        const answer = await get(path, headers)
        expect(answer.status).to.equal(500)
        expect(answer.headers.get('cache-control')).to.equal('no-store')
        expect(answer.headers.has('etag')).to.equal(false)
        expect(JSON.parse(answer.bytes.toString())).to.include({ code: 'file_damaged' })
        expect(service.log.lines.filter(({ level }) => level === 'error')).to.have.length(1)
      }
    }
    await put(file.s3PathOriginal, png)
    const restored = await get(file.src)
    expect([restored.status, restored.bytes.equals(png)]).to.deep.equal([200, true])
  })

  itUsuallyOnce(
    'have no derivatives: 500, or 422 for an empty file, and neither error is remembered',
    async () => {
      const file = await upload(await picture({ width: 61, height: 40 }))
      const before = await get(file.src)
      await put(file.s3PathOriginal, before.bytes.subarray(0, 60))
      expect((await get(`${file.src}?w=20`)).status).to.equal(500)
      await put(file.s3PathOriginal, Buffer.alloc(0))
      const empty = await get(`${file.src}?w=20`)
      expect(empty.status).to.equal(422)
      expect(JSON.parse(empty.bytes.toString())).to.include({
        detail: 'This file is empty.',
        reason: 'empty',
      })
      const info = await get(file.src.replace('/upload/', '/info/'))
      expect(info.status, info.bytes.toString()).to.equal(200)
      expect(JSON.parse(info.bytes.toString()).problem).to.include({ detail: 'This file is empty.' })
      await put(file.s3PathOriginal, before.bytes)
      expect((await get(`${file.src}?w=20`)).status).to.equal(200)
    },
  )

  itUsuallyOnce('are rendered again when they are derivatives', async () => {
    const file = await upload(await picture({ width: 62, height: 40 }))
    const before = await get(`${file.src}?w=20&f=png`)
    await settled(service)
    // Under the name that the index has: what a query has without effect is not in it.
    const ref = { clientId: 'first', key: storedKey(file.s3PathOriginal) }
    const { derivatives = [] } = (await service.storage.index.look(ref)) ?? {}
    expect(derivatives).to.have.length(1)
    for (const { key } of derivatives) await put(key, Buffer.from('x'))
    const after = await get(`${file.src}?w=20&f=png`)
    expect([after.status, after.bytes.equals(before.bytes)]).to.deep.equal([200, true])
  })

  itUsuallyOnce('are found by a check of digests when the size is unchanged', async () => {
    const other = await start()
    const file = await uploadOne(other, { name: 'a.png', bytes: png })
    const text = await uploadOne(other, { name: 'a.txt', bytes: 'right' })
    expect((await command(other, 'check', { digests: true })).answer).to.deep.include({
      findings: {},
      bytesRead: png.length + 5,
    })
    const flipped = Buffer.from(png)
    flipped[50] = (flipped[50] ?? 0) ^ 1
    const bucket = other.storage.buckets.of({ id: 'first', token: '' })
    await bucket.put(storedKey(file.s3PathOriginal), Readable.from([flipped]), { mediaType: 'image/png' })
    expect((await command(other, 'check')).findings).to.deep.equal([])
    const { findings, answer } = await command(other, 'check', { digests: true })
    expect(findings).to.deep.equal([`bytes differ: first ${file.s3PathOriginal}`])
    expect(answer).to.have.property('bytesRead', png.length + 5)
    expect(text.size).to.equal(5)
  })
})

describe('a check of digests', () => {
  const asset = (size: number) =>
    assetFromBytes(Buffer.alloc(size), { mediaType: 'text/plain', lastModified: new Date() })

  it('reads no faster than its rate, and stops at once when it is aborted', async () => {
    const closing = new AbortController()
    const check = createDigestCheck({ signal: closing.signal, bytesPerSecond: 100_000 })
    const begun = performance.now()
    await Promise.all([check.sha256(asset(5000)), check.sha256(asset(5000))])
    expect(performance.now() - begun).to.be.above(90)
    expect(check.bytesRead()).to.equal(10_000)
    const endless = check.sha256(asset(1e9)).catch((error: Error) => error.name)
    setTimeout(() => closing.abort(), 20)
    expect(await endless).to.equal('AbortError')
  })
})
