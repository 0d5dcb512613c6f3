import type { JobOwner } from '../../core/ports/jobs.ts'

/**
 * Decides which job begins next, on three levels. First: the client that was served longest ago. Within a client:
 * trusted callers, but every fourth turn goes to a stranger. Among strangers: the IP address that was served longest
 * ago. Jobs of one address, and those of trusted callers, stay in the order in which they were added. Owners that were
 * never served come first.
 */
export interface Turns<T> {
  add(item: T, owner: JobOwner): void
  /** Removes the next item and records that its owner was served. Undefined when nothing waits. */
  take(): T | undefined
}

/** Which owners were served, and when: numbers by field, so that Redis can store them as a hash. `take` changes it. */
export type Served = Map<string, number>

// 10,000 fields take 1 MB. Strangers may use any number of IP addresses. Above this, the record is emptied.
export const SERVED_MOST = 10_000
// A visitor waits for at most three uploads of the owner. The owner waits for one visitor.
const TRUSTED_IN_A_ROW = 3

/** The fields of {@link Served}. Addresses are counted per client. */
export const servedFields = {
  clock: 'clock',
  client: ({ client }: JobOwner) => `client ${client}`,
  address: ({ client, stranger }: JobOwner) => `address ${client} ${stranger}`,
  trustedInARow: ({ client }: JobOwner) => `trusted ${client}`,
}

/** Records that a job of this owner has begun. */
export function noteServed(served: Served, owner: JobOwner): void {
  if (served.size > SERVED_MOST) served.clear()
  const clock = (served.get(servedFields.clock) ?? 0) + 1
  const inARow = servedFields.trustedInARow(owner)
  served.set(servedFields.clock, clock)
  served.set(servedFields.client(owner), clock)
  served.set(inARow, owner.stranger === undefined ? (served.get(inARow) ?? 0) + 1 : 0)
  if (owner.stranger !== undefined) served.set(servedFields.address(owner), clock)
}

interface ClientLine<T> {
  owner: JobOwner
  trusted: T[]
  strangers: Map<string, { owner: JobOwner; items: T[] }>
}

export function createTurns<T>(served: Served): Turns<T> {
  const clients = new Map<string, ClientLine<T>>()

  function lineOf(owner: JobOwner): ClientLine<T> {
    let line = clients.get(owner.client)
    if (!line) {
      line = { owner: { client: owner.client }, trusted: [], strangers: new Map() }
      clients.set(owner.client, line)
    }
    return line
  }

  /** The line that was served longest ago. Among lines that were never served, the oldest one. */
  function leastServed<L>(lines: Iterable<L>, field: (line: L) => string): L | undefined {
    let least: { line: L; at: number } | undefined
    for (const line of lines) {
      const at = served.get(field(line)) ?? 0
      if (!least || at < least.at) least = { line, at }
    }
    return least?.line
  }

  function takeOf(line: ClientLine<T>): { item: T | undefined; owner: JobOwner } {
    const isStrangersTurn = (served.get(servedFields.trustedInARow(line.owner)) ?? 0) >= TRUSTED_IN_A_ROW
    const stranger =
      line.trusted.length === 0 || isStrangersTurn
        ? leastServed(line.strangers.values(), ({ owner }) => servedFields.address(owner))
        : undefined
    if (!stranger) return { item: line.trusted.shift(), owner: line.owner }
    const item = stranger.items.shift()
    if (stranger.items.length === 0) line.strangers.delete(String(stranger.owner.stranger))
    return { item, owner: stranger.owner }
  }

  return {
    add(item, owner) {
      const { trusted, strangers } = lineOf(owner)
      if (owner.stranger === undefined) return void trusted.push(item)
      const known = strangers.get(owner.stranger)
      if (known) known.items.push(item)
      else strangers.set(owner.stranger, { owner, items: [item] })
    },

    take() {
      const line = leastServed(clients.values(), ({ owner }) => servedFields.client(owner))
      if (!line) return undefined
      const { item, owner } = takeOf(line)
      if (line.trusted.length + line.strangers.size === 0) clients.delete(owner.client)
      noteServed(served, owner)
      return item
    },
  }
}
