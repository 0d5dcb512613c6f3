import { randomUUID } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { z } from 'zod'
import { keepRenewed } from '../../core/async/keep-renewed.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { changeInLedger, type Ledger } from '../../core/ports/ledger.ts'
import { Problem, retryAfter } from '../../core/problem.ts'

/** The response to a request. */
export interface Answer {
  /** Tells the request from others: that of a repetition is the same. */
  fingerprint: string
  status: number
  json: unknown
}

/** A request that has begun: its lease is renewed until it has ended. */
export interface BegunRequest {
  /** Stores the response for repetitions. Never throws: then a repetition is executed again. */
  finish(answer: Answer): Promise<void>
  /** Forgets the request, which has failed: its repetition is executed. Never throws. */
  release(): Promise<void>
}

/** Requests that clients may send again when they have received no response. */
export interface RepeatedRequests {
  /**
   * @param key chosen by the client, for one request
   * @returns the response to the same request, if it was executed in the last 24 hours
   * @throws Problem 409 while it is executed, or when its response was too large to be stored; 503
   */
  begin(grant: Grant, key: string): Promise<BegunRequest | { answer: Answer }>
}

const entry = z.union([
  z.object({ holder: z.string(), until: z.number() }),
  z.object({ answer: z.string().nullable() }),
])

const ANSWER_MS = 24 * 3_600_000
// After a crash a repetition waits this long.
const LEASE_MS = 20_000
// The records of a hundred files have 10 KB, compressed.
const ANSWER_MAX_BYTES = 64 * 1024

export function createRepeatedRequests({
  ledger,
  now = Date.now,
}: {
  ledger: Ledger
  now?: () => number
}): RepeatedRequests {
  function begun(name: string, holder: string): BegunRequest {
    const put = (after: string | undefined) =>
      changeInLedger(ledger, name, {
        forgetAt: now() + ANSWER_MS,
        async make(before) {
          const isMine = before !== undefined && JSON.parse(before).holder === holder
          return { after: isMine ? after : before, result: undefined }
        },
      }).catch(() => {})
    const endRenewals = keepRenewed(LEASE_MS, () => put(held(holder)))
    const end = (after: string | undefined) => {
      endRenewals()
      return put(after)
    }
    return {
      finish(answer) {
        const text = deflateRawSync(JSON.stringify(answer)).toString('base64')
        return end(JSON.stringify({ answer: text.length > ANSWER_MAX_BYTES ? null : text }))
      },
      release: () => end(undefined),
    }
  }

  const held = (holder: string) => JSON.stringify({ holder, until: now() + LEASE_MS })

  return {
    async begin({ client, folder = '' }, key) {
      const name = `request ${client.id} ${sha256(JSON.stringify([folder, key]))}`
      const holder = randomUUID()
      const answer = await changeInLedger<Answer | undefined>(ledger, name, {
        forgetAt: now() + ANSWER_MS,
        async make(before) {
          const known = before === undefined ? undefined : entry.parse(JSON.parse(before))
          if (known && 'answer' in known) {
            if (known.answer === null)
              throw conflict('It was executed, but its response was too large to be stored.')
            return {
              after: before,
              result: JSON.parse(inflateRawSync(Buffer.from(known.answer, 'base64')).toString()) as Answer,
            }
          }
          if (known && known.until > now()) throw conflict('It is being executed.', 1)
          return { after: held(holder), result: undefined }
        },
      })
      return answer ? { answer } : begun(name, holder)
    },
  }
}

/** 409 */
function conflict(detail: string, retryAfterSeconds?: number): Problem {
  return new Problem({
    status: 409,
    code: 'request_conflict',
    detail: `Another request has this Idempotency-Key. ${detail}`,
    ...(retryAfterSeconds === undefined ? {} : retryAfter(retryAfterSeconds)),
  })
}
