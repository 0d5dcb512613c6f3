import { expect } from 'chai'
import { onTwoBackends } from '../../support/backends.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { tus } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'

onTwoBackends('empty files', (start, _, itOnce) => {
  let service: Service
  let secret: Record<string, string>
  before(async () => {
    service = await start()
    secret = { Authorization: service.tokens.secretClientToken }
  })

  async function expectEmpty({ src, ...record }: WireRecord, expected: Partial<WireRecord>): Promise<void> {
    expect(record).to.include({ size: 0, ...expected })
    const { status, headers, body } = await exchange(service, src)
    expect([status, headers['content-length'], body.length]).to.deep.equal([200, '0', 0])
    const part = await exchange(service, src, { headers: { Range: 'bytes=0-' } })
    expect([part.status, part.headers['content-range']]).to.deep.equal([416, 'bytes */0'])
  }

  it('are stored by a form, and delivered', async () => {
    const kept = await uploadOne(service, { name: '.gitkeep', bytes: Buffer.alloc(0) })
    await expectEmpty(kept, { originalName: '.gitkeep', mimeType: 'application', format: 'bin' })
    const log = await uploadOne(service, { name: 'today.txt', bytes: Buffer.alloc(0) })
    await expectEmpty(log, { originalName: 'today.txt', mimeType: 'text', format: 'txt' })
  })

  it('are stored by a body, a signed link and tus', async () => {
    const put = { method: 'PUT', body: '' }
    const recordIn = (answer: Answer) => (jsonOf(answer) as unknown as [WireRecord])[0]
    const raw = await exchange(service, '/v1/upload/a.txt', { ...put, headers: secret })
    await expectEmpty(recordIn(raw), { originalName: 'a.txt' })
    const { url } = jsonOf(await exchange(service, '/v1/sign/logs?expirationIn=60', { headers: secret }))
    await expectEmpty(recordIn(await exchange(service, String(url), put)), { format: 'bin' })
    const filename = Buffer.from('b.csv').toString('base64')
    const created = await tus(service, '/v1/tus', {
      method: 'POST',
      headers: { 'Upload-Length': 0, 'Upload-Metadata': `filename ${filename}` },
    })
    expect(created.status).to.equal(201)
    const stored = await exchange(service, String(created.headers.location), { headers: secret })
    await expectEmpty(recordIn(stored), { originalName: 'b.csv', format: 'csv' })
  })

  it('are zipped, copied, listed and deleted', async () => {
    const record = await uploadOne(service, { name: 'empty.log', bytes: Buffer.alloc(0) }, { path: 'logs' })
    const { s3PathOriginal: path } = record
    const zip = await postZip(service, { files: [{ path, name: 'empty.log' }] })
    const entries = entriesOf(Buffer.from(await zip.arrayBuffer()))
    expect(entries[0]).to.deep.include({ name: 'empty.log', bytes: Buffer.alloc(0) })
    expect(manifestOf(entries)).to.deep.equal([{ path, name: 'empty.log', status: 'ok', size: 0 }])
    const copied = await exchange(service, '/v1/files/copy', {
      method: 'POST',
      headers: { ...secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ files: [{ from: path, to: 'copies' }] }),
    })
    expect([copied.status, copied.body.toString()].join(' ')).to.match(/^20. .*"size":0/)
    const listed = jsonOf(await exchange(service, '/v1/files?prefix=logs', { headers: secret }))
    expect(JSON.stringify(listed)).to.include(path).and.include('"size":0')
    expect(
      (await exchange(service, `/v1/upload/${path}`, { method: 'DELETE', headers: secret })).status,
    ).to.equal(200)
    expect((await exchange(service, record.src)).status).to.equal(404)
  })

  itOnce('cannot be transformed', async () => {
    const { src } = await uploadOne(service, { name: 'empty.txt', bytes: Buffer.alloc(0) })
    const answer = await exchange(service, `${src}?w=100`)
    expect(jsonOf(answer)).to.include({ status: 422, code: 'not_transformable', reason: 'empty' })
  })
})
