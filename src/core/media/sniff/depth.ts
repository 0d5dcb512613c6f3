import { compoundDirectory, isCompound } from './compound.ts'
import { id3End } from './id3.ts'
import { tiffDirectory } from './tiff.ts'

// This many bytes are held in memory for each upload until the type is known. For data further behind, the magic
// number and the extension of the name decide.
const MAX_DEPTH = 1024 * 1024
// Bytes after an ID3 tag: as many as a file without a tag needs.
const BEHIND_TAG_BYTES = 4100
// A directory of 512 tags of 12 bytes each, and their number.
const TIFF_DIRECTORY_BYTES = 2 + 512 * 12
// The directory of a small compound file, whose sectors are mostly consecutive.
const COMPOUND_DIRECTORY_BYTES = 4096
// In an office document, several other entries may precede the content types.
const ZIP_BYTES = 64 * 1024

/**
 * How many of a file's first bytes are needed to detect its type; 0 when the head is enough. The result depends on
 * the first 52 bytes alone, so it is the same in each process.
 *
 * @param head the first 52 bytes of the file, or more
 */
export function sniffDepth(head: Uint8Array): number {
  const depth = wanted(head)
  return depth <= MAX_DEPTH ? depth : 0
}

function wanted(head: Uint8Array): number {
  const tagEnd = id3End(head)
  if (tagEnd !== undefined) return tagEnd + BEHIND_TAG_BYTES
  const directory = tiffDirectory(head)
  if (directory !== undefined) return directory + TIFF_DIRECTORY_BYTES
  if (isCompound(head)) return compoundDirectory(head).start + COMPOUND_DIRECTORY_BYTES
  return head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4 ? ZIP_BYTES : 0
}
