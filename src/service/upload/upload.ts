import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { keepRenewed } from '../../core/async/keep-renewed.ts'
import { type Client, uploadMaxBytes } from '../../core/clients/client.ts'
import { annotated } from '../../core/files/annotations.ts'
import {
  newFileId,
  newOriginal,
  type ObjectKey,
  parseFolder,
  parseKey,
  recordKey,
} from '../../core/files/object-key.ts'
import { sniff } from '../../core/media/sniff/sniff.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import type { FileLists, OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import type { RecordTags } from '../../core/ports/index/steps.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { unauthorized } from '../clients/access.ts'
import type { FailedUpload, Removals } from '../originals/delete.ts'
import type { OriginalEvents } from '../originals/original-events.ts'
import { serializeRecord } from '../originals/records.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import { createDeletedDuplicates, createDuplicates } from './duplicates.ts'
import { describe, measured, metered, newMeter, takeHead, unread } from './incoming-bytes.ts'
import { type BegunFile, createLateFolder } from './late-folder.ts'
import type { DecodableSlot } from './rules/decodable.ts'
import { type ArrivedFile, type CheckPixels, checkType, contentRulesOf } from './rules/upload-rules.ts'
import type { IncomingFile, Upload, UploadRequest } from './upload-request.ts'

const LEASE_MS = 60_000
// With the default `S3_TIMEOUT_MS`, a response is promised within 5 s, and a failing bucket has taken 3.5 s of them. A rollback that takes
// longer than this continues after the response.
const ABANDON_MS = 1000

// A call to a Redis that does not respond fails after 1.5 s. A call that begins within this time ends within the 5 s.
const ASK_MS = 3300
const POLL_INTERVAL_MS = 100

/** What the steps of one request share. */
interface Steps extends Required<Pick<UploadRequest, 'patience' | 'signal'>> {
  bucket: Bucket
  begun: readonly BegunFile[]
}

export function createUpload({
  index,
  buckets,
  originalEvents,
  removals,
  scans,
  admits,
  checkPixels,
  decodable,
  maxBytes,
  streamedMaxBytes,
  now = Date.now,
}: {
  index: OriginalIndex & FileLists
  buckets: Buckets
  originalEvents: OriginalEvents
  removals: Removals
  scans: Pick<ScanQueue, 'begin'>
  /** Whether a client may still store files: it may be removed while it sends. */
  admits: (client: Client) => Promise<boolean>
  checkPixels: CheckPixels
  decodable: DecodableSlot
  /** Limit of each file, unless the client's rules have a lower one. */
  maxBytes: number
  /** Limit of each file whose bytes pass through this process. At most `maxBytes`. */
  streamedMaxBytes: number
  now?: () => number
}): Upload {
  const findDuplicates = createDuplicates({ index, buckets })
  const intoFolder = createLateFolder({ index })
  const deletedDuplicates = createDeletedDuplicates({ index })

  /** Notes `pending` in the index, then puts the bytes into the bucket. */
  async function store(
    file: IncomingFile,
    context: Pick<UploadRequest, 'client' | 'check' | 'id' | 'sniffed' | 'maxBytes' | 'linkRules' | 'begin'> &
      Steps & { folder: string; begun: BegunFile[] },
  ) {
    const { client, bucket, begun, check, id, patience, signal } = context
    const incoming = file.put ? unread(file.bytes) : await takeHead(file.bytes)
    const sniffed = context.sniffed ?? (await sniff(incoming.head, file.name))
    checkType(client.rules?.uploadTypes, sniffed.format, { owner: 'client' })
    check?.(sniffed.format)
    // The index stores all files of a form in one step, for which their ids need the same hash.
    const newId = id ?? newFileId(context.begun[0]?.name.sourceName)
    const name = newOriginal({ folder: context.folder, format: sniffed.format, id: newId })
    await context.begin?.(name)
    await index.beginUpload({ clientId: client.id, key: name.key }, now() + LEASE_MS)
    const begunFile = { name, key: name.key, mayLand: file.put !== undefined }
    begun.push(begunFile)
    const meter = newMeter(sniffed.format)
    // A put is all or nothing: it cannot complete before its last byte has been sent.
    const sent = () => {
      begunFile.mayLand = true
    }
    const most = file.put ? maxBytes : streamedMaxBytes
    const limit = Math.min(uploadMaxBytes(client, most), context.maxBytes ?? most)
    const bytes = Readable.from(metered(incoming, { meter, maxBytes: limit, sent }), { objectMode: false })
    await (file.put ?? bucket.put)(name.key, bytes, { mediaType: sniffed.mediaType, signal })
    begunFile.mayLand = false
    const record = describe(file, name, { sniffed, size: meter.size, ...measured(meter), storedAt: now() })
    await patience(() => checkContent({ client, format: sniffed.format, record, bucket, signal }, context))
    return record
  }

  /** @throws Problem 422 for content that the rules of the client or of the link do not allow */
  async function checkContent(file: ArrivedFile, { linkRules = {} }: Pick<UploadRequest, 'linkRules'>) {
    const ofClient = contentRulesOf(file.client)
    await checkPixels(file, ofClient, { owner: 'client' })
    await checkPixels(file, linkRules, { owner: 'link' })
    if (!ofClient.isDecodable && !linkRules.isDecodable) return
    if (!decodable.check) throw new Error('this process cannot decode files')
    await decodable.check(file)
  }

  /**
   * The commit: a file with a record is stored. Written in turn, so that no record is put after a failure.
   * @returns the tags of their objects, where the bucket states them
   */
  async function storeRecords(
    records: readonly OriginalRecord[],
    { bucket, begun, patience, signal }: Steps,
  ): Promise<RecordTags> {
    const recordTags = new Map<ObjectKey, string>()
    for (const [i, record] of records.entries()) {
      const begunFile = begun[i] as BegunFile
      begunFile.mayLand = true
      const tagged = (tag: string) => void recordTags.set(record.key, tag)
      const options = { mediaType: 'application/json', signal, tagged }
      let tries = 0
      await patience(() => {
        tries += 1
        return bucket.put(recordKey(record.key), Readable.from([serializeRecord(record)]), options)
      })
      // A try that failed may still complete.
      begunFile.mayLand = tries > 1
    }
    return recordTags
  }

  /**
   * Retries while the index does not respond. It may have executed the step already; a repetition does no harm.
   * @returns undefined when it has not responded in time
   */
  async function finish(
    clientId: string,
    records: readonly OriginalRecord[],
    recordTags: RecordTags,
  ): Promise<boolean | undefined> {
    for (const until = performance.now() + ASK_MS; ; ) {
      try {
        return await index.finishUpload(clientId, records, recordTags)
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
    const { client, folder, lateFolder, files, check, annotations, confirm, signal } = request
    const { patience = (step) => step() } = request
    const bucket = buckets.of(client)
    const context = {
      ...request,
      patience,
      bucket,
      folder: parseFolder(folder),
      begun: [] as BegunFile[],
    }
    /** Files that were copied into another folder. */
    const left: BegunFile[] = []
    const folderNow = () => parseFolder(lateFolder?.() ?? folder)
    const refs = () => [...left, ...context.begun].map(({ key }) => ({ clientId: client.id, key }))
    const endRenewals = keepRenewed(LEASE_MS, () => index.renewUpload(refs(), now() + LEASE_MS))
    let records: OriginalRecord[] = []
    let finished: boolean | undefined
    let duplicates: Array<OriginalRecord | undefined> = []
    /** Stored files have their event, whatever happens to the others of the request. */
    const stored = (some: readonly OriginalRecord[]) => {
      if (finished && !request.isSilent) for (const record of some) originalEvents.stored(client, record)
    }
    try {
      for await (const file of files) {
        context.folder = folderNow()
        records.push(await store(file, context))
      }
      const late = { client, bucket, folder: folderNow(), leaseUntil: now() + LEASE_MS, left, signal }
      records = await intoFolder(records, context.begun, late)
      for (const { name } of context.begun) check?.(name.format)
      const given = annotations?.()
      if (given) records = records.map((record) => annotated(record, given))
      records = await patience(() => scans.begin(client, records))
      await patience(async () => confirm?.())
      // No duplicate may replace a file whose id or key was fixed before: a link's use or a remote file's note refers to it.
      if (client.rules?.dedupe === 'reuse' && !request.id && !request.begin)
        duplicates = await findDuplicates(client, records)
      const isNew = (_: unknown, i: number) => !duplicates[i]
      const fresh = records.filter(isNew)
      const recordTags = await storeRecords(fresh, { ...context, begun: context.begun.filter(isNew) })
      signal.throwIfAborted()
      if (!(await patience(() => admits(client))))
        throw unauthorized('but its client was removed during the upload; nothing was stored')
      finished = await finish(client.id, fresh, recordTags)
      stored(fresh)
      // A duplicate may have been deleted since it was found. Then the uploaded file is stored instead.
      const again = finished ? await deletedDuplicates(client, duplicates) : []
      for (const i of again) duplicates[i] = undefined
      if (again.length > 0) {
        const isAgain = (_: unknown, i: number) => again.includes(i)
        const late = records.filter(isAgain)
        const lateTags = await storeRecords(late, { ...context, begun: context.begun.filter(isAgain) })
        finished = await finish(client.id, late, lateTags)
        stored(late)
      }
      if (finished === false) throw unavailable('The upload took too long to finish. Send it again.')
    } catch (error) {
      await takeBack(client, [...left, ...context.begun])
      throw error
    } finally {
      endRenewals()
    }
    // All bytes and records are stored, and the index may have the change. If not, a sweep finishes it and emits the event.
    if (finished === undefined)
      throw unavailable('The storage backend did not respond. Send the upload again in a few seconds.')
    // Not awaited: otherwise a delete of the duplicate could be acknowledged before this response.
    const doubles = [...left, ...context.begun.filter((_, i) => duplicates[i])]
    if (doubles.length > 0) void removals.abandon(client, doubles)
    return records.map((record, i) => {
      const duplicate = duplicates[i]
      const name = duplicate && parseKey(duplicate.key)
      if (name) return { name, record: duplicate, bucketUrl: bucket.urlOf(duplicate.key) }
      return { name: (context.begun[i] as BegunFile).name, record, bucketUrl: bucket.urlOf(record.key) }
    })
  }
}
