import type {
  AdminSession,
  Client,
  ClientChange,
  ClientUsageReport,
  ClientWithSecret,
  ClientWithUrlKey,
  NewClient,
  NewScopedSecret,
  NewSecret,
  RemovedClient,
  StorageSettings,
  TestedStorage,
} from '../generated/api.ts'
import { type Api, type ApiOptions, type CallOptions, createApi } from '../http/request.ts'
import { authorizationOf } from '../http/token.ts'
import type { UsageOptions } from './usage.ts'

/** The clients of an installation, for its operator. All calls reject with a {@link SluiceError}. */
export interface Clients {
  /** Signs in with ADMIN_PASSWORD. The other calls then use this session, for twelve hours. */
  signIn(password: string, options?: CallOptions): Promise<AdminSession>
  list(options?: CallOptions): Promise<Client[]>
  /** The usage of all clients by day. */
  usage(options?: UsageOptions): Promise<ClientUsageReport>
  get(id: string, options?: CallOptions): Promise<Client>
  /** The response has the secret, which is not shown again. */
  create(client?: NewClient, options?: CallOptions): Promise<ClientWithSecret>
  /** Changes the named values. Null resets a value. */
  update(id: string, change: ClientChange, options?: CallOptions): Promise<Client>
  /** Deletes a client. `files`: with all of its files. */
  delete(id: string, options?: CallOptions & { files?: boolean }): Promise<RemovedClient>
  /** Creates a new secret. The old one is valid for this time, one day by default. */
  rotate(id: string, options?: CallOptions & { keepOldSeconds?: number }): Promise<ClientWithSecret>
  addSecret(id: string, secret?: NewSecret, options?: CallOptions): Promise<NewScopedSecret>
  removeSecret(id: string, secretId: string, options?: CallOptions): Promise<Client>
  /** Adds a key for signed delivery URLs, which is not shown again. */
  addUrlKey(id: string, options?: CallOptions): Promise<ClientWithUrlKey>
  removeUrlKey(id: string, version: number, options?: CallOptions): Promise<Client>
  /** Gives a client a bucket of its own. Null: the bucket of the service again. */
  setStorage(id: string, storage: StorageSettings | null, options?: CallOptions): Promise<Client>
  /** Tests a bucket, and changes nothing. Null: the own bucket of the client, with its stored credentials. */
  testStorage(id: string, storage: StorageSettings | null, options?: CallOptions): Promise<TestedStorage>
}

/**
 * Creates the calls for clients. They use the token of the operator, never the secret of a client.
 *
 * @returns `authorization`: that of the operator, for other calls
 */
export function createClients({ adminToken, ...options }: ApiOptions & { adminToken?: string | undefined }): {
  calls: Clients
  authorization: () => string | undefined
} {
  let token = adminToken
  const authorization = authorizationOf(() => token)
  const api: Api = createApi({ ...options, authorization })
  const at = (id: string, ...rest: Array<string | number>) =>
    ['/v1/clients', ...[id, ...rest].map((part) => encodeURIComponent(part))].join('/')
  const calls: Clients = {
    async signIn(password, { signal } = {}) {
      const request = { method: 'POST' as const, path: '/v1/sign-in', json: { password } }
      const session = await api.json<AdminSession>({
        ...request,
        isAnonymous: true,
        signal,
      })
      token = session.token
      return session
    },
    list: ({ signal } = {}) => api.json({ path: '/v1/clients', signal }),
    usage: ({ signal, ...query } = {}) => api.json({ path: '/v1/clients/usage', query, signal }),
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
    testStorage: (id, json, { signal } = {}) =>
      api.json({
        method: 'POST',
        path: at(id, 'storage', 'test'),
        ...(json === null ? {} : { json }),
        signal,
      }),
  }
  return { calls, authorization }
}
