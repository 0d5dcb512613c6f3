import { type Command, Option } from 'commander'
import * as read from './arguments.ts'
import { type Perform, subcommand } from './leaf-command.ts'
import { settingsOf, withStorage } from './storage-options.ts'

export interface ClientCommandsOptions {
  perform: Perform
  /** The secret access key of a client's own bucket, where the environment has it. */
  storageSecret: string | undefined
}

/** `client …`: all that is done with clients. */
export function addClientCommands(sluice: Command, options: ClientCommandsOptions): void {
  const { perform } = options
  const client = sluice.command('client').description('Who may use the service.')
  addCreation(client, options)
  subcommand(client, 'list', 'Lists all clients, without their secrets.').action(({ json }) =>
    perform('client list', {}, { json }),
  )
  subcommand(client, 'show', 'Shows one client, without its secrets.')
    .argument('<id>', 'as in the list')
    .action((id, { json }) => perform('client show', { id }, { json }))
  subcommand(
    client,
    'rotate',
    'Gives a client a new secret, and prints it; the old one goes on working for a while.',
  )
    .argument('<id>', 'as in the list')
    .addOption(keepOld())
    .action((id, { keepOld, json }) => perform('client rotate', { id, keepOldMs: keepOld }, { json }))
  addSecretCommands(client, perform)
  addRules(client, perform)
  addKeyCommands(client, perform)
  subcommand(
    client,
    'remove',
    'Removes a client: its access first, then its files, then itself. Goes on when called again.',
  )
    .argument('<id>', 'as in the list')
    .option('--files', 'also when it has files: deletes all of them', false)
    .action((id, { files, json }) => perform('client remove', { id, files }, { json }))
}

/** What says where files lie: of a new client, and of one that there is. */
function addCreation(client: Command, { perform, storageSecret }: ClientCommandsOptions): void {
  const create = subcommand(client, 'create', 'Adds a client, and prints its tokens.').option(
    '--name <name>',
    'what people call it',
  )
  withStorage(create).action(async ({ name, json, ...options }, command: Command) => {
    const storage = await settingsOf(options, { command, secret: storageSecret })
    return perform('client create', { name, ...(storage ? { storage } : {}) }, { json })
  })
  const storage = subcommand(
    client,
    'storage',
    'Gives a client a bucket of its own, once it has been tried; or other keys for the one that it has.',
  )
    .argument('<id>', 'as in the list')
    .option('--default', "back to the installation's bucket", false)
  withStorage(storage).action(async (id, { json, default: byDefault, ...options }, command: Command) => {
    const given = await settingsOf(options, { command, secret: storageSecret })
    if ((given === undefined) !== byDefault) command.error('error: expected --bucket or --default')
    return perform('client storage', { id, storage: given ?? false }, { json })
  })
}

function keepOld(): Option {
  return new Option('--keep-old <time>', 'how long the old secret goes on working')
    .argParser(read.duration)
    .default(read.duration('24h'), '24h')
}

function addSecretCommands(client: Command, perform: Perform): void {
  const secret = client.command('secret').description('Secrets of a client that are for less than its own.')
  subcommand(secret, 'add', 'Makes one, and prints it.')
    .argument('<id>', 'of the client')
    .option('--name <name>', 'what people call it')
    .addOption(new Option('--only <action>', 'uploads only, or reading only').choices(['upload', 'read']))
    .option('--folder <folder>', 'nothing outside of this folder')
    .option('--valid <time>', 'how long it works; for good when absent', read.duration)
    .action((id, { valid, json, ...scope }) =>
      perform('client secret add', { id, ...scope, validMs: valid }, { json }),
    )
  subcommand(secret, 'remove', 'Ends one.')
    .argument('<id>', 'of the client')
    .argument('<secret id>', 'as in client show')
    .action((id, secretId, { json }) => perform('client secret remove', { id, secretId }, { json }))
}

function addRules(client: Command, perform: Perform): void {
  subcommand(client, 'set', "Sets what may be asked of a client's files; what is not named stays as it is.")
    .argument('<id>', 'as in the list')
    .option('--signed-urls <on|off>', 'no delivery but by signed URLs', read.onOrOff)
    .option('--presets-only <on|off>', 'no parameter but preset', read.onOrOff)
    .option(
      '--allowed-widths <px,px,…|any>',
      'a width that is not among them becomes the next larger one',
      read.widths,
    )
    .option(
      '--variant-limit <count|default>',
      'derivatives that a file may have; default: VARIANT_LIMIT',
      read.limit,
    )
    .option(
      '--derivatives-max-bytes <bytes|default>',
      'of all its derivatives; default: DERIVATIVES_MAX_BYTES',
      read.limit,
    )
    .option(
      '--fetch-hosts <host,*.host,…|any|none|default>',
      'servers that files may be fetched from; default: none by a public URL, any with a secret',
      read.fetchHosts,
    )
    .option(
      '--fetch-deny-hosts <host,*.host,…|none>',
      'servers that no file is fetched from, even when allowed',
      read.fetchDenyHosts,
    )
    .option('--keep-deleted <time|off>', 'how long what is deleted can be restored', read.keepDeleted)
    .option('--dedupe <reuse|off>', 'reuse: what it has already is not stored again', read.dedupe)
    .option('--upload-max-bytes <bytes|default>', 'of each file; default: UPLOAD_MAX_BYTES', read.limit)
    .option(
      '--rate <name=points|name=default…>',
      'how often in the seconds of that limit: upload, derivative, fetch, sign, zip; 0 is no limit',
      read.rates,
    )
    .option(
      '--presets <file|none>',
      'a JSON file like config/presets.json: presets for its files alone, in the place of its own before',
      read.presets,
    )
    .action((id, { json, rate, keepDeleted: keepDeletedSeconds, ...others }, command: Command) => {
      const rules = {
        ...others,
        ...(rate ? { rates: rate } : {}),
        ...(keepDeletedSeconds === undefined ? {} : { keepDeletedSeconds }),
      }
      if (Object.keys(rules).length === 0) command.error('error: expected at least one rule to set')
      return perform('client set', { id, ...rules }, { json })
    })
}

function addKeyCommands(client: Command, perform: Perform): void {
  const key = client.command('key').description('Keys that a client signs its delivery URLs with.')
  subcommand(key, 'add', 'Adds one more key, and prints it; those that are there go on counting.')
    .argument('<id>', 'as in the list')
    .action((id, { json }) => perform('client key add', { id }, { json }))
  subcommand(key, 'remove', 'Ends a key, and with it all URLs that were signed with it.')
    .argument('<id>', 'as in the list')
    .argument('<version>', 'as it stands in the URLs, before the dot', read.version)
    .action((id, version, { json }) => perform('client key remove', { id, version }, { json }))
}
