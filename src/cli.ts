#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Command, Option } from 'commander'
import pino from 'pino'
import { type Config, loadConfig } from '../config/load.ts'
import { storageSecret } from '../config/storage-secret.ts'
import type { CommandRun } from './core/command.ts'
import * as read from './process/arguments.ts'
import { ANSWERS } from './process/command-answers.ts'
import { type CommandOutput, failureText, humanOutput, jsonOutput } from './process/command-output.ts'
import { callControl, controlPath, NotRunning } from './process/control.ts'
import { projectRoot } from './process/project-root.ts'

// A server that is just starting holds its folder before it takes commands.
const STARTING_MS = 5000

const FAILED = 1
const WRONG_USAGE = 2
// As shells count: 128 and the signal's number.
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

/** The command line: what there is, with which arguments. */
function program(): Command {
  const sluice = new Command('sluice')
    .description("The operator's command of Sluice; it reads the same environment variables as the server.")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
    .showHelpAfterError('(--help tells more)')
  const leaf = (parent: Command, name: string, description: string) =>
    parent.command(name).description(description).option('--json', 'print JSON lines, for programs')

  const client = sluice.command('client').description('Who may use the service.')
  const create = leaf(client, 'create', 'Adds a client, and prints its tokens.')
    .option('--name <name>', 'what people call it')
    .addHelpText('after', SECRET_KEY_HELP)
  withStorage(create).action(async ({ name, json, ...options }, command: Command) => {
    const storage = await storageOf(options, command)
    return perform('client create', { name, ...(storage ? { storage } : {}) }, { json })
  })
  const storage = leaf(
    client,
    'storage',
    'Gives a client a bucket of its own, once it has been tried; or other keys for the one that it has.',
  )
    .argument('<id>', 'as in the list')
    .option('--default', "back to the installation's bucket", false)
    .addHelpText('after', SECRET_KEY_HELP)
  withStorage(storage).action(async (id, { json, default: byDefault, ...options }, command: Command) => {
    const given = await storageOf(options, command)
    if ((given === undefined) !== byDefault) command.error('error: expected --bucket or --default')
    return perform('client storage', { id, storage: given ?? false }, { json })
  })
  leaf(client, 'list', 'Lists all clients, without their secrets.').action(({ json }) =>
    perform('client list', {}, { json }),
  )
  leaf(client, 'show', 'Shows one client, without its secrets.')
    .argument('<id>', 'as in the list')
    .action((id, { json }) => perform('client show', { id }, { json }))
  leaf(
    client,
    'rotate',
    'Gives a client a new secret, and prints it; the old one goes on working for a while.',
  )
    .argument('<id>', 'as in the list')
    .addOption(keepOld())
    .action((id, { keepOld, json }) => perform('client rotate', { id, keepOldMs: keepOld }, { json }))
  const secret = client.command('secret').description('Secrets of a client that are for less than its own.')
  leaf(secret, 'add', 'Makes one, and prints it.')
    .argument('<id>', 'of the client')
    .option('--name <name>', 'what people call it')
    .addOption(new Option('--only <action>', 'uploads only, or reading only').choices(['upload', 'read']))
    .option('--folder <folder>', 'nothing outside of this folder')
    .addOption(
      new Option('--valid <time>', 'how long it works; for good when absent').argParser(read.duration),
    )
    .action((id, { valid, json, ...scope }) =>
      perform('client secret add', { id, ...scope, validMs: valid }, { json }),
    )
  leaf(secret, 'remove', 'Ends one.')
    .argument('<id>', 'of the client')
    .argument('<secret id>', 'as in client show')
    .action((id, secretId, { json }) => perform('client secret remove', { id, secretId }, { json }))
  leaf(client, 'set', "Sets what may be asked of a client's files; what is not named stays as it is.")
    .argument('<id>', 'as in the list')
    .addOption(new Option('--signed-urls <on|off>', 'no delivery but by signed URLs').argParser(read.onOrOff))
    .addOption(new Option('--presets-only <on|off>', 'no parameter but preset').argParser(read.onOrOff))
    .addOption(
      new Option(
        '--allowed-widths <px,px,…|any>',
        'a width that is not among them becomes the next larger one',
      ).argParser(read.widths),
    )
    .addOption(
      new Option(
        '--variant-limit <count|default>',
        'derivatives that a file may have; default: VARIANT_LIMIT',
      ).argParser(read.limit),
    )
    .addOption(
      new Option(
        '--fetch-hosts <host,*.host,…|any|none|default>',
        'servers that files may be fetched from; default: none by a public URL, any with a secret',
      ).argParser(read.fetchHosts),
    )
    .addOption(
      new Option(
        '--fetch-deny-hosts <host,*.host,…|none>',
        'servers that no file is fetched from, even when allowed',
      ).argParser((text) => (text === 'none' ? false : text.split(','))),
    )
    .addOption(
      new Option('--keep-deleted <time|off>', 'how long what is deleted can be restored').argParser(
        read.keepDeleted,
      ),
    )
    .addOption(
      new Option('--dedupe <reuse|off>', 'reuse: what it has already is not stored again').argParser(
        read.dedupe,
      ),
    )
    .addOption(
      new Option('--upload-max-bytes <bytes|default>', 'of each file; default: UPLOAD_MAX_BYTES').argParser(
        read.limit,
      ),
    )
    .addOption(
      new Option(
        '--rate <name=points|name=default…>',
        'how often in the seconds of that limit: upload, derivative, fetch, sign, zip; 0 is no limit',
      ).argParser(read.rates),
    )
    .addOption(
      new Option(
        '--presets <file|none>',
        'a JSON file like config/presets.json: presets for its files alone, in the place of its own before',
      ).argParser(read.presets),
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
  const key = client.command('key').description('Keys that a client signs its delivery URLs with.')
  leaf(key, 'add', 'Adds one more key, and prints it; those that are there go on counting.')
    .argument('<id>', 'as in the list')
    .action((id, { json }) => perform('client key add', { id }, { json }))
  leaf(key, 'remove', 'Ends a key, and with it all URLs that were signed with it.')
    .argument('<id>', 'as in the list')
    .argument('<version>', 'as it stands in the URLs, before the dot', read.version)
    .action((id, keyVersion, { json }) => perform('client key remove', { id, version: keyVersion }, { json }))
  leaf(
    client,
    'remove',
    'Removes a client: its access first, then its files, then itself. Goes on when called again.',
  )
    .argument('<id>', 'as in the list')
    .option('--files', 'also when it has files: deletes all of them', false)
    .action((id, { files, json }) => perform('client remove', { id, files }, { json }))

  for (const [name, description] of [
    ['check', 'Compares bucket and index, and changes nothing. Exit code 1 when they differ.'],
    ['reindex', 'Fills the index from the bucket. What the index knows stays as it is.'],
  ] as const)
    leaf(sluice, name, description)
      .option('--client <id>', "only this client's files")
      .action(({ client: clientId, json }) => perform(name, { clientId }, { json }))
  leaf(sluice, 'usage', 'What clients store, and what they have used in the last 30 days.')
    .option('--client <id>', 'only this client')
    .action(({ client: clientId, json }) => perform('usage', { clientId }, { json }))
  leaf(sluice, 'sweep', 'Ends what nobody works on any more, as the server does every minute.').action(
    ({ json }) => perform('sweep', {}, { json }),
  )
  return sluice
}

const SECRET_KEY_HELP = `
The secret access key is read from STORAGE_SECRET_ACCESS_KEY, else from standard input: arguments can be seen by others.`

/** The options of a bucket in S3. */
function withStorage(command: Command): Command {
  return command
    .option('--bucket <bucket>', 'in S3 or a compatible store')
    .option('--prefix <folder>', 'of the bucket; all of it when absent')
    .option('--endpoint <url>', "of a compatible store; Amazon's when absent")
    .option('--region <region>', 'us-east-1 when absent')
    .option('--path-style', 'the bucket in the path instead of the host name; many compatible stores want it')
    .option('--access-key-id <key>', 'its secret is read, see below')
    .option('--public-url <url>', 'where the bucket can be read, of a CDN for example')
}

/** Undefined when none is named. */
async function storageOf(
  { pathStyle: forcePathStyle, ...options }: Record<string, string | boolean | undefined>,
  command: Command,
): Promise<object | undefined> {
  if (Object.keys(options).length === 0 && forcePathStyle === undefined) return undefined
  if (!options.bucket || !options.accessKeyId) command.error('error: expected --bucket and --access-key-id')
  const secretAccessKey = storageSecret() ?? (await standardInput(command))
  return { ...options, ...(forcePathStyle ? { forcePathStyle } : {}), secretAccessKey }
}

async function standardInput(command: Command): Promise<string> {
  if (process.stdin.isTTY)
    command.error('error: expected the secret access key in STORAGE_SECRET_ACCESS_KEY or on standard input')
  return (await text(process.stdin)).trim()
}

function keepOld(): Option {
  return new Option('--keep-old <time>', 'how long the old secret goes on working')
    .argParser(read.duration)
    .default(read.duration('24h'), '24h')
}

/** Does a command, shows what comes of it, and ends the process. */
async function perform(command: string, args: object, { json }: { json?: boolean }): Promise<void> {
  const output = json ? jsonOutput(toStandardOutput) : humanOutput(forPeople(command))
  const interrupt = new AbortController()
  let ended: number | undefined
  for (const [signal, code] of Object.entries(SIGNALS))
    process.once(signal, () => {
      ended = code
      interrupt.abort(new Error(`stopped by ${signal}; what was done stays done`))
    })
  try {
    const tell = async (item: unknown) => output.told(item)
    output.answer(await doCommand(command, args, { signal: interrupt.signal, tell }))
    process.exitCode = output.findings > 0 ? FAILED : 0
  } catch (error) {
    fail(error as Error, output)
    process.exitCode = ended ?? FAILED
  }
}

/** By the server that runs, else by this process. */
async function doCommand(command: string, args: object, run: CommandRun): Promise<unknown> {
  const environment = loadConfig()
  const config = { ...environment, DATA_DIR: resolve(environment.DATA_DIR) }
  if (config.REDIS_URL) return doHere(config, command, args, run)
  for (const until = Date.now() + STARTING_MS; ; await pause(200, undefined, { signal: run.signal })) {
    try {
      return await callControl({ path: controlPath(config.DATA_DIR), command, args, run })
    } catch (error) {
      if (!(error instanceof NotRunning)) throw error
    }
    if (!existsSync(join(config.DATA_DIR, 'index')))
      throw new Error(`DATA_DIR ${config.DATA_DIR} holds no index: set DATA_DIR as it is set for the server`)
    try {
      return await doHere(config, command, args, run)
    } catch (error) {
      if (!(error instanceof (await app()).DataDirError) || Date.now() > until) throw error
    }
  }
}

/** A server's commands need nothing of this, and it takes half a second to read. */
const app = () => import('./app.ts')

async function doHere(config: Config, command: string, args: object, run: CommandRun): Promise<unknown> {
  const { openOperator } = await app()
  const log = pino({ level: config.LOG_LEVEL === 'silent' ? 'silent' : 'error' }, pino.destination(2))
  const baseUrl = config.BASE_URL ?? `http://localhost:${config.PORT}`
  const operator = await openOperator({ config, root: projectRoot(), baseUrl, log })
  try {
    return await operator.commands[command]?.(args, run)
  } finally {
    await operator.close()
  }
}

function toStandardOutput(text: string): void {
  process.stdout.write(text)
}

function forPeople(command: string) {
  return {
    write: toStandardOutput,
    status: process.stderr.isTTY ? (text: string) => void process.stderr.write(text) : undefined,
    show: ANSWERS[command] as (answer: unknown) => string,
  }
}

function fail(error: Error, output: CommandOutput): void {
  output.clear()
  process.stderr.write(`sluice: ${failureText(error)}\n`)
}

// Who reads may leave early: `sluice check | head`.
process.stdout.on('error', () => process.exit(FAILED))
await program().parseAsync()
