import { readFileSync } from 'node:fs'
import { cpuMsOf } from '../../core/budgets/process-stat.ts'

/** Measures the CPU time of a child. */
export interface CpuMeter {
  /** Reads the CPU time while the process lives. After its end it cannot be read. */
  look(): void
  /** Marks the start of a task. */
  begin(): void
  /** CPU milliseconds since the last call. The first call includes the start of the process. */
  take(): number
}

/** Where `/proc` is missing, `take` returns the elapsed time since `begin` instead. */
export function createCpuMeter(pid: number | undefined): CpuMeter {
  let seen: number | undefined
  let taken = 0
  let begunAt = performance.now()
  const look = () => {
    try {
      seen = cpuMsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      // The process has ended, or this is not Linux. The last value is used.
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
