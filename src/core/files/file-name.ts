import { type Format, formatNamed, formatOfExtension } from '../media/formats.ts'
import { UNSEEN_CHARACTER } from './relative-path.ts'

/** Of one name, in UTF-8: what file systems take. */
export const NAME_MAX_BYTES = 255
const ENDING_MAX_BYTES = 16

/**
 * A file name as it is kept: the last part of a path, without control characters and marks of text direction, at
 * most 255 bytes. May be empty.
 */
export function cleanFileName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  const clean = base.toWellFormed().replace(new RegExp(UNSEEN_CHARACTER, 'gu'), '').trim()
  // A folder's name for itself and for the one above it.
  if (clean === '.' || clean === '..') return ''
  const { stem, ending } = splitName(clean)
  return fittedName(stem, ending)
}

/** `photo.png` is `photo` and `.png`. A hidden file's dot begins no ending, nor does one with a sentence behind it. */
export function splitName(name: string): { stem: string; ending: string } {
  const dot = name.lastIndexOf('.')
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= ENDING_MAX_BYTES ? dot : name.length
  return { stem: name.slice(0, end), ending: name.slice(end) }
}

/** A name of at most 255 bytes: its stem is cut, between characters, so that there is room for the ending. */
export function fittedName(stem: string, ending: string): string {
  let bytes = Buffer.byteLength(ending)
  let kept = ''
  for (const character of stem) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_MAX_BYTES) break
    kept += character
  }
  return kept + ending
}

/**
 * The name that a file or path has in another format: `photo.png` as WebP is `photo.webp`. An ending that is no
 * format's, as in `v1.2`, stays.
 */
export function nameInFormat(path: string, { extension }: Format): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const { stem, ending } = splitName(name)
  const known = ending.slice(1).toLowerCase()
  const isFormat = formatOfExtension(known) ?? formatNamed(known)
  return path.slice(0, path.length - name.length) + fittedName(isFormat ? stem : name, `.${extension}`)
}
