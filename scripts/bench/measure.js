import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf, load } from './load.js'

// A server has come to rest when it has taken no time for so long.
const REST_MS = 100

/**
 * One run of one contender: a process of its own on an empty folder, warmed up.
 *
 * @returns {Promise<{figures: object, outcome: object, ownShare: number}>} figures of the requests after the warm-up:
 *   `rate` a second, or megabytes a second; `cpuMs` of the server a request; `p50Ms`, `p99Ms`; `peakBytes` since the
 *   server's start. What came of a request, as the work tells it. `ownShare` as in load.js
 */
export async function measure(work, contender, { size, photos, temporary, nodeOptions }) {
  const { warmUp, requests } = work.counts[size]
  const folder = mkdtempSync(join(temporary, `${work.name}-`))
  const { server, request } = await contender.start({ folder, photos, nodeOptions })
  try {
    const { url } = server
    const probe = await bytesOf(url, request(warmUp + requests))
    const outcome = await work.outcome(probe)
    const { connections } = work
    await load({ url, connections, count: warmUp, request })
    const before = await restingCpu(server)
    const { seconds, latencies, ownShare } = await load({
      url,
      connections,
      count: requests,
      request: (i) => request(warmUp + i),
    })
    const cpuSeconds = (await restingCpu(server)) - before
    const at = (share) => latencies[Math.min(requests - 1, Math.floor(share * requests))]
    const figures = {
      rate: (requests / seconds) * (work.megabytes?.(probe) ?? 1),
      cpuMs: (cpuSeconds / requests) * 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      peakBytes: await server.peakBytes(),
    }
    return { figures, outcome, ownShare }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is done behind an answer (a derivative is stored, a log written) is part of what a request costs. */
export async function restingCpu(server) {
  let last = await server.cpuSeconds()
  for (;;) {
    await sleep(REST_MS)
    const now = await server.cpuSeconds()
    if (now === last) return now
    last = now
  }
}
