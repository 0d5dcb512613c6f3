import { type Format, formatNamed, formatOfExtension } from '../media/formats.ts'
import { UNSEEN_CHARACTER } from './relative-path.ts'

/** Limit of one file name in UTF-8, as most file systems have it. */
export const NAME_MAX_BYTES = 255
const ENDING_MAX_BYTES = 16

/**
 * Cleans a file name for storage: the last part of the path, without control characters and marks of text direction,
 * at most 255 bytes. May be empty.
 */
export function cleanFileName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  const clean = base.toWellFormed().replace(new RegExp(UNSEEN_CHARACTER, 'gu'), '').trim()
  // The names of the folder itself and of its parent.
  if (clean === '.' || clean === '..') return ''
  const { stem, ending } = splitName(clean)
  return fittedName(stem, ending)
}

/**
 * Splits `photo.png` into `photo` and `.png`. The first dot of a hidden file begins no ending. Nor does a dot with
 * more than 15 bytes after it, such as a sentence.
 */
export function splitName(name: string): { stem: string; ending: string } {
  const dot = name.lastIndexOf('.')
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= ENDING_MAX_BYTES ? dot : name.length
  return { stem: name.slice(0, end), ending: name.slice(end) }
}

/** Returns a name of at most 255 bytes: the stem is cut, between characters, so that there is room for the ending. */
export function fittedName(stem: string, ending: string): string {
  let bytes = Buffer.byteLength(ending)
  let name = ''
  for (const character of stem) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_MAX_BYTES) break
    name += character
  }
  return name + ending
}

/** Whether the name ends with an extension of a known format: `photo.png`, but not `v1.2`. */
export function hasKnownExtension(name: string): boolean {
  const ending = splitName(name).ending.slice(1).toLowerCase()
  return (formatOfExtension(ending) ?? formatNamed(ending)) !== undefined
}

/**
 * Returns the name of a file or path in another format: `photo.png` as WebP is `photo.webp`. An ending that is not a
 * known format, as in `v1.2`, is not replaced.
 */
export function nameInFormat(path: string, { extension }: Format): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const { stem } = splitName(name)
  const stemOfName = hasKnownExtension(name) ? stem : name
  return path.slice(0, path.length - name.length) + fittedName(stemOfName, `.${extension}`)
}
