import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, pipeline, Transform } from 'node:stream'

/**
 * What becomes of a request.
 *
 * - `pass`: only these changes:
 *   `sent` and `received` slow a body down or abort it, after so many bytes or when the reader pauses;
 *   `lost`: done by the server, but its answer gets lost; `delayMs`: how much later than it came
 * - `answer`: by the proxy itself
 * - `reset`: the connection, at once
 * - `stall`: nothing is read any more, nothing answered
 */
export type Fate =
  | { kind: 'pass'; sent?: Break | Brake; received?: Break | Idle; lost?: true; delayMs?: number }
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string }
  | { kind: 'reset' }
  | { kind: 'stall' }

interface Break {
  afterBytes: number
  by: 'reset' | 'stall'
}

/** As stores and load balancers do: a connection that is idle for so long is reset. */
interface Idle {
  idleMs: number
}

interface Brake {
  bytesPerSecond: number
}

/** An HTTP server between the adapter and S3 that breaks requests as configured. */
export interface S3Proxy {
  endpoint: string
  /** Decides about each request from here on; `undefined` lets it pass. */
  decide(decision: (request: SeenRequest) => Fate | undefined): void
  /** All that came, in order. */
  readonly seen: SeenRequest[]
  /** How many connections are open now. */
  connections(): Promise<number>
  close(): Promise<void>
}

export interface SeenRequest {
  method: string
  /** Decoded: `/bucket/key`. */
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
}

export async function s3Proxy(target: string): Promise<S3Proxy> {
  let decision: (request: SeenRequest) => Fate | undefined = () => undefined
  const seen: SeenRequest[] = []
  const server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', target)
    const { method = '', headers } = req
    const one = { method, path: decodeURIComponent(pathname), query: searchParams, headers }
    seen.push(one)
    const fate = decision(one) ?? { kind: 'pass' }
    const delayMs = fate.kind === 'pass' ? (fate.delayMs ?? 0) : 0
    setTimeout(() => meet(fate, { target, req, res }), delayMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    decide(next) {
      decision = next
    },
    seen,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

interface Exchange {
  target: string
  req: IncomingMessage
  res: ServerResponse
}

function meet(fate: Fate, { target, req, res }: Exchange): void {
  const { socket } = req
  const reset = () => {
    socket.resetAndDestroy()
  }
  if (fate.kind === 'stall') return
  if (fate.kind === 'reset') {
    reset()
    return
  }
  if (fate.kind === 'answer') {
    req.resume()
    res.writeHead(fate.status, fate.headers).end(fate.body)
    return
  }
  const { method = 'GET', headers } = req
  const upstream = request(new URL(req.url ?? '', target), { method, headers, agent: false })
  // Whichever side breaks off, the other learns it.
  const broken = (error: unknown) => {
    if (error) reset()
  }
  res.once('close', () => upstream.destroy())
  pipeline([req, upTo(fate.sent, reset), upstream], broken)
  upstream.once('error', reset).once('response', (answer) => {
    if (fate.lost) answer.resume().once('end', reset)
    else {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline([answer, upTo(fate.received, reset), res], broken)
    }
  })
}

/** Lets bytes through, slowly, or until it breaks. */
function upTo(where: Break | Brake | Idle | undefined, reset: () => void): Transform {
  if (!where) return new PassThrough()
  if ('idleMs' in where) {
    const idle = setTimeout(reset, where.idleMs)
    const moving = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        idle.refresh()
        done(null, chunk)
      },
    })
    return moving.once('close', () => clearTimeout(idle))
  }
  if ('bytesPerSecond' in where) {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) =>
        void setTimeout(done, (chunk.length / where.bytesPerSecond) * 1000, null, chunk),
    })
  }
  let left = where.afterBytes
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const part = chunk.subarray(0, left)
      left -= part.length
      this.push(part)
      if (left > 0) return done()
      // Without `done` it takes no more. What has been pushed needs a moment to get out.
      if (where.by === 'reset') setTimeout(reset, 20)
    },
  })
}
