import { badPath } from '../problem.ts'
import { fittedName, NAME_MAX_BYTES, splitName } from './file-name.ts'
import { relativePathDefect, UNSEEN_CHARACTER } from './relative-path.ts'

const MAX_BYTES = 1024
const UNSEEN = new RegExp(UNSEEN_CHARACTER, 'gu')

/**
 * Checks the name of a file inside an archive: a relative path with "/" that stays inside the folder where it is
 * unpacked. `portableName` replaces the characters that some systems cannot unpack: one odd name must not fail a
 * whole archive.
 *
 * @throws Problem 400 for an absolute path, a ".." segment, or a name that is too long
 */
export function checkEntryName(name: string, param: string): string {
  const expected =
    relativePathDefect(name.replace(UNSEEN, '_'), { maxBytes: MAX_BYTES }) ??
    (name.split('/').some((segment) => Buffer.byteLength(segment) > NAME_MAX_BYTES)
      ? `with segments of at most ${NAME_MAX_BYTES} bytes`
      : undefined)
  if (expected) throw badPath({ param, expected, received: name })
  return name
}

/**
 * Returns the name, or the next free one: `a.png`, `a (2).png`, `a (3).png`. A file and a folder of the same name
 * cannot both be unpacked: the folder of `a/b` becomes `a (2)` when there is a file `a`. On macOS and Windows, a name
 * replaces another one that differs only in case (`A.png`, `a.png`) or in Unicode normalization ("é" as one character
 * or as two), so these count as equal too.
 *
 * @param taken earlier names and, with a slash at the end, folders; this name and its folders are added
 */
export function distinctName(name: string, taken: TakenNames): string {
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

/** The names in an archive. Names are equal when some file system treats them as equal. */
export class TakenNames {
  readonly #folded = new Set<string>()

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name)
  }

  add(name: string): void {
    this.#folded.add(folded(name))
  }

  has(name: string): boolean {
    return this.#folded.has(folded(name))
  }
}

/** Upper case makes more names equal than lower case: "ς" and "σ", "ß" and "ss". */
function folded(name: string): string {
  return name.normalize('NFC').toUpperCase()
}

/** The first free name of `a.png`, `a (2).png`, … below a folder. */
function free(folder: string, segment: string, isFree: (path: string) => boolean): string {
  const { stem, ending } = splitName(segment)
  let path = folder + segment
  for (let number = 2; !isFree(path); number += 1) path = folder + fittedName(stem, ` (${number})${ending}`)
  return path
}
