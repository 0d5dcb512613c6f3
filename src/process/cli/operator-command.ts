import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CommandRun } from '../../core/command.ts'
import { callControl, controlPath, NotRunning } from '../control.ts'

// A server that is starting already holds its folder, but does not accept commands yet.
const STARTING_MS = 5000

/** The service that a command belongs to. */
export interface OperatorCommandOptions {
  /** Absolute path of the data folder. */
  dataDir: string
  /** Whether a command runs in its own process although servers run, as with Redis. */
  isShared: boolean
  /** Opens the service in this process and runs the command. */
  runInProcess(command: string, args: object, run: CommandRun): Promise<unknown>
  /** Whether `runInProcess` has failed because another process holds the data folder. */
  isHeld(error: unknown): Promise<boolean>
}

/**
 * Runs a command in the running server, else in this process.
 *
 * @throws Error when there is no data; everything that the command throws
 */
export async function runOperatorCommand(
  command: string,
  args: object,
  { run, ...service }: OperatorCommandOptions & { run: CommandRun },
): Promise<unknown> {
  const { dataDir, isShared, runInProcess, isHeld } = service
  if (isShared) return runInProcess(command, args, run)
  for (const until = Date.now() + STARTING_MS; ; await pause(200, undefined, { signal: run.signal })) {
    try {
      return await callControl({ path: controlPath(dataDir), command, args, run })
    } catch (error) {
      if (!(error instanceof NotRunning)) throw error
    }
    if (!existsSync(join(dataDir, 'index')))
      throw new Error(
        `DATA_DIR ${dataDir} has no index. Set DATA_DIR to the value that the server has. If the index was deleted, start the server: it rebuilds the index from the bucket`,
      )
    try {
      return await runInProcess(command, args, run)
    } catch (error) {
      if (!(await isHeld(error)) || Date.now() > until) throw error
    }
  }
}
