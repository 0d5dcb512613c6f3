import { cpuUsage } from 'node:process'

/** Called with the CPU time that a transformation has used, in milliseconds. */
export type Spent = (cpuMs: number) => void

/**
 * Measures work in a thread of this process, including work that fails. Calls `spent` once, at the end.
 *
 * @throws the error of the work
 */
export type SpentHere = <T>(work: () => Promise<T>, spent: Spent) => Promise<T>

/** Monotonic clocks in milliseconds. */
export interface Clocks {
  now: () => number
  /** CPU time of this process. */
  cpuMs: () => number
}

const CLOCKS: Clocks = {
  now: () => performance.now(),
  cpuMs() {
    const { user, system } = cpuUsage()
    return (user + system) / 1000
  },
}

// A read of the CPU time takes 20 to 100 µs, as long as planning a request. In this time, work may get the CPU time of other work.
const SOON_MS = 2

/**
 * libvips uses one thread per work, whose CPU time Node cannot read. So the CPU time of the process is divided evenly
 * among all work that runs at the same moment, and each gets at most the elapsed time. Create one for all work of a
 * process.
 */
export function createSpentHere({ now, cpuMs }: Clocks = CLOCKS): SpentHere {
  const running = new Set<{ cpuMs: number }>()
  let lastAt = now()
  let lastCpuMs = cpuMs()

  /** Divides the CPU time since the last start or end of work. */
  function divide(): void {
    const [at, taken] = [now(), cpuMs()]
    const share = Math.min(at - lastAt, (taken - lastCpuMs) / Math.max(1, running.size))
    for (const work of running) work.cpuMs += share
    lastAt = at
    lastCpuMs = taken
  }

  return async (work, spent) => {
    if (running.size === 0 || now() - lastAt > SOON_MS) divide()
    const mine = { cpuMs: 0 }
    running.add(mine)
    try {
      return await work()
    } finally {
      divide()
      running.delete(mine)
      spent(mine.cpuMs)
    }
  }
}
