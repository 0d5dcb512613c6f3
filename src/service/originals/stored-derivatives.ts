import type { Asset } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { isLivePlaylist } from '../../core/files/bundle.ts'
import { type ObjectKey, provisionalKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { DerivativeEntry, DerivativeIndex } from '../../core/ports/file-index.ts'
import { unlessStatus } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'

/** What the index knows of a derivative; without an entry, nothing. */
export interface IndexedDerivative {
  derivative?: DerivativeEntry
}

/** Names a file of a derivative: `key` is the derivative's own, or that of a part of it. */
export interface DerivativeFile {
  key: ObjectKey
  derivative: ObjectKey
}

/** A file of a derivative, as it is at the moment. */
export interface CurrentFile {
  asset: Asset
  /** There may be another, longer one in a moment: a playlist of what is still being made. */
  isPartial: boolean
}

/** Reads the derivatives that are stored or in progress. */
export interface StoredDerivatives {
  /**
   * The bytes of a stored derivative; one that the bucket holds and the index has lost is taken in again. While the
   * index cannot be asked, the bucket alone is.
   *
   * @param indexed what `findToRead` of `originals.ts` has just returned: the index is not read again
   */
  derivativeToRead(
    client: Client,
    original: ObjectKey,
    derivative: ObjectKey,
    indexed?: IndexedDerivative,
  ): Promise<Asset | undefined>
  /**
   * The bytes of a file of a derivative that is stored, or of what there is by now of one that is being made and has parts:
   * its own key is then that of its provisional entry.
   */
  fileToRead(
    client: Client,
    original: ObjectKey,
    file: DerivativeFile,
    indexed?: IndexedDerivative,
  ): Promise<CurrentFile | undefined>
  /** Whether there is enough of a derivative that is being made to begin with. */
  isPlayable(client: Client, derivative: ObjectKey): Promise<boolean>
}

export function createStoredDerivatives({
  index,
  buckets,
}: {
  index: DerivativeIndex
  buckets: Buckets
}): StoredDerivatives {
  /** The bytes of a stored derivative, or whether it may be being made. */
  async function look(
    client: Client,
    key: ObjectKey,
    derivative: ObjectKey,
    indexed?: IndexedDerivative,
  ): Promise<{ asset: Asset | undefined; isPending: boolean }> {
    const ref = { clientId: client.id, key }
    const bucket = buckets.of(client)
    const known = indexed ?? (await unlessAway(index.find(ref, derivative)))
    const entry = known?.derivative
    if (entry?.state === 'pending') return { asset: undefined, isPending: true }
    const found = await bucket.find(derivative, entry?.record)
    // One that was truncated or changed is rendered again.
    const asset = entry && found?.size !== entry.record.size ? undefined : found
    if (entry || !asset || !known) return { asset, isPending: !known }
    const adopted = recordOfDerivative(bucket, derivative, asset).then((record) =>
      index.adoptDerivative(ref, record),
    )
    const now = await unlessAway(adopted.then((taken) => ({ taken })))
    // Begun anew since we looked, or its original is going: these bytes are not it any more.
    if (now && now.taken?.state !== 'stored')
      return { asset: undefined, isPending: now.taken?.state === 'pending' }
    return { asset, isPending: false }
  }

  return {
    derivativeToRead: async (...derivative) => (await look(...derivative)).asset,
    async fileToRead(client, original, { key, derivative }, indexed) {
      const { asset: entry, isPending } = await look(client, original, derivative, indexed)
      const provisional = provisionalKey(derivative)
      // By its own name it is nobody's.
      if (key === provisional) return undefined
      const bucket = buckets.of(client)
      const isEntry = key === derivative
      if (entry) return fixed(isEntry ? entry : await bucket.find(key))
      if (!isPending || !provisional) return undefined
      if (!isEntry && !isLivePlaylist(key)) return fixed(await bucket.find(key))
      const asset = await snapshot(bucket, isEntry ? provisional : key)
      return asset && { asset, isPartial: true }
    },
    async isPlayable(client, derivative) {
      const provisional = provisionalKey(derivative)
      return provisional !== undefined && (await buckets.of(client).find(provisional)) !== undefined
    },
  }
}

function fixed(asset: Asset | undefined): CurrentFile | undefined {
  return asset && { asset, isPartial: false }
}

/** What the index answers, or undefined while it cannot be asked. */
export function unlessAway<T>(answer: Promise<T>): Promise<T | undefined> {
  return unlessStatus(503, answer)
}
