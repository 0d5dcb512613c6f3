import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as afterPoll, setTimeout as pause } from 'node:timers/promises'

/** The orderly end of a server, in the order in which a load balancer in front loses no request. */
export interface Shutdown {
  /** Whether it has begun: the process answers requests, and is not ready for new ones. */
  hasBegun(): boolean
  /** To be called for each request: once no new connections are accepted, its response is the last one of its connection. */
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

// A request that was sent before its sender saw the end is read and answered within this time, instead of a reset.
const LINGER_MS = 250
const CLOSE_IDLE_EVERY_MS = 100

/** Right after the event loop has read what has come: a connection whose request is still to be read counts as idle. */
function closeIdle(server: Server): void {
  setImmediate(() => server.closeIdleConnections())
}

/** The end of this server, which begins when {@link Shutdown.stop} is called. */
export function createShutdown(server: Server): Shutdown {
  let begun = false
  let isClosed = false
  return {
    hasBegun: () => begun,
    mark(res) {
      if (isClosed) res.shouldKeepAlive = false
    },
    async stop({ delayMs, drainMs }) {
      begun = true
      if (delayMs > 0) await pause(delayMs)
      // The system resets connections that wait to be accepted. Right after the event loop has accepted all, there are none.
      await afterPoll()
      isClosed = true
      // That of node:http would also reset the idle connections at once, with what their senders have just written.
      const closed = new Promise((done) => NetServer.prototype.close.call(server, done))
      if (delayMs > 0) await Promise.race([closed, pause(LINGER_MS)])
      closeIdle(server)
      // A connection that has just ended its request would otherwise be kept for the next one.
      const idle = setInterval(closeIdle, CLOSE_IDLE_EVERY_MS, server)
      await Promise.race([closed, pause(drainMs)])
      server.closeAllConnections()
      await closed
      clearInterval(idle)
    },
  }
}
