import { z } from 'zod'
import { noMetrics } from '../adapters/metrics/none.ts'
import { FIRST_CLIENT_ID } from '../core/clients/client.ts'
import type { Command, Commands } from '../core/command.ts'
import { endMigration } from '../service/backup/migration/target.ts'
import { type LoadOptions, loadEverything } from './plugins.ts'
import { openServices, type ServicesOptions } from './services.ts'
import { operatorCommands } from './sources/imports.ts'
import { openTransformations } from './transforms.ts'

export { backupCommands } from './backup/commands.ts'

// They do not end a migration to this bucket, since they change nothing in it.
const READ_ONLY = ['check', 'client list', 'client show', 'usage', 'webhook list']

const dryRun = z.object({ isDryRun: z.literal(true) })
const isDryRun = (args: unknown) => dryRun.safeParse(args).success

/** The commands of an operator, without a running server. */
export interface Operator {
  commands: Commands
  close(): Promise<void>
}

/**
 * Opens files and their state for an operator's command: on Redis in addition to running services, else only when no
 * server runs.
 *
 * @throws DataDirError when another process holds the data folder; PluginError for a broken plugin
 */
export async function openOperator(
  options: LoadOptions & Omit<ServicesOptions, 'wrapStorage' | 'plugins'>,
): Promise<Operator> {
  const loaded = await loadEverything(options)
  const services = await openServices({ ...options, plugins: loaded.plugins })
  // Imported files of some clients must be decodable.
  const { pool } = openTransformations(services, { ...options, loaded, metrics: noMetrics })
  const changing = (work: Command): Command => {
    const first = services.backends.buckets.of({ id: FIRST_CLIENT_ID, token: '' })
    return async (args, run) => {
      if (!isDryRun(args)) await endMigration(first)
      return work(args, run)
    }
  }
  const commands = Object.entries(operatorCommands(services, options)).map(
    ([name, work]) => [name, READ_ONLY.includes(name) ? work : changing(work)] as const,
  )
  return {
    commands: Object.fromEntries(commands),
    async close() {
      await pool.close()
      await services.close({ graceMs: 0 })
    },
  }
}
