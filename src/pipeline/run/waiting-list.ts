import type { Accounts } from '../../core/budgets/accounts.ts'
import type { WaitingLimits } from '../../core/budgets/shares.ts'
import type { Caller } from '../../core/clients/caller.ts'
import { busy } from '../../core/problem.ts'

/** Work that waits. */
export interface Waiter {
  clientId: string
  caller: Caller
  bytes: number
  isHeavy: boolean
  begin(): void
}

/** The work that waits for a turn. */
export interface WaitingList {
  readonly size: number
  /** The number of heavy waiters. */
  heavy(): number
  /** @throws Problem 503 when this client and caller may not have one more waiter */
  checkRoom(newcomer: Pick<Waiter, 'clientId' | 'caller'>): void
  add(waiter: Waiter): void
  remove(waiter: Waiter): void
  /** The next waiter of one of the two lines, among those that may run. */
  first(line: { isHeavy: boolean; mayRun: (waiter: Waiter) => boolean }): Waiter | undefined
  /** Removes the waiter, because its turn has come. */
  take(waiter: Waiter): void
}

export function createWaitingList(limits: WaitingLimits, accounts: Accounts): WaitingList {
  // In order of arrival.
  const waiters = new Set<Waiter>()
  let lastWasTrusted = false
  const count = (matches: (waiter: Waiter) => boolean) => [...waiters].filter(matches).length

  return {
    get size() {
      return waiters.size
    },
    heavy: () => count(({ isHeavy }) => isHeavy),
    checkRoom({ clientId, caller }) {
      if (waiters.size >= limits.atMost) throw tooManyWait('')
      if (caller.isTrusted) return
      const anonymous = [...waiters].filter((waiter) => !waiter.caller.isTrusted)
      if (anonymous.length >= limits.anonymous) throw tooManyWait('')
      const ofAddress = anonymous.filter((waiter) => waiter.caller.address === caller.address)
      if (ofAddress.length >= limits.perAddress) throw tooManyWait(' from your address')
      const ofClient = anonymous.filter((waiter) => waiter.clientId === clientId)
      if (ofClient.length >= limits.perClient) throw tooManyWait(' of this client')
    },
    add: (waiter) => void waiters.add(waiter),
    remove: (waiter) => void waiters.delete(waiter),
    first({ isHeavy, mayRun }) {
      let first: Waiter | undefined
      for (const waiter of waiters) {
        if (waiter.isHeavy !== isHeavy || !mayRun(waiter)) continue
        if (first === undefined || isBefore(waiter, first)) first = waiter
      }
      return first
    },
    take(waiter) {
      waiters.delete(waiter)
      lastWasTrusted = waiter.caller.isTrusted
      accounts.begin(payerOf(waiter))
    },
  }

  function isBefore(one: Waiter, other: Waiter): boolean {
    // Callers with and without a secret alternate while both wait, however much either has spent.
    if (one.caller.isTrusted !== other.caller.isTrusted) return one.caller.isTrusted !== lastWasTrusted
    return accounts.compare(payerOf(one), payerOf(other)) < 0
  }
}

/**
 * Returns the payer. Work with a secret is paid from a separate account, so that untrusted callers cannot use it up.
 */
export function payerOf({ clientId, caller }: Pick<Waiter, 'clientId' | 'caller'>) {
  return caller.isTrusted
    ? { clientId: `${clientId} trusted`, address: caller.address }
    : { clientId, address: caller.address }
}

function tooManyWait(whose: string) {
  return busy(`Too many transformations${whose} are waiting. Retry in a few seconds.`)
}
