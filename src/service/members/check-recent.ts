import { signInAgain } from './passkeys/passkey-problems.ts'
import type { MemberSession } from './sessions.ts'

/** How long a sign-in permits changes that outlast the session. */
const RECENT_MS = 10 * 60_000

/**
 * Checks that the person has signed in a few minutes ago: a stolen session is not enough to add or remove what opens the account.
 *
 * @throws Problem 403
 */
export function checkRecent({ begunAt }: MemberSession, now: number): void {
  if (now >= begunAt + RECENT_MS) throw signInAgain()
}
