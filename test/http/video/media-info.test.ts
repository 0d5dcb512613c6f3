import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { film, sound } from '../../support/media/videos.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'

/** The address of what is known of a file. */
const infoOf = ({ src }: Pick<WireRecord, 'src'>) => src.replace('/upload/', '/info/')

onOneBackend('info of videos and audio files', (start) => {
  let service: Service
  let movie: Buffer
  before(async () => {
    movie = await film({ colours: ['red', 'blue'] })
    service = await start()
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([])
  })

  async function told(record: Pick<WireRecord, 'src'>): Promise<Record<string, unknown>> {
    const answer = await exchange(service, infoOf(record))
    expect(answer.status, answer.body.toString()).to.equal(200)
    return jsonOf(answer)
  }

  it('returns the headers of a video, stored next to it and deleted with it', async () => {
    const record = await uploadOne(service, { name: 'film.mp4', bytes: movie })
    const first = await told(record)
    const { duration, bitrate, sha256, uploadedAt, ...rest } = first
    expect(rest).to.deep.equal({
      sourceName: record.sourceName,
      originalName: 'film.mp4',
      size: movie.length,
      mimeType: 'video',
      format: 'mp4',
      mediaType: 'video/mp4',
      container: 'mp4',
      videoCodec: 'h264',
      width: 160,
      height: 120,
      rotation: 0,
      frameRate: 10,
      audioCodec: 'aac',
      channels: 1,
      sampleRate: 44_100,
    })
    expect(duration).to.be.closeTo(2, 0.05)
    expect(bitrate).to.be.closeTo(movie.length * 4, movie.length)
    expect(sha256).to.match(/^[0-9a-f]{64}$/)
    expect(uploadedAt).to.be.a('string')
    await settled(service)
    const key = `first/${record.s3PathOriginal}`
    const objects = async () => (await service.objects()).filter((name) => name.startsWith(key))
    expect(await objects()).to.deep.equal([key, `${key}_info`])
    expect(await told(record)).to.deep.equal(first)
    expect((await deleteFile(service, record.s3PathOriginal)).status).to.equal(200)
    expect(await objects()).to.deep.equal([])
  })

  it('is in the record of an upload that requests it', async () => {
    const answer = await postForm(service, [
      { disposition: 'name="info"', bytes: '1' },
      { disposition: 'name="file"; filename="song.mp3"', bytes: await sound({ format: 'mp3' }) },
    ])
    const [{ src, options }] = jsonOf(answer) as unknown as [WireRecord]
    expect(options)
      .to.have.property('info')
      .that.includes({ mimeType: 'audio', audioCodec: 'mp3', channels: 1 })
    expect(await told({ src })).to.deep.equal((options as { info: unknown }).info)
  })

  it('reports a broken file, and probes it again a minute later', async () => {
    const cut = movie.subarray(0, movie.length / 2)
    const { headers, body } = await exchange(
      service,
      infoOf(await uploadOne(service, { name: 'a', bytes: cut })),
    )
    expect(headers['cache-control']).to.equal('public, max-age=60')
    const known = jsonOf({ body })
    expect(known).to.include({ mimeType: 'video', size: cut.length })
    expect(known.problem).to.have.property('code', 'not_transformable')
    expect(known).to.not.have.any.keys('duration', 'width')
  })

  describe('without ffmpeg', () => {
    const path = process.env.PATH
    let without: Service
    before(async () => {
      process.env.PATH = '/nowhere'
      without = await start()
    })
    after(() => {
      process.env.PATH = path
    })

    it('returns what delivery knows, and what is missing', async () => {
      const { headers, body, status } = await exchange(
        without,
        infoOf(await uploadOne(without, { name: 'film.mp4', bytes: movie })),
      )
      expect(status).to.equal(200)
      expect(headers['cache-control']).to.equal('public, max-age=60')
      const { problem, ...known } = jsonOf({ body })
      expect(known).to.include({ format: 'mp4', size: movie.length })
      expect(problem).to.have.property('code', 'not_installed')
    })
  })
})
