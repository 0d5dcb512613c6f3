import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as afterPoll, setTimeout as pause } from 'node:timers/promises'

/** Graceful shutdown of a server, in an order that loses no request behind a load balancer. */
export interface Shutdown {
  /** Whether the shutdown has begun: requests are still answered, but the readiness check fails. */
  hasBegun(): boolean
  /** Call it for each request. Once the server accepts no new connections, each response closes its connection. */
  mark(res: ServerResponse): void
  /** Resolves when every connection is closed. */
  stop(options: ShutdownTimes): Promise<void>
}

export interface ShutdownTimes {
  /** How long requests are still accepted while the readiness check fails. */
  delayMs: number
  /** How long requests in progress may take after that. */
  drainMs: number
}

// Each connection that is used within this time is closed by a response. To close an idle one is a risk: a proxy that does not
// see it at once sends a POST there, which it may not repeat. At a restart the machine is busy, and a proxy may wait for the CPU.
const LINGER_MS = 1_000
const CLOSE_IDLE_EVERY_MS = 100

/** Runs right after the poll phase: a connection whose request is not read yet would count as idle before that. */
function closeIdle(server: Server): void {
  setImmediate(() => server.closeIdleConnections())
}

/** Creates the shutdown of this server. {@link Shutdown.stop} starts it. */
export function createShutdown(server: Server): Shutdown {
  let begun = false
  let isClosed = false
  return {
    hasBegun: () => begun,
    mark(res) {
      if (!isClosed) return
      res.shouldKeepAlive = false
      // A request with `Expect: 100-continue` gets its own shouldKeepAlive back when its body is read.
      res.setHeader('Connection', 'close')
    },
    async stop({ delayMs, drainMs }) {
      begun = true
      if (delayMs > 0) await pause(delayMs)
      // The system resets connections that wait to be accepted. Right after the poll phase all are accepted.
      await afterPoll()
      isClosed = true
      // `close` of node:http would also reset idle connections at once, including requests that their clients have just sent.
      const closed = new Promise((done) => NetServer.prototype.close.call(server, done))
      if (delayMs > 0) await Promise.race([closed, pause(LINGER_MS)])
      closeIdle(server)
      // A connection that has just finished its request would otherwise remain open for the next one.
      const idle = setInterval(closeIdle, CLOSE_IDLE_EVERY_MS, server)
      // The interval holds the process until then. This time is of no use once all connections are closed.
      await Promise.race([closed, pause(drainMs, undefined, { ref: false })])
      server.closeAllConnections()
      await closed
      clearInterval(idle)
    },
  }
}
