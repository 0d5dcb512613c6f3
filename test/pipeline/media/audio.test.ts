import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { programEnvironment } from '../../../config/programs.ts'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { EngineContext } from '../../../src/core/plugin-api/plugin.ts'
import { audioArguments } from '../../../src/engines/audio/arguments.ts'
import { createAudioEngine } from '../../../src/engines/audio/audio.ts'
import type { AudioDraft } from '../../../src/engines/audio/source.ts'
import type { LoadedPlugin } from '../../../src/pipeline/load/load.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../src/pipeline/run/run.ts'
import { heard, heardInWav, loudness, tone, wavOf } from '../../support/media/sounds.ts'
import { remuxed, sound, video } from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { context, LIMITS } from '../image/transform.ts'
import { loadWith } from '../load/drop-ins.ts'
import { knownAsset } from './known-asset.ts'

describe('audio output', () => {
  // A test starts up to 16 processes.

  let folder: string
  let transforms: readonly LoadedPlugin[]
  let run: ReturnType<typeof createRunner>
  /** Three seconds in mono, a WAV: quiet, loud, silent. */
  let source: Buffer
  before(async () => {
    folder = await temporaryFolder()
    run = createRunner(new Map([['ffmpeg-audio', createAudioEngine({ folder, env: programEnvironment() })]]))
    transforms = (await loadWith({})).transforms
    source = await tone({ levels: [0.1, 0.8, 0] })
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(folder)).to.deep.equal([])
  })
  after(() => rm(folder, { recursive: true, force: true }))

  type Given = Partial<EngineContext> & { format?: string }

  function planOf(query: string, format: string) {
    const input = { query: new URLSearchParams(query), preferences: {} }
    return createPlanner(transforms, [])({ ...input, format: knownFormat(format) })
  }

  async function made(bytes: Uint8Array, query: string, { format = 'wav', ...given }: Given = {}) {
    const leftovers: Array<() => Promise<void>> = []
    const asset = knownAsset(bytes, format)
    const plan = planOf(query, format)
    const afterwards = (remove: () => Promise<void>) => void leftovers.push(remove)
    try {
      const rendered = await run(plan, asset, context({ ...given, afterwards }))
      return { mediaType: rendered.mediaType, bytes: await readAll(rendered) }
    } finally {
      for (const remove of leftovers) await remove()
    }
  }

  const outputs = new Map<string, ReturnType<typeof made>>()

  /** The source in another format, rendered once. */
  function output(format: string): ReturnType<typeof made> {
    const bytes = outputs.get(format) ?? made(source, `f=${format}`)
    outputs.set(format, bytes)
    return bytes
  }

  /** What comes out as a WAV. */
  const wav = async (...given: Parameters<typeof made>) => heardInWav((await made(...given)).bytes)

  async function refusal(bytes: Uint8Array, query: string, given: Given = {}) {
    return (await rejection(made(bytes, query, given))) as Error & { status: number }
  }

  // WAV and FLAC are outputs of other tests here.
  for (const [format, mediaType, container, codec] of everyNth(2, [
    ['mp3', 'audio/mpeg', 'mp3', 'mp3'],
    ['ogg', 'audio/ogg', 'ogg', 'vorbis'],
    ['m4a', 'audio/mp4', 'mov,mp4,m4a,3gp,3g2,mj2', 'aac'],
    ['wav', 'audio/wav', 'wav', 'pcm_s16le'],
    ['opus', 'audio/ogg', 'ogg', 'opus'],
    ['flac', 'audio/flac', 'flac', 'flac'],
  ] as const)) {
    it(`has the codec ${codec} as ${format}`, async () => {
      const outcome = await output(format)
      expect(outcome.mediaType).to.equal(mediaType)
      const { seconds, peak, ...rest } = await heard(outcome.bytes)
      expect(rest).to.include({ container, codec, channels: 1, streams: 1 })
      expect(rest.sampleRate).to.equal(format === 'opus' ? 48_000 : 44_100)
      expect(seconds).to.be.closeTo(3, 0.08)
      expect(peak).to.be.closeTo(0.8, 0.05)
    })
  }

  // MP3, M4A and FLAC are sources in other tests here.
  for (const format of sized(['aac'], ['mp3', 'm4a', 'ogg', 'opus', 'flac', 'aac', 'aiff'])) {
    it(`accepts ${format} as the source`, async () => {
      const isOutput = format !== 'aac' && format !== 'aiff'
      const bytes = isOutput ? (await output(format)).bytes : await tone({ levels: [0.1, 0.8, 0], format })
      const { seconds, peak } = await wav(bytes, 'f=wav', { format })
      expect(seconds).to.be.closeTo(3, 0.08)
      expect(peak).to.be.closeTo(0.8, 0.05)
    })
  }

  it('is refused before the start when the size is known, otherwise ffmpeg stops at the limit', async () => {
    const limits = { ...LIMITS, outputMaxBytes: 20_000 }
    let told = 0
    const progress = () => {
      told += 1
    }
    const noise = await sound({ source: 'anoisesrc=d=20:a=0.5:r=44100', format: 'flac' })
    for (const [query, begins] of [
      ['f=wav', false],
      ['f=mp3&br=128', true],
    ] as const) {
      told = 0
      const refused = await refusal(noise, query, { format: 'flac', limits, progress })
      expect(refused).to.include({ status: 422, code: 'output_too_large' })
      expect(told > 0, query).to.equal(begins)
    }
    const { length } = (await made(noise, 'f=mp3&br=128&end=1', { format: 'flac', limits })).bytes
    expect(length).to.be.below(20_000)
  })

  it('ends its file at the output limit', () => {
    const source = { channels: 2, sampleRate: 44_100, stream: 0, durationSeconds: 10, audioCodec: 'flac' }
    const draft = {
      input: { path: '/tmp/a', folder: '/tmp', demuxer: 'flac', source },
    } as unknown as AudioDraft
    const limits = { ...LIMITS, outputMaxBytes: 12_345 }
    const args = audioArguments(draft, { format: 'mp3', target: '/tmp/out.mp3', limits })
    expect(args.join(' ')).to.include('-fs 12345')
  })

  itLong('has the requested bit rate, or the nearest of the encoder', async () => {
    const noise = await sound({ source: 'anoisesrc=d=2:a=0.5:r=44100', format: 'wav' })
    const usual = [
      ['f=mp3&br=64', 62, 68],
      ['f=opus&br=320', 180, 270],
    ] as const
    const others = [
      ['f=m4a&br=64', 50, 75],
      ['f=ogg&br=16', 15, 60],
      ['br=320', 310, 335],
      ['f=ogg&br=320', 150, 290],
      ['f=opus&br=16', 10, 30],
    ] as const
    for (const [query, low, high] of sized([...usual], [...usual, ...others])) {
      const { bytes } = await made(noise, query)
      expect((bytes.length * 8) / 2 / 1000, query).to.be.within(low, high)
    }
  })

  it('preserves rate and channels when lossless, and has at most two channels when lossy', async () => {
    const wide = await tone({ levels: [0.3], options: ['-ac', '6', '-ar', '96000'] })
    expect(await heard((await made(wide, 'f=flac')).bytes)).to.include({ channels: 6, sampleRate: 96_000 })
    expect(await heard((await made(wide, 'f=mp3')).bytes)).to.include({ channels: 2, sampleRate: 48_000 })
  })

  itLong('has the length of a source of few samples', async () => {
    const slow = await tone({ levels: [0.3], options: ['-ar', '8000'] })
    for (const format of ['ogg', 'opus', 'mp3', 'm4a'])
      expect((await heard((await made(slow, `f=${format}`)).bytes)).seconds, format).to.be.closeTo(1, 0.1)
  })

  it('contains the part from start to end', async () => {
    for (const [query, seconds, peak] of everyNth(4, [
      ['start=1&end=2', 1, 0.8],
      ['end=0.5', 0.5, 0.1],
      ['start=2.25', 0.75, 0],
      ['start=1.5&end=100', 1.5, 0.8],
    ] as const)) {
      const part = await wav(source, `${query}&f=wav`)
      expect(part.seconds, query).to.be.closeTo(seconds, 0.01)
      expect(part.peak, query).to.be.closeTo(peak, 0.02)
    }
    const mp3 = await output('mp3')
    const part = await wav(mp3.bytes, 'start=1.1&end=1.9&f=wav', { format: 'mp3' })
    expect(part.seconds).to.be.closeTo(0.8, 0.03)
    expect(part.peak).to.be.closeTo(0.8, 0.05)
  })

  itLong('has the loudness of podcasts, and the sample rate of the source', async () => {
    const usual = [
      [0.01, 'wav'],
      [0.9, 'mp3'],
    ] as const
    for (const [level, format] of everyNth(3, [...usual, [0.2, 'mp3'] as const])) {
      const bytes = await tone({ levels: Array(2).fill(level) })
      const outcome = (await made(bytes, `loudnorm&f=${format}`)).bytes
      const { integrated, truePeak, ...rest } = await loudness(outcome)
      expect(integrated, `${level} as ${format}`).to.be.closeTo(-16, 0.5)
      expect(truePeak).to.be.below(-1)
      expect(rest).to.deep.equal({ sampleRate: 44_100, channels: 1 })
    }
  })

  itLong('has this loudness even when single peaks would exceed the limit', async () => {
    const clicks = wavOf(5, (at) => (at % 1 < 0.0005 ? 0.9 : 0.05) * Math.sin(2 * Math.PI * 440 * at))
    expect((await loudness(clicks)).integrated).to.be.below(-25)
    const { integrated, truePeak } = await loudness((await made(clicks, 'loudnorm&f=wav')).bytes)
    expect(integrated).to.be.closeTo(-16, 1.5)
    expect(truePeak).to.be.below(-1)
  })

  itLong('leaves silence unchanged', async () => {
    const silence = await tone({ levels: [0] })
    const { seconds, peak } = await wav(silence, 'loudnorm&f=wav')
    expect(peak).to.equal(0)
    expect(seconds).to.be.closeTo(1, 0.01)
  })

  itLong('removes tags and cover art', async () => {
    const tagged = ['-metadata', 'title=Secret', '-metadata', 'location=+52+13/']
    const picture = ['-map', '0:a', '-map', '1:v', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic']
    const inputs = ['-f', 'lavfi', '-i', 'color=red:s=64x64:r=1:d=1']
    const bytes = await remuxed(await sound({ format: 'mp3' }), [...picture, ...tagged], {
      inputs,
      format: 'mp3',
    })
    expect((await heard(bytes)).tags).to.have.property('title')
    for (const query of sized(['f=mp3'], ['f=mp3', 'f=m4a', 'f=flac', 'f=ogg'])) {
      const { tags, streams } = await heard((await made(bytes, query, { format: 'mp3' })).bytes)
      expect(JSON.stringify(tags), query).to.not.match(/Secret|52/)
      expect(streams, query).to.equal(1)
    }
  })

  it('has its index first as m4a', async () => {
    const { bytes } = await output('m4a')
    expect(bytes.indexOf('moov')).to.be.within(1, bytes.indexOf('mdat'))
  })

  it('contains the part of a truncated file that can be decoded', async () => {
    const mp3 = (await output('mp3')).bytes
    const { seconds } = await wav(mp3.subarray(0, mp3.length / 2), 'f=wav', { format: 'mp3' })
    expect(seconds).to.be.closeTo(1.5, 0.2)
  })

  it('reports its progress', async () => {
    const told: number[] = []
    const long = await tone({ levels: Array(20).fill(0.5) })
    await made(long, 'f=mp3', { progress: (fraction) => void told.push(fraction) })
    expect(told).to.deep.equal([...told].sort((a, b) => a - b))
    expect(Math.max(...told)).to.be.within(0.5, 0.99)
  })

  describe('as a waveform', () => {
    interface Drawn {
      version: number
      channels: number
      sample_rate: number
      samples_per_pixel: number
      bits: number
      length: number
      data: number[]
    }
    async function drawn(bytes: Uint8Array, query: string, given?: Given): Promise<Drawn> {
      const outcome = await made(bytes, query, given)
      expect(outcome.mediaType).to.equal('application/json')
      return JSON.parse(outcome.bytes.toString('utf8'))
    }

    it("has the lowest and the highest sample of each part, in audiowaveform's format", async () => {
      const { data, ...rest } = await drawn(source, 'waveform&w=30')
      expect(rest).to.deep.equal({
        version: 2,
        channels: 1,
        sample_rate: 44_100,
        samples_per_pixel: 4410,
        bits: 8,
        length: 30,
      })
      expect(data).to.have.length(60)
      const highest = Math.floor(0.8 * 128)
      for (const [part, level] of [
        [3, Math.floor(0.1 * 128)],
        [13, highest],
        [19, highest],
        [23, 0],
      ] as const) {
        expect(data[2 * part + 1], `highest of ${part}`).to.be.closeTo(level, 1)
        expect(data[2 * part], `lowest of ${part}`).to.be.closeTo(-level, 1)
      }
    })

    itLong('is of the requested part, with the requested loudness', async () => {
      const part = await drawn(source, 'waveform&start=1&end=2&w=10')
      expect(part).to.include({ length: 10, samples_per_pixel: 4410 })
      expect(Math.min(...part.data.filter((_, i) => i % 2 === 1))).to.be.closeTo(102, 2)
      const quiet = await tone({ levels: Array(2).fill(0.01) })
      const loud = await drawn(quiet, 'waveform&loudnorm&w=10')
      expect(Math.max(...loud.data)).to.be.above(20)
    })

    it('has at most the requested number of parts, of both channels together', async () => {
      const stereo = await tone({ levels: [0.5], format: 'mp3', options: ['-ac', '2'] })
      const { length, samples_per_pixel, data, channels } = await drawn(stereo, 'waveform', { format: 'mp3' })
      expect(length).to.be.within(900, 1000)
      expect(samples_per_pixel * length).to.be.within(44_100, 48_000)
      expect(data).to.have.length(2 * length)
      expect(channels).to.equal(1)
      // Either channel has the mono that it is made of by 0.71.
      expect(Math.max(...data)).to.be.closeTo(0.5 * 0.71 * 128, 3)
    })

    it('is an image with f=png, high where the audio is loud', async () => {
      const { bytes, mediaType } = await made(source, 'waveform&f=png&w=300&h=100')
      expect(mediaType).to.equal('image/png')
      const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
      expect(info).to.include({ width: 300, height: 100 })
      const inked = (x: number) =>
        Array.from({ length: 100 }, (_, y) => data[(y * 300 + x) * 4 + 3]).filter((alpha) => alpha === 255)
          .length
      expect(inked(50)).to.be.closeTo(10, 2)
      expect(inked(150)).to.be.closeTo(80, 2)
      expect(inked(250)).to.be.within(1, 2)
    })

    it('is refused for a file without audio', async () => {
      expect(await refusal(Buffer.alloc(0), 'waveform')).to.have.property('status', 422)
    })
  })

  describe('is refused', () => {
    const BROKEN = 'expected an audio file that can be decoded but this one cannot'
    for (const [what, bytes, format, message] of everyNth(2, [
      ['for an empty file', async () => Buffer.alloc(0), 'mp3', BROKEN],
      ['for zeros', async () => Buffer.alloc(100_000), 'flac', BROKEN],
      ['for a playlist', async () => Buffer.from('#EXTM3U\n#EXTINF:3,\n/etc/passwd\n'), 'm4a', BROKEN],
      ['for a header alone', async () => source.subarray(0, 44), 'wav', BROKEN],
      [
        'for a video without sound',
        video,
        'm4a',
        'expected an audio file with sound but found no audio stream',
      ],
      [
        'for a MIDI file',
        async () => Buffer.from('MThd'),
        'midi',
        'expected a video or audio file that can be read but this file is midi',
      ],
    ] as const)) {
      it(what, async () => {
        expect(await refusal(await bytes(), 'f=wav', { format })).to.include({ status: 422, message })
      })
    }

    it('for a list of other files, and neither files nor URLs in it are opened', async () => {
      let connections = 0
      const listener = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      listener.listen(0, '127.0.0.1')
      await once(listener, 'listening')
      const { port } = listener.address() as AddressInfo
      const elsewhere = await temporaryFolder()
      const secret = join(elsewhere, 'secret.wav')
      await writeFile(secret, source)
      try {
        for (const text of [
          `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nhttp://127.0.0.1:${port}/secret.mp3\n#EXT-X-ENDLIST\n`,
          `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n${secret}\n#EXT-X-ENDLIST\n`,
          `ffconcat version 1.0\nfile '${secret}'\n`,
        ]) {
          for (const format of sized(['mp3'], ['mp3', 'm4a', 'ogg', 'wav', 'flac', 'aac']))
            expect(await refusal(Buffer.from(text), 'f=wav', { format }), format).to.have.property(
              'status',
              422,
            )
        }
        expect(connections).to.equal(0)
      } finally {
        listener.close()
        await rm(elsewhere, { recursive: true })
      }
    })

    itLong('for an index without audio', async () => {
      const { bytes } = await output('m4a')
      const index = bytes.subarray(0, bytes.indexOf('mdat') + 4)
      for (const query of sized(['f=wav', 'waveform'], ['f=wav', 'waveform', 'loudnorm']))
        expect(await refusal(index, query, { format: 'm4a' }), query).to.include({
          status: 422,
          message: BROKEN,
        })
    })

    for (const [query, expected] of [
      ['start=3', /^expected a number below 3 \(this audio file is 3 s long\) for start but received "3"$/],
      ['start=2&end=1', /^expected a time after start \(2 s\) for end but received "1"$/],
      ['f=wav&br=64', /^expected no br with f=wav \(lossless\) for br but received "64"$/],
      ['f=png', /^expected one of mp3, m4a, ogg, opus, wav, flac without waveform for f but received "png"$/],
      ['waveform&f=mp3', /^expected one of json, png with waveform for f but received "mp3"$/],
      ['waveform&br=64', /^expected no such parameter with waveform for br but received "br"$/],
      ['w=100', /^expected 1 with w or h for waveform but received none$/],
      ['br=8', /^expected an integer from 16 to 320 kbit\/s for br/],
    ] as const) {
      it(`for ?${query}`, async () => {
        const { status, message } = await refusal(source, query)
        expect(status).to.equal(400)
        expect(message).to.match(expected)
      })
    }

    for (const [what, asked] of [
      ['written', { format: 'mp3' }],
      ['measured', { format: 'mp3', isNormalized: true }],
      ['drawn', { waveform: { format: 'json', width: 10, height: 10 } }],
    ] as const) {
      itLong(`temporarily when there is no progress while it is ${what}`, async () => {
        const elsewhere = await temporaryFolder()
        const engine = createAudioEngine({ folder, env: programEnvironment(), stallMs: 300 })
        const leftovers: Array<() => Promise<void>> = []
        const given = context({ afterwards: (remove) => void leftovers.push(remove) })
        const opened = await engine.open(knownAsset(source, 'wav'), {}, given)
        try {
          const path = join(elsewhere, 'nobody-writes')
          execFileSync('mkfifo', [path])
          const draft = { ...opened.draft, ...asked, input: { ...opened.draft.input, path } }
          expect(await rejection(engine.render(draft, given))).to.include({
            status: 504,
            code: 'no_progress',
          })
        } finally {
          await engine.close?.(opened)
          for (const remove of leftovers) await remove()
          await rm(elsewhere, { recursive: true })
        }
      })
    }

    itLong('when it takes too long', async () => {
      const long = wavOf(120, (at) => (at % 0.002 < 0.001 ? 0.5 : -0.5))
      // Known from a probe with more time.
      expect(await refusal(long, 'start=1000')).to.include({ status: 400 })
      const limits = { ...LIMITS, timeoutMs: 100 }
      for (const query of ['f=opus', 'waveform&loudnorm'])
        expect(await refusal(long, query, { limits })).to.include({
          status: 422,
          message: 'This audio takes too long to transform.',
        })
    })
  })

  for (const [query, variant] of [
    ['f=mp3', 'default'],
    ['f=mp3&br=128&start=0', 'br=128'],
    ['f=opus&bitrate=96', 'br=96&f=opus'],
    ['end=2&format=flac&start=1', 'end=2&f=flac&start=1'],
    ['waveform&f=json', 'waveform=1'],
    ['waveform=1&f=png&w=1000&height=50', 'f=png&h=50&waveform=1'],
  ] as const) {
    it(`is named ${variant} for ?${query}`, async () => {
      expect(planOf(query, 'wav').variant).to.equal(variant)
    })
  }
})
