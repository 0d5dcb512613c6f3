import type { Ledger } from '../../core/ports/ledger.ts'
import { Problem, unavailable } from '../../core/problem.ts'

/** Limits the space that the links of each client take. */
export interface LinkSpace {
  /** @throws Problem 429 when the links of the client would need too many bytes, 503 */
  take(clientId: string, bytes: number): Promise<void>
}

// Ten thousand links to a hundred files each.
const MAX_BYTES = 64 * 1024 * 1024
// What Redis needs for each entry, in addition to its text.
const ENTRY_BYTES = 200
const ATTEMPTS = 20

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
    async take(clientId, bytes) {
      const name = `archive-links ${clientId}`
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const text = await ledger.find(name)
        const { taken, until } = text
          ? (JSON.parse(text) as { taken: number; until: number })
          : { taken: 0, until: now() + windowMs }
        const sum = taken + bytes + ENTRY_BYTES
        if (sum > maxBytes) throw tooManyLinks({ maxBytes, seconds: Math.ceil((until - now()) / 1000) })
        const isTaken = await ledger.replace(name, text, JSON.stringify({ taken: sum, until }), {
          forgetAt: until,
        })
        if (isTaken) return
      }
      throw unavailable('Other requests create links at the same time. Retry.')
    },
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
