import { badPath } from './problem.ts'
import { relativePathDefect } from './relative-path.ts'

const MAX_BYTES = 1024

/**
 * Checks the name of a file inside an archive: a relative path with "/" that stays inside wherever it is unpacked.
 * @throws Problem 400
 */
export function checkEntryName(name: string, param: string): string {
  const expected =
    (/^[a-z]:/i.test(name) ? 'without a drive letter' : undefined) ??
    relativePathDefect(name, { maxBytes: MAX_BYTES })
  if (expected) throw badPath({ param, expected, received: name })
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
