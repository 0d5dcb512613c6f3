import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { METRICS_CONTENT_TYPE } from '../core/ports/metrics.ts'

/**
 * Answers `GET /metrics` on a port of its own, to whoever reaches it.
 *
 * @returns the address
 * @throws Error when the port cannot be listened on
 */
export async function serveMetrics({
  port,
  host,
  read,
}: {
  /** 0 takes a free one. */
  port: number
  host: string
  read: () => Promise<string>
}): Promise<string> {
  const server = createServer(async (req, res) => {
    if (req.url?.split('?', 1)[0] !== '/metrics') return void res.writeHead(404).end()
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return void res.writeHead(405, { Allow: 'GET, HEAD' }).end()
    const text = await read().catch(() => undefined)
    if (text === undefined) return void res.writeHead(503).end()
    res.writeHead(200, { 'Content-Type': METRICS_CONTENT_TYPE, 'Cache-Control': 'no-store' }).end(text)
  })
  await new Promise<void>((listening, reject) => {
    server.once('error', reject)
    server.listen(port, host, listening)
  }).catch((cause) => {
    throw new Error(`METRICS_PORT ${port} on METRICS_HOST ${host} cannot be used: ${cause.message}`, {
      cause,
    })
  })
  const { port: taken } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`
}
