import { isDeepStrictEqual } from 'node:util'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { FileRef } from '../../core/files/file-ref.ts'
import type { Finding, FindingKind } from '../../core/files/finding.ts'
import {
  classifyKey,
  clientRecordPrefix,
  type KeyClass,
  type ObjectKey,
  remoteRecordPrefix,
} from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { DerivativeRecord, FileLists, FileLookup } from '../../core/ports/file-index.ts'
import type { Records } from '../originals/records.ts'
import { type StoredOriginal, suspicion, wrongDerivative, wrongOriginal } from './compare.ts'
import { createDigestCheck, type DigestCheck } from './digest-check.ts'
import { withEachClient } from './each-client.ts'
import { CONCURRENCY, type Walk } from './scan.ts'

/** What a check has seen, apart from what it has found. */
export interface CheckReport {
  /** Objects of the bucket. */
  originals: number
  derivatives: number
  /** Objects that are none of ours. */
  others: number
  /** Uploads, transformations and deletes under way. */
  inProgress: number
  findings: Partial<Record<FindingKind, number>>
  /** Of originals, when their digests were compared. */
  bytesRead?: number
}

/**
 * Compares bucket and index, both ways, and changes nothing. Files may come and go meanwhile: whatever looks wrong is
 * looked at once more before it is told. It needs little memory for any number of files; one that Redis lists twice
 * may be told twice.
 *
 * @param walk.digests reads all originals as well, and compares their SHA-256 with those in the index
 * @throws Problem 404 when there is no such client, 503 when bucket or index cannot be read
 */
export type Check = (walk: Walk & { digests?: boolean }) => Promise<CheckReport>

/** What was seen of one object or entry. */
type Seen = KeyClass['kind'] | 'other' | 'in progress' | 'entry' | Finding

export function createCheck({
  index,
  buckets,
  clients,
  records,
}: {
  index: FileLookup & FileLists
  buckets: Buckets
  clients: ClientStore
  records: Pick<Records, 'withLock'>
}): Check {
  /** One object of the bucket, and whether the index knows it. */
  async function lookAtObject(client: Client, key: ObjectKey): Promise<Seen> {
    const meaning = classifyKey(key)
    if (!meaning) return RECORD_PREFIXES.some((prefix) => key.startsWith(prefix)) ? 'record' : 'other'
    const { kind, original } = meaning
    const ref = { clientId: client.id, key: original.key }
    const derivative = meaning.kind === 'part' ? meaning.derivative : kind === 'derivative' ? key : undefined
    const known = await index.find(ref, derivative)
    const isTrashed = known.original?.state === 'trashed'
    const isSettled = known.original === undefined || known.original.state === 'stored' || isTrashed
    if (!isSettled || known.derivative?.state === 'pending') return 'in progress'
    if (derivative ? known.derivative : known.original) return kind
    // What is found of one that was thrown away goes with it, or is taken in when that comes back.
    if (isTrashed) return kind
    const suspect = await suspicion(buckets.of(client), {
      ...meaning,
      isIndexed: known.original !== undefined,
    })
    // It may have been deleted, or be known, since it was listed.
    if (
      !suspect ||
      !(await buckets.of(client).find(key)) ||
      !isDeepStrictEqual(await index.find(ref, derivative), known)
    )
      return kind
    return { kind: suspect, clientId: client.id, key }
  }

  /** One original or derivative that the index has as stored, and whether the bucket has it as well. */
  async function lookAtEntry(
    client: Client,
    { ref, entry, digests }: { ref: FileRef; entry: Entry; digests: DigestCheck | undefined },
  ): Promise<Seen> {
    const bucket = buckets.of(client)
    const { key } = entry.record
    const wrong =
      entry.kind === 'original'
        ? await wrongOriginal(bucket, entry, digests)
        : await wrongDerivative(bucket, entry.record)
    if (!wrong) return 'entry'
    const known = await index.find(ref, key)
    const now = entry.kind === 'original' ? known.original : known.derivative
    // Deleted or made anew since it was listed.
    if (!isKept(known.original) || !isKept(now)) return 'entry'
    if (!isDeepStrictEqual(now.record, entry.record)) return 'entry'
    return wrong.kind === 'record differs' ? lookAlone(client, ref) : { clientId: client.id, key, ...wrong }
  }

  /** Once no change is in progress: until it has ended, record and index differ. */
  function lookAlone(client: Client, ref: FileRef): Promise<Seen> {
    return records.withLock(client, ref.key, async () => {
      const { original } = await index.find(ref)
      const wrong = isKept(original) && (await wrongOriginal(buckets.of(client), original))
      return wrong ? { clientId: client.id, key: ref.key, ...wrong } : 'entry'
    })
  }

  async function clientOf(id: string): Promise<Client | undefined> {
    if (!clients.find(id)) await clients.refresh()
    return clients.find(id)
  }

  async function* entries(clientId: string | undefined): AsyncGenerator<{ ref: FileRef; entry?: Entry }> {
    for await (const { ref, original, derivatives } of index.list(clientId)) {
      yield isKept(original) ? { ref, entry: { ...original, kind: 'original' } } : { ref }
      for (const { entry } of isKept(original) ? derivatives : [])
        yield entry.state === 'stored'
          ? { ref, entry: { kind: 'derivative', record: entry.record } }
          : { ref }
    }
  }

  return async ({ clientId, signal, digests: withDigests = false, found, progress }) => {
    const digests = withDigests ? createDigestCheck({ signal }) : undefined
    const report: CheckReport = { originals: 0, derivatives: 0, others: 0, inProgress: 0, findings: {} }
    let looked = 0
    let findings = 0
    const note = async (seen: Seen) => {
      looked += 1
      if (seen === 'original') report.originals += 1
      else if (seen === 'derivative') report.derivatives += 1
      else if (seen === 'other') report.others += 1
      else if (typeof seen === 'object') {
        findings += 1
        report.findings[seen.kind] = (report.findings[seen.kind] ?? 0) + 1
        await found(seen)
      }
      await progress({ looked, findings })
    }

    await withEachClient(clients, clientId, async (client) => {
      const work = (key: ObjectKey) => lookAtObject(client, key)
      for await (const seen of mapConcurrent(buckets.of(client).list(''), {
        concurrency: CONCURRENCY,
        signal,
        work,
      }))
        await note(seen)
    })
    const work = async ({ ref, entry }: { ref: FileRef; entry?: Entry }): Promise<Seen> => {
      const client = await clientOf(ref.clientId)
      if (client) return entry ? lookAtEntry(client, { ref, entry, digests }) : 'in progress'
      // Perhaps it has been removed, with its files, since this was listed.
      const isKnown = (await index.find(ref)).original !== undefined
      return isKnown ? { kind: 'client unknown', clientId: ref.clientId, key: ref.key } : 'entry'
    }
    for await (const seen of mapConcurrent(entries(clientId), { concurrency: CONCURRENCY, signal, work })) {
      // Counted here only: what is under way has an entry, but not always an object yet.
      if (seen === 'in progress') report.inProgress += 1
      await note(seen)
    }
    return digests ? { ...report, bytesRead: digests.bytesRead() } : report
  }
}

// Of clients, and of what remote files are kept as.
const RECORD_PREFIXES = [clientRecordPrefix, remoteRecordPrefix]

/** Whether the bucket has to have it. */
function isKept<T extends { state: string }>(
  entry: T | undefined,
): entry is Extract<T, { state: 'stored' | 'trashed' }> {
  return entry?.state === 'stored' || entry?.state === 'trashed'
}

type Entry = ({ kind: 'original' } & StoredOriginal) | { kind: 'derivative'; record: DerivativeRecord }
