import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { mapConcurrent } from '../../../src/core/async/map-concurrent.ts'
import { rejection } from '../../support/rejection.ts'
import { failOnUnhandledRejection } from '../../support/unhandled.ts'

async function all<R>(outcomes: AsyncIterable<R>): Promise<R[]> {
  const found: R[] = []
  for await (const outcome of outcomes) found.push(outcome)
  return found
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('mapConcurrent', () => {
  failOnUnhandledRejection()

  it('yields the results in the order of the items, whichever ends first', async () => {
    const work = async (n: number) => {
      await pause((n * 7) % 5)
      return n * 2
    }
    for (const count of [0, 1, 2, 3, 20])
      for (const concurrency of [1, 3, 16])
        expect(await all(mapConcurrent(numbers(count), { concurrency, work }))).to.deep.equal(
          numbers(count).map((n) => n * 2),
        )
  })

  it('runs up to the limit, and reads no more items before a result is consumed', async () => {
    let taken = 0
    let running = 0
    let most = 0
    function* items() {
      for (const n of numbers(20)) {
        taken += 1
        yield n
      }
    }
    const work = async () => {
      running += 1
      most = Math.max(most, running)
      await pause(2)
      running -= 1
    }
    let read = 0
    for await (const _ of mapConcurrent(items(), { concurrency: 4, work })) {
      read += 1
      expect(taken).to.be.at.most(read + 3)
    }
    expect(most).to.equal(4)
    expect(read).to.equal(20)
  })

  it('throws the first error in order, after all running work has ended', async () => {
    let running = 0
    const work = async (n: number) => {
      running += 1
      await pause(n === 2 ? 1 : 10)
      running -= 1
      if (n >= 2) throw new Error(`number ${n}`)
    }
    const error = await rejection(all(mapConcurrent(numbers(10), { concurrency: 5, work })))
    expect(error).to.have.property('message', 'number 2')
    expect(running).to.equal(0)
  })

  it('closes its source and awaits running work when the consumer stops early', async () => {
    let closed = false
    let running = 0
    function* items() {
      try {
        yield* numbers(10)
      } finally {
        closed = true
      }
    }
    const work = async () => {
      running += 1
      await pause(5)
      running -= 1
    }
    for await (const _ of mapConcurrent(items(), { concurrency: 3, work })) break
    expect({ closed, running }).to.deep.equal({ closed: true, running: 0 })
  })

  it('throws the reason when it is aborted', async () => {
    const abort = new AbortController()
    const worked: number[] = []
    const work = async (n: number) => {
      worked.push(n)
      if (n === 3) abort.abort(new Error('enough'))
    }
    const outcomes = all(mapConcurrent(numbers(100), { concurrency: 2, signal: abort.signal, work }))
    expect(await rejection(outcomes)).to.have.property('message', 'enough')
    expect(worked).to.deep.equal([0, 1, 2, 3])
  })
})
