import { createHash } from 'node:crypto'
import type { Log } from '../../core/log.ts'
import { changeInLedger, type Ledger } from '../../core/ports/ledger.ts'

/** IP addresses from which the operator has signed in. Their tries do not compete with those of other addresses. */
export interface KnownAddresses {
  /** Never throws: an address is unknown while the ledger cannot be read. */
  isKnown(address: string): Promise<boolean>
  /** Remembers an address for 90 days. Never throws: a sign-in must not fail because of it. */
  remember(address: string): Promise<void>
}

const DAY_MS = 24 * 3_600_000
const KNOWN_FOR_MS = 90 * DAY_MS

/** Known addresses in the ledger, so that a restart and other processes know them too. */
export function createKnownAddresses({
  ledger,
  log,
  now = Date.now,
}: {
  ledger: Ledger
  log: Log
  now?: () => number
}): KnownAddresses {
  // A digest has a fixed length, and only characters that are safe in a ledger.
  const nameOf = (address: string) => `sign-in ${createHash('sha256').update(address).digest('base64url')}`

  return {
    async isKnown(address) {
      const until = await ledger.find(nameOf(address)).catch(() => undefined)
      return until !== undefined && Number(until) > now()
    },

    async remember(address) {
      const until = now() + KNOWN_FOR_MS
      // At most one write a day for each address: an operator's script may sign in often.
      const make = async (before: string | undefined) => ({
        after: before !== undefined && Number(before) > until - DAY_MS ? before : String(until),
        result: undefined,
      })
      await changeInLedger(ledger, nameOf(address), { make, forgetAt: until }).catch((error) =>
        log.warn({ err: error }, 'the IP address of a sign-in could not be stored'),
      )
    },
  }
}
