import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedAuditLog } from '../../adapters/audit-log/embedded.ts'
import { embeddedDeliveryLog } from '../../adapters/delivery-log/embedded.ts'
import { DataDirError, dataDirTaken, storeUnusable } from '../../adapters/disk/data-dir.ts'
import { openJobTable } from '../../adapters/jobs/embedded-table.ts'
import { RETENTION } from '../../adapters/jobs/rules.ts'
import { embeddedLedger } from '../../adapters/ledger/embedded.ts'
import { embeddedUsage } from '../../adapters/usage/embedded.ts'
import type { FormerState } from '../../service/backup/migration/migrate-state.ts'

const ALL_DELIVERIES = { maxPerReceiver: Number.POSITIVE_INFINITY, retentionMs: Number.POSITIVE_INFINITY }

/**
 * Opens the state that a service without Redis has left in its data folder.
 *
 * @throws DataDirError when a service uses the folder, or when the folder has no state
 */
export async function openEmbeddedState(
  dataDir: string,
  { now = Date.now }: { now?: () => number } = {},
): Promise<FormerState & { close(): Promise<void> }> {
  const closings: Array<() => Promise<void>> = []
  const close = async () => {
    for (const one of closings.reverse()) await one()
  }
  /** Undefined when there is no such store: to open it would create it. */
  async function opened<T extends { close(): Promise<void> }>(
    name: string,
    open: (folder: string) => Promise<T>,
  ): Promise<T | undefined> {
    const folder = join(dataDir, name)
    if (!existsSync(folder)) return undefined
    const store = await open(folder).catch(async (error) => {
      throw error.cause?.code === 'LEVEL_LOCKED'
        ? await dataDirTaken(dataDir, error)
        : storeUnusable(dataDir, { name, error })
    })
    closings.push(() => store.close())
    return store
  }
  try {
    const ledger = await opened('ledger', (folder) => embeddedLedger(folder, { now }))
    if (!ledger) throw new DataDirError(`${dataDir} is not the DATA_DIR of a service without Redis`)
    const usage = await opened('usage', (folder) => embeddedUsage(folder, { now }))
    const audit = await opened('audit', (folder) => embeddedAuditLog(folder))
    const deliveries = await opened('deliveries', (folder) => embeddedDeliveryLog(folder, ALL_DELIVERIES))
    const jobs = await opened('jobs', async (folder) => {
      const { table, open } = await openJobTable(folder, RETENTION)
      return { open, close: () => table.close() }
    })
    const none = async () => []
    return {
      ledger: await ledger.entries(),
      usage: (await usage?.all()) ?? [],
      audit: audit ?? { list: none },
      deliveries: deliveries ?? { list: none, find: async () => undefined },
      jobs: (jobs?.open ?? []).map(({ ref, row: { data, dueAt, owner } }) => ({
        ...ref,
        data,
        delayMs: Math.max(0, dueAt - now()),
        ...(owner ? { owner } : {}),
      })),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
