import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Log } from '../core/log.ts'

export interface WebProcessesOptions {
  /** Processes that run this program and share its port; from 2. */
  count: number
  /** How long after a signal they may take to end by themselves. */
  graceMs: number
  log: Log
}

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
  let stopping = false
  let restartMs = RESTART_MIN_MS

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (stopping) return
    stopping = true
    const ended = workers().map((worker) => once(worker, 'exit'))
    for (const worker of workers()) worker.process.kill(signal)
    const late = setTimeout(() => {
      for (const worker of workers()) worker.process.kill('SIGKILL')
    }, graceMs)
    await Promise.all(ended)
    clearTimeout(late)
  }

  function replace(worker: Worker, code: number | null, signal: string | null): void {
    if (stopping) return
    log.error(
      { ended: worker.process.pid, code, signal, restartMs },
      'a web process has ended; another follows',
    )
    setTimeout(() => {
      if (stopping) return
      const next = cluster.fork()
      void firstMessage(next).then(
        () => {
          restartMs = RESTART_MIN_MS
        },
        () => {},
      )
    }, restartMs)
    restartMs = Math.min(2 * restartMs, RESTART_MAX_MS)
  }

  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => void stop(name).then(() => process.exit(0)))
  const started = Array.from({ length: count }, () => firstMessage(cluster.fork()))
  try {
    const [first] = await Promise.all(started)
    cluster.on('exit', replace)
    return first?.baseUrl ?? ''
  } catch (error) {
    await stop('SIGTERM')
    throw error
  }
}

async function firstMessage(worker: Worker): Promise<{ baseUrl: string }> {
  const over = new AbortController()
  const { signal } = over
  try {
    return await Promise.race([
      once(worker, 'message', { signal }).then(([message]) => message),
      once(worker, 'exit', { signal }).then(() => {
        throw new Error('a web process has ended before it was ready')
      }),
    ])
  } finally {
    over.abort()
  }
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
