import {
  type Delivery,
  type DeliveryLog,
  type DeliveryLogLimits,
  isSelected,
  type LoggedDelivery,
  positionOf,
} from '../../core/ports/events/delivery-log.ts'
import { createInTurn } from '../in-turn.ts'
import { openResilientLevel, type ResilientLevelOptions, type Row } from '../level/resilient-level.ts'

// The event is a row of its own: a list reads only the first kind. ";" sorts after ":".
const HEAD = 'delivery:'
const HEADS = { gt: HEAD, lt: 'delivery;' }
const DATA = 'event:'

// A crash may lose the last changes. A flush for each attempt would slow down deliveries.
const NOT_FLUSHED = { durable: false }

/**
 * A delivery log in a LevelDB folder, which belongs to one process at a time. The deliveries without their events are also in
 * memory: about 500 bytes each. With `refilled`, a damaged log is replaced by an empty one: it is a record, and nothing depends on it.
 *
 * @throws when another process has the folder open
 */
export async function embeddedDeliveryLog(
  folder: string,
  {
    maxPerReceiver,
    retentionMs,
    now = Date.now,
    ...options
  }: DeliveryLogLimits & { now?: () => number } & ResilientLevelOptions,
): Promise<DeliveryLog & { close(): Promise<void> }> {
  const level = await openResilientLevel(folder, options)
  const inTurn = createInTurn()
  const byId = new Map<string, Delivery>()
  /** The ids of each receiver, in the order of their events. */
  const byReceiver = new Map<string, Set<string>>()

  const isListed = ({ occurredAt }: Delivery) => occurredAt > now() - retentionMs

  function idsOf({ receiver }: Delivery): Set<string> {
    const ids = byReceiver.get(receiver.id) ?? new Set()
    byReceiver.set(receiver.id, ids)
    return ids
  }

  function forget(delivery: Delivery): void {
    byId.delete(delivery.id)
    const ids = idsOf(delivery)
    ids.delete(delivery.id)
    if (ids.size === 0) byReceiver.delete(delivery.receiver.id)
  }

  /** The deliveries above the limits: of this receiver by their number, and of all receivers by their age. */
  function outdated(of: Delivery): Delivery[] {
    const found: Delivery[] = []
    let left = byReceiver.get(of.receiver.id)?.size ?? 0
    for (const ids of byReceiver.values())
      for (const id of ids) {
        const delivery = byId.get(id) as Delivery
        const isSurplus = delivery.receiver.id === of.receiver.id && left > maxPerReceiver
        if (!isSurplus && isListed(delivery)) break
        if (delivery.receiver.id === of.receiver.id) left -= 1
        found.push(delivery)
      }
    return found
  }

  const found = (await level.rows(HEADS)) as Array<[string, Delivery]>
  // The keys end in the positions, so the rows are in the order of the events.
  for (const [, delivery] of found) {
    byId.set(delivery.id, delivery)
    idsOf(delivery).add(delivery.id)
  }

  return {
    add: ({ data, ...delivery }: LoggedDelivery) =>
      inTurn(['all'], async () => {
        byId.set(delivery.id, delivery)
        idsOf(delivery).add(delivery.id)
        const dropped = outdated(delivery)
        for (const one of dropped) forget(one)
        const rows: Row[] = [
          { type: 'put', key: `${HEAD}${positionOf(delivery)}`, value: delivery },
          { type: 'put', key: `${DATA}${positionOf(delivery)}`, value: data },
          ...dropped.flatMap((one): Row[] => [
            { type: 'del', key: `${HEAD}${positionOf(one)}` },
            { type: 'del', key: `${DATA}${positionOf(one)}` },
          ]),
        ]
        await level.write(rows, NOT_FLUSHED).catch((error) => {
          forget(delivery)
          throw error
        })
      }),
    change: (id, change) =>
      inTurn(['all'], async () => {
        const before = byId.get(id)
        const after = before && isListed(before) ? change(before) : undefined
        if (after === undefined) return undefined
        await level.write([{ type: 'put', key: `${HEAD}${positionOf(after)}`, value: after }], NOT_FLUSHED)
        byId.set(id, after)
        return after
      }),
    async find(id) {
      const delivery = byId.get(id)
      if (!delivery || !isListed(delivery)) return undefined
      const [data] = await level.get([`${DATA}${positionOf(delivery)}`])
      return data === undefined ? undefined : { ...delivery, data }
    },
    async list({ before, limit, ...filter }) {
      return [...byId.values()]
        .filter((one) => isListed(one) && isSelected(one, filter))
        .map((delivery) => ({ delivery, position: positionOf(delivery) }))
        .filter(({ position }) => before === undefined || position < before)
        .sort((one, other) => (one.position < other.position ? 1 : -1))
        .slice(0, limit)
        .map(({ delivery }) => delivery)
    },
    close: () => level.close(),
  }
}
