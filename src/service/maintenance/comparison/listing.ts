import { classifyKey, type ObjectKey, RECORDS, recordPrefix } from '../../../core/files/object-key.ts'
import type { Bucket, ListedObject } from '../../../core/ports/bucket.ts'
import type { KeyRange } from '../../../core/ports/index/steps.ts'
import { type Problem, unavailable } from '../../../core/problem.ts'
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
  /** The files of further objects. @throws Problem 503, also for a list in another order, and `signal.reason` */
  next(signal: AbortSignal): Promise<Batch>
  /** Ends the requests of a list that is not read to its end. It cannot be read any more. */
  close(): Promise<void>
}

// The byte after "/" is "0".
const PAST_OWN = `${RECORDS}0`

/**
 * Opens the list of a bucket. Nothing is opened or read but lists: one of originals and derivatives, and one of records, which
 * have the same order.
 *
 * @param range.batchKeys the number of objects in a batch. One that ends within a file has a few more
 * @param range.only lists only the records: files are without size and derivatives
 */
export function openListing(
  bucket: Bucket,
  { after, upTo, batchKeys, only }: KeyRange & { batchKeys: number; only?: 'records' | undefined },
): Listing {
  const objects = peekable(only ? noObjects() : withoutOwnObjects(bucket, after))
  const records = peekable(recordsAfter(bucket, after))
  let position: string | undefined = after
  let isClosed = false

  /** The object that comes next in both lists, with its position and the original that it belongs to. */
  async function peek() {
    const [object, record] = [await objects.peek(), await records.peek()]
    const isRecord = record !== undefined && (!object || byBytes(record.original, object.key) <= 0)
    const at = isRecord ? record.original : object?.key
    if (at === undefined || (upTo !== undefined && byBytes(at, upTo) > 0)) return undefined
    return isRecord ? { at, record, take: records.take } : { at, object, take: objects.take }
  }

  return {
    position: () => position,

    async close() {
      isClosed = true
      await Promise.all([objects.close(), records.close()])
    },

    async next(signal) {
      const files = new Map<ObjectKey, FileObjects>()
      const from = position ?? ''
      const fileOf = (key: ObjectKey) => {
        const file = files.get(key) ?? { key, derivatives: [] }
        files.set(key, file)
        return file
      }
      let last: ObjectKey | undefined
      for (let count = 0; ; count += 1) {
        signal.throwIfAborted()
        const next = await peek()
        // What looks like its end is none.
        if (isClosed) throw new Error('expected an open list')
        // A file is not divided.
        const isFull = count >= batchKeys && !(last && next?.at.startsWith(last))
        if (!next || isFull) {
          const end = next ? position : upTo
          position = end
          return { after: from, upTo: end, files }
        }
        next.take()
        position = next.at
        if (next.record) fileOf(next.record.original).record = next.record
        const meaning = next.object && classifyKey(next.object.key)
        if (next.object && meaning?.kind === 'original') fileOf(next.object.key).size = next.object.size
        if (next.object && meaning?.kind === 'derivative')
          fileOf(meaning.original.key).derivatives.push(next.object.key)
        last = next.record?.original ?? meaning?.original.key ?? last
      }
    },
  }
}

/** The batches of a list up to the end of its range. */
export async function* batchesOf(
  listing: Listing,
  { range, signal }: { range: KeyRange; signal: AbortSignal },
): AsyncGenerator<Batch> {
  for (let batch: Batch | undefined; !batch || batch.upTo !== range.upTo; ) {
    batch = await listing.next(signal)
    yield batch
  }
}

/** The records of originals after a key. Other objects between them are left out: the order of their names may differ. */
async function* recordsAfter(
  bucket: Bucket,
  after: string,
): AsyncGenerator<{ original: ObjectKey; tag?: string }> {
  // Not after the key of a record: without the end of its name, "a-b/…" comes after "a", and with it "a-b/….json" before "a.json".
  const begin = after === '' ? '' : `${recordPrefix}${after}`
  for await (const { key, tag } of inOrder(bucket.listObjects(recordPrefix, { after: begin }), begin)) {
    const meaning = classifyKey(key)
    if (meaning?.kind !== 'record' || byBytes(meaning.original.key, after) <= 0) continue
    yield { original: meaning.original.key, ...(tag === undefined ? {} : { tag }) }
  }
}

/** The objects outside of `.sluice/`, which has as many records as there are originals. */
export async function* withoutOwnObjects(bucket: Bucket, after: string): AsyncGenerator<ListedObject> {
  for await (const object of inOrder(bucket.listObjects('', { after }), after)) {
    if (object.key.startsWith(`${RECORDS}/`)) {
      yield* inOrder(bucket.listObjects('', { after: PAST_OWN }), PAST_OWN)
      return
    }
    yield object
  }
}

async function* noObjects(): AsyncGenerator<ListedObject> {}

/** The objects after a key, also where a store ignores the beginning of a list: the ranges of several processes would never end. */
export async function* inOrder(
  objects: AsyncIterable<ListedObject>,
  after: string,
): AsyncGenerator<ListedObject> {
  let last = ''
  for await (const object of objects) {
    if (byBytes(object.key, last) < 0) throw unordered()
    last = object.key
    if (byBytes(object.key, after) > 0) yield object
  }
}

function unordered(): Problem {
  return unavailable(
    'The lists of this bucket are not in the order of the bytes of its keys, as those of S3 are. Run `sluice reindex`, which reads each file.',
    { retryAfterSeconds: 60 },
  )
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
    async close() {
      await iterator.return?.()
    },
  }
}
