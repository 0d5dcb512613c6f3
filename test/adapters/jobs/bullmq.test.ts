import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { bullmqJobs } from '../../../src/adapters/jobs/bullmq.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { deferred } from '../../../src/core/async/deferred.ts'
import type { Job, JobHandler, Jobs, WorkOptions } from '../../../src/core/ports/jobs.ts'
import { jobsContract } from '../../contracts/jobs/jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { inTime } from '../../support/promised.ts'
import { rejection } from '../../support/rejection.ts'
import { type Running, run } from '../../support/servers/process.ts'
import {
  newKeyPrefix,
  PATIENT,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../../support/servers/redis-server.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'

jobsContract('BullMQ', async () => {
  const { url } = await sharedRedis()
  const keyPrefix = newKeyPrefix()
  const redis = connectRedis({ url })
  await redis.ready()
  return {
    open: async (options) => bullmqJobs({ redis, keyPrefix, ...options }),
    shared: true,
    async remove() {
      const keys = await redis.client.keys(`${keyPrefix}*`)
      if (keys.length > 0) await redis.client.del(...keys)
      await redis.close()
    },
  }
})

const WORKER = [await builtScript('jobs-worker')]
const WORK: WorkOptions = { concurrency: 1, limitMs: 20_000, attempts: 3, retryMs: 20, retryMaxMs: 1000 }
const ONE = { kind: 'make', id: 'one' }

describe('BullMQ: jobs of several processes', () => {
  const keyPrefix = 'sluice:'
  let server: RedisServer
  let url: string
  let redis: RedisConnection
  let log: RecordedLog
  let jobs: Jobs
  let begun: Job[]
  let children: Running[]

  before(async () => {
    server = await startRedis({ appendOnly: true, fails: true })
    url = `${server.url}${PATIENT}`
  })
  after(() => server.remove())
  beforeEach(async () => {
    log = recordLog()
    redis = connectRedis({ url, log })
    await redis.ready()
    await redis.client.flushall()
    begun = []
    children = []
    jobs = open()
  })
  afterEach(async () => {
    for (const { child, ended } of children) {
      child.kill('SIGKILL')
      await ended
    }
    await server.start()
    server.thaw()
    await jobs.close({ graceMs: 0 })
    await redis.close()
  })

  const open = (takeOverMs = 2000) => bullmqJobs({ redis, keyPrefix, log, takeOverMs })

  function work(handler: JobHandler<unknown> = async () => {}, options: Partial<WorkOptions> = {}): void {
    const keepBook: JobHandler<unknown> = async (job, given) => {
      begun.push(job)
      await handler(job, given)
    }
    jobs.work('make', keepBook, { ...WORK, ...options })
  }

  /** Another process that does jobs of the same kind. */
  async function startWorker(env: Record<string, string> = {}): Promise<Running> {
    const address = { REDIS_URL: server.url, KEY_PREFIX: keyPrefix, TAKE_OVER_MS: '2000' }
    const worker = run({ script: WORKER, env: { ...address, ...env } })
    children.push(worker)
    await eventually(() => expect(worker.output()).to.include('ready'))
    return worker
  }

  const enqueue = (id: string, ms = 60_000) => jobs.enqueue({ kind: 'make', id, data: { ms } })
  const state = async (id = 'one') => (await jobs.status({ kind: 'make', id }))?.state
  const until = (expected: string | undefined, id?: string) =>
    eventually(async () => expect(await state(id)).to.equal(expected))
  const prints = (worker: Running, text: string) => eventually(() => expect(worker.output()).to.include(text))

  it('runs the job of a killed worker in another one, soon, and counts that as an attempt', async () => {
    const worker = await startWorker()
    await enqueue('one')
    await prints(worker, 'begin one 1')
    // Frozen first: from here on it renews nothing, and what it has locked is over at a known time.
    worker.child.kill('SIGSTOP')
    const [lock = ''] = await redis.client.keys(`${keyPrefix}*:lock`)
    const lockedUntil = await redis.client.pexpiretime(lock)
    expect(lockedUntil).to.be.above(0)
    let takenAt = 0
    work(async () => {
      takenAt = Date.now()
    })
    worker.child.kill('SIGKILL')
    await worker.ended
    await until('done')
    expect(takenAt).to.be.above(lockedUntil)
    expect(begun.map(({ id, attempt }) => [id, attempt])).to.deep.equal([['one', 2]])
    expect(await jobs.status(ONE)).to.deep.equal({ state: 'done', attempts: 2, progress: 1 })
  })

  itLong('fails a job that has killed its worker at every attempt', async () => {
    await enqueue('one')
    for (const attempt of [1, 2]) {
      const worker = await startWorker({ ATTEMPTS: '2' })
      await prints(worker, `begin one ${attempt}`)
      worker.child.kill('SIGKILL')
      await worker.ended
    }
    work(undefined, { attempts: 2 })
    await until('failed')
    expect(await jobs.status(ONE)).to.deep.include({ attempts: 2, progress: 0 })
    expect(begun).to.deep.equal([])
  })

  it('distributes jobs among processes: each runs once, and several requests for the same job are one', async () => {
    const workers = await Promise.all([startWorker(), startWorker()])
    const ids = Array.from({ length: sized(20, 40) }, (_, i) => `job-${i}`)
    const elsewhere = open()
    await Promise.all(
      ids.flatMap((id) =>
        [jobs, elsewhere, jobs, elsewhere, jobs].map((each) =>
          each.enqueue({ kind: 'make', id, data: { ms: 60 } }),
        ),
      ),
    )
    for (const id of ids) await until('done', id)
    const ends = workers.map((worker) => worker.output().match(/^end job-\d+ 1$/gm) ?? [])
    for (const each of ends) expect(each.length).to.be.above(0)
    expect(ends.flat().sort()).to.deep.equal(ids.map((id) => `end ${id} 1`).sort())
    expect(workers.map((worker) => worker.output().match(/begin/g)?.length ?? 0)).to.deep.equal(
      ends.map(({ length }) => length),
    )
    await elsewhere.close({ graceMs: 0 })
  })

  itLong('shows the progress of a job in another process', async () => {
    const worker = await startWorker()
    await enqueue('one')
    await prints(worker, 'begin one 1')
    await eventually(async () =>
      expect(await jobs.status(ONE)).to.deep.equal({ state: 'running', attempts: 1, progress: 0.5 }),
    )
  })

  it('closes a process in the middle of a job, which another process runs at once, as its first attempt', async () => {
    const worker = await startWorker()
    await enqueue('one')
    await prints(worker, 'begin one 1')
    work()
    worker.child.kill('SIGTERM')
    // Nothing holds the process any more: it ends by itself.
    expect(await worker.ended).to.equal(0)
    expect(worker.output()).to.include('aborted one\nclosed')
    await until('done')
    expect(begun.map(({ attempt }) => attempt)).to.deep.equal([1])
  })

  it('stops a worker that lost its connection for too long before its job runs elsewhere, and ignores its result', async () => {
    const worker = await startWorker()
    await enqueue('one', 3000)
    await prints(worker, 'begin one 1')
    worker.child.kill('SIGSTOP')
    work()
    await until('done')
    worker.child.kill('SIGCONT')
    await prints(worker, 'aborted one')
    await pause(300)
    expect(await jobs.status(ONE)).to.deep.equal({ state: 'done', attempts: 2, progress: 1 })
    expect(worker.output()).not.to.include('end')
    await enqueue('two', 1)
    await until('done', 'two')
  })

  describe('while Redis is down', () => {
    before(() => {
      url = server.url
    })

    it('finishes a job when Redis is restarted in the middle, and runs it only once', async () => {
      jobs = open(8000)
      const { promise: ended, resolve: end } = deferred<void>()
      work(() => ended)
      await enqueue('one')
      await enqueue('two')
      await until('running')
      await server.stop()
      await pause(300)
      await server.start()
      end()
      await until('done')
      await until('done', 'two')
      expect(begun.map(({ id, attempt }) => [id, attempt])).to.deep.equal([
        ['one', 1],
        ['two', 1],
      ])
    })

    it('aborts a job whose lock cannot be renewed, and runs it again later', async () => {
      let isAborted = false
      work(async ({ attempt }, { signal }) => {
        if (attempt > 1 || begun.length > 1) return
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        isAborted = true
        throw new Error('ended')
      })
      await enqueue('one')
      // Redis has it as running before the handler is called: frozen in between, it would never be.
      await eventually(() => expect(begun).to.have.length(1))
      server.freeze()
      await eventually(() => expect(isAborted).to.equal(true))
      server.thaw()
      await until('done')
      expect(begun).to.have.length(2)
    })

    for (const [how, leave, comeBack] of [
      ['stopped', () => server.stop(), () => server.start()],
      ['frozen', async () => server.freeze(), async () => server.thaw()],
    ] as const) {
      const itTried = how === 'stopped' ? itLong : it
      itTried(`fails with 503 in time when Redis is ${how}, and continues when it is back`, async () => {
        work()
        await enqueue('zero')
        await until('done', 'zero')
        await leave()
        const refused = [
          enqueue('one'),
          jobs.status(ONE),
          jobs.enqueue({ kind: 'new', id: 'one', data: null }),
          jobs.status({ kind: 'newer', id: 'one' }),
        ]
        for (const error of await inTime('all', Promise.all(refused.map(rejection))))
          expect(error).to.include({ status: 503, code: 'unavailable' })
        await comeBack()
        await eventually(() => enqueue('two'))
        await until('done', 'two')
        await eventually(() => jobs.enqueue({ kind: 'new', id: 'one', data: null }))
        expect(await jobs.status({ kind: 'new', id: 'one' })).to.include({ state: 'waiting' })
      })

      itLong(
        `closes when Redis is ${how}, with a running job and after the process begins to exit`,
        async () => {
          const worker = await startWorker()
          await enqueue('one')
          await prints(worker, 'begin one 1')
          await leave()
          worker.child.kill('SIGTERM')
          expect(await worker.ended).to.equal(0)
          expect(worker.output()).to.match(/aborted one\nclosed\n$/)
        },
      )
    }

    itLong('begins to work when Redis becomes available after the start', async () => {
      await server.stop()
      jobs = open()
      work()
      expect(await rejection(enqueue('one'))).to.include({ status: 503 })
      await pause(300)
      await server.start()
      await eventually(() => enqueue('one'))
      await until('done')
    })

    it('closes at once when no job runs and Redis was never available', async () => {
      await server.stop()
      jobs = open()
      work()
      await jobs.close({ graceMs: 3_600_000 })
    })

    it('continues with an emptied Redis, which has lost its jobs', async () => {
      const ended: string[] = []
      const { promise: emptied, resolve: empty } = deferred<void>()
      work(async ({ id }) => {
        await emptied
        ended.push(id)
      })
      await enqueue('one')
      await enqueue('two')
      await until('running')
      await redis.client.flushall()
      empty()
      await eventually(() => expect(ended).to.deep.equal(['one']))
      expect(await state('two')).to.equal(undefined)
      await enqueue('three')
      await until('done', 'three')
    })
  })

  it('uses only its key prefix, and leaves no connection open', async () => {
    work()
    await enqueue('one')
    await until('done')
    await jobs.close({ graceMs: 0 })
    for (const key of await redis.client.keys('*')) expect(key).to.match(/^sluice:jobs:make:/)
    const connections = ((await redis.client.client('LIST')) as string).trim().split('\n')
    expect(connections).to.have.length(1)
  })

  it('closes the workers of many kinds at the same time, busy or not', async () => {
    const kinds = Array.from({ length: sized(4, 8) }, (_, i) => `make-${i}`)
    let busy = 0
    const handler = async () => {
      busy += 1
      await pause(300)
    }
    for (const kind of kinds) jobs.work(kind, handler, WORK)
    const busyKinds = kinds.slice(kinds.length / 2)
    for (const kind of busyKinds) await jobs.enqueue({ kind, id: 'one', data: null })
    await eventually(() => expect(busy).to.equal(busyKinds.length))
    await jobs.close({ graceMs: 3_600_000 })
    jobs = open()
    for (const kind of busyKinds) expect(await jobs.status({ kind, id: 'one' })).to.include({ state: 'done' })
  })

  it('logs no password when Redis refuses its worker', async () => {
    const url = server.url.replace('//', '//worker:the-hidden-word@')
    const refused = connectRedis({ url, log })
    const others = bullmqJobs({ redis: refused, keyPrefix, log, takeOverMs: 2000 })
    try {
      others.work('make', async () => {}, WORK)
      await eventually(() =>
        expect(log.lines.map(({ message }) => message)).to.include('the worker has a Redis error'),
      )
      expect(inspect(log.lines, { depth: 10 }))
        .to.include('WRONGPASS')
        .and.not.include('the-hidden-word')
    } finally {
      await others.close({ graceMs: 0 })
      await refused.close()
    }
  })

  itLong('logs a connection problem once, not with every attempt', async () => {
    work()
    await until(undefined)
    await server.stop()
    await pause(2500)
    await server.start()
    await enqueue('one').catch(() => {})
    const lines = log.lines.filter(({ message }) => message.includes('the worker has a Redis error'))
    expect(lines.length).to.be.within(1, 3)
  })
})
