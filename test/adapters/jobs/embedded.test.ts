import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { ClassicLevel } from 'classic-level'
import { embeddedJobs } from '../../../src/adapters/jobs/embedded.ts'
import type { Job, Jobs } from '../../../src/core/ports/jobs.ts'
import { jobsContract } from '../../contracts/jobs/jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { rejection } from '../../support/rejection.ts'
import { type Running, run } from '../../support/servers/process.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

jobsContract('embedded', async () => {
  const folder = await temporaryFolder()
  return {
    open: (options) => embeddedJobs({ folder: join(folder, 'jobs'), ...options }),
    shared: false,
    remove: () => rm(folder, { recursive: true }),
  }
})

const WORKER = [await builtScript('jobs-worker')]
const WORK = { concurrency: 1, limitMs: 20_000, attempts: 3, retryMs: 20, retryMaxMs: 1000 }
const ONE = { kind: 'make', id: 'one' }

describe('embedded: jobs after a restart', () => {
  let folder: string
  let log: RecordedLog
  let jobs: Jobs | undefined
  let begun: Job[]

  beforeEach(async () => {
    folder = await temporaryFolder()
    log = recordLog()
    begun = []
  })
  afterEach(async () => {
    await jobs?.close({ graceMs: 0 })
    await rm(folder, { recursive: true })
  })

  async function open(): Promise<Jobs> {
    await jobs?.close({ graceMs: 0 })
    jobs = await embeddedJobs({ folder, log, noteAgainMs: 50 })
    return jobs
  }

  async function work(handler: () => Promise<unknown> = async () => {}, attempts = 3): Promise<void> {
    const keepBook = async (job: Job) => {
      begun.push(job)
      await handler()
    }
    jobs?.work('make', keepBook, { ...WORK, attempts })
  }

  /** Has another process begin the job, and kills it in the middle. */
  async function dieInTheMiddle(attempt: number): Promise<void> {
    await jobs?.close({ graceMs: 0 })
    jobs = undefined
    const worker = run({ script: WORKER, env: { FOLDER: folder } })
    await prints(worker, `begin one ${attempt}`)
    await kill(worker)
    expect(worker.output()).not.to.include('end')
  }

  /** On a busy machine a process takes seconds to start. */
  function prints(worker: Running, text: string): Promise<void> {
    return eventually(() => expect(worker.output()).to.include(text))
  }

  async function kill({ child, ended }: Running): Promise<void> {
    child.kill('SIGKILL')
    expect(await ended).to.equal('SIGKILL')
  }

  it('runs the jobs again that were running when the process was killed', async () => {
    await (await open()).enqueue({ ...ONE, data: { ms: 60_000 } })
    await dieInTheMiddle(1)
    const reopened = await open()
    expect(await reopened.status(ONE)).to.deep.equal({ state: 'waiting', attempts: 1, progress: 0 })
    await reopened.enqueue({ ...ONE, data: 'another' })
    await work()
    await eventually(async () =>
      expect(await reopened.status(ONE)).to.deep.equal({ state: 'done', attempts: 2, progress: 1 }),
    )
    expect(begun).to.deep.equal([{ ...ONE, data: { ms: 60_000 }, attempt: 2 }])
  })

  it('fails a job that has killed its process at every attempt', async () => {
    await (await open()).enqueue({ ...ONE, data: { ms: 60_000 } })
    await dieInTheMiddle(1)
    await dieInTheMiddle(2)
    const reopened = await open()
    await work(undefined, 2)
    await eventually(async () => expect(await reopened.status(ONE)).to.include({ state: 'failed' }))
    expect(await reopened.status(ONE)).to.deep.equal({
      state: 'failed',
      attempts: 2,
      progress: 0,
      failure: {
        status: 500,
        code: 'internal',
        detail: 'The worker process died on every attempt.',
      },
    })
    expect(begun).to.deep.equal([])
  })

  it('has every job whose enqueue has resolved, in that order, after a kill', async () => {
    const adder = run({ script: WORKER, env: { FOLDER: folder, ADD: 'yes' } })
    await prints(adder, 'added 100')
    await kill(adder)
    const added = adder.output().match(/^added \d+$/gm)?.length ?? 0
    await open()
    await work()
    await eventually(() => expect(begun).to.have.length.at.least(added))
    const ids = Array.from({ length: added }, (_, i) => `job ${i}`)
    expect(begun.slice(0, added).map(({ id }) => id)).to.deep.equal(ids)
  })

  it('closes a process in the middle of a job, which the next process runs', async () => {
    await (await open()).enqueue({ ...ONE, data: { ms: 60_000 } })
    await jobs?.close({ graceMs: 0 })
    jobs = undefined
    const worker = run({ script: WORKER, env: { FOLDER: folder } })
    await prints(worker, 'begin one 1')
    worker.child.kill('SIGTERM')
    // Nothing holds the process any more: it ends by itself.
    expect(await worker.ended).to.equal(0)
    expect(worker.output()).to.include('aborted one\nclosed')
    expect(await (await open()).status(ONE)).to.deep.equal({ state: 'waiting', attempts: 0, progress: 0 })
  })

  it('belongs to one process at a time', async () => {
    await open()
    const error = (await rejection(embeddedJobs({ folder, log }))) as Error
    expect(error.cause).to.include({ code: 'LEVEL_LOCKED' })
  })

  it('sets only the timer for the next due job', async () => {
    const opened = await open()
    await work()
    const real = globalThis.setTimeout
    const waits: number[] = []
    globalThis.setTimeout = Object.assign(
      (callback: () => void, ms: number) => {
        waits.push(ms)
        return real(callback, ms)
      },
      { __promisify__: real.__promisify__ },
    ) as typeof setTimeout
    try {
      // More than a timer can wait for.
      await opened.enqueue({ ...ONE, data: null, delayMs: 400 * 24 * 3_600_000 })
      expect(waits).to.deep.equal([2 ** 31 - 1])
      await new Promise((done) => real(done, 200))
      expect(waits).to.have.length(1)
      await opened.enqueue({ kind: 'make', id: 'two', data: null, delayMs: 100 })
      await eventually(() => expect(begun.map(({ id }) => id)).to.deep.equal(['two']))
      await new Promise((done) => real(done, 50))
      // For two, its limit, and for one again; a timer may be early by a millisecond.
      expect(waits.length).to.be.within(4, 6)
    } finally {
      globalThis.setTimeout = real
    }
  })

  describe('on a disk that fails', () => {
    const { batch } = ClassicLevel.prototype
    let writes: number
    afterEach(() => {
      ClassicLevel.prototype.batch = batch
    })

    /** From the given write on, none succeeds. */
    function failFrom(first: number): void {
      writes = 0
      ClassicLevel.prototype.batch = function (this: unknown, ...args: unknown[]) {
        writes += 1
        if (writes >= first) return Promise.reject(new Error('no space left'))
        return Reflect.apply(batch, this, args)
      } as typeof batch
    }

    it('adds no job: 503 for all callers', async () => {
      const opened = await open()
      failFrom(1)
      const refused = [1, 2].map(() => rejection(opened.enqueue({ ...ONE, data: null })))
      for (const error of await Promise.all(refused))
        expect(error).to.include({ status: 503, code: 'unavailable' })
      expect(await opened.status(ONE)).to.equal(undefined)
      ClassicLevel.prototype.batch = batch
      await opened.enqueue({ ...ONE, data: null })
      await work()
      await eventually(() => expect(begun).to.have.length(1))
    })

    for (const [first, what, expected] of [
      [2, 'begun', []],
      [3, 'ended', [1]],
    ] as const) {
      it(`begins no job while it cannot be stored as ${what}, and continues when it can`, async () => {
        const opened = await open()
        // Due when all of the first one's writes are counted, also on a busy machine.
        await opened.enqueue({ kind: 'make', id: 'two', data: null, delayMs: 500 })
        failFrom(first)
        await opened.enqueue({ ...ONE, data: null })
        await work()
        await eventually(() =>
          expect(log.lines.filter(({ level }) => level === 'error').length).to.be.at.least(2),
        )
        expect(begun.map(({ attempt }) => attempt)).to.deep.equal(expected)
        ClassicLevel.prototype.batch = batch
        await eventually(() => expect(begun).to.have.length(expected.length + 2))
        const attempts = begun.filter(({ id }) => id === 'one').map(({ attempt }) => attempt)
        expect(attempts).to.deep.equal([...expected, expected.length + 1])
        await eventually(async () => expect(await opened.status(ONE)).to.have.property('state', 'done'))
      })
    }
  })
})
