import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { S3BucketOptions } from '../../../../src/adapters/bucket/s3/s3.ts'
import type { Asset } from '../../../../src/core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../../../src/core/clients/client.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { eventually } from '../../../support/eventually.ts'
import { inTime, PROMISED_MS } from '../../../support/promised.ts'
import { rejection } from '../../../support/rejection.ts'
import { type S3Proxy, s3Proxy } from '../../../support/servers/s3-proxy.ts'
import { itLong } from '../../../support/sized.ts'
import { bytesOf, digestOf, forEach, KEY, MIB, onS3, put, USUAL, VIDEO } from '../s3-setup.ts'

const SIZE = 20 * MIB

describe('s3: downloads', () => {
  const s3 = onS3()
  let asset: Asset
  let digest: string
  /** Of this test alone, so that connections can be counted. */
  let proxy: S3Proxy

  /** The bucket of all tests. */
  let name: string | undefined

  beforeEach(async () => {
    if (name === undefined) {
      const sent = bytesOf(SIZE)
      await put(s3.bucket, VIDEO, sent.source)
      digest = sent.digest()
      name = s3.name
    }
    proxy = await s3Proxy(s3.server.connection.endpoint)
    asset = await found()
  })
  afterEach(() => proxy.close())

  const found = async (options: Partial<S3BucketOptions> = {}) => {
    const buckets = await s3.open({ endpoint: proxy.endpoint, bucket: name as string, ...options })
    const asset = await buckets.of({ id: FIRST_CLIENT_ID, token: '' }).find(VIDEO)
    if (!asset) throw new Error('nothing is there')
    return asset
  }
  /** None but the one that has asked for the size, and one that has come to its end. */
  const noneUnderWay = () => eventually(async () => expect(await proxy.connections()).to.be.at.most(2))
  const begun = async (stream: Readable) => {
    for await (const _ of stream) break
  }

  it('forward a range, and return no more than it', async () => {
    const range = { start: 3 * MIB, end: 3 * MIB + 99 }
    let length = 0
    for await (const chunk of await asset.open({ range })) length += (chunk as Buffer).length
    expect(length).to.equal(100)
    expect(proxy.seen.at(-1)?.headers.range).to.equal(`bytes=${range.start}-${range.end}`)
  })

  it('fail when S3 sends the whole file instead of a range', async () => {
    proxy.decide(() => ({
      kind: 'answer',
      status: 200,
      headers: { 'content-length': '9' },
      body: 'all of it',
    }))
    const error = await rejection(asset.open({ range: { start: 0, end: 4 } }))
    expect(error).to.be.instanceOf(Problem).with.property('status', 503)
  })

  it('release their connection at the end', async () => {
    for (let i = 0; i < 3; i += 1) expect(await digestOf(await asset.open())).to.equal(digest)
    await noneUnderWay()
  })

  describe('close their connection', () => {
    it('when the stream is destroyed before any byte was read', async () => {
      for (let i = 0; i < 5; i += 1) (await asset.open()).destroy()
      await noneUnderWay()
    })

    it('when the stream is destroyed in the middle', async () => {
      for (let i = 0; i < 5; i += 1) await begun(await asset.open())
      await noneUnderWay()
    })

    it('when the signal aborts', async () => {
      const controller = new AbortController()
      const streams = await Promise.all([1, 2, 3].map(() => asset.open({ signal: controller.signal })))
      expect(await proxy.connections()).to.be.at.least(3)
      const outcomes = streams.map((stream) => rejection(digestOf(stream)))
      controller.abort()
      for (const error of await Promise.all(outcomes)) expect(error).to.have.property('name', 'AbortError')
      await noneUnderWay()
    })

    it('at once when the signal aborts while S3 sends nothing', async () => {
      proxy.decide(() => ({ kind: 'pass', received: { afterBytes: 1000, by: 'stall' } }))
      const controller = new AbortController()
      const stream = await asset.open({ signal: controller.signal })
      const outcome = rejection(digestOf(stream))
      await pause(50)
      controller.abort()
      // The silence of S3 would be a 503.
      expect(await outcome).to.have.property('name', 'AbortError')
      await noneUnderWay()
    })

    it('when the signal aborts before S3 has responded', async () => {
      const controller = new AbortController()
      proxy.decide(() => {
        setTimeout(() => controller.abort(), 20)
        return { kind: 'stall' }
      })
      expect(await rejection(asset.open({ signal: controller.signal }))).to.have.property(
        'name',
        'AbortError',
      )
      await noneUnderWay()
    })
  })

  it('fail when they are truncated', async () => {
    for (const afterBytes of [0, 1000, SIZE - 1]) {
      proxy.decide(() => ({ kind: 'pass', received: { afterBytes, by: 'reset' } }))
      const error = await rejection(asset.open().then(digestOf))
      expect(error, `after ${afterBytes} bytes`).to.be.instanceOf(Problem).with.property('status', 503)
    }
    await noneUnderWay()
  })

  it('fail when they stall for longer than S3 may be silent', async () => {
    asset = await found({ silenceMs: 1000 })
    for (const afterBytes of [1000, SIZE - 1]) {
      proxy.decide(() => ({ kind: 'pass', received: { afterBytes, by: 'stall' } }))
      const error = (await inTime('download', rejection(asset.open().then(digestOf)))) as Problem
      expect(error).to.be.instanceOf(Problem).with.property('status', 503)
      expect(String(error.cause)).to.include('no bytes for 1000 ms')
    }
    await noneUnderWay()
  })

  itLong('wait for a reader that pauses for longer than S3 may', async () => {
    asset = await found(USUAL)
    const stream = await asset.open()
    let length = 0
    await pipeline(stream, async (source) => {
      for await (const chunk of source) {
        if (length === 0) await pause(PROMISED_MS)
        length += (chunk as Buffer).length
      }
    })
    expect(length).to.equal(SIZE)
  })

  it('do not block others, however many stall', async () => {
    const direct = await s3.open({ endpoint: s3.server.connection.endpoint })
    const bucket = direct.of({ id: FIRST_CLIENT_ID, token: '' })
    // More than a stream reads ahead.
    const size = MIB / 4
    await put(bucket, KEY, bytesOf(size).source)
    const small = (await bucket.find(KEY)) as Asset
    const streams: Readable[] = []
    // More than there are connections for calls.
    await forEach(Array(300).fill(small), async (one: Asset) => streams.push(await one.open()))
    await begun(await small.open())
    expect(await bucket.find(KEY)).to.include({ size })
    // They have waited for none of the others, which would have failed by then.
    expect(streams.filter(({ errored, destroyed }) => errored || destroyed)).to.have.length(0)
    for (const stream of streams) stream.destroy()
  })
})
