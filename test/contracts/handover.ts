import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Handover } from '../../src/core/ports/handover.ts'
import { Problem } from '../../src/core/problem.ts'
import { rejection } from '../support/rejection.ts'

export interface OpenedHandover {
  handover: Handover
  /** The same as another process sees it; where there is only one process, `handover` itself. */
  elsewhere: Handover
  close(): Promise<void>
}

/** What every {@link Handover} has to do, seen through the port alone. */
export function handoverContract(name: string, open: () => Promise<OpenedHandover>): void {
  describe(`${name}: the contract of Handover`, () => {
    let opened: OpenedHandover
    let key = ''
    let keys = 0
    const { signal } = new AbortController()
    const wanted = () => {}
    before(async () => {
      opened = await open()
    })
    after(() => opened.close())
    beforeEach(() => {
      keys += 1
      key = `a name {with} %odd: characters ${keys}`
    })

    it('gives a free name at once, repeatedly', async () => {
      for (const handover of [opened.handover, opened.elsewhere]) {
        const release = await handover.take(key, { wanted, waitMs: 0, signal })
        await release()
      }
    })

    it('gives two different names at the same time', async () => {
      const one = await opened.handover.take(key, { wanted, waitMs: 0, signal })
      const other = await opened.elsewhere.take(`${key} and more`, { wanted, waitMs: 0, signal })
      await Promise.all([one(), other()])
    })

    it('notifies the holder that another caller waits, which gets the name once it is released', async () => {
      const order: string[] = []
      const release = await opened.handover.take(key, {
        wanted() {
          order.push('wanted')
        },
        waitMs: 0,
        signal,
      })
      const second = opened.elsewhere.take(key, { wanted, waitMs: 20_000, signal }).then((give) => {
        order.push('second')
        return give
      })
      while (order.length === 0) await pause(10)
      await pause(300)
      expect(new Set(order)).to.deep.equal(new Set(['wanted']))
      order.push('released')
      await release()
      await (await second)()
      expect(order.slice(-2)).to.deep.equal(['released', 'second'])
    })

    it('does not notify the holder while no other caller waits', async () => {
      let asked = 0
      const tell = () => {
        asked += 1
      }
      const release = await opened.handover.take(key, { wanted: tell, waitMs: 0, signal })
      await pause(1200)
      await release()
      expect(asked).to.equal(0)
    })

    it('gives the name to one caller at a time, however many wait', async () => {
      let holding = 0
      let most = 0
      const hold = async (handover: Handover) => {
        const release = await handover.take(key, { wanted, waitMs: 20_000, signal })
        holding += 1
        most = Math.max(most, holding)
        await pause(5)
        holding -= 1
        await release()
      }
      await Promise.all([1, 2, 3, 4].flatMap(() => [hold(opened.handover), hold(opened.elsewhere)]))
      expect(most).to.equal(1)
    })

    it('responds 423 to callers whose wait has timed out', async () => {
      const release = await opened.handover.take(key, { wanted, waitMs: 0, signal })
      const error = await rejection(opened.elsewhere.take(key, { wanted, waitMs: 300, signal }))
      expect(error).to.be.instanceOf(Problem).with.property('status', 423)
      await release()
    })

    it('ignores callers that have aborted, and continues with the others', async () => {
      const release = await opened.handover.take(key, { wanted, waitMs: 0, signal })
      const leaving = new AbortController()
      const options = { wanted, waitMs: 20_000, signal: leaving.signal }
      const left = rejection(opened.elsewhere.take(key, options))
      await pause(50)
      leaving.abort(new Error('no time'))
      expect(await left).to.have.property('message', 'no time')
      await release()
      await (await opened.handover.take(key, { wanted, waitMs: 20_000, signal }))()
    })
  })
}
