#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import pino from 'pino'
import { type Config, loadConfig } from '../config/load.ts'
import type { CommandRun } from './core/command.ts'
import { ANSWERS } from './process/command-answers.ts'
import { type CommandOutput, failureText, humanOutput, jsonOutput } from './process/command-output.ts'
import { callControl, controlPath, NotRunning } from './process/control.ts'
import { DURATION, parseDuration } from './process/duration.ts'
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
  leaf(client, 'create', 'Adds a client, and prints its tokens.')
    .option('--name <name>', 'what people call it')
    .action(({ name, json }) => perform('client create', { name }, { json }))
  leaf(client, 'list', 'Lists all clients, without their secrets.').action(({ json }) =>
    perform('client list', {}, { json }),
  )
  leaf(
    client,
    'rotate',
    'Gives a client a new secret, and prints it; the old one goes on working for a while.',
  )
    .argument('<id>', 'as in the list')
    .addOption(keepOld())
    .action((id, { keepOld, json }) => perform('client rotate', { id, keepOldMs: keepOld }, { json }))
  leaf(client, 'set', "Sets what may be asked of a client's files; what is not named stays as it is.")
    .argument('<id>', 'as in the list')
    .addOption(new Option('--signed-urls <on|off>', 'no delivery but by signed URLs').argParser(onOrOff))
    .addOption(new Option('--presets-only <on|off>', 'no parameter but preset').argParser(onOrOff))
    .addOption(
      new Option(
        '--allowed-widths <px,px,…|any>',
        'a width that is not among them becomes the next larger one',
      ).argParser(widths),
    )
    .addOption(
      new Option(
        '--variant-limit <count|default>',
        'derivatives that a file may have; default: VARIANT_LIMIT',
      ).argParser(limit),
    )
    .action((id, { json, ...rules }, command: Command) => {
      if (Object.keys(rules).length === 0) command.error('error: expected at least one rule to set')
      return perform('client set', { id, ...rules }, { json })
    })
  const key = client.command('key').description('Keys that a client signs its delivery URLs with.')
  leaf(key, 'add', 'Adds one more key, and prints it; those that there are go on counting.')
    .argument('<id>', 'as in the list')
    .action((id, { json }) => perform('client key add', { id }, { json }))
  leaf(key, 'remove', 'Ends a key, and with it all URLs that were signed with it.')
    .argument('<id>', 'as in the list')
    .argument('<version>', 'as it stands in the URLs, before the dot', version)
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
  leaf(sluice, 'sweep', 'Ends what nobody works on any more, as the server does every minute.').action(
    ({ json }) => perform('sweep', {}, { json }),
  )
  return sluice
}

function keepOld(): Option {
  return new Option('--keep-old <time>', 'how long the old secret goes on working')
    .argParser(duration)
    .default(duration('24h'), '24h')
}

function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError(`expected ${DURATION} but received "${text}"`)
  return ms
}

function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off')
    throw new InvalidArgumentError(`expected on or off but received "${text}"`)
  return text === 'on'
}

function version(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`expected a version like 1 but received "${text}"`)
}

/** False for any. */
function widths(text: string): number[] | false {
  if (text === 'any') return false
  if (/^\d{1,5}(,\d{1,5})*$/.test(text)) return text.split(',').map(Number)
  throw new InvalidArgumentError(`expected widths in pixels like 320,640 or any but received "${text}"`)
}

/** False for the default. */
function limit(text: string): number | false {
  if (text === 'default') return false
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError(`expected a number or default but received "${text}"`)
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
