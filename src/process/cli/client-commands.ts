import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Rule } from '../../core/clients/rules/rule.ts'
import { CLIENT_RULES, RULE_NAMES } from '../../core/clients/rules/table.ts'
import * as read from './arguments.ts'
import { type Perform, subcommand } from './leaf-command.ts'
import { settingsOf, withStorage } from './storage-options.ts'

export interface ClientCommandsOptions {
  perform: Perform
  /** The secret access key of a client's own bucket; undefined when the environment has none. */
  storageSecret: string | undefined
}

/** Adds the commands `client …`. */
export function addClientCommands(sluice: Command, options: ClientCommandsOptions): void {
  const { perform } = options
  const client = sluice.command('client').description('Manage clients, their tokens and their rules.')
  addCreation(client, options)
  subcommand(client, 'list', 'List all clients, without their secrets.').action(({ json }) =>
    perform('client list', {}, { json }),
  )
  subcommand(client, 'show', 'Show one client, without its secrets.')
    .argument('<id>', 'ID of the client, see client list')
    .action((id, { json }) => perform('client show', { id }, { json }))
  subcommand(
    client,
    'rotate',
    'Create a new secret for a client and print it. The old secret remains valid for the time of --keep-old.',
  )
    .argument('<id>', 'ID of the client, see client list')
    .addOption(keepOld())
    .action((id, { keepOld, json }) => perform('client rotate', { id, keepOldMs: keepOld }, { json }))
  subcommand(
    client,
    'partition',
    'Divide the index of a client among all partitions of a Redis Cluster, or join it in one, while it is used. If interrupted, run it again to continue.',
  )
    .argument('<id>', 'ID of the client, see client list')
    .argument('<number>', 'number of partitions: 1 or 64', read.partitions)
    .action((id, partitions, { json }) => perform('client partition', { id, partitions }, { json }))
  addSecretCommands(client, perform)
  addRules(client, perform)
  addKeyCommands(client, perform)
  subcommand(
    client,
    'remove',
    'Delete a client: first its access, then its files, then its entry. If interrupted, run it again to continue.',
  )
    .argument('<id>', 'ID of the client, see client list')
    .option('--files', 'delete all files of the client; required when it has files', false)
    .action((id, { files, json }) => perform('client remove', { id, files }, { json }))
}

/** Adds `client create` and `client storage`: both take the bucket of a client. */
function addCreation(client: Command, { perform, storageSecret }: ClientCommandsOptions): void {
  const create = subcommand(client, 'create', 'Create a client and print its tokens.').option(
    '--name <name>',
    'display name',
  )
  withStorage(create).action(async ({ name, json, ...options }, command: Command) => {
    const storage = await settingsOf(options, { command, secret: storageSecret })
    return perform('client create', { name, ...(storage ? { storage } : {}) }, { json })
  })
  const storage = subcommand(
    client,
    'storage',
    'Set the bucket of a client, or the access keys of its bucket. The bucket is tested first.',
  )
    .argument('<id>', 'ID of the client, see client list')
    .option('--default', "use the server's bucket again", false)
  withStorage(storage).action(async (id, { json, default: byDefault, ...options }, command: Command) => {
    const given = await settingsOf(options, { command, secret: storageSecret })
    if ((given === undefined) !== byDefault) command.error('error: --bucket or --default is required')
    return perform('client storage', { id, storage: given ?? false }, { json })
  })
}

function keepOld(): Option {
  return new Option('--keep-old <time>', 'how long the old secret remains valid')
    .argParser(read.duration)
    .default(read.duration('24h'), '24h')
}

function addSecretCommands(client: Command, perform: Perform): void {
  const secret = client.command('secret').description('Manage scoped secrets.')
  subcommand(secret, 'add', 'Create a scoped secret and print it.')
    .argument('<id>', 'ID of the client, see client list')
    .option('--name <name>', 'display name')
    .addOption(
      new Option('--only <action>', 'allow only uploads, or only reading').choices(['upload', 'read']),
    )
    .option('--folder <folder>', 'allow only this folder')
    .option('--valid <time>', 'lifetime; never expires when unset', read.duration)
    .action((id, { valid, json, ...scope }) =>
      perform('client secret add', { id, ...scope, validMs: valid }, { json }),
    )
  subcommand(secret, 'remove', 'Revoke a scoped secret.')
    .argument('<id>', 'ID of the client, see client list')
    .argument('<secret id>', 'ID of the secret, see client show')
    .action((id, secretId, { json }) => perform('client secret remove', { id, secretId }, { json }))
}

function addRules(client: Command, perform: Perform): void {
  const set = subcommand(
    client,
    'set',
    "Set a client's rules. Rules that are not named do not change.",
  ).argument('<id>', 'ID of the client, see client list')
  const options = RULE_NAMES.map((name) => ({ name, option: ruleOption(CLIENT_RULES[name]) }))
  for (const { option } of options) set.addOption(option)
  set.action((id, { json, ...given }, command: Command) => {
    const rules = options
      .map(({ name, option }) => [name, given[option.attributeName()]])
      .filter(([, value]) => value !== undefined)
    if (rules.length === 0) command.error('error: at least one rule is required')
    return perform('client set', { id, ...Object.fromEntries(rules) }, { json })
  })
}

function ruleOption(rule: Rule<unknown, unknown>): Option {
  const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  return new Option(rule.flags, rule.help).argParser((text, before) =>
    read.usageErrors(() => rule.parse(text, { before, readJson })),
  )
}

function addKeyCommands(client: Command, perform: Perform): void {
  const key = client.command('key').description('Manage the keys for signed delivery URLs.')
  subcommand(key, 'add', 'Create a key and print it. Existing keys remain active.')
    .argument('<id>', 'ID of the client, see client list')
    .action((id, { json }) => perform('client key add', { id }, { json }))
  subcommand(key, 'remove', 'Revoke a key. URLs signed with it stop working.')
    .argument('<id>', 'ID of the client, see client list')
    .argument('<version>', 'version of the key: the number before the dot in its signatures', read.version)
    .action((id, version, { json }) => perform('client key remove', { id, version }, { json }))
}
