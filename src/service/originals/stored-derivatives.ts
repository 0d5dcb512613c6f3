import type { Asset } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { isLivePlaylist } from '../../core/files/bundle.ts'
import { type ObjectKey, provisionalKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { DerivativeEntry, DerivativeIndex } from '../../core/ports/file-index.ts'
import { unlessStatus } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { withCrc } from '../derivatives/original-bytes.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'

/** The result of an index look-up for a derivative. */
export interface IndexedDerivative {
  derivative?: DerivativeEntry
}

/** Identifies a file of a derivative. `key` is the derivative's own key or the key of one of its parts. */
export interface DerivativeFile {
  key: ObjectKey
  derivative: ObjectKey
}

/** The current content of a file of a derivative. */
export interface CurrentFile {
  asset: Asset
  /** Whether the file may still grow: the playlist of a derivative in progress. */
  isPartial: boolean
}

/** Reads the derivatives that are stored or in progress. */
export interface StoredDerivatives {
  /**
   * The bytes of a stored derivative. A derivative that the index has lost is indexed again. While the index is unavailable,
   * it reads the bucket alone.
   *
   * @param indexed the result of `findToRead` of `originals.ts`; with it, the index is not read again
   */
  derivativeToRead(
    client: Client,
    original: ObjectKey,
    derivative: ObjectKey,
    indexed?: IndexedDerivative,
  ): Promise<Asset | undefined>
  /**
   * The bytes of a file of a stored derivative, or of a derivative in progress that has parts. While it is in progress, its own
   * key means its provisional entry.
   */
  fileToRead(
    client: Client,
    original: ObjectKey,
    file: DerivativeFile,
    indexed?: IndexedDerivative,
  ): Promise<CurrentFile | undefined>
  /** Whether enough parts of a derivative in progress exist to begin playing it. */
  isPlayable(client: Client, derivative: ObjectKey): Promise<boolean>
}

export function createStoredDerivatives({
  index,
  buckets,
}: {
  index: DerivativeIndex
  buckets: Buckets
}): StoredDerivatives {
  /** The bytes of a stored derivative; without bytes, whether it may be in progress. */
  async function look(
    client: Client,
    key: ObjectKey,
    derivative: ObjectKey,
    indexed?: IndexedDerivative,
  ): Promise<{ asset: Asset | undefined; isPending: boolean }> {
    const ref = { clientId: client.id, key }
    const bucket = buckets.of(client)
    const known = indexed ?? (await unlessUnavailable(index.find(ref, derivative)))
    const entry = known?.derivative
    if (entry?.state === 'pending') return { asset: undefined, isPending: true }
    const bytes = await bucket.find(derivative, entry?.record)
    const found = bytes && entry ? withCrc(bytes, entry.record) : bytes
    // One that was truncated or changed is rendered again.
    const asset = entry && found?.size !== entry.record.size ? undefined : found
    if (entry || !asset || !known) return { asset, isPending: !known }
    const adopted = recordOfDerivative(bucket, derivative, asset).then((record) =>
      index.adoptDerivative(ref, record),
    )
    const now = await unlessUnavailable(adopted.then((taken) => ({ taken })))
    // Since the look-up, the derivative was begun again or a delete of its original began: these bytes are outdated.
    if (now && now.taken?.state !== 'stored')
      return { asset: undefined, isPending: now.taken?.state === 'pending' }
    return { asset, isPending: false }
  }

  return {
    derivativeToRead: async (...derivative) => (await look(...derivative)).asset,
    async fileToRead(client, original, { key, derivative }, indexed) {
      const { asset: entry, isPending } = await look(client, original, derivative, indexed)
      const provisional = provisionalKey(derivative)
      // The provisional entry cannot be requested by its own name.
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

/** The result of an index call; undefined while the index is unavailable. */
export function unlessUnavailable<T>(result: Promise<T>): Promise<T | undefined> {
  return unlessStatus(503, result)
}
