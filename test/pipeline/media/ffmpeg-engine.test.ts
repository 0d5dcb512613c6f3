import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { programEnvironment } from '../../../config/programs.ts'
import { type Asset, readAll } from '../../../src/core/bytes/asset.ts'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { watched } from '../../../src/engines/programs/run.ts'
import { createFfmpeg } from '../../../src/engines/video/ffmpeg.ts'
import { eventually } from '../../support/eventually.ts'
import { colourAt } from '../../support/media/images.ts'
import { remuxed, video, wideVideo } from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { recordLog } from '../../support/service.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { assetOf, context, LIMITS } from '../image/transform.ts'
import { knownAsset } from './known-asset.ts'

describe('the ffmpeg engine', () => {
  let folder: string
  /** Where it keeps temporary files. */
  let scratch: string
  let engine: ReturnType<typeof createFfmpeg>
  let film: Buffer
  before(async () => {
    film = await video()
    folder = await temporaryFolder()
    scratch = join(folder, 'scratch')
    engine = createFfmpeg({ folder: scratch, env: programEnvironment() })
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(scratch).catch(() => [])).to.deep.equal([])
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** A file that lies on this machine. */
  function lying(path: string, size: number, format = 'mp4'): Asset {
    const { mediaType } = knownFormat(format)
    const open = () => Promise.reject(new Error('it is read where it lies'))
    return { size, mediaType, lastModified: new Date(0), file: path, open }
  }

  /** The frame of a source, or what it is refused with. */
  async function frame(source: Asset, given: Parameters<typeof context>[0] = {}): Promise<Asset> {
    const all = context(given)
    const opened = await engine.open(source, {}, all)
    try {
      opened.draft.frameAtSeconds = 0
      return await engine.render(opened.draft, all)
    } finally {
      await engine.close?.(opened)
    }
  }

  it('returns the facts about a video', async () => {
    const opened = await engine.open(assetOf(film, 'mp4'), {}, context())
    await engine.close?.(opened)
    expect(opened.source).to.deep.equal({
      durationSeconds: 3,
      width: 160,
      height: 120,
      rotation: 0,
      videoCodec: 'h264',
      audioCodec: undefined,
      bitRate: opened.source.bitRate,
      pixelFormat: 'yuv420p',
      isSquare: true,
      isInterlaced: false,
      audioChannels: undefined,
      audioBitRate: undefined,
      stream: 0,
      colorMatrix: undefined,
      transfer: undefined,
      primaries: undefined,
    })
  })

  it('reads a file in place, whatever its name would mean to ffmpeg', async () => {
    for (const name of everyNth(2, ['-y', 'frame%03d.mp4', 'concat:a|b', 'http: b\nc.mp4'])) {
      const path = join(folder, name)
      await writeFile(path, film)
      expect((await frame(lying(path, film.length))).mediaType, name).to.equal('image/jpeg')
    }
  })

  it('copies a file that is not on this disk, and throws a 404 for a deleted one', async () => {
    expect((await frame(assetOf(film, 'mp4'))).mediaType).to.equal('image/jpeg')
    const gone = lying(join(folder, 'gone.mp4'), 10)
    expect(await rejection(frame(gone))).to.include({ status: 404, code: 'file_not_found' })
  })

  it('removes a copy that fails', async () => {
    const broken: Asset = {
      ...assetOf(film, 'mp4'),
      open: async () => Readable.from([film.subarray(0, 1000)]),
    }
    expect(await rejection(frame(broken)))
      .to.have.property('message')
      .that.matches(/expected \d+ bytes/)
  })

  describe('reads no file but its input, and opens no connection', () => {
    let listener: Server
    let connections = 0
    before(async () => {
      listener = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      listener.listen(0, '127.0.0.1')
      await once(listener, 'listening')
      await writeFile(join(folder, 'secret.mp4'), film)
      await writeFile(join(folder, 'secret.ts'), await video({ format: 'ts' }))
    })
    after(() => listener.close())

    const address = () => `127.0.0.1:${(listener.address() as AddressInfo).port}`
    const CRAFTED: Readonly<Record<string, () => string>> = {
      'a playlist of a local file': () => playlist(join(folder, 'secret.ts')),
      'a playlist of a file by its URL': () => playlist(`file://${join(folder, 'secret.ts')}`),
      'a playlist of a URL': () => playlist(`http://${address()}/secret.ts`),
      'a playlist of a playlist': () =>
        `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://${address()}/secret.m3u8\n`,
      'a list of files': () => `ffconcat version 1.0\nfile '${join(folder, 'secret.mp4')}'\n`,
      'a description of a stream': () =>
        `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
      'a manifest': () =>
        `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT3S" profiles="urn:mpeg:dash:profile:isoff-live:2011"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>http://${address()}/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    }
    for (const [what, text] of Object.entries(CRAFTED)) {
      for (const format of sized(['mp4'], ['mp4', 'webm', 'avi', 'mpeg', 'm2ts'])) {
        it(`for ${what}, called .${format}`, async () => {
          const path = join(folder, `crafted.${format}`)
          await writeFile(path, text())
          const inPlace = lying(path, text().length, format)
          const sources = sized([inPlace], [assetOf(Buffer.from(text()), format), inPlace])
          for (const source of sources)
            expect(await rejection(frame(source))).to.include({ status: 422, code: 'not_transformable' })
          expect(connections).to.equal(0)
        })
      }
    }
  })

  it('passes on the paths of programs and libraries, and no other environment', async () => {
    const programs = join(folder, 'programs')
    await mkdir(programs)
    const { PATH } = process.env
    for (const program of ['ffmpeg', 'ffprobe']) {
      // Tells what it has been given, then does what it is there for.
      const text = `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ >> "${programs}/given"\nPATH="${PATH}" exec ${program} "$@"\n`
      await writeFile(join(programs, program), text, { mode: 0o755 })
    }
    const secret = {
      SECRET_CLIENT_TOKEN: 'sec_1',
      AWS_SECRET_ACCESS_KEY: 'key',
      FFREPORT: 'file=/x',
      HOME: '/x',
    }
    const told = { PATH: `${programs}:${PATH}`, LD_LIBRARY_PATH: '/opt/lib' }
    const env = programEnvironment({ ...secret, ...told })
    const own = createFfmpeg({ folder: scratch, env })
    expect(await own.isMissing()).to.equal(false)
    const opened = await own.open(assetOf(film, 'mp4'), {}, context())
    opened.draft.frameAtSeconds = 0
    await own.render(opened.draft, context())
    await own.close?.(opened)
    const given = (await readFile(join(programs, 'given'), 'utf8')).trim().split('\n')
    expect(given).to.have.length(2 * 2)
    expect(new Set(given)).to.deep.equal(new Set([`PATH=${told.PATH}`, 'LD_LIBRARY_PATH=/opt/lib']))
  })

  it('probes a file once when it has a cache, unless the result is too long', async () => {
    const programs = join(folder, 'counted')
    await mkdir(programs)
    const { PATH } = process.env
    const text = `#!/bin/sh\necho >> "${programs}/looks"\nPATH="${PATH}" exec ffprobe "$@"\n`
    await writeFile(join(programs, 'ffprobe'), text, { mode: 0o755 })
    const own = createFfmpeg({ folder: scratch, env: { PATH: `${programs}:${PATH}` } })
    const kept = new Map<string, string>()
    const looks = async (bytes: Buffer) => {
      await writeFile(join(programs, 'looks'), '')
      const digest = sha256(bytes)
      const asset: Asset = {
        ...assetOf(bytes, 'mp4'),
        get probe() {
          return { text: kept.get(digest), keep: async (text: string) => void kept.set(digest, text) }
        },
      }
      const { width, videoCodec } = (await own.facts(asset, context())) as unknown as Record<string, unknown>
      const opened = await own.open(asset, {}, context())
      await own.close?.(opened)
      expect({ width, videoCodec }).to.deep.equal({
        width: opened.source.width,
        videoCodec: opened.source.videoCodec,
      })
      return (await readFile(join(programs, 'looks'), 'utf8')).length
    }
    expect(await looks(film)).to.equal(1)
    expect(await looks(film)).to.equal(0)
    expect(await looks(await video({ colours: ['red'], width: 48, height: 32 }))).to.equal(1)
    const [digest, probe = ''] = [...kept][0] ?? []
    kept.set(String(digest), `00000000 ${probe.slice(9)}`)
    expect(await looks(film), 'what another version has kept').to.equal(1)
    const options = Array.from({ length: 40 }, () => ['-map', '0:v'])
    const tracks = await remuxed(film, options.flat())
    expect(await looks(tracks), 'of 40 streams').to.equal(2)
    expect(kept.has(sha256(tracks))).to.equal(false)
  })

  itLong('leaves HDR unchanged when ffmpeg lacks the filters for it', async () => {
    const programs = join(folder, 'without-zscale')
    await mkdir(programs)
    const { PATH } = process.env
    const text = `#!/bin/sh\nPATH="${PATH}"\ncase "$*" in *-filters) ffmpeg "$@" | grep -v zscale;; *) exec ffmpeg "$@";; esac\n`
    await writeFile(join(programs, 'ffmpeg'), text, { mode: 0o755 })
    const hdr = assetOf(await wideVideo({ rgb: [148, 148, 148], transfer: 'smpte2084' }), 'mp4')
    const brightness = async (path: string) => {
      const own = createFfmpeg({ folder: scratch, env: { PATH: path } })
      const opened = await own.open(hdr, {}, context())
      opened.draft.frameAtSeconds = 0
      const { g } = await colourAt(await readAll(await own.render(opened.draft, context())), 30, 20)
      await own.close?.(opened)
      return g
    }
    expect(await brightness(`${programs}:${PATH}`)).to.be.closeTo(148, 6)
    expect(await brightness(`${PATH}`)).to.be.closeTo(235, 6)
  })

  describe('ends a process', () => {
    let pipe: string
    before(() => {
      pipe = join(folder, 'nobody-writes')
      // A process that opens it waits for a writer without end.
      execFileSync('mkfifo', [pipe])
    })

    /** Processes whose arguments name the pipe. */
    async function running(): Promise<string[]> {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      const lines = await Promise.all(
        pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
      )
      return lines.filter((line) => line.includes(pipe)).map((line) => line.replaceAll('\0', ' '))
    }

    /** A render that waits for ever; `begun` is called as it begins. */
    async function stuck(given: Parameters<typeof context>[0], begun = () => {}): Promise<unknown> {
      const opened = await engine.open(knownAsset(film, 'mp4'), {}, context())
      const { input } = opened.draft
      const render = engine.render({ frameAtSeconds: 0, input: { ...input, path: pipe } }, context(given))
      begun()
      try {
        return await rejection(render)
      } finally {
        await engine.close?.(opened)
      }
    }

    it('that reads a header, when the caller aborts', async () => {
      const leaving = new AbortController()
      const reading = rejection(frame(lying(pipe, 1), { signal: leaving.signal }))
      await eventually(async () => expect(await running()).to.have.length(1))
      const reason = new Error('left')
      leaving.abort(reason)
      expect(await reading).to.equal(reason)
      expect(await running()).to.deep.equal([])
    })

    itLong('that decodes, when the caller aborts, at any time', async () => {
      for (const afterMs of [0, 5, 30, 300]) {
        const leaving = new AbortController()
        const reason = new Error('left')
        const abort = () => leaving.abort(reason)
        const outcome = stuck({ signal: leaving.signal }, () => setTimeout(abort, afterMs))
        expect(await outcome).to.equal(reason)
        expect(await running()).to.deep.equal([])
      }
    })

    it('that ignores SIGTERM', async () => {
      const deaf = spawn('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'])
      await once(deaf.stdout, 'data')
      const ended = once(deaf, 'exit').then(() => Promise.reject(new Error('ended')))
      const kill = (signal: 'SIGTERM' | 'SIGKILL') => deaf.kill(signal)
      const { signal } = context()
      expect(await rejection(watched({ ended, kill }, { signal, timeoutMs: 50 }))).to.have.property(
        'status',
        422,
      )
      expect(deaf.signalCode).to.equal('SIGKILL')
    })

    it('that exceeds its time limit', async () => {
      const limits = { ...LIMITS, timeoutMs: 300 }
      for (const outcome of [await rejection(frame(lying(pipe, 1), { limits })), await stuck({ limits })]) {
        expect(outcome).to.include({ status: 422, message: 'This video takes too long to transform.' })
        expect(await running()).to.deep.equal([])
      }
    })

    it('only then; until its end the process has the lowest priority', async () => {
      const leaving = new AbortController()
      const outcome = stuck({ signal: leaving.signal })
      let pids: string[] = []
      await eventually(async () => {
        const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
        const lines = await Promise.all(
          all.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
        )
        pids = all.filter((_, i) => /^ffmpeg|\/ffmpeg/.test(lines[i] ?? '') && lines[i]?.includes(pipe))
        expect(pids).to.have.length(1)
      })
      const stat = await readFile(`/proc/${pids[0]}/stat`, 'utf8')
      leaving.abort(new Error('left'))
      await outcome
      // The nineteenth field; those after the name's bracket begin with the third.
      expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]).to.equal('19')
    })
  })

  it('removes the files of killed processes at the start, and none of running ones', async () => {
    const id = '-00000000-0000-4000-8000-000000000000'
    // No process has such a number.
    const dead = `${hostname()}-4194305${id}`
    const before = `${hostname()}-${process.pid}${id}`
    const alive = `${hostname()}-${process.ppid}${id}`
    const elsewhere = `other-host-7${id}`
    const old = `old-host-7${id}`
    const foreign = 'somebody-elses-folder'
    for (const name of [dead, before, alive, elsewhere, old, foreign])
      await mkdir(join(scratch, name), { recursive: true })
    const twoHoursAgo = new Date(Date.now() - 7_200_000)
    await utimes(join(scratch, old), twoHoursAgo, twoHoursAgo)
    await engine.start(recordLog())
    expect(await readdir(scratch)).to.have.members([alive, elsewhere, foreign])
    await rm(scratch, { recursive: true })
  })
})

/** HLS, whose one segment is this. */
function playlist(segment: string): string {
  return `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n${segment}\n#EXT-X-ENDLIST\n`
}
