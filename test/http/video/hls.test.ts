import { Readable } from 'node:stream'
import { expect } from 'chai'
import { derivativeKey, partKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { film } from '../../support/media/videos.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, newClient, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

const env = { MEDIA_JOBS_RUN_IN: 'web' }

onOneBackend('an HLS stream', (start, backend) => {
  let service: Service
  let bytes: Buffer
  let record: WireRecord
  /** In the place of the bucket, for one step. */
  let change: (bucket: Bucket) => Partial<Bucket> = () => ({})
  before(async () => {
    bytes = await film({ colours: ['red', 'blue'] })
    service = await start({ env, wrapStorage: wrapBuckets((bucket) => change(bucket)) })
    record = await uploadOne(service, { name: 'film.mp4', bytes })
  })
  afterEach(() => {
    change = () => ({})
  })

  const get = (query: string, { src }: Pick<WireRecord, 'src'> = record, headers = {}): Promise<Answer> =>
    exchange(service, `${src}?${query}`, { headers })
  /** Of what a playlist names, by its own address. */
  const named = (playlist: Answer, address: string) =>
    [...playlist.body.toString().matchAll(/URI="([^"]+)"|^([^#\n]+)$/gm)].map(([, attribute, line]) =>
      String(new URL(attribute ?? line ?? '', address)),
    )
  const objectsOf = async ({ sourceName }: WireRecord) =>
    (await service.objects()).filter((name) => name.includes(sourceName))
  // A run that takes a second has one.
  const isProvisional = (name: string) => name.endsWith('/live.m3u8')

  /** Where its playlist is, once all of it is there. */
  async function streamed(one: WireRecord): Promise<string> {
    let address = ''
    await eventually(async () => {
      const { status, headers, body } = await get('hls&wait=30', one)
      expect(status, String(body)).to.equal(302)
      expect(headers['cache-control']).to.include('max-age')
      address = String(headers.location)
    })
    return address
  }

  it('responds 423 until it is stored, then redirects to its playlist, which links to all other files', async () => {
    const first = await get('hls')
    expect(jsonOf(first)).to.include({ status: 423, code: 'not_ready' })
    const key = `${record.s3PathOriginal}_hls/master.m3u8`
    const address = `${service.url}/v1/video/upload/${service.tokens.clientToken}/${key}`
    await eventually(async () => {
      const told = jsonOf(await exchange(service, String(jsonOf(first).job)))
      expect(told, JSON.stringify(told)).to.deep.include({ state: 'done', url: address })
    })
    const answer = await get('hls')
    expect(answer.status).to.equal(302)
    expect(answer.headers).to.include({
      location: address,
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=604800',
    })
    const master = await exchange(service, address)
    expect(master.status).to.equal(200)
    expect(master.headers).to.include({
      'content-type': 'application/vnd.apple.mpegurl',
      'access-control-allow-origin': '*',
      etag: `"${key}"`,
    })
    const playlists = named(master, address)
    expect(playlists).to.have.length(2)
    const files = new Set<string>()
    for (const playlist of playlists) {
      const media = await exchange(service, playlist)
      expect(media.headers['content-type']).to.equal('application/vnd.apple.mpegurl')
      for (const file of named(media, playlist)) files.add(file)
    }
    expect(files.size).to.equal(4)
    for (const file of files) {
      const { status, headers, body } = await exchange(service, file)
      expect(status).to.equal(200)
      expect(headers).to.include({ 'content-type': 'video/mp4', 'accept-ranges': 'bytes' })
      expect(body.toString('latin1', 4, 8)).to.be.oneOf(['ftyp', 'styp'])
      const range = await exchange(service, file, { headers: { Range: 'bytes=4-7' } })
      expect(range.status).to.equal(206)
      expect(range.body.equals(body.subarray(4, 8))).to.equal(true)
    }
    const own = await objectsOf(record)
    const bundle = own.filter((name) => name.includes('_hls/') && !isProvisional(name))
    expect(bundle).to.have.length(1 + 2 + 4)
  })

  it('has no other files, and each by one name only', async () => {
    const address = await streamed(record)
    const [part = ''] = named(await exchange(service, address), address)
    for (const name of [
      'x.m3u8',
      'other.m3u8',
      part.replace(/^.*\//, '').replace('m3u8', 'mpd'),
      `00000000-sound.m3u8`,
      `${part.replace(/^.*\//, '')}.json`,
    ]) {
      const { status } = await exchange(service, address.replace('master.m3u8', name))
      expect(status, name).to.equal(404)
    }
    for (const path of ['..%2f..%2fmaster.m3u8', '%2e%2e/master.m3u8', 'a%5cmaster.m3u8'])
      expect((await exchange(service, address.replace('master.m3u8', path))).status, path).to.equal(400)
    expect(jsonOf(await exchange(service, `${address}?w=16`))).to.include({ code: 'transform_of_derivative' })
    const elsewhere = part.replace('_hls/', '_w=10/')
    expect((await exchange(service, elsewhere)).status).to.equal(404)
  })

  itLong('passes a check, and is restored in an index that was emptied', async () => {
    const address = await streamed(record)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    const key = storedKey(record.s3PathOriginal)
    const ref = { clientId: 'first', key }
    const { index, buckets } = service.storage
    await index.beginRemoval(ref, { cause: 'delete', leaseUntil: 0, now: 0 })
    await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    const entry = derivativeKey(key, 'hls/master.m3u8')
    const { findings } = await command(service, 'check')
    expect(findings).to.deep.equal([
      `derivative not indexed: first ${entry}`,
      `original not indexed: first ${key}`,
    ])
    const { answer } = await command(service, 'reindex')
    expect(answer).to.deep.include({ derivatives: { known: 0, added: 1, left: 0 } })
    const known = await index.find(ref, entry)
    expect(known.derivative).to.deep.include({ state: 'stored' })
    expect(JSON.stringify(known.derivative)).to.include('application/vnd.apple.mpegurl')
    expect((await exchange(service, address)).status).to.equal(200)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    // What a previous run has left without an index entry.
    const bucket = buckets.of({ id: 'first', token: service.tokens.clientToken })
    const lost = partKey(derivativeKey(key, 'hls&mute=1/master.m3u8'), '00000000-120p.m3u8')
    await bucket.put(lost, Readable.from([Buffer.from('#EXTM3U\n')]), { mediaType: 'text/plain' })
    expect((await command(service, 'check')).findings).to.deep.equal([
      `part without derivative: first ${lost}`,
    ])
    expect(
      (await exchange(service, address.replace('_hls/master.m3u8', '_hls&mute=1/00000000-120p.m3u8'))).status,
    ).to.equal(404)
    // The next render starts with nothing.
    expect((await get('hls&mute&wait=30')).status).to.equal(302)
    await eventually(async () =>
      expect((await get('hls&mute')).headers['cache-control']).to.include('max-age'),
    )
    expect((await command(service, 'check')).findings).to.deep.equal([])
    expect(await bucket.find(lost)).to.equal(undefined)
  })

  it('leaves nothing when its original is deleted', async () => {
    const gone = await uploadOne(service, { name: 'film.mp4', bytes })
    const address = await streamed(gone)
    const [part = ''] = named(await exchange(service, address), address)
    const answer = await deleteFile(service, gone.s3PathOriginal)
    expect(answer.status).to.equal(200)
    expect(await objectsOf(gone)).to.deep.equal([])
    for (const one of [address, part]) expect((await exchange(service, one)).status).to.equal(404)
  })

  it('leaves nothing when its original is deleted while its segments are stored', async () => {
    const gone = await uploadOne(service, { name: 'film.mp4', bytes })
    let isDeleted = false
    change = (bucket) => ({
      async put(key, ...rest) {
        await bucket.put(key, ...rest)
        if (!key.endsWith('.m4s') || isDeleted) return
        isDeleted = true
        await deleteFile(service, gone.s3PathOriginal)
      },
    })
    expect((await get('hls&wait=30', gone)).status).to.equal(404)
    expect(isDeleted).to.equal(true)
    await eventually(async () => expect(await objectsOf(gone)).to.deep.equal([]))
  })

  itLong('is swept when its process was killed, but not while another job renders it again', async () => {
    const one = await uploadOne(service, { name: 'film.mp4', bytes })
    const key = storedKey(one.s3PathOriginal)
    const ref = { clientId: 'first', key }
    const entry = derivativeKey(key, 'hls/master.m3u8')
    const { index, buckets } = service.storage
    const bucket = buckets.of({ id: 'first', token: service.tokens.clientToken })
    const part = partKey(entry, '00000000-120p.m3u8')
    const put = () => bucket.put(part, Readable.from([Buffer.from('#EXTM3U\n')]), { mediaType: 'text/plain' })
    await put()
    // After its deadline, with a segment from after that: another job renders it again.
    await index.beginDerivative(ref, entry, Date.now() - 60_000)
    await service.app.sweep()
    expect((await objectsOf(one)).filter((name) => name.includes('_hls/'))).to.have.length(1)
    expect((await index.find(ref, entry)).derivative).to.equal(undefined)
    await index.beginDerivative(ref, entry, Date.now() + 1500)
    await eventually(async () => {
      await service.app.sweep()
      expect((await objectsOf(one)).filter((name) => name.includes('_hls/'))).to.deep.equal([])
    })
    expect((await index.find(ref, entry)).derivative).to.equal(undefined)
  })

  itLong('leaves no segment when one of them cannot be stored', async () => {
    const one = await uploadOne(service, { name: 'film.mp4', bytes })
    let failures = 0
    change = (bucket) => ({
      async put(key, stream, options) {
        if (key.endsWith('-sound.m3u8') && failures === 0) {
          failures += 1
          stream.destroy()
          throw new Error('the bucket is away')
        }
        await bucket.put(key, stream, options)
      },
    })
    expect((await get('hls', one)).status).to.equal(423)
    await eventually(async () => {
      expect(failures).to.equal(1)
      expect((await objectsOf(one)).filter((name) => name.includes('_hls/'))).to.deep.equal([])
    })
  })

  // On Redis a removal waits for other processes to hear of it, whatever there is to remove.
  if (backend.name.includes('Redis')) return

  itLong('is removed with its client, including segments that are not in the index', async () => {
    const other = await newClient(service)
    const one = await uploadOne(other, { name: 'film.mp4', bytes })
    await streamed(one)
    const bucket = service.storage.buckets.of({ id: other.id, token: other.tokens.clientToken })
    const entry = derivativeKey(storedKey(one.s3PathOriginal), 'hls&mute/master.m3u8')
    const stray = Readable.from([Buffer.from('#EXTM3U\n')])
    await bucket.put(partKey(entry, '00000000-120p.m3u8'), stray, { mediaType: 'text/plain' })
    const own = (await objectsOf(one)).filter((name) => !isProvisional(name))
    expect(own).to.have.length(2 + 7 + 1)
    const { answer } = await command(service, 'client remove', { id: other.id, files: true })
    expect(answer).to.deep.equal({ originals: 1 })
    expect(await objectsOf(one)).to.deep.equal([])
  })

  // The rest has nothing to do with where files and states are kept.
  if (backend !== EMBEDDED) return

  it('is an error in an archive', async () => {
    await streamed(record)
    const item = { type: 'video', path: record.sourceName, params: { hls: 1 }, name: 'film.m3u8' }
    const answer = await postZip(service, { files: [item] })
    const [error] = manifestOf(entriesOf(Buffer.from(await answer.arrayBuffer())))
    expect(error).to.include({ status: 'error', code: 400 })
  })
})
