import { Readable } from 'node:stream'
import { expect } from 'chai'
import sharp from 'sharp'
import { derivativeKey, partKey, storedKey } from '../../../src/core/files/object-key.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { colourOf, cuesOf } from '../../support/media/storyboards.ts'
import { film, sound } from '../../support/media/videos.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

const env = { MEDIA_JOBS_RUN_IN: 'web' }

onOneBackend('a storyboard', (start, backend) => {
  let service: Service
  let bytes: Buffer
  let record: WireRecord
  before(async () => {
    bytes = await film({ colours: ['red', 'blue'] })
    service = await start({ env })
    record = await uploadOne(service, { name: 'film.mp4', bytes })
  })

  const get = (query: string, { src }: Pick<WireRecord, 'src'> = record): Promise<Answer> =>
    exchange(service, `${src}?${query}`)
  const objectsOf = async ({ sourceName }: WireRecord) =>
    (await service.objects()).filter((name) => name.includes(sourceName))

  /** Where its cues are. */
  async function made(one: WireRecord, query = 'storyboard'): Promise<string> {
    const answer = await get(`${query}&wait=30`, one)
    expect(answer.status, String(answer.body)).to.equal(302)
    return String(answer.headers.location)
  }

  /** Its cues, and the address of its sprite. */
  async function lookedAt(address: string) {
    const text = await exchange(service, address)
    expect(text.status).to.equal(200)
    const cues = cuesOf(text.body.toString())
    return { text, cues, sprite: String(new URL(cues[0]?.sprite ?? '', address)) }
  }

  it('responds 423 until it is stored, then redirects to its cues, which link to its sprite', async () => {
    const first = await get('storyboard')
    expect(jsonOf(first)).to.include({ status: 423, code: 'not_ready' })
    const key = `${record.s3PathOriginal}_storyboard/storyboard.vtt`
    const address = `${service.url}/v1/video/upload/${service.tokens.clientToken}/${key}`
    await eventually(async () => {
      const told = jsonOf(await exchange(service, String(jsonOf(first).job)))
      expect(told, JSON.stringify(told)).to.deep.include({ state: 'done', url: address })
    })
    const answer = await get('storyboard')
    expect(answer.status).to.equal(302)
    expect(answer.headers).to.include({ location: address, 'access-control-allow-origin': '*' })
    const { text, cues, sprite } = await lookedAt(address)
    const open = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=604800' }
    expect(text.headers).to.include({ ...open, 'content-type': 'text/vtt; charset=utf-8', etag: `"${key}"` })
    expect(cues).to.have.length(2)
    const { status, headers, body } = await exchange(service, sprite)
    expect(status).to.equal(200)
    expect(headers).to.include({ ...open, 'content-type': 'image/jpeg' })
    const { width, height } = await sharp(body).metadata()
    expect(`${width}x${height}`).to.equal('320x120')
    expect(await Promise.all(cues.map((cue) => colourOf(body, cue)))).to.deep.equal(['red', 'blue'])
    expect((await objectsOf(record)).filter((name) => name.includes('_storyboard/'))).to.have.length(2)
  })

  itLong('covers the same part of the video as a stream with the same parameters', async () => {
    const { cues, sprite } = await lookedAt(await made(record, 'storyboard&start=1&vt'))
    expect(cues.map(({ from }) => from)).to.deep.equal([0])
    const { body } = await exchange(service, sprite)
    expect(await colourOf(body, cues[0] as (typeof cues)[0])).to.equal('blue')
    const { width, height } = await sharp(body).metadata()
    expect(`${width}x${height}`).to.equal('68x120')
  })

  it('has no other files', async () => {
    const address = await made(record)
    const { sprite } = await lookedAt(address)
    for (const other of [
      sprite.replace(/[0-9a-f]{8}-sprite/, '00000000-sprite'),
      sprite.replace('.jpg', '.png'),
      sprite.replace('_storyboard/', '_hls/'),
      address.replace('storyboard.vtt', 'master.m3u8'),
    ])
      expect((await exchange(service, other)).status, other).to.equal(404)
  })

  itLong('passes a check, which reports a sprite without cues', async () => {
    await made(record)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    const entry = derivativeKey(storedKey(record.s3PathOriginal), 'start=0.5&storyboard/storyboard.vtt')
    const lost = partKey(entry, '00000000-sprite.jpg')
    const bucket = service.storage.buckets.of({ id: 'first', token: service.tokens.clientToken })
    await bucket.put(lost, Readable.from([Buffer.from('x')]), { mediaType: 'image/jpeg' })
    const { findings } = await command(service, 'check')
    expect(findings).to.deep.equal([`part without derivative: first ${lost}`])
    await made(record, 'storyboard&start=0.5')
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('leaves nothing when its original is deleted', async () => {
    const gone = await uploadOne(service, { name: 'film.mp4', bytes })
    const address = await made(gone)
    const { sprite } = await lookedAt(address)
    expect((await deleteFile(service, gone.s3PathOriginal)).status).to.equal(200)
    expect(await objectsOf(gone)).to.deep.equal([])
    for (const one of [address, sprite]) expect((await exchange(service, one)).status).to.equal(404)
  })

  itLong('is rendered with the upload when that requests it', async () => {
    const [one] = jsonOf(
      await postForm(service, [
        { disposition: 'name="transforms"', bytes: '["storyboard"]' },
        { disposition: 'name="file"; filename="film.mp4"', bytes },
      ]),
    ) as unknown as WireRecord[]
    await eventually(async () => {
      const objects = await objectsOf(one as WireRecord)
      expect(objects.filter((name) => name.includes('_storyboard/'))).to.have.length(2)
    })
    expect((await get('storyboard', one)).status).to.equal(302)
  })

  // The rest has nothing to do with where files and states are kept.
  if (backend !== EMBEDDED) return

  it('is an error in an archive', async () => {
    await made(record)
    const item = { type: 'video', path: record.sourceName, params: { storyboard: 1 }, name: 'film.vtt' }
    const answer = await postZip(service, { files: [item] })
    const [error] = manifestOf(entriesOf(Buffer.from(await answer.arrayBuffer())))
    expect(error).to.include({ status: 'error', code: 400 })
  })

  for (const [query, param] of [
    ['storyboard&w=100', 'w'],
    ['storyboard&f=webm', 'f'],
    ['storyboard&hls', 'hls'],
    ['q_auto&storyboard', 'q_a'],
    ['storyboard&mute', 'mute'],
    ['storyboard&start=2', 'start'],
    ['storyboard=yes', 'storyboard'],
  ] as const) {
    it(`refuses ?${query}`, async () => {
      const answer = await get(`${query}&wait=30`)
      expect(jsonOf(answer)).to.include({ status: 400, code: 'bad_parameter', param })
    })
  }

  it('refuses a file without a video stream', async () => {
    const heard = await uploadOne(service, { name: 'heard.mp4', bytes: await sound() })
    expect(jsonOf(await get('storyboard&wait=30', heard))).to.include({ status: 422 })
  })
})
