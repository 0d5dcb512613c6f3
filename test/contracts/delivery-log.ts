import { expect } from 'chai'
import {
  type Delivery,
  type DeliveryLog,
  type DeliveryLogLimits,
  type LoggedDelivery,
  positionOf,
} from '../../src/core/ports/events/delivery-log.ts'

export interface OpenedDeliveryLog {
  log: DeliveryLog
  /** The same as another process sees it; where there is only one process, `log` itself. */
  elsewhere: DeliveryLog
  close(): Promise<void>
}

type OpenDeliveryLog = (options: DeliveryLogLimits & { now: () => number }) => Promise<OpenedDeliveryLog>

const START = Date.parse('2026-11-30T12:00:00Z')

/** A delivery of the event with this number. */
export function loggedDelivery(number: number, changes: Partial<LoggedDelivery> = {}): LoggedDelivery {
  const receiver = changes.receiver ?? { id: 'aaaa', name: 'a.example' }
  const eventId = `evt_${String(number).padStart(3, '0')}`
  return {
    id: `${eventId}-${receiver.id}`,
    plugin: 'webhook',
    receiver,
    eventId,
    event: 'client.changed',
    clientId: 'shop',
    occurredAt: START + number,
    status: 'pending',
    attempts: [],
    run: 0,
    data: { clientId: 'shop', text: 'ü "\0"' },
    ...changes,
  }
}

/** What every {@link DeliveryLog} has to do, seen through the port alone. */
export function deliveryLogContract(name: string, open: OpenDeliveryLog): void {
  describe(`${name}: the contract of DeliveryLog`, () => {
    let opened: OpenedDeliveryLog
    let log: DeliveryLog
    let elsewhere: DeliveryLog
    let time: number
    beforeEach(async () => {
      time = START
      opened = await open({ maxPerReceiver: 5, retentionMs: 60_000, now: () => time })
      log = opened.log
      elsewhere = opened.elsewhere
    })
    afterEach(() => opened.close())

    const numbers = (list: readonly Delivery[]) => list.map(({ eventId }) => Number(eventId.slice(4)))
    const all = { limit: 100 }

    it('returns nothing for an unknown id', async () => {
      expect(await log.find('evt_1-a')).to.equal(undefined)
      expect(await log.change('evt_1-a', () => expect.fail())).to.equal(undefined)
      expect(await log.list(all)).to.deep.equal([])
    })

    it('stores a delivery with its event, and lists it without, for all processes', async () => {
      const one = loggedDelivery(1)
      await log.add(one)
      expect(await elsewhere.find(one.id)).to.deep.equal(one)
      const { data, ...listed } = one
      expect(await elsewhere.list(all)).to.deep.equal([listed])
    })

    it('changes a delivery, and leaves its event', async () => {
      const one = loggedDelivery(1)
      await log.add(one)
      const attempts = [{ at: START, ms: 5, status: 204 }]
      const change = (delivery: Delivery) => ({ ...delivery, status: 'delivered' as const, attempts })
      const { data, ...changed } = { ...one, status: 'delivered', attempts }
      expect(await elsewhere.change(one.id, change)).to.deep.equal(changed)
      expect(await log.find(one.id)).to.deep.equal({ ...changed, data })
      expect(await log.change(one.id, () => undefined)).to.equal(undefined)
      expect(await log.find(one.id)).to.deep.equal({ ...changed, data })
    })

    it('loses none of several changes at the same time', async () => {
      const { id } = loggedDelivery(1)
      await log.add(loggedDelivery(1))
      const change = (delivery: Delivery) => ({ ...delivery, run: delivery.run + 1 })
      await Promise.all([log, elsewhere, log, elsewhere].map((each) => each.change(id, change)))
      expect((await log.find(id))?.run).to.equal(4)
    })

    it('lists the latest events first, page by page, whatever the order in which they were added', async () => {
      for (const number of [2, 4, 1, 3]) await log.add(loggedDelivery(number))
      // At the same time as another one.
      await log.add(loggedDelivery(5, { occurredAt: START + 3 }))
      expect(numbers(await elsewhere.list(all))).to.deep.equal([4, 5, 3, 2, 1])
      const pages: number[][] = []
      for (let before: string | undefined; pages.length < 5; ) {
        const page = await log.list({ before, limit: 2 })
        pages.push(numbers(page))
        const last = page.at(-1)
        if (!last) break
        before = positionOf(last)
      }
      expect(pages).to.deep.equal([[4, 5], [3, 2], [1], []])
    })

    it('lists the deliveries of a status, of a client, of an event, of a receiver, and since a time', async () => {
      await log.add(loggedDelivery(1, { status: 'failed' }))
      await log.add(loggedDelivery(2, { status: 'delivered' }))
      await log.add(loggedDelivery(3, { status: 'failed', clientId: 'other' }))
      await log.add(loggedDelivery(4, { event: 'archive.sent' }))
      await log.add(loggedDelivery(5, { receiver: { id: 'bbbb', name: 'b.example' } }))
      const list = async (filter: object) => numbers(await log.list({ ...all, ...filter }))
      expect(await list({ status: 'failed' })).to.deep.equal([3, 1])
      expect(await list({ clientId: 'shop' })).to.deep.equal([5, 4, 2, 1])
      expect(await list({ event: 'archive.sent' })).to.deep.equal([4])
      expect(await list({ receiverId: 'bbbb' })).to.deep.equal([5])
      expect(await list({ receiverId: 'bbbb', event: 'archive.sent' })).to.deep.equal([])
      expect(await list({ since: START + 2 })).to.deep.equal([5, 4, 3, 2])
      expect(await list({ since: START + 1, status: 'failed', clientId: 'shop' })).to.deep.equal([1])
      expect(await list({ status: 'failed', limit: 1 })).to.deep.equal([3])
    })

    it('drops the oldest deliveries of a receiver above the maximum', async () => {
      const other = { id: 'bbbb', name: 'b.example' }
      await log.add(loggedDelivery(0, { receiver: other }))
      for (let number = 1; number <= 7; number += 1) await log.add(loggedDelivery(number))
      expect(numbers(await log.list(all))).to.deep.equal([7, 6, 5, 4, 3, 0])
      const { id } = loggedDelivery(2)
      expect(await log.find(id)).to.equal(undefined)
      expect(await log.change(id, (delivery) => delivery)).to.equal(undefined)
      expect(numbers(await log.list(all))).to.deep.equal([7, 6, 5, 4, 3, 0])
    })

    it('drops deliveries after the retention time, also of receivers that get no more events', async () => {
      const other = { id: 'bbbb', name: 'b.example' }
      await log.add(loggedDelivery(1, { receiver: other }))
      await log.add(loggedDelivery(2))
      time = START + 60_001
      expect(numbers(await log.list(all))).to.deep.equal([2])
      const { id } = loggedDelivery(1, { receiver: other })
      expect(await log.find(id)).to.equal(undefined)
      expect(await log.change(id, () => expect.fail())).to.equal(undefined)
      await log.add(loggedDelivery(3))
      time = START
      expect(numbers(await log.list(all))).to.deep.equal([3, 2])
    })

    it('replaces a delivery that is added again', async () => {
      await log.add(loggedDelivery(1))
      await log.add(loggedDelivery(1, { data: { clientId: 'x' }, run: 2 }))
      expect((await log.list(all)).map(({ run }) => run)).to.deep.equal([2])
      expect((await log.find(loggedDelivery(1).id))?.data).to.deep.equal({ clientId: 'x' })
    })
  })
}
