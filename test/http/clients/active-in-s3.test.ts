import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { type Service, startService } from '../../support/service.ts'

// The last is sent in parts.
const ACTIVE = {
  'a.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>',
  'a.html': '<!doctype html><script>alert(1)</script>',
  'a.xml': '<?xml version="1.0"?><a xmlns:x="http://www.w3.org/1999/xhtml"><x:script>alert(1)</x:script></a>',
  'a.js': 'alert(document.domain)',
  'large.html': `<!doctype html>${'<p>text</p>'.repeat(900_000)}`,
}

describe('active content in S3', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  let service: Service
  before(async () => {
    service = await start()
  })

  async function headInS3(key: string) {
    const { client } = await s3Server()
    const { S3_BUCKET: Bucket, S3_PREFIX: prefix } = await S3_EMBEDDED.env(service.dataDir)
    return client.send(new HeadObjectCommand({ Bucket, Key: `${prefix}/${key}` }))
  }

  for (const [name, bytes] of Object.entries(ACTIVE)) {
    it(`is downloaded from the public address of the bucket, and unchanged in deliveries of Sluice: ${name}`, async () => {
      const { src, s3PathOriginal, mimeType } = await uploadOne(service, { name, bytes })
      const { ContentDisposition, ContentType } = await headInS3(s3PathOriginal)
      expect(ContentDisposition, mimeType).to.equal('attachment')
      const { status, headers, body } = await exchange(service, src)
      expect(status).to.equal(200)
      expect(headers['content-type']).to.equal(ContentType)
      expect(headers).to.not.have.property('content-disposition')
      expect(body.toString()).to.equal(bytes)
    })
  }

  it('is the only content that is downloaded: images and text are shown', async () => {
    for (const [name, bytes] of Object.entries({ 'a.png': await picture(), 'a.txt': 'text' })) {
      const { s3PathOriginal } = await uploadOne(service, { name, bytes })
      expect((await headInS3(s3PathOriginal)).ContentDisposition, name).to.equal(undefined)
    }
  })
})
