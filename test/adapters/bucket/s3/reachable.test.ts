import { expect } from 'chai'
import { s3Buckets } from '../../../../src/adapters/bucket/s3/s3.ts'
import { FIRST_CLIENT_ID } from '../../../../src/core/clients/client.ts'

describe('whether clients are expected to reach a bucket', () => {
  const cases: Array<
    [endpoint: string | undefined, directEndpoint: string | undefined, isReachable: boolean]
  > = [
    [undefined, undefined, true],
    ['https://s3.eu-central-1.amazonaws.com', undefined, true],
    ['https://s3.cn-north-1.amazonaws.com.cn', undefined, true],
    ['https://bucket.vpce-1a2b3c4d-5e6f.s3.us-east-1.vpce.amazonaws.com', undefined, false],
    ['http://minio:9000', undefined, false],
    ['http://minio:9000', 'https://s3.example.com', true],
    ['https://s3.amazonaws.com.example.com', undefined, false],
  ]
  for (const [endpoint, directEndpoint, isReachable] of cases)
    it(`${isReachable ? 'yes' : 'no'}: ${endpoint}, with S3_DIRECT_ENDPOINT ${directEndpoint}`, async () => {
      const buckets = await s3Buckets({
        ...{ bucket: 'photos', region: 'eu-central-1', forcePathStyle: false, prefix: '' },
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
        endpoint,
        directEndpoint,
      })
      expect(buckets.of({ id: FIRST_CLIENT_ID, token: '' }).isReachable).to.equal(isReachable)
    })
})
