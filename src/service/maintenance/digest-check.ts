import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { type Asset, openWhole } from '../../core/bytes/asset.ts'

/** Reads files to compare their bytes, at a limited rate. */
export interface DigestCheck {
  /** SHA-256 of all bytes, hexadecimal. @throws Problem 404 when the file was deleted, 503, `signal.reason` */
  sha256(asset: Asset): Promise<string>
  /** Bytes read so far. */
  bytesRead(): number
}

// While one file waits for S3, another one is hashed.
const AT_ONCE = 2
// Leaves most of the disk's and of a core's time to requests: SHA-256 reaches 400 MB/s or more.
const BYTES_PER_SECOND = 64 * 1024 * 1024

/** @param options.bytesPerSecond for all files together */
export function createDigestCheck({
  signal,
  bytesPerSecond = BYTES_PER_SECOND,
}: {
  signal: AbortSignal
  bytesPerSecond?: number
}): DigestCheck {
  const reading = pLimit(AT_ONCE)
  let bytesRead = 0
  let freeAt = performance.now()

  /** Waits until this number of bytes is within the rate. */
  async function paced(bytes: number): Promise<void> {
    const now = performance.now()
    freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1000
    // A timer takes at least a millisecond, so short waits are accumulated.
    if (freeAt - now > 10) await pause(freeAt - now, undefined, { signal })
  }

  return {
    sha256: (asset) =>
      reading(async () => {
        signal.throwIfAborted()
        const hash = createHash('sha256')
        for await (const chunk of (await openWhole(asset, { signal })) as AsyncIterable<Buffer>) {
          hash.update(chunk)
          bytesRead += chunk.length
          await paced(chunk.length)
        }
        return hash.digest('hex')
      }),
    bytesRead: () => bytesRead,
  }
}
