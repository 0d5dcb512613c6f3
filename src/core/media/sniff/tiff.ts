/** Whether these are the first bytes of a TIFF or a BigTIFF. */
export function isTiff(head: Uint8Array): boolean {
  const order = byteOrder(head)
  if (order === undefined) return false
  const version =
    order === 'le' ? (head[2] ?? 0) + 256 * (head[3] ?? 0) : 256 * (head[2] ?? 0) + (head[3] ?? 0)
  return version === 42 || version === 43
}

/** The offset of a TIFF's first directory, in bytes; undefined for other files and for a BigTIFF. */
export function tiffDirectory(head: Uint8Array): number | undefined {
  if (!isTiff(head) || head.length < 8 || head[2] === 43 || head[3] === 43) return undefined
  return new DataView(head.buffer, head.byteOffset).getUint32(4, byteOrder(head) === 'le')
}

function byteOrder(head: Uint8Array): 'le' | 'be' | undefined {
  if (head[0] === 0x49 && head[1] === 0x49) return 'le'
  if (head[0] === 0x4d && head[1] === 0x4d) return 'be'
  return undefined
}
