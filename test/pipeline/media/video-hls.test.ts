import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { programEnvironment } from '../../../config/programs.ts'
import { type Asset, readAll } from '../../../src/core/bytes/asset.ts'
import { formatOfMediaType } from '../../../src/core/media/formats.ts'
import { createFfmpeg } from '../../../src/engines/video/ffmpeg.ts'
import { segmentsOf } from '../../../src/engines/video/hls-playlist.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner, type Plan } from '../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../src/pipeline/run/run.ts'
import { slowFfmpeg } from '../../support/media/slow-ffmpeg.ts'
import { film, probed, remuxed, slowFilm, video } from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { context, LIMITS } from '../image/transform.ts'
import { loadWith } from '../load/drop-ins.ts'
import { knownAsset } from './known-asset.ts'

const execute = promisify(execFile)

describe('an HLS stream', () => {
  let folder: string
  let transforms: readonly LoadedPlugin[]
  let run: ReturnType<typeof createRunner>
  let runSlowly: typeof run
  /** Half a minute with sound, in a size of which there are two renditions. */
  let long: Buffer
  let slow: Awaited<ReturnType<typeof slowFfmpeg>>
  /** Six seconds, 600 x 450, with sound. */
  let source: Buffer
  before(async () => {
    folder = await temporaryFolder()
    const runnerWith = (env: Record<string, string>) =>
      createRunner(new Map([['ffmpeg', createFfmpeg({ folder: join(folder, 'scratch'), env })]]))
    run = runnerWith(programEnvironment())
    // The long film takes at least 2.5 s, and needs little of the CPU.
    slow = await slowFfmpeg(12)
    long = await slowFilm()
    runSlowly = runnerWith({ ...programEnvironment(), PATH: slow.PATH })
    transforms = (await loadWith({})).transforms
    source = await film({
      colours: ['red', 'green', 'blue', 'red', 'green', 'blue'],
      width: 600,
      height: 450,
    })
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(join(folder, 'scratch')).catch(() => [])).to.deep.equal([])
  })
  after(() => Promise.all([folder, slow.folder].map((one) => rm(one, { recursive: true, force: true }))))

  const planOf = (query: string): Plan =>
    createPlanner(
      transforms,
      [],
    )({ query: new URLSearchParams(query), format: formatOfMediaType('video/mp4'), preferences: {} })

  /** A variant of a master playlist, by the names of its attributes. */
  type Variant = Record<string, string> & { uri: string }

  interface Streamed {
    /** Where all of it lies, as it would in a bucket. */
    place: string
    master: string
    variants: Variant[]
    /** The media playlist of the sound. */
    sound: string | undefined
    stored: string[]
    read(name: string): Promise<Buffer>
  }

  let places = 0
  async function streamed(
    bytes: Uint8Array,
    query = 'hls',
    {
      onPart = async () => {},
      isSlow = false,
    }: { onPart?: (name: string, part: Asset) => Promise<unknown>; isSlow?: boolean } = {},
  ): Promise<Streamed> {
    const place = join(folder, `place-${++places}`)
    await mkdir(place)
    const stored: string[] = []
    const leftovers: Array<() => Promise<void>> = []
    try {
      const given = context({
        // Of a machine that does much else.
        limits: { ...LIMITS, timeoutMs: 60_000 },
        afterwards: (remove) => void leftovers.push(remove),
        async storePart(name, part) {
          await onPart(name, part)
          await writeFile(join(place, name), await readAll(part))
          stored.push(name)
        },
      })
      const entry = await (isSlow ? runSlowly : run)(planOf(query), knownAsset(bytes, 'mp4'), given)
      expect(entry.mediaType).to.equal('application/vnd.apple.mpegurl')
      const master = (await readAll(entry)).toString()
      await writeFile(join(place, 'master.m3u8'), master)
      return { ...readMaster(master), place, master, stored, read: (name) => readFile(join(place, name)) }
    } finally {
      for (const remove of leftovers) await remove()
    }
  }

  function readMaster(master: string): Pick<Streamed, 'variants' | 'sound'> {
    const lines = master.split('\n')
    const variants = lines.flatMap((line, i) => {
      const [, attributes] = /^#EXT-X-STREAM-INF:(.*)$/.exec(line) ?? []
      if (attributes === undefined) return []
      const pairs = [...attributes.matchAll(/([A-Z-]+)=("[^"]*"|[^,]*)/g)]
      const named = Object.fromEntries(pairs.map(([, name, value]) => [name, value]))
      return [{ ...named, uri: lines[i + 1] ?? '' }]
    })
    return { variants, sound: /#EXT-X-MEDIA:TYPE=AUDIO.*URI="([^"]*)"/.exec(master)?.[1] }
  }

  /** A media playlist's file as a whole, as a player puts it together. */
  async function whole({ read }: Streamed, uri: string): Promise<Buffer> {
    const playlist = (await read(uri)).toString()
    const [, map = ''] = /#EXT-X-MAP:URI="([^"]*)"/.exec(playlist) ?? []
    return Buffer.concat(await Promise.all([map, ...segmentsOf(playlist).map((one) => one.uri)].map(read)))
  }

  /** Decodes all of a variant and the sound, as a player would that has nothing but the playlist. */
  async function played({ place }: Streamed): Promise<string> {
    const given = ['-v', 'error', '-i', join(place, 'master.m3u8'), '-map', '0', '-f', 'null', '-']
    return (await execute('ffmpeg', given)).stderr
  }

  let ofSource: Promise<Streamed> | undefined

  /** The stream of the whole source, rendered once. */
  function streamOfSource(): Promise<Streamed> {
    ofSource ??= streamed(source)
    return ofSource
  }

  const sizes = ({ variants }: Streamed) => variants.map(({ RESOLUTION }) => RESOLUTION)

  it('is a ladder of sizes whose segments begin at the same times', async () => {
    const made = await streamOfSource()
    expect(sizes(made)).to.deep.equal(['600x450', '480x360'])
    expect(made.variants.map(({ CODECS }) => CODECS)).to.deep.equal([
      '"avc1.640016,mp4a.40.2"',
      '"avc1.4d4015,mp4a.40.2"',
    ])
    const pictures = await Promise.all(made.variants.map(async ({ uri }) => probed(await whole(made, uri))))
    for (const [i, one] of pictures.entries()) {
      expect(one).to.include({ videoCodec: 'h264', audioCodec: undefined, frames: 60 })
      expect(`${one.width}x${one.height}`).to.equal(made.variants[i]?.RESOLUTION)
      // To ffmpeg the first picture comes after those that are decoded before they are shown.
      const first = one.keyFrames[0] ?? 0
      expect(one.keyFrames.map((at) => Math.round(10 * (at - first)))).to.deep.equal([0, 40])
    }
    expect(await probed(await whole(made, made.sound ?? ''))).to.include({ audioCodec: 'aac', frames: 0 })
    for (const uri of [...made.variants.map((one) => one.uri), made.sound ?? '']) {
      const playlist = (await made.read(uri)).toString()
      expect(playlist)
        .to.include('#EXT-X-PLAYLIST-TYPE:EVENT')
        .and.match(/#EXT-X-ENDLIST\n$/)
      expect(segmentsOf(playlist).map(({ seconds }) => Math.round(seconds))).to.deep.equal([4, 2])
    }
    expect(await played(made)).to.equal('')
    const names = [...new Set(made.stored)].map((name) => name.replace(/^[0-9a-f]{8}-/, ''))
    expect(names.filter((name) => name !== 'live.m3u8').sort()).to.deep.equal(
      ['360p', '450p', 'sound'].flatMap((name) => [
        ...[`${name}-00000.m4s`, `${name}-00001.m4s`],
        ...[`${name}.m3u8`, `${name}.mp4`],
      ]),
    )
  })

  it('can be played during the transcode, once each rendition has begun', async function () {
    this.timeout(120_000)
    const versions = new Map<string, string[]>()
    const inStore = new Set<string>()
    const kept: string[] = []
    let live = ''
    let partsBeforeLive = 0
    const onPart = async (name: string, part: Asset) => {
      if (part.file !== undefined) kept.push(part.file)
      else {
        const text = (await readAll(part)).toString()
        // What a player reads leads to nothing that is not there.
        const named = [...text.matchAll(/URI="([^"]+)"|^([^#\n]+)$/gm)].map(([, a, b]) => a ?? b ?? '')
        for (const file of named) expect(inStore, `${name}: ${text}`).to.include(file)
        if (name === 'live.m3u8') {
          expect(live).to.equal('')
          live = text
          partsBeforeLive = inStore.size
          for (const last of versions.values()) expect(last.at(-1)).not.to.include('#EXT-X-ENDLIST')
          for (const file of kept) expect(await rejection(readFile(file))).to.include({ code: 'ENOENT' })
        } else versions.set(name, [...(versions.get(name) ?? []), text])
      }
      inStore.add(name)
    }
    const made = await streamed(long, 'hls', { onPart, isSlow: true })
    expect(live).to.include('#EXT-X-START:TIME-OFFSET=0\n').and.not.to.include('AVERAGE')
    expect(made.master).not.to.include('#EXT-X-START')
    const before = readMaster(live)
    expect(before.sound).to.equal(made.sound)
    expect(before.variants.map(({ uri, CODECS }) => [uri, CODECS])).to.deep.equal(
      made.variants.map(({ uri, CODECS }) => [uri, CODECS]),
    )
    for (const [i, one] of before.variants.entries())
      expect(Number(one.BANDWIDTH)).to.be.above(Number(made.variants[i]?.BANDWIDTH))
    expect(inStore.size).to.be.above(partsBeforeLive + 10)
    expect([...versions.keys()].sort()).to.deep.equal(
      [...made.variants.map(({ uri }) => uri), made.sound ?? ''].sort(),
    )
    for (const texts of versions.values()) {
      expect(texts.length).to.be.above(1)
      for (const [i, text] of texts.entries()) {
        expect(text).to.match(/#EXT-X-PLAYLIST-TYPE:EVENT\n/)
        // RFC 8216 section 6.2.1: a playlist of events is only ever added to.
        expect(text.startsWith(texts[i - 1] ?? ''), text).to.equal(true)
        expect(text.endsWith('#EXT-X-ENDLIST\n')).to.equal(i === texts.length - 1)
      }
      const lasts = segmentsOf(texts.at(-1) ?? '').reduce((sum, { seconds }) => sum + seconds, 0)
      expect(lasts).to.be.closeTo(30, 0.5)
    }
  })

  itLong('cannot be played before each rendition has begun', async () => {
    const inputs = ['-f', 'lavfi', '-i', 'sine=d=1']
    const short = await remuxed(long, ['-map', '0:v', '-map', '1:a', '-c:a', 'aac'], {
      inputs,
    })
    // Of the sound there is nothing until ffmpeg knows that it is over.
    const made = await streamed(short, 'hls', { isSlow: true })
    expect(made.sound).to.match(/-sound\.m3u8$/)
    expect(made.stored.filter((name) => name.endsWith('p.m3u8')).length).to.be.above(3)
    // On a slow machine there may be time left for it then.
    const live = made.stored.indexOf('live.m3u8')
    expect(live < 0 ? made.stored : made.stored.slice(0, live)).to.include(made.sound)
  })

  it('fails at once when a part cannot be stored', async function () {
    this.timeout(120_000)
    const failure = new Error('the bucket is away')
    const stored: string[] = []
    const onPart = async (name: string, part: Asset) => {
      if (name === 'live.m3u8') throw failure
      stored.push(part.file === undefined ? (await readAll(part)).toString() : name)
    }
    const error = await rejection(streamed(long, 'hls', { onPart, isSlow: true }))
    expect((error as Error).cause).to.equal(failure)
    expect(stored.join()).not.to.include('#EXT-X-ENDLIST')
  })

  it('declares bit rates that no segment exceeds', async () => {
    const { master, variants, read } = await streamOfSource()
    for (const one of variants) {
      const segments = segmentsOf((await read(one.uri)).toString())
      const bytes = await Promise.all(segments.map(async ({ uri }) => (await read(uri)).length))
      const rates = segments.map(({ seconds }, i) => (8 * Number(bytes[i])) / seconds)
      const [peak, average] = [Number(one.BANDWIDTH), Number(one['AVERAGE-BANDWIDTH'])]
      // With 128 kbit/s of sound at most.
      expect(peak, master).to.be.within(Math.max(...rates), Math.max(...rates) + 160_000)
      expect(average, master).to.be.within(Math.min(...rates), peak)
    }
  })

  itLong('can be a part of its source, without audio, rotated upright', async () => {
    const bytes = await remuxed(await film({ width: 96, height: 64 }), ['-metadata:s:v', 'rotate=90'])
    const made = await streamed(bytes, 'hls&start=0.5&end=2&mute')
    expect(sizes(made)).to.deep.equal(['64x96'])
    expect(made.sound).to.equal(undefined)
    expect(made.master).not.to.match(/AUDIO|mp4a/)
    expect((await probed(await whole(made, made.variants[0]?.uri ?? ''))).frames).to.equal(15)
    if (sized(false, true)) expect(sizes(await streamed(bytes, 'hls&vt'))).to.deep.equal(['54x96'])
  })

  itLong('has no audio for a silent video, or for audio that ends before the requested part', async () => {
    expect((await streamed(await video())).sound).to.equal(undefined)
    const inputs = ['-f', 'lavfi', '-i', 'sine=d=1']
    const short = await remuxed(await video(), ['-map', '0', '-map', '1:a', '-c:a', 'aac'], { inputs })
    expect((await streamed(short)).sound).to.match(/-sound\.m3u8$/)
    const late = await streamed(short, 'hls&start=2')
    expect(late.sound).to.equal(undefined)
    expect(late.stored.filter((name) => name.includes('sound'))).to.deep.equal([])
    expect(await played(late)).to.equal('')
  })

  itLong('stays in sync when video or audio begins later', async () => {
    const inputs = ['-f', 'lavfi', '-itsoffset', '1', '-i', 'sine=d=1']
    const late = await remuxed(await video(), ['-map', '0', '-map', '1:a', '-c:a', 'aac'], { inputs })
    const made = await streamed(late)
    const { seconds } = await probed(await whole(made, made.sound ?? ''))
    expect(seconds).to.be.within(1.95, 2.1)
    if (sized(true, false)) return
    const held = await streamed(await remuxed(await film(), ['-bsf:v', 'setts=ts=TS+1/TB']))
    // By when the pictures are decoded, a second or so after they are shown.
    expect((await probed(await whole(held, held.variants[0]?.uri ?? ''))).seconds).to.be.within(3.9, 5.1)
  })

  it('is refused with parameters that the ladder sets, and for a broken source', async () => {
    for (const [param, query] of [
      ['w', 'hls&w=100'],
      ['f', 'hls&f=webm'],
      ['q_a', 'hls&q_a'],
      ['kf', 'kf=10&hls'],
    ])
      expect(() => planOf(String(query))).to.throw(
        `expected no such parameter with hls for ${param} but received "${param}"`,
      )
    expect(await rejection(streamed(source.subarray(0, 3000)))).to.include({ status: 422 })
  })

  it('has a name that begins with hls, with the playlist in its folder', () => {
    expect(planOf('hls').variant).to.equal('hls/master.m3u8')
    expect(planOf('start=1&mute&hls=1&end=2.5').variant).to.equal('end=2.5&hls&mute=1&start=1/master.m3u8')
    expect(planOf('hls=0&w=100').variant).to.equal('w=100')
  })
})
