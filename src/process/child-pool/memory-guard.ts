import { Worker } from 'node:worker_threads'

// The same interval as in the parent. Whichever of the two notices first acts.
const LOOK_MS = 50

/**
 * Kills this process when it uses too much memory, or when its parent has ended. It runs in a thread of its own, so it
 * works even while the main thread is stuck in a plugin's loop.
 */
export function guardProcess({ maxMemoryBytes }: { maxMemoryBytes: number }): void {
  const guard = new Worker(WATCH, {
    eval: true,
    // Without the loaders of the main thread.
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
