import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { s3Clients } from '../../../../src/adapters/bucket/s3/client.ts'
import { copyObject } from '../../../../src/adapters/bucket/s3/copy.ts'
import { s3Buckets } from '../../../../src/adapters/bucket/s3/s3.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { bucketCopyContract } from '../../../contracts/bucket-copy.ts'
import { rejection } from '../../../support/rejection.ts'
import type { Fate } from '../../../support/servers/s3-proxy.ts'
import { s3Server } from '../../../support/servers/s3-server.ts'
import { bytesOf, digestOf, MIB, onS3, put, VIDEO } from '../s3-setup.ts'

bucketCopyContract('s3', async () => {
  const server = await s3Server()
  const options = { ...server.connection, bucket: await server.newBucket(), prefix: 'a prefix' }
  return { buckets: await s3Buckets(options), close: async () => {} }
})

// The smallest part that S3 accepts.
const PART = 5 * MIB
const TWO_PARTS = PART + 3
const COPY = 'b/video/mp4/7uLqEUXG4WpoGGa38h2U9Z.mp4'

describe('s3: a copy in parts', () => {
  const s3 = onS3()
  const copy = (partBytes: number, signal?: AbortSignal, long = {}) =>
    copyObject(s3Clients({ ...s3.server.connection, endpoint: s3.proxy.endpoint }), {
      bucket: s3.name,
      from: VIDEO,
      to: COPY,
      mediaType: 'video/mp4',
      partBytes,
      signal,
      ...long,
    })
  const noUpload: Fate = {
    kind: 'answer',
    status: 404,
    headers: { 'Content-Type': 'application/xml' },
    body: '<Error><Code>NoSuchUpload</Code></Error>',
  }
  const parts = () => s3.proxy.seen.filter(({ query }) => query.has('partNumber')).length

  it('has all bytes and the properties of the object, and no byte passes through the service', async () => {
    const { source, digest } = bytesOf(2 * PART + 3)
    await put(s3.bucket, VIDEO, source, { mediaType: 'video/mp4' })
    s3.proxy.seen.length = 0
    expect(await copy(PART)).to.equal(true)
    expect(parts()).to.equal(3)
    const buckets = await s3.open({ endpoint: s3.server.connection.endpoint })
    const asset = await buckets.of({ id: 'first', token: '' }).find(COPY as typeof VIDEO)
    expect(asset).to.include({ size: 2 * PART + 3, mediaType: 'video/mp4' })
    expect(asset && (await digestOf(await asset.open()))).to.equal(digest())
    expect(s3.proxy.seen.filter(({ method }) => method === 'GET')).to.have.length(0)
    expect(await s3.openUploads()).to.deep.equal([])
  })

  it('is one request up to the size of a part', async () => {
    await put(s3.bucket, VIDEO, bytesOf(PART).source, { mediaType: 'video/mp4' })
    s3.proxy.seen.length = 0
    expect(await copy(PART)).to.equal(true)
    expect(parts()).to.equal(0)
    const head = await s3.server.client.send(new HeadObjectCommand({ Bucket: s3.name, Key: COPY }))
    expect(head.ContentLength).to.equal(PART)
  })

  it('leaves nothing when a part fails', async () => {
    await put(s3.bucket, VIDEO, bytesOf(TWO_PARTS).source, { mediaType: 'video/mp4' })
    s3.proxy.decide(({ query }) =>
      query.get('partNumber') === '2' ? { kind: 'answer', status: 403 } : undefined,
    )
    const error = await rejection(copy(PART))
    expect(error).to.be.instanceOf(Problem).with.property('status', 503)
    expect(await s3.openUploads()).to.deep.equal([])
    expect(await s3.names()).to.deep.equal([VIDEO])
  })

  it('is not lost by an outage when it is long: a part that fails is tried again', async () => {
    const { source, digest } = bytesOf(TWO_PARTS)
    await put(s3.bucket, VIDEO, source, { mediaType: 'video/mp4' })
    let failures = 0
    s3.proxy.decide(({ query }) => {
      // The tries of one request.
      if (query.get('partNumber') !== '2' || failures === 3) return undefined
      failures += 1
      return { kind: 'answer', status: 500 }
    })
    expect(await copy(PART, undefined, { longBytes: TWO_PARTS, retryMs: 1 })).to.equal(true)
    const asset = await s3.bucket.find(COPY as typeof VIDEO)
    expect(asset && (await digestOf(await asset.open()))).to.equal(digest())
    failures = 0
    expect(await rejection(copy(PART))).to.have.property('status', 503)
  })

  it('is complete when only the response to its last request was lost', async () => {
    await put(s3.bucket, VIDEO, bytesOf(TWO_PARTS).source, { mediaType: 'video/mp4' })
    let isLost = false
    s3.proxy.decide(({ method, query }) => {
      if (method !== 'POST' || !query.has('uploadId')) return undefined
      if (isLost) return noUpload
      isLost = true
      return { kind: 'pass', lost: true }
    })
    expect(await copy(PART)).to.equal(true)
    expect(isLost).to.equal(true)
    expect(await s3.names()).to.deep.equal([COPY, VIDEO])
  })

  it('is a failure, and no missing object, when another program aborts it', async () => {
    await put(s3.bucket, VIDEO, bytesOf(TWO_PARTS).source, { mediaType: 'video/mp4' })
    const tries: string[] = []
    s3.proxy.decide(({ method, query }) => {
      if (method !== 'POST' || !query.has('uploadId')) return undefined
      tries.push(method)
      return noUpload
    })
    const long = { longBytes: TWO_PARTS, retryMs: 1 }
    expect(await rejection(copy(PART, undefined, long))).to.have.property('status', 503)
    expect(tries).to.have.lengthOf(1)
  })

  it('leaves nothing when the signal aborts', async () => {
    await put(s3.bucket, VIDEO, bytesOf(TWO_PARTS).source, { mediaType: 'video/mp4' })
    const controller = new AbortController()
    s3.proxy.decide(({ query }) => {
      if (query.has('partNumber')) controller.abort()
      return undefined
    })
    expect(await rejection(copy(PART, controller.signal))).to.have.property('name', 'AbortError')
    expect(await s3.openUploads()).to.deep.equal([])
    expect(await s3.names()).to.deep.equal([VIDEO])
  })
})
