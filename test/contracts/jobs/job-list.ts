import { expect } from 'chai'
import type { Retention } from '../../../src/adapters/jobs/rules.ts'
import {
  type JobHandler,
  type JobQuery,
  JobRemoved,
  type JobStatus,
  type Jobs,
} from '../../../src/core/ports/jobs.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'
import { eventually } from '../../support/eventually.ts'

/** What the tests of {@link jobList} work with, as `jobsContract` has it. */
interface Opened {
  jobs: Jobs
  elsewhere: Jobs
  restart(options?: { keep?: Retention }): Promise<void>
  work(handler?: JobHandler<unknown>): void
}

const KIND = 'make'
const OF_ANN = { kind: KIND, client: 'ann', limit: 100 }

/** Lists and removals of jobs: part of the contract of Jobs. */
export function jobList(opened: () => Opened): void {
  const add = (id: string, client = 'ann', data: unknown = { of: id }) =>
    opened().elsewhere.enqueue({ kind: KIND, id, data, owner: { client } })
  const list = (query: Partial<JobQuery> = {}) => opened().elsewhere.list({ ...OF_ANN, ...query })
  const idsOf = async (query?: Partial<JobQuery>) => (await list(query)).map(({ id }) => id)
  const stateOf = async (id: string) => (await opened().elsewhere.status({ kind: KIND, id }))?.state
  const until = (id: string, state: JobStatus['state'] | undefined) =>
    eventually(async () => expect(await stateOf(id), id).to.equal(state))
  /** Jobs of one millisecond have no defined order. */
  async function nextMillisecond(): Promise<void> {
    for (const now = Date.now(); Date.now() === now; ) await new Promise((done) => setTimeout(done, 1))
  }

  describe('the list of jobs of a client', () => {
    it('has all states, the newest first, also after a restart', async () => {
      const since = Date.now()
      for (const id of ['done', 'failed', 'of bob']) {
        await add(id, id === 'of bob' ? 'bob' : 'ann')
        await nextMillisecond()
      }
      await opened().elsewhere.enqueue({ kind: KIND, id: 'of no client', data: null })
      await opened().elsewhere.enqueue({ kind: 'other', id: 'other', data: null, owner: { client: 'ann' } })
      opened().work(async ({ id }) => {
        if (id === 'failed') throw notTransformable('broken')
      })
      for (const id of ['done', 'of bob', 'of no client']) await until(id, 'done')
      await until('failed', 'failed')
      await opened().restart()
      await add('waiting')
      const check = async () => {
        const jobs = await list()
        expect(jobs.map(({ id, status: { state } }) => [id, state])).to.deep.equal([
          ['waiting', 'waiting'],
          ['failed', 'failed'],
          ['done', 'done'],
        ])
        for (const { createdAt, endedAt, status } of jobs) {
          expect(createdAt).to.be.within(since, Date.now())
          if (status.state === 'waiting') expect(endedAt).to.equal(undefined)
          else expect(endedAt).to.be.within(createdAt, Date.now())
        }
        expect(jobs[1]?.status).to.have.nested.property('failure.code', 'not_transformable')
      }
      await check()
      await opened().restart()
      await check()
      expect(await idsOf({ state: 'failed' })).to.deep.equal(['failed'])
      expect(await idsOf({ state: 'running' })).to.deep.equal([])
      expect(await idsOf({ client: 'bob' })).to.deep.equal(['of bob'])
      expect(await idsOf({ client: 'nobody' })).to.deep.equal([])
    })

    it('has each job once on its pages, also when jobs are added and removed in between', async () => {
      const ids = Array.from({ length: 7 }, (_, i) => `job ${i}`)
      for (const id of ids) {
        await add(id)
        await nextMillisecond()
      }
      const seen: string[] = []
      let after: JobQuery['after']
      for (let page = 0; page < 10; page += 1) {
        const jobs = await list({ limit: 2, after })
        if (jobs.length === 0) break
        seen.push(...jobs.map(({ id }) => id))
        after = jobs.at(-1)
        if (page === 0) await add('newer')
        // The last job of the previous page does not exist any more.
        if (page === 1) await opened().jobs.remove({ kind: KIND, id: seen.at(-1) as string })
      }
      expect(seen).to.deep.equal([...ids].reverse())
    })

    it('leaves out jobs that ended too long ago', async () => {
      const keep = { doneMs: 1, doneCount: 10, failedMs: 60_000, failedCount: 10 }
      await opened().restart({ keep })
      opened().work()
      await add('done')
      await eventually(async () => expect(await idsOf()).to.deep.equal([]))
    })

    it('finds a job with its data', async () => {
      await add('one')
      const found = await opened().elsewhere.find({ kind: KIND, id: 'one' })
      expect(found).to.deep.include({ id: 'one', data: { of: 'one' } })
      opened().work(() => Promise.reject(notTransformable('broken')))
      await until('one', 'failed')
      expect(await opened().elsewhere.find({ kind: KIND, id: 'one' })).to.deep.include({
        data: { of: 'one' },
      })
      expect(await opened().elsewhere.find({ kind: KIND, id: 'two' })).to.equal(undefined)
    })
  })

  describe('a removed job', () => {
    it('never begins when it has waited, and can be added again', async () => {
      const begun: string[] = []
      await add('one')
      await add('two')
      const removed = await opened().elsewhere.remove({ kind: KIND, id: 'one' })
      expect(removed).to.deep.include({ id: 'one', data: { of: 'one' } })
      expect(removed?.status.state).to.equal('waiting')
      expect(await idsOf()).to.deep.equal(['two'])
      expect((await opened().elsewhere.openOf(KIND, { client: 'ann' })).all).to.equal(1)
      opened().work(async ({ id }) => void begun.push(id))
      await until('two', 'done')
      expect([await stateOf('one'), begun]).to.deep.equal([undefined, ['two']])
      await add('one')
      await until('one', 'done')
      expect(begun).to.deep.equal(['two', 'one'])
    })

    it('is not there after a restart', async () => {
      await add('one')
      await opened().elsewhere.remove({ kind: KIND, id: 'one' })
      await opened().restart()
      expect([await stateOf('one'), await idsOf()]).to.deep.equal([undefined, []])
    })

    it('is aborted when it runs, not retried, and runs again when it is added again', async () => {
      const reasons: unknown[] = []
      let runs = 0
      opened().work(async (_, { signal }) => {
        runs += 1
        if (runs > 1) return
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
        })
      })
      await add('one')
      await eventually(() => expect(runs).to.equal(1))
      const removed = await opened().elsewhere.remove({ kind: KIND, id: 'one' })
      expect(removed?.status.state).to.equal('running')
      await until('one', undefined)
      expect(reasons).to.have.length(1)
      expect(reasons[0]).to.be.instanceOf(JobRemoved)
      expect(await idsOf()).to.deep.equal([])
      await add('one')
      await until('one', 'done')
      expect(runs).to.equal(2)
    })

    it('is forgotten when it has failed, so that it begins again', async () => {
      let fails = true
      opened().work(async () => {
        if (fails) throw notTransformable('broken')
      })
      await add('one')
      await until('one', 'failed')
      fails = false
      await add('one')
      expect(await stateOf('one')).to.equal('failed')
      expect((await opened().elsewhere.remove({ kind: KIND, id: 'one' }))?.status.state).to.equal('failed')
      await add('one')
      await until('one', 'done')
    })

    it('begins again after its failure by one request of several, and a running one is not disturbed', async () => {
      let runs = 0
      let end = () => {}
      opened().work(async (_, { signal }) => {
        runs += 1
        if (runs === 1) throw notTransformable('broken')
        await new Promise<void>((resolve, reject) => {
          end = resolve
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      })
      await add('one')
      await until('one', 'failed')
      const again = () =>
        opened().elsewhere.enqueue({ kind: KIND, id: 'one', data: 2, owner: { client: 'ann' }, again: true })
      await Promise.all([again(), again(), again()])
      await eventually(() => expect(runs).to.equal(2))
      await again()
      expect(await stateOf('one')).to.equal('running')
      expect(await idsOf()).to.deep.equal(['one'])
      end()
      await until('one', 'done')
      expect(runs).to.equal(2)
    })

    it('is undefined when there is no such job', async () => {
      expect(await opened().elsewhere.remove({ kind: KIND, id: 'one' })).to.equal(undefined)
    })
  })
}
