import { type Format, formatNamed, formatOfExtension } from './media.ts'
import { CONTROL_CHARACTERS } from './relative-path.ts'

const MAX_BYTES = 255

/**
 * A file name as it is kept: the last part of a path, without control characters, at most 255 bytes, cut between
 * characters. May be empty.
 */
export function cleanFileName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  const clean = base.toWellFormed().replace(new RegExp(CONTROL_CHARACTERS, 'gu'), '').trim()
  let bytes = 0
  let kept = ''
  for (const character of clean) {
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_BYTES) break
    kept += character
  }
  return kept
}

/**
 * The name that a file or path has in another format: `photo.png` as WebP is `photo.webp`. An ending that is no
 * format's, as in `v1.2`, stays.
 */
export function nameInFormat(name: string, { extension }: Format): string {
  const dot = name.lastIndexOf('.')
  const ending = name.slice(dot + 1).toLowerCase()
  // A dot at the start begins a hidden file's name.
  const ended = dot > name.lastIndexOf('/') + 1 && (formatOfExtension(ending) ?? formatNamed(ending))
  return `${ended ? name.slice(0, dot) : name}.${extension}`
}
