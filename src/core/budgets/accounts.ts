/** The payer of a turn: a client, and the IP address that sends requests for it. */
export interface Payer {
  clientId: string
  address: string
}

/** The recent costs of clients and addresses, in {@link turnCostMs}. The payer with the lowest cost is served next. */
export interface Accounts {
  /** Sorts waiting work: by the costs of the clients, then within a client by the costs of the addresses. */
  compare(one: Payer, other: Payer): number
  /** Notes that work of this payer begins: payers that come later start from its present costs. */
  begin(payer: Payer): void
  /** Adds to a payer's costs. A negative cost corrects an estimate that was too high. */
  charge(payer: Payer, costMs: number): void
}

/** The time that one turn took, in milliseconds. */
export interface Turn {
  /** CPU time; undefined when nothing could be measured. */
  cpuMs: number | undefined
  /** Time in the slot. */
  slotMs: number
}

// Even on a busy machine, a render gets more than this share of its time in the slot as CPU time. Work below it
// mostly waits.
const MIN_CPU_SHARE = 0.1

/**
 * The cost of a turn, in milliseconds: its CPU time, or its time in the slot when nothing was measured. Work that
 * waits in its slot, for a slow bucket for example, costs at least a tenth of that time: if it cost nothing, its
 * payer would always be next.
 */
export function turnCostMs({ cpuMs, slotMs }: Turn): number {
  return cpuMs === undefined ? slotMs : Math.max(cpuMs, slotMs * MIN_CPU_SHARE)
}

// At most a few hundred payers wait. The entry of any other payer is worth at most the cost of its last work.
const MAX_ACCOUNTS = 2000

/**
 * Start-time fair queuing. A new payer starts with the costs of the last one that was served, so idle time gives no
 * credit. A payer that leaves and returns still has its costs.
 */
export function createAccounts(): Accounts {
  const clients = createLevel()
  const addresses = createLevel()
  const compare: Accounts['compare'] = (one, other) =>
    clients.spent(one.clientId) - clients.spent(other.clientId) ||
    addresses.spent(nameOf(one)) - addresses.spent(nameOf(other))
  return {
    compare,
    begin(payer) {
      clients.begin(payer.clientId)
      addresses.begin(nameOf(payer))
    },
    charge(payer, costMs) {
      clients.charge(payer.clientId, costMs)
      addresses.charge(nameOf(payer), costMs)
    },
  }
}

function nameOf({ clientId, address }: Payer): string {
  return `${clientId} ${address}`
}

function createLevel() {
  const spentBy = new Map<string, number>()
  let served = 0
  const spent = (name: string) => Math.max(served, spentBy.get(name) ?? 0)
  return {
    spent,
    begin(name: string) {
      served = spent(name)
    },
    charge(name: string, costMs: number) {
      const total = spent(name) + costMs
      spentBy.delete(name)
      spentBy.set(name, total)
      if (spentBy.size <= MAX_ACCOUNTS) return
      for (const [each, owed] of spentBy) if (owed <= served) spentBy.delete(each)
      for (const each of spentBy.keys()) {
        if (spentBy.size <= MAX_ACCOUNTS) break
        spentBy.delete(each)
      }
    },
  }
}
