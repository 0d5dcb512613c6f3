import { type Client, FIRST_CLIENT_ID, isValid, type StoredSecret } from '../../core/clients/client.ts'
import type { ClientStorage, StorageConnection } from '../../core/clients/client-storage.ts'
import type { ShownClient, ShownSecret } from '../../core/clients/shown-client.ts'
import type { StorageSettings } from '../../core/clients/storage-settings.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { UrlKey } from '../../core/signing/signed-url.ts'
import { noSuchClient } from '../clients/change-existing.ts'
import type { ClientChanges, Clients, Tokens } from '../clients/clients.ts'
import type { NewSecret } from '../clients/credentials.ts'
import type { ClientStorages } from './client-storage.ts'
import type { RemoveClient, RemoveClientOptions } from './remove-client.ts'

/** The clients as an operator manages them, on the command line and over HTTP. Secrets are shown only when they are created. */
export interface ManagedClients {
  /** The first client first, then the others by age. */
  list(): Promise<ShownClient[]>
  /** @throws Problem 404 */
  show(id: string): Promise<ShownClient>
  /** @throws as {@link Clients.create}; with a bucket of its own as {@link ClientStorages.forNew} */
  create(changes: ClientChanges & { storage?: StorageSettings | undefined }): Promise<ShownClient & Tokens>
  /** @throws as {@link Clients.update} */
  update(id: string, changes: ClientChanges): Promise<ShownClient>
  /** @throws as {@link ClientStorages.set} */
  setStorage(id: string, settings: StorageSettings | undefined): Promise<ShownClient>
  /** @returns the duration of the test. @throws as {@link ClientStorages.test} */
  testStorage(id: string, settings: StorageSettings | undefined): Promise<{ ms: number }>
  /** @throws as {@link Clients.rotate} */
  rotate(id: string, options: { keepOldMs: number }): Promise<ShownClient & Tokens>
  /** @throws as {@link Clients.addSecret} */
  addSecret(id: string, secret: NewSecret): Promise<ShownSecret & Pick<Tokens, 'secretClientToken'>>
  /** @throws as {@link Clients.removeSecret} */
  removeSecret(id: string, secretId: string): Promise<ShownClient>
  /** @throws as {@link Clients.addUrlKey} */
  addUrlKey(id: string): Promise<ShownClient & { urlKey: UrlKey }>
  /** @throws as {@link Clients.removeUrlKey} */
  removeUrlKey(id: string, version: number): Promise<ShownClient>
  /** @throws as {@link RemoveClient} */
  remove(id: string, options: RemoveClientOptions): Promise<{ originals: number }>
}

export function createManagedClients({
  clients,
  store,
  storages,
  removeClient,
  now = Date.now,
}: {
  clients: Clients
  store: ClientStore
  storages: ClientStorages
  removeClient: RemoveClient
  now?: () => number
}): ManagedClients {
  const shown = (client: Client) => shownClient(client, now())
  return {
    async list() {
      await store.refresh()
      return [...store.list()].sort(byAge).map(shown)
    },
    async show(id) {
      await store.refresh()
      const client = store.find(id)
      if (!client) throw noSuchClient(id)
      return shown(client)
    },
    async create({ storage, ...changes }) {
      const { client, tokens } = storage
        ? await storages.forNew(storage, (own) => clients.create(changes, own))
        : await clients.create(changes)
      return { ...shown(client), ...tokens }
    },
    update: async (id, changes) => shown(await clients.update(id, changes)),
    setStorage: async (id, settings) => shown(await storages.set(id, settings)),
    async testStorage(id, settings) {
      const startedAt = performance.now()
      await storages.test(id, settings)
      return { ms: Math.round(performance.now() - startedAt) }
    },
    async rotate(id, options) {
      const { client, tokens } = await clients.rotate(id, options)
      return { ...shown(client), ...tokens }
    },
    async addSecret(id, options) {
      const { stored, secret } = await clients.addSecret(id, options)
      return { ...shownSecret(stored), secretClientToken: secret }
    },
    removeSecret: async (id, secretId) => shown(await clients.removeSecret(id, secretId)),
    async addUrlKey(id) {
      const { client, urlKey } = await clients.addUrlKey(id)
      return { ...shown(client), urlKey }
    },
    removeUrlKey: async (id, version) => shown(await clients.removeUrlKey(id, version)),
    remove: removeClient,
  }
}

function shownClient(
  { id, name, token, createdAt, secrets, urlKeys, rules, storage, removing }: Client,
  now: number,
): ShownClient {
  const valid = secrets.filter((one) => isValid(one, now))
  const scoped = valid.filter(({ scope }) => scope)
  const ends = valid.filter(({ scope }) => !scope).flatMap(({ validUntil }) => validUntil ?? [])
  return {
    id,
    ...(name === undefined ? {} : { name }),
    clientToken: token,
    createdAt: new Date(createdAt).toISOString(),
    state: removing ? 'removing' : 'active',
    ...(rules ? { rules } : {}),
    ...(urlKeys?.active.length ? { urlKeys: urlKeys.active.map(({ version }) => version) } : {}),
    ...(storage ? { storage: shownStorage(storage) } : {}),
    ...(ends.length > 0 ? { oldSecretUntil: new Date(Math.max(...ends)).toISOString() } : {}),
    ...(scoped.length > 0 ? { secrets: scoped.map(shownSecret) } : {}),
  }
}

function shownStorage({ sealedSecret: _, address: __, ...shown }: ClientStorage): StorageConnection {
  return shown
}

function shownSecret({ id = '', name, scope, validUntil }: StoredSecret): ShownSecret {
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...scope,
    ...(validUntil === undefined ? {} : { until: new Date(validUntil).toISOString() }),
  }
}

/** Orders clients for lists: the first client, then the others by age. */
export function byAge(one: Client, other: Client): number {
  if (one.id === FIRST_CLIENT_ID) return -1
  if (other.id === FIRST_CLIENT_ID) return 1
  return one.createdAt - other.createdAt
}
