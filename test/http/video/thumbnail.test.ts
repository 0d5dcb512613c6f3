import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { version } from '../../../src/process/version.ts'
import { diskCheck, fontCheck, onOneBackend } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { colourAt } from '../../support/media/images.ts'
import { sound, video } from '../../support/media/videos.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { settled } from '../../support/stored/settled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneBackend('video thumbnails', (start, backend) => {
  let service: Service
  let film: Buffer
  let record: WireRecord
  before(async () => {
    film = await video()
    service = await start()
    record = await uploadOne(service, { name: 'film.mp4', bytes: film })
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(join(service.dataDir, 'media')).catch(() => [])).to.deep.equal([])
  })

  const get = (query: string, { src }: Pick<WireRecord, 'src'> = record) =>
    exchange(service, `${src}${query}`)

  it('show the frame at a time, with the image parameters, stored next to the video', async () => {
    const answer = await get('?thumbnail&w=80&duration=15')
    expect(answer.status, String(answer.body)).to.equal(200)
    expect(answer.headers['content-type']).to.equal('image/jpeg')
    const key = `${record.s3PathOriginal}_duration=15&thumbnail=1&w=80`
    expect(answer.headers.etag).to.equal(`"${key}"`)
    expect(await sharp(answer.body).metadata()).to.include({ format: 'jpeg', width: 80, height: 60 })
    const { r, g, b } = await colourAt(answer.body, 60, 45)
    expect(r).to.be.below(10)
    expect(g).to.be.closeTo(128, 8)
    expect(b).to.be.below(10)
    await settled(service)
    expect(await service.objects()).to.include(`first/${key}`)
    expect((await get('?duration=15&width=80&thumbnail')).body.equals(answer.body)).to.equal(true)
  })

  it('at several times, and info, read the file once, also after a restart', async () => {
    const programs = await temporaryFolder()
    const { PATH } = process.env
    const counted = `#!/bin/sh\ncase "$*" in *-show_entries*) echo >> "${programs}/looks";; esac\nPATH="${PATH}" exec ffprobe "$@"\n`
    await writeFile(join(programs, 'ffprobe'), counted, { mode: 0o755 })
    process.env.PATH = `${programs}:${PATH}`
    let own = await start()
    try {
      const { src } = await uploadOne(own, { name: 'film.mp4', bytes: film })
      const path = new URL(src).pathname
      const status = async (url: string) => (await exchange(own, url)).status
      expect(await status(`${path}?thumbnail`)).to.equal(200)
      expect(await status(`${path}?thumbnail&duration=12`)).to.equal(200)
      await own.stop({ keepData: true })
      own = await start({ dataDir: own.dataDir })
      expect(await status(`${path}?thumbnail&duration=22`)).to.equal(200)
      const info = jsonOf(await exchange(own, path.replace('/upload/', '/info/')))
      expect(info).to.include({ width: 160, videoCodec: 'h264' })
      expect(await readFile(join(programs, 'looks'), 'utf8')).to.equal('\n')
      expect((await command(own, 'check')).findings).to.deep.equal([])
    } finally {
      process.env.PATH = PATH
      await own.stop()
      await rm(programs, { recursive: true })
    }
  })

  it('are encoded in a format that the client accepts, also in a child process', async () => {
    const answer = await exchange(service, `${record.src}?thumbnail&w=64&f=auto`, {
      headers: { Accept: 'image/avif,image/webp' },
    })
    expect(answer.headers).to.include({ vary: 'Accept' })
    expect(answer.headers['content-type']).to.be.oneOf(['image/avif', 'image/webp'])
    expect((await sharp(answer.body).metadata()).width).to.equal(64)
  })

  it('can have a watermark', async () => {
    const bytes = await sharp({ create: { width: 20, height: 20, channels: 3, background: '#00f' } })
      .png()
      .toBuffer()
    const mark = await uploadOne(service, { name: 'mark.png', bytes })
    const { body, status } = await get(`?thumbnail&wm=${encodeURIComponent(mark.s3PathOriginal)}&wm_size=100`)
    expect(status, String(body)).to.equal(200)
    expect((await colourAt(body, 80, 60)).b).to.be.above(200)
  })

  it('leave the video itself unchanged', async () => {
    expect((await get('')).body.equals(film)).to.equal(true)
    expect(jsonOf(await get('?rotate=90'))).to.include({ status: 400, code: 'unknown_parameter' })
  })

  it('respond 400 to a time past the end, with the duration of the video', async () => {
    const { detail, ...problem } = jsonOf(await get('?thumbnail&duration=31'))
    expect(problem).to.include({ status: 400, code: 'bad_parameter', param: 'duration', received: '31' })
    expect(detail).to.match(/this video is 3 s long/)
  })

  it('respond 422 to a file without a video stream', async () => {
    const mute = await uploadOne(service, { name: 'song.mp4', bytes: await sound() })
    expect(jsonOf(await get('?thumbnail', mute))).to.include({
      status: 422,
      detail: 'expected a video stream but this file has only audio',
    })
    const box = Buffer.from('000000186674797069736f6d0000020069736f6d69736f32', 'hex')
    const crafted = Buffer.concat([box, Buffer.from('#EXTM3U\n#EXTINF:3,\n/etc/passwd\n')])
    const liar = await uploadOne(service, { name: 'liar.mp4', bytes: crafted })
    expect(liar.mimeType).to.equal('video')
    expect(jsonOf(await get('?thumbnail', liar))).to.include({ status: 422, code: 'not_transformable' })
  })

  it('are listed by GET /v1/parameters, and GET /readyz includes ffmpeg', async () => {
    const { video: offered } = jsonOf(await exchange(service, '/v1/parameters')) as Record<string, unknown>
    expect((offered as Array<{ name: string }>).map(({ name }) => name)).to.include.members([
      'thumbnail',
      'duration',
    ])
    const { check, ...lacking } = await fontCheck()
    const ready = jsonOf(await exchange(service, '/readyz'))
    expect(ready).to.deep.equal({
      status: 'ok',
      version: version(),
      checks: { bucket: 'ok', index: 'ok', ffmpeg: 'ok', ...diskCheck(backend), ...check },
      ...lacking,
    })
  })

  describe('without ffmpeg', () => {
    const path = process.env.PATH
    let without: Service
    before(async () => {
      process.env.PATH = '/nowhere'
      without = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
    })
    after(() => {
      process.env.PATH = path
    })

    it('respond 501 with the command that installs it; everything else is delivered', async () => {
      const stored = await uploadOne(without, { name: 'film.mp4', bytes: film })
      const { detail, ...problem } = jsonOf(await exchange(without, `${stored.src}?thumbnail`))
      expect(problem).to.include({ status: 501, code: 'not_installed' })
      expect(jsonOf(await exchange(without, `${stored.src}?w=80`))).to.include({ status: 501, detail })
      expect(detail).to.equal(
        'Transformations of video, audio, and animated AVIF, HEIC or PNG need ffmpeg and ffprobe, which this server does not have. Install with: sudo apt-get install --no-install-recommends ffmpeg',
      )
      expect((await exchange(without, stored.src)).body.equals(film)).to.equal(true)
    })

    it('are reported as unavailable by GET /readyz, and once in the log', async () => {
      const { status, body } = await exchange(without, '/readyz')
      expect(status).to.equal(200)
      expect(jsonOf({ body })).to.have.nested.property('checks.ffmpeg', 'missing')
      const lines = without.log.lines.filter(({ message }) => /ffmpeg/.test(message))
      expect(lines.map(({ level }) => level)).to.deep.equal(['warn'])
    })
  })
})
