import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net'
import { CERTIFICATE } from '../servers/certificate.ts'

/** A remote server, on loopback. */
export interface Remote {
  port: number
  /** What has been asked, in order. */
  requests: IncomingMessage[]
  /** The number of connections since the start, and of open ones. */
  connections: { made: number; open: number }
  /** `http://127.0.0.1:<port><path>`, or with another host. */
  url(path?: string, host?: string): string
  close(): Promise<void>
}

export interface RemoteOptions {
  host?: string
  port?: number
  secure?: true
}

/** An HTTP server that responds with `answer`. */
export async function remote(answer: RequestListener, options: RemoteOptions = {}): Promise<Remote> {
  const requests: IncomingMessage[] = []
  const listener: RequestListener = (req, res) => {
    requests.push(req)
    answer(req, res)
  }
  const server: Server = options.secure ? createSecureServer(CERTIFICATE, listener) : createServer(listener)
  return { ...(await opened(server, options)), requests }
}

/** A TCP server, for responses that no HTTP server would send. `speak` is called when the head of the request has arrived. */
export async function rawRemote(
  speak: (socket: Socket) => void,
  options: RemoteOptions = {},
): Promise<Remote> {
  const server = createTcpServer((socket) => {
    let head = ''
    socket.on('error', () => {})
    socket.on('data', function listen(chunk) {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', listen)
      socket.resume()
      speak(socket)
    })
  })
  return { ...(await opened(server, options)), requests: [] }
}

/** Accepts connections and never sends anything, not even in TLS. */
export async function silentRemote(): Promise<Remote> {
  return { ...(await opened(createTcpServer(), {})), requests: [] }
}

/** Writes `piece` again and again until the other side has left. */
export function endless(socket: Socket, piece: string | Buffer, everyMs = 0): void {
  const write = () => {
    if (socket.destroyed) return
    if (everyMs > 0) socket.write(piece, () => setTimeout(write, everyMs))
    else if (socket.write(piece)) setImmediate(write)
    else socket.once('drain', write)
  }
  write()
}

async function opened(
  server: TcpServer,
  { host = '127.0.0.1', port = 0, secure }: RemoteOptions,
): Promise<Omit<Remote, 'requests'>> {
  const sockets = new Set<Socket>()
  const connections = { made: 0, open: 0 }
  server.on('connection', (socket: Socket) => {
    connections.made += 1
    connections.open += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      connections.open -= 1
      sockets.delete(socket)
    })
    // A silent server must read, otherwise it does not notice that the other side has disconnected.
    if (server.listenerCount('request') === 0) socket.resume()
  })
  await new Promise<void>((done) => server.listen(port, host, done))
  const actual = (server.address() as AddressInfo).port
  return {
    port: actual,
    connections,
    url: (path = '/', name = host) => `${secure ? 'https' : 'http'}://${name}:${actual}${path}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
