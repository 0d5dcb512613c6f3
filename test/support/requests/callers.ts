import type { CpuTime } from '../../../src/core/budgets/cpu-time.ts'
import type { WaitingLimits } from '../../../src/core/budgets/shares.ts'
import type { Caller } from '../../../src/core/clients/caller.ts'

/** A caller with a URL, and without a secret. */
export const STRANGER: Caller = { address: '127.0.0.1', isTrusted: false }

/** A caller with a secret of the client. */
export const TRUSTED: Caller = { address: '127.0.0.1', isTrusted: true }

/** A number of places to wait, for any caller. */
export function roomFor(atMost: number): WaitingLimits {
  return { atMost, strangers: atMost, perClient: atMost, perAddress: atMost }
}

/** Whatever is spent. */
export const NO_CPU_LIMIT: CpuTime = { async check() {}, async charge() {} }
