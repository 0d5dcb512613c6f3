import type { UploadPart } from './pieces.ts'
import { notComplete, notPartial, uploadNotFound } from './resumable-problems.ts'
import type { ResumableRecord } from './resumable-record.ts'

/**
 * The complete partial uploads that another upload joins.
 *
 * @param parts their IDs, in order
 * @param options.link the signed link of the upload that joins them; `renew`: begins the lifetime of a part again
 * @throws Problem 404 for a part that does not exist, or was not begun by a link as the other was; 409 for one that is not complete,
 *   or not a part
 */
export async function completeParts(
  parts: readonly string[],
  {
    link,
    read,
    received,
    renew,
  }: {
    link: string | undefined
    read: (id: string) => Promise<ResumableRecord>
    received: (id: string, record: ResumableRecord) => Promise<number>
    renew: (id: string, record: ResumableRecord) => Promise<void>
  },
): Promise<readonly UploadPart[]> {
  const found: UploadPart[] = []
  for (const id of parts) {
    const record = await read(id)
    if ((record.link === undefined) !== (link === undefined)) throw uploadNotFound()
    if (!record.isPartial) throw notPartial()
    const { size } = record
    if (size === undefined || (await received(id, record)) !== size) throw notComplete()
    await renew(id, record)
    found.push({ id, size })
  }
  return found
}
