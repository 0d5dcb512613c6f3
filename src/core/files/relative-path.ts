/** What no path holds: control characters, line separators, and what XML cannot carry. */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029\uFFFE\uFFFF]/u

/**
 * One of what no new folder and no name holds: the same, and marks of text direction, which show "exe.png" for
 * "gnp.exe". Keys of older files may hold those.
 */
export const UNSEEN_CHARACTER = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\uFFFE\uFFFF]/u

/** What a folder or name without an {@link UNSEEN_CHARACTER} is, as messages say it. */
export const NOTHING_UNSEEN = 'without control characters and marks of text direction'

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
