// What the work below takes on a usual machine.
const USUAL_MS = 15
const TRIES = 5
const ROUNDS = 200
const bytes = Buffer.alloc(65_536, 7)

/**
 * A limit of CPU time for the machine as it is now: where a fixed piece of work takes twice as long as on a usual machine, the
 * limit is twice as long too. CPU time also grows when other programs share the caches of the processor.
 *
 * @param usualMs the limit on a usual machine, which is also the least one
 */
export function cpuLimit(usualMs: number): number {
  const times = Array.from({ length: TRIES }, () => cpuMsOf(sumOften))
  return usualMs * Math.max(1, Math.min(...times) / USUAL_MS)
}

/** CPU time of this process, of all its threads, while the work runs, in milliseconds. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function sumOften(): void {
  for (let i = 0; i < ROUNDS; i += 1) sum()
}

// A function that is called often is compiled early: the time then differs by a fiftieth from call to call.
function sum(): number {
  let total = 0
  for (let i = 0; i < bytes.length; i += 1) total = (total * 31 + (bytes[i] ?? 0)) | 0
  return total
}
