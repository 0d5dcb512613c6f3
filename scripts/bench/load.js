import { Pool } from 'undici'
import { LightConnection, serialize } from './light-client.js'

/**
 * Sends `count` requests over a fixed number of connections, the next one on each when the last was answered, and waits
 * for all.
 *
 * @param {{url: string, connections: number, count: number, request: (i: number) => object, isLight?: boolean}} options
 *   `request` as undici's `dispatch` takes it; `isLight`: with light-client.js
 * @returns {Promise<{seconds: number, latencies: Float64Array, ownShare: number}>} latencies in milliseconds, in
 *   ascending order; `ownShare`: how much of a core this process used. When it is near 1, this process was the
 *   bottleneck
 * @throws {Error} for a response of another status than `status` of its request, by default 200
 */
export async function load({ url, connections, count, request, isLight = false }) {
  const clients = isLight ? lightClients(url, connections) : undiciClients(url, connections)
  const latencies = new Float64Array(count)
  let next = 0
  const work = async (exchange) => {
    for (let i = next++; i < count; i = next++) {
      const sentAt = performance.now()
      await exchange(request(i))
      latencies[i] = performance.now() - sentAt
    }
  }
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()]
  try {
    await Promise.all(clients.exchanges.map(work))
  } finally {
    await clients.close()
  }
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return { seconds, latencies: latencies.sort(), ownShare: (user + system) / 1e6 / seconds }
}

function undiciClients(url, connections) {
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 })
  const one = (request) => exchange(pool, request)
  return { exchanges: Array.from({ length: connections }, () => one), close: () => pool.destroy() }
}

function lightClients(url, connections) {
  const all = Array.from({ length: connections }, () => new LightConnection(url))
  const exchanges = all.map((connection) => async (request) => {
    checkStatus(await connection.exchange(serialize(request, url)), request)
  })
  const close = () => {
    for (const connection of all) connection.close()
  }
  return { exchanges, close }
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
function exchange(pool, request, keep = () => {}) {
  return new Promise((resolve, reject) => {
    let status = 0
    let problem = ''
    const handler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk) {
        if (status >= 400) problem += chunk
        else keep(chunk)
      },
      onResponseEnd() {
        try {
          resolve(checkStatus(status, request, problem))
        } catch (error) {
          reject(error)
        }
      },
      onResponseError(_controller, error) {
        reject(error)
      },
    }
    pool.dispatch(request, handler)
  })
}

/** @throws {Error} for another status than that of the request, by default 200, with the text of the response if it is known */
function checkStatus(status, { status: expected = 200, method, path }, text = '') {
  if (status !== expected)
    throw new Error(`expected status ${expected} for ${method} ${path}, received ${status} ${text}`.trimEnd())
}
