import type { Commands } from '../core/command.ts'
import { type LoadOptions, loadEverything } from './plugins.ts'
import { openServices, type ServicesOptions } from './services.ts'
import { operatorCommands } from './sources/imports.ts'

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
  const { plugins } = await loadEverything(options)
  const services = await openServices({ ...options, plugins })
  return {
    commands: operatorCommands(services, options),
    close: () => services.close({ graceMs: 0 }),
  }
}
