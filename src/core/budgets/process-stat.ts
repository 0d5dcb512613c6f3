// Linux reports CPU time in ticks of USER_HZ, 100 per second, whatever the kernel's own clock.
const TICK_MS = 10

/**
 * The CPU time that a process has used: all its threads, and its children that have ended.
 *
 * @param stat the text of `/proc/<pid>/stat`
 * @returns milliseconds, in steps of ten
 * @see proc(5)
 */
export function cpuMsOf(stat: string): number {
  // The second field is the process name in brackets, which may hold any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return ticks * TICK_MS
}
