import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/** 401: the email address or the password is wrong. The response does not reveal which. */
export function wrongPassword(): Problem {
  return new Problem({ status: 401, code: 'wrong_password', detail: 'Wrong email address or password.' })
}

/** 403: the current password of a signed-in member is wrong. Not 401: the session is valid. */
export function wrongCurrentPassword(): Problem {
  return new Problem({ status: 403, code: 'wrong_password', detail: 'The current password is wrong.' })
}

/** 401: the cookie is missing, or its session has expired or was ended. */
export function notSignedIn(): Problem {
  return new Problem({
    status: 401,
    code: 'not_signed_in',
    detail: 'You are not signed in, or your session has expired. Sign in again.',
  })
}

/** 410: the link was used, has expired, or was never issued. */
export function linkExpired(): Problem {
  return new Problem({
    status: 410,
    code: 'link_expired',
    detail: 'This link has expired or was used already. Request a new one.',
  })
}

/** 404. @param received an ID, or an email address on the command line */
export function noSuchMember(received: string): Problem {
  return new Problem({
    status: 404,
    code: 'member_not_found',
    detail: `There is no member ${JSON.stringify(truncate(received))}.`,
  })
}

export function emailTaken(): Problem {
  return new Problem({ status: 409, code: 'email_taken', detail: 'Another member has this email address.' })
}

/** 409: without an owner, no person could manage clients and members. */
export function lastOwner(): Problem {
  return new Problem({
    status: 409,
    code: 'last_owner',
    detail: 'This is the last owner, who can be neither removed nor given another role.',
  })
}

export function tooManyMembers(most: number): Problem {
  return new Problem({
    status: 409,
    code: 'too_many_members',
    detail: `An installation has at most ${most} members. Remove one first.`,
  })
}

/** 409: the operator who has signed in with `ADMIN_PASSWORD` has no record that could be changed. */
export function operatorHasNoRecord(): Problem {
  return new Problem({
    status: 409,
    code: 'operator_session',
    detail:
      'You are signed in with ADMIN_PASSWORD, which has no account. It is changed in the configuration.',
  })
}

/** 409: the member signs in with an identity provider. */
export function hasNoPassword(): Problem {
  return new Problem({
    status: 409,
    code: 'no_password',
    detail: 'This member signs in with the organisation, and has neither password nor passkeys.',
  })
}
