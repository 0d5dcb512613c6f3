import type { LinkUse, MemberLink, NewSession, Session, SessionChange } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'
import { createPasskeys, type Passkeys } from './passkeys.ts'

/** What a member may do: read; everything that a client's own secret permits; also manage clients and members. */
export type Role = Session['member']['role']

/** A client that the member may see. */
export type SessionClient = Session['clients'][number]

/** Sign-in of members, with a cookie. All calls reject with a {@link SluiceError}. */
export interface Sessions {
  /** 401 `not_signed_in` without a session. */
  get(options?: CallOptions): Promise<Session>
  /** Without an email address: with ADMIN_PASSWORD. */
  signIn(credentials: NewSession, options?: CallOptions): Promise<Session>
  /** Changes the name or the password of the member. A new password `null` removes it, for a member who has a passkey. */
  update(change: SessionChange, options?: CallOptions): Promise<Session>
  /** `everywhere`: ends all sessions of the member. */
  signOut(options?: CallOptions & { everywhere?: boolean }): Promise<void>
  /** What a link is for. It remains valid. */
  link(link: string, options?: CallOptions): Promise<MemberLink>
  /** Sets the password of a link and signs in. The link is then no longer valid. */
  acceptLink(use: LinkUse, options?: CallOptions): Promise<Session>
  passkeys: Passkeys
}

/** Creates the calls for sessions. @param api without `onSignedOut`: the first page handles a missing session itself */
export function createSessions(api: Api): Sessions {
  const path = '/v1/session'
  return {
    get: ({ signal } = {}) => api.json({ path, signal }),
    signIn: (json, { signal } = {}) => api.json({ method: 'POST', path, json, signal }),
    update: (json, { signal } = {}) => api.json({ method: 'PATCH', path, json, signal }),
    signOut: async ({ everywhere, signal } = {}) => {
      await api.send({ method: 'DELETE', path, query: { everywhere }, signal })
    },
    link: (link, { signal } = {}) =>
      api.json({ method: 'POST', path: `${path}/link`, json: { link }, signal }),
    acceptLink: (json, { signal } = {}) => api.json({ method: 'PUT', path: `${path}/link`, json, signal }),
    passkeys: createPasskeys(api, path),
  }
}
