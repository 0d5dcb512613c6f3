import { type Accounts, createAccounts, turnCostMs } from '../../core/budgets/accounts.ts'
import type { WaitingLimits } from '../../core/budgets/shares.ts'
import type { Caller } from '../../core/clients/caller.ts'
import { busy } from '../../core/problem.ts'
import { createSlots, type SlotLimits } from './slots.ts'
import type { Spent } from './spending.ts'
import { createWaitingList, payerOf, type Waiter } from './waiting-list.ts'

/**
 * Lets work in, some at a time. The work calls `spent` with the CPU time that it has measured, in one or several parts: its turn
 * is paid with that.
 *
 * @throws Problem 503 at once when too many wait already, of all or of this caller; 503 when its turn does not come in time
 */
export type Admission = <T>(work: (spent: Spent) => Promise<T>, wish: AdmissionWish) => Promise<T>

export interface AdmissionWish {
  signal: AbortSignal
  /** Memory that the work will take. */
  bytes: number
  /** The client whose file it is. */
  clientId: string
  caller: Caller
}

/** An admission that can be watched. */
export type WatchedAdmission = Admission & { load(): { running: number; waiting: number } }

export interface AdmissionLimits extends SlotLimits {
  waiting: WaitingLimits
  /** How long one waits for its turn. */
  waitMs: number
  /** Work that takes more bytes is heavy. */
  heavyFrom: number
}

export interface AdmissionTools {
  /** A clock in milliseconds that never goes back. */
  now?: () => number
  /** What was spent, where several admissions share it. */
  accounts?: Accounts
}

// While both wait, one heavy one follows so many light ones.
const LIGHT_PER_HEAVY = 4
// A rough guess of the cost from the memory, until the work has run and its CPU time is known.
const BYTES_PER_CPU_MS = 20_000

/**
 * Serves clients in turns by what they have spent, within a client its callers' addresses; work with a secret gets every
 * second turn while it waits. In two lines: the light ones never wait for the heavy ones alone, since one slot is kept from
 * those where there are two; and of five slots that become free, a heavy one that fits gets one. A caller who has all the
 * slots that it may have is skipped, see {@link createSlots}.
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

  /** Resolves with whose turn has come. */
  function turn({ signal, bytes, clientId, caller }: AdmissionWish): Promise<Waiter> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
      }
      const giveUp = (reason: unknown) => {
        stop()
        waiting.remove(waiter)
        reject(reason)
        // It may have been the one that kept the next from its turn.
        letIn()
      }
      const leave = () => giveUp(signal.reason)
      const timer = setTimeout(() => giveUp(waitedTooLong()), waitMs)
      const waiter: Waiter = {
        clientId,
        caller,
        bytes,
        isHeavy: bytes > heavyFrom,
        begin() {
          stop()
          resolve(waiter)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.add(waiter)
      letIn()
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
