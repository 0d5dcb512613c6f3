import { type Format, formatOfExtension, knownFormat } from '../formats.ts'

// Names of streams in the directory, with the format that each one indicates.
const STREAMS: ReadonlyArray<readonly [name: string, format: string]> = [
  ['WordDocument', 'doc'],
  ['PowerPoint Document', 'ppt'],
  ['Workbook', 'xls'],
  ['Book', 'xls'],
  ['VisioDocument', 'vsd'],
  ['__properties_version1.0', 'msg'],
]
const FAMILY = new Set(['doc', 'xls', 'ppt', 'msg', 'vsd', 'msi'])
// These are ZIPs, but with a password Office writes them as a stream of a compound file.
const ENCRYPTED = /^(?:doc|dot|xls|xlt|ppt|pps|pot)[xm]$|^vsdx$/
const ENTRY_BYTES = 128

/** Whether these are the first bytes of a compound file (MS-CFB). */
export function isCompound(head: Uint8Array): boolean {
  return head.length >= 52 && head[0] === 0xd0 && head[1] === 0xcf && head[2] === 0x11 && head[3] === 0xe0
}

/** The start of a compound file's directory and the length of its first sector, in bytes. @see MS-CFB, section 2.2 */
export function compoundDirectory(head: Uint8Array): { start: number; length: number } {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const sectorBytes = view.getUint16(30, true) === 12 ? 4096 : 512
  return { start: (view.getUint32(48, true) + 1) * sectorBytes, length: sectorBytes }
}

/**
 * Returns the format of a compound file: by its directory, otherwise by the extension of its name, otherwise `cfb`.
 * Only the first sector of the directory is read, and sectors that follow it directly.
 */
export function compoundFormat(head: Uint8Array, extension: string): Format {
  const { start } = compoundDirectory(head)
  const names = entryNames(head.subarray(start, start + 4096))
  const stream = STREAMS.find(([name]) => names.has(name))
  if (stream) return knownFormat(stream[1])
  const named = formatOfExtension(extension)
  return named && (FAMILY.has(named.name) || ENCRYPTED.test(named.name)) ? named : knownFormat('cfb')
}

function entryNames(directory: Uint8Array): Set<string> {
  const names = new Set<string>()
  for (let at = 0; at + ENTRY_BYTES <= directory.length; at += ENTRY_BYTES) {
    const length = Math.min(64, (directory[at + 64] ?? 0) + 256 * (directory[at + 65] ?? 0))
    if (length > 2) names.add(new TextDecoder('utf-16le').decode(directory.subarray(at, at + length - 2)))
  }
  return names
}
