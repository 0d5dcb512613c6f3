import { createHash } from 'node:crypto'
import { fileIdOf, newOriginal } from '../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import type { FileIndex, OriginalRecord } from '../../../src/core/ports/file-index.ts'

const FORMATS = ['png', 'jpeg', 'mp4', 'pdf'].map(knownFormat)
const FOLDERS = ['', 'a', 'a/b', 'b']
const WORDS = ['Invoice', 'photo', 'GRÖSSE', 'Screenshot of a window', '日本', 'IMG']

// So many calls at a time share a write to the disk.
const AT_ONCE = 100

/** The records of files with names as they occur: words, dates and numbers. The same for the same number. */
export function manyRecords(count: number): OriginalRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const at = <T>(items: readonly T[], step: number) => items[Math.floor(i / step) % items.length] as T
    const format = at(FORMATS, 3)
    const sha256 = createHash('sha256').update(String(i)).digest('hex')
    const id = fileIdOf(Buffer.from(sha256.slice(0, 32), 'hex'))
    const day = String(20_200_101 + ((i * 7919) % 28) + 100 * ((i * 104_729) % 12))
    return {
      key: newOriginal({ folder: at(FOLDERS, 7), format, id }).key,
      originalName: `${at(WORDS, 1)} ${day} ${(i * 7919) % 100_003}.${format.extension}`,
      mediaType: format.mediaType,
      size: (i * 7919) % 1009,
      sha256,
      storedAt: 1_800_000_000_000 + ((i * 31) % count),
      ...(i % 5 === 0 ? { tags: i % 500 === 0 ? ['rare', 'often'] : ['often'] } : {}),
    }
  })
}

/** Adds originals to an index, each hundredth to the trash unless `trashed` is false. */
export async function adoptMany(
  index: FileIndex,
  clientId: string,
  records: readonly OriginalRecord[],
  { trashed = true } = {},
): Promise<void> {
  for (let from = 0; from < records.length; from += AT_ONCE)
    await Promise.all(
      records
        .slice(from, from + AT_ONCE)
        .map((record, i) =>
          index.adopt(clientId, record, ...(trashed && i % 100 === 99 ? [{ at: 1, until: 2 ** 52 }] : [])),
        ),
    )
}
