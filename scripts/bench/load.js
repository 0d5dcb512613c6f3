import { Pool } from 'undici'

/**
 * Sends `count` requests over a fixed number of connections, each the next when it has its answer, and waits for all.
 *
 * @param {{url: string, connections: number, count: number, request: (i: number) => object}} options `request` as
 *   undici's `dispatch` takes it
 * @returns {Promise<{seconds: number, latencies: Float64Array, ownShare: number}>} latencies in milliseconds, in
 *   ascending order; how much of a core this process took meanwhile: near 1, and it was what limited the server
 * @throws {Error} for an answer other than 200
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

/** One request, for its bytes. */
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

/** The least that undici does for a request: whoever asks must not be slower than who answers. */
function exchange(pool, request, keep = () => {}) {
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
        if (status === 200) resolve()
        else
          reject(new Error(`expected status 200 for ${request.method} ${request.path}, received ${status}`))
      },
      onResponseError(_controller, error) {
        reject(error)
      },
    }
    pool.dispatch(request, handler)
  })
}
