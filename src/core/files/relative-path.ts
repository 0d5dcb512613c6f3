/** Characters that no path may have: control characters, line separators, and characters that XML cannot carry. */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029\uFFFE\uFFFF]/u

/**
 * A character that no new folder or name may have: {@link CONTROL_CHARACTERS}, and marks of text direction, which
 * show "gnp.exe" as "exe.png". Keys of older files may have such marks.
 */
export const UNSEEN_CHARACTER = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\uFFFE\uFFFF]/u

/** The rule about {@link UNSEEN_CHARACTER}, as error messages state it. */
export const NOTHING_UNSEEN = 'without control characters and marks of text direction'

/**
 * Returns the rule that a relative path with "/" between its segments violates; undefined for a valid path. The text
 * continues the words "a relative path": `without a ".." segment`.
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
