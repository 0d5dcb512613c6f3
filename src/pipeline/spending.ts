import { cpuUsage } from 'node:process'

/** Called with CPU milliseconds that a transformation has taken. */
export type Spent = (cpuMs: number) => void

/**
 * Measures work in a thread of this process, also work that fails. libvips has one thread for each, whose CPU time Node cannot
 * ask for: it is at most the time from start to end, and at most the CPU time of all of this process in between.
 */
export async function spentHere<T>(work: () => Promise<T>, spent: Spent): Promise<T> {
  const startedAt = performance.now()
  const before = cpuUsage()
  try {
    return await work()
  } finally {
    const { user, system } = cpuUsage(before)
    spent(Math.min(performance.now() - startedAt, (user + system) / 1000))
  }
}
