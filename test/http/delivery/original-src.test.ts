import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { rejection } from '../../support/rejection.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

// What a URL has to write in another way, and what it need not.
const FOLDERS = [undefined, 'a/b/c', 'größe/写真/🙂', `semi;colon, & = + % " '`]

onOneBackend('originalSrc', (start, backend) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  const encoded = (key: string) => key.split('/').map(encodeURIComponent).join('/')

  /** Where the bucket is in S3, or undefined where it is a folder of a disk. */
  async function inS3({ dataDir }: Service): Promise<string | undefined> {
    const { AWS_ENDPOINT_URL_S3, S3_BUCKET, S3_PREFIX } = await backend.env(dataDir)
    return S3_BUCKET && `${AWS_ENDPOINT_URL_S3}/${S3_BUCKET}/${S3_PREFIX}`
  }

  for (const path of FOLDERS) {
    it(`is the URL in S3, or that of the raw route: ${path ?? 'without a folder'}`, async () => {
      const root = (await inS3(service)) ?? `${service.url}/v1/bucket/${service.tokens.clientToken}`
      const options = path === undefined ? {} : { path }
      const { originalSrc, s3Path } = await uploadOne(service, { name: 'a.txt', bytes: 'text' }, options)
      expect(originalSrc).to.equal(`${root}/${encoded(s3Path)}`)
      if (originalSrc.startsWith(service.url))
        expect((await exchange(service, originalSrc)).body.toString()).to.equal('text')
    })
  }

  it('is in the root of another client for its files', async () => {
    const other = await newClient(service)
    const bucket = await inS3(service)
    const { originalSrc, s3Path } = await uploadOne(other, { name: 'a.txt', bytes: 'text' })
    const root = bucket
      ? `${bucket}/.sluice/roots/${other.id}`
      : `${service.url}/v1/bucket/${other.tokens.clientToken}`
    expect(originalSrc).to.equal(`${root}/${s3Path}`)
  })

  it('begins with S3_PUBLIC_URL in S3; on a disk this variable is a ConfigError', async () => {
    const publish = () => start({ env: { S3_PUBLIC_URL: 'https://files.example/x/' } })
    if (!(await inS3(service))) {
      expect(await rejection(publish())).to.include({ name: 'ConfigError' })
      return
    }
    const published = await publish()
    const { S3_PREFIX } = await backend.env(published.dataDir)
    const { originalSrc, s3Path } = await uploadOne(published, { name: 'a.txt', bytes: 'text' })
    expect(originalSrc).to.equal(`https://files.example/x/${S3_PREFIX}/${s3Path}`)
  })
})
