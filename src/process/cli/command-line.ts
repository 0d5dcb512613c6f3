import { Command } from 'commander'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { addClientCommands, type ClientCommandsOptions } from './client-commands.ts'
import { subcommand } from './leaf-command.ts'

const WRONG_USAGE = 2

/** The command line: what there is, with which arguments. What is not of it ends the process with the code 2. */
export function commandLine(options: ClientCommandsOptions): Command {
  const { perform } = options
  const sluice = new Command('sluice')
    .description("The operator's command of Sluice; it reads the same environment variables as the server.")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
    .showHelpAfterError('(--help tells more)')

  addClientCommands(sluice, options)
  subcommand(sluice, 'check', 'Compares bucket and index, and changes nothing. Exit code 1 when they differ.')
    .option('--client <id>', "only this client's files")
    .option('--digests', 'read all originals, at 64 MiB/s at most, and compare their SHA-256')
    .action(({ client: clientId, digests, json }) => perform('check', { clientId, digests }, { json }))
  subcommand(
    sluice,
    'reindex',
    'Fills the index from the bucket. Where the two differ on a file, the record in the bucket is right.',
  )
    .option('--client <id>', "only this client's files")
    .action(({ client: clientId, json }) => perform('reindex', { clientId }, { json }))
  const derivatives = sluice.command('derivatives').description('What was made of originals: a cache.')
  subcommand(derivatives, 'delete', 'Deletes the derivatives of an original, or of a folder; originals stay.')
    .argument('<key|folder/>', 'an original, or with a slash at its end all in a folder')
    .option('--client <id>', 'whose', FIRST_CLIENT_ID)
    .action((path, { client: clientId, json }) => perform('derivatives delete', { clientId, path }, { json }))
  subcommand(sluice, 'usage', 'What clients store, and what they have used in the last 30 days.')
    .option('--client <id>', 'only this client')
    .action(({ client: clientId, json }) => perform('usage', { clientId }, { json }))
  subcommand(sluice, 'sweep', 'Ends what nobody works on any more, as the server does every minute.').action(
    ({ json }) => perform('sweep', {}, { json }),
  )
  return sluice
}
