import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** How a connection ends: in the usual way, or by an error. */
export type Cut = 'end' | 'reset'

/** A TCP proxy that cuts connections. */
export interface CuttingProxy {
  url: string
  /** Cuts a connection when the clients have received this many bytes from now on. */
  cutNext(afterBytes: number, how: Cut): void
  /** All that the clients have sent since the last call. */
  sent(): string
  close(): Promise<void>
}

/** @param target the URL of the server, on this machine */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  let next: { bytesLeft: number; how: Cut } | undefined
  const open = new Set<Socket>()
  let sent = ''
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port))
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    client.on('data', (chunk) => {
      sent += chunk
    })
    upstream.on('data', (chunk) => {
      if (next) next.bytesLeft -= chunk.length
      if (next && next.bytesLeft <= 0) {
        const { how } = next
        next = undefined
        upstream.pause()
        if (how === 'reset') client.resetAndDestroy()
        else client.end()
        return
      }
      if (client.write(chunk)) return
      upstream.pause()
      client.once('drain', () => upstream.resume())
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutNext(afterBytes, how) {
      next = { bytesLeft: afterBytes, how }
    },
    sent() {
      const text = sent
      sent = ''
      return text
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
