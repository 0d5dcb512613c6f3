import { type Accounts, createAccounts, turnCostMs } from '../../core/budgets/accounts.ts'
import type { WaitingLimits } from '../../core/budgets/shares.ts'
import type { Caller } from '../../core/clients/caller.ts'
import { busy } from '../../core/problem.ts'
import { createSlots, type SlotLimits } from './slots.ts'
import type { Spent } from './spending.ts'
import { createWaitingList, payerOf, type Waiter } from './waiting-list.ts'

/**
 * Limits the amount of work that runs at the same time. The work calls `spent` with its measured CPU time, in one or
 * several parts. Its turn is charged with the sum.
 *
 * @throws Problem 503 at once when too much work waits already, in total or of this caller; 503 when its turn does
 *   not come in time
 */
export type Admission = <T>(work: (spent: Spent) => Promise<T>, wish: AdmissionWish) => Promise<T>

export interface AdmissionWish {
  signal: AbortSignal
  /** Memory that the work will need. */
  bytes: number
  /** The client that owns the file. */
  clientId: string
  caller: Caller
}

/** An admission whose load can be read. */
export type WatchedAdmission = Admission & { load(): { running: number; waiting: number } }

export interface AdmissionLimits extends SlotLimits {
  waiting: WaitingLimits
  /** Maximum wait for a turn, in milliseconds. */
  waitMs: number
  /** Work that needs more bytes than this is heavy. */
  heavyFrom: number
}

export interface AdmissionTools {
  /** A monotonic clock in milliseconds. */
  now?: () => number
  /** The accounts, when several admissions share them. */
  accounts?: Accounts
}

// While both kinds wait, one heavy work follows this many light ones.
const LIGHT_PER_HEAVY = 4
// A rough estimate of the cost from the memory, until the work has run and its CPU time is known.
const BYTES_PER_CPU_MS = 20_000

/**
 * Fair queuing: serves clients by their recent costs, within a client the addresses of its callers. Work with a
 * secret gets every second turn while it waits. There are two lines, for light and heavy work. With two or more
 * slots, one is not available to heavy work, so light work never waits for heavy work alone. Of five slots that
 * become free, one goes to heavy work that fits. A caller that has all the slots it may have is skipped, see
 * {@link createSlots}.
 */
export function createAdmission(
  limits: AdmissionLimits,
  { now = () => performance.now(), accounts = createAccounts() }: AdmissionTools = {},
): WatchedAdmission {
  const { heavyFrom, waitMs } = limits
  const slots = createSlots(limits)
  const waiting = createWaitingList(limits.waiting, accounts)
  let lightInARow = 0

  function next(): Waiter | undefined {
    const firstLight = waiting.first({ isHeavy: false, mayRun: slots.isFreeFor })
    const firstHeavy = waiting.first({ isHeavy: true, mayRun: slots.isFreeFor })
    const fits = firstHeavy !== undefined && slots.fits(firstHeavy)
    return fits && (firstLight === undefined || lightInARow >= LIGHT_PER_HEAVY) ? firstHeavy : firstLight
  }

  function letIn(): void {
    for (let waiter = next(); waiter; waiter = next()) {
      waiting.take(waiter)
      slots.take(waiter)
      lightInARow = waiter.isHeavy ? 0 : lightInARow + 1
      accounts.charge(payerOf(waiter), estimateMs(waiter))
      waiter.begin()
    }
  }

  function end(waiter: Waiter, costMs: number): void {
    slots.release(waiter)
    accounts.charge(payerOf(waiter), costMs - estimateMs(waiter))
    letIn()
  }

  /** Resolves when the turn has come. */
  function turn({ signal, bytes, clientId, caller }: AdmissionWish): Promise<Waiter> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      let hasBegun = false
      const stop = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
      }
      const giveUp = (reason: unknown) => {
        stop()
        waiting.remove(waiter)
        reject(reason)
        // This waiter may have been the one that blocked the next.
        letIn()
      }
      const leave = () => giveUp(signal.reason)
      const waiter: Waiter = {
        clientId,
        caller,
        bytes,
        isHeavy: bytes > heavyFrom,
        begin() {
          hasBegun = true
          stop()
          resolve(waiter)
        },
      }
      waiting.add(waiter)
      letIn()
      if (hasBegun) return
      timer = setTimeout(() => giveUp(waitedTooLong()), waitMs)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  const admit: Admission = async (work, wish) => {
    wish.signal.throwIfAborted()
    const isHeavy = wish.bytes > heavyFrom
    const runsAtOnce =
      slots.isFreeFor({ ...wish, isHeavy }) && (!isHeavy || slots.heavyRunning + waiting.heavy() === 0)
    if (!runsAtOnce) waiting.checkRoom(wish)
    const waiter = await turn(wish)
    const startedAt = now()
    let cpuMs: number | undefined
    try {
      wish.signal.throwIfAborted()
      return await work((more) => {
        cpuMs = (cpuMs ?? 0) + more
      })
    } finally {
      end(waiter, turnCostMs({ cpuMs, slotMs: now() - startedAt }))
    }
  }
  return Object.assign(admit, { load: () => ({ running: slots.running, waiting: waiting.size }) })
}

function estimateMs({ bytes }: Waiter): number {
  return bytes / BYTES_PER_CPU_MS
}

function waitedTooLong() {
  return busy('The transformation waited too long for its turn. Retry in a few seconds.')
}
