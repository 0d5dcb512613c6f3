import type { Asset } from '../bytes/asset.ts'
import type { Log } from '../log.ts'

/** Child processes, which can be killed in the middle of their work. */
export interface Children {
  /**
   * @throws Problem 422 for a task that takes too long or too much memory, or that crashes its process; errors of the work;
   *   `signal.reason`
   */
  run(task: Task): Promise<Asset>
}

/** The work of a child process. */
export interface Task {
  /** The argument of the work; must survive a message between processes. */
  task: unknown
  source: Asset
  /** Finds another file that the work requests by name, in addition to its source. */
  asset(name: string): Promise<Asset>
  /** Its abort kills the child. */
  signal: AbortSignal
  /** The child is killed after this time. */
  timeoutMs: number
  /** Called with the CPU milliseconds of the task, also when it failed. */
  spent?: ((cpuMs: number) => void) | undefined
  /** Receives the log lines of the work. */
  log: Log
}
