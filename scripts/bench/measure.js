import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf, load } from './load.js'

// A server is idle when it has used no CPU time for this long.
const REST_MS = 100
// The share of a core that other processes may use. The kernel itself uses a few percent for the connections.
const DISTURBED = 0.25
const DISTURBED_SECONDS = 0.1

/**
 * One run of one contender: a separate process on an empty folder, after a warm-up.
 *
 * @returns {Promise<{figures: object, outcome: object, ownShare: number}>} figures of the requests after the warm-up:
 *   `rate` in requests, or megabytes, per second; `cpuMs` of the server per request; `p50Ms`, `p99Ms`; `peakBytes`
 *   since the server's start; `isDisturbed`: other processes used the machine. `outcome` of a request, as the work describes
 *   it. `ownShare` as in load.js
 */
export async function measure(work, contender, { size, photos, temporary, nodeOptions }) {
  const { warmUp, requests } = countsOf(work, size)
  const folder = mkdtempSync(join(temporary, `${work.name}-`))
  const { server, request, end } = await contender.start({ folder, photos, nodeOptions })
  try {
    const { url } = server
    const probe = await bytesOf(url, request(warmUp + requests))
    const outcome = await work.outcome(probe)
    const { connections = work.connections } = contender
    const { isLight } = work
    await load({ url, connections, count: warmUp, request, isLight })
    const before = await restingCpu(server)
    const busyBefore = machineBusySeconds()
    const ownBefore = process.cpuUsage()
    const { seconds, latencies, ownShare } = await load({
      url,
      connections,
      count: requests,
      request: (i) => request(warmUp + i),
      isLight,
    })
    const cpuSeconds = (await restingCpu(server)) - before
    const own = process.cpuUsage(ownBefore)
    const others = machineBusySeconds() - busyBefore - cpuSeconds - (own.user + own.system) / 1e6
    const at = (share) => latencies[Math.min(requests - 1, Math.floor(share * requests))]
    const figures = {
      rate: (requests / seconds) * (work.megabytes?.(probe) ?? 1),
      cpuMs: (cpuSeconds / requests) * 1000,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      peakBytes: await server.peakBytes(),
      isDisturbed: isDisturbed(others, seconds),
    }
    return { figures, outcome, ownShare }
  } finally {
    await server.stop()
    end?.()
    // For minutes after files were deleted, ext4 looks for inodes that were not among them: a new file takes 0.6 ms instead of 0.04.
    if (!work.keepsFolders) rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Waits until the server is idle. Work after a response (storing
 * a derivative, writing the log) is part of a request's cost.
 */
export async function restingCpu(server) {
  let last = await server.cpuSeconds()
  for (;;) {
    await sleep(REST_MS)
    const now = await server.cpuSeconds()
    if (now === last) return now
    last = now
  }
}

/** Numbers of requests. The short form has a third of the full one, after the same warm-up: it compiles the server's JavaScript. */
function countsOf({ counts }, size) {
  if (size !== 'short') return counts[size]
  const { warmUp, requests } = counts.full
  return { warmUp, requests: Math.ceil(requests / 3) }
}

/** Whether other processes used too much of the machine. @param others their CPU time in seconds */
export function isDisturbed(others, seconds) {
  // The kernel counts in ticks, so less than a few of them may be an error of rounding.
  return others > Math.max(DISTURBED * seconds, DISTURBED_SECONDS)
}

/** CPU time of all processes of the machine since its start, without idle time. See proc(5). */
export function machineBusySeconds() {
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 9)
  return [user, nice, system, irq, softirq, steal].reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}
