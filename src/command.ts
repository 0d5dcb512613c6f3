import type { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { CommanderError } from 'commander'
import pino from 'pino'
import { backupConnection } from '../config/backup-target.ts'
import { applyEnvFile } from '../config/env-file.ts'
import { importCredentials } from '../config/import-credentials.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { storageSecret } from '../config/storage-secret.ts'
import type { Environment } from '../config/variable.ts'
import type { Checkup } from './core/checkup.ts'
import type { CommandRun } from './core/command.ts'
import { BACKUP_RESULTS, backupOutput } from './process/cli/backup/backup-output.ts'
import { commandLine, WRONG_USAGE } from './process/cli/command-line.ts'
import { checkupText, summaryOf, summaryText } from './process/cli/doctor-output.ts'
import { importOutput } from './process/cli/import/import-output.ts'
import { type UrlMap, urlMap } from './process/cli/import/url-map.ts'
import type { InitArguments } from './process/cli/init/init-command.ts'
import type { Terminal } from './process/cli/init/questions.ts'
import { runInit } from './process/cli/init/run-init.ts'
import type { PerformOptions } from './process/cli/leaf-command.ts'
import { runOperatorCommand } from './process/cli/operator-command.ts'
import { type CommandOutput, failureText, humanOutput, jsonOutput } from './process/cli/output.ts'
import { writePlugin } from './process/cli/plugin-template.ts'
import type { ProgramCommandsOptions } from './process/cli/program-commands.ts'
import { RESULT_TEXTS } from './process/cli/results.ts'
import { runUpgrade } from './process/cli/upgrade/run-upgrade.ts'
import type { UpgradeArguments } from './process/cli/upgrade/upgrade-command.ts'
import { hasFailedTest } from './process/cli/webhook-commands.ts'
import { projectRoot } from './process/project-root.ts'

const FAILED = 1
// Exit codes as in shells: 128 plus the signal's number.
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const
// After the first signal, these commands finish what they have begun.
const STOPPABLE: ReadonlySet<string> = new Set(['import'])

/** What a command uses of the process that it runs in. */
export interface CommandProcess {
  /** Default: the environment of this process. */
  environment?: Environment
  /** Writes to standard output. */
  write(text: string): void
  /** Writes to standard error. */
  writeError(text: string): void
  /** Whether standard error is a terminal, which shows the progress. */
  isTerminal: boolean
  /** Emits SIGINT and SIGTERM. */
  signals: Pick<EventEmitter, 'once'>
  /** Runs the server or the worker in this process. */
  become: ProgramCommandsOptions['become']
  /** Runs the server in this process, in this folder, after its settings are applied to the environment. */
  startIn(folder: string, applySettings: () => Promise<void>): Promise<void>
  /** The input of a terminal. Undefined when standard input or output is no terminal. */
  input?: Terminal['input'] | undefined
}

/** Runs a command line of `sluice`, without the name of the program, and prints its result. @returns the exit code */
export async function sluice(args: readonly string[], own: CommandProcess): Promise<number> {
  let code = 0
  const perform = async (command: string, given: object, options: PerformOptions) => {
    code = await print(command, given, { ...options, own })
  }
  const diagnose = async ({ json }: { json?: boolean }) => {
    code = await printCheckups({ json, own })
  }
  const newPlugin = async (name: string) => {
    code = await createPlugin(name, own)
  }
  const initFolder = async (given: InitArguments) => {
    const { input, write } = own
    const terminal = input && { input, write }
    const startServer = (folder: string) => own.startIn(folder, () => applyEnvFile('.env'))
    code = await runInit(given, { terminal, startServer, ...own })
  }
  const upgrade = async (folder: string, given: UpgradeArguments) => {
    code = runUpgrade(folder, given, own)
  }
  try {
    const secret = storageSecret(own.environment)
    const keys = { storageSecret: secret, importCredentials: importCredentials(own.environment) }
    const actions = { perform, diagnose, newPlugin, init: initFolder, upgrade }
    await commandLine({ ...actions, ...keys, ...own }).parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? 0 : WRONG_USAGE
  }
}

/** Runs a command of the service and prints its result. @returns the exit code */
async function print(
  command: string,
  args: object,
  { own, map: path, ...options }: PerformOptions & { own: CommandProcess },
): Promise<number> {
  const { writeError } = own
  const map = path === undefined ? undefined : urlMap(path)
  const output = outputOf(command, { ...options, map, own })
  const interrupt = new AbortController()
  const stop = new AbortController()
  let ended: number | undefined
  for (const [signal, code] of Object.entries(SIGNALS)) {
    const abort = () => {
      ended = code
      const rest =
        command in BACKUP_RESULTS ? 'run it again to continue' : 'completed changes are not rolled back'
      interrupt.abort(new Error(`stopped by ${signal}; ${rest}`))
    }
    own.signals.once(signal, () => {
      if (!STOPPABLE.has(command) || stop.signal.aborted) return abort()
      own.signals.once(signal, abort)
      output.clear()
      writeError(`finishing the files in progress; send ${signal} again to abort them\n`)
      ended = code
      stop.abort(new Error('stopped before it has begun'))
    })
  }
  try {
    const report = async (item: unknown) => output.report(item)
    const run: CommandRun = { signal: interrupt.signal, stop: stop.signal, report }
    const result = await runCommand(command, args, { run, own })
    await map?.close()
    output.result(result)
    if (ended !== undefined && stop.signal.aborted) return ended
    return output.findings > 0 || hasFailedTest(command, result) ? FAILED : 0
  } catch (error) {
    output.clear()
    await map?.close().catch(() => {})
    writeError(`sluice: ${failureText(error as Error)}\n`)
    return ended ?? FAILED
  }
}

function outputOf(
  command: string,
  { json, map, own }: Pick<PerformOptions, 'json'> & { map: UrlMap | undefined; own: CommandProcess },
): CommandOutput {
  const { write, writeError, isTerminal } = own
  const ofBackup = BACKUP_RESULTS[command]
  if (ofBackup) return backupOutput({ json: json ?? false, show: ofBackup, write, writeError, isTerminal })
  if (command === 'import') return importOutput({ json: json ?? false, map, write, writeError, isTerminal })
  if (json) return jsonOutput(write)
  const show = RESULT_TEXTS[command] as (result: unknown) => string
  return humanOutput({ write, status: isTerminal ? writeError : undefined, show })
}

/** Prints each result of the checks when it is known. @returns the exit code */
async function printCheckups({
  json,
  own,
}: {
  json?: boolean | undefined
  own: CommandProcess
}): Promise<number> {
  const { examine } = await app()
  const checkups: Checkup[] = []
  for await (const checkup of examine({ root: projectRoot(), environment: own.environment })) {
    checkups.push(checkup)
    own.write(json ? `${JSON.stringify(checkup)}\n` : checkupText(checkup))
  }
  const summary = summaryOf(checkups)
  own.write(json ? `${JSON.stringify(summary)}\n` : summaryText(checkups))
  return summary.problems > 0 ? FAILED : 0
}

/** Writes a plugin into the clone that contains the working directory, else into PLUGINS_DIR. @returns the exit code */
async function createPlugin(name: string, own: CommandProcess): Promise<number> {
  const root = projectRoot()
  const isClone = existsSync(join(root, 'src')) && !relative(root, process.cwd()).startsWith('..')
  try {
    const folder = loadConfig(own.environment).PLUGINS_DIR ?? 'plugins'
    const { plugin, test } = await writePlugin(name, isClone ? { clone: root } : { folder })
    const [run, start] = isClone
      ? [`node_modules/.bin/mocha ${relative('', test)}`, 'npm run dev']
      : [`node --test ${test}`, `PLUGINS_DIR=${folder} npx sluice start`]
    own.write(`${relative('', plugin)}\n${relative('', test)}\n\nTest it:  ${run}\nServe it: ${start}\n`)
    return 0
  } catch (error) {
    own.writeError(`sluice: ${failureText(error as Error)}\n`)
    return FAILED
  }
}

async function runCommand(
  command: string,
  args: object,
  { run, own }: { run: CommandRun; own: CommandProcess },
): Promise<unknown> {
  const environment = loadConfig(own.environment)
  const config = { ...environment, DATA_DIR: resolve(environment.DATA_DIR) }
  if (Object.hasOwn(BACKUP_RESULTS, command)) {
    const { backupCommands } = await app()
    return backupCommands({ config, connection: backupConnection(own.environment) })[command]?.(args, run)
  }
  return runOperatorCommand(command, args, {
    dataDir: config.DATA_DIR,
    isShared: config.REDIS_URL !== undefined,
    runInProcess: (name, given, during) => runInProcess(name, given, { run: during, config, own }),
    isHeld: async (error) => error instanceof (await app()).DataDirError,
    run,
  })
}

/** Loaded on demand: it takes half a second, and commands of a running server do not need it. */
const app = () => import('./app.ts')

async function runInProcess(
  command: string,
  args: object,
  { run, config, own }: { run: CommandRun; config: Config; own: CommandProcess },
): Promise<unknown> {
  const { openOperator } = await app()
  const level = config.LOG_LEVEL === 'silent' ? 'silent' : 'error'
  const log = pino({ level }, { write: own.writeError })
  const baseUrl = config.BASE_URL ?? `http://localhost:${config.PORT}`
  const operator = await openOperator({ config, root: projectRoot(), baseUrl, log })
  try {
    return await operator.commands[command]?.(args, run)
  } finally {
    await operator.close()
  }
}
