import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type AttemptOptions, runAttempt } from '../../../src/adapters/jobs/attempt.ts'
import type { JobRun } from '../../../src/core/ports/jobs.ts'
import { currentRequest, inRequest } from '../../../src/core/request-context.ts'
import { eventually } from '../../support/eventually.ts'
import { type RecordedLog, recordLog } from '../../support/service.ts'

const JOB = { kind: 'make', id: 'one', data: null, attempt: 1 }

describe('an attempt of a job', () => {
  let log: RecordedLog
  let told: number[]
  let stop: AbortController
  let options: AttemptOptions

  beforeEach(() => {
    log = recordLog()
    told = []
    stop = new AbortController()
    options = {
      work: { concurrency: 1, limitMs: 40, attempts: 3, retryMs: 100, retryMaxMs: 1000 },
      stop: stop.signal,
      onProgress: (fraction) => told.push(fraction),
      log,
      settleMs: 60,
    }
  })

  it('belongs to no request, although one has woken the queue', async () => {
    let seen: unknown = 'not called'
    const handler = async () => {
      seen = currentRequest()
    }
    await inRequest({ requestId: 'one' }, () => runAttempt(JOB, handler, options))
    expect(seen).to.equal(undefined)
  })

  it('ends soon after its time limit, even when the handler ignores the signal, and ignores its later result', async () => {
    let run: JobRun | undefined
    let end: () => void = () => {}
    const since = Date.now()
    const outcome = await runAttempt(
      JOB,
      async (_, given) => {
        run = given
        await new Promise<void>((_resolve, reject) => {
          end = () => reject(new Error('at last'))
        })
      },
      options,
    )
    expect(Date.now() - since).to.be.at.least(95)
    expect(outcome).to.include({ next: 'retry' })
    expect(log.lines.filter(({ level }) => level === 'error')).to.have.length(1)
    run?.progress(0.5)
    end()
    await pause(20)
    expect(told).to.deep.equal([])
    expect(log.lines).to.have.length(2)
  })

  it('is put back soon after it is stopped, even when the handler ignores the signal', async () => {
    const since = Date.now()
    const going = runAttempt(JOB, () => new Promise(() => {}), {
      ...options,
      work: { ...options.work, limitMs: 3_600_000 },
    })
    await pause(10)
    stop.abort()
    expect(await going).to.deep.equal({ next: 'putBack' })
    expect(Date.now() - since).to.be.at.least(65)
  })

  it('does not begin when it was already stopped, or when its process has died too often', async () => {
    let called = false
    const handler = async () => {
      called = true
    }
    expect(await runAttempt({ ...JOB, attempt: 4 }, handler, options)).to.include({ next: 'failed' })
    stop.abort()
    expect(await runAttempt(JOB, handler, options)).to.deep.equal({ next: 'putBack' })
    expect(called).to.equal(false)
  })

  it('is put back when it is stopped after its time limit', async () => {
    const going = runAttempt(JOB, () => pause(80).then(() => Promise.reject(new Error('late'))), options)
    await pause(60)
    stop.abort()
    expect(await going).to.deep.equal({ next: 'putBack' })
  })

  it('reports each hundredth of its progress once', async () => {
    await runAttempt(
      JOB,
      async (_, { progress }) => {
        for (let i = 0; i <= 1000; i += 1) progress(i / 1000)
      },
      options,
    )
    expect(told).to.deep.equal(Array.from({ length: 100 }, (_, i) => (i + 1) / 100))
  })

  it('runs many at a time without a warning about leaking listeners', async () => {
    const warned: Error[] = []
    const warn = (warning: Error) => warned.push(warning)
    process.on('warning', warn)
    const many = Array.from({ length: 20 }, () => runAttempt(JOB, () => pause(10), options))
    await Promise.all(many)
    await pause(1)
    process.off('warning', warn)
    expect(warned).to.deep.equal([])
  })

  it('leaves no timer and no listener', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    // Mocha's own stands from the first wait on.
    await pause(1)
    const before = timers()
    let listeners = 0
    const counted = stop.signal
    const { addEventListener, removeEventListener } = counted
    counted.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1
      addEventListener.apply(counted, args)
    }
    counted.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1
      removeEventListener.apply(counted, args)
    }
    const work = { ...options.work, limitMs: 60_000 }
    for (let i = 0; i < 5; i += 1) await runAttempt(JOB, async () => {}, { ...options, work })
    await runAttempt(JOB, () => pause(50), options)
    await eventually(() => expect(timers()).to.equal(before))
    expect(listeners).to.equal(0)
  })
})
