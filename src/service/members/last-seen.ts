import type { Log } from '../../core/log.ts'
import { changeInLedger, type Ledger } from '../../core/ports/ledger.ts'

/** When members last used the console. It is a hint, which may be lost with the ledger. */
export interface LastSeen {
  /** Notes that a member is here. It never throws, and writes at most every ten minutes for each member. */
  note(memberId: string): void
  /** Milliseconds since 1970; undefined when unknown. Never throws. */
  of(memberId: string): Promise<number | undefined>
}

const NOTED_EVERY_MS = 10 * 60_000
const KNOWN_FOR_MS = 365 * 86_400_000

export function createLastSeen({
  ledger,
  log,
  now = Date.now,
}: {
  ledger: Ledger
  log: Log
  now?: () => number
}): LastSeen {
  const noted = new Map<string, number>()
  const nameOf = (memberId: string) => `member seen ${memberId}`

  return {
    note(memberId) {
      const at = now()
      if (at < (noted.get(memberId) ?? 0) + NOTED_EVERY_MS) return
      noted.set(memberId, at)
      const make = async () => ({ after: String(at), result: undefined })
      void changeInLedger(ledger, nameOf(memberId), { make, forgetAt: at + KNOWN_FOR_MS }).catch((err) =>
        log.warn({ err }, 'the time at which a member was last seen could not be stored'),
      )
    },
    async of(memberId) {
      const at = await ledger.find(nameOf(memberId)).catch(() => undefined)
      return at === undefined ? undefined : Number(at)
    },
  }
}
