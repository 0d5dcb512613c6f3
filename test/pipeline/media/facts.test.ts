import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { programEnvironment } from '../../../config/programs.ts'
import { FORMATS } from '../../../src/core/media/formats.ts'
import type { MediaFacts } from '../../../src/core/plugin-api/inspectors.ts'
import { demuxerOf } from '../../../src/engines/ffmpeg/input.ts'
import { createFfmpeg } from '../../../src/engines/video/ffmpeg.ts'
import { film, lengthened, remuxed, sound, video } from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { assetOf, context, LIMITS } from '../image/transform.ts'

describe('facts from the headers of video and audio', () => {
  let folder: string
  let engine: ReturnType<typeof createFfmpeg>
  before(async () => {
    folder = await temporaryFolder()
    engine = createFfmpeg({ folder, env: programEnvironment() })
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(folder)).to.deep.equal([])
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const factsOf = (bytes: Uint8Array, format = 'mp4', given = {}): Promise<MediaFacts> =>
    engine.facts(assetOf(bytes, format), context(given))

  async function refusal(...[bytes, format, given]: Parameters<typeof factsOf>) {
    return (await rejection(factsOf(bytes, format, given))) as Error & { status: number }
  }

  it('include duration, size, rate and codecs', async () => {
    const bytes = await film({ colours: ['red', 'blue'], rate: 30 })
    const { bitrate, duration, ...rest } = await factsOf(bytes)
    expect(rest).to.deep.equal({
      container: 'mp4',
      videoCodec: 'h264',
      width: 160,
      height: 120,
      rotation: 0,
      frameRate: 30,
      audioCodec: 'aac',
      channels: 1,
      sampleRate: 44_100,
    })
    expect(duration).to.be.closeTo(2, 0.05)
    expect(bitrate).to.be.closeTo((bytes.length * 8) / 2, bytes.length / 5)
  })

  it('have the displayed size: upright, with square pixels', async () => {
    const turned = await remuxed(await video({ colours: ['red'] }), ['-metadata:s:v', 'rotate=270'])
    expect(await factsOf(turned)).to.include({ width: 120, height: 160, rotation: 90 })
    const wide = await video({
      colours: ['red'],
      options: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-aspect', '8:3'],
    })
    expect(await factsOf(wide)).to.include({ width: 320, height: 120 })
  })

  it('have no audio for a silent video, and may have a fractional frame rate', async () => {
    const facts = await factsOf(
      await video({ colours: ['red'], options: ['-r', '30000/1001', '-c:v', 'libx264'] }),
    )
    expect(facts).to.include({ videoCodec: 'h264', frameRate: 29.97 })
    expect(facts).to.not.have.any.keys('audioCodec', 'channels', 'sampleRate')
  })

  const AUDIO = [
    ['mp3', 'mp3', 'mp3', []],
    ['opus', 'ogg', 'opus', ['-ar', '48000']],
    ['aac', 'adts', 'aac', []],
    ['m4a', 'mp4', 'aac', []],
    ['wav', 'wav', 'pcm_s16le', []],
    ['ogg', 'ogg', 'vorbis', ['-c:a', 'libvorbis']],
    ['flac', 'flac', 'flac', []],
    ['aiff', 'aiff', 'pcm_s16be', []],
  ] as const
  for (const [format, container, audioCodec, options] of AUDIO.slice(0, sized(3, AUDIO.length))) {
    it(`are available for audio in ${format}`, async () => {
      const bytes = await sound({ format, options: ['-ac', '2', ...options] })
      const { duration, bitrate, ...rest } = await factsOf(bytes, format)
      const sampleRate = format === 'opus' ? 48_000 : 44_100
      expect(rest).to.deep.equal({ container, audioCodec, channels: 2, sampleRate })
      expect(duration).to.be.closeTo(1, 0.1)
      expect(bitrate).to.be.above(1000)
    })
  }

  it('are those of the audio when there is a cover', async () => {
    const picture = ['-map', '1:v', '-c:v', 'mjpeg', '-frames:v', '1', '-disposition:v', 'attached_pic']
    const inputs = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1']
    const covered = await remuxed(await sound(), ['-map', '0:a', ...picture], { inputs })
    const facts = await factsOf(covered, 'm4a')
    expect(facts).to.include({ audioCodec: 'aac', channels: 1 })
    expect(facts).to.not.have.any.keys('videoCodec', 'width', 'frameRate')
  })

  itLong('have the duration of the last frame when the header of a recording has none', async () => {
    const live = ['-c:v', 'libvpx', '-b:v', '200k', '-live', '1']
    const facts = await factsOf(await video({ options: live, format: 'webm' }), 'webm')
    expect(facts).to.include({ container: 'webm', videoCodec: 'vp8', width: 160 })
    expect(facts.duration).to.be.closeTo(3, 0.1)
    const fragments = ['-c:v', 'libx264', '-movflags', 'frag_keyframe+empty_moov']
    expect((await factsOf(await video({ options: fragments }))).duration).to.be.closeTo(3, 0.1)
    const spoken = ['-c:a', 'libopus', '-live', '1']
    expect(
      (await factsOf(await sound({ options: spoken, format: 'webm' }), 'webm')).duration,
    ).to.be.greaterThan(0.5)
  })

  it('are read at once, and trusted, for 10 KB that claim to last two hours', async () => {
    const lying = lengthened(await video({ colours: ['red'] }))
    // To read them all would exceed the time limit of the test.
    expect(await factsOf(lying)).to.include({ duration: 7200, width: 160 })
  })

  it('are available for a file that is truncated after its index', async () => {
    const fast = await remuxed(await film(), ['-movflags', '+faststart'])
    expect(await factsOf(fast.subarray(0, fast.length - 2000))).to.include({ videoCodec: 'h264', width: 160 })
  })

  describe('are refused', () => {
    for (const [what, bytes, format] of [
      ['an empty file', Buffer.alloc(0), 'mp4'],
      ['an empty audio file', Buffer.alloc(0), 'mp3'],
      ['zeros', Buffer.alloc(100_000), 'mp4'],
      ['a file that is not a video', Buffer.from('no video at all'), 'webm'],
      ['a playlist', Buffer.from('#EXTM3U\n#EXTINF:3,\n/etc/passwd\n#EXT-X-ENDLIST\n'), 'm4a'],
    ] as const) {
      it(`for ${what}`, async () => {
        const { status, message } = await refusal(bytes, format)
        expect(status, message).to.equal(422)
      })
    }

    it('for a video that is truncated before its index', async () => {
      const bytes = await video({ colours: ['red'] })
      expect(await refusal(bytes.subarray(0, bytes.length / 2))).to.include({
        status: 422,
        message: 'expected a video that can be decoded but this one cannot',
      })
    })

    it('for any declared format of video or audio, for each of which ffmpeg has a demuxer', async () => {
      const formats = FORMATS.filter(demuxerOf)
      expect(formats).to.have.length.above(30)
      const { stdout } = await promisify(execFile)('ffmpeg', ['-v', 'error', '-demuxers'])
      const known = [...stdout.matchAll(/^ D\s+(\S+)/gm)].flatMap(([, names = '']) => names.split(','))
      for (const format of formats) expect(known, format.name).to.include(demuxerOf(format))
      const names = formats.map(({ name }) => name)
      for (const name of sized(['mp4', 'mpeg', 'au'], names)) {
        const { status, message } = await refusal(Buffer.from('neither of them'), name)
        expect(status, name).to.equal(422)
        expect(message, name).to.match(/^expected .+ (cannot|neither)$/)
      }
    })

    it('for formats without a demuxer', async () => {
      for (const name of ['midi', 'xm', 'mxf'])
        expect((await refusal(Buffer.from('MThd'), name)).message).to.match(
          new RegExp(`but this file is ${name}$`),
        )
    })

    it('for a file that is too large', async () => {
      const limits = { ...LIMITS, videoMaxBytes: 10 }
      expect(await refusal(await sound({ format: 'mp3' }), 'mp3', { limits })).to.have.property('status', 422)
    })
  })
})
