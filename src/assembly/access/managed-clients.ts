import type { Config } from '../../../config/load.ts'
import { tryStorage } from '../../adapters/bucket/try-storage.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Partitioning } from '../../core/ports/index/partitioning.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { createClientStorages } from '../../service/admin/client-storage.ts'
import { createManagedClients, type ManagedClients } from '../../service/admin/clients.ts'
import type { HasFiles } from '../../service/admin/has-files.ts'
import { createRemoveClient } from '../../service/admin/remove-client.ts'
import { createChangeKnown } from '../../service/clients/change-existing.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Removals } from '../../service/originals/delete.ts'
import type { SweepResumables } from '../../service/upload/resumable/sweep-resumables.ts'
import { installationRoot } from '../settings.ts'

export interface ManagedClientsOptions {
  clients: Clients
  store: ClientStore
  hasFiles: HasFiles
  locks: Locks
  clientCacheTtlMs: number
  events: EventBus
  /** 32 bytes, which seal the credentials of own buckets. */
  key: Buffer
  config: Config
  index: FileIndex
  buckets: Buckets
  removals: Removals
  resumables: Pick<SweepResumables, 'ofClient'>
  partitioning?: Pick<Partitioning, 'end'> | undefined
}

/** Opens the clients as an operator manages them. */
export function openManagedClients({
  clients,
  store,
  hasFiles,
  locks,
  clientCacheTtlMs,
  events,
  key,
  config,
  index,
  buckets,
  removals,
  resumables,
  partitioning,
}: ManagedClientsOptions): ManagedClients {
  const storages = createClientStorages({
    store,
    hasFiles,
    locks,
    tryStorage,
    clientCacheTtlMs,
    changeKnown: createChangeKnown({ store, events }),
    key,
    installation: installationRoot(config),
  })
  const removeClient = createRemoveClient({
    clients: store,
    index,
    buckets,
    removals,
    hasFiles,
    events,
    clientCacheTtlMs,
    resumables,
    partitioning,
  })
  return createManagedClients({ clients, store, storages, removeClient })
}
