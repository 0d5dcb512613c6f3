import { cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

const SPAN_MS = 1000

/** The share of the CPU time of all cores that no process of this machine uses in the next second, from 0 to 1. */
export async function idleCpu(signal: AbortSignal, { times = timesOfCores } = {}): Promise<number> {
  const before = times()
  await pause(SPAN_MS, undefined, { signal })
  const after = times()
  return (after.idle - before.idle) / Math.max(1, after.all - before.all)
}

/** In milliseconds since the start of the machine. */
function timesOfCores(): { idle: number; all: number } {
  const times = cpus().map((core) => core.times)
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((core) => Object.values(core))) }
}
