// Linux reports CPU time in ticks of USER_HZ, 100 per second, whatever the kernel's own clock.
const TICK_MS = 10

/**
 * The CPU time that a process has used: all its threads, without its children.
 *
 * @param stat the text of `/proc/<pid>/stat`
 * @returns milliseconds, in steps of ten
 * @see proc(5)
 */
export function cpuMsOf(stat: string): number {
  // The second field is the process name in brackets, which may hold any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [fields[11], fields[12]]
  return (Number(user) + Number(system)) * TICK_MS
}
