import { type Asset, assetFromBytes, readAll, withLastModified } from '../../core/bytes/asset.ts'
import { checksummed } from '../../core/bytes/checksummed.ts'
import { heldAsset } from '../../core/bytes/held-asset.ts'
import { type ObjectKey, partKey } from '../../core/files/object-key.ts'
import { isCopyVariant } from '../../core/files/variant.ts'
import { outputTooLarge, tooManyVariants } from '../../core/limit-problems.ts'
import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import type { RecordChanges } from '../../core/ports/index/record-changes.ts'
import { fileNotFound, fileReplaced, unlessStatus } from '../../core/problem.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import { deleteDerivative, deleteParts } from '../originals/delete-objects.ts'
import { mayLandLater } from '../originals/late-puts.ts'
import type { DeriveRequest, MadeAsset } from './derivations.ts'
import { countParts } from './parts.ts'
import type { PendingStores } from './pending-stores.ts'
import type { Claim, DerivativeSpace } from './space.ts'

/** Stores the files of one derivative, during the render and at its end. */
export interface Storing {
  storePart: EngineContext['storePart']
  /**
   * Responds with the rendered file and stores it. A small file is sent before it is stored; a large one afterwards, from the
   * bucket. If the original was deleted in the meantime, nothing remains.
   *
   * @throws `signal.reason`, Problem 404 when the original was deleted, 422 when the file is too large, 429 when there is no room
   *   to store it and it is too large to stay in memory for slow readers
   */
  finish(rendered: Asset, respond: (asset: MadeAsset) => void): Promise<void>
  /** Deletes what was stored of a derivative that has failed. @throws Problem 503 when some of it may remain */
  takeBack(): Promise<void>
  /** Called at the end, after success or failure. */
  end(): void
}

// Larger files would occupy memory while slow readers receive them. They are sent from the bucket.
const MAX_EARLY_BYTES = 8 * 1024 * 1024

/**
 * @param derivative `deadline`: as noted in the index; undefined when there is no room to store the derivative
 */
export function createStoring(
  {
    index,
    bucket,
    space,
    events,
    pendingStores,
    now,
  }: {
    index: DerivativeIndex & Pick<RecordChanges, 'beginChange'>
    bucket: Bucket
    space: DerivativeSpace
    events: EventBus
    pendingStores: PendingStores
    now: () => number
  },
  {
    request: { client, name, record, plan, isHeld = false },
    key,
    claim,
    deadline,
    isBegun,
    maxBytes,
    signal,
  }: {
    request: DeriveRequest
    key: ObjectKey
    claim: Claim
    deadline: number | undefined
    /** Whether an earlier attempt has begun it, and has not ended: its put may have completed, or may still complete. */
    isBegun: boolean
    /** Maximum of the derivative and its parts together. */
    maxBytes: number
    signal: AbortSignal
  },
): Storing {
  const ref = { clientId: client.id, key: name.key }
  const parts = countParts(maxBytes)
  let putBegun = false
  let endStoring = () => {}

  const landing = (put: Promise<void>) => mayLandLater(put, { index, ref, now: now() })

  /** Removes the entry. That of an earlier attempt, which may have bytes, stays until a sweep ends it. */
  async function drop(): Promise<void> {
    if (deadline === undefined) return
    // A job begins its derivative when it is queued.
    const mayHaveBytes = isBegun && (!runsAsJob(plan) || (await bucket.find(key)) !== undefined)
    if (!mayHaveBytes) await index.dropDerivative(ref, key, deadline)
  }

  /** A rendered derivative that is not stored. @throws Problem 429 when it would wait in memory for slow readers */
  async function unstoredAsset(rendered: Asset): Promise<MadeAsset> {
    if (runsAsJob(plan) || rendered.size > MAX_EARLY_BYTES) throw tooManyVariants(space.atMost(client))
    const { mediaType, lastModified } = rendered
    const asset = rendered.file
      ? assetFromBytes(await readAll(rendered), { mediaType, lastModified })
      : rendered
    return { ...withLastModified(asset, record.storedAt), isUnstored: true }
  }

  async function hasRoom(size: number): Promise<boolean> {
    if (deadline === undefined) return false
    // While the index is unavailable, no limit is checked: the rendered derivative is delivered.
    return (await unlessStatus(503, space.makeRoom(claim, size + parts.bytes()))) ?? true
  }

  /** @returns whether it is stored: false when the original was deleted in the meantime */
  async function put(rendered: Asset): Promise<boolean> {
    const { mediaType, size } = rendered
    const { bytes, checksum } = checksummed(await rendered.open())
    putBegun = true
    await landing(bucket.put(key, bytes, { mediaType, durable: false, signal }))
    const stores = { key, mediaType, size, crc32: checksum(), ...parts.members() }
    if (await index.finishDerivative(ref, stores, { at: now(), isHeld })) {
      if (!isCopyVariant(plan.variant))
        events.emit('derivative.stored', { clientId: client.id, key, original: name.key, mediaType, size })
      return true
    }
    const known = await index.find(ref, key)
    // A soft delete retains derivatives, and another process may have stored the same one before it.
    if (known.original?.state === 'trashed' && known.derivative?.state === 'stored') return false
    await deleteDerivative(bucket, key)
    await drop()
    return false
  }

  async function storeThenRespond(rendered: Asset, respond: (asset: MadeAsset) => void): Promise<void> {
    const stored = (await put(rendered)) ? await bucket.find(key, rendered) : undefined
    if (!stored) throw fileNotFound()
    respond(withLastModified(stored, record.storedAt))
  }

  async function respondThenStore(rendered: Asset, respond: (asset: MadeAsset) => void): Promise<void> {
    const { mediaType, size } = rendered
    const held = heldAsset(rendered)
    endStoring = pendingStores.begin(ref)
    respond(withLastModified(held.asset, record.storedAt))
    let isStored = false
    try {
      isStored = await put(rendered)
    } finally {
      if (!isStored) held.notStored()
    }
    // Slow readers get the rest from the bucket.
    if (isStored)
      held.release(async () => {
        const stored = await bucket.find(key, { mediaType })
        if (stored && stored.size !== size) throw fileReplaced()
        return stored
      })
  }

  return {
    // Parts are flushed to the disk: if the derivative, which is put last, survives a power cut, its parts do as well.
    async storePart(partName, part) {
      // Stop if the original was deleted. During an outage of the index, continue: it may be over at the end.
      const original = (await unlessStatus(503, index.find(ref)))?.original
      if (original && original.state !== 'stored') throw fileNotFound()
      parts.count(partName, part.size)
      const bytes = await part.open({ signal })
      putBegun = true
      await landing(bucket.put(partKey(key, partName), bytes, { mediaType: part.mediaType, signal }))
    },

    async finish(rendered, respond) {
      // Before a put begins, whose entry would have to stay until its deadline.
      signal.throwIfAborted()
      const { size } = rendered
      if (size + parts.bytes() > maxBytes) throw outputTooLarge(maxBytes)
      if (!(await hasRoom(size))) {
        const passing = await unstoredAsset(rendered)
        await drop()
        return respond(passing)
      }
      // A temporary file is deleted before slow readers have received it.
      const isLarge = size > MAX_EARLY_BYTES || rendered.file !== undefined
      await (isLarge ? storeThenRespond : respondThenStore)(rendered, respond)
    },

    // A put that has begun may still complete: the entry stays, and a sweep removes it after its deadline.
    takeBack: () => (putBegun ? deleteParts(bucket, key) : drop()),

    end: () => endStoring(),
  }
}
