import { fittedName, NAME_MAX_BYTES, splitName } from './file-name.ts'
import { badPath } from './problem.ts'
import { NOTHING_UNSEEN, relativePathDefect, UNSEEN_CHARACTER } from './relative-path.ts'

const MAX_BYTES = 1024

/**
 * Checks the name of a file inside an archive: a relative path with "/" that stays inside wherever it is unpacked.
 * @throws Problem 400
 */
export function checkEntryName(name: string, param: string): string {
  const expected =
    (/^[a-z]:/i.test(name) ? 'without a drive letter' : undefined) ??
    relativePathDefect(name, { maxBytes: MAX_BYTES }) ??
    (UNSEEN_CHARACTER.test(name) ? NOTHING_UNSEEN : undefined) ??
    (name.split('/').some((segment) => Buffer.byteLength(segment) > NAME_MAX_BYTES)
      ? `with segments of at most ${NAME_MAX_BYTES} bytes`
      : undefined)
  if (expected) throw badPath({ param, expected, received: name })
  return name
}

/**
 * The name, or the next free one: `a.png`, `a (2).png`, `a (3).png`. A file and a folder of one name would not unpack
 * either: the folder of `a/b` is called `a (2)` when there is a file `a`.
 *
 * @param taken gets the name, and its folders with a slash at their end
 */
export function distinctName(name: string, taken: Set<string>): string {
  const segments = name.split('/')
  const file = segments.pop() ?? name
  let folder = ''
  for (const segment of segments) {
    folder = `${free(folder, segment, (path) => !taken.has(path))}/`
    taken.add(folder)
  }
  const path = free(folder, file, (candidate) => !taken.has(candidate) && !taken.has(`${candidate}/`))
  taken.add(path)
  return path
}

/** The first of `a.png`, `a (2).png`, … below a folder that is free. */
function free(folder: string, segment: string, isFree: (path: string) => boolean): string {
  const { stem, ending } = splitName(segment)
  let path = folder + segment
  for (let number = 2; !isFree(path); number += 1) path = folder + fittedName(stem, ` (${number})${ending}`)
  return path
}
