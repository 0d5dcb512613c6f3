import type { Log } from '../../../core/log.ts'
import { logReason } from '../../../core/log-reason.ts'
import { PasskeyRefused } from '../../../core/ports/members/passkey-verifier.ts'
import { type RefusedStatus, refusedPasskey } from './passkey-problems.ts'

/** For `catch`: logs why an answer was not verified, and throws the problem without the reason. Other errors are thrown as they are. */
export type RefuseAnswer = (status: RefusedStatus, memberId: string) => (error: unknown) => never

export function createRefuseAnswer(log: Log): RefuseAnswer {
  return (status, member) => (error) => {
    if (!(error instanceof PasskeyRefused)) throw error
    log.warn({ member, reason: logReason(error) }, 'the answer of a passkey was not verified')
    throw refusedPasskey(error.failure, status)
  }
}
