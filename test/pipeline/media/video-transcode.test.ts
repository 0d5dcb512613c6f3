import { execFileSync } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { programEnvironment } from '../../../config/programs.ts'
import { createScratch } from '../../../src/engines/temp/scratch.ts'
import { createFfmpeg } from '../../../src/engines/video/ffmpeg.ts'
import { transcode } from '../../../src/engines/video/transcode.ts'
import { colourAt } from '../../support/media/images.ts'
import {
  film,
  type ProbedVideo,
  probed,
  remuxed,
  sound,
  video,
  wideVideo,
} from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { assetOf, context, LIMITS, transform } from '../image/transform.ts'
import { type MakeVideo, videoMaker } from './video-maker.ts'

describe('a transcode of a video', () => {
  let folder: string
  let make: MakeVideo
  /** Three seconds, 160 x 120, with sound. */
  let source: Buffer
  before(async () => {
    folder = await temporaryFolder()
    make = await videoMaker(folder)
    source = await film()
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(folder)).to.deep.equal([])
  })
  after(() => rm(folder, { recursive: true, force: true }))

  interface Made extends ProbedVideo {
    bytes: Buffer
    mediaType: string
  }

  /** What comes of a video in memory. */
  async function made(...given: Parameters<MakeVideo>): Promise<Made> {
    const outcome = await make(...given)
    return { ...outcome, ...(await probed(outcome.bytes)) }
  }

  const refusal = async (...args: Parameters<typeof made>) =>
    (await rejection(made(...args))) as Error & { status: number }

  it('is an MP4 that every player supports, with its index first', async () => {
    const { bytes, seconds, ...outcome } = await made(source, 'f=mp4&kf=10')
    expect(outcome).to.include({
      mediaType: 'video/mp4',
      width: 160,
      height: 120,
      videoCodec: 'h264',
      audioCodec: 'aac',
      pixelFormat: 'yuv420p',
      colorSpace: 'bt709',
    })
    expect(outcome.container).to.match(/mp4/)
    expect(seconds).to.be.closeTo(3, 0.1)
    expect(bytes.indexOf('moov')).to.be.below(bytes.indexOf('mdat'))
  })

  for (const [format, mediaType, container, videoCodec, audioCodec] of everyNth(3, [
    ['webm', 'video/webm', /webm/, 'vp9', 'opus'],
    ['mov', 'video/quicktime', /mov/, 'h264', 'aac'],
    ['avi', 'video/x-msvideo', /avi/, 'mpeg4', 'mp3'],
  ] as const)) {
    it(`is ${format} on request`, async () => {
      const outcome = await made(source, `f=${format}&w=80`)
      expect(outcome).to.include({ mediaType, videoCodec, audioCodec, width: 80, height: 60 })
      expect(outcome.container).to.match(container)
      expect(outcome.seconds).to.be.closeTo(3, 0.15)
      if (format === 'mov') expect(outcome.bytes.indexOf('moov')).to.be.below(outcome.bytes.indexOf('mdat'))
    })
  }

  describe('fits into a box with both sides even', () => {
    it('as requested, around the middle', async () => {
      expect(await made(source, 'vt&w=34')).to.include({ width: 34, height: 60 })
    })

    itLong('even when those of the source are odd', async () => {
      const odd = await video({
        colours: ['red'],
        width: 161,
        height: 121,
        options: ['-c:v', 'libx264', '-pix_fmt', 'yuv444p'],
      })
      expect(await made(odd, 'f=mp4')).to.include({ width: 160, height: 120, pixelFormat: 'yuv420p' })
    })

    itLong('of at most 720 lines with automatic quality, unless a size is requested', async () => {
      const large = await video({ colours: ['red'], width: 1280, height: 800, rate: 2 })
      expect(await made(large, 'q_a')).to.include({ width: 1152, height: 720 })
      if (sized(false, true)) expect(await made(large, 'q_a&w=1200')).to.include({ width: 1200, height: 750 })
    })
  })

  it('is upright, without orientation and location metadata', async () => {
    const turned = await remuxed(source, ['-metadata:s:v', 'rotate=90', '-metadata', 'location=+52.5+13.4/'])
    expect((await probed(turned)).tags).to.have.property('location')
    const outcome = await made(turned, 'w=60')
    expect(outcome).to.include({ width: 60, height: 80, rotation: undefined })
    expect(JSON.stringify(outcome.tags)).not.to.match(/52\.5|location|rotate/)
  })

  itLong('has square pixels when the source does not', async () => {
    const wide = await video({
      colours: ['red'],
      options: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-aspect', '8:3'],
    })
    expect(await made(wide, 'f=mp4')).to.include({ width: 320, height: 120 })
    if (sized(false, true)) expect(await made(wide, 'vt')).to.include({ width: 68, height: 120 })
  })

  it('contains the part between start and end', async () => {
    expect((await made(source, 'start=1&end=2.5')).seconds).to.be.closeTo(1.5, 0.1)
    const others = [['start=2', 1] as const, ['end=99', 3] as const]
    for (const [query, seconds] of sized([], others))
      expect((await made(source, query)).seconds, query).to.be.closeTo(seconds, 0.1)
    const { status, message } = await refusal(source, 'start=3.5')
    expect(status).to.equal(400)
    expect(message).to.match(/^expected a number below 3(\.\d+)? \(this video is .* s long\) for start/)
  })

  // In `npm test`, bytes/video-copies.test.ts has mute.
  itLong('has no audio with mute, or for a silent source', async () => {
    expect((await made(source, 'mute')).audioCodec).to.equal(undefined)
    expect((await made(await video({ colours: ['red'] }), 'f=webm')).audioCodec).to.equal(undefined)
  })

  itLong('can be cut and started at the requested key frames', async () => {
    // Ten frames a second.
    expect((await made(source, 'kf=5')).keyFrames).to.deep.equal([0, 0.5, 1, 1.5, 2, 2.5])
    const long = await video({ colours: Array(9).fill('red'), width: 32, height: 32 })
    expect((await made(long, 'kf_boost')).keyFrames).to.deep.equal([
      ...[0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7],
    ])
    if (sized(true, false)) return
    const { keyFrames } = await made(source, 'kf=10&f=webm&w=32')
    expect(keyFrames.map(Math.round)).to.deep.equal([0, 1, 2])
  })

  itLong('preserves variable frame times', async () => {
    // Every third frame is left out, and so is all of the second second.
    const select = ['-vf', "select='mod(n\\,3)*not(between(t\\,1\\,1.95))'", '-vsync', 'vfr']
    const varying = await remuxed(source, ['-c:v', 'libx264', ...select])
    const before = await probed(varying)
    const after = await made(varying, 'f=mp4')
    expect(after.frames).to.equal(before.frames)
    expect(after.seconds).to.be.closeTo(before.seconds, 0.15)
    if (sized(true, false)) return
    expect((await made(varying, 'f=avi')).seconds).to.be.closeTo(before.seconds, 0.3)
  })

  itLong('contains the part of a truncated file that can be decoded', async () => {
    const fast = await remuxed(source, ['-movflags', '+faststart'])
    const { frames } = await made(fast.subarray(0, fast.length - 2000), 'w=80')
    expect(frames).to.be.within(5, 30)
  })

  itLong('shows HDR on a standard screen', async () => {
    const hdr = await wideVideo({ rgb: [148, 148, 148], transfer: 'smpte2084' })
    const { bytes, pixelFormat, colorSpace } = await made(hdr, 'w=32')
    expect({ pixelFormat, colorSpace }).to.deep.equal({ pixelFormat: 'yuv420p', colorSpace: 'bt709' })
    const frame = await transform({ query: 'thumbnail', source: assetOf(bytes, 'mp4') })
    // 203 cd/m², see the test of thumbnails.
    expect((await colourAt(frame.bytes, 15, 10)).g).to.be.closeTo(235, 6)
  })

  it('reports its progress', async () => {
    const told: number[] = []
    await made(source, 'w=80', { progress: (fraction) => void told.push(fraction) })
    expect(told).not.to.deep.equal([])
    expect(told).to.deep.equal([...told].sort((a, b) => a - b))
    expect(Math.max(...told)).to.be.within(0.5, 0.99)
  })

  describe('is refused', () => {
    const BROKEN = 'expected a video that can be decoded but this one cannot'
    for (const [what, bytes, message] of everyNth(2, [
      ['for an audio file', sound, 'expected a video stream but this file has only audio'],
      ['for an empty file', async () => Buffer.alloc(0), BROKEN],
      ['for a file without its index', async () => source.subarray(0, source.length / 2), BROKEN],
      ['for zeros', async () => Buffer.alloc(100_000), BROKEN],
    ] as const)) {
      it(what, async () => {
        expect(await refusal(await bytes(), 'w=80')).to.include({ status: 422, message })
      })
    }

    itLong('for a header without frames', async () => {
      const fast = await remuxed(source, ['-movflags', '+faststart'])
      const header = fast.subarray(0, fast.indexOf('mdat') + 4)
      expect(await refusal(header, 'w=80')).to.include({ status: 422, message: BROKEN })
    })

    itLong('when it takes too long', async () => {
      const limits = { ...LIMITS, timeoutMs: 200 }
      const long = await remuxed(source, [], { times: 20 })
      // Known from a probe with more time.
      expect(await refusal(long, 'start=1000')).to.include({ status: 400 })
      expect(await refusal(long, 'f=webm', { limits })).to.include({
        status: 422,
        message: 'This video takes too long to transform.',
      })
    })

    it('temporarily when there is no progress', async () => {
      const elsewhere = await temporaryFolder()
      const scratch = createScratch(folder)
      const env = programEnvironment()
      const engine = createFfmpeg({ folder, env })
      const leftovers: Array<() => Promise<void>> = []
      const given = context({ afterwards: (remove) => void leftovers.push(remove) })
      const opened = await engine.open(assetOf(source, 'mp4'), {}, given)
      try {
        const path = join(elsewhere, 'nobody-writes')
        execFileSync('mkfifo', [path])
        const draft = { input: { ...opened.draft.input, path } }
        const stuck = transcode(draft, 'mp4', { ...given, env, scratch, canToneMap: false, stallMs: 300 })
        expect(await rejection(stuck)).to.include({ status: 504, code: 'no_progress' })
      } finally {
        await engine.close?.(opened)
        for (const remove of leftovers) await remove()
        await rm(elsewhere, { recursive: true })
      }
    })

    itLong('temporarily when its encoder is killed', async () => {
      const progress = () => {
        for (const pid of execFileSync('pgrep', ['-P', String(process.pid), 'ffmpeg'])
          .toString()
          .split('\n'))
          if (pid) process.kill(Number(pid), 'SIGKILL')
      }
      const error = await refusal(await remuxed(source, [], { times: 7 }), 'f=webm', { progress })
      expect(error).not.to.have.property('status')
      expect(String(error.cause)).to.match(/ended with SIGKILL/)
    })

    it('when the caller aborts', async () => {
      const leaving = new AbortController()
      const reason = new Error('left')
      const progress = () => leaving.abort(reason)
      const given = { signal: leaving.signal, progress }
      expect(await refusal(await remuxed(source, [], { times: 7 }), 'f=webm', given)).to.equal(reason)
    })
  })
})
