import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Storage } from '../../../src/app.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { fileReplaced, unavailable } from '../../../src/core/problem.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { startWithSlowFfmpeg } from '../../support/media/slow-ffmpeg.ts'
import { slowFilm } from '../../support/media/videos.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'

const env = { MEDIA_JOBS_RUN_IN: 'web' }
let source: Promise<Buffer> | undefined

onOneBackend('an HLS stream during its transcode', (start, backend) => {
  let service: Service
  let programs: string
  /** In the place of the bucket's own. */
  let put: (bucket: Bucket) => Bucket['put'] = (bucket) => bucket.put
  /** How often a playlist is replaced after it was found. */
  let staleFinds = 0
  let isIndexAway = false
  let release = () => {}
  const uploaded: WireRecord[] = []
  const wrapStorage = (storage: Storage): Storage => {
    const wrap = wrapBuckets((bucket) => ({
      put: (...args) => put(bucket)(...args),
      async find(key, known) {
        const asset = await bucket.find(key, known)
        if (!asset || !key.endsWith('.m3u8') || staleFinds === 0) return asset
        staleFinds -= 1
        return { ...asset, size: asset.size - 1, open: () => Promise.reject(fileReplaced()) }
      },
    }))
    const { buckets, index } = wrap(storage)
    const find: typeof index.find = async (...args) => {
      if (isIndexAway) throw unavailable('the index is away')
      return index.find(...args)
    }
    return { buckets, index: { ...index, find } }
  }
  before(async () => {
    source ??= slowFilm()
    await source
    const started = await startWithSlowFfmpeg(start, 12, { env, wrapStorage })
    service = started.service
    programs = started.folder
  })
  afterEach('leaves no temporary file', async () => {
    put = (bucket) => bucket.put
    isIndexAway = false
    release()
    // What a test that has failed left is no longer made, so that its next try begins afresh.
    for (const { s3PathOriginal } of uploaded.splice(0)) await deleteFile(service, s3PathOriginal)
    await eventually(async () =>
      expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([]),
    )
  })

  after(() => rm(programs, { recursive: true }))

  const upload = async () => {
    const record = await uploadOne(service, { name: 'film.mp4', bytes: (await source) ?? Buffer.of() })
    uploaded.push(record)
    return record
  }
  const get = (address: string, headers = {}): Promise<Answer> => exchange(service, address, { headers })
  /** Of what a playlist names, by its own address. */
  const named = (playlist: Answer, address: string) =>
    [...playlist.body.toString().matchAll(/URI="([^"]+)"|^([^#\n]+)$/gm)].map(([, attribute, line]) =>
      String(new URL(attribute ?? line ?? '', address)),
    )
  const objectsOf = async ({ sourceName }: WireRecord) =>
    (await service.objects()).filter((name) => name.includes(sourceName))
  const job = async ({ s3PathOriginal }: WireRecord) =>
    jsonOf(await get(`/v1/jobs/${service.tokens.clientToken}/${s3PathOriginal}_hls/master.m3u8`))

  /** Stands still once it can be played. */
  function held() {
    const puts: string[] = []
    let failure: Error | undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    put = (bucket) => async (key, stream, options) => {
      puts.push(key)
      if (failure && key.endsWith('.m4s')) {
        stream.destroy()
        throw failure
      }
      await bucket.put(key, stream, options)
      if (key.endsWith('/live.m3u8')) await released
    }
    return {
      puts,
      /** Continues with a segment that cannot be stored. */
      fail() {
        failure = new Error('the bucket is away')
        release()
      },
    }
  }

  /** Asks for it, and waits until it can be played. @returns where */
  async function playable({ src }: WireRecord): Promise<string> {
    const { status, headers, body } = await get(`${src}?hls&wait=30`)
    expect(status, String(body)).to.equal(302)
    expect(headers['cache-control']).to.equal('no-store')
    return String(headers.location)
  }

  it('is delivered as it grows, and not cached before its end', async function () {
    this.timeout(180_000)
    const record = await upload()
    const { puts } = held()
    const key = `${record.s3PathOriginal}_hls/master.m3u8`
    const address = await playable(record)
    expect(address).to.equal(`${service.url}/v1/video/upload/${service.tokens.clientToken}/${key}`)
    expect(await job(record)).to.deep.include({ state: 'running', url: address })
    expect((await objectsOf(record)).join()).not.to.include('master.m3u8')

    const changing = async (url: string) => {
      for (const headers of [{}, { 'If-None-Match': `"${key}"` }, { Range: 'bytes=0-1' }]) {
        const answer = await get(url, { ...headers, 'If-Modified-Since': new Date().toUTCString() })
        expect(answer.status).to.equal(200)
        expect(answer.headers).to.include({
          'content-type': 'application/vnd.apple.mpegurl',
          'cache-control': 'no-store',
          'access-control-allow-origin': '*',
        })
        expect(answer.headers).not.to.have.any.keys('etag', 'last-modified', 'accept-ranges')
      }
      return get(url)
    }
    const lookAround = async () => {
      const master = await changing(address)
      expect(master.body.toString()).to.include('#EXT-X-START')
      const playlists = named(master, address)
      expect(playlists).to.have.length(3)
      for (const playlist of playlists) {
        const media = await changing(playlist)
        expect(media.body.toString()).not.to.include('#EXT-X-ENDLIST')
        const files = named(media, playlist)
        expect(files.length).to.be.above(1)
        for (const file of files) {
          const { status, headers } = await get(file)
          expect(status).to.equal(200)
          expect(headers['cache-control']).to.equal('public, max-age=604800')
          expect(headers.etag).to.include('.m')
        }
      }
      return playlists
    }
    const playlists = await lookAround()
    isIndexAway = true
    await lookAround()
    isIndexAway = false
    expect((await get(address.replace('master', 'live'))).status).to.equal(404)
    expect((await get(address.replace('/master.m3u8', '&mute/master.m3u8'))).status).to.equal(404)
    expect((await command(service, 'check')).findings).to.deep.equal([])

    // Nor does it end for an outage that is over before it does.
    isIndexAway = true
    const { length } = puts
    release()
    await eventually(() => expect(puts).to.have.length.above(length + 4))
    isIndexAway = false
    await eventually(
      async () => expect(await job(record)).to.deep.equal({ state: 'done', progress: 1, url: address }),
      { withinMs: LONG_MS },
    )
    const redirect = await get(`${record.src}?hls`)
    expect(redirect.headers).to.include({ location: address, 'cache-control': 'public, max-age=604800' })
    const master = await get(address)
    expect(master.headers).to.include({ etag: `"${key}"`, 'cache-control': 'public, max-age=604800' })
    expect(master.body.toString()).to.include('AVERAGE-BANDWIDTH').and.not.include('#EXT-X-START')
    expect(named(master, address)).to.deep.equal(playlists)
    for (const playlist of playlists) {
      const media = await get(playlist)
      expect(media.body.toString()).to.match(/#EXT-X-ENDLIST\n$/)
      expect(media.headers['cache-control']).to.equal('public, max-age=604800')
      expect(named(media, playlist)).to.have.length(1 + 8)
    }
    expect((await get(address.replace('master', 'live'))).status).to.equal(404)
    expect((await command(service, 'check')).findings).to.deep.equal([])
    await deleteFile(service, record.s3PathOriginal)
    expect(await objectsOf(record)).to.deep.equal([])
  })

  itLong('is deleted with its original, and leaves nothing', async () => {
    const record = await upload()
    const hold = held()
    const address = await playable(record)
    const playlists = named(await get(address), address)
    const files = named(await get(playlists[0] ?? ''), playlists[0] ?? '')
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    expect(await objectsOf(record)).to.deep.equal([])
    for (const url of [address, ...playlists, ...files, `${record.src}?hls`])
      expect((await get(url)).status, url).to.equal(404)
    const { length } = hold.puts
    release()
    await eventually(async () =>
      expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([]),
    )
    expect(hold.puts).to.have.length(length)
    expect(await objectsOf(record)).to.deep.equal([])
    expect((await job(record)).status).to.equal(404)
  })

  itLong('is deleted when one of its files cannot be stored', async () => {
    const record = await upload()
    const hold = held()
    const address = await playable(record)
    const playlists = named(await get(address), address)
    hold.fail()
    await eventually(async () => {
      for (const url of [address, ...playlists]) expect((await get(url)).status, url).to.equal(404)
    })
    expect((await objectsOf(record)).join()).not.to.include('_hls/')
    // It is tried again, which has begun by now on a slow machine.
    expect((await job(record)).state).to.be.oneOf(['waiting', 'running'])
    expect((await get(`${record.src}?hls`)).status).to.equal(423)
    await deleteFile(service, record.s3PathOriginal)
  })

  itLong('is read completely while it is replaced', async () => {
    const record = await upload()
    const hold = held()
    const address = await playable(record)
    staleFinds = 1
    const { status, body } = await get(address)
    expect(staleFinds).to.equal(0)
    expect(status).to.equal(200)
    expect(body.toString()).to.match(/^#EXTM3U\n(.*\n)*.*\.m3u8\n$/)
    hold.fail()
    await deleteFile(service, record.s3PathOriginal)
  })

  // The rest has nothing to do with where files and states are kept.
  if (backend !== EMBEDDED) return

  it('cannot be downloaded as one file', async () => {
    const record = await upload()
    const problem = jsonOf(await get(`${record.src}?hls&download`))
    expect(problem).to.include({ status: 400, code: 'several_files' })
    expect((await job(record)).status).to.equal(404)
  })
})
