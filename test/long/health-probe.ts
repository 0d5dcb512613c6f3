import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

// A thread of its own: the test's own event loop is busy with its attack.

/** What the thread is given. */
export interface ProbeData {
  /** Of the service. */
  url: string
  /** Of its `METRICS_PORT`. */
  ownUrl: string
}

/** It sends `ready` when it has begun, and this when it gets any message: the longest that a health check took, in milliseconds. */
export interface ProbeResult {
  /** On a connection that was open before. */
  keptMs: number
  /** On new connections to `METRICS_PORT`. */
  ownMs: number
  /** On new connections to the service, behind all that came before them. */
  newMs: number
  /** How late a timer of the thread itself was: how busy the machine is. */
  lateMs: number
}

const EVERY_MS = 20
const ADDRESS = '127.0.0.9'

const { url, ownUrl } = workerData as ProbeData
let isOver = false
parentPort?.once('message', () => {
  isOver = true
})
const kept = new Agent({ keepAlive: true, maxSockets: 1 })
await milliseconds(`${url}/healthz`, kept)
parentPort?.postMessage('ready')
const [keptMs, ownMs, newMs, lateMs] = await Promise.all([
  longest(url, kept),
  longest(ownUrl),
  longest(url),
  latest(),
])
kept.destroy()
parentPort?.postMessage({ keptMs, ownMs, newMs, lateMs } satisfies ProbeResult)

async function longest(base: string, agent: Agent | false = false): Promise<number> {
  let most = 0
  for (; !isOver; await pause(EVERY_MS)) most = Math.max(most, await milliseconds(`${base}/healthz`, agent))
  return Math.round(most)
}

async function latest(): Promise<number> {
  let most = 0
  while (!isOver) {
    const startedAt = performance.now()
    await pause(EVERY_MS)
    most = Math.max(most, performance.now() - startedAt - EVERY_MS)
  }
  return Math.round(most)
}

function milliseconds(at: string, agent: Agent | false): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    get(at, { agent, localAddress: ADDRESS }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt)
        else reject(new Error(`expected 200 of a health check but received ${response.statusCode}`))
      })
    }).once('error', reject)
  })
}
