import { LRUCache } from 'lru-cache'
import type { FileRef } from '../../../core/files/file-ref.ts'
import type { DerivativeUses } from '../../../core/ports/derivative-uses.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Partitions } from './partitions.ts'

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
  { ofClient, ofFile }: Partitions,
  now: () => number = () => performance.now(),
): DerivativeUses['derivedBytes'] {
  async function read(ref: FileRef): Promise<Sums> {
    const asked = (await ofClient(ref.clientId)).map(
      async (index) => [index, (await index.derivedBytes(ref)).client] as const,
    )
    return new Map(await Promise.all(asked))
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
    const own = await ofFile(ref)
    const [{ client, original }, sums] = await Promise.all([
      own.derivedBytes(ref),
      mayBeOld ? recent.forceFetch(ref.clientId, { context: ref }) : read(ref),
    ])
    const others = [...sums].reduce((sum, [index, bytes]) => (index === own ? sum : sum + bytes), 0)
    return { client: client + others, original }
  }
}
