import type { Asset } from '../bytes/asset.ts'
import type { Log } from '../log.ts'

/** Child processes, which can be killed while they work. */
export interface Children {
  /**
   * Runs a task in a child process.
   * @throws Problem 422 for a task that takes too long or too much memory, or that crashes its process; the error of the task;
   *   `signal.reason`
   */
  run(task: Task): Promise<Asset>
}

/** The work of a child process. */
export interface Task {
  /** The input of the work. It can be sent between processes. */
  task: unknown
  source: Asset
  /** Finds the files that the work needs in addition to its source. */
  asset(name: string): Promise<Asset>
  /** Its abort kills the child process. */
  signal: AbortSignal
  /** After this time the child process is killed. */
  timeoutMs: number
  /** Called with the CPU time of the task in milliseconds, after success or failure. */
  spent?: ((cpuMs: number) => void) | undefined
  /** Receives the log lines of the work. */
  log: Log
}
