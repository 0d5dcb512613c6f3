import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../../support/backends.ts'
import { picture } from '../../../support/media/images.ts'
import { ADMIN_PASSWORD, signedIn } from '../../../support/requests/admin.ts'
import type { Caller } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { s3Server } from '../../../support/servers/s3-server.ts'
import { startService } from '../../../support/service.ts'
import {
  askDirect,
  begunDirect,
  completeDirect,
  putAll,
  recordOf,
} from '../../../support/stored/direct-uploads.ts'

describe('direct uploads of a client with its own bucket', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))

  it('arrive in the bucket of the installation, and are moved to that of the client', async () => {
    const service = await start({ env: { ADMIN_PASSWORD, UPLOAD_MAX_BYTES: String(5 * 1024 ** 4) } })
    const s3 = await s3Server()
    const bucket = await s3.newBucket()
    const { endpoint, region, credentials, forcePathStyle } = s3.connection
    const { accessKeyId, secretAccessKey } = credentials
    const ask = await signedIn(service)
    const { status, json } = await ask('POST', '', {
      storage: { endpoint, region, accessKeyId, secretAccessKey, forcePathStyle, bucket },
    })
    expect(status, JSON.stringify(json)).to.equal(200)
    const client: Caller = { url: service.url, tokens: json as Caller['tokens'] }
    const png = await picture()
    const begun = await begunDirect(client, { name: 'a.png', size: png.length })
    await putAll(begun, png)
    const record = recordOf(await completeDirect(client, begun))
    expect((await exchange(service, new URL(record.src).pathname)).body.equals(png)).to.equal(true)
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: bucket }))
    expect(Contents.map(({ Key }) => Key)).to.include(record.s3PathOriginal)
    expect((await service.objects()).filter((key) => key.includes('/tus/pieces/'))).to.deep.equal([])

    const wrong = await begunDirect(client, { name: 'a.png', size: png.length, sha256: '0'.repeat(64) })
    const { headers, ...request } = wrong.requests[0] as (typeof wrong.requests)[number]
    const sent = await fetch(request.url, { method: 'PUT', headers, body: png })
    expect(sent.status).to.equal(200)
    const answer = await completeDirect(client, wrong)
    expect([answer.status, jsonOf(answer).code]).to.deep.equal([400, 'digest_mismatch'])
    const after = await s3.client.send(new ListObjectsV2Command({ Bucket: bucket }))
    expect(after.Contents).to.have.lengthOf(Contents.length)
    // It would pass through the service.
    const size = 10_000 * 8 * 1024 ** 2 + 1
    expect((await askDirect(client, { name: 'a.bin', size })).status).to.equal(413)
  })
})
