import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { film, probed, remuxed, video } from '../../../support/media/videos.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { type MakeVideo, videoMaker } from '../video-maker.ts'

const execute = promisify(execFile)
const H264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p']
const SINE = ['-f', 'lavfi', '-i', 'sine=d=3']

describe('the streams of a video', () => {
  let folder: string
  let make: MakeVideo
  /** H.264 and AAC. */
  let source: Buffer
  let original: Packets
  before(async () => {
    folder = await temporaryFolder()
    make = await videoMaker(join(folder, 'scratch'))
    source = await film()
    original = await packetsOf(source)
    expect(original).to.have.all.keys('v', 'a')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const made = async (bytes: Uint8Array, query: string, format = 'mp4') =>
    (await make(bytes, query, { format })).bytes

  interface Packets {
    v?: string
    a?: string
  }

  /** A digest of the compressed packets of each stream: `v` and `a`. */
  async function packetsOf(bytes: Uint8Array): Promise<Packets> {
    const file = join(folder, 'looked-at')
    await writeFile(file, bytes)
    const args = ['-v', 'error', '-i', file, '-map', '0', '-c', 'copy', '-f', 'streamhash', '-']
    const { stdout } = await execute('ffmpeg', args)
    await rm(file)
    return Object.fromEntries(
      [...stdout.matchAll(/^\d+,([va]),SHA256=(\w+)$/gm)].map(([, stream, digest]) => [stream, digest]),
    )
  }

  const asWebm = () =>
    remuxed(source, ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-c:a', 'libopus'], { format: 'webm' })

  const usual = [
    ['f=mp4', 'va'],
    ['mute', 'v'],
    ['w=80', 'a'],
    ['start=1', ''],
    ['f=webm', ''],
  ] as const
  const others: ReadonlyArray<readonly [query: string, copied: string]> = [
    ['f=mov', 'va'],
    ['kf=10', 'a'],
    ['w=5000', 'va'],
    ['end=2', ''],
    ['q_a', 'a'],
    ['vt', 'a'],
  ]
  for (const [query, copied] of [...usual, ...sized([], others)])
    it(`are copied where nothing has to change: ${query} copies ${copied || 'none'}`, async () => {
      const outcome = await packetsOf(await made(source, query))
      for (const stream of ['v', 'a'] as const)
        expect(outcome[stream] === original[stream], stream).to.equal((copied as string).includes(stream))
    })

  itLong('are copied into WebM from VP9 and Opus, and not into MP4', async () => {
    const webm = await asWebm()
    expect(await packetsOf(await made(webm, 'f=webm', 'webm'))).to.deep.equal(await packetsOf(webm))
    expect(await probed(await made(webm, 'f=mp4', 'webm'))).to.include({
      videoCodec: 'h264',
      audioCodec: 'aac',
    })
  })

  itLong('are encoded when the frames are stored turned, or with pixels that are not square', async () => {
    const turned = await remuxed(source, ['-metadata:s:v:0', 'rotate=90'])
    expect(await probed(await made(turned, 'f=mov'))).to.include({ width: 120, height: 160 })
    const wide = await remuxed(source, ['-aspect', '8:3'])
    expect(await probed(await made(wide, 'f=mov'))).to.include({ width: 320, height: 120 })
  })

  itLong('carry no metadata when they are copied', async () => {
    const tagged = await remuxed(source, ['-metadata', 'location=+50+008/', '-metadata', 'title=secret'])
    const bytes = await made(tagged, 'f=mov')
    expect(bytes.includes('secret')).to.equal(false)
    expect((await probed(bytes)).tags).to.not.have.any.keys('location', 'title')
  })

  itLong('have the channels of the source: mono stays mono', async () => {
    const mono = await remuxed(
      await video(),
      ['-map', '0:v', '-map', '1:a', '-c:a', 'aac', '-ac', '1', '-shortest'],
      {
        inputs: SINE,
      },
    )
    const file = join(folder, 'mono.webm')
    await writeFile(file, await made(mono, 'f=webm'))
    const args = [
      '-v',
      'error',
      '-select_streams',
      'a',
      '-show_entries',
      'stream=channels',
      '-of',
      'csv=p=0',
      file,
    ]
    expect((await execute('ffprobe', args)).stdout.trim()).to.equal('1')
  })

  it('are no larger than those of a source of low quality, at the same or a smaller size', async () => {
    const low = await remuxed(source, ['-map', '1:v', ...H264, '-crf', '38'], {
      inputs: ['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=25:d=6'],
    })
    for (const query of sized(['kf=50', 'w=160'], ['kf=50', 'w=300', 'w=160', 'f=webm', 'q_a']))
      expect((await made(low, query)).length, query).to.be.at.most(low.length)
  })
})
