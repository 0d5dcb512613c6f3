import crc32 from 'crc-32'

/** The number of cells. It must never change: the cell of a file decides where its index entry is. */
export const CELLS = 64

/**
 * The cell of a file, from 0 to {@link CELLS} (exclusive). It follows from the id alone, so that all keys of a file have the same, and
 * files are equally many in all cells.
 *
 * @param id a file id, or text that begins with one
 */
export function cellOf(id: string): number {
  return (crc32.str(id.slice(0, 22)) >>> 0) % CELLS
}

/** The cell of a file, by the key of the original: its last segment begins with the id. */
export function cellOfKey(key: string): number {
  return cellOf(key.slice(key.lastIndexOf('/') + 1))
}
