import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { openWhole } from '../../../core/bytes/asset.ts'
import { type Client, FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import {
  classifyKey,
  clientRecordKey,
  type ObjectKey,
  RECORDS,
  recordKey,
} from '../../../core/files/object-key.ts'
import type { Bucket, ListedObject } from '../../../core/ports/bucket.ts'
import { unlessStatus } from '../../../core/problem.ts'
import { snapshot } from '../../../core/storage/small-object.ts'
import { checkedBytes, MissingBytes, readable, sourceOf, storable } from '../checked-bytes.ts'
import type { ClaimedTarget } from '../claim.ts'
import type { Installation } from '../installation.ts'
import { isOutage } from '../persistence.ts'
import { contentIn } from '../records.ts'

export type Owner = Pick<Client, 'id' | 'token'>

/** An object of a client at the source, at the target, or at both. */
export interface Followed {
  key: ObjectKey
  source?: ListedObject
  target?: ListedObject
  /** The tag at the source of the bytes that an earlier pass has seen on both sides. */
  equalTag?: string | undefined
}

export interface Outcome {
  change: 'copied' | 'deleted' | 'none'
  /** Copied ones. */
  bytes: number
  /** The tag at the source of the bytes that both sides have now, of an object that may change. */
  equalTag?: string | undefined
}

const NO_CHANGE: Outcome = { change: 'none', bytes: 0 }

export interface FollowOptions extends ClaimedTarget {
  installation: Installation
  targetOf(client: Owner): Bucket
  /** The folder or prefix with the objects of a client at the target, for the operator. */
  placeOf(id: string): string
  isForeign(key: string): boolean
  /** Called before each change of the target. */
  changing(): Promise<void>
}

/** A client has a record at the source, but no objects. */
export class MissingRoot extends MissingBytes {}

/**
 * Makes the target have the object of the source, or none if the source has none. An original whose record is still at the source was
 * lost there, or is being deleted: the target keeps its copy.
 *
 * @throws as `troubleKind` knows it, for an object that cannot be copied: the target is unchanged
 */
export function createFollow({
  installation,
  targetOf,
  placeOf,
  isForeign,
  changing,
  signal,
  check,
}: FollowOptions) {
  return async (owner: Owner, { key, source, target, equalTag }: Followed): Promise<Outcome> => {
    const from = installation.bucketOf(owner)
    const to = targetOf(owner)
    if (!source)
      return target && (await remove(owner, { key, from, to })) ? { change: 'deleted', bytes: 0 } : NO_CHANGE
    const mayChange = key.startsWith(`${RECORDS}/`) || isForeign(key)
    if (source.size === target?.size) {
      if (!mayChange) return NO_CHANGE
      if (equalTag !== undefined && equalTag === source.tag) return { ...NO_CHANGE, equalTag }
      const equal = await compared(key, { from, to })
      if (equal) return { ...NO_CHANGE, equalTag: equal.tag }
    }
    // A service that has begun to use the target may have changed it.
    if (mayChange && target) await check()
    const copied = await copy(key, { from, to })
    if (!copied) return NO_CHANGE
    return { change: 'copied', bytes: copied.size, ...(mayChange ? { equalTag: copied.tag } : {}) }
  }

  type Sides = { from: Bucket; to: Bucket }

  /** @returns the tag of the bytes, if both sides have the same */
  async function compared(key: ObjectKey, { from, to }: Sides): Promise<{ tag?: string } | undefined> {
    const [one, other] = await Promise.all([
      readable(versionOf(from, key)),
      // What cannot be read at the target is copied again.
      versionOf(to, key).catch((error) => {
        if (signal.aborted || isOutage(error)) throw error
        return undefined
      }),
    ])
    return one?.sha256 === other?.sha256 ? one : undefined
  }

  async function versionOf(bucket: Bucket, key: ObjectKey) {
    const asset = await bucket.find(key)
    const bytes = asset && (await unlessStatus(404, openWhole(asset, wholeOf(asset.size))))
    if (!bytes) return undefined
    const hash = createHash('sha256')
    for await (const chunk of bytes) hash.update(chunk as Buffer)
    return { sha256: hash.digest('hex'), ...(asset.tag === undefined ? {} : { tag: asset.tag }) }
  }

  /** The read of a range fails when the object was replaced: the tag is that of the bytes. */
  function wholeOf(size: number) {
    return { signal, ...(size > 0 ? { range: { start: 0, end: size - 1 } } : {}) }
  }

  /** @returns undefined when it was deleted in the meantime */
  async function copy(key: ObjectKey, { from, to }: Sides) {
    const asset = await readable(from.find(key))
    const isOriginal = classifyKey(key)?.kind === 'original'
    const record = isOriginal ? await readable(snapshot(from, recordKey(key))) : undefined
    const content = record && contentIn(record.bytes)
    if (!asset) return undefined
    await changing()
    const bytes = await readable(unlessStatus(404, openWhole(asset, wholeOf(asset.size))))
    if (!bytes) return undefined
    // A damaged source does not replace a good copy.
    const checked = content ? checkedBytes(bytes, content) : Readable.from(sourceOf(bytes))
    await storable(to.put(key, checked, { mediaType: asset.mediaType, signal }))
    return asset
  }

  /** Deletes an object that the source does not have any more. */
  async function remove({ id }: Owner, { key, from, to }: Sides & { key: ObjectKey }): Promise<boolean> {
    if (await readable(from.find(key))) return false
    // A disk that was unmounted during the run has no files.
    if (!(await readable(installation.first.find(clientRecordKey(FIRST_CLIENT_ID)))))
      throw new Error('the source has no files any more. Nothing more was deleted at the target')
    if (classifyKey(key)?.kind === 'original' && (await readable(from.find(recordKey(key)))))
      throw new MissingBytes('its record is at the source, its bytes are only at the target')
    const isLost = id !== FIRST_CLIENT_ID && (await readable(isEmpty(from)))
    if (isLost && (await readable(installation.first.find(clientRecordKey(id)))))
      throw new MissingRoot(`the source has no files of this client. If this is right, delete ${placeOf(id)}`)
    await check()
    await changing()
    const { failed } = await to.delete([key])
    if (failed[0]) throw failed[0].error
    return true
  }
}

async function isEmpty(bucket: Bucket): Promise<boolean> {
  for await (const _ of bucket.list('')) return false
  return true
}
