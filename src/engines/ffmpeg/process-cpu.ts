import { readFileSync } from 'node:fs'
import { cpuMsOf } from '../../core/budgets/process-stat.ts'

// A process that has ended cannot be asked any more.
const LOOK_MS = 50

/**
 * Measures the CPU time of a process that starts now, by looking at it every 50 ms. What comes after the last look counts as
 * one thread that was busy. Where there is no `/proc`, that is all of its time.
 *
 * @returns a function that ends the measurement and returns its milliseconds
 */
export function measureCpu(pid: number): () => number {
  let cpuMs = 0
  let lookedAt = performance.now()
  const looking = setInterval(() => {
    try {
      cpuMs = cpuMsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      lookedAt = performance.now()
    } catch {
      // It has ended, or this is not Linux.
    }
  }, LOOK_MS)
  return () => {
    clearInterval(looking)
    return cpuMs + performance.now() - lookedAt
  }
}
