import { expect } from 'chai'
import { rejection } from '../../support/rejection.ts'
import type { Fate } from '../../support/s3-proxy.ts'
import { bytesOf, KEY, MIB, onS3, PART, put, VIDEO } from './s3-setup.ts'

describe('s3: a portal that answers 200 with a page', function () {
  this.timeout(30_000)
  const s3 = onS3()
  const page: Fate = {
    kind: 'answer',
    status: 200,
    headers: { 'Content-Type': 'text/html' },
    body: '<html><body>Sign in</body></html>',
  }

  for (const [what, method, size] of [
    ['an object', 'PUT', 1000],
    ['a part', 'PUT', PART + MIB],
    ['the end of a multipart upload', 'POST', PART + MIB],
  ] as const)
    it(`is not believed to have stored ${what}`, async () => {
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
})
