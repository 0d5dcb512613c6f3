import { expect } from 'chai'
import sharp from 'sharp'
import { colourAt } from '../../support/media/images.ts'
import { lengthened, remuxed, sound, video, wideVideo } from '../../support/media/videos.ts'
import { rejection } from '../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { assetOf, type Outcome, transform } from '../image/transform.ts'
import { knownAsset } from './known-asset.ts'

const RED = { r: 255, g: 0, b: 0 }
const GREEN = { r: 0, g: 128, b: 0 }
const BLUE = { r: 0, g: 0, b: 255 }
const WHITE = { r: 255, g: 255, b: 255 }

/** What JPEG and the video's own colours may differ by. */
const TOLERANCE = 6

describe('video-thumbnail', () => {
  let film: Buffer
  before(async () => {
    film = await video()
  })

  async function thumbnail(bytes: Uint8Array, query: string, format = 'mp4'): Promise<Outcome> {
    return transform({ query, source: knownAsset(bytes, format) })
  }

  async function expectColour(
    bytes: Uint8Array,
    [x, y]: [number, number],
    expected: typeof RED,
    tolerance = TOLERANCE,
  ): Promise<void> {
    const seen = await colourAt(bytes, x, y)
    for (const channel of ['r', 'g', 'b'] as const)
      expect(seen[channel], `${channel} of ${JSON.stringify(seen)}`).to.be.closeTo(
        expected[channel],
        tolerance,
      )
  }

  async function refusal(bytes: Uint8Array, query = 'thumbnail', format = 'mp4') {
    return (await rejection(thumbnail(bytes, query, format))) as Error & { status: number }
  }

  it("is the first frame, a JPEG of the video's size", async () => {
    const { mediaType, bytes, metadata } = await thumbnail(film, 'thumbnail')
    expect(mediaType).to.equal('image/jpeg')
    expect(metadata).to.include({ format: 'jpeg', width: 160, height: 120 })
    await expectColour(bytes, [120, 90], RED)
    await expectColour(bytes, [20, 20], WHITE)
  })

  itLong('shows one moment of an interlaced video, without combs', async () => {
    // A white bar that moves by eight pixels from field to field.
    const moving =
      'color=black:s=320x240:r=50:d=1[b];color=white:s=40x240:r=50:d=1[w];[b][w]overlay=x=mod(n*8\\,320)'
    const interlaced = ['tinterlace=interleave_top', 'setfield=tff', 'format=yuv420p'].join()
    const coded = ['-c:v', 'libx264', '-flags', '+ildct+ilme', '-x264opts', 'tff=1', '-crf', '12']
    const film = await remuxed(await video(), ['-map', '1:v', '-vf', interlaced, ...coded], {
      inputs: ['-f', 'lavfi', '-i', moving],
    })
    const { bytes } = await thumbnail(film, 'thumbnail&duration=5&f=png')
    const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
    const row = (y: number) => data.subarray(y * info.width, (y + 1) * info.width)
    const changes = (a: Buffer, b: Buffer) =>
      a.filter((value, i) => Math.abs(value - (b[i] ?? 0)) > 100).length
    for (const y of [50, 51, 120, 121]) expect(changes(row(y), row(y + 1)), `row ${y}`).to.be.below(3)
  })

  for (const [duration, colour] of everyNth(2, [
    ['9', RED],
    ['19', GREEN],
    ['10', GREEN],
    ['29', BLUE],
  ] as const)) {
    it(`is the frame displayed at ${duration} x 100 ms`, async () => {
      const { bytes } = await thumbnail(film, `thumbnail&duration=${duration}`)
      await expectColour(bytes, [120, 90], colour)
    })
  }

  it('accepts any image parameter, in the order of the chain', async () => {
    const { mediaType, bytes, metadata } = await thumbnail(
      film,
      'w=80&flop&negate&f=png&thumbnail&duration=10',
    )
    expect(mediaType).to.equal('image/png')
    expect(metadata).to.include({ format: 'png', width: 80, height: 60 })
    await expectColour(bytes, [20, 45], { r: 255, g: 127, b: 255 })
    await expectColour(bytes, [70, 10], { r: 0, g: 0, b: 0 })
  })

  it('is upright when the video is stored rotated', async () => {
    const turned = await remuxed(film, ['-metadata:s:v', 'rotate=270'])
    const { bytes, metadata } = await thumbnail(turned, 'thumbnail')
    expect(metadata).to.include({ width: 120, height: 160 })
    const plain = await thumbnail(film, 'thumbnail')
    await expectColour(plain.bytes, [20, 20], WHITE)
    // Turned by a quarter, the white has left its corner for a neighbour's.
    const corners = [
      [10, 10],
      [110, 10],
      [110, 150],
      [10, 150],
    ] as const
    const seen = await Promise.all(corners.map(([x, y]) => colourAt(bytes, x, y)))
    const white = seen.flatMap(({ g }, i) => (g > 200 ? [i] : []))
    expect(white).to.have.length(1)
    expect(white[0]).to.be.oneOf([1, 3])
  })

  itLong('has square pixels when the video does not', async () => {
    const wide = await video({
      colours: ['red'],
      options: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-aspect', '8:3'],
    })
    const { metadata } = await thumbnail(wide, 'thumbnail')
    expect(metadata).to.include({ width: 320, height: 120 })
  })

  itLong('has odd sides when the video does', async () => {
    const odd = await video({
      colours: ['red', 'blue'],
      width: 161,
      height: 121,
      options: ['-c:v', 'libx264', '-pix_fmt', 'yuv444p'],
    })
    const { bytes, metadata } = await thumbnail(odd, 'thumbnail&duration=10')
    expect(metadata).to.include({ width: 161, height: 121 })
    await expectColour(bytes, [160, 120], BLUE)
  })

  itLong('has the right colours of BT.709, declared or not', async () => {
    const said = await video({
      colours: ['red'],
      matrix: 'bt709',
      options: ['-colorspace', 'bt709', '-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
    })
    await expectColour((await thumbnail(said, 'thumbnail')).bytes, [120, 90], RED)
    const unsaid = await video({
      colours: ['red'],
      width: 1280,
      height: 720,
      rate: 2,
      matrix: 'bt709',
      options: ['-c:v', 'mpeg4', '-q:v', '2', '-pix_fmt', 'yuv420p'],
    })
    await expectColour((await thumbnail(unsaid, 'thumbnail')).bytes, [1000, 600], RED)
  })

  const WIDE = [
    // 203 cd/m² by BT.2100: pressed to nine tenths of what a screen can show, of which 235 are by its gamma of 2.4.
    ['white paper in PQ', 'smpte2084', [148, 148, 148], { r: 235, g: 235, b: 235 }],
    // 10.3 cd/m², a tenth of that screen's white: left as it is.
    ['grey in PQ', 'smpte2084', [77, 77, 77], { r: 99, g: 99, b: 99 }],
    ['bright light in PQ', 'smpte2084', [192, 192, 192], WHITE],
    ['white paper in HLG', 'arib-std-b67', [191, 191, 191], { r: 235, g: 235, b: 235 }],
    // Its red is one that BT.709 has not: without a share of green.
    ['red of a wide gamut', 'bt2020-10', [200, 60, 60], { r: 239, g: 0, b: 55 }],
    ['grey of a wide gamut', 'bt2020-10', [128, 128, 128], { r: 128, g: 128, b: 128 }],
  ] as const
  for (const [what, transfer, rgb, expected] of WIDE.filter(([what]) =>
    sized(/white paper in PQ/.test(what), true),
  )) {
    it(`shows on a standard screen ${what}`, async () => {
      const bytes = await wideVideo({ rgb, transfer })
      await expectColour((await thumbnail(bytes, 'thumbnail')).bytes, [30, 20], expected)
    })
  }

  const others: ReadonlyArray<readonly [format: string, codec: string]> = [
    ['avi', 'mpeg4'],
    ['mpeg', 'mpeg2video'],
    ['mov', 'libx264'],
    ['mkv', 'libx264'],
    ['flv', 'flv'],
    ['wmv', 'wmv2'],
  ]
  for (const [format, codec] of sized([], [['webm', 'libvpx'] as const, ...others])) {
    it(`can be rendered from ${format}`, async () => {
      const rate = format === 'mpeg' ? 25 : 10
      const quick = format === 'webm' ? ['-deadline', 'realtime'] : []
      const options = ['-c:v', codec, ...quick, '-pix_fmt', 'yuv420p', '-q:v', '3', '-b:v', '1M']
      const bytes = await video({ rate, options, format })
      const { metadata, ...made } = await thumbnail(bytes, 'thumbnail&duration=15', format)
      expect(metadata).to.include({ format: 'jpeg', width: 160, height: 120 })
      await expectColour(made.bytes, [120, 90], GREEN, 20)
    })
  }

  itLong('is the last frame while that is displayed', async () => {
    // One frame a second, the last from 2 s to 3 s.
    const slow = await video({ rate: 1 })
    const { bytes } = await thumbnail(slow, 'thumbnail&duration=29')
    await expectColour(bytes, [120, 90], BLUE)
  })

  it('depends on the frames, not on audio that continues', async () => {
    const { message, status } = await refusal(film, 'thumbnail&duration=30')
    expect(status).to.equal(400)
    expect(message).to.match(/from 0 to 29 \(this video is 3 s long\) for duration but received "30"/)
  })

  describe('refuses', () => {
    for (const [what, bytes] of [
      ['an empty file', Buffer.alloc(0)],
      ['a file that is not a video', Buffer.from('no video at all')],
      ['zeros', Buffer.alloc(100_000)],
    ] as const) {
      it(`${what}`, async () => {
        const { message, status } = await refusal(bytes)
        expect(status).to.equal(422)
        expect(message).to.equal('expected a video that can be decoded but this one cannot')
      })
    }

    it('a video that is truncated before its index', async () => {
      expect(await refusal(film.subarray(0, film.length / 2))).to.have.property('status', 422)
    })

    itLong('a time that the header promises but the file does not have', async () => {
      const fast = await remuxed(await video({ colours: Array(20).fill('red') }), ['-movflags', '+faststart'])
      // The index is first: half of the pictures are still there.
      const cut = fast.subarray(0, fast.length - 500)
      const { message, status } = await refusal(cut, 'thumbnail&duration=198')
      expect(status).to.equal(422)
      expect(message).to.equal('expected a video that can be decoded but this one cannot')
      // What is there is shown.
      expect((await thumbnail(cut, 'thumbnail')).metadata.width).to.equal(160)
    })

    itLong('a file of 10 KB that claims to last two hours, within its time limit', async () => {
      const lying = lengthened(await video({ colours: ['red'] }))
      const { message, status } = await refusal(lying, 'thumbnail&duration=36000')
      expect(status, message).to.equal(422)
    })

    it('an audio file, and says so', async () => {
      const { message, status } = await refusal(await sound())
      expect(status).to.equal(422)
      expect(message).to.equal('expected a video stream but this file has only audio')
    })

    it('audio with a cover, which is not a frame', async () => {
      const picture = ['-map', '1:v', '-c:v', 'mjpeg', '-frames:v', '1', '-disposition:v', 'attached_pic']
      const inputs = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1']
      const covered = await remuxed(await sound(), ['-map', '0:a', ...picture], { inputs })
      expect((await refusal(covered)).message).to.match(/has only audio/)
    })

    it('a video that is too large, judged by its header alone', async () => {
      const limited = (limits: object) =>
        rejection(transform({ query: 'thumbnail', source: assetOf(film, 'mp4'), limits }))
      expect(await limited({ sourceMaxPixels: 160 * 120 - 1 })).to.have.property(
        'message',
        'expected a video of at most 19199 pixels a frame to transform but this one has more',
      )
      const { message } = (await limited({ videoMaxBytes: film.length - 1 })) as Error
      expect(message).to.match(/at most \d+ bytes to transform but this one has/)
    })
  })
})
