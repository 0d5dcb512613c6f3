import { isDeepStrictEqual } from 'node:util'
import { aliasRecordPrefix } from '../../core/aliases/name.ts'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { FileRef } from '../../core/files/file-ref.ts'
import type { Finding, FindingKind } from '../../core/files/finding.ts'
import {
  classifyKey,
  clientRecordPrefix,
  type KeyClass,
  membersKey,
  type ObjectKey,
  remoteRecordPrefix,
} from '../../core/files/object-key.ts'
import { foreignDerivatives } from '../../core/foreign/foreign-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { DerivativeRecord, FileLists, FileLookup, OriginalRecord } from '../../core/ports/file-index.ts'
import { redirectPrefix } from '../../core/storage/redirect-key.ts'
import type { Records } from '../originals/records.ts'
import { wrongAlias } from './alias-finding.ts'
import { createDigestCheck, type DigestCheck } from './digest-check.ts'
import { withEachClient } from './each-client.ts'
import { type StoredOriginal, suspicion, wrongDerivative, wrongOriginal } from './findings.ts'
import { CONCURRENCY, type Walk } from './walk.ts'

/** The numbers of a check. The findings themselves are passed to `found`. */
export interface CheckReport {
  /** Numbers of objects in the bucket. */
  originals: number
  derivatives: number
  /** Objects that are not files of Sluice. */
  others: number
  /** Uploads, transformations and deletes in progress. */
  inProgress: number
  findings: Partial<Record<FindingKind, number>>
  /** Bytes of originals, when their digests were compared. */
  bytesRead?: number
}

/**
 * Compares bucket and index in both directions, and the counters of folders and the search with the files. Changes nothing. Files
 * may be added and deleted during the check: each suspected difference is checked again before it is reported. Memory usage does
 * not depend on the number of files. A file that Redis lists twice may be reported twice.
 *
 * @param walk.digests also reads all originals, and compares their SHA-256 with the index
 * @throws Problem 404 when the client does not exist, 503 when bucket or index cannot be read
 */
export type Check = (walk: Walk & { digests?: boolean }) => Promise<CheckReport>

/** The result for one object or entry. */
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
  /** Checks one object of the bucket against the index. */
  async function lookAtObject(client: Client, key: ObjectKey): Promise<Seen> {
    const meaning = classifyKey(key)
    if (key.startsWith(aliasRecordPrefix)) return lookAtAlias(client, key)
    if (!meaning) return RECORD_PREFIXES.some((prefix) => key.startsWith(prefix)) ? 'record' : 'other'
    const { kind, original } = meaning
    const ref = { clientId: client.id, key: original.key }
    const derivative = meaning.kind === 'part' ? meaning.derivative : kind === 'derivative' ? key : undefined
    const known = await index.find(ref, derivative)
    const isTrashed = known.original?.state === 'trashed'
    const isSettled = known.original === undefined || known.original.state === 'stored' || isTrashed
    if (!isSettled || known.derivative?.state === 'pending') return 'in progress'
    if (derivative ? known.derivative : known.original) return kind
    // Derivatives of an original in the trash are deleted with it, or indexed again when it is restored.
    if (isTrashed) return kind
    const suspect = await suspicion(buckets.of(client), {
      ...meaning,
      isIndexed: known.original !== undefined,
    })
    // Since it was listed, it may have been deleted or indexed.
    if (
      !suspect ||
      !(await buckets.of(client).find(key)) ||
      !isDeepStrictEqual(await index.find(ref, derivative), known)
    )
      return kind
    return { kind: suspect, clientId: client.id, key }
  }

  async function lookAtAlias(client: Client, key: ObjectKey): Promise<Seen> {
    const wrong = await wrongAlias(buckets.of(client), {
      key,
      isKnown: async (target) => isStored((await index.find({ clientId: client.id, key: target })).original),
    })
    return wrong ? { clientId: client.id, key, ...wrong } : 'record'
  }

  /** Checks one original or derivative, which is stored by the index, against the bucket. */
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
    if (!wrong) return entry.kind === 'original' ? lookAtSearch(ref, entry.record) : 'entry'
    const known = await index.find(ref, entry.kind === 'original' ? undefined : key)
    const now = entry.kind === 'original' ? known.original : known.derivative
    // Since it was listed, it may have been deleted or created again.
    if (!isStored(known.original) || !isStored(now)) return 'entry'
    if (!isDeepStrictEqual(now.record, entry.record)) return 'entry'
    return wrong.kind === 'record differs'
      ? compareLocked(client, ref)
      : { clientId: client.id, key, ...wrong }
  }

  /** Checks that the search finds an original. */
  async function lookAtSearch(ref: FileRef, record: OriginalRecord): Promise<Seen> {
    if (!(await index.canSearch(ref.clientId)) || (await index.isSearchable(ref.clientId, record)))
      return 'entry'
    const { original } = await index.find(ref)
    // Since it was listed, it may have been changed or deleted.
    if (!isStored(original) || !isDeepStrictEqual(original.record, record)) return 'entry'
    if (await index.isSearchable(ref.clientId, record)) return 'entry'
    return { kind: 'search incomplete', clientId: ref.clientId, key: ref.key }
  }

  /** Compares under the lock: while a change is in progress, record and index differ. */
  function compareLocked(client: Client, ref: FileRef): Promise<Seen> {
    return records.withLock(client, ref.key, async () => {
      const { original } = await index.find(ref)
      const wrong = isStored(original) && (await wrongOriginal(buckets.of(client), original))
      return wrong ? { clientId: client.id, key: ref.key, ...wrong } : 'entry'
    })
  }

  async function clientOf(id: string): Promise<Client | undefined> {
    if (!clients.find(id)) await clients.refresh()
    return clients.find(id)
  }

  async function* entries(clientId: string | undefined): AsyncGenerator<{ ref: FileRef; entry?: Entry }> {
    for await (const { ref, original, derivatives } of index.list(clientId)) {
      yield isStored(original) ? { ref, entry: { ...original, kind: 'original' } } : { ref }
      for (const { entry } of isStored(original) ? derivatives : [])
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
      // Since it was listed, the client may have been removed with its files.
      const isKnown = (await index.find(ref)).original !== undefined
      return isKnown ? { kind: 'client unknown', clientId: ref.clientId, key: ref.key } : 'entry'
    }
    for await (const seen of mapConcurrent(entries(clientId), { concurrency: CONCURRENCY, signal, work })) {
      // Counted only here: a file in progress has an entry, but not always an object yet.
      if (seen === 'in progress') report.inProgress += 1
      await note(seen)
    }
    await withEachClient(clients, clientId, async (client) => {
      if (!(await index.isCounted(client.id))) return
      for (const { state, folder } of await index.recount(client.id, { repair: false, signal }))
        await note({
          kind: 'folder count differs',
          clientId: client.id,
          key: folder === '' ? '/' : folder,
          detail: `${state} files`,
        })
    })
    return digests ? { ...report, bytesRead: digests.bytesRead() } : report
  }
}

// The records of clients, of members and of mirrored remote files, the redirects of moved files, and derivatives of other systems' objects.
const RECORD_PREFIXES = [
  clientRecordPrefix,
  membersKey,
  remoteRecordPrefix,
  redirectPrefix,
  foreignDerivatives,
]

/** Whether the bucket must have the file. */
function isStored<T extends { state: string }>(
  entry: T | undefined,
): entry is Extract<T, { state: 'stored' | 'trashed' }> {
  return entry?.state === 'stored' || entry?.state === 'trashed'
}

type Entry = ({ kind: 'original' } & StoredOriginal) | { kind: 'derivative'; record: DerivativeRecord }
