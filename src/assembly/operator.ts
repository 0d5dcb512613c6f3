import { noMetrics } from '../adapters/metrics/none.ts'
import type { Commands } from '../core/command.ts'
import { type LoadOptions, loadEverything } from './plugins.ts'
import { openServices, type ServicesOptions } from './services.ts'
import { operatorCommands } from './sources/imports.ts'
import { openTransformations } from './transforms.ts'

export { backupCommands } from './backup/commands.ts'

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
  return {
    commands: operatorCommands(services, options),
    async close() {
      await pool.close()
      await services.close({ graceMs: 0 })
    },
  }
}
