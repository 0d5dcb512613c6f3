import { expect } from 'chai'
import { unavailable } from '../../../src/core/problem.ts'
import { postZip, uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'

describe('an archive while the bucket is unavailable', () => {
  let service: Service
  let isAway: (key: string) => boolean = () => false
  before(async () => {
    service = await startService({
      wrapStorage: wrapBuckets((bucket) => ({
        async find(key, known) {
          if (isAway(key)) throw unavailable('The bucket cannot be reached.')
          return bucket.find(key, known)
        },
      })),
    })
  })
  after(() => service.stop())

  it('responds 503 when no file can be delivered, else with an archive of the available files', async () => {
    const files = await Promise.all(
      ['a.txt', 'b.txt'].map((name) => uploadOne(service, { name, bytes: name })),
    )
    const paths = { files: files.map(({ s3PathOriginal: path }) => ({ path, type: 'text' })) }
    isAway = () => true
    const refused = await postZip(service, paths)
    expect(refused.status).to.equal(503)
    expect(refused.headers.get('content-type')).to.match(/^application\/problem\+json/)
    expect(refused.headers.has('content-disposition')).to.equal(false)
    expect(refused.headers.has('retry-after')).to.equal(true)
    expect(await refused.json()).to.include({ detail: 'The bucket cannot be reached.' })

    isAway = (key) => key.endsWith(String(files[0]?.s3PathOriginal))
    const partial = await postZip(service, paths)
    expect([partial.status, partial.headers.get('content-type')]).to.deep.equal([200, 'application/zip'])
    await partial.arrayBuffer()
    isAway = () => false
  })
})
