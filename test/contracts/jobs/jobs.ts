import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Retention } from '../../../src/adapters/jobs/rules.ts'
import type { Log } from '../../../src/core/log.ts'
import {
  type Job,
  type JobRef,
  type JobStatus,
  type Jobs,
  NotYet,
  type WorkOptions,
} from '../../../src/core/ports/jobs.ts'
import { badParameter, Problem, unavailable } from '../../../src/core/problem.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'
import { everyNth, sized } from '../../support/sized.ts'
import { jobList } from './job-list.ts'
import { jobTurns } from './job-turns.ts'
import { jobsModel } from './jobs-model.ts'

/** The queue under test. */
export interface JobStore {
  /** What one process has of it; again after a close, as the next process has it. */
  open(options: { log: Log; keep?: Retention }): Promise<Jobs>
  /** Whether several may have it open at a time. */
  shared: boolean
  remove(): Promise<void>
}

const WORK: WorkOptions = { concurrency: 1, limitMs: 20_000, attempts: 3, retryMs: 20, retryMaxMs: 1000 }
const ONE = { kind: 'make', id: 'one' }
const HOUR_MS = 3_600_000

/** Work that ends when the test settles it. */
function gate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** What every {@link Jobs} has to do, seen through the port alone. */
export function jobsContract(name: string, createStore: () => Promise<JobStore>): void {
  describe(`${name}: the contract of Jobs`, () => {
    let store: JobStore
    let log: RecordedLog
    let jobs: Jobs
    /** The same jobs as another process sees them; where there is only one process, `jobs` itself. */
    let elsewhere: Jobs
    let opened: Jobs[]
    /** The jobs in the order in which they have begun. */
    let begun: Job[]

    beforeEach(async () => {
      store = await createStore()
      log = recordLog()
      begun = []
      opened = []
      await open()
    })
    afterEach(async () => {
      await closeAll()
      await store.remove()
    })

    async function open(keep?: Retention): Promise<void> {
      const one = async () => {
        const handle = await store.open({ log, ...(keep ? { keep } : {}) })
        opened.push(handle)
        return handle
      }
      jobs = await one()
      elsewhere = store.shared ? await one() : jobs
    }

    async function closeAll(graceMs = 0): Promise<void> {
      await Promise.all(opened.map((each) => each.close({ graceMs })))
      opened = []
    }

    /** Closes everything and opens it again, as the next start does. */
    async function restart({
      graceMs = 0,
      keep,
    }: {
      graceMs?: number
      keep?: Retention
    } = {}): Promise<void> {
      await closeAll(graceMs)
      await open(keep)
    }

    /** Has jobs done by `handler`, keeping book. */
    function work(handler: Parameters<Jobs['work']>[1] = async () => {}, options: Partial<WorkOptions> = {}) {
      jobs.work(
        ONE.kind,
        async (job, run) => {
          begun.push(job)
          await handler(job, run)
        },
        { ...WORK, ...options },
      )
    }

    const enqueue = (id: string, more: { data?: unknown; delayMs?: number } = {}) =>
      elsewhere.enqueue({ kind: ONE.kind, id, data: null, ...more })
    const begunIds = () => begun.map(({ id }) => id)
    /** Waits until the handler runs. The status may be `running` a moment earlier. */
    const untilBegun = (count = 1) => eventually(() => expect(begun).to.have.length(count))
    const shown = (ref: JobRef = ONE) => elsewhere.status(ref)
    async function until(state: JobStatus['state'], ref: JobRef = ONE): Promise<JobStatus> {
      let status: JobStatus | undefined
      await eventually(async () => {
        status = await shown(ref)
        expect(status?.state, `the state of ${ref.id}`).to.equal(state)
      })
      return status as JobStatus
    }

    describe('the count of jobs of an owner', () => {
      const own = (id: string, client: string, kind = ONE.kind) =>
        elsewhere.enqueue({ kind, id, owner: { client }, data: null })
      const openOf = async (client: string, kind = ONE.kind) => (await elsewhere.openOf(kind, { client })).all

      it('includes each waiting or running job once', async () => {
        await own('one', 'ann')
        await own('one', 'ann')
        await own('two', 'ann', 'other')
        await own('three', 'bob')
        await enqueue('four')
        expect([await openOf('ann'), await openOf('bob'), await openOf('nobody')]).to.deep.equal([1, 1, 0])
        const { open: end, opened: ended } = gate()
        work(({ id }) => (id === 'one' ? ended : Promise.reject(notTransformable('broken'))), {
          concurrency: 3,
        })
        await until('failed', { kind: ONE.kind, id: 'three' })
        expect([await openOf('ann'), await openOf('bob')]).to.deep.equal([1, 0])
        end()
        await until('done')
        expect([await openOf('ann'), await openOf('ann', 'other')]).to.deep.equal([0, 1])
      })

      it('is the same after a restart', async () => {
        await own('one', 'ann')
        await restart()
        expect(await openOf('ann')).to.equal(1)
      })
    })

    jobTurns(() => ({ jobs, elsewhere, restart, work, begunIds }))
    jobList(() => ({ jobs, elsewhere, restart, work }))

    describe('a job', () => {
      it('runs with its data', async () => {
        const data = { text: 'ü"\n\0', list: [1, 2.5, null, { a: true }], empty: '', key: 'a/b_w=1' }
        work()
        await jobs.enqueue({ ...ONE, data })
        await until('done')
        expect(begun).to.deep.equal([{ ...ONE, data, attempt: 1 }])
      })

      it('waits until a worker handles its kind', async () => {
        await enqueue('one')
        expect(await shown()).to.deep.equal({ state: 'waiting', attempts: 0, progress: 0 })
        jobs.work('other', async () => {}, WORK)
        await pause(50)
        expect(await shown()).to.deep.equal({ state: 'waiting', attempts: 0, progress: 0 })
        work()
        await until('done')
      })

      it('is unknown when it was never added', async () => {
        await enqueue('one')
        expect(await shown({ kind: 'make', id: 'two' })).to.equal(undefined)
        expect(await shown({ kind: 'made', id: 'one' })).to.equal(undefined)
      })

      it('may have any ID', async () => {
        const ids = ['', '0', '12', '0:1', 'a:b:c', ' ', 'ü/ä?=&', 'a\0b', '__proto__', 'x'.repeat(3000)]
        work(undefined, { concurrency: 4 })
        for (const id of ids) await enqueue(id, { data: id })
        for (const id of ids) await until('done', { kind: 'make', id })
        expect(begun.map(({ data }) => data)).to.have.members(ids)
        expect(begunIds()).to.have.members(ids)
      })

      it('differs from one with the same ID of another kind', async () => {
        const seen: string[] = []
        for (const kind of ['make', 'send-2'])
          jobs.work(kind, async (job) => seen.push(`${job.kind} ${job.id}`), WORK)
        await jobs.enqueue({ kind: 'make', id: 'one', data: 1 })
        await jobs.enqueue({ kind: 'send-2', id: 'one', data: 2 })
        await eventually(() => expect(seen).to.have.members(['make one', 'send-2 one']))
      })

      it('reports its progress to every process, and ignores invalid progress', async () => {
        const end = gate()
        let tell: (fraction: number) => void = () => {}
        work(async (_, { progress }) => {
          tell = progress
          await end.opened
        })
        await enqueue('one')
        expect(await until('running')).to.deep.equal({ state: 'running', attempts: 1, progress: 0 })
        await untilBegun()
        for (const [told, seen] of [
          [0.25, 0.25],
          [0.501, 0.5],
          [Number.NaN, 0.5],
          [-3, 0],
          [0.999, 1],
          [0.3, 0.3],
          [7, 1],
        ] as const) {
          tell(told)
          await eventually(async () => expect((await shown())?.progress, `after ${told}`).to.equal(seen))
        }
        tell(0.4)
        end.open()
        expect(await until('done')).to.deep.equal({ state: 'done', attempts: 1, progress: 1 })
        tell(0.7)
        await pause(30)
        expect(await shown()).to.deep.equal({ state: 'done', attempts: 1, progress: 1 })
      })

      const refused: Record<string, object> = {
        'a kind in capitals': { kind: 'Make' },
        'a kind with a colon': { kind: 'a:b' },
        'no kind': { kind: '' },
        'data of more than 128 KiB': { data: 'x'.repeat(131_071) },
        'a delay below 0': { delayMs: -1 },
        'a delay that is no number': { delayMs: Number.NaN },
        'a delay without end': { delayMs: Number.POSITIVE_INFINITY },
      }
      for (const [what, job] of everyNth(3, Object.entries(refused))) {
        it(`is refused with ${what}`, async () => {
          expect(await rejection(jobs.enqueue({ ...ONE, data: null, ...job }))).to.be.instanceOf(Error)
          expect(await shown()).to.equal(undefined)
        })
      }

      it('accepts 128 KiB of data', async () => {
        const data = 'x'.repeat(131_070)
        work()
        await enqueue('one', { data })
        await until('done')
        expect(begun[0]?.data).to.equal(data)
      })

      it('has one handler per kind', () => {
        work()
        expect(() => work()).to.throw('make')
        expect(() => jobs.work('No', async () => {}, WORK)).to.throw('"No"')
      })
    })

    describe('a job that is added again', () => {
      it('runs once while it waits or runs', async () => {
        const end = gate()
        const ask = () =>
          Promise.all(
            Array.from({ length: 100 }, (_, i) =>
              (i % 2 === 0 ? jobs : elsewhere).enqueue({ ...ONE, data: null }),
            ),
          )
        await ask()
        work(() => end.opened, { concurrency: 5 })
        await until('running')
        await ask()
        await pause(50)
        end.open()
        await until('done')
        await pause(50)
        expect(begun).to.have.length(1)
      })

      it('keeps the data of the first time', async () => {
        await enqueue('one', { data: 'first' })
        await enqueue('one', { data: 'second' })
        work()
        await until('done')
        expect(begun[0]?.data).to.equal('first')
      })

      it('runs again when it is done', async () => {
        const end = gate()
        work(async ({ data }) => {
          if (data === 'second') await end.opened
        })
        await enqueue('one', { data: 'first' })
        await until('done')
        await enqueue('one', { data: 'second' })
        expect(await until('running')).to.deep.equal({ state: 'running', attempts: 1, progress: 0 })
        end.open()
        expect(await until('done')).to.deep.equal({ state: 'done', attempts: 1, progress: 1 })
        expect(begun.map(({ data, attempt }) => [data, attempt])).to.deep.equal([
          ['first', 1],
          ['second', 1],
        ])
      })

      it('runs once when it is done and a hundred callers add it at once', async () => {
        const end = gate()
        work(async ({ data }) => data === 'again' && (await end.opened), { concurrency: 5 })
        await enqueue('one')
        await until('done')
        await Promise.all(
          Array.from({ length: 100 }, (_, i) =>
            (i % 2 === 0 ? jobs : elsewhere).enqueue({ ...ONE, data: 'again' }),
          ),
        )
        await until('running')
        await pause(50)
        end.open()
        await until('done')
        await pause(50)
        expect(begun).to.have.length(2)
      })

      it('does not run again when it has failed permanently', async () => {
        work(async () => {
          throw notTransformable('the video is broken')
        })
        await enqueue('one')
        const failed = await until('failed')
        for (let i = 0; i < 5; i += 1) await enqueue('one', { data: i })
        await pause(50)
        expect(await shown()).to.deep.equal(failed)
        expect(begun).to.have.length(1)
      })

      it('waits between two attempts as before', async () => {
        work(() => Promise.reject(new Error('broken')), { retryMs: HOUR_MS, retryMaxMs: HOUR_MS })
        await enqueue('one')
        await eventually(async () => expect(await shown()).to.include({ state: 'waiting', attempts: 1 }))
        await enqueue('one')
        await pause(50)
        expect(await shown()).to.include({ state: 'waiting', attempts: 1 })
        expect(begun).to.have.length(1)
      })
    })

    describe('the order of jobs', () => {
      it('is that in which they were added', async () => {
        const ids = Array.from({ length: 30 }, (_, i) => `job ${i % 7} ${i}`)
        for (const id of ids) await enqueue(id)
        work()
        await eventually(() => expect(begunIds()).to.deep.equal(ids))
      })

      it('runs as many at a time as configured, and no more', async () => {
        let now = 0
        let most = 0
        work(
          async () => {
            now += 1
            most = Math.max(most, now)
            await pause(15)
            now -= 1
          },
          { concurrency: 3 },
        )
        for (let i = 0; i < 20; i += 1) await enqueue(`job ${i}`)
        for (let i = 0; i < 20; i += 1) await until('done', { kind: 'make', id: `job ${i}` })
        expect(most).to.equal(3)
      })

      it('is separate for each kind', async () => {
        const end = gate()
        work(() => end.opened)
        jobs.work('send', async () => {}, WORK)
        await enqueue('one')
        await until('running')
        await jobs.enqueue({ kind: 'send', id: 'one', data: null })
        await until('done', { kind: 'send', id: 'one' })
        end.open()
      })

      it('delays a job as requested, without delaying the others', async () => {
        const times = new Map<string, number>()
        work(async ({ id }) => times.set(id, Date.now()))
        const since = Date.now()
        await enqueue('tomorrow', { delayMs: 24 * HOUR_MS })
        await enqueue('late', { delayMs: 300 })
        await enqueue('soon')
        await enqueue('middle', { delayMs: 150 })
        for (const id of ['soon', 'middle', 'late']) await until('done', { kind: 'make', id })
        expect(await shown({ kind: 'make', id: 'tomorrow' })).to.deep.equal({
          state: 'waiting',
          attempts: 0,
          progress: 0,
        })
        expect(begunIds()).to.have.members(['soon', 'middle', 'late'])
        expect((times.get('middle') ?? 0) - since).to.be.at.least(150)
        expect((times.get('late') ?? 0) - since).to.be.at.least(300)
      })

      it('respects a delay of months', async () => {
        work()
        await enqueue('one', { delayMs: 2 ** 31 + 1000 })
        await enqueue('two', { delayMs: 400 * 24 * 3_600_000 })
        await pause(80)
        expect(begun).to.deep.equal([])
      })
    })

    describe('a job that postpones itself', () => {
      it('runs again at the requested times, and counts no attempt', async () => {
        const starts: number[] = []
        let isSeen = false
        work(
          async () => {
            starts.push(Date.now())
            if (starts.length < 5 || !isSeen) throw new NotYet(60)
          },
          { attempts: 2 },
        )
        await enqueue('one', { data: 'x' })
        await untilBegun()
        await eventually(async () => expect(await shown()).to.include({ state: 'waiting', attempts: 0 }))
        isSeen = true
        expect(await until('done')).to.deep.equal({ state: 'done', attempts: 1, progress: 1 })
        expect(starts.length).to.be.at.least(5)
        for (const { attempt, data } of begun) expect([attempt, data]).to.deep.equal([1, 'x'])
        for (const [i, start] of starts.slice(1).entries())
          expect(start - (starts[i] ?? 0)).to.be.at.least(59)
        expect(log.lines).to.deep.equal([])
      })

      it('lets the others go first, and continues to wait over a restart', async () => {
        let ready = false
        work(async ({ id }) => {
          if (id === 'one' && !ready) throw new NotYet(200)
        })
        await enqueue('one')
        await enqueue('two')
        await until('done', { kind: 'make', id: 'two' })
        expect(begunIds().slice(0, 2)).to.deep.equal(['one', 'two'])
        await restart()
        ready = true
        work()
        expect(await until('done')).to.include({ attempts: 1 })
      })

      it('keeps its number of failed attempts', async () => {
        const fates = [
          new Error('broken'),
          new NotYet(5),
          new Error('broken'),
          new NotYet(5),
          new Error('broken'),
        ]
        work(async () => {
          throw fates.shift()
        })
        await enqueue('one')
        expect(await until('failed')).to.include({ attempts: 3 })
        expect(begun.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 2, 3, 3])
      })
    })

    describe('a job that fails', () => {
      for (const [how, fail] of Object.entries({
        rejects: async () => {
          await pause(1)
          throw new Error('secret')
        },
        throws: () => {
          throw new Error('secret')
        },
        'throws nothing in particular': () => {
          throw undefined
        },
      })) {
        it(`and ${how} is tried up to the limit, then has failed permanently, and the others continue`, async () => {
          work(({ id }) => (id === 'one' ? fail() : Promise.resolve()))
          await enqueue('one')
          await enqueue('two')
          expect(await until('failed')).to.deep.equal({
            state: 'failed',
            attempts: 3,
            progress: 0,
            failure: { status: 500, code: 'internal', detail: 'internal error' },
          })
          const attempts = begun.filter(({ id }) => id === 'one').map(({ attempt }) => attempt)
          expect(attempts).to.deep.equal([1, 2, 3])
          await until('done', { kind: 'make', id: 'two' })
          expect(log.lines.filter(({ level }) => level === 'warn')).to.have.length(3)
        })
      }

      it('is done when a later attempt succeeds, each of which begins from nothing', async () => {
        const seen: JobStatus[] = []
        work(async ({ attempt, data }, { progress }) => {
          expect(data).to.equal('x')
          seen.push((await shown()) as JobStatus)
          progress(0.8)
          await eventually(async () => expect((await shown())?.progress).to.equal(0.8))
          if (attempt < 3) throw unavailable('not now')
        })
        await enqueue('one', { data: 'x' })
        expect(await until('done')).to.deep.equal({ state: 'done', attempts: 3, progress: 1 })
        expect(seen).to.deep.equal([1, 2, 3].map((attempts) => ({ state: 'running', attempts, progress: 0 })))
      })

      it('waits between its attempts, each time twice as long, with jitter', async () => {
        const starts: number[] = []
        work(
          async () => {
            starts.push(Date.now())
            throw new Error('broken')
          },
          { attempts: 4, retryMs: 100, retryMaxMs: HOUR_MS },
        )
        await enqueue('one')
        await until('failed')
        const waits = starts.slice(1).map((start, i) => start - (starts[i] ?? 0))
        expect(waits).to.have.length(3)
        for (const [i, longest] of [100, 200, 400].entries())
          expect(waits[i], `wait ${i + 1}`).to.be.at.least(longest / 2 - 2)
      })

      it('waits no longer than a maximum', async () => {
        // Without it, the test would end before the second attempt.
        work(() => Promise.reject(new Error('broken')), { attempts: 2, retryMs: HOUR_MS, retryMaxMs: 50 })
        await enqueue('one')
        expect(await until('failed')).to.include({ attempts: 2 })
      })

      const permanent = [
        badParameter({ param: 'w', expected: 'a number' }),
        notTransformable('the video is broken'),
      ]
      for (const problem of everyNth(2, permanent)) {
        it(`with a ${problem.status} has failed permanently at once`, async () => {
          work(async () => {
            throw problem
          })
          await enqueue('one')
          expect(await until('failed')).to.deep.equal({
            state: 'failed',
            attempts: 1,
            progress: 0,
            failure: {
              status: problem.status,
              code: problem.code,
              detail: problem.message,
              ...(Object.keys(problem.members).length > 0 ? { members: problem.members } : {}),
            },
          })
        })
      }

      it('with a 5xx is retried, and keeps the last error', async () => {
        work(async ({ attempt }) => {
          throw new Problem({ status: 502, code: 'bad_gateway', detail: `number ${attempt}` })
        })
        await enqueue('one')
        const failed = { attempts: 3, failure: { status: 502, code: 'bad_gateway', detail: 'number 3' } }
        expect(await until('failed')).to.deep.include(failed)
      })

      it('by a timeout is aborted, and counts an attempt', async () => {
        const reasons: unknown[] = []
        work(
          async (_, { signal }) => {
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            reasons.push(signal.reason)
            throw new Error('ended')
          },
          { limitMs: 40, attempts: 2 },
        )
        await enqueue('one')
        expect(await until('failed')).to.deep.equal({
          state: 'failed',
          attempts: 2,
          progress: 0,
          failure: {
            status: 503,
            code: 'unavailable',
            detail: 'The job timed out.',
            members: { retryAfterSeconds: 5 },
          },
        })
        for (const reason of reasons) expect(reason).to.be.instanceOf(Problem)
        expect(reasons).to.have.length(2)
      })

      it('by a timeout is done all the same when it completes', async () => {
        work((_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)), {
          limitMs: 40,
        })
        await enqueue('one')
        expect(await until('done')).to.include({ attempts: 1 })
      })

      it('gives each attempt its own timeout', async () => {
        const aborted: boolean[] = []
        work(
          async (_, { signal }) => {
            aborted.push(signal.aborted)
            await once(signal, 'abort')
            throw new Error('out of time')
          },
          { limitMs: 40 },
        )
        await enqueue('one')
        await until('failed')
        expect(aborted).to.deep.equal([false, false, false])
      })
    })

    describe('a finished job', () => {
      const KEEP: Retention = { doneMs: HOUR_MS, doneCount: 100, failedMs: HOUR_MS, failedCount: 100 }
      const SHORT: Retention = { ...KEEP, doneMs: 400, failedMs: 400 }
      const fail = async ({ id }: Job) => {
        if (id.startsWith('bad')) throw notTransformable('broken')
      }

      it('is forgotten after a while, a failed one after a time of its own', async () => {
        await restart({ keep: { ...SHORT, failedMs: HOUR_MS } })
        work(fail)
        await enqueue('good')
        await enqueue('bad')
        const bad = { kind: 'make', id: 'bad' }
        await until('failed', bad)
        await eventually(async () => expect(await shown({ kind: 'make', id: 'good' })).to.equal(undefined))
        expect(begunIds()).to.deep.equal(['good', 'bad'])
        expect(await shown(bad)).to.include({ state: 'failed' })
      })

      it('can be added again when it has failed and is forgotten', async () => {
        await restart({ keep: SHORT })
        work(fail)
        for (const times of [1, 2]) {
          await enqueue('bad')
          await untilBegun(times)
          await eventually(async () => expect(await shown({ kind: 'make', id: 'bad' })).to.equal(undefined))
        }
      })

      it('is forgotten when there are too many, the oldest first', async () => {
        await restart({ keep: { doneMs: 60_000, doneCount: 3, failedMs: 60_000, failedCount: 2 } })
        work(fail)
        const ids = ['good 1', 'bad 1', 'good 2', 'bad 2', 'good 3', 'bad 3', 'good 4', 'good 5']
        for (const id of ids) {
          await enqueue(id)
          await until(id.startsWith('bad') ? 'failed' : 'done', { kind: 'make', id })
        }
        const known: string[] = []
        for (const id of ids) if (await shown({ kind: 'make', id })) known.push(id)
        expect(known).to.deep.equal(['bad 2', 'good 3', 'bad 3', 'good 4', 'good 5'])
      })

      it('persists over a restart, for the rest of its retention', async () => {
        const keep = KEEP
        await restart({ keep })
        work(fail)
        await enqueue('good')
        await enqueue('bad')
        const done = await until('done', { kind: 'make', id: 'good' })
        const failed = await until('failed', { kind: 'make', id: 'bad' })
        await restart({ keep })
        expect(await shown({ kind: 'make', id: 'good' })).to.deep.equal(done)
        expect(await shown({ kind: 'make', id: 'bad' })).to.deep.equal(failed)
        work(fail)
        await enqueue('bad')
        await pause(30)
        expect(begun).to.have.length(2)
        await restart({ keep: SHORT })
        work(fail)
        await enqueue('good 2')
        await enqueue('bad 2')
        await untilBegun(4)
        await restart({ keep: SHORT })
        await eventually(async () => {
          expect(await shown({ kind: 'make', id: 'good 2' })).to.equal(undefined)
          expect(await shown({ kind: 'make', id: 'bad 2' })).to.equal(undefined)
        })
      })
    })

    describe('jobs during the shutdown of a process', () => {
      it('do not begin once the queue is paused; running ones continue, and others may be added', async () => {
        const end = gate()
        work(() => end.opened)
        await enqueue('one')
        await enqueue('two')
        await untilBegun()
        jobs.pause()
        await enqueue('three')
        end.open()
        await until('done')
        await pause(80)
        expect(begunIds()).to.deep.equal(['one'])
        for (const id of ['two', 'three'])
          expect(await shown({ kind: 'make', id })).to.deep.equal({
            state: 'waiting',
            attempts: 0,
            progress: 0,
          })
        await restart()
        work()
        await until('done', { kind: 'make', id: 'three' })
        expect(begunIds()).to.deep.equal(['one', 'two', 'three'])
      })

      it('do not begin while it closes, even when they become due', async () => {
        const end = gate()
        work(() => end.opened, { concurrency: 4 })
        await enqueue('one')
        await untilBegun()
        await enqueue('two', { delayMs: 500 })
        const closed = jobs.close({ graceMs: HOUR_MS })
        await enqueue('three')
        await pause(600)
        end.open()
        await closed
        expect(begunIds()).to.deep.equal(['one'])
        await restart()
        for (const id of ['two', 'three'])
          expect(await shown({ kind: 'make', id })).to.include({ attempts: 0 })
      })

      it('may end within the grace period, and the shutdown waits no longer than needed', async () => {
        let aborted = false
        work(
          async (_, { signal }) => {
            signal.addEventListener('abort', () => {
              aborted = true
            })
            await pause(150)
          },
          { concurrency: 3 },
        )
        for (const id of ['one', 'two', 'three']) await enqueue(id)
        await untilBegun(3)
        await restart({ graceMs: HOUR_MS })
        expect(aborted).to.equal(false)
        for (const id of ['one', 'two', 'three'])
          expect(await shown({ kind: 'make', id })).to.include({ state: 'done' })
      })

      it('are returned to the queue when they do not end in time, which counts no attempt', async () => {
        const reasons: unknown[] = []
        work(
          (_, { signal, progress }) =>
            new Promise((_resolve, reject) => {
              progress(0.5)
              signal.addEventListener('abort', () => {
                reasons.push(signal.reason)
                // Whatever it throws then is not the job's failure.
                reject(notTransformable('cut off'))
              })
            }),
          { attempts: 1 },
        )
        await enqueue('one')
        await enqueue('two')
        await untilBegun()
        const since = Date.now()
        await restart({ graceMs: 100 })
        expect(Date.now() - since).to.be.at.least(90)
        expect(reasons).to.have.length(1)
        expect(reasons[0]).to.include({ name: 'AbortError' })
        expect(await shown()).to.deep.equal({ state: 'waiting', attempts: 0, progress: 0 })
        work(async ({ id }) => expect(await shown({ kind: 'make', id })).to.include({ progress: 0 }), {
          attempts: 1,
        })
        await until('done', { kind: 'make', id: 'two' })
        expect(begun.map(({ id, attempt }) => [id, attempt])).to.deep.equal([
          ['one', 1],
          ['one', 1],
          ['two', 1],
        ])
      })

      it('continue at the next start when they wait, for their time or between attempts', async () => {
        const since = Date.now()
        await enqueue('a')
        await enqueue('late', { delayMs: 1500 })
        await enqueue('b', { data: 'x' })
        await restart()
        await enqueue('c')
        await restart()
        work(
          async ({ id, attempt }) => {
            if (id === 'b' && attempt === 1) throw new Error('broken')
          },
          { retryMs: 3000, retryMaxMs: 3000 },
        )
        await eventually(async () =>
          expect(await shown({ kind: 'make', id: 'b' })).to.include({ state: 'waiting', attempts: 1 }),
        )
        await until('done', { kind: 'make', id: 'c' })
        await restart()
        expect(await shown({ kind: 'make', id: 'b' })).to.deep.equal({
          state: 'waiting',
          attempts: 1,
          progress: 0,
        })
        work()
        await until('done', { kind: 'make', id: 'b' })
        await until('done', { kind: 'make', id: 'late' })
        expect(Date.now() - since).to.be.above(1500)
        expect(begun.map(({ id, attempt }) => [id, attempt]).slice(0, 3)).to.deep.equal([
          ['a', 1],
          ['b', 1],
          ['c', 1],
        ])
        expect(begun.slice(3)).to.have.deep.members([
          { kind: 'make', id: 'late', data: null, attempt: 1 },
          { kind: 'make', id: 'b', data: 'x', attempt: 2 },
        ])
      })

      it('may add another job while it closes', async () => {
        const end = gate()
        work(async () => {
          await end.opened
          await jobs.enqueue({ kind: 'send', id: 'it is done', data: null })
        })
        await enqueue('one')
        await untilBegun()
        const closed = closeAll(HOUR_MS)
        await pause(30)
        end.open()
        await closed
        await open()
        expect(await shown()).to.include({ state: 'done' })
        expect(await shown({ kind: 'send', id: 'it is done' })).to.include({ state: 'waiting' })
      })

      it('are refused with a 503 once it is closed, and it can be closed twice', async () => {
        await Promise.all([jobs.close({ graceMs: 0 }), jobs.close({ graceMs: 0 })])
        await jobs.close({ graceMs: 0 })
        for (const refused of [jobs.enqueue({ ...ONE, data: null }), jobs.status(ONE)])
          expect(await rejection(refused)).to.include({ status: 503, code: 'unavailable' })
      })
    })

    for (const seed of sized([1], [1, 2, 3])) {
      it(`runs each added job once at a time under random operations (seed ${seed})`, async () => {
        await jobsModel({ jobs, elsewhere, seed })
      })
    }
  })
}
