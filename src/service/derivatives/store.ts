import { type Asset, assetFromBytes, readAll, withLastModified } from '../../core/bytes/asset.ts'
import { heldAsset } from '../../core/bytes/held-asset.ts'
import { type ObjectKey, partKey } from '../../core/files/object-key.ts'
import { outputTooLarge, tooManyVariants } from '../../core/limit-problems.ts'
import type { EngineContext } from '../../core/plugin-api/plugin.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import { fileNotFound, fileReplaced, unlessStatus } from '../../core/problem.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import { deleteDerivative, deleteParts } from '../originals/delete-objects.ts'
import type { Answered } from './answered.ts'
import type { DeriveRequest, MadeAsset } from './derivations.ts'
import { countParts } from './parts.ts'
import type { Claim, DerivativeSpace } from './space.ts'

/** Where the files of one derivative go, while it is rendered and at its end. */
export interface Storing {
  storePart: EngineContext['storePart']
  /**
   * Answers with what was rendered and stores it. A small file is answered before it is stored, a large one afterwards, from the
   * bucket. When the original was deleted in the meantime, nothing stays.
   *
   * @throws Problem 404 when there is nothing to answer with, 422 when it is too large, 429 when it would wait in memory for slow
   *   readers and there is no room to store it
   */
  finish(rendered: Asset, answer: (asset: MadeAsset) => void): Promise<void>
  /** Takes back what was stored of a derivative that has failed. @throws Problem 503 when some of it may stay */
  takeBack(): Promise<void>
  /** To be called at the end, however it has ended. */
  end(): void
}

// What is larger would wait in memory for slow readers: it is answered from where it is stored.
const MAX_ANSWERED_BYTES = 8 * 1024 * 1024

/**
 * @param derivative `deadline`: as it was noted in the index; undefined when there is no room to store it
 */
export function createStoring(
  {
    index,
    bucket,
    space,
    events,
    answered,
    now,
  }: {
    index: DerivativeIndex
    bucket: Bucket
    space: DerivativeSpace
    events: EventBus
    answered: Answered
    now: () => number
  },
  {
    request: { client, name, record, plan, isHeld = false },
    key,
    claim,
    deadline,
    maxBytes,
    signal,
  }: {
    request: DeriveRequest
    key: ObjectKey
    claim: Claim
    deadline: number | undefined
    /** Of the derivative and its parts together. */
    maxBytes: number
    signal: AbortSignal
  },
): Storing {
  const ref = { clientId: client.id, key: name.key }
  const parts = countParts(maxBytes)
  let putBegun = false
  let endStoring = () => {}

  async function drop(): Promise<void> {
    if (deadline !== undefined) await index.dropDerivative(ref, key, deadline)
  }

  /** A rendered derivative that is not stored. @throws Problem 429 when it would wait in memory for slow readers */
  async function unstored(rendered: Asset): Promise<MadeAsset> {
    if (runsAsJob(plan) || rendered.size > MAX_ANSWERED_BYTES) throw tooManyVariants(space.atMost(client))
    const { mediaType, lastModified } = rendered
    const asset = rendered.file
      ? assetFromBytes(await readAll(rendered), { mediaType, lastModified })
      : rendered
    return { ...withLastModified(asset, record.storedAt), isUnstored: true }
  }

  async function hasRoom(size: number): Promise<boolean> {
    if (deadline === undefined) return false
    // An index that cannot be asked refuses nothing: what is rendered is delivered.
    return (await unlessStatus(503, space.makeRoom(claim, size + parts.bytes()))) ?? true
  }

  /** @returns whether it is stored: false when the original was deleted in the meantime */
  async function put(rendered: Asset): Promise<boolean> {
    const { mediaType, size } = rendered
    const bytes = await rendered.open()
    putBegun = true
    await bucket.put(key, bytes, { mediaType, durable: false, signal })
    const stores = { key, mediaType, size, ...parts.members() }
    if (await index.finishDerivative(ref, stores, { at: now(), isHeld })) {
      events.emit('derivative.stored', { clientId: client.id, key, original: name.key, mediaType, size })
      return true
    }
    await deleteDerivative(bucket, key)
    await drop()
    return false
  }

  async function putAndAnswer(rendered: Asset, answer: (asset: MadeAsset) => void): Promise<void> {
    const stored = (await put(rendered)) ? await bucket.find(key, rendered) : undefined
    if (!stored) throw fileNotFound()
    answer(withLastModified(stored, record.storedAt))
  }

  async function answerAndPut(rendered: Asset, answer: (asset: MadeAsset) => void): Promise<void> {
    const { mediaType, size } = rendered
    const held = heldAsset(rendered)
    endStoring = answered.begin(ref)
    answer(withLastModified(held.asset, record.storedAt))
    let isStored = false
    try {
      isStored = await put(rendered)
    } finally {
      if (!isStored) held.notStored()
    }
    // Slow readers get the rest from the bucket.
    if (isStored)
      held.letGo(async () => {
        const stored = await bucket.find(key, { mediaType })
        if (stored && stored.size !== size) throw fileReplaced()
        return stored
      })
  }

  return {
    // Flushed to the disk: after a power cut the derivative, which is put last, may be there, and then they are as well.
    async storePart(partName, part) {
      // Nobody wants the rest of what is deleted by now. An outage may be over when it is asked for good.
      const original = (await unlessStatus(503, index.find(ref)))?.original
      if (original && original.state !== 'stored') throw fileNotFound()
      parts.count(partName, part.size)
      const bytes = await part.open({ signal })
      putBegun = true
      await bucket.put(partKey(key, partName), bytes, { mediaType: part.mediaType, signal })
    },

    async finish(rendered, answer) {
      const { size } = rendered
      if (size + parts.bytes() > maxBytes) throw outputTooLarge(maxBytes)
      if (!(await hasRoom(size))) {
        const passing = await unstored(rendered)
        await drop()
        return answer(passing)
      }
      // A file is gone by the time that a slow reader has read it.
      const isLarge = size > MAX_ANSWERED_BYTES || rendered.file !== undefined
      await (isLarge ? putAndAnswer : answerAndPut)(rendered, answer)
    },

    // After an outage bytes may be there, or still appear: then the entry stays, and a sweep ends it past its deadline.
    takeBack: () => (putBegun ? deleteParts(bucket, key) : drop()),

    end: () => endStoring(),
  }
}
