import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { FindingKind } from '../../core/files/finding.ts'
import { classifyKey, type ObjectKey, recordPrefix } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { FileIndex, IndexedFile } from '../../core/ports/file-index.ts'
import { Problem } from '../../core/problem.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'
import type { Agree } from '../originals/agree.ts'
import type { ForgetMissing } from '../originals/forget-missing.ts'
import type { Originals } from '../originals/originals.ts'
import { withEachClient } from './each-client.ts'
import { CONCURRENCY, type Walk } from './scan.ts'

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
 * Fills the index from the bucket: originals from their records, then derivatives from their keys. Existing entries
 * remain, so this may run next to a live service, be aborted, and run again. Files deleted in the meantime stay
 * deleted. For each known original, the index is updated from the record, including the trash. An original without any
 * object in the bucket is removed from the index. The counters of folders are counted again. After a run over all clients, lists of originals are complete.
 *
 * @throws Problem 404 when the client does not exist, 503 when bucket or index are unavailable
 */
export type Reindex = (walk: Walk & Continued) => Promise<ReindexReport>

/** A place in a reindex: everything before it is done. */
export interface Position {
  /** Files are compared first, then derivatives. */
  phase: 'originals' | 'derivatives'
  /** Clients are processed in the order of their IDs. */
  clientId: string
  /** The last key that was processed. */
  after: string
}

/** How a reindex of all clients is continued. */
export interface Continued {
  /** Where an earlier one has stopped. */
  from?: Position | undefined
  /** Called for every thousandth key. It is awaited. */
  reached?: (position: Position) => Promise<void>
}

const PHASES: ReadonlyArray<Position['phase']> = ['originals', 'derivatives']
// An interrupted comparison repeats at most these, in some seconds.
const NOTED_EVERY = 1000

type Outcome = 'known' | 'added' | 'gone' | { kind: FindingKind; detail?: string }

export function createReindex({
  index,
  buckets,
  clients,
  originals,
  agree,
  forgetMissing,
}: {
  index: FileIndex
  buckets: Buckets
  clients: ClientStore
  originals: Originals
  agree: Agree
  forgetMissing: ForgetMissing
}): Reindex {
  async function takeInOriginal(client: Client, key: ObjectKey): Promise<Outcome | undefined> {
    const meaning = classifyKey(key)
    if (meaning?.kind !== 'record') return undefined
    const full = meaning.original
    const ref = { clientId: client.id, key: full.key }
    const { original: known } = await index.find(ref)
    try {
      if (known) {
        // An older version has stored no lists and no search terms, and has not counted derivatives.
        if (known.state === 'stored' || known.state === 'trashed') await index.adopt(client.id, known.record)
        await agree(client, full.key)
        await index.countDerivatives(ref)
        return 'known'
      }
      if (await originals.resolve(client, { full })) return 'added'
      if ((await index.find(ref)).original?.state === 'trashed') return 'added'
    } catch (error) {
      // A broken record is reported, and the scan continues. An outage ends the scan.
      if (error instanceof Problem) throw error
      return { kind: 'failed', detail: (error as Error).message }
    }
    const isLeft = (await buckets.of(client).find(key)) && !(await index.find(ref)).original
    return isLeft ? { kind: 'record without original' } : 'gone'
  }

  async function takeInDerivative(client: Client, key: ObjectKey): Promise<Outcome | undefined> {
    const meaning = classifyKey(key)
    if (meaning?.kind !== 'derivative') return undefined
    const ref = { clientId: client.id, key: meaning.original.key }
    const known = await index.find(ref, key)
    if (known.derivative) return 'known'
    const asset = await buckets.of(client).find(key)
    if (!asset) return 'gone'
    if (known.original) {
      const record = await recordOfDerivative(buckets.of(client), key, asset)
      return (await index.adoptDerivative(ref, record)) ? 'added' : 'gone'
    }
    const isLeft = (await buckets.of(client).find(key)) && !(await index.find(ref)).original
    return isLeft ? { kind: 'derivative without original' } : 'gone'
  }

  return async ({ clientId, signal, found, progress, from, reached }) => {
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
        phase,
        filled,
        work,
      }: {
        prefix: string
        phase: Position['phase']
        filled: Filled
        work: (client: Client, key: ObjectKey) => Promise<Outcome | undefined>
      },
    ) => {
      const isContinued = from?.phase === phase && from.clientId === client.id
      const keys = buckets.of(client).list(prefix, { after: isContinued ? from.after : '' })
      const done = async (key: ObjectKey) => ({ key, outcome: await work(client, key) })
      for await (const { key, outcome } of mapConcurrent(keys, {
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
        if (looked % NOTED_EVERY === 0) await reached?.({ phase, clientId: client.id, after: key })
      }
    }
    const isDone = (phase: Position['phase'], client: Client) =>
      from !== undefined &&
      (PHASES.indexOf(from.phase) > PHASES.indexOf(phase) ||
        (from.phase === phase && from.clientId > client.id))

    const { id: run } = await index.run()
    await withEachClient(clients, clientId, async (client) => {
      report.clients += 1
      if (isDone('originals', client)) return
      await fill(client, {
        prefix: recordPrefix,
        phase: 'originals',
        filled: report.originals,
        work: takeInOriginal,
      })
      await index.recount(client.id, { repair: true, signal })
    })
    // An index that was emptied or replaced since the start has lost the entries of this run.
    if (clientId === undefined) await index.markComplete(run)
    await withEachClient(clients, clientId, async (client) => {
      if (isDone('derivatives', client)) return
      const work = (file: IndexedFile) => forgetMissing(client, file)
      const isContinued = from?.phase === 'derivatives' && from.clientId === client.id
      for await (const isRemoved of mapConcurrent(isContinued ? [] : index.list(client.id), {
        concurrency: CONCURRENCY,
        signal,
        work,
      }))
        if (isRemoved) report.originals.removed += 1
      await fill(client, {
        prefix: '',
        phase: 'derivatives',
        filled: report.derivatives,
        work: takeInDerivative,
      })
    })
    if (clientId === undefined && run !== undefined) await index.noteCompared(run)
    return report
  }
}
