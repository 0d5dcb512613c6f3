import { unavailable } from '../core/problem.ts'

/** Lets work in, some at a time. @throws Problem 503 at once when too many wait already */
export type Admission = <T>(work: () => Promise<T>, wish: AdmissionWish) => Promise<T>

export interface AdmissionWish {
  signal: AbortSignal
  /** Memory that the work will take. */
  bytes: number
}

/** An admission that can be watched. */
export type WatchedAdmission = Admission & { load(): { running: number; waiting: number } }

export interface AdmissionLimits {
  atOnce: number
  waiting: number
  /** Work that takes more is heavy. */
  heavyFrom: number
  /** Bytes that the heavy ones that run together may take; one that would take more runs when no other does. */
  heavyBytes: number
}

// While both wait, one heavy one follows so many light ones.
const LIGHT_PER_HEAVY = 4

/**
 * First come, first served, in two lines: the light ones never wait for the heavy ones alone, since one place is kept
 * from those where there are two; and of five places that become free, a heavy one that fits gets one.
 */
export function createAdmission(limits: AdmissionLimits): WatchedAdmission {
  const { atOnce, waiting, heavyFrom, heavyBytes } = limits
  const light = new Set<Waiter>()
  const heavy = new Set<Waiter>()
  let running = 0
  let heavyRunning = 0
  let bytesOfHeavy = 0
  let lightInARow = 0

  function next(): Waiter | undefined {
    if (running >= atOnce) return undefined
    const [firstLight] = light
    const [firstHeavy] = heavy
    const fits =
      firstHeavy !== undefined &&
      (heavyRunning === 0 || (heavyRunning < atOnce - 1 && bytesOfHeavy + firstHeavy.bytes <= heavyBytes))
    return fits && (firstLight === undefined || lightInARow >= LIGHT_PER_HEAVY) ? firstHeavy : firstLight
  }

  function letIn(): void {
    for (let waiter = next(); waiter; waiter = next()) {
      const isHeavy = heavy.delete(waiter)
      light.delete(waiter)
      running += 1
      lightInARow = isHeavy ? 0 : lightInARow + 1
      if (isHeavy) {
        heavyRunning += 1
        bytesOfHeavy += waiter.bytes
      }
      waiter.begin(() => {
        running -= 1
        if (isHeavy) {
          heavyRunning -= 1
          bytesOfHeavy -= waiter.bytes
        }
        letIn()
      })
    }
  }

  const admit: Admission = async (work, { signal, bytes }) => {
    signal.throwIfAborted()
    const line = bytes > heavyFrom ? heavy : light
    const waitsForNobody = running < atOnce && (line === light || heavyRunning + heavy.size === 0)
    if (light.size + heavy.size >= waiting && !waitsForNobody) {
      throw unavailable('too many transformations wait already; try again in a few seconds')
    }
    const end = await new Promise<() => void>((resolve, reject) => {
      const waiter: Waiter = {
        bytes,
        begin(end) {
          signal.removeEventListener('abort', leave)
          resolve(end)
        },
      }
      const leave = () => {
        line.delete(waiter)
        reject(signal.reason)
        // It may have been the one that kept the next from its turn.
        letIn()
      }
      signal.addEventListener('abort', leave, { once: true })
      line.add(waiter)
      letIn()
    })
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      end()
    }
  }
  return Object.assign(admit, { load: () => ({ running, waiting: light.size + heavy.size }) })
}

interface Waiter {
  bytes: number
  begin(end: () => void): void
}
