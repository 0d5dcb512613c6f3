import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Size } from '../../core/geometry/box.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import type { Admission } from '../../pipeline/run/admission.ts'
import { bytesToTransform } from '../derivatives/original-bytes.ts'
import { sourceFacts } from '../derivatives/source-facts.ts'
import type { FoundOriginal } from '../originals/originals.ts'

/** The size of an original with these bytes. */
export interface KnownSize {
  sha256: string
  size: Size
}

/** The upright sizes of image originals, which this process has read from their headers. */
export interface OriginalSizes {
  /** Without I/O; undefined when this process has not read it. Another file may have the key since then: compare `sha256`. */
  known(client: Client, key: ObjectKey): KnownSize | undefined
  /**
   * Reads the header, unless the size is known. Undefined when the header is not readable, or costs too much.
   * @throws Problem 503, also when too many headers are being read; 500 for a damaged file
   */
  read(client: Client, original: FoundOriginal, by: SizeReader): Promise<Size | undefined>
}

/** The caller for whom a header is read. */
export interface SizeReader {
  caller: Caller
  signal: AbortSignal
}

// About 10,000.
const SIZES_MAX_BYTES = 5_000_000
// A digest and two numbers.
const SIZE_BYTES = 150

/**
 * @param options.measure reads the size from the header. The header stays cached, so a render does not read it again
 * @param options.look admits reads of headers
 */
export function createOriginalSizes({
  buckets,
  measure,
  look,
}: {
  buckets: Buckets
  measure: (source: Asset, signal: AbortSignal) => Promise<Size | undefined>
  look: Admission
}): OriginalSizes {
  const sizes = boundedCache<KnownSize>({ maxBytes: SIZES_MAX_BYTES, bytesOf: () => SIZE_BYTES })
  const placeOf = (client: Client, key: ObjectKey) => `${client.id} ${key}`
  return {
    known: (client, key) => sizes.get(placeOf(client, key)),

    async read(client, { name, record }, { caller, signal }) {
      if (name.format.group !== 'image') return undefined
      const { key, sha256 } = record
      const known = sizes.get(placeOf(client, key))
      if (known?.sha256 === sha256) return known.size
      try {
        const asset = await bytesToTransform(buckets.of(client), record)
        if (!asset) return undefined
        const source = { ...asset, ...sourceFacts(record) }
        const size = await look(() => measure(source, signal), {
          signal,
          bytes: 0,
          clientId: client.id,
          caller,
        })
        if (size) sizes.set(placeOf(client, key), { sha256, size })
        return size
      } catch (error) {
        // The render reads the same header, and its error is the response.
        if (error instanceof Problem && error.status === 422) return undefined
        throw error
      }
    },
  }
}
