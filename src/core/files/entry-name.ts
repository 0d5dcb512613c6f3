import { badPath } from '../problem.ts'
import { fittedName, NAME_MAX_BYTES, splitName } from './file-name.ts'
import { relativePathDefect, UNSEEN_CHARACTER } from './relative-path.ts'

const MAX_BYTES = 1024
const UNSEEN = new RegExp(UNSEEN_CHARACTER, 'gu')

/**
 * Checks the name of a file inside an archive: a relative path with "/" that stays inside wherever it is unpacked. Characters
 * that not every system can unpack are left to `portableName`: one odd name must not refuse a whole archive.
 * @throws Problem 400
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
 * The name, or the next free one: `a.png`, `a (2).png`, `a (3).png`. A file and a folder of one name would not unpack
 * either: the folder of `a/b` is called `a (2)` when there is a file `a`. Nor would `A.png` beside `a.png`, or "é" as one
 * character beside "é" as two, on macOS and Windows: there the second takes the place of the first.
 *
 * @param taken names and, with a slash at their end, folders that were given before; gets this one and its folders
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

/** The names of an archive, equal where any file system takes them for equal. */
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

/** In capitals more are equal than in small letters: "ς" and "σ", "ß" and "ss". */
function folded(name: string): string {
  return name.normalize('NFC').toUpperCase()
}

/** The first of `a.png`, `a (2).png`, … below a folder that is free. */
function free(folder: string, segment: string, isFree: (path: string) => boolean): string {
  const { stem, ending } = splitName(segment)
  let path = folder + segment
  for (let number = 2; !isFree(path); number += 1) path = folder + fittedName(stem, ` (${number})${ending}`)
  return path
}
