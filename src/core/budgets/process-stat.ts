// What Linux counts in, whatever the kernel's own clock: USER_HZ.
const TICK_MS = 10

/**
 * The CPU time that a process has taken, all its threads together, without its children.
 *
 * @param stat the text of `/proc/<pid>/stat`
 * @returns milliseconds, in steps of ten
 * @see proc(5)
 */
export function cpuMsOf(stat: string): number {
  // The second field is a name in brackets, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [fields[11], fields[12]]
  return (Number(user) + Number(system)) * TICK_MS
}
