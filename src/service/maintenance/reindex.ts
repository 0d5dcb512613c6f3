import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, recordPrefix } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { FileIndex, IndexedFile } from '../../core/ports/file-index.ts'
import type { ForgetMissing } from '../originals/forget-missing.ts'
import { withEachClient } from './each-client.ts'
import type { TakeIn, TakenIn } from './take-in.ts'
import { CONCURRENCY, type Walk } from './walk.ts'

/** The numbers of clients, originals and derivatives that a reindex has processed. */
export interface ReindexReport {
  clients: number
  originals: Filled & {
    /** Index entries that were removed, because the bucket has no object of the file. */
    removed: number
  }
  derivatives: Filled
}

interface Filled {
  /** The index already had them. */
  known: number
  /** They were added to the index. */
  added: number
  /** They cannot be indexed. Each is reported as a finding. */
  left: number
}

/**
 * Fills the index from the bucket: originals from their records, then derivatives from their keys. It reads every record, even where
 * the list of the bucket has not changed. Existing entries remain, so this may run next to a live service, be aborted, and
 * run again. Files deleted in the meantime stay deleted. For each known original, the index is updated from the record, including
 * the trash. An original without any object in the bucket is removed from the index. The counters of folders are counted again.
 * After a run over all clients, lists of originals are complete.
 *
 * @throws Problem 404 when the client does not exist, 503 when bucket or index are unavailable
 */
export type Reindex = (walk: Walk) => Promise<ReindexReport>

export function createReindex({
  index,
  buckets,
  clients,
  takeIn,
  forgetMissing,
}: {
  index: FileIndex
  buckets: Buckets
  clients: ClientStore
  takeIn: TakeIn
  forgetMissing: ForgetMissing
}): Reindex {
  return async ({ clientId, signal, found, progress }) => {
    const report: ReindexReport = {
      clients: 0,
      originals: { known: 0, added: 0, left: 0, removed: 0 },
      derivatives: { known: 0, added: 0, left: 0 },
    }
    let looked = 0
    let findings = 0
    const fill = async (
      client: Client,
      {
        prefix,
        filled,
        work,
      }: {
        prefix: string
        filled: Filled
        work: (client: Client, key: ObjectKey) => Promise<TakenIn | undefined>
      },
    ) => {
      const done = async (key: ObjectKey) => ({ key, outcome: await work(client, key) })
      for await (const { key, outcome } of mapConcurrent(buckets.of(client).list(prefix), {
        concurrency: CONCURRENCY,
        signal,
        work: done,
      })) {
        looked += 1
        if (typeof outcome === 'object') {
          findings += 1
          filled.left += 1
          await found({ clientId: client.id, key, ...outcome })
        } else if (outcome === 'known' || outcome === 'added') filled[outcome] += 1
        await progress({ looked, findings })
      }
    }

    const { id: run, data } = await index.run()
    await withEachClient(clients, clientId, async (client) => {
      report.clients += 1
      await fill(client, { prefix: recordPrefix, filled: report.originals, work: takeIn.original })
      await index.recount(client.id, { repair: true, signal })
    })
    // An index that was emptied or replaced since the start has lost the entries of this run.
    if (clientId === undefined) await index.markComplete(run ?? data)
    await withEachClient(clients, clientId, async (client) => {
      const work = (file: IndexedFile) => forgetMissing(client, file)
      for await (const isRemoved of mapConcurrent(index.list(client.id), {
        concurrency: CONCURRENCY,
        signal,
        work,
      }))
        if (isRemoved) report.originals.removed += 1
      await fill(client, { prefix: '', filled: report.derivatives, work: takeIn.derivative })
    })
    if (clientId === undefined && run !== undefined) await index.noteCompared(run)
    return report
  }
}
