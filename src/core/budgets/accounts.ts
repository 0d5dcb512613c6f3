/** Whose turn is paid: a client, and an address that asks in its name. */
export interface Payer {
  clientId: string
  address: string
}

/** What clients and addresses have spent recently, in {@link turnCostMs}: the one that has spent least is served next. */
export interface Accounts {
  /** Sorts waiting work: the client that has spent less first, within a client the address. */
  compare(one: Payer, other: Payer): number
  /** Work of this payer begins: later comers start from what it has spent so far. */
  begin(payer: Payer): void
  /** Adds to what a payer has spent; less than 0 corrects an estimate that was too high. */
  charge(payer: Payer, costMs: number): void
}

/** What one turn has taken, in milliseconds. */
export interface Turn {
  /** CPU time; undefined when nothing could be measured. */
  cpuMs: number | undefined
  /** For how long it had its slot. */
  slotMs: number
}

// On a busy machine rendering still gets more than this share of its time in the slot: what gets less mostly waits.
const MIN_CPU_SHARE = 0.1

/**
 * What a turn costs, in milliseconds: its CPU time, or its time in the slot when nothing was measured. Work that waits in its slot,
 * as for a slow bucket, costs a tenth of that time at least: if it cost nothing, its payer would always be next.
 */
export function turnCostMs({ cpuMs, slotMs }: Turn): number {
  return cpuMs === undefined ? slotMs : Math.max(cpuMs, slotMs * MIN_CPU_SHARE)
}

// A few hundred payers wait at most; what is known of others is at most the cost of their last work.
const MAX_ACCOUNTS = 2000

/**
 * Start-time fair queuing. A newcomer begins with what the last one served had spent, so an idle hour saves nothing up, and
 * whoever leaves and comes back keeps what it owes.
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
