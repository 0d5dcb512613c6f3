import { createAccounts } from '../core/budgets/accounts.ts'
import type { Caller } from '../core/caller.ts'
import { unavailable } from '../core/problem.ts'
import { createWaitingList, payerOf, type Waiter, type WaitingLimits } from './waiting-list.ts'

/**
 * Lets work in, some at a time.
 * @throws Problem 503 at once when too many wait already, of all or of this caller; 503 when its turn does not come in time
 */
export type Admission = <T>(work: () => Promise<T>, wish: AdmissionWish) => Promise<T>

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

export interface AdmissionLimits {
  atOnce: number
  waiting: WaitingLimits
  /** How long one waits for its turn. */
  waitMs: number
  /** Work that takes more is heavy. */
  heavyFrom: number
  /** Bytes that the heavy ones that run together may take; one that would take more runs when no other does. */
  heavyBytes: number
}

// While both wait, one heavy one follows so many light ones.
const LIGHT_PER_HEAVY = 4
// A rough guess of the time from the memory, until the work has run and its true time is known.
const BYTES_PER_CPU_MS = 20_000

/**
 * Serves clients in turns by what they have spent, within a client its callers' addresses; work with a secret gets every
 * second turn while it waits. In two lines: the light ones never wait for the heavy ones alone, since one place is kept from
 * those where there are two; and of five places that become free, a heavy one that fits gets one.
 *
 * @param now a clock in milliseconds that never goes back
 */
export function createAdmission(
  limits: AdmissionLimits,
  now: () => number = () => performance.now(),
): WatchedAdmission {
  const { atOnce, heavyFrom, heavyBytes, waitMs } = limits
  const accounts = createAccounts()
  const waiting = createWaitingList(limits.waiting, accounts)
  let running = 0
  let heavyRunning = 0
  let bytesOfHeavy = 0
  let lightInARow = 0

  function next(): Waiter | undefined {
    if (running >= atOnce) return undefined
    const firstLight = waiting.first({ isHeavy: false })
    const firstHeavy = waiting.first({ isHeavy: true })
    const fits =
      firstHeavy !== undefined &&
      (heavyRunning === 0 || (heavyRunning < atOnce - 1 && bytesOfHeavy + firstHeavy.bytes <= heavyBytes))
    return fits && (firstLight === undefined || lightInARow >= LIGHT_PER_HEAVY) ? firstHeavy : firstLight
  }

  function letIn(): void {
    for (let waiter = next(); waiter; waiter = next()) {
      waiting.take(waiter)
      running += 1
      lightInARow = waiter.isHeavy ? 0 : lightInARow + 1
      if (waiter.isHeavy) {
        heavyRunning += 1
        bytesOfHeavy += waiter.bytes
      }
      accounts.charge(payerOf(waiter), estimateMs(waiter))
      waiter.begin()
    }
  }

  /** @param tookMs 0 for what has not run after all */
  function end(waiter: Waiter, tookMs: number): void {
    running -= 1
    if (waiter.isHeavy) {
      heavyRunning -= 1
      bytesOfHeavy -= waiter.bytes
    }
    accounts.charge(payerOf(waiter), tookMs - estimateMs(waiter))
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
        ...{ clientId, caller, bytes, isHeavy: bytes > heavyFrom },
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
    const waitsForNobody = running < atOnce && (!isHeavy || heavyRunning + waiting.heavy() === 0)
    if (!waitsForNobody) waiting.checkRoom(wish)
    const waiter = await turn(wish)
    const startedAt = now()
    try {
      wish.signal.throwIfAborted()
      return await work()
    } finally {
      end(waiter, now() - startedAt)
    }
  }
  return Object.assign(admit, { load: () => ({ running, waiting: waiting.size }) })
}

function estimateMs({ bytes }: Waiter): number {
  return bytes / BYTES_PER_CPU_MS
}

function waitedTooLong() {
  return unavailable('the turn of this transformation did not come in time; try again in a few seconds')
}
