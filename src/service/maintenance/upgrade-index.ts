import type { ClientStore } from '../../core/ports/client-store.ts'
import type { IndexMaintenance } from '../../core/ports/file-index.ts'

/**
 * Converts what an older version has stored in the index: for all clients after the start, later for those in whose data an older process
 * has written again. Calls must not overlap. A failed call is repeated by the next one.
 */
export type UpgradeIndex = (signal: AbortSignal) => Promise<void>

export function createUpgradeIndex({
  index,
  clients,
}: {
  index: Pick<IndexMaintenance, 'upgrade'>
  clients: Pick<ClientStore, 'list'>
}): UpgradeIndex {
  let hasAll = false
  return async (signal) => {
    await index.upgrade(signal, hasAll ? [] : clients.list().map(({ id }) => id))
    hasAll = true
  }
}
