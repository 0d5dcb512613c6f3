import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { METRICS_CONTENT_TYPE } from '../../core/ports/metrics.ts'

/** A running server for metrics. */
export interface MetricsServer {
  /** The URL of the metrics. */
  url: string
  /** Stops the server and closes its connections. */
  close(): Promise<void>
}

/**
 * Serves `GET /metrics` on a separate port, without authentication. Also serves `GET /healthz`, with 200 while the process
 * responds at all, since a worker has no other port.
 *
 * @throws Error when it cannot listen on the port
 */
export async function serveMetrics({
  port,
  host,
  read,
}: {
  /** 0 selects a free port. */
  port: number
  host: string
  read: () => Promise<string>
}): Promise<MetricsServer> {
  const server = createServer(async (req, res) => {
    const path = req.url?.split('?', 1)[0]
    if (path !== '/metrics' && path !== '/healthz') return void res.writeHead(404).end()
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return void res.writeHead(405, { Allow: 'GET, HEAD' }).end()
    if (path === '/healthz') return void res.writeHead(200, { 'Cache-Control': 'no-store' }).end('ok\n')
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
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
