import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Log } from '../../core/log.ts'

export interface WebProcessesOptions {
  /** Processes that run this program and share its port; from 2. */
  count: number
  /** How long after a signal they may take to end by themselves. */
  graceMs: number
  log: Log
}

// Each takes connections by itself. When this process hands them out, those on their way to one that is killed are
// neither answered nor closed.
cluster.schedulingPolicy = cluster.SCHED_NONE

// A process that ends again and again shall not use up the machine by starting.
const RESTART_MIN_MS = 1_000
const RESTART_MAX_MS = 30_000

/** Whether this is one of several, started by {@link runWebProcesses}. */
export const isOneOfSeveral = cluster.isWorker

/** Tells the process that has started this one that it answers, and where. */
export function tellReady(baseUrl: string): void {
  process.send?.({ baseUrl })
}

/**
 * Starts the processes and puts another in the place of one that ends. SIGTERM and SIGINT are passed on to them, and
 * this process ends when they have ended.
 *
 * @returns the address under which they answer, as soon as all of them do
 * @throws Error when one ends before that; the others are ended
 */
export async function runWebProcesses({ count, graceMs, log }: WebProcessesOptions): Promise<string> {
  let stopped: Promise<void> | undefined
  let restartMs = RESTART_MIN_MS

  /** Passes every signal on: a second one is for those who will not wait. */
  function stop(signal: NodeJS.Signals): Promise<void> {
    for (const worker of running()) worker.process.kill(signal)
    stopped ??= allEnd(graceMs)
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
    const [[first]] = (await Promise.race([Promise.all(ready), oneEnds()])) as [[{ baseUrl: string }]]
    cluster.on('exit', replace)
    return first.baseUrl
  } catch (error) {
    // After a signal this process ends here, as soon as the others have.
    await stop('SIGTERM')
    throw error
  }
}

/** Rejects when one of the processes ends, whether it has been ready or not. */
async function oneEnds(): Promise<never> {
  await once(cluster, 'exit')
  throw new Error('a web process exited before all of them were ready')
}

/** Resolves when none runs any more; after `graceMs` they are killed. */
async function allEnd(graceMs: number): Promise<void> {
  const late = setTimeout(() => {
    for (const worker of running()) worker.process.kill('SIGKILL')
  }, graceMs)
  await Promise.all(running().map((worker) => once(worker, 'exit')))
  clearTimeout(late)
}

/** Without those that have just ended, which the cluster still has: they would never do so again. */
function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter(
    (worker) => worker !== undefined && !worker.isDead(),
  ) as Worker[]
}
