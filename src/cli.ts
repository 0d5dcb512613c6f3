#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { extname, join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { type Config, loadConfig } from '../config/load.ts'
import { storageSecret } from '../config/storage-secret.ts'
import type { Checkup } from './core/checkup.ts'
import type { CommandRun } from './core/command.ts'
import { ANSWERS } from './process/cli/answers.ts'
import { commandLine } from './process/cli/command-line.ts'
import { checkupText, summaryOf, summaryText } from './process/cli/doctor-output.ts'
import { type CommandOutput, failureText, humanOutput, jsonOutput } from './process/cli/output.ts'
import { writePlugin } from './process/cli/plugin-template.ts'
import type { Program } from './process/cli/program-commands.ts'
import { callControl, controlPath, NotRunning } from './process/control.ts'
import { projectRoot } from './process/project-root.ts'
import { keepFilesPrivate } from './process/web/private-files.ts'

// A server that is starting already holds its folder, but does not accept commands yet.
const STARTING_MS = 5000

const FAILED = 1
// Exit codes as in shells: 128 plus the signal's number.
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

/** Runs a command and prints its result. Sets the exit code of the process. */
async function perform(command: string, args: object, { json }: { json?: boolean }): Promise<void> {
  keepFilesPrivate()
  // The reader may close the pipe early: `sluice check | head`.
  process.stdout.on('error', () => process.exit(FAILED))
  const output = json ? jsonOutput(toStandardOutput) : humanOutput(humanFormat(command))
  const interrupt = new AbortController()
  let ended: number | undefined
  for (const [signal, code] of Object.entries(SIGNALS))
    process.once(signal, () => {
      ended = code
      interrupt.abort(new Error(`stopped by ${signal}; completed changes are not rolled back`))
    })
  try {
    const tell = async (item: unknown) => output.report(item)
    output.answer(await runCommand(command, args, { signal: interrupt.signal, tell }))
    process.exitCode = output.findings > 0 ? FAILED : 0
  } catch (error) {
    fail(error as Error, output)
    process.exitCode = ended ?? FAILED
  }
}

/** Runs a command in the running server, else in this process. */
async function runCommand(command: string, args: object, run: CommandRun): Promise<unknown> {
  const environment = loadConfig()
  const config = { ...environment, DATA_DIR: resolve(environment.DATA_DIR) }
  if (config.REDIS_URL) return runInProcess(config, command, args, run)
  for (const until = Date.now() + STARTING_MS; ; await pause(200, undefined, { signal: run.signal })) {
    try {
      return await callControl({ path: controlPath(config.DATA_DIR), command, args, run })
    } catch (error) {
      if (!(error instanceof NotRunning)) throw error
    }
    if (!existsSync(join(config.DATA_DIR, 'index')))
      throw new Error(
        `DATA_DIR ${config.DATA_DIR} has no index. Set DATA_DIR to the value that the server has. If the index was deleted, start the server: it rebuilds the index from the bucket`,
      )
    try {
      return await runInProcess(config, command, args, run)
    } catch (error) {
      if (!(error instanceof (await app()).DataDirError) || Date.now() > until) throw error
    }
  }
}

/** Loaded on demand: it takes half a second, and commands of a running server do not need it. */
const app = () => import('./app.ts')

async function runInProcess(
  config: Config,
  command: string,
  args: object,
  run: CommandRun,
): Promise<unknown> {
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

/** Prints each result of the checks when it is known. Sets the exit code of the process. */
async function diagnose({ json }: { json?: boolean }): Promise<void> {
  keepFilesPrivate()
  const { examine } = await app()
  const checkups: Checkup[] = []
  for await (const checkup of examine({ root: projectRoot() })) {
    checkups.push(checkup)
    toStandardOutput(json ? `${JSON.stringify(checkup)}\n` : checkupText(checkup))
  }
  const summary = summaryOf(checkups)
  toStandardOutput(json ? `${JSON.stringify(summary)}\n` : summaryText(checkups))
  // A check that has reached its time limit may leave a connection open.
  process.exit(summary.problems > 0 ? FAILED : 0)
}

/** Runs a program of Sluice in this process, so that signals, arguments and exit code need not be forwarded. */
async function become(program: Program, args: readonly string[]): Promise<void> {
  const [node = ''] = process.argv
  // Web processes of a cluster are started from this path.
  process.argv = [node, join(import.meta.dirname, program + extname(import.meta.filename)), ...args]
  await (program === 'main' ? import('./main.ts') : import('./worker.ts'))
}

/** Writes a plugin into the clone that contains the working directory, else into PLUGINS_DIR. */
async function newPlugin(name: string): Promise<void> {
  const root = projectRoot()
  const isClone = existsSync(join(root, 'src')) && !relative(root, process.cwd()).startsWith('..')
  try {
    const folder = loadConfig().PLUGINS_DIR ?? 'plugins'
    const { plugin, test } = await writePlugin(name, isClone ? { clone: root } : { folder })
    const [run, start] = isClone
      ? [`node_modules/.bin/mocha ${relative('', test)}`, 'npm run dev']
      : [`node --test ${test}`, `PLUGINS_DIR=${folder} npx sluice start`]
    toStandardOutput(
      `${relative('', plugin)}\n${relative('', test)}\n\nTest it:  ${run}\nServe it: ${start}\n`,
    )
  } catch (error) {
    process.stderr.write(`sluice: ${failureText(error as Error)}\n`)
    process.exitCode = FAILED
  }
}

function toStandardOutput(text: string): void {
  process.stdout.write(text)
}

function humanFormat(command: string) {
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

await commandLine({ perform, become, diagnose, newPlugin, storageSecret: storageSecret() }).parseAsync()
