import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Log } from '../../core/log.ts'

export interface WebProcessesOptions {
  /** Number of processes that run this program and share its port; at least 2. */
  count: number
  /** Milliseconds for a process to exit after a signal. */
  graceMs: number
  log: Log
}

// Each process accepts connections itself. If the primary process distributed them, connections on their way to a killed
// process would be neither answered nor closed.
cluster.schedulingPolicy = cluster.SCHED_NONE

// A process that fails again and again must not use up the machine by its restarts.
const RESTART_MIN_MS = 1_000
const RESTART_MAX_MS = 30_000

/** Whether this process was started by {@link runWebProcesses}. */
export const isOneOfSeveral = cluster.isWorker

/** What a process tells the primary process when it is ready. */
export interface Ready {
  /** The URL at which it listens. */
  baseUrl: string
  /** A link that creates the first owner of the console, when it is needed. */
  firstVisit?: string | undefined
}

/** Notifies the primary process that this process is ready. */
export function tellReady(ready: Ready): void {
  process.send?.(ready)
}

/**
 * Starts the processes, and replaces a process that exits. SIGTERM and SIGINT are forwarded to them, and this process exits
 * after them.
 *
 * @returns what the first one has sent, as soon as all are ready
 * @throws Error when one exits before that; the others are stopped
 */
export async function runWebProcesses({ count, graceMs, log }: WebProcessesOptions): Promise<Ready> {
  let stopped: Promise<void> | undefined
  let restartMs = RESTART_MIN_MS

  /** Forwards every signal: a second one asks the processes not to wait. */
  function stop(signal: NodeJS.Signals): Promise<void> {
    for (const worker of running()) worker.process.kill(signal)
    stopped ??= allExit(graceMs)
    return stopped
  }

  function replace(worker: Worker, code: number | null, signal: string | null): void {
    if (stopped !== undefined) return
    log.error(
      { ended: worker.process.pid, code, signal, restartMs },
      'a web process has exited; it is replaced',
    )
    setTimeout(() => {
      if (stopped !== undefined) return
      cluster.fork().once('message', () => {
        restartMs = RESTART_MIN_MS
      })
    }, restartMs)
    restartMs = Math.min(2 * restartMs, RESTART_MAX_MS)
  }

  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => void stop(name).then(() => process.exit(0)))
  const ready = Array.from({ length: count }, () => once(cluster.fork(), 'message'))
  try {
    const [[first]] = (await Promise.race([Promise.all(ready), anyExits()])) as [[Ready]]
    cluster.on('exit', replace)
    return first
  } catch (error) {
    // After a signal, this process exits here, as soon as the others have exited.
    await stop('SIGTERM')
    throw error
  }
}

/** Rejects when any of the processes exits. */
async function anyExits(): Promise<never> {
  await once(cluster, 'exit')
  throw new Error('a web process exited before all of them were ready')
}

/** Resolves when all processes have exited. After `graceMs` they are killed. */
async function allExit(graceMs: number): Promise<void> {
  const late = setTimeout(() => {
    for (const worker of running()) worker.process.kill('SIGKILL')
  }, graceMs)
  await Promise.all(running().map((worker) => once(worker, 'exit')))
  clearTimeout(late)
}

/** Without processes that have just exited but are still listed by the cluster: they emit no further `exit`. */
function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter(
    (worker) => worker !== undefined && !worker.isDead(),
  ) as Worker[]
}
