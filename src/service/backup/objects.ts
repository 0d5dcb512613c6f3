import { Readable } from 'node:stream'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type { Bucket, ListedObject } from '../../core/ports/bucket.ts'
import { unlessStatus } from '../../core/problem.ts'
import { type Content, checkedBytes, damageOf, readable } from './checked-bytes.ts'
import { createDigestSet } from './digest-set.ts'
import { isOutage, type Pause, persistently } from './persistence.ts'

/** The contents of a backup. Each is one object that has its SHA-256 as its name, whichever files have this content. */
export interface BackupObjects {
  /** Whether the backup has this content, as the list of its objects shows it. */
  has(content: Content): boolean
  /** Whether its object was found damaged. */
  isDamaged(content: Content): boolean
  /** Whether it has the record of an entry, and its original. */
  hasAll(entry: Content & { original?: Content | undefined }): boolean
  /**
   * Stores a content. The bytes are checked while they are written.
   * @throws DamagedBytes or UnreadableSource, without a change; Problem when the backup cannot be written
   */
  put(content: Content, source: Readable, signal: AbortSignal): Promise<void>
  /**
   * Deletes the objects whose name is not that of a used content: a damaged one with another size may be all that is left of it.
   * The last step, since its table takes the place of that of `has`.
   *
   * @returns their number
   */
  prune(used: AsyncIterable<Content>, signal: AbortSignal): Promise<number>
}

/** An object of the backup that is damaged, with what is wrong. */
export type DamagedObject = Content & { key: ObjectKey; detail: string }

const PREFIX = 'objects/'
const NAME = /^objects\/[0-9a-f]{2}\/([0-9a-f]{64})$/
const AT_ONCE = 4
const DELETED_AT_ONCE = 1000
// A backup that another process creates at the same time has no manifest yet.
const UNUSED_MS = 24 * 3600 * 1000

/**
 * Lists the objects of a backup.
 *
 * @param options.verify reads all objects. A damaged one counts as absent, so that it is copied again
 * @param options.damaged called for each damaged object
 */
export async function openObjects(
  bucket: Bucket,
  {
    verify,
    signal,
    damaged,
    verified,
    now = Date.now,
    pause,
  }: {
    verify: boolean
    signal: AbortSignal
    damaged(object: DamagedObject): Promise<void>
    /** Called after each object with its size. */
    verified(size: number): Promise<void>
    now?: (() => number) | undefined
    pause?: Pause | undefined
  },
): Promise<BackupObjects> {
  let known = createDigestSet()
  // By their names: a damaged object may have another size.
  const damagedOnes = createDigestSet()

  async function examined(object: ListedObject): Promise<Content | undefined> {
    const content = contentOf(object)
    if (!content || !verify) return content
    const detail = await persistently(() => readable(damageIn(content)), { signal, pause }).catch(unreadable)
    await verified(content.size)
    if (detail === undefined) return content
    damagedOnes.add({ ...content, size: 0 })
    await damaged({ ...content, key: object.key, detail })
    return undefined
  }

  async function damageIn(content: Content): Promise<string | undefined> {
    const source = await openObject(bucket, content, signal)
    return source ? damageOf(source, content) : 'deleted'
  }

  /** A bad sector of a disk damages one object. */
  function unreadable(error: Error): string {
    signal.throwIfAborted()
    if (isOutage(error)) throw error
    return error.message
  }

  const work = { concurrency: verify ? AT_ONCE : 1, signal, work: examined }
  for await (const content of mapConcurrent(bucket.listObjects(PREFIX), work)) if (content) known.add(content)

  async function deleteUnused(keys: readonly ObjectKey[]): Promise<number> {
    const old: ObjectKey[] = []
    const find = (key: ObjectKey) => bucket.find(key, { mediaType: OBJECT_TYPE })
    for await (const [i, asset] of numbered(
      mapConcurrent(keys, { concurrency: AT_ONCE, signal, work: find }),
    ))
      if (asset && asset.lastModified.getTime() < now() - UNUSED_MS) old.push(keys[i] as ObjectKey)
    if (old.length === 0) return 0
    const { failed } = await bucket.delete(old)
    if (failed[0]) throw failed[0].error
    return old.length
  }

  const has = (content: Content) => known.has(content)
  return {
    has,
    isDamaged: ({ sha256 }) => damagedOnes.has({ size: 0, sha256 }),
    hasAll: (entry) => has(entry) && (!entry.original || has(entry.original)),
    async put(content, source, signal) {
      const checked = checkedBytes(source, content)
      await bucket.put(keyOf(content), checked, { mediaType: OBJECT_TYPE, signal })
      if (verify) await readBack(bucket, content, signal)
      known.add(content)
    },
    async prune(used, signal) {
      known = createDigestSet()
      for await (const { sha256 } of used) known.add({ size: 0, sha256 })
      let removed = 0
      let unused: ObjectKey[] = []
      for await (const object of bucket.listObjects(PREFIX)) {
        signal.throwIfAborted()
        const content = contentOf(object)
        if (!content || known.has({ size: 0, sha256: content.sha256 })) continue
        unused.push(object.key)
        if (unused.length < DELETED_AT_ONCE) continue
        removed += await deleteUnused(unused)
        unused = []
      }
      return removed + (await deleteUnused(unused))
    },
  }
}

const OBJECT_TYPE = 'application/octet-stream'

/** The key of a content in a backup. */
export function keyOf({ sha256 }: Pick<Content, 'sha256'>): ObjectKey {
  return storedKey(`${PREFIX}${sha256.slice(0, 2)}/${sha256}`)
}

/** Undefined for a file of another program. */
function contentOf({ key, size }: ListedObject): Content | undefined {
  const sha256 = NAME.exec(key)?.[1]
  return sha256 === undefined ? undefined : { size, sha256 }
}

/** Opens a content of a backup, unchecked. @returns undefined when it does not exist */
export async function openObject(
  bucket: Bucket,
  content: Pick<Content, 'sha256'>,
  signal: AbortSignal,
): Promise<Readable | undefined> {
  const asset = await bucket.find(keyOf(content), { mediaType: OBJECT_TYPE })
  return asset && unlessStatus(404, asset.open({ signal }))
}

async function readBack(bucket: Bucket, content: Content, signal: AbortSignal): Promise<void> {
  const detail = await damageOf((await openObject(bucket, content, signal)) ?? Readable.from([]), content)
  if (detail !== undefined)
    throw new Error(`the backup did not store the bytes of ${keyOf(content)}: ${detail}`)
}

async function* numbered<T>(items: AsyncIterable<T>): AsyncGenerator<[number, T]> {
  let i = 0
  for await (const item of items) yield [i++, item]
}
