import { expect } from 'chai'
import type { Asset } from '../../../src/core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { rejection } from '../../support/rejection.ts'
import { BESIDE, bytesOf, KEY, listed, MIB, onS3, PART, put, VIDEO } from './s3-setup.ts'

const FIRST = { id: FIRST_CLIENT_ID, token: '' }

describe('s3: a captive portal that answers 200 with a page', () => {
  const s3 = onS3()
  const page = {
    kind: 'answer' as const,
    status: 200,
    headers: { 'Content-Type': 'text/html' },
    body: '<html><body>Sign in</body></html>',
  }

  for (const [what, method, size] of [
    ['an object', 'PUT', 1000],
    ['a part', 'PUT', PART + MIB],
    ['the end of a multipart upload', 'POST', PART + MIB],
  ] as const)
    it(`does not count as success: ${what}`, async () => {
      const key = size > PART ? VIDEO : KEY
      s3.proxy.decide((request) => {
        const isBegin = request.query.has('uploads')
        return request.method === method && !isBegin ? page : undefined
      })
      const error = await rejection(put(s3.bucket, key, bytesOf(size).source, { mediaType: 'text/plain' }))
      expect(error).to.include({ status: 503 })
      s3.proxy.decide(() => undefined)
      expect(await s3.bucket.find(key)).to.equal(undefined)
      expect(await s3.openUploads()).to.deep.equal([])
    })

  it('does not count as a successful delete', async () => {
    await s3.fill(FIRST, [KEY, BESIDE])
    s3.proxy.decide(({ method }) => (method === 'POST' ? page : undefined))
    const { failed } = await s3.bucket.delete([KEY, BESIDE])
    expect(failed.map(({ key }) => key).sort()).to.deep.equal([KEY, BESIDE].sort())
    for (const { error } of failed) expect(error).to.include({ status: 503 })
    s3.proxy.decide(() => undefined)
    expect(await listed(s3.bucket, '')).to.deep.equal([KEY, BESIDE].sort())
    expect((await s3.bucket.delete([KEY, BESIDE])).failed).to.deep.equal([])
  })

  const readings: Record<string, () => Promise<unknown>> = {
    'an empty list': () => listed(s3.bucket, ''),
    'a file': () => s3.bucket.find(KEY),
    'a bucket that can be used': () => s3.buckets.ping(),
    'a list without unfinished uploads': () => s3.buckets.sweep(0),
  }
  for (const [what, read] of Object.entries(readings))
    it(`does not count as ${what}`, async () => {
      s3.proxy.decide(() => page)
      expect(await rejection(read())).to.include({ status: 503 })
    })

  it('does not count as the bytes of a file', async () => {
    await s3.fill(FIRST, [KEY])
    const asset = await s3.bucket.find(KEY)
    s3.proxy.decide(() => page)
    expect(await rejection((asset as Asset).open())).to.include({ status: 503 })
  })

  it('is not read without end', async () => {
    s3.proxy.decide(() => ({ ...page, body: `<ListBucketResult>${' '.repeat(9 * MIB)}</ListBucketResult>` }))
    expect(await rejection(listed(s3.bucket, ''))).to.include({ status: 503 })
  })
})
