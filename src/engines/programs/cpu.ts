import { readFileSync } from 'node:fs'
import { cpuMsOf } from '../../core/budgets/process-stat.ts'

// The CPU time of a process is not readable after its end, so it is read repeatedly.
const LOOK_MS = 50

/**
 * Measures the CPU time of a process that starts now, by a read every 50 ms. The time after the last read counts as
 * one busy thread. Without `/proc`, this is the whole time.
 *
 * @returns a function that ends the measurement and returns the CPU time in milliseconds
 */
export function measureCpu(pid: number): () => number {
  let cpuMs = 0
  let lookedAt = performance.now()
  const looking = setInterval(() => {
    try {
      cpuMs = cpuMsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      lookedAt = performance.now()
    } catch {
      // The process has ended, or this is not Linux.
    }
  }, LOOK_MS)
  return () => {
    clearInterval(looking)
    return cpuMs + performance.now() - lookedAt
  }
}
