import type { Client } from '../../core/clients/client.ts'
import type { FindingKind } from '../../core/files/finding.ts'
import { classifyKey, type ObjectKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileIndex, IndexedFile } from '../../core/ports/file-index.ts'
import { isFileReplaced, Problem } from '../../core/problem.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'
import type { Agree } from '../originals/agree.ts'
import type { Originals } from '../originals/originals.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'

/** `gone`: it was deleted since it was listed. A finding: it cannot be indexed. */
export type TakenIn = 'known' | 'added' | 'gone' | { kind: FindingKind; detail?: string }

/** Makes the index know a file that was found in the bucket. Files may be added, changed and deleted at the same time. */
export interface TakeIn {
  /** @param key of the record. @returns undefined for a key of another kind @throws Problem 503 */
  original(client: Client, key: ObjectKey): Promise<TakenIn | undefined>
  /**
   * Adds the original of an entry to lists, counters and the search, if an older version has left it out. Reads no bucket, and changes
   * nothing when the entry was deleted in the meantime.
   */
  indexed(file: Pick<IndexedFile, 'ref' | 'original'>): Promise<void>
  /** @returns undefined for a key of another kind, such as a part of a bundle @throws Problem 503 */
  derivative(client: Client, key: ObjectKey): Promise<TakenIn | undefined>
}

export function createTakeIn({
  index,
  buckets,
  originals,
  agree,
  scans,
  now = Date.now,
}: {
  index: FileIndex
  buckets: Buckets
  originals: Originals
  agree: Agree
  scans: Pick<ScanQueue, 'resume'>
  now?: () => number
}): TakeIn {
  return {
    async indexed({ ref, original }) {
      if (original.state !== 'stored' && original.state !== 'trashed') return
      await index.enlist(ref.clientId, original.record)
      await index.countDerivatives(ref)
    },

    async original(client, key) {
      const meaning = classifyKey(key)
      if (meaning?.kind !== 'record') return undefined
      const full = meaning.original
      const ref = { clientId: client.id, key: full.key }
      const { original: known } = await index.find(ref)
      try {
        if (known) {
          if (known.state === 'pending') {
            if (known.leaseUntil > now()) return 'known'
            // The store has lost the end of its upload, and the index refuses derivatives until then.
            await originals.commit(client, full.key)
          }
          // An older version has stored no lists and no search terms, and has not counted derivatives.
          if (known.state === 'stored' || known.state === 'trashed')
            await index.enlist(client.id, known.record)
          if (known.state === 'stored') await scans.resume(client, known.record)
          await agree(client, full.key)
          await index.countDerivatives(ref)
          return 'known'
        }
        const added = await originals.resolve(client, { full })
        // The queue may be lost with the index.
        if (added) await scans.resume(client, added.record)
        if (added) return 'added'
        if ((await index.find(ref)).original?.state === 'trashed') return 'added'
      } catch (error) {
        // A broken record, or one that is replaced during each read, is reported, and the walk continues. An outage ends it.
        if (error instanceof Problem && !isFileReplaced(error)) throw error
        return { kind: 'failed', detail: (error as Error).message }
      }
      const isLeft = (await buckets.of(client).find(key)) && !(await index.find(ref)).original
      return isLeft ? { kind: 'record without original' } : 'gone'
    },

    async derivative(client, key) {
      const meaning = classifyKey(key)
      if (meaning?.kind !== 'derivative') return undefined
      const ref = { clientId: client.id, key: meaning.original.key }
      const known = await index.find(ref, key)
      if (known.derivative) return 'known'
      const asset = await buckets.of(client).find(key)
      if (!asset) return 'gone'
      if (known.original) {
        const record = await recordOfDerivative(buckets.of(client), key, asset)
        // A delete of an original in the trash relies on the index, too.
        return (await index.adoptDerivative(ref, record, ['stored', 'trashed'])) ? 'added' : 'gone'
      }
      const isLeft = (await buckets.of(client).find(key)) && !(await index.find(ref)).original
      return isLeft ? { kind: 'derivative without original' } : 'gone'
    },
  }
}
