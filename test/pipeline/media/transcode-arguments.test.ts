import { expect } from 'chai'
import type { VideoDraft } from '../../../src/engines/ffmpeg/video-source.ts'
import { readProgress } from '../../../src/engines/ffmpeg/write-media.ts'
import { hlsArguments, ladderOf } from '../../../src/engines/video/hls-arguments.ts'
import {
  outcomeSeconds,
  outcomeSize,
  transcodeArguments,
} from '../../../src/engines/video/transcode-arguments.ts'
import { LIMITS } from '../image/transform.ts'

/** What plugins have asked of a video of this size. */
function draft(
  [width, height]: readonly [number, number],
  asked: Partial<VideoDraft> = {},
  durationSeconds: number | undefined = 10,
): VideoDraft {
  const source = { width, height, durationSeconds, rotation: 0, stream: 0, videoCodec: 'h264' }
  const input = { path: '/tmp/a', folder: '/tmp', demuxer: 'mov', source, remove: async () => {} }
  return { ...asked, input: input as unknown as VideoDraft['input'] }
}

describe('the arguments of a transcode', () => {
  describe('the size: within a box, both sides even, never enlarged', () => {
    const HD = [1920, 1080] as const
    for (const [source, asked, size] of [
      [HD, {}, [1920, 1080]],
      [HD, { maxWidth: 640 }, [640, 360]],
      [HD, { maxWidth: 641 }, [640, 360]],
      [HD, { maxHeight: 100 }, [178, 100]],
      [HD, { maxWidth: 100, maxHeight: 50 }, [88, 50]],
      [HD, { maxWidth: 5000 }, [1920, 1080]],
      [[161, 121], {}, [160, 120]],
      [[161, 121], { maxWidth: 101 }, [100, 76]],
      [[5000, 3], { maxWidth: 16 }, [16, 2]],
      [HD, { quality: 'automatic' }, [1280, 720]],
      [[1080, 1920], { quality: 'automatic' }, [720, 1280]],
      [[640, 480], { quality: 'automatic' }, [640, 480]],
      [HD, { quality: 'automatic', maxWidth: 1600 }, [1600, 900]],
      [HD, { aspectRatio: 9 / 16 }, [608, 1080]],
      [[1080, 1920], { aspectRatio: 9 / 16 }, [1080, 1920]],
      [[100, 1000], { aspectRatio: 9 / 16 }, [100, 178]],
      [HD, { aspectRatio: 9 / 16, quality: 'automatic' }, [608, 1080]],
    ] as const) {
      it(`${source.join(' x ')} ${JSON.stringify(asked)}`, () => {
        const { width, height } = outcomeSize(draft(source, asked as Partial<VideoDraft>))
        expect([width, height]).to.deep.equal(size)
      })
    }
  })

  it('have no rung of a ladder above the bit rate of the source', () => {
    const of = draft([1280, 720])
    const ratesOf = (bitRate?: number) =>
      ladderOf({ ...of, input: { ...of.input, source: { ...of.input.source, bitRate } } }).map(
        ({ kbits, peak }) => [kbits, peak <= 1375 * kbits],
      )
    const usual = [2800, 1400, 800].map((kbits) => [kbits, true])
    expect(ratesOf()).to.deep.equal(usual)
    expect(ratesOf(10_000_000)).to.deep.equal(usual)
    // The rest is for the container and the sound.
    expect(ratesOf(500_000)).to.deep.equal([440, 196, 110].map((kbits) => [kbits, true]))
  })

  it('have threads and CPU time for the cores of a container only, and fewer threads for large frames', () => {
    const limits = { ...LIMITS, cores: 3, timeoutMs: 10_000 }
    const values = (args: readonly string[], name: string) => args.filter((_, i) => args[i - 1] === name)
    const transcode = (size: readonly [number, number]) =>
      transcodeArguments(draft(size), { container: 'mp4', target: '/tmp/out.mp4', limits, canToneMap: true })
    expect(values(transcode([640, 480]), '-threads')).to.deep.equal(['3', '3'])
    expect(values(transcode([640, 480]), '-filter_threads')).to.deep.equal(['3'])
    expect(values(transcode([640, 480]), '-timelimit')).to.deep.equal(['30'])
    expect(values(transcode([7680, 4320]), '-threads')).to.deep.equal(['1', '1'])
    const hd = draft([1280, 720])
    const ladder = {
      ladder: ladderOf(hd),
      hasAudio: true,
      folder: '/tmp',
      mark: 'a',
      limits,
      canToneMap: true,
    }
    expect(values(hlsArguments(hd, ladder), '-threads')).to.deep.equal(['3', '3'])
    expect(values(hlsArguments(hd, ladder), '-filter_complex_threads')).to.deep.equal(['3'])
  })

  it('include the duration of the output', () => {
    const of = (asked: Partial<VideoDraft>, seconds?: number) => outcomeSeconds(draft([2, 2], asked, seconds))
    expect(of({})).to.equal(10)
    expect(of({ startSeconds: 4, endSeconds: 6 })).to.equal(2)
    expect(of({ startSeconds: 4, endSeconds: 60 })).to.equal(6)
    const unknown = draft([2, 2], { endSeconds: 6, startSeconds: 1 })
    Object.assign(unknown.input.source, { durationSeconds: undefined })
    expect(outcomeSeconds(unknown)).to.equal(5)
  })

  it('force the demuxer, allow one file only, and limit frames and time before the input is opened', () => {
    const given = { container: 'mp4', target: '/tmp/out.mp4', limits: LIMITS, canToneMap: true } as const
    const args = transcodeArguments(draft([64, 64], { startSeconds: 1, endSeconds: 3 }), given)
    const before = args.slice(0, args.indexOf('-i'))
    for (const pair of [
      ['-f', 'mov'],
      ['-format_whitelist', 'mov'],
      ['-protocol_whitelist', 'file'],
      ['-max_pixels', '50000000'],
      ['-ss', '1'],
    ])
      expect(before.join(' ')).to.include(pair.join(' '))
    expect(before).to.include('-timelimit')
    expect(args.slice(args.indexOf('-i')).join(' ')).to.match(/^-i file:\/tmp\/a -t 2 .* \/tmp\/out\.mp4$/)
  })

  it('end the file at the output limit', () => {
    const limits = { ...LIMITS, outputMaxBytes: 12_345 }
    const given = { container: 'mp4', target: '/tmp/out.mp4', limits, canToneMap: true } as const
    expect(transcodeArguments(draft([64, 64]), given).join(' ')).to.include('-fs 12345')
  })

  it('report progress that is parsed in any pieces', () => {
    const progress = readProgress()
    expect(progress.take('frame=1\nout_time_us=N/A\ntotal')).to.equal(true)
    expect(progress.seconds()).to.equal(0)
    expect(progress.take('_size=0\nprogress=continue\n')).to.equal(true)
    expect(progress.take('frame=1\ntotal_size=0\nspeed=1x\n')).to.equal(false)
    expect(progress.take('frame=30\nout_time_us=1500000\n')).to.equal(true)
    expect([progress.frames(), progress.seconds()]).to.deep.equal([30, 1.5])
  })
})
