import type {
  NewPasskey,
  Passkey,
  PasskeyCreation,
  PasskeyList,
  PasskeyRequest,
  Session,
  UsedPasskey,
} from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'

/** The passkeys of the signed-in member, and sign-in with them. All calls reject with a {@link SluiceError}. */
export interface Passkeys {
  list(options?: CallOptions): Promise<Passkey[]>
  /** What `navigator.credentials.create` needs. 403 `sign_in_again` when the sign-in is older than 10 minutes. */
  begin(options?: CallOptions): Promise<PasskeyCreation>
  /** Adds what the browser has created. */
  add(passkey: NewPasskey, options?: CallOptions): Promise<Passkey>
  /** Ends all other sessions. 403 `sign_in_again` when the sign-in is older than 10 minutes, 409 `last_passkey` for the last one of a member without a password. */
  remove(id: string, options?: CallOptions): Promise<void>
  /** What `navigator.credentials.get` needs. */
  beginSignIn(options?: CallOptions): Promise<PasskeyRequest>
  /** Signs in with what the browser has returned. */
  signIn(used: UsedPasskey, options?: CallOptions): Promise<Session>
}

/** Creates the calls for passkeys. @param session the path of the session */
export function createPasskeys(api: Api, session: string): Passkeys {
  const path = `${session}/passkeys`
  const post = <T>(to: string, { signal }: CallOptions = {}, json: unknown = undefined) =>
    api.json<T>({ method: 'POST', path: to, json, signal })
  return {
    list: async ({ signal } = {}) => (await api.json<PasskeyList>({ path, signal })).passkeys,
    begin: (options) => post(`${path}/options`, options),
    add: (passkey, options) => post(path, options, passkey),
    remove: async (id, { signal } = {}) => {
      await api.send({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal })
    },
    beginSignIn: (options) => post(`${session}/passkey/options`, options),
    signIn: (used, options) => post(`${session}/passkey`, options, used),
  }
}
