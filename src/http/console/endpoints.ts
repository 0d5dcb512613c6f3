import { readMemberLink, useMemberLink } from './links.ts'
import { OIDC } from './oidc/endpoints.ts'
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
]
