import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'
import { loadEverything } from '../../src/app.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { sound, video } from '../support/media/videos.ts'
import { rejection } from '../support/rejection.ts'
import { ask } from '../support/requests/ask.ts'
import { deleteFile, uploadOne, type WireRecord } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import { PROJECT, type Service, type ServiceOptions, startService } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'
import { wrapBuckets } from '../support/storage.ts'
import { filePath } from '../support/stored/files.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

describe('webhooks of the service', () => {
  let target: Receiver
  let service: Service | undefined

  beforeEach(async () => {
    target = await receiver()
  })
  afterEach(async () => {
    await service?.stop()
    service = undefined
    await target.close()
  })

  async function start(
    env: Record<string, string> = {},
    options: Pick<ServiceOptions, 'wrapStorage'> = {},
  ): Promise<Service> {
    service = await startService({
      ...options,
      env: {
        WEBHOOK_URL: target.url('/hooks'),
        WEBHOOK_SECRET: SECRET,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
        ...env,
      },
    })
    return service
  }
  const payloads = () => target.received.map(({ body }) => JSON.parse(String(body)))

  it('are sent for an upload, a derivative and a delete', async () => {
    const running = await start({ WEBHOOK_EVENTS: 'original.stored,original.deleted,derivative.stored' })
    const record = await uploadOne(running, { name: 'cat.png', bytes: await picture() })
    await eventually(() => expect(target.received).to.have.length(1))
    expect(payloads()[0]).to.deep.include({ type: 'original.stored' })
    expect(payloads()[0].data).to.include({
      key: record.s3Path,
      originalName: 'cat.png',
      mediaType: 'image/png',
    })
    expect((await fetch(`${record.src}?w=20`)).status).to.equal(200)
    await eventually(() => expect(target.received).to.have.length(2))
    expect(payloads()[1].data).to.include({ original: record.s3Path })
    expect((await deleteFile(running, record.s3Path)).status).to.equal(200)
    await eventually(() => expect(target.received).to.have.length(3))
    expect(payloads()[2].data).to.deep.include({ key: record.s3Path, derivatives: [payloads()[1].data.key] })
  })

  it('carry the delivery URL, format, folder, tags and metadata of an original, at each of its events', async () => {
    const running = await start({
      WEBHOOK_EVENTS: 'original.stored,original.trashed,original.restored,original.deleted',
    })
    const latest = async (count: number) => {
      await eventually(() => expect(target.received).to.have.length(count))
      const { type, data } = payloads().at(-1)
      const { key, src, format, folder, tags, metadata, focalPoint } = data
      return { type, data: { key, src, format, folder, tags, metadata, focalPoint } }
    }
    const form = new FormData()
    form.append('tags', '["red"]')
    form.append('metadata', '{"sku":"A-1"}')
    form.append('focalPoint', '{"x":0,"y":1}')
    form.append('file', new Blob(['text']), 'a.txt')
    const headers = { Authorization: running.tokens.secretClientToken }
    const answer = await fetch(`${running.url}/v1/upload?path=a%20b/c`, {
      method: 'POST',
      headers,
      body: form,
    })
    const [record] = (await answer.json()) as [WireRecord]
    const { s3Path: key, src, format } = record
    const annotations = { tags: ['red'], metadata: { sku: 'A-1' }, focalPoint: { x: 0, y: 1 } }
    const data = { key, src, format, folder: 'a b/c', ...annotations }
    expect(await latest(1)).to.deep.equal({ type: 'original.stored', data })
    expect((await fetch(data.src)).status).to.equal(200)
    await running.app.clients.setRules('first', { keepDeletedSeconds: 3600 })
    await deleteFile(running, key)
    expect(await latest(2)).to.deep.equal({ type: 'original.trashed', data })
    await ask(running, '/v1/files/restore', { method: 'POST', json: { paths: [key] } })
    expect(await latest(3)).to.deep.equal({ type: 'original.restored', data })
    await ask(running, '/v1/files/delete', { method: 'POST', json: { paths: [key], now: true } })
    expect(await latest(4)).to.deep.equal({ type: 'original.deleted', data })
  })

  it('carry no metadata whose JSON is too long for the queue', async () => {
    const running = await start({ WEBHOOK_EVENTS: 'original.stored original.deleted' })
    const { s3Path: key } = await uploadOne(running, { name: 'a.txt', bytes: 'text' })
    const metadata = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`n${i}`, '\u0001'.repeat(1024)]),
    )
    const change = await ask(running, filePath(key), { method: 'PATCH', json: { tags: ['x'], metadata } })
    expect(change.status).to.equal(200)
    await deleteFile(running, key)
    await eventually(() => expect(target.received).to.have.length(2))
    expect(payloads().at(-1).data).to.deep.include({ key, tags: ['x'], metadata: null })
  })

  itLong(
    'are sent once for a video: when it is ready, though the first attempt has failed, or when it has failed permanently',
    async () => {
      let failures = 0
      const wrapStorage = wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (!key.includes('_w=') || failures++ > 0) return bucket.put(key, bytes, options)
          bytes.destroy()
          throw new Error('for now')
        },
      }))
      const events = 'derivative.stored,derivative.failed'
      const running = await start({ WEBHOOK_EVENTS: events }, { wrapStorage })
      const broken = await uploadOne(running, { name: 'song.mp4', bytes: await sound() })
      expect((await exchange(running, `${broken.src}?w=64&wait=30`)).status).to.equal(422)
      const record = await uploadOne(running, { name: 'film.mp4', bytes: await video() })
      expect((await exchange(running, `${record.src}?w=64&wait=30`)).status).to.equal(200)
      await eventually(() => expect(target.received).to.have.length.at.least(2))
      expect(failures).to.equal(2)
      const told = payloads().map(({ type, data: { original, code } }) => ({ type, original, code }))
      expect(told).to.have.deep.members([
        { type: 'derivative.failed', original: broken.s3PathOriginal, code: 'not_transformable' },
        { type: 'derivative.stored', original: record.s3PathOriginal, code: undefined },
      ])
    },
  )

  it('delay no request, not even when the receiver does not respond', async () => {
    target.status = 0
    const running = await start()
    // The receiver never responds, so a request that waited for it would take 10 s: sixteen do not fit into the limit of this test.
    for (let i = 0; i < sized(8, 30); i += 1) {
      const record = await uploadOne(running, { name: `${i}.txt`, bytes: `text ${i}` })
      expect((await deleteFile(running, record.s3Path)).status).to.equal(200)
    }
    await eventually(() => expect(target.received.length).to.be.above(5))
  })

  it('are sent to no private address unless the operator allows it; the log has the reason', async () => {
    const running = await start({ WEBHOOK_ALLOW_ADDRESSES: '10.0.0.0/8' })
    await eventually(() => {
      const told = running.log.lines.filter(({ message }) => message === 'events cannot be sent')
      expect(told.map(({ fields }) => fields.reason)).to.deep.equal([
        `${new URL(target.url()).host} is not a public address (127.0.0.1: loopback (RFC 1122)). Add its range to WEBHOOK_ALLOW_ADDRESSES`,
      ])
    })
    await uploadOne(running, { name: 'a.txt', bytes: 'text' })
    await eventually(() => expect(JSON.stringify(running.log.lines)).to.include('will be retried'))
    // Each attempt is a line, and a slow machine may see the second one.
    const [first] = running.log.lines.filter(({ fields }) => fields.err instanceof Error)
    const text = inspect(first, { depth: 5 })
    expect(text.split('127.0.0.1: loopback (RFC 1122)')).to.have.length(2)
    expect(text)
      .to.include('WEBHOOK_ALLOW_ADDRESSES')
      .and.not.match(/\n +at /)
    await pause(50)
    expect(target.connections.made).to.equal(0)
  })

  it('need a secret: without one the service does not start', async () => {
    const config = loadConfig({ WEBHOOK_URL: target.url() })
    const error = await rejection(loadEverything({ config, root: PROJECT }))
    expect(String(error)).to.match(
      /^PluginError: plugin .*webhook\.ts: expected a secret, since there is a url$/,
    )
  })
})
