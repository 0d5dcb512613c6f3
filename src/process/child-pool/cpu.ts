import { readFileSync } from 'node:fs'
import { cpuMsOf } from '../../core/budgets/process-stat.ts'

/** The CPU time of a child. */
export interface CpuMeter {
  /** Looks at it while it lives: a process that has ended cannot be asked any more. */
  look(): void
  /** A task begins. */
  begin(): void
  /** CPU milliseconds since the last time; the first time those of its start are among them. */
  take(): number
}

/** Where there is no `/proc`, `take` answers with the time since `begin`. */
export function createCpuMeter(pid: number | undefined): CpuMeter {
  let seen: number | undefined
  let taken = 0
  let begunAt = performance.now()
  const look = () => {
    try {
      seen = cpuMsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      // It has ended, or this is not Linux: the last value stays.
    }
  }
  return {
    look,
    begin() {
      begunAt = performance.now()
    },
    take() {
      look()
      if (seen === undefined) return performance.now() - begunAt
      const spent = seen - taken
      taken = seen
      return spent
    },
  }
}
