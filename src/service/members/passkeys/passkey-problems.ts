import { PASSKEYS_MAX } from '../../../core/members/member.ts'
import type { PasskeyFailure } from '../../../core/ports/members/passkey-verifier.ts'
import { Problem } from '../../../core/problem.ts'

/** 401 at a sign-in; 403 for a new passkey, where the session remains valid. */
export type RefusedStatus = 401 | 403

/** The browser's answer was not verified. The log has the reason. */
export function refusedPasskey(failure: PasskeyFailure, status: RefusedStatus): Problem {
  if (failure === 'unverified')
    return new Problem({
      status,
      code: 'passkey_unverified',
      detail: 'The device has not verified you. Use a passkey with a PIN, a fingerprint or your face.',
    })
  return new Problem({
    status,
    code: 'wrong_passkey',
    detail: 'The answer of the passkey could not be verified. Try again.',
  })
}

/** 401: it was removed, or is of another installation. */
export function unknownPasskey(): Problem {
  return new Problem({
    status: 401,
    code: 'unknown_passkey',
    detail: 'No member has this passkey. It may have been removed.',
  })
}

/** 410: a request for a passkey is valid for five minutes, once, in the browser that has sent it. */
export function challengeExpired(): Problem {
  return new Problem({
    status: 410,
    code: 'challenge_expired',
    detail: 'This request for a passkey has expired, was used already, or is of another browser. Try again.',
  })
}

/** 400: passkeys are for one origin, which is not known. */
export function unknownOrigin(): Problem {
  return new Problem({
    status: 400,
    code: 'unknown_origin',
    detail: 'The origin of the page is unknown: Origin and Host do not match. Set BASE_URL.',
  })
}

/** 403: a change that outlasts the session needs a sign-in a few minutes ago. Not 401: the session is valid. */
export function signInAgain(): Problem {
  return new Problem({
    status: 403,
    code: 'sign_in_again',
    detail: 'Your sign-in is more than 10 minutes old. Sign in again, then repeat this.',
  })
}

/** 404. */
export function noSuchPasskey(): Problem {
  return new Problem({ status: 404, code: 'passkey_not_found', detail: 'You have no such passkey.' })
}

export function passkeyExists(): Problem {
  return new Problem({
    status: 409,
    code: 'passkey_exists',
    detail: 'This passkey was added already.',
  })
}

export function tooManyPasskeys(): Problem {
  return new Problem({
    status: 409,
    code: 'too_many_passkeys',
    detail: `A member has at most ${PASSKEYS_MAX} passkeys. Remove one first.`,
  })
}

/** 409: the member could not sign in any more. */
export function lastPasskey(): Problem {
  return new Problem({
    status: 409,
    code: 'last_passkey',
    detail:
      'This is your last passkey for this address, and you have no password. Add another one, or set a password first.',
  })
}

/** 409: the member has removed the password already. */
export function noPasswordLeft(): Problem {
  return new Problem({ status: 409, code: 'no_password', detail: 'You have no password.' })
}

/** 409: a member without passkeys for this address needs the password. */
export function noPasskey(): Problem {
  return new Problem({
    status: 409,
    code: 'no_passkey',
    detail: 'You have no passkey for this address, so you need the password. Add a passkey first.',
  })
}
