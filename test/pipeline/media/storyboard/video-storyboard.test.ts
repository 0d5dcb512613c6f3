import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { programEnvironment } from '../../../../config/programs.ts'
import { readAll } from '../../../../src/core/bytes/asset.ts'
import { formatOfMediaType } from '../../../../src/core/media/formats.ts'
import type { EngineContext } from '../../../../src/core/plugin-api/plugin.ts'
import { createFfmpeg } from '../../../../src/engines/video/ffmpeg.ts'
import type { LoadedPlugin } from '../../../../src/pipeline/load/load.ts'
import { createPlanner, type Plan } from '../../../../src/pipeline/plan/plan.ts'
import { createRunner } from '../../../../src/pipeline/run/run.ts'
import { slowFfmpeg } from '../../../support/media/slow-ffmpeg.ts'
import { type BoardCue, colourOf, cuesOf } from '../../../support/media/storyboards.ts'
import { film, lengthened, remuxed, sound, video, wideVideo } from '../../../support/media/videos.ts'
import { rejection } from '../../../support/rejection.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { context } from '../../image/transform.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { knownAsset } from '../known-asset.ts'

const THREE = ['red', 'green', 'blue'] as const

describe('a storyboard of a video', () => {
  let folder: string
  let transforms: readonly LoadedPlugin[]
  let run: ReturnType<typeof createRunner>
  before(async () => {
    folder = await temporaryFolder()
    run = runnerWith(programEnvironment())
    transforms = (await loadWith({})).transforms
  })
  afterEach('leaves no temporary file', async () => {
    expect(await readdir(join(folder, 'scratch')).catch(() => [])).to.deep.equal([])
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const runnerWith = (env: Record<string, string>) =>
    createRunner(new Map([['ffmpeg', createFfmpeg({ folder: join(folder, 'scratch'), env })]]))

  const planOf = (query: string): Plan =>
    createPlanner(
      transforms,
      [],
    )({ query: new URLSearchParams(query), format: formatOfMediaType('video/mp4'), preferences: {} })

  interface Board {
    cues: BoardCue[]
    text: string
    sprite: Buffer
    size: string
  }

  async function boardOf(
    bytes: Uint8Array,
    {
      query = 'storyboard',
      format = 'mp4',
      ...told
    }: { query?: string; format?: string } & Pick<EngineContext, 'progress'> = {},
  ): Promise<Board> {
    const stored = new Map<string, Buffer>()
    const leftovers: Array<() => Promise<void>> = []
    try {
      const given = context({
        ...told,
        afterwards: (remove) => void leftovers.push(remove),
        async storePart(name, part) {
          expect(part.mediaType).to.equal('image/jpeg')
          stored.set(name, await readAll(part))
        },
      })
      const entry = await run(planOf(query), knownAsset(bytes, format), given)
      expect(entry.mediaType).to.equal('text/vtt; charset=utf-8')
      const text = (await readAll(entry)).toString()
      const [[name, sprite] = ['', Buffer.of()], ...others] = stored
      expect(others).to.deep.equal([])
      expect(name).to.match(/^[0-9a-f]{8}-sprite\.jpg$/)
      const cues = cuesOf(text)
      for (const cue of cues) expect(cue.sprite).to.equal(name)
      const { format: kind, width, height } = await sharp(sprite).metadata()
      expect(kind).to.equal('jpeg')
      return { cues, text, sprite, size: `${width}x${height}` }
    } finally {
      for (const remove of leftovers) await remove()
    }
  }

  const coloursOf = ({ cues, sprite }: Board) => Promise.all(cues.map((cue) => colourOf(sprite, cue)))
  const timesOf = ({ cues }: Board) => cues.map(({ from, until }) => [from, until])
  const sizeOf = ({ cues }: Board) => `${cues[0]?.tile.width}x${cues[0]?.tile.height}`
  const inTurns = (count: number) => Array.from({ length: count }, (_, i) => String(THREE[i % 3]))

  it('has a tile for each second, with the frame at its start, ten per row', async () => {
    const board = await boardOf(await film({ colours: inTurns(12), width: 320, height: 180 }))
    expect(board.text.split('\n').slice(0, 5)).to.deep.equal([
      'WEBVTT',
      '',
      '00:00:00.000 --> 00:00:01.000',
      `${board.cues[0]?.sprite}#xywh=0,0,160,90`,
      '',
    ])
    expect(board.cues).to.have.length(12)
    for (const [i, { from, until, tile }] of board.cues.entries()) {
      expect([from, i < 11 ? until : 12]).to.deep.equal([i, i + 1])
      const place = { left: 160 * (i % 10), top: i < 10 ? 0 : 90 }
      expect(tile).to.deep.equal({ ...place, width: 160, height: 90 })
    }
    // To the end of the sound, of which there is a little more.
    expect(board.cues.at(-1)?.until).to.be.within(12, 12.1)
    expect(await coloursOf(board)).to.deep.equal(inTurns(12))
    expect(board.size).to.equal('1600x180')
    // The rest of the last row.
    for (const left of [320, 1440])
      expect(await colourOf(board.sprite, { tile: { left, top: 90, width: 160, height: 90 } })).to.equal(
        'black',
      )
  })

  it('has the times of a part from its start, and of the cropped middle', async () => {
    const bytes = await video({ colours: inTurns(6), width: 160, height: 90 })
    const part = await boardOf(bytes, { query: 'storyboard&start=1.5&end=4.2' })
    expect(timesOf(part)).to.deep.equal([
      [0, 1],
      [1, 2],
      [2, 2.7],
    ])
    // At 1.5, 2.5 and 3.5 s.
    expect(await coloursOf(part)).to.deep.equal(['green', 'blue', 'red'])
    const cut = await boardOf(bytes, { query: 'storyboard&start=2' })
    expect(await coloursOf(cut)).to.deep.equal(['blue', 'red', 'green', 'blue'])
    expect(sizeOf(await boardOf(bytes, { query: 'storyboard&vt' }))).to.equal('50x90')
  })

  const LENGTHS = [
    ['100 s', 100, 1, 100],
    ['9 min', 540, 10, 54],
    ['100.2 s', 100.2, 2, 51],
  ] as const
  for (const [what, seconds, interval, count] of LENGTHS.slice(0, sized(1, 3))) {
    itLong(`has at most 100 tiles: ${what} are ${count}`, async () => {
      const colours = inTurns(Math.ceil(seconds / interval))
      // A second for each tile, slowed down: the same three again and again, which is faster than a hundred inputs.
      const three = await video({ width: 32, height: 24, rate: 5 })
      const slowed = [`-bsf:v`, `setts=ts=TS*${interval}`, '-t', String(seconds)]
      const long = await remuxed(three, [], { times: Math.ceil(colours.length / 3) })
      const bytes = await remuxed(long, slowed)
      const board = await boardOf(bytes)
      expect(board.cues).to.have.length(count)
      expect(timesOf(board)[1]).to.deep.equal([interval, 2 * interval])
      expect(board.cues.at(-1)?.until).to.be.within(seconds - interval, seconds + interval)
      expect(await coloursOf(board)).to.deep.equal(colours)
    })
  }

  it('is upright, with square pixels and even sides, and never enlarged', async () => {
    const turned = await remuxed(await video({ width: 480, height: 270 }), ['-metadata:s:v', 'rotate=90'])
    const upright = await boardOf(turned)
    expect(sizeOf(upright)).to.equal('90x160')
    // What was the lower right is the lower left now, and the white of the upper left is the upper right.
    const [first = upright.cues[0]] = upright.cues
    expect(await colourOf(upright.sprite, first as BoardCue)).to.equal('red')
    const wide = ['-c:v', 'mpeg4', '-q:v', '2', '-aspect', '2:1']
    expect(sizeOf(await boardOf(await video({ width: 100, height: 100, options: wide })))).to.equal('160x80')
    if (sized(true, false)) return
    const odd = ['-c:v', 'libx264', '-pix_fmt', 'yuv444p']
    expect(sizeOf(await boardOf(await video({ width: 321, height: 127, options: odd })))).to.equal('160x64')
  })

  it('has one tile for a single frame', async () => {
    const board = await boardOf(await remuxed(await video(), ['-frames:v', '1']))
    expect(timesOf(board)).to.deep.equal([[0, 0.1]])
    expect(await coloursOf(board)).to.deep.equal(['red'])
    expect(board.size).to.equal('160x120')
  })

  itLong('depends on the frames when the header has no duration or a wrong one', async () => {
    const colours = inTurns(4)
    const vp8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-f', 'webm', '-live', '1']
    const recorded = await boardOf(await video({ colours, options: vp8, format: 'webm' }), { format: 'webm' })
    expect(timesOf(recorded).at(-1)).to.deep.equal([3, 4])
    expect(await coloursOf(recorded)).to.deep.equal(colours)
    const lying = await boardOf(lengthened(await video()))
    // A player has a seek bar of that length, and shows the last picture to its end.
    expect(timesOf(lying).at(-1)).to.deep.equal([7080, 7200])
    expect(await coloursOf(lying)).to.deep.equal(['red', ...Array.from({ length: 59 }, () => 'blue')])
    const whole = await video({ colours: inTurns(8), options: ['-c:v', 'mpeg4', '-movflags', '+faststart'] })
    const cut = await boardOf(whole.subarray(0, Math.floor(whole.length * 0.7)))
    expect(cut.cues.length).to.be.within(4, 7)
    expect(cut.cues.at(-1)?.until).to.equal(8)
    expect(await coloursOf(cut)).to.deep.equal(inTurns(cut.cues.length))
  })

  itLong('shows the displayed frame even when frames are rare', async () => {
    const colours = inTurns(6)
    // Red up to 2.5 s, green up to 5 s: what begins between the moments is not shown before.
    const bytes = await remuxed(await video({ colours: ['red', 'green', 'blue'], rate: 1 }), [
      '-bsf:v',
      'setts=ts=TS*2.5',
    ])
    const board = await boardOf(bytes)
    expect(await coloursOf(board)).to.deep.equal(['red', 'red', 'red', 'green', 'green', 'blue'])
    const late = await remuxed(await film({ colours }), ['-bsf:v', 'setts=ts=TS+1.5/TB'])
    const held = await boardOf(late)
    expect((await coloursOf(held)).slice(0, 5)).to.deep.equal(['red', 'red', 'red', 'green', 'blue'])
    if (sized(false, true)) {
      const matroska = await boardOf(await film({ colours, format: 'mkv' }), { format: 'mkv' })
      expect(await coloursOf(matroska)).to.deep.equal(colours)
      const transport = await remuxed(await film({ colours }), [], { format: 'ts' })
      expect(await coloursOf(await boardOf(transport, { format: 'm2ts' }))).to.deep.equal(colours)
    }
    // It says when a frame is decoded, and no more.
    const options = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p']
    const old = await video({ colours, options, format: 'avi' })
    expect(await coloursOf(await boardOf(old, { format: 'avi' }))).to.deep.equal(colours)
  })

  itLong('uses key frames when these are frequent, each the first of its interval', async () => {
    const options = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-sc_threshold', '0']
    // Two seconds for each tile: of a colour, then of white.
    const colours = inTurns(102).map((colour, i) => (i % 2 === 0 ? colour : 'white'))
    const shape = { colours, width: 32, height: 24, rate: 5 }
    const close = await boardOf(await video({ ...shape, options: [...options, '-g', '5'] }))
    expect(close.cues).to.have.length(51)
    expect(await coloursOf(close)).to.deep.equal(colours.filter((_, i) => i % 2 === 0))
    if (sized(true, false)) return
    // Ten seconds for each tile, of which the white one has the key frame.
    const late = [...options, '-g', '1000', '-force_key_frames', 'expr:gte(t,1+2*(n_forced-1))']
    const slow = await remuxed(await video({ ...shape, options: late }), ['-bsf:v', 'setts=ts=TS*5'])
    const white = Array.from({ length: 50 }, () => 'white')
    expect(await coloursOf(await boardOf(slow))).to.deep.equal(['red', ...white])
  })

  itLong('uses all frames when key frames depend on others', async () => {
    const open = 'open-gop=1:keyint=50:min-keyint=50:scenecut=0:bframes=3:b-adapt=0'
    const options = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-x264-params', open]
    const colours = inTurns(102)
    const source = await video({ colours, width: 32, height: 24, rate: 25, options })
    // Ten seconds for each tile, with a key frame.
    const board = await boardOf(await remuxed(source, ['-bsf:v', 'setts=pts=PTS*5:dts=DTS*5']))
    expect(await coloursOf(board)).to.deep.equal(colours.filter((_, i) => i % 2 === 0))
  })

  itLong('repeats the last tile when the rest cannot be decoded', async () => {
    const options = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p']
    const bytes = await video({ colours: inTurns(8), options: [...options, '-movflags', '+faststart'] })
    const board = await boardOf(bytes.fill(0, Math.floor(bytes.length * 0.7)))
    expect(board.cues).to.have.length(8)
    expect((await coloursOf(board)).slice(0, 3)).to.deep.equal(THREE)
    expect(await coloursOf(board)).not.to.include('black')
  })

  itLong('shows HDR as on a standard screen', async () => {
    const bytes = await wideVideo({ rgb: [148, 148, 148], transfer: 'smpte2084' })
    const { sprite } = await boardOf(bytes)
    const [red, green, blue] = await sharp(sprite)
      .extract({ left: 20, top: 20, width: 1, height: 1 })
      .raw()
      .toBuffer()
    for (const value of [red, green, blue]) expect(value).to.be.within(225, 255)
  })

  itLong('reports its progress', async () => {
    const told: number[] = []
    const slow = await slowFfmpeg(3)
    const former = run
    run = runnerWith({ ...programEnvironment(), PATH: slow.PATH })
    try {
      const long = await video({ colours: inTurns(6), width: 64, height: 48 })
      await boardOf(long, { progress: (fraction) => void told.push(fraction) })
    } finally {
      run = former
      await rm(slow.folder, { recursive: true })
    }
    expect(told[0]).to.be.within(0, 0.3)
    expect(told.at(-1)).to.be.within(0.5, 0.99)
    expect(told).to.deep.equal([...told].sort((a, b) => a - b))
  })

  it('is refused for a file without frames, or without frames from the start on', async () => {
    expect(await rejection(boardOf(await sound()))).to.include({ status: 422, code: 'not_transformable' })
    expect(await rejection(boardOf((await video()).subarray(0, 2000)))).to.include({ status: 422 })
    expect(await rejection(boardOf(await video(), { query: 'storyboard&start=3' }))).to.include({
      status: 400,
    })
  })
})
