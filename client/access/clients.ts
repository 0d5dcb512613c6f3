import { type Api, type ApiOptions, type CallOptions, createApi } from '../http/request.ts'
import { authorizationOf } from '../http/token.ts'
import type {
  ClientStorage,
  Created,
  CreatedSecret,
  ManagedClient,
  NewClient,
  NewSecret,
} from './client-records.ts'

/** The clients of an installation, for its operator. All calls reject with a {@link SluiceError}. */
export interface Clients {
  /** Signs in with ADMIN_PASSWORD. The other calls then use this session, for twelve hours. */
  signIn(password: string, options?: CallOptions): Promise<{ token: string; expiresAt: string }>
  list(options?: CallOptions): Promise<ManagedClient[]>
  get(id: string, options?: CallOptions): Promise<ManagedClient>
  /** The response has the secret, which is not shown again. */
  create(client?: NewClient, options?: CallOptions): Promise<Created>
  /** Changes the named values. Null resets a value. */
  update(id: string, change: Omit<NewClient, 'storage'>, options?: CallOptions): Promise<ManagedClient>
  /** Deletes a client. `files`: with all of its files. */
  delete(id: string, options?: CallOptions & { files?: boolean }): Promise<{ originals: number }>
  /** Creates a new secret. The old one is valid for this time, one day by default. */
  rotate(id: string, options?: CallOptions & { keepOldSeconds?: number }): Promise<Created>
  addSecret(id: string, secret?: NewSecret, options?: CallOptions): Promise<CreatedSecret>
  removeSecret(id: string, secretId: string, options?: CallOptions): Promise<ManagedClient>
  /** Adds a key for signed delivery URLs, which is not shown again. */
  addUrlKey(
    id: string,
    options?: CallOptions,
  ): Promise<ManagedClient & { urlKey: { version: number; key: string } }>
  removeUrlKey(id: string, version: number, options?: CallOptions): Promise<ManagedClient>
  /** Gives a client a bucket of its own. Null: the bucket of the service again. */
  setStorage(id: string, storage: ClientStorage | null, options?: CallOptions): Promise<ManagedClient>
}

/** Creates the calls for clients. They use the token of the operator, never the secret of a client. */
export function createClients({
  adminToken,
  ...options
}: ApiOptions & { adminToken?: string | undefined }): Clients {
  let token = adminToken
  const api: Api = createApi({ ...options, authorization: authorizationOf(() => token) })
  const at = (id: string, ...rest: Array<string | number>) =>
    ['/v1/clients', ...[id, ...rest].map((part) => encodeURIComponent(part))].join('/')
  return {
    async signIn(password, { signal } = {}) {
      const request = { method: 'POST' as const, path: '/v1/sign-in', json: { password } }
      const session = await api.json<{ token: string; expiresAt: string }>({
        ...request,
        isAnonymous: true,
        signal,
      })
      token = session.token
      return session
    },
    list: ({ signal } = {}) => api.json({ path: '/v1/clients', signal }),
    get: (id, { signal } = {}) => api.json({ path: at(id), signal }),
    create: (json = {}, { signal } = {}) => api.json({ method: 'POST', path: '/v1/clients', json, signal }),
    update: (id, json, { signal } = {}) => api.json({ method: 'PATCH', path: at(id), json, signal }),
    delete: (id, { files, signal } = {}) =>
      api.json({ method: 'DELETE', path: at(id), query: { files }, kind: 'transfer', signal }),
    rotate: (id, { keepOldSeconds, signal } = {}) =>
      api.json({ method: 'POST', path: at(id, 'rotate'), json: { keepOldSeconds }, signal }),
    addSecret: (id, json = {}, { signal } = {}) =>
      api.json({ method: 'POST', path: at(id, 'secrets'), json, signal }),
    removeSecret: (id, secretId, { signal } = {}) =>
      api.json({ method: 'DELETE', path: at(id, 'secrets', secretId), signal }),
    addUrlKey: (id, { signal } = {}) => api.json({ method: 'POST', path: at(id, 'keys'), signal }),
    removeUrlKey: (id, version, { signal } = {}) =>
      api.json({ method: 'DELETE', path: at(id, 'keys', version), signal }),
    setStorage: (id, json, { signal } = {}) =>
      json === null
        ? api.json({ method: 'DELETE', path: at(id, 'storage'), signal })
        : api.json({ method: 'PUT', path: at(id, 'storage'), json, signal }),
  }
}
