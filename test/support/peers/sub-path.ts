import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a proxy that serves a service below `/sub`. */
export async function startSubPath(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((req, res) => {
    if (!req.url?.startsWith('/sub/')) return void res.writeHead(404).end()
    const { method = 'GET', headers } = req
    const sent = request(target, { method, headers, path: req.url.slice(4) }, (response) => {
      res.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(res)
    })
    req.pipe(sent)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sub`,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
