import { readMemberLink, useMemberLink } from './links.ts'
import { OIDC } from './oidc/endpoints.ts'
import { OWN_PASSKEYS } from './passkeys/own.ts'
import { PASSKEY_SIGN_IN } from './passkeys/sign-in.ts'
import { beginSession, endSession, getSession, updateSession } from './session.ts'
import { signIn } from './sign-in.ts'

/** Sign-in to the console, and links by which a person chooses a password. */
export const SESSIONS = [
  signIn,
  beginSession,
  getSession,
  updateSession,
  endSession,
  readMemberLink,
  useMemberLink,
  ...OIDC,
  ...OWN_PASSKEYS,
  ...PASSKEY_SIGN_IN,
]
