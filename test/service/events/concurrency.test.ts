import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { NotYet } from '../../../src/core/ports/jobs.ts'
import { createEventPlaces, type EventPlaces } from '../../../src/service/events/concurrency.ts'
import { rejection } from '../../support/rejection.ts'

const OPTIONS = { perTarget: 2, hungMs: 30, waitMs: 1000 }
const never = new AbortController().signal

describe('event slots', () => {
  let places: EventPlaces
  beforeEach(() => {
    places = createEventPlaces(OPTIONS)
  })

  /** Takes a place of `target` until `end` is called. */
  function taken(target: string, signal = never): { end(error?: Error): Promise<unknown> } {
    let end: (error?: Error) => void = () => {}
    const call = () =>
      new Promise<void>((resolve, reject) => {
        end = (error) => (error ? reject(error) : resolve())
      })
    const over = places.take(target, signal, call).catch((error) => error)
    return {
      end(error) {
        end(error)
        return over
      },
    }
  }

  const tried = async (target: string) => {
    let called = false
    const error = await rejection(
      places.take(target, never, async () => {
        called = true
        throw new Error('refused at once')
      }),
    )
    return { called, error }
  }
  const hang = async (target: string) => {
    const call = taken(target)
    await pause(OPTIONS.hungMs + 10)
    await call.end(new Error('no answer'))
  }

  it('remain for a target whose calls end by NotYet after a long time', async () => {
    for (const _ of [1, 2, 3]) {
      const call = taken('a')
      await pause(OPTIONS.hungMs + 10)
      await call.end(new NotYet(1))
    }
    taken('a')
    expect((await tried('a')).called).to.equal(true)
  })

  it('are limited for each target, and free again when the call ends, in any way', async () => {
    const [one, two] = [taken('a'), taken('a')]
    expect((await tried('a')).called).to.equal(false)
    expect((await tried('b')).called).to.equal(true)
    await one.end()
    expect((await tried('a')).called).to.equal(true)
    taken('a')
    expect((await tried('a')).called).to.equal(false)
    await two.end(new Error('broken'))
    expect((await tried('a')).called).to.equal(true)
  })

  it('are freed at the time limit, once, though the call continues', async () => {
    const over = new AbortController()
    const deaf = taken('a', over.signal)
    taken('a')
    over.abort()
    expect((await tried('a')).called).to.equal(true)
    await deaf.end()
    taken('a')
    expect((await tried('a')).called).to.equal(false)
  })

  it('defer calls without a slot, one after the other', async () => {
    taken('a')
    taken('a')
    const delays: number[] = []
    const since = Date.now()
    for (let i = 0; i < 100; i += 1) {
      const { error } = await tried('a')
      expect(error).to.be.instanceOf(NotYet)
      delays.push((error as NotYet).delayMs)
    }
    expect(delays[0]).to.equal(1000)
    // 5 ms apart, less what the test itself has taken.
    expect(delays.at(-1)).to.be.within(1495 - (Date.now() - since), 1495)
  })

  it('are reduced to one for a target that has timed out three times in a row: other calls fail', async () => {
    await hang('a')
    await hang('a')
    const third = taken('a')
    taken('a')
    await pause(OPTIONS.hungMs + 10)
    expect((await tried('a')).error).to.be.instanceOf(NotYet)
    await third.end(new Error('no answer'))
    const { error } = await tried('a')
    expect(error).to.be.instanceOf(Error).and.not.instanceOf(NotYet)
    expect((error as Error).message).to.include('timed out')
    expect((await tried('b')).called).to.equal(true)
  })

  for (const [what, end] of Object.entries({
    'has answered': undefined,
    'fails at once': new Error('broken'),
  })) {
    it(`are all available again for a target that ${what}`, async () => {
      for (let i = 0; i < 3; i += 1) await hang('a')
      const asking = taken('a')
      expect((await tried('a')).called).to.equal(false)
      await asking.end(end)
      taken('a')
      expect((await tried('a')).called).to.equal(true)
    })
  }
})
