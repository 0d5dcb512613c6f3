import { LRUCache } from 'lru-cache'
import type { FileRef } from '../../../core/files/file-ref.ts'
import type { DerivativeUses } from '../../../core/ports/derivative-uses.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import { askEach, type Partitions } from './partitions.ts'

const RECENT_MS = 1000
const REMEMBERED = 1000

/** Bytes of a client's derivatives, by partition. */
type Sums = ReadonlyMap<FileIndex, number>

/**
 * The bytes of derivatives over the partitions of a client. That of the original is asked each time, and the others once per second
 * where the sum may be old: new derivatives ask often, and only a client that is near its limit needs to know it exactly.
 *
 * @param now milliseconds of a clock that never goes back
 */
export function derivedBytesOver(
  { ofClient }: Partitions,
  now: () => number = () => performance.now(),
): DerivativeUses['derivedBytes'] {
  async function read(ref: FileRef): Promise<Sums> {
    const ask = async (index: FileIndex) => [index, (await index.derivedBytes(ref)).client] as const
    return new Map(await askEach(await ofClient(ref.clientId), ask))
  }
  const recent = new LRUCache<string, Sums, FileRef>({
    max: REMEMBERED,
    ttl: RECENT_MS,
    perf: { now },
    // Otherwise it reads this clock once per millisecond of the real one.
    ttlResolution: 0,
    fetchMethod: (_clientId, _old, { context }) => read(context),
  })
  return async (ref, { mayBeOld } = { mayBeOld: false }) => {
    const places = (await ofClient(ref.clientId)).placesOf(ref.key)
    const readPlaces = async () => {
      const found = []
      for (const index of places) found.push(await index.derivedBytes(ref))
      return found
    }
    const [own, sums] = await Promise.all([
      readPlaces(),
      mayBeOld ? recent.forceFetch(ref.clientId, { context: ref }) : read(ref),
    ])
    const others = [...sums].filter(([index]) => !places.includes(index))
    const client = [...own.map((one) => one.client), ...others.map(([, bytes]) => bytes)]
    return {
      client: client.reduce((sum, bytes) => sum + bytes, 0),
      // While a file moves, both may have it.
      original: Math.max(...own.map((one) => one.original)),
    }
  }
}
