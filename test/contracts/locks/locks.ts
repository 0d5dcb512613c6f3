import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Locks } from '../../../src/core/ports/locks.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { seededRandom } from '../random.ts'

export interface OpenedLocks {
  locks: Locks
  /** The same locks as another process sees them; where there is only one process, `locks` itself. */
  elsewhere: Locks
  /** Resolves when a caller of `elsewhere` waits for this key; at once where there is only one process. */
  waits(key: string): Promise<void>
  close(): Promise<void>
}

/** Longer than any test runs. */
const limitMs = 30_000

/** Work whose beginning and end the test decides. */
function piece<T = string>() {
  let begin: (signal: AbortSignal) => void = () => {}
  let succeed: (value: T) => void = () => {}
  let fail: (reason: unknown) => void = () => {}
  const begun = new Promise<AbortSignal>((resolve) => {
    begin = resolve
  })
  const outcome = new Promise<T>((resolve, reject) => {
    succeed = resolve
    fail = reject
  })
  // By then, no caller may be waiting for it.
  outcome.catch(() => {})
  let runs = 0
  const work = (signal: AbortSignal) => {
    runs += 1
    begin(signal)
    return outcome
  }
  return { work, begun, succeed, fail, runs: () => runs }
}

/** What every {@link Locks} has to do, seen through the port alone. */
export function locksContract(name: string, open: () => Promise<OpenedLocks>): void {
  describe(`${name}: the contract of Locks`, () => {
    let opened: OpenedLocks
    let locks: Locks
    let elsewhere: Locks
    let key: string
    let keys = 0

    before(async () => {
      opened = await open()
      locks = opened.locks
      elsewhere = opened.elsewhere
    })
    after(() => opened.close())
    beforeEach(() => {
      keys += 1
      key = `derive client ${keys} a/image/png/1.png_w=1`
    })

    /** A wrong abort would come in this time. */
    const quiet = () => pause(20)
    const never = async (): Promise<never> => {
      throw new Error('this work was not to be done')
    }

    describe('one at a time', () => {
      it('runs the work and returns its result', async () => {
        for (const result of ['text', 0, null, { a: [1, { b: 'ü' }] }])
          expect(await locks.share(key, async () => result, { limitMs })).to.deep.equal(result)
        expect(await locks.share(key, async () => {}, { limitMs })).to.equal(undefined)
      })

      it('runs the work once for concurrent callers, and gives all of them its result', async () => {
        const first = piece()
        const asked = [locks.share(key, first.work, { limitMs })]
        await first.begun
        for (let i = 0; i < 49; i += 1)
          asked.push((i % 2 === 0 ? elsewhere : locks).share(key, never, { limitMs }))
        await opened.waits(key)
        first.succeed('done')
        expect(await Promise.all(asked)).to.deep.equal(asked.map(() => 'done'))
        expect(first.runs()).to.equal(1)
      })

      it('gives all waiting callers its error, with everything public in it', async () => {
        const first = piece()
        const asked = [locks.share(key, first.work, { limitMs })]
        await first.begun
        for (let i = 0; i < 20; i += 1)
          asked.push((i % 2 === 0 ? elsewhere : locks).share(key, never, { limitMs }))
        const failures = Promise.all(asked.map(rejection))
        await opened.waits(key)
        first.fail(
          new Problem({
            status: 422,
            code: 'not_transformable',
            detail: 'the picture is broken',
            members: { param: 'w' },
            headers: { Allow: 'GET' },
          }),
        )
        for (const failure of await failures) {
          expect(failure).to.be.instanceOf(Problem)
          const { status, code, message, members, headers } = failure as Problem
          expect({ status, code, message, members, headers }).to.deep.equal({
            status: 422,
            code: 'not_transformable',
            message: 'the picture is broken',
            members: { param: 'w' },
            headers: { Allow: 'GET' },
          })
        }
      })

      it('gives all waiting callers an error that is not a Problem, and one that is thrown synchronously', async () => {
        const first = piece()
        const asked = [locks.share(key, first.work, { limitMs })]
        await first.begun
        asked.push(elsewhere.share(key, never, { limitMs }))
        const failures = Promise.all(asked.map(rejection))
        await opened.waits(key)
        first.fail(new TypeError('boom'))
        for (const failure of await failures)
          expect(failure).to.be.instanceOf(Error).with.property('message', 'boom')
        const atOnce = locks.share(
          key,
          () => {
            throw new Error('at once')
          },
          { limitMs },
        )
        expect(await rejection(atOnce)).to.have.property('message', 'at once')
      })

      it('runs work under different names in parallel', async () => {
        const [first, second] = [piece(), piece()]
        const asked = [
          locks.share(key, first.work, { limitMs }),
          elsewhere.share(`${key}0`, second.work, { limitMs }),
        ]
        await Promise.all([first.begun, second.begun])
        second.succeed('second')
        expect(await asked[1]).to.equal('second')
        first.succeed('first')
        expect(await asked[0]).to.equal('first')
      })

      it('never runs work twice at a time under one name, however callers join and leave', async () => {
        const random = seededRandom(3)
        const working = new Map<string, number>()
        let runs = 0
        let most = 0
        const outcomes = await Promise.all(
          Array.from({ length: 300 }, async (_, i) => {
            const one = `${key} ${random.below(4)}`
            const work = async () => {
              runs += 1
              working.set(one, (working.get(one) ?? 0) + 1)
              most = Math.max(most, working.get(one) ?? 0)
              await pause(random.below(4))
              working.set(one, (working.get(one) ?? 0) - 1)
              if (random.below(4) === 0) throw new Error(`failed ${one}`)
              return one
            }
            const leaves = random.below(3) === 0 ? AbortSignal.timeout(random.below(20)) : undefined
            await pause(random.below(40))
            return (i % 2 === 0 ? locks : elsewhere)
              .share(one, work, { limitMs, ...(leaves ? { signal: leaves } : {}) })
              .then(
                (result) => result === one,
                (error: Error) => error.message === `failed ${one}` || error === leaves?.reason,
              )
          }),
        )
        expect(outcomes).to.not.include(false)
        expect(most).to.equal(1)
        expect(runs).to.be.within(4, 299)
      })
    })

    describe('after the end', () => {
      it('runs again for a new caller, after a result', async () => {
        expect(await locks.share(key, async () => 'first', { limitMs })).to.equal('first')
        expect(await locks.share(key, async () => 'second', { limitMs })).to.equal('second')
        expect(await elsewhere.share(key, async () => 'third', { limitMs })).to.equal('third')
      })

      it('runs again for a new caller, after an error', async () => {
        const broken = locks.share(
          key,
          async () => {
            throw new Error('first')
          },
          { limitMs },
        )
        expect(await rejection(broken)).to.have.property('message', 'first')
        expect(await elsewhere.share(key, async () => 'second', { limitMs })).to.equal('second')
      })

      it('runs again for each caller that has waited, and checks again', async () => {
        const first = piece()
        const asked = [locks, elsewhere, locks].map((one) => one.share(key, first.work, { limitMs }))
        await first.begun
        await opened.waits(key)
        first.succeed('first')
        let runs = 0
        const again = await Promise.all(
          asked.map(async (answer, i) => {
            await answer
            return (i === 1 ? elsewhere : locks).share(
              key,
              async () => {
                runs += 1
                return 'second'
              },
              { limitMs },
            )
          }),
        )
        expect(again).to.deep.equal(['second', 'second', 'second'])
        expect(runs).to.be.at.least(1)
      })
    })

    describe('leaving callers', () => {
      it('do not stop the work when the first one leaves: it continues for the others', async () => {
        const first = piece()
        const patience = new AbortController()
        const asked = locks.share(key, first.work, { limitMs, signal: patience.signal })
        const signal = await first.begun
        const others = [locks, elsewhere].map((one) => one.share(key, never, { limitMs }))
        await opened.waits(key)
        const reason = new Error('the client has left')
        patience.abort(reason)
        expect(await rejection(asked)).to.equal(reason)
        await quiet()
        expect(signal.aborted).to.equal(false)
        first.succeed('done')
        expect(await Promise.all(others)).to.deep.equal(['done', 'done'])
      })

      it('may be those that wait', async () => {
        const first = piece()
        const asked = locks.share(key, first.work, { limitMs })
        const signal = await first.begun
        for (const one of [locks, elsewhere]) {
          const patience = new AbortController()
          const waiting = rejection(one.share(key, never, { limitMs, signal: patience.signal }))
          if (one === elsewhere) await opened.waits(key)
          patience.abort(new Error('no patience'))
          expect(await waiting).to.have.property('message', 'no patience')
        }
        await quiet()
        expect(signal.aborted).to.equal(false)
        first.succeed('done')
        expect(await asked).to.equal('done')
      })

      it('abort the work when the last one leaves', async () => {
        const first = piece()
        const patience = [new AbortController(), new AbortController(), new AbortController()] as const
        const asked = patience.map(({ signal }, i) =>
          rejection(
            (i === 2 ? elsewhere : locks).share(key, i === 0 ? first.work : never, { limitMs, signal }),
          ),
        )
        const signal = await first.begun
        await opened.waits(key)
        for (const [i, one] of patience.entries()) {
          await quiet()
          expect(signal.aborted, `before ${i} goes`).to.equal(false)
          one.abort()
          await asked[i]
        }
        await eventually(() => expect(signal.aborted).to.equal(true))
        first.fail(signal.reason)
      })

      it('abort the work, or prevent it, when they leave in the same turn', async () => {
        const first = piece()
        const patience = new AbortController()
        const asked = locks.share(key, first.work, { limitMs, signal: patience.signal })
        patience.abort(new Error('gone at once'))
        expect(await rejection(asked)).to.have.property('message', 'gone at once')
        first.fail(new Error('aborted'))
        expect(await elsewhere.share(key, async () => 'next', { limitMs })).to.equal('next')
        if (first.runs() > 0) expect((await first.begun).aborted).to.equal(true)
      })

      it('prevent the work when they left before', async () => {
        const first = piece()
        const reason = new Error('left before')
        const asked = locks.share(key, first.work, { limitMs, signal: AbortSignal.abort(reason) })
        expect(await rejection(asked)).to.equal(reason)
        expect(await locks.share(key, async () => 'next', { limitMs })).to.equal('next')
        expect(first.runs()).to.equal(0)
      })

      it('change nothing after the end', async () => {
        const patience = new AbortController()
        let seen: AbortSignal | undefined
        const work = async (signal: AbortSignal) => {
          seen = signal
          return 'done'
        }
        expect(await locks.share(key, work, { limitMs, signal: patience.signal })).to.equal('done')
        patience.abort()
        expect(await locks.share(key, async () => 'next', { limitMs })).to.equal('next')
        expect(seen?.aborted).to.equal(false)
      })
    })

    describe('the timeout', () => {
      it('aborts the work and responds 503 to all waiting callers', async () => {
        const first = piece()
        // Callers of the same process, which wait at once: others might come too late.
        const asked = [locks.share(key, first.work, { limitMs: 50 }), locks.share(key, never, { limitMs })]
        const signal = await first.begun
        for (const failure of await Promise.all(asked.map(rejection)))
          expect(failure).to.be.instanceOf(Problem).with.property('status', 503)
        expect(signal.aborted).to.equal(true)
        first.fail(signal.reason)
      })

      it('does not affect work that ends in time', async () => {
        let seen: AbortSignal | undefined
        const work = async (signal: AbortSignal) => {
          seen = signal
          return 'done'
        }
        expect(await locks.share(key, work, { limitMs: 200 })).to.equal('done')
        await pause(250)
        expect(seen?.aborted).to.equal(false)
      })
    })

    describe('aborted work that has not ended yet', () => {
      /** Aborted, by leaving or by its limit, and still at it. */
      async function abandoned(how: 'left' | 'limit') {
        const old = piece()
        const patience = new AbortController()
        const asked = rejection(
          locks.share(key, old.work, {
            limitMs: how === 'limit' ? 10 : limitMs,
            signal: patience.signal,
          }),
        )
        const signal = await old.begun
        if (how === 'left') patience.abort()
        await asked
        await eventually(() => expect(signal.aborted).to.equal(true))
        return old
      }

      for (const how of ['left', 'limit'] as const) {
        for (const end of ['fails', 'succeeds late'] as const) {
          it(`(${how}) that ${end} is not given to a new caller, whose own work begins after it`, async () => {
            const old = await abandoned(how)
            const order: string[] = []
            const next = [locks, elsewhere].map((one) =>
              one.share(
                key,
                async () => {
                  order.push('the new work begins')
                  await pause(5)
                  return 'new'
                },
                { limitMs },
              ),
            )
            await quiet()
            order.push('the old work ends')
            if (end === 'fails') old.fail(new Error('aborted'))
            else old.succeed('too late')
            expect(await Promise.all(next)).to.deep.equal(['new', 'new'])
            expect(order.slice(0, 2)).to.deep.equal(['the old work ends', 'the new work begins'])
          })
        }

        it(`(${how}) is not given to callers that arrive around its end`, async () => {
          const old = await abandoned(how)
          let moment: Promise<unknown> = old.work(new AbortController().signal)
          const callers: Array<Promise<string>> = []
          const turns: Array<Promise<unknown>> = []
          for (let turn = 0; turn < 20; turn += 1) {
            turns.push(
              moment.then(() => {
                callers.push(locks.share(key, async () => 'new', { limitMs }))
              }),
            )
            moment = moment.then(() => {})
          }
          old.succeed('too late')
          await Promise.all(turns)
          expect(new Set(await Promise.all(callers))).to.deep.equal(new Set(['new']))
        })
      }

      it('does not hold waiting callers that abort', async () => {
        const old = await abandoned('left')
        const patience = new AbortController()
        const waiting = rejection(locks.share(key, never, { limitMs, signal: patience.signal }))
        patience.abort(new Error('no patience'))
        expect(await waiting).to.have.property('message', 'no patience')
        old.fail(new Error('aborted'))
        expect(await locks.share(key, async () => 'next', { limitMs })).to.equal('next')
      })
    })
  })
}
