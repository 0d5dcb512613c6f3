import { expect } from 'chai'
import type { JobHandler, JobOwner, Jobs } from '../../../src/core/ports/jobs.ts'
import { eventually } from '../../support/eventually.ts'

/** What the tests of {@link jobTurns} work with, as `jobsContract` has it. */
interface Opened {
  jobs: Jobs
  elsewhere: Jobs
  restart(): Promise<void>
  work(handler?: JobHandler<unknown>): void
  begunIds(): string[]
}

const KIND = 'make'

/** The turns of jobs that have an owner: part of the contract of Jobs. */
export function jobTurns(opened: () => Opened): void {
  describe('turns of job owners', () => {
    /** Adds jobs that are named by their owner and a number: `ann 1`, and `ann/1.2.3.4 1` for a stranger. */
    async function add(who: string, count = 1): Promise<void> {
      const { elsewhere, jobs } = opened()
      for (let i = 1; i <= count; i += 1)
        await (i % 2 === 0 ? jobs : elsewhere).enqueue({
          kind: KIND,
          id: `${who} ${i}`,
          owner: ownerOf(who),
          data: null,
        })
    }

    async function orderOf(count: number): Promise<string[]> {
      await eventually(() => expect(opened().begunIds()).to.have.length(count))
      return opened().begunIds()
    }

    it('let a client with one job go next, not after all jobs of another client', async () => {
      let end: () => void = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      opened().work(() => ended)
      await add('ann', 6)
      await orderOf(1)
      await add('bob')
      end()
      expect((await orderOf(7)).slice(0, 3)).to.deep.equal(['ann 1', 'bob 1', 'ann 2'])
    })

    it('alternate between clients, each in its own order', async () => {
      await add('ann', 3)
      await add('bob', 2)
      await add('cleo')
      opened().work()
      const order = ['ann 1', 'bob 1', 'cleo 1', 'ann 2', 'bob 2', 'ann 3']
      expect(await orderOf(6)).to.deep.equal(order)
    })

    it('put trusted callers of a client before strangers, who have every fourth turn', async () => {
      await add('ann/1.1.1.1', 2)
      await add('ann', 5)
      opened().work()
      const order = ['ann 1', 'ann 2', 'ann 3', 'ann/1.1.1.1 1', 'ann 4', 'ann 5', 'ann/1.1.1.1 2']
      expect(await orderOf(7)).to.deep.equal(order)
    })

    it('alternate between addresses, which share the turns of one client', async () => {
      await add('ann/1.1.1.1', 3)
      await add('ann/2.2.2.2', 2)
      await add('bob', 2)
      opened().work()
      const order = [
        ...['ann/1.1.1.1 1', 'bob 1', 'ann/2.2.2.2 1', 'bob 2'],
        ...['ann/1.1.1.1 2', 'ann/2.2.2.2 2', 'ann/1.1.1.1 3'],
      ]
      expect(await orderOf(7)).to.deep.equal(order)
    })

    it('give many addresses of one client no more turns than the client has', async () => {
      for (let i = 1; i <= 10; i += 1) await add(`ann/1.1.1.${i}`)
      await add('bob')
      opened().work()
      expect((await orderOf(11)).slice(0, 2)).to.deep.equal(['ann/1.1.1.1 1', 'bob 1'])
    })

    it('persist over a restart', async () => {
      await add('ann', 3)
      await add('bob')
      await opened().restart()
      opened().work()
      expect(await orderOf(4)).to.deep.equal(['ann 1', 'bob 1', 'ann 2', 'ann 3'])
    })

    it('reach every job, including delayed and retried ones', async () => {
      const failed = new Set<string>()
      opened().work(async ({ id }) => {
        if (failed.has(id)) return
        failed.add(id)
        throw new Error('for now')
      })
      await add('ann', 4)
      await add('ann/1.1.1.1', 2)
      await add('bob', 2)
      await orderOf(16)
    })

    it('count all jobs of the kind, in any waiting state', async () => {
      await add('ann', 2)
      await opened().elsewhere.enqueue({
        kind: KIND,
        id: 'late',
        data: null,
        delayMs: 60_000,
        owner: { client: 'ann' },
      })
      await opened().elsewhere.enqueue({ kind: KIND, id: 'plain', data: null })
      expect(await opened().elsewhere.counts(KIND)).to.deep.equal({ waiting: 4, running: 0 })
      opened().work(() => new Promise(() => {}))
      await orderOf(1)
      expect(await opened().elsewhere.counts(KIND)).to.deep.equal({ waiting: 3, running: 1 })
    })

    it('count the jobs of all strangers, and of one of them', async () => {
      await add('ann', 2)
      await add('ann/1.1.1.1', 3)
      await add('ann/2.2.2.2')
      await add('bob/1.1.1.1')
      const openOf = (who: string) => opened().elsewhere.openOf(KIND, ownerOf(who))
      expect(await openOf('ann')).to.deep.equal({ all: 6, anonymous: 4, sameAddress: 0 })
      expect(await openOf('ann/1.1.1.1')).to.deep.equal({ all: 6, anonymous: 4, sameAddress: 3 })
      expect(await openOf('cleo/1.1.1.1')).to.deep.equal({ all: 0, anonymous: 0, sameAddress: 0 })
    })
  })
}

function ownerOf(who: string): JobOwner {
  const [client = '', stranger] = who.split('/')
  return { client, ...(stranger === undefined ? {} : { stranger }) }
}
