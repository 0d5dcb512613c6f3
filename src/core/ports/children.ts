import type { Asset } from '../bytes/asset.ts'
import type { Log } from '../log.ts'

/** Child processes, which can be killed in the middle of their work. */
export interface Children {
  /**
   * @throws Problem 422 for a task that takes too long or too much memory, or that ends its process; what the work throws;
   *   `signal.reason`
   */
  run(task: Task): Promise<Asset>
}

/** What a child is to do. */
export interface Task {
  /** What the child's work gets; can be sent between processes. */
  task: unknown
  source: Asset
  /** Finds what the work asks for beside its source. */
  asset(name: string): Promise<Asset>
  /** Whose abort kills the child. */
  signal: AbortSignal
  /** After so long the child is killed. */
  timeoutMs: number
  /** Called with the CPU milliseconds that the task has taken, however it has ended. */
  spent?: ((cpuMs: number) => void) | undefined
  /** Where the work's lines go. */
  log: Log
}
