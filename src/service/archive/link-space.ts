import { changeInLedger, type Ledger } from '../../core/ports/ledger.ts'
import { Problem } from '../../core/problem.ts'

/** Limits the space that the links of each client take. */
export interface LinkSpace {
  /** @throws Problem 429 when the links of the client would need too many bytes, 503 */
  take(clientId: string, bytes: number): Promise<void>
}

// Ten thousand links to a hundred files each.
const MAX_BYTES = 64 * 1024 * 1024
// What Redis needs for each entry, in addition to its text.
const ENTRY_BYTES = 200

/** What the ledger has of a client. */
interface Taken {
  /** Bytes. */
  taken: number
  /** When they are free again, in milliseconds since 1970. */
  until: number
}

/** @param options.windowMs the lifetime of a link: the bytes are counted for this time after the first one */
export function createLinkSpace({
  ledger,
  windowMs,
  now,
  maxBytes = MAX_BYTES,
}: {
  ledger: Ledger
  windowMs: number
  now: () => number
  maxBytes?: number
}): LinkSpace {
  return {
    take: (clientId, bytes) =>
      changeInLedger(ledger, `archive-links ${clientId}`, {
        async make(before) {
          const known = before === undefined ? undefined : (JSON.parse(before) as Taken)
          const { taken, until } =
            known && now() < known.until ? known : { taken: 0, until: now() + windowMs }
          const sum = taken + bytes + ENTRY_BYTES
          if (sum > maxBytes) throw tooManyLinks({ maxBytes, seconds: Math.ceil((until - now()) / 1000) })
          return { after: JSON.stringify({ taken: sum, until } satisfies Taken), result: undefined }
        },
        // At the latest: `until` is earlier.
        forgetAt: now() + windowMs,
      }),
  }
}

function tooManyLinks({ maxBytes, seconds }: { maxBytes: number; seconds: number }): Problem {
  const retryAfterSeconds = Math.max(1, seconds)
  return new Problem({
    status: 429,
    code: 'rate_limited',
    detail: `The links to archives of this client need too much space (limit ${maxBytes} bytes a day). Retry after ${retryAfterSeconds} s.`,
    members: { limit: 'zip_links', retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}
