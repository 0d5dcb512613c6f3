import { Readable } from 'node:stream'
import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { picture } from '../../support/media/images.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { startService } from '../../support/service.ts'
import { listAll } from '../../support/stored/files.ts'

describe('an import of the own bucket in S3', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))

  it('refuses what the service has stored, and imports objects of other systems', async () => {
    const service = await start()
    const png = await picture()
    const stored = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'shop' })
    expect((await exchange(service, `${stored.src}?w=5`)).status).to.equal(200)
    await uploadOne(await newClient(service), { name: 'b.png', bytes: png })
    const bytes = Readable.from([png])
    const bucket = service.storage.buckets.of({ id: FIRST_CLIENT_ID, token: '' })
    await bucket.put(storedKey('shop/old.png'), bytes, { mediaType: 'image/png' })

    const { S3_BUCKET, S3_PREFIX: prefix } = await S3_EMBEDDED.env(service.dataDir)
    const { endpoint, credentials } = (await s3Server()).connection
    const { accessKeyId, secretAccessKey } = credentials
    const s3 = {
      bucket: S3_BUCKET,
      prefix: `${prefix}/`,
      endpoint,
      credentials: { accessKeyId, secretAccessKey },
    }
    const { answer } = await command(service, 'import', { origin: { s3 } })
    expect(answer).to.deep.include({
      imported: 1,
      refused: 2,
      reasons: { 'is in the bucket of the service itself, which has stored it': 2 },
    })
    const keys = (await listAll(service)).map((file) => file.s3PathOriginal)
    expect(keys).to.have.length(2).and.to.include(stored.s3PathOriginal)
    expect((await command(service, 'import', { origin: { s3 } })).answer).to.deep.include({
      imported: 0,
      skipped: 1,
      refused: 3,
    })
  })
})
