import { Command } from 'commander'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { version } from '../version.ts'
import { instant } from './arguments.ts'
import { addBackupCommands } from './backup/backup-commands.ts'
import { addClientCommands, type ClientCommandsOptions } from './client-commands.ts'
import { addImportCommand, type ImportCommandOptions } from './import/import-command.ts'
import { subcommand } from './leaf-command.ts'
import { addProgramCommands, type ProgramCommandsOptions } from './program-commands.ts'
import { addTypesCommand } from './types-command.ts'
import { addWebhookCommands } from './webhook-commands.ts'

/** The exit code of wrong usage. */
export const WRONG_USAGE = 2

export interface CommandLineOptions
  extends ClientCommandsOptions,
    ProgramCommandsOptions,
    ImportCommandOptions {
  /** Writes help and version to standard output. */
  write(text: string): void
  /** Writes wrong usage to standard error. */
  writeError(text: string): void
}

/**
 * All commands with their arguments. After wrong usage, help and version, `parseAsync` rejects.
 *
 * @throws CommanderError with `exitCode` 0 after help and version
 */
export function commandLine(options: CommandLineOptions): Command {
  const { perform, write, writeError } = options
  const sluice = new Command('sluice')
    .description(
      'Command-line tool of Sluice for operators. Reads the same environment variables as the server.',
    )
    .version(version(), '--version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: writeError })
    .showHelpAfterError('(see --help)')

  addProgramCommands(sluice, options)
  addClientCommands(sluice, options)
  subcommand(sluice, 'check', 'Compare bucket and index without changes. Exit code 1 when they differ.')
    .option('--client <id>', 'only files of this client')
    .option('--digests', 'also read all originals (at most 64 MiB/s) and compare their SHA-256')
    .action(({ client: clientId, digests, json }) => perform('check', { clientId, digests }, { json }))
  subcommand(
    sluice,
    'reindex',
    'Rebuild the index from the bucket. Where they differ, the record in the bucket is used.',
  )
    .option('--client <id>', 'only files of this client')
    .action(({ client: clientId, json }) => perform('reindex', { clientId }, { json }))
  const derivatives = sluice
    .command('derivatives')
    .description('Manage derivatives, the cached outputs of transformations.')
  subcommand(
    derivatives,
    'delete',
    'Delete the derivatives of an original or of a folder. Originals are not deleted.',
  )
    .argument('<key|folder/>', 'key of an original, a folder with a slash at its end, or / for all files')
    .option('--client <id>', 'ID of the client', FIRST_CLIENT_ID)
    .option('--before <date>', 'only those that were stored before it, such as 2026-11-29', instant)
    .action((path, { client: clientId, before, json }) =>
      perform('derivatives delete', { clientId, path, before }, { json }),
    )
  subcommand(sluice, 'usage', 'Show the stored bytes of clients, and their usage in the last 30 days.')
    .option('--client <id>', 'only this client')
    .action(({ client: clientId, json }) => perform('usage', { clientId }, { json }))
  subcommand(sluice, 'sweep', 'Clean up abandoned work now. The server does so every minute.').action(
    ({ json }) => perform('sweep', {}, { json }),
  )
  subcommand(
    sluice,
    'sign-in-link',
    'Print a link to the console that is valid for 15 minutes: for the first visit, or to set another password.',
  )
    .argument('[email]', 'email address of the member; default: the only owner')
    .action((email, { json }) => perform('sign-in-link', { email }, { json }))
  addBackupCommands(sluice, perform)
  addImportCommand(sluice, options)
  addWebhookCommands(sluice, perform)
  addTypesCommand(sluice)
  return sluice
}
