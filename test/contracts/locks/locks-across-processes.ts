import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Locks } from '../../../src/core/ports/locks.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { itLong } from '../../support/sized.ts'

/** The locks of one process. */
export interface ProcessLocks {
  locks: Locks
  /** Cuts them off from all others without a word, as a kill does. */
  die(): Promise<void>
}

// Longer than any test runs.
const limitMs = 30_000

/**
 * What {@link Locks} that several processes share have to do beyond the contract of one and two.
 *
 * @param open starts as many processes' locks as asked, on one store
 * @param leaseMs of their holders
 * @param settleMs how long a caller may take to join, and a message to reach all processes
 */
export function locksAcrossProcesses(
  name: string,
  open: (count: number) => Promise<{ processes: ProcessLocks[]; close(): Promise<void> }>,
  { leaseMs, settleMs }: { leaseMs: number; settleMs: number },
): void {
  describe(`${name}: Locks across processes`, () => {
    let processes: ProcessLocks[]
    let close: () => Promise<void>
    let key: string

    beforeEach(async () => {
      const opened = await open(4)
      processes = opened.processes
      close = opened.close
      key = `derive client ${Math.random()} a/image/png/1.png_w=1`
    })
    afterEach(() => close())

    // Until the message that a caller waits has arrived; well below a lease.
    const soonMs = leaseMs / 2
    const settled = () => pause(settleMs)
    const never = async (): Promise<never> => {
      throw new Error('this work was not to be done')
    }
    const of = (number: number) => (processes[number] as ProcessLocks).locks
    const die = (number: number) => (processes[number] as ProcessLocks).die()

    /** Work that ends when the test settles it. */
    function work() {
      let signal: AbortSignal | undefined
      let end: (result: string) => void = () => {}
      let runs = 0
      const ended = new Promise<string>((resolve) => {
        end = resolve
      })
      return {
        do: (given: AbortSignal) => {
          signal = given
          runs += 1
          return ended
        },
        begun: () => eventually(() => expect(runs).to.equal(1)),
        aborted: () => signal?.aborted,
        reason: () => signal?.reason,
        runs: () => runs,
        end: (result: string) => end(result),
      }
    }

    /** A caller who can leave. */
    function caller(number: number, does: (signal: AbortSignal) => Promise<string>) {
      const patience = new AbortController()
      const outcome = of(number).share(key, does, { limitMs, signal: patience.signal })
      outcome.catch(() => {})
      return { outcome, leave: () => patience.abort(new Error('left')) }
    }

    it('run the work once for 100 callers in four processes', async () => {
      let runs = 0
      const does = async () => {
        runs += 1
        await pause(4 * settleMs)
        return `result ${runs}`
      }
      const asked = Array.from({ length: 100 }, (_, i) => of(i % 4).share(key, does, { limitMs }))
      expect(new Set(await Promise.all(asked))).to.deep.equal(new Set(['result 1']))
      expect(runs).to.equal(1)
    })

    it('fail once for 100 callers in four processes', async () => {
      let runs = 0
      const does = async (): Promise<string> => {
        runs += 1
        await pause(4 * settleMs)
        throw new Problem({ status: 422, code: 'not_transformable', detail: `broken ${runs}` })
      }
      const asked = Array.from({ length: 100 }, (_, i) => of(i % 4).share(key, does, { limitMs }))
      for (const failure of await Promise.all(asked.map(rejection)))
        expect(failure).to.include({ status: 422, code: 'not_transformable', message: 'broken 1' })
      expect(runs).to.equal(1)
    })

    it('reject a result that cannot be serialised', async () => {
      const circular: { self?: unknown } = {}
      circular.self = circular
      const first = of(0).share(
        key,
        async () => {
          await pause(4 * settleMs)
          return circular
        },
        { limitMs },
      )
      await settled()
      const second = of(1).share(key, never, { limitMs })
      for (const failure of await Promise.all([first, second].map(rejection)))
        expect(failure).to.be.instanceOf(Error).with.property('message').that.includes('circular')
    })

    itLong(
      'continue for callers in other processes when all callers of the holder have left, longer than a lease',
      async () => {
        const one = work()
        const first = [caller(0, one.do), caller(0, never)]
        await one.begun()
        const others = [1, 2, 3].map((number) => caller(number, never))
        await settled()
        for (const each of first) each.leave()
        for (const each of first) expect(await rejection(each.outcome)).to.have.property('message', 'left')
        await pause(leaseMs + settleMs)
        expect(one.aborted()).to.equal(false)
        one.end('done')
        for (const each of others) expect(await each.outcome).to.equal('done')
      },
    )

    it('abort the work when the last caller of all leaves, in any process', async () => {
      const one = work()
      const callers = [caller(0, one.do), ...[1, 2, 3].map((number) => caller(number, never))]
      await one.begun()
      await settled()
      for (const each of callers) {
        expect(one.aborted()).to.equal(false)
        each.leave()
        await settled()
      }
      await eventually(() => expect(one.aborted()).to.equal(true), { withinMs: soonMs })
      one.end('too late')
      expect(await of(1).share(key, async () => 'anew', { limitMs })).to.equal('anew')
    })

    it('continue for a caller that joins the holder when the others have left', async () => {
      const one = work()
      const first = caller(0, one.do)
      await one.begun()
      const elsewhere = caller(1, never)
      await settled()
      first.leave()
      await settled()
      const late = caller(0, never)
      elsewhere.leave()
      await settled()
      expect(one.aborted()).to.equal(false)
      one.end('done')
      expect(await late.outcome).to.equal('done')
    })

    it('do not wait for a dead caller of another process once its place expires', async () => {
      const one = work()
      const first = caller(0, one.do)
      await one.begun()
      caller(1, never)
      await settled()
      await die(1)
      first.leave()
      await settled()
      expect(one.aborted(), 'it may still live').to.equal(false)
      await eventually(() => expect(one.aborted()).to.equal(true), { withinMs: 2 * leaseMs + soonMs })
      one.end('too late')
    })

    itLong('do not wait for a dead caller when all others have left after it', async () => {
      const one = work()
      const callers = [caller(0, one.do), caller(2, never)]
      await one.begun()
      caller(1, never)
      await settled()
      await die(1)
      await pause(leaseMs + settleMs)
      for (const each of callers) each.leave()
      await eventually(() => expect(one.aborted()).to.equal(true), { withinMs: soonMs })
      one.end('too late')
    })

    it('pass to a waiting caller when the holder dies, within its lease', async () => {
      const [dead, next] = [work(), work()]
      const lost = caller(0, dead.do)
      await dead.begun()
      const others = [1, 2, 3].map((number) => caller(number, next.do))
      await settled()
      const died = Date.now()
      await die(0)
      await eventually(() => expect(next.runs()).to.equal(1), { withinMs: leaseMs + soonMs })
      expect(Date.now() - died).to.be.at.least(leaseMs / 2)
      await settled()
      next.end('taken over')
      for (const each of others) expect(await each.outcome).to.equal('taken over')
      expect(next.runs()).to.equal(1)
      dead.end('of the dead')
      await lost.outcome.catch(() => {})
    })

    it('are free for a new caller when the lease of a dead holder has expired', async () => {
      const dead = work()
      caller(0, dead.do)
      await dead.begun()
      await die(0)
      await pause(leaseMs)
      expect(await of(1).share(key, async () => 'anew', { limitMs })).to.equal('anew')
      dead.end('of the dead')
    })

    it('abort the work of a holder that was disconnected for a lease, and hide its late result', async () => {
      const [cut, next] = [work(), work()]
      const lost = caller(0, cut.do)
      await cut.begun()
      const other = caller(1, next.do)
      await settled()
      await die(0)
      const failure = (await rejection(lost.outcome)) as Problem
      expect(failure).to.be.instanceOf(Problem).with.property('status', 503)
      expect(cut.reason()).to.equal(failure)
      await eventually(() => expect(next.runs()).to.equal(1))
      cut.end('of the old holder')
      const late = caller(2, never)
      await settled()
      next.end('of the new holder')
      expect(await other.outcome).to.equal('of the new holder')
      expect(await late.outcome).to.equal('of the new holder')
    })

    itLong(
      'report the timeout to other processes at once, and begin again only after the work has ended',
      async () => {
        const old = work()
        const first = of(0).share(key, old.do, { limitMs: 4 * settleMs })
        first.catch(() => {})
        await old.begun()
        const waiting = caller(1, never)
        expect(await rejection(waiting.outcome))
          .to.be.instanceOf(Problem)
          .with.property('status', 503)
        const order: string[] = []
        const next = [1, 2, 3].map((number) =>
          caller(number, async () => {
            order.push('new')
            return 'new'
          }),
        )
        // Longer than the lease: the lock of work that continues is still renewed.
        await pause(leaseMs + settleMs)
        order.push('old ends')
        old.end('too late')
        for (const each of next) expect(await each.outcome).to.equal('new')
        expect(order.slice(0, 2)).to.deep.equal(['old ends', 'new'])
      },
    )

    it('never run the work twice at a time, and answer every caller, while processes die', async function () {
      this.timeout(40_000)
      const dead = new Set<number>()
      const working = new Map<string, Set<number>>()
      let most = 0
      const does = (one: string, number: number) => async () => {
        const holders = working.get(one) ?? new Set()
        working.set(one, holders.add(number))
        // The results of a dead process are ignored.
        most = Math.max(most, [...holders].filter((each) => !dead.has(each)).length)
        await pause(5)
        holders.delete(number)
        return `by ${number}`
      }
      const answers: Array<Promise<unknown>> = []
      for (let round = 0; round < 60; round += 1) {
        for (const number of [0, 1, 2, 3].filter((each) => !dead.has(each))) {
          const one = `${key} ${round % 2}`
          const outcome = of(number).share(one, does(one, number), { limitMs })
          answers.push(outcome.catch((error) => dead.has(number) && error instanceof Problem))
        }
        await pause(3)
        if (round === 20 || round === 40) {
          dead.add(round / 20)
          await die(round / 20)
        }
      }
      for (const answer of await Promise.all(answers))
        expect(answer).to.satisfy((one: unknown) => one === true || /^by \d$/.test(String(one)))
      expect(most).to.equal(1)
    })
  })
}
