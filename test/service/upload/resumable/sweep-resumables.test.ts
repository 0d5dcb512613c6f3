import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { resumablePiece, resumableRecordKey } from '../../../../src/core/files/resumable-key.ts'
import { readResumable, writeResumable } from '../../../../src/service/upload/resumable/resumable-record.ts'
import { onTwoBackends } from '../../../support/backends.ts'
import { command } from '../../../support/command.ts'
import { eventually } from '../../../support/eventually.ts'
import { picture } from '../../../support/media/images.ts'
import { newClient } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { begin, patch, recordIn, tus } from '../../../support/requests/tus.ts'
import type { Service } from '../../../support/service.ts'
import { usuallyOnce } from '../../../support/sized.ts'

const EXPIRE_SECONDS = 3

onTwoBackends('abandoned resumable uploads', (start, backend, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start({
      clientCacheTtlMs: 200,
      env: { RESUMABLE_UPLOAD_TTL_SECONDS: String(EXPIRE_SECONDS) },
    })
  })

  const left = async () => (await service.objects()).filter((key) => key.includes('.sluice/tus/'))
  const sweep = () => command(service, 'sweep', {})
  /** Whether an upload that began at this time has not expired yet. On a slow machine, it may have. */
  const isValid = (begunAt: number) => Date.now() < begunAt + EXPIRE_SECONDS * 1000
  const first = () => service.storage.buckets.of({ id: 'first', token: '' })

  itUsuallyOnce('are deleted with all their bytes when they have expired, and not before', async () => {
    const begunAt = Date.now()
    const address = await begin(service, png.length)
    await patch(service, address, { offset: 0, body: png.subarray(0, 50) })
    await sweep()
    const kept = await left()
    if (isValid(begunAt)) expect(kept).to.have.lengthOf(2)
    await pause(EXPIRE_SECONDS * 1000)
    expect((await tus(service, address, { method: 'HEAD' })).status).to.equal(410)
    expect((await patch(service, address, { offset: 50, body: png.subarray(50) })).status).to.equal(410)
    await sweep()
    expect(await left()).to.deep.equal([])
    expect((await tus(service, address, { method: 'HEAD' })).status).to.equal(404)
  })

  itUsuallyOnce('return the stored record for the same time, and the original remains', async () => {
    const begunAt = Date.now()
    const address = await begin(service, png.length)
    const { src } = recordIn(await patch(service, address, { offset: 0, body: png }))
    await sweep()
    const { status } = await tus(service, address)
    if (isValid(begunAt)) expect(status).to.equal(200)
    await pause(EXPIRE_SECONDS * 1000)
    await sweep()
    expect(await left()).to.deep.equal([])
    expect((await tus(service, address)).status).to.equal(404)
    expect((await exchange(service, src)).status).to.equal(200)
  })

  itUsuallyOnce('are deleted when they have expired complete and refused, and not before', async () => {
    const begunAt = Date.now()
    const address = await begin(service, png.length)
    const ref = { clientId: 'first', id: address.slice(-22) }
    const record = await readResumable(first(), ref)
    if (!record) throw new Error('no record')
    // Signed with a key that is no more.
    const link = `/v1/upload/sign/${record.fileId}/first.0....${'a'.repeat(43)}/_?expirationIn=60`
    await writeResumable(first(), ref, { ...record, link })
    const { key } = resumablePiece(ref, { start: 0, end: png.length })
    await first().put(key, Readable.from([png]), { mediaType: 'a/b' })
    await sweep()
    const kept = await left()
    if (isValid(begunAt)) expect(kept).to.have.lengthOf(2)
    await pause(EXPIRE_SECONDS * 1000)
    await sweep()
    expect(await left()).to.deep.equal([])
  })

  itUsuallyOnce(
    'are no files when they are complete parts, and are deleted when they have expired',
    async () => {
      const begunAt = Date.now()
      const address = await begin(service, png.length, { headers: { 'Upload-Concat': 'partial' } })
      await patch(service, address, { offset: 0, body: png })
      const before = await service.objects()
      await sweep()
      const kept = await service.objects()
      if (isValid(begunAt)) expect(kept).to.deep.equal(before)
      await pause(EXPIRE_SECONDS * 1000)
      await sweep()
      expect(await left()).to.deep.equal([])
    },
  )

  it('become a file when they join complete parts, although the process has died before it was stored', async () => {
    const address = await begin(service, png.length, { headers: { 'Upload-Concat': 'partial' } })
    await patch(service, address, { offset: 0, body: png })
    const part = { id: address.slice(-22), size: png.length }
    const ref = { clientId: 'first', id: '2222222222222222222222' }
    const record = await readResumable(first(), { ...ref, id: part.id })
    if (!record) throw new Error('no record')
    const { isPartial: _, ...whole } = record
    await writeResumable(first(), ref, { ...whole, fileId: ref.id, originalName: 'a.png', parts: [part] })
    await sweep()
    expect((await readResumable(first(), ref))?.stored?.key).to.equal(`image/png/${ref.id}.png`)
    expect((await left()).filter((key) => key.includes(part.id))).to.deep.equal([])
    await tus(service, `/v1/tus/${ref.id}`, { method: 'DELETE' })
  })

  itUsuallyOnce('leave no orphaned pieces', async () => {
    const other = await start()
    const ref = { clientId: 'first', id: '1111111111111111111111' }
    const bucket = other.storage.buckets.of({ id: 'first', token: '' })
    const { key } = resumablePiece(ref, { start: 0, end: 5 })
    await bucket.put(key, Readable.from([Buffer.from('hello')]), { mediaType: 'a/b' })
    await other.stop({ keepData: true })
    const next = await start({ dataDir: other.dataDir })
    await eventually(async () =>
      expect((await next.objects()).filter((name) => name.includes('.sluice/tus/'))).to.deep.equal([]),
    )
  })

  itUsuallyOnce('are ignored by check, reindex and delivery', async () => {
    const address = await begin(service, png.length)
    await patch(service, address, { offset: 0, body: png.subarray(0, 50) })
    const id = address.slice(-22)
    const { clientToken } = service.tokens
    const { key } = resumablePiece({ clientId: 'first', id }, { start: 0, end: 50 })
    expect(await first().find(key)).not.to.equal(undefined)
    for (const path of [key, resumableRecordKey({ clientId: 'first', id })])
      for (const of of [`/v1/image/upload/${clientToken}/${path}`, `/v1/bucket/${clientToken}/${path}`])
        expect((await exchange(service, of)).status, of).to.equal(404)
    for (const name of ['check', 'reindex'])
      expect((await command(service, name)).findings, name).to.deep.equal([])
  })

  it('are deleted with their client', async () => {
    const other = await newClient(service)
    const address = await begin(other, png.length)
    await patch(other, address, { offset: 0, body: png.subarray(0, 50) })
    const done = await begin(other, png.length)
    recordIn(await patch(other, done, { offset: 0, body: png }))
    await command(service, 'client remove', { id: other.id, files: true })
    expect((await service.objects()).filter((name) => name.includes(other.id))).to.deep.equal([])
    expect((await tus(other, address, { method: 'HEAD' })).status).to.equal(401)
  })

  if (backend.name.startsWith('S3'))
    it('leave no multipart uploads in S3', async () => {
      const address = await begin(service, 30_000_000)
      const id = address.slice(-22)
      // Its process died in the middle of a large request with a checksum, which is kept as a whole or not at all.
      const endless = async function* () {
        yield Buffer.alloc(20_000_000)
        await new Promise(() => {})
      }
      const { key } = resumablePiece({ clientId: 'first', id }, { start: 0, end: 30_000_000 })
      first()
        .put(key, Readable.from(endless()), { mediaType: 'a/b' })
        .catch(() => {})
      const halves = async () => (await service.objects()).filter((name) => name.startsWith('half of '))
      await eventually(async () => expect(await halves()).to.have.lengthOf(1))
      // As at each start of an embedded service; what is whole is left alone.
      await patch(service, address, { offset: 0, body: Buffer.alloc(5) })
      await service.storage.buckets.sweep(0)
      expect(await halves()).to.deep.equal([])
      expect((await tus(service, address, { method: 'HEAD' })).headers['upload-offset']).to.equal('5')
      first()
        .put(key, Readable.from(endless()), { mediaType: 'a/b' })
        .catch(() => {})
      await eventually(async () => expect(await halves()).to.have.lengthOf(1))
      expect((await tus(service, address, { method: 'DELETE' })).status).to.equal(204)
      expect(await halves()).to.deep.equal([])
    })
})
