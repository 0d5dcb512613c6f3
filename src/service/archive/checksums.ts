import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import pLimit from 'p-limit'
import { createSingleFlights, singleFlight } from '../../core/async/single-flight.ts'
import { openWhole } from '../../core/bytes/asset.ts'
import type { BytesObserver } from '../../core/bytes/resumed-asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { classifyKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import { Problem } from '../../core/problem.ts'
import type { Delivery, StoredSource } from '../delivery/deliveries.ts'
import type { Annotate } from '../files/annotate.ts'

/**
 * The CRC-32 of stored files that have none: originals that an older version has stored, and derivatives that the index had lost. It is
 * computed while such a file is read as a whole, and noted in its record. From then on, archives with this file can be laid out.
 */
export interface Checksums {
  /**
   * An observer that notes the checksum of a file at its end. Undefined when its checksum is known, or nothing can be noted. A file
   * that was deleted or replaced while it was read gets no checksum.
   */
  observerOf(delivery: Delivery, client: Client): (() => BytesObserver) | undefined
  /**
   * Reads a file whose streams have this observer, to its end. Concurrent calls for the same file read it once.
   * @throws Problem 404, 503, `signal.reason`
   */
  read(delivery: Delivery, signal: AbortSignal): Promise<void>
}

// While one file waits for S3, another one is read. Of all archives together: requests for files must not wait for them.
const AT_ONCE = 2
// For reading a file, and for noting its checksum. No caller waits as long.
const LIMIT_MS = 60_000

export function createChecksums({
  index,
  annotate,
  log,
}: {
  index: DerivativeIndex
  annotate: Annotate
  log: Log
}): Checksums {
  const reading = pLimit(AT_ONCE)
  const flights = createSingleFlights<void>()

  /** Originals never change: the bytes belong to the record that has their SHA-256. */
  async function noteOriginal(client: Client, source: StoredSource, sums: Sums): Promise<void> {
    const meaning = classifyKey(source.original)
    if (meaning?.kind !== 'original') return
    const { crc32, sha256 } = sums
    const change: Parameters<Annotate>[0]['change'] = (record) => {
      if (record.sha256 !== sha256)
        throw new Error('the bytes in the bucket have another SHA-256 than the record')
      return { ...record, crc32 }
    }
    const path = { full: meaning.original }
    await annotate({ client, path, change, signal: AbortSignal.timeout(LIMIT_MS) })
  }

  /**
   * A derivative may be rendered again under its key. Its record then has another checksum or state than the one that is read here,
   * before the last look at the bytes.
   */
  async function noteDerivative(client: Client, source: StoredSource, { crc32 }: Sums): Promise<void> {
    const ref = { clientId: client.id, key: source.original }
    const { derivative } = await index.find(ref, source.derivative)
    if (derivative?.state !== 'stored' || source.asset.size === 0) return
    // Fails when the file was deleted or replaced since it was found. Without a range, it would not.
    const first = await source.asset.open({ range: { start: 0, end: 0 } })
    first.destroy()
    const { record } = derivative
    await index.amendDerivative(ref, record, { ...record, crc32 })
  }

  return {
    observerOf({ key, asset, stored }, client) {
      // The parts of a bundle have no records.
      if (!stored || asset.crc32 !== undefined || key !== (stored.derivative ?? stored.original))
        return undefined
      const note = stored.derivative === undefined ? noteOriginal : noteDerivative
      return () => {
        const hash = createHash('sha256')
        let sum = 0
        return {
          add(chunk) {
            hash.update(chunk)
            sum = crc32(chunk, sum)
          },
          end: () =>
            note(client, stored, { crc32: sum, sha256: hash.digest('hex') }).catch((err) => {
              if (err instanceof Problem && err.status === 404) return
              log.warn({ err, client: client.id, key }, 'the checksum of a file could not be noted')
            }),
        }
      }
    },

    read({ key, asset, stored }, signal) {
      const start = () =>
        singleFlight<void>(
          async (within, respond) => {
            await reading(async () => {
              within.throwIfAborted()
              const bytes = await openWhole(asset, { signal: within })
              for await (const _ of bytes) within.throwIfAborted()
            })
            respond()
          },
          { limitMs: LIMIT_MS },
        )
      return flights.join(`${stored?.clientId} ${key}`, start, signal)
    },
  }
}

interface Sums {
  crc32: number
  /** Hexadecimal. */
  sha256: string
}
