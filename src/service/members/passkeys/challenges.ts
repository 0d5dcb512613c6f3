import { randomBytes } from 'node:crypto'
import { changeInLedger, type Ledger } from '../../../core/ports/ledger.ts'
import type { ExpectedAnswer } from '../../../core/ports/members/passkey-verifier.ts'
import { seal, unseal } from '../../../core/signing/seal.ts'
import { challengeExpired, unknownOrigin } from './passkey-problems.ts'

/** Requests for passkeys: what the browser must answer, and which browser. */
export interface Challenges {
  /**
   * Begins a request. The browser stores the cookie, and gets the challenge.
   *
   * @param page the origin of the page, when `BASE_URL` is unset
   * @throws Problem 400 for an unknown origin
   */
  begin(purpose: Purpose, page: string | undefined): BegunChallenge
  /** The origin for which passkeys are now. @param page see `begin`. @throws Problem 400 for an unknown origin */
  origin(page: string | undefined): string
  /**
   * The answer that this browser has to give. It uses up the challenge, in all processes.
   *
   * @param cookie of the browser; undefined without one
   * @throws Problem 410, 503
   */
  use(purpose: Purpose, cookie: string | undefined): Promise<ExpectedAnswer>
}

/** What the passkey is for: a sign-in, or the member that adds it, and their session. */
export type Purpose = 'sign-in' | { addedBy: string; session: string }

export interface BegunChallenge extends ExpectedAnswer {
  /** Encrypted: another process can verify the answer. */
  cookie: string
  /** Milliseconds since 1970, exclusive. */
  expiresAt: number
}

/** How long a request for a passkey is valid: enough to fetch a device or to enter a PIN. */
export const CHALLENGE_MS = 5 * 60_000
const CHALLENGE_BYTES = 32
const PLACE = 'passkey challenge'

interface Sealed extends ExpectedAnswer {
  purpose: Purpose
  until: number
}

/**
 * @param options.origin of `BASE_URL`; undefined when it is unset
 * @param options.key 32 bytes, used only for this purpose
 */
export function createChallenges({
  origin: configured,
  key,
  ledger,
  now = Date.now,
}: {
  origin: string | undefined
  key: Buffer
  ledger: Ledger
  now?: () => number
}): Challenges {
  function read(cookie: string | undefined): Sealed | undefined {
    try {
      return JSON.parse(unseal(cookie ?? '', { key, place: PLACE })) as Sealed
    } catch {
      return undefined
    }
  }

  function originOf(page: string | undefined): string {
    const origin = configured ?? page
    if (origin === undefined) throw unknownOrigin()
    return origin
  }

  return {
    origin: originOf,
    begin(purpose, page) {
      const origin = originOf(page)
      const expiresAt = now() + CHALLENGE_MS
      const expected: ExpectedAnswer = {
        challenge: randomBytes(CHALLENGE_BYTES).toString('base64url'),
        origin,
        rpId: new URL(origin).hostname,
      }
      const sealed: Sealed = { ...expected, purpose, until: expiresAt }
      return { ...expected, cookie: seal(JSON.stringify(sealed), { key, place: PLACE }), expiresAt }
    },
    async use(purpose, cookie) {
      const sealed = read(cookie)
      if (!sealed || now() >= sealed.until || !isSame(sealed.purpose, purpose)) throw challengeExpired()
      const { challenge, origin, rpId, until } = sealed
      await changeInLedger(ledger, `passkey challenge ${challenge}`, {
        forgetAt: until,
        make: async (before) => {
          if (before !== undefined) throw challengeExpired()
          return { after: 'used', result: undefined }
        },
      })
      return { challenge, origin, rpId }
    },
  }
}

function isSame(one: Purpose, other: Purpose): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
