import { Worker } from 'node:worker_threads'

// As often as a parent looks, see there: whoever of the two sees it first.
const LOOK_MS = 50

/**
 * Kills this process when it takes too much memory, or when its parent has ended: from a thread of its own, which goes on
 * looking when the first one is lost in a plugin's loop.
 */
export function guardProcess({ maxMemoryBytes }: { maxMemoryBytes: number }): void {
  const guard = new Worker(WATCH, {
    eval: true,
    // Not the loaders of the first thread.
    execArgv: [],
    workerData: { parent: process.ppid, maxMemoryBytes, lookMs: LOOK_MS },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  })
  guard.unref()
}

const WATCH = `
  const { parent, maxMemoryBytes, lookMs } = require('node:worker_threads').workerData
  setInterval(() => {
    if (process.ppid === parent && process.memoryUsage.rss() <= maxMemoryBytes) return
    process.kill(process.pid, 'SIGKILL')
  }, lookMs)
`
