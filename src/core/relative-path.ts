/**
 * What no path, folder or name holds: control characters, those of direction among them, which show "exe.png" for
 * "gnp.exe", line separators, and what XML cannot carry.
 */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\uFFFE\uFFFF]/u

/**
 * What a path would have to be, to be a plain relative one with "/" between its segments; undefined when it is. Goes
 * on after "a relative path": `without a ".." segment`.
 *
 * @param maxBytes inclusive, of the path in UTF-8
 */
export function relativePathDefect(path: string, { maxBytes }: { maxBytes: number }): string | undefined {
  if (path === '') return 'that is not empty'
  if (Buffer.byteLength(path) > maxBytes) return `of at most ${maxBytes} bytes`
  if (!path.isWellFormed()) return 'of well-formed Unicode'
  if (CONTROL_CHARACTERS.test(path)) return 'without control characters'
  if (path.startsWith('/')) return 'without a "/" at its start'
  if (path.includes('\\')) return 'without a "\\"'
  for (const segment of path.split('/')) {
    if (segment === '') return 'without an empty segment'
    if (segment === '.' || segment === '..') return `without a "${segment}" segment`
  }
  return undefined
}
