import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { ask } from '../../support/requests/ask.ts'
import { deleteFile, newClient, rawPath, uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { begin, offsetAt, patch, recordIn } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { filePath, listAll } from '../../support/stored/files.ts'

const STEP = { name: 'Größe.STEP', bytes: Buffer.from([1, 2, 3, 0xff, 0, 7]) }

onOneBackend('a file of an unknown format', (start, backend) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('keeps the extension of its name in its key and in all its URLs', async () => {
    const record = await uploadOne(service, STEP, { path: 'a/b' })
    expect(record).to.include({ mimeType: 'application', format: 'bin' })
    expect(record.s3PathOriginal).to.match(/^a\/b\/application\/bin\/[1-9A-HJ-NP-Za-km-z]{22}\.step$/)
    for (const path of [
      record.src,
      `/v1/application/upload/${service.tokens.clientToken}/a/b/${record.sourceName}`,
      rawPath(service, record.s3PathOriginal),
    ]) {
      const { status, headers, body } = await exchange(service, path)
      expect(status, path).to.equal(200)
      expect(headers).to.include({
        'content-type': 'application/octet-stream',
        'x-content-type-options': 'nosniff',
      })
      expect(body.equals(STEP.bytes)).to.equal(true)
    }
    const saved = await exchange(service, `${record.src}?download`)
    expect(saved.headers['content-disposition']).to.include("filename*=UTF-8''Gr%C3%B6%C3%9Fe.STEP")
    const other = record.src.replace('/application/', '/image/')
    expect((await exchange(service, other)).status).to.equal(404)
    expect((await exchange(service, `${record.src}?w=10`)).status).to.equal(422)
  })

  it('is listed, described and deleted', async () => {
    const client = await newClient(service)
    const { sourceName, s3PathOriginal, src } = await uploadOne(client, STEP)
    expect((await listAll(client)).map((file) => file.sourceName)).to.deep.equal([sourceName])
    expect((await ask(client, filePath(sourceName))).body).to.include({ s3PathOriginal })
    await deleteFile(client, sourceName)
    expect((await exchange(service, src)).status).to.equal(404)
    expect(await listAll(client)).to.deep.equal([])
  })

  it('is deduplicated only with an equal file of the same extension', async () => {
    const client = await newClient(service)
    await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
    const [first, same, other] = [
      await uploadOne(client, STEP),
      await uploadOne(client, { ...STEP, name: 'b.step' }),
      await uploadOne(client, { ...STEP, name: 'b.max' }),
    ]
    expect(same).to.deep.equal(first)
    expect(other.sourceName).to.match(/\.max$/)
  })

  it('keeps it in a resumable upload', async () => {
    const address = await begin(service, STEP.bytes.length, { values: { filename: 'a.step' } })
    const answer = await patch(service, address, {
      offset: await offsetAt(service, address),
      body: STEP.bytes,
    })
    expect(recordIn(answer).sourceName).to.match(/\.step$/)
  })

  it('is found again when the index is lost, by a request and by reindex', async () => {
    const before = await start()
    const [one, two] = [await uploadOne(before, STEP), await uploadOne(before, STEP, { path: 'f' })]
    expect((await command(before, 'check')).findings).to.deep.equal([])
    await before.stop({ keepData: true })
    await backend.emptyIndex(before.dataDir)
    const after = await start({ dataDir: before.dataDir })
    expect((await exchange(after, new URL(one.src).pathname)).status).to.equal(200)
    await command(after, 'reindex')
    const keys = (await listAll(after)).map((file) => file.s3PathOriginal)
    expect(keys).to.have.members([one.s3PathOriginal, two.s3PathOriginal])
    expect((await command(after, 'check')).findings).to.deep.equal([])
  })
})
