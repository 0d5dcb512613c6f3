import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, uploadMaxBytes } from '../../core/clients/client.ts'
import { annotated } from '../../core/files/annotations.ts'
import { cleanFileName } from '../../core/files/file-name.ts'
import {
  newFileId,
  newOriginal,
  type OriginalName,
  parseFolder,
  parseKey,
  recordKey,
} from '../../core/files/object-key.ts'
import { type SniffedType, sniff } from '../../core/media/sniff/sniff.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { FileLists, OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import { unauthorized } from '../clients/access.ts'
import type { FailedUpload, Removals } from '../originals/delete.ts'
import { tellStored } from '../originals/originals.ts'
import { serializeRecord } from '../originals/records.ts'
import { createDeletedTwins, createDuplicates } from './duplicates.ts'
import { measured, metered, newMeter, takeHead } from './incoming-bytes.ts'
import type { IncomingFile, Upload, UploadRequest } from './upload-request.ts'

/** A file on its way into the bucket, as whoever takes it back has to know it. */
interface Coming extends FailedUpload {
  name: OriginalName
}

// Renewed three times in its length, so that two lost renewals do no harm.
const LEASE_MS = 60_000
// Of the 5 s in which an answer is promised a bucket that is out of order has had 3.5 s by then; what is taken back later
// than this is taken back after the answer.
const ABANDON_MS = 1000

// A question to a Redis that does not answer fails after 1.5 s: one that begins by now is over within those 5 s.
const ASK_MS = 3300
const POLL_INTERVAL_MS = 100

export function createUpload({
  index,
  buckets,
  events,
  removals,
  admits,
  maxBytes,
  now = Date.now,
}: {
  index: OriginalIndex & FileLists
  buckets: Buckets
  events: EventBus
  removals: Removals
  /** Whether a client may still store files: it may be removed while it sends. */
  admits: (client: Client) => Promise<boolean>
  /** Of each file, unless its client's rules say less. */
  maxBytes: number
  now?: () => number
}): Upload {
  const findTwins = createDuplicates({ index, buckets })
  const deletedTwins = createDeletedTwins({ index })

  /** `pending` → bytes. */
  async function store(
    file: IncomingFile,
    context: Pick<UploadRequest, 'client' | 'check' | 'id' | 'sniffed' | 'maxBytes' | 'begin' | 'signal'> & {
      bucket: Bucket
      folder: string
      begun: Coming[]
    },
  ) {
    const { client, bucket, begun, check, id, signal } = context
    const incoming = await takeHead(file.bytes)
    if (incoming.head.length === 0) throw emptyFile(file.name)
    const sniffed = context.sniffed ?? (await sniff(incoming.head, file.name))
    check?.(sniffed.format)
    const name = newOriginal({ folder: context.folder, format: sniffed.format, id: id ?? newFileId() })
    await context.begin?.(name)
    await index.beginUpload({ clientId: client.id, key: name.key }, now() + LEASE_MS)
    const coming = { name, key: name.key, mayLand: false }
    begun.push(coming)
    const meter = newMeter(sniffed.format)
    // All or nothing: before its last byte has been sent none of it can land.
    const sent = () => {
      coming.mayLand = true
    }
    const limit = Math.min(uploadMaxBytes(client, maxBytes), context.maxBytes ?? maxBytes)
    const bytes = Readable.from(metered(incoming, { meter, maxBytes: limit, sent }), { objectMode: false })
    await bucket.put(name.key, bytes, { mediaType: sniffed.mediaType, signal })
    coming.mayLand = false
    return describe(file, name, { sniffed, size: meter.size, ...measured(meter), storedAt: now() })
  }

  /** The commit: whoever finds it takes the file for stored. One after the other: none may land after a failure. */
  async function storeRecords(
    records: readonly OriginalRecord[],
    { bucket, begun, signal }: { bucket: Bucket; begun: readonly Coming[]; signal: AbortSignal },
  ) {
    for (const [i, record] of records.entries()) {
      const coming = begun[i] as Coming
      coming.mayLand = true
      const bytes = Readable.from([serializeRecord(record)])
      await bucket.put(recordKey(record.key), bytes, { mediaType: 'application/json', signal })
      coming.mayLand = false
    }
  }

  /**
   * Asks again while the index does not answer: it may have carried the step out, and a second time does no harm.
   * @returns undefined when it has not answered in time
   */
  async function finish(clientId: string, records: readonly OriginalRecord[]): Promise<boolean | undefined> {
    for (const until = performance.now() + ASK_MS; ; ) {
      try {
        return await index.finishUpload(clientId, records)
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'unavailable') throw error
        if (performance.now() + POLL_INTERVAL_MS > until) return undefined
        await pause(POLL_INTERVAL_MS)
      }
    }
  }

  async function takeBack(client: Client, uploads: readonly FailedUpload[]): Promise<void> {
    const abandoned = removals.abandon(client, uploads)
    await Promise.race([abandoned, pause(ABANDON_MS, undefined, { ref: false })])
  }

  return async (request) => {
    const { client, folder, files, check, annotations, confirm, signal } = request
    const bucket = buckets.of(client)
    const context = {
      ...request,
      bucket,
      folder: parseFolder(folder),
      begun: [] as Coming[],
    }
    const refs = () => context.begun.map(({ key }) => ({ clientId: client.id, key }))
    const renewal = setInterval(
      () => void index.renewUpload(refs(), now() + LEASE_MS).catch(() => {}),
      LEASE_MS / 3,
    )
    let records: OriginalRecord[] = []
    let finished: boolean | undefined
    let twins: Array<OriginalRecord | undefined> = []
    try {
      for await (const file of files) records.push(await store(file, context))
      for (const { name } of context.begun) check?.(name.format)
      const said = annotations?.()
      if (said) records = records.map((record) => annotated(record, said))
      await confirm?.()
      // Whoever gave it its id, or was told its key, counts on it: a link, what a remote file is kept as.
      if (client.rules?.dedupe === 'reuse' && !request.id && !request.begin)
        twins = await findTwins(client, records)
      const isNew = (_: unknown, i: number) => !twins[i]
      const fresh = records.filter(isNew)
      await storeRecords(fresh, { bucket, signal, begun: context.begun.filter(isNew) })
      signal.throwIfAborted()
      if (!(await admits(client)))
        throw unauthorized('but its client was removed during the upload; nothing was stored')
      finished = await finish(client.id, fresh)
      // A twin may have been deleted since it was found: then its double is stored.
      const again = finished ? await deletedTwins(client, twins) : []
      for (const i of again) twins[i] = undefined
      if (again.length > 0) {
        const isAgain = (_: unknown, i: number) => again.includes(i)
        const late = records.filter(isAgain)
        await storeRecords(late, { bucket, signal, begun: context.begun.filter(isAgain) })
        finished = await finish(client.id, late)
      }
      if (finished === false) throw unavailable('The upload took too long to finish. Send it again.')
    } catch (error) {
      await takeBack(client, context.begun)
      throw error
    } finally {
      clearInterval(renewal)
    }
    // All of it is there, and the index may know it by now: a sweep finishes what it does not, and tells of it.
    if (finished === undefined)
      throw unavailable('The storage backend did not respond. Send the upload again in a few seconds.')
    // After the answer: while it waited, a delete of the twin could be acknowledged first.
    const doubles = context.begun.filter((_, i) => twins[i])
    if (doubles.length > 0) void removals.abandon(client, doubles)
    return records.map((record, i) => {
      const twin = twins[i]
      const name = twin && parseKey(twin.key)
      if (name) return { name, record: twin, bucketUrl: bucket.urlOf(twin.key) }
      tellStored(events, client, record)
      return { name: (context.begun[i] as Coming).name, record, bucketUrl: bucket.urlOf(record.key) }
    })
  }
}

/** 400: nobody means to keep nothing for ever; a form whose file was not chosen sends this, or a full disk. */
function emptyFile(name: string): Problem {
  const received = name === '' ? 'no file' : `${JSON.stringify(truncate(name))} of 0 bytes`
  return new Problem({
    status: 400,
    code: 'empty_file',
    detail: `expected a file with content in the part file but received ${received}`,
    members: { param: 'file' },
  })
}

function describe(
  file: IncomingFile,
  { key, sourceName }: OriginalName,
  {
    sniffed,
    ...known
  }: Pick<OriginalRecord, 'size' | 'sha256' | 'truncated' | 'storedAt'> & { sniffed: SniffedType },
): OriginalRecord {
  return { key, originalName: cleanFileName(file.name) || sourceName, mediaType: sniffed.mediaType, ...known }
}
