import { Pool } from 'undici'

/**
 * Sends `count` requests over a fixed number of connections, the next one on each when the last was answered, and waits
 * for all.
 *
 * @param {{url: string, connections: number, count: number, request: (i: number) => object}} options `request` as
 *   undici's `dispatch` takes it
 * @returns {Promise<{seconds: number, latencies: Float64Array, ownShare: number}>} latencies in milliseconds, in
 *   ascending order; `ownShare`: how much of a core this process used. When it is near 1, this process was the
 *   bottleneck
 * @throws {Error} for a response of another status than `status` of its request, by default 200
 */
export async function load({ url, connections, count, request }) {
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 })
  const latencies = new Float64Array(count)
  let next = 0
  const work = async () => {
    for (let i = next++; i < count; i = next++) {
      const sentAt = performance.now()
      await exchange(pool, request(i))
      latencies[i] = performance.now() - sentAt
    }
  }
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()]
  try {
    await Promise.all(Array.from({ length: connections }, work))
  } finally {
    await pool.destroy()
  }
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return { seconds, latencies: latencies.sort(), ownShare: (user + system) / 1e6 / seconds }
}

/** Sends one request. @returns the bytes of its response */
export async function bytesOf(url, request) {
  const pool = new Pool(url)
  const chunks = []
  try {
    await exchange(pool, request, (chunk) => chunks.push(chunk))
  } finally {
    await pool.destroy()
  }
  return Buffer.concat(chunks)
}

/** Uses the minimum of undici for a request: the client must not be slower than the server. */
function exchange(pool, { status: expected = 200, ...request }, keep = () => {}) {
  return new Promise((resolve, reject) => {
    let status = 0
    const handler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk) {
        keep(chunk)
      },
      onResponseEnd() {
        if (status === expected) resolve()
        else
          reject(
            new Error(
              `expected status ${expected} for ${request.method} ${request.path}, received ${status}`,
            ),
          )
      },
      onResponseError(_controller, error) {
        reject(error)
      },
    }
    pool.dispatch(request, handler)
  })
}
