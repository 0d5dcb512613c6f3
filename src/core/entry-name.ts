import { badPath } from './problem.ts'

const MAX_BYTES = 1024

/**
 * Checks the name of a file inside an archive: a relative path with "/" that stays inside wherever it is unpacked.
 * @throws Problem 400
 */
export function checkEntryName(name: string, param: string): string {
  const reason = unsafe(name)
  if (reason) throw badPath(param, reason, name)
  return name
}

/**
 * The name, or the next free one: `a.png`, `a (2).png`, `a (3).png`. Adds it to `taken`.
 */
export function distinctName(name: string, taken: Set<string>): string {
  const slash = name.lastIndexOf('/')
  const dot = name.lastIndexOf('.')
  // A dot at the start of the last segment begins a hidden file's name, not an extension.
  const end = dot > slash + 1 ? dot : name.length
  let candidate = name
  for (let number = 2; taken.has(candidate); number += 1)
    candidate = `${name.slice(0, end)} (${number})${name.slice(end)}`
  taken.add(candidate)
  return candidate
}

function unsafe(name: string): string | undefined {
  if (name === '') return 'not empty'
  if (Buffer.byteLength(name) > MAX_BYTES) return `at most ${MAX_BYTES} bytes`
  if (!name.isWellFormed()) return 'well-formed Unicode'
  if (/[\p{Cc}\u2028\u2029\uFFFE\uFFFF]/u.test(name)) return 'no control characters'
  if (name.startsWith('/')) return 'no "/" at its start'
  if (name.includes('\\')) return 'no "\\"'
  if (/^[a-z]:/i.test(name)) return 'no drive letter'
  for (const segment of name.split('/')) {
    if (segment === '') return 'no empty segment'
    if (segment === '.' || segment === '..') return `no "${segment}" segment`
  }
  return undefined
}
