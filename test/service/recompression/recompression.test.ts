import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { deleteFile, newClient, signed, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { settled } from '../../support/stored/settled.ts'

const AFTER = 3

onOneBackend('images that are delivered often', (start) => {
  let service: Service
  /** Called when a job asks for idle time. The job waits for what it returns: the idle share of the CPU. */
  let idleCpu: () => Promise<number>
  let record: WireRecord
  let bytes: Buffer
  before(async () => {
    bytes = await photo()
    service = await start({
      env: { RECOMPRESS_AFTER: String(AFTER), METRICS_TOKEN: 'a-token-for-the-metrics' },
      idleCpu: () => idleCpu(),
    })
  })
  beforeEach(async () => {
    idleCpu = async () => 1
    record = await uploadOne(service, { name: 'a.jpg', bytes })
  })

  const get = (query: string, headers = {}) => exchange(service, `${record.src}${query}`, { headers })
  async function deliverOften(query: string): Promise<Answer> {
    let last = await get(query)
    // The response is sent before the derivative is stored, and not counted.
    await settled(service)
    for (let i = 0; i < AFTER; i += 1) last = await get(query)
    return last
  }
  async function replaced(query: string, before: Answer): Promise<Answer> {
    let answer = before
    await eventually(async () => {
      answer = await get(query)
      expect(answer.headers.etag).not.to.equal(before.headers.etag)
    })
    return answer
  }
  const jobs = () => service.app.readMetrics?.() ?? ''
  async function queueIsEmpty() {
    await eventually(async () => {
      expect(await jobs()).to.match(/^sluice_jobs_waiting\{kind="recompress"\} 0$/m)
      expect(await jobs()).to.match(/^sluice_jobs_running\{kind="recompress"\} 0$/m)
    })
  }

  it('become smaller files of the same look, each with an ETag of its own', async () => {
    for (const query of sized(['?w=300&f=webp', '?w=300'], ['?w=300&f=webp', '?w=300', '?w=300&f=png'])) {
      const before = await deliverOften(query)
      const after = await replaced(query, before)
      expect(after.status).to.equal(200)
      expect(after.body.length).to.be.below(0.98 * before.body.length)
      expect(after.headers['content-type']).to.equal(before.headers['content-type'])
      const { width, height } = await sharp(after.body).metadata()
      expect([width, height]).to.deep.equal([300, 200])
    }
  })

  it('are sent again to clients that have the former file, and never joined with it', async () => {
    const query = '?w=200&f=webp'
    const before = await deliverOften(query)
    const etag = String(before.headers.etag)
    const after = await replaced(query, before)
    expect((await get(query, { 'If-None-Match': etag })).status).to.equal(200)
    expect((await get(query, { 'If-None-Match': String(after.headers.etag) })).status).to.equal(304)
    const rest = await get(query, { Range: 'bytes=100-', 'If-Range': etag })
    expect(rest.status).to.equal(200)
    expect(rest.body.equals(after.body)).to.equal(true)
    const own = await get(query, { Range: 'bytes=100-', 'If-Range': String(after.headers.etag) })
    expect(own.status).to.equal(206)
    expect(own.body.equals(after.body.subarray(100))).to.equal(true)
  })

  it('have the date since which they are delivered', async () => {
    // Dates of HTTP have seconds: this one is not that of the upload.
    idleCpu = () => pause(1100, 1)
    const query = '?w=205&f=webp'
    const before = await deliverOften(query)
    const { headers } = await replaced(query, before)
    const ref = { clientId: 'first', key: storedKey(record.s3PathOriginal) }
    const { derivative } = await service.storage.index.find(
      ref,
      storedKey(`${record.s3PathOriginal}_f=webp&w=205`),
    )
    const since = derivative?.state === 'stored' ? (derivative.record.smaller?.since ?? 0) : 0
    expect(headers['last-modified']).to.equal(new Date(since).toUTCString())
    expect(headers['last-modified']).not.to.equal(before.headers['last-modified'])
  })

  it('are delivered as before until there is idle time', async () => {
    let isAsked = () => {}
    let isIdle = (_: number) => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    idleCpu = () =>
      new Promise((resolve) => {
        isIdle = resolve
        isAsked()
      })
    const query = '?w=210&f=webp'
    const before = await deliverOften(query)
    await asked
    expect((await get(query)).headers.etag).to.equal(before.headers.etag)
    // Half of the CPU is not enough.
    const again = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    isIdle(0.5)
    await again
    expect((await get(query)).headers.etag).to.equal(before.headers.etag)
    isIdle(0.51)
    await replaced(query, before)
  })

  it('stay as they are when that would save nothing', async () => {
    const query = '?w=220&f=webp&effort=max'
    const before = await deliverOften(query)
    await queueIsEmpty()
    expect((await get(query)).headers.etag).to.equal(before.headers.etag)
  })

  it('are delivered as before when the smaller file was removed, and the former one remains', async () => {
    const query = '?w=230&f=webp'
    const before = await deliverOften(query)
    const after = await replaced(query, before)
    const smaller = storedKey(String(after.headers.etag).slice(1, -1))
    const { index } = service.storage
    const ref = { clientId: 'first', key: storedKey(record.s3PathOriginal) }
    const deadline = Date.now() + 60_000
    expect(await index.beginEviction(ref, smaller, deadline)).to.equal(true)
    // Another order of the parameters: the hot cache has not been told.
    const again = await get('?f=webp&w=230')
    await index.dropDerivative(ref, smaller, deadline)
    expect(again.headers.etag).to.equal(before.headers.etag)
    expect(again.body.equals(before.body)).to.equal(true)
  })

  it('are listed as derivatives, and deleted with their original', async () => {
    const query = '?w=240&f=webp'
    await replaced(query, await deliverOften(query))
    const info = await exchange(service, `/v1/files/${record.s3PathOriginal}`, {
      headers: { Authorization: service.tokens.secretClientToken },
    })
    const { derivatives } = jsonOf(info) as { derivatives: Array<{ key: string }> }
    const names = derivatives.map(({ key }) => key.slice(key.indexOf('_') + 1))
    expect(names).to.have.members(['f=webp&w=240', 'effort=max&f=webp&w=240'])
    await deleteFile(service, record.s3PathOriginal)
    expect((await get(query)).status).to.equal(404)
    expect((await service.objects()).join(' ')).not.to.include(record.s3PathOriginal)
  })

  it('of clients with presets only are compressed, too', async () => {
    const client = await newClient(service)
    record = await uploadOne(client, { name: 'a.jpg', bytes })
    await service.app.clients.setRules(client.id, { presetsOnly: true })
    const query = '?preset=thumbnail'
    const after = await replaced(query, await deliverOften(query))
    expect(after.headers.etag).to.include('effort=max')
  })

  it('by signed URLs are not compressed: each of these requests may be the last', async () => {
    const client = await newClient(service)
    const { urlKey } = await service.app.clients.addUrlKey(client.id)
    const other = await uploadOne(client, { name: 'a.jpg', bytes })
    const target = signed(`${new URL(other.src).pathname}?w=260&f=webp`, urlKey)
    const getSigned = () => exchange(service, target)
    const before = await getSigned()
    await settled(service)
    for (let i = 0; i < 2 * AFTER; i += 1) expect((await getSigned()).status).to.equal(200)
    // The queue is in order.
    await replaced('?w=260&f=webp', await deliverOften('?w=260&f=webp'))
    expect((await getSigned()).headers.etag).to.equal(before.headers.etag)
  })

  it('are counted in the metrics: the bytes that were not sent', async () => {
    const savedBytes = async () =>
      Number(/^sluice_recompression_saved_bytes_total (\d+)$/m.exec(await jobs())?.[1])
    const query = '?w=250&f=webp'
    const before = await deliverOften(query)
    const after = await replaced(query, before)
    const saved = before.body.length - after.body.length
    const then = await savedBytes()
    await get(query)
    await get(query)
    expect(await savedBytes()).to.equal(then + 2 * saved)
  })
})

/** Waves of colour with noise: no encoder makes it tiny. */
function photo(): Promise<Buffer> {
  const [width, height] = [600, 400]
  const pixels = Buffer.alloc(width * height * 3)
  let noise = 1
  for (let i = 0; i < pixels.length; i += 1) {
    noise = (noise * 16_807) % 2_147_483_647
    const x = Math.floor(i / 3) % width
    const y = Math.floor(i / 3 / width)
    pixels[i] = 128 + 70 * Math.sin(x / (9 + (i % 3))) * Math.cos(y / 13) + (noise % 32) - 16
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 95 })
    .toBuffer()
}
