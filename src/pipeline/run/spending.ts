import { cpuUsage } from 'node:process'

/** Called with CPU milliseconds that a transformation has taken. */
export type Spent = (cpuMs: number) => void

/**
 * Measures work in a thread of this process, also work that fails: `spent` is called once, at its end.
 * @throws what the work has thrown
 */
export type SpentHere = <T>(work: () => Promise<T>, spent: Spent) => Promise<T>

/** Clocks in milliseconds that never go back. */
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

/**
 * libvips has one thread for each work, whose CPU time Node cannot ask for. So the CPU time of the process is divided evenly among all
 * works that run at the same moment, each getting at most the time that has passed. To be created once for all works of a process.
 */
export function createSpentHere({ now, cpuMs }: Clocks = CLOCKS): SpentHere {
  const running = new Set<{ cpuMs: number }>()
  let lastAt = now()
  let lastCpuMs = cpuMs()

  /** Divides what was taken since the last time that a work began or ended. */
  function divide(): void {
    const [at, taken] = [now(), cpuMs()]
    const share = Math.min(at - lastAt, (taken - lastCpuMs) / Math.max(1, running.size))
    for (const work of running) work.cpuMs += share
    lastAt = at
    lastCpuMs = taken
  }

  return async (work, spent) => {
    divide()
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
