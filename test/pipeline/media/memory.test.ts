import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { outputOf } from '../../../src/engines/ffmpeg/process.ts'
import type { VideoDraft } from '../../../src/engines/ffmpeg/video-source.ts'
import { checkOutcomeSize } from '../../../src/engines/video/transcode-arguments.ts'
import { boastingMovie } from '../../support/media/boasting-movie.ts'
import { rejection } from '../../support/rejection.ts'

describe('memory of ffmpeg and ffprobe', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const env = { PATH: process.env.PATH ?? '' }
  const running = { env, signal: new AbortController().signal, timeoutMs: 25_000, maxBytes: 100_000 }

  it('is limited per allocation: a file with an oversized table counts as one without samples', async () => {
    const path = join(folder, 'bomb.mp4')
    await writeFile(path, boastingMovie({ samples: 80_000_000, tracks: 2 }))
    const args = ['-v', 'error', '-f', 'mov', '-show_entries', 'format=duration', '-i', `file:${path}`]
    // Without a limit for each allocation it would reach the limit of all, and be killed.
    expect(await outputOf('ffprobe', args, running)).to.include('duration=')
  })

  it('is watched: the process is killed when many small allocations exceed the limit', async () => {
    const path = join(folder, 'many.mp4')
    await writeFile(path, boastingMovie({ samples: 8_000_000, tracks: 8 }))
    const args = ['-v', 'error', '-f', 'mov', '-show_entries', 'format=duration', '-i', `file:${path}`]
    const limited = { ...running, maxMemoryBytes: 400_000_000 }
    const error = await rejection(outputOf('ffprobe', args, limited))
    expect(error).to.include({ status: 422, code: 'too_much_memory' })
    expect(String((error as Error).cause)).to.include('SIGKILL')
  })

  it('is enough for a usual file', async () => {
    const args = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=640x360:d=1', '-f', 'null', '-']
    expect(await outputOf('ffmpeg', args, running)).to.equal('')
  })

  it('is limited with a kill, and the CPU time is measured nevertheless', async () => {
    const spent: number[] = []
    const measured = { ...running, spent: (cpuMs: number) => spent.push(cpuMs) }
    const endless = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=640x360', '-f', 'null', '-']
    await rejection(outputOf('ffmpeg', endless, { ...measured, timeoutMs: 1000 }))
    const waiting = ['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc=s=64x36:d=3', '-f', 'null', '-']
    await outputOf('ffmpeg', waiting, measured)
    const [busy = -1, idle = -1] = spent
    // It has the lowest priority: on a busy machine it gets any small part of its second.
    expect(busy).to.be.above(1)
    // It plays three seconds in real time. The CPU time is mostly that of the start, 0.7 s on a slow machine.
    expect(idle, 'a process that waits').to.be.within(1, 2800)
  })

  it('limits the frames of a transcode: larger ones are a 422 that asks for a smaller size', () => {
    const draft = { input: { source: { width: 7000, height: 7000 } } } as VideoDraft
    expect(() => checkOutcomeSize(draft))
      .to.throw('at most 9437184 pixels a frame')
      .with.property('status', 422)
    expect(() => checkOutcomeSize({ ...draft, maxWidth: 2000 })).not.to.throw()
    const wide = { input: { source: { width: 4096, height: 2304 } } } as VideoDraft
    expect(() => checkOutcomeSize(wide)).not.to.throw()
  })
})
