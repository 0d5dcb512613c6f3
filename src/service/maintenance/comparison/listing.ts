import {
  classifyKey,
  type ObjectKey,
  RECORDS,
  recordKey,
  recordPrefix,
} from '../../../core/files/object-key.ts'
import type { Bucket, ListedObject } from '../../../core/ports/bucket.ts'
import type { KeyRange } from '../../../core/ports/index/steps.ts'
import { byBytes } from '../../../core/text/byte-order.ts'

/** The objects of one original, as lists of the bucket have them. */
export interface FileObjects {
  key: ObjectKey
  /** In bytes; absent when the list has no such original. */
  size?: number
  /** Absent when the list has no record. */
  record?: Pick<ListedObject, 'tag'>
  /** The keys of derivatives, without parts. */
  derivatives: ObjectKey[]
}

/** All files of a bucket in a range of keys. */
export interface Batch extends KeyRange {
  files: ReadonlyMap<ObjectKey, FileObjects>
}

/** Reads the files of a bucket in the order of their keys. */
export interface Listing {
  /** The position up to which the list was read; undefined at its end. */
  position(): string | undefined
  /** The files of further objects. Objects of other systems count, too. */
  next(): Promise<Batch>
}

// The byte after "/" is "0".
const PAST_RECORDS = `${RECORDS}0`

/**
 * Opens the list of a bucket. Nothing is opened or read but lists: one of originals and derivatives, and one of records, which
 * have the same order.
 *
 * @param range.batchKeys the number of objects in a batch. One that ends within a file has a few more
 */
export function openListing(
  bucket: Bucket,
  { after, upTo, batchKeys }: KeyRange & { batchKeys: number },
): Listing {
  const objects = peekable(withoutRecords(bucket, after))
  const records = peekable(
    bucket.listObjects(recordPrefix, { after: after === '' ? '' : recordKey(after as ObjectKey) }),
  )
  let position: string | undefined = after

  /** The object that comes next in both lists, with its position and the original that it belongs to. */
  async function peek() {
    const [object, record] = [await objects.peek(), await records.peek()]
    const original = record && classifyKey(record.key)?.original.key
    const ofRecord = record && (original ?? record.key.slice(recordPrefix.length))
    const isRecord = ofRecord !== undefined && (!object || byBytes(ofRecord, object.key) <= 0)
    const at = isRecord ? ofRecord : object?.key
    if (at === undefined || (upTo !== undefined && byBytes(at, upTo) > 0)) return undefined
    return isRecord
      ? { at, original, record, take: records.take }
      : { at, object: object as ListedObject, take: objects.take }
  }

  return {
    position: () => position,

    async next() {
      const files = new Map<ObjectKey, FileObjects>()
      const from = position ?? ''
      const fileOf = (key: ObjectKey) => {
        const file = files.get(key) ?? { key, derivatives: [] }
        files.set(key, file)
        return file
      }
      let last: ObjectKey | undefined
      for (let count = 0; ; count += 1) {
        const next = await peek()
        // A file is not divided.
        const isFull = count >= batchKeys && !(last && next?.at.startsWith(last))
        if (!next || isFull) {
          const end = next ? position : upTo
          position = end
          return { after: from, upTo: end, files }
        }
        next.take()
        position = next.at
        if (next.record && next.original) fileOf(next.original).record = next.record
        const meaning = next.object && classifyKey(next.object.key)
        if (next.object && meaning?.kind === 'original') fileOf(next.object.key).size = next.object.size
        if (next.object && meaning?.kind === 'derivative')
          fileOf(meaning.original.key).derivatives.push(next.object.key)
        last = next.original ?? meaning?.original.key ?? last
      }
    },
  }
}

/** The objects outside of `.sluice/`, which has as many records as there are originals. */
async function* withoutRecords(bucket: Bucket, after: string): AsyncGenerator<ListedObject> {
  for await (const object of bucket.listObjects('', { after })) {
    if (object.key.startsWith(`${RECORDS}/`)) {
      yield* bucket.listObjects('', { after: PAST_RECORDS })
      return
    }
    yield object
  }
}

function peekable<T>(items: AsyncIterable<T>) {
  const iterator = items[Symbol.asyncIterator]()
  let next: Promise<IteratorResult<T, unknown>> | undefined
  return {
    async peek(): Promise<T | undefined> {
      next ??= iterator.next()
      const { done, value } = await next
      return done ? undefined : (value as T)
    },
    take() {
      next = undefined
    },
  }
}
