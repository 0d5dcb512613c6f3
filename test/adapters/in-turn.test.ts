import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { createInTurn } from '../../src/adapters/in-turn.ts'
import { rejection } from '../support/rejection.ts'

describe('queues by key', () => {
  /** Work that writes down its begin and end and takes some turns of the event loop. */
  function recorder() {
    const lines: string[] = []
    const work = (name: string) => async () => {
      lines.push(`${name} begins`)
      await pause(2)
      lines.push(`${name} ends`)
      return name
    }
    return { lines, work }
  }

  it('run work of one key one after the other, in the order of the calls, and return each result', async () => {
    const { lines, work } = recorder()
    const inTurn = createInTurn()
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => inTurn(['k'], work(name))))
    expect(answers).to.deep.equal(['a', 'b', 'c'])
    expect(lines).to.deep.equal(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  it('keep the order for a call that arrives when the first has ended and the second is running', async () => {
    const { lines, work } = recorder()
    const inTurn = createInTurn()
    const first = inTurn(['k'], work('a'))
    const second = inTurn(['k'], work('b'))
    await first
    await Promise.all([second, inTurn(['k'], work('c'))])
    expect(lines).to.deep.equal(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  it('run work of different keys concurrently', async () => {
    const { lines, work } = recorder()
    const inTurn = createInTurn()
    await Promise.all([inTurn(['k'], work('a')), inTurn(['l'], work('b'))])
    expect(lines.slice(0, 2)).to.deep.equal(['a begins', 'b begins'])
  })

  it('wait for all keys of a call, and later calls wait for any of them', async () => {
    const { lines, work } = recorder()
    const inTurn = createInTurn()
    await Promise.all([
      inTurn(['k'], work('a')),
      inTurn(['l'], work('b')),
      inTurn(['l', 'k'], work('both')),
      inTurn(['k'], work('c')),
      inTurn(['l'], work('d')),
    ])
    expect(lines.slice(0, 4).sort()).to.deep.equal(['a begins', 'a ends', 'b begins', 'b ends'])
    expect(lines.slice(4, 6)).to.deep.equal(['both begins', 'both ends'])
    expect(lines.slice(6).sort()).to.deep.equal(['c begins', 'c ends', 'd begins', 'd ends'])
  })

  it('do not deadlock on keys in different orders, or repeated keys', async () => {
    const inTurn = createInTurn()
    const orders = [['k', 'l'], ['l', 'k'], ['k', 'k', 'l'], ['l', 'l'], []]
    const works = Array.from({ length: 50 }, (_, i) =>
      inTurn(orders[i % orders.length] ?? [], async () => {
        await pause(0)
        return i
      }),
    )
    expect(await Promise.all(works)).to.deep.equal(works.map((_, i) => i))
  })

  it('continue after a failure, which only its own caller gets', async () => {
    const { lines, work } = recorder()
    const inTurn = createInTurn()
    const reason = new Error('no')
    const [failure] = await Promise.all([
      rejection(
        inTurn(['k'], async () => {
          await pause(2)
          throw reason
        }),
      ),
      inTurn(['k'], work('next')),
    ])
    expect(failure).to.equal(reason)
    expect(lines).to.deep.equal(['next begins', 'next ends'])
  })
})
