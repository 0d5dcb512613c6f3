import { createServer, type RequestListener, type Server } from 'node:http'

/** What a connection may cost while nothing comes of it; each is the variable of that name. */
export interface ConnectionLimits {
  HEADERS_TIMEOUT_SECONDS: number
  HEADERS_MAX_BYTES: number
  IDLE_TIMEOUT_SECONDS: number
  KEEP_ALIVE_SECONDS: number
}

// node:http looks for overdue headers only so often: at most a quarter more than their time is given.
const LOOKS_PER_TIMEOUT = 4

/** A server, not listening yet, on which nobody can hold a connection for nothing. */
export function createWebServer(limits: ConnectionLimits, handle: RequestListener): Server {
  const headersTimeoutMs = limits.HEADERS_TIMEOUT_SECONDS * 1000
  const server = createServer(
    {
      maxHeaderSize: limits.HEADERS_MAX_BYTES,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / LOOKS_PER_TIMEOUT,
      keepAliveTimeout: limits.KEEP_ALIVE_SECONDS * 1000,
      // A large upload takes as long as it takes; what must not happen is that nothing moves.
      requestTimeout: 0,
      // By itself Node refuses requests without one, and not in the form of our problems.
      requireHostHeader: false,
    },
    handle,
  )
  // HEADERS_MAX_BYTES is the limit; by itself Node takes 2,000 and drops the others without a word.
  server.maxHeadersCount = 0
  // By itself Node answers an expectation that it does not know with a bare 417; the service has one in its own form.
  server.on('checkExpectation', handle)
  server.setTimeout(limits.IDLE_TIMEOUT_SECONDS * 1000)
  return server
}
