import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'

/** Limits of a connection. Each is the environment variable of this name. */
export interface ConnectionLimits {
  HEADERS_TIMEOUT_SECONDS: number
  HEADERS_MAX_BYTES: number
  IDLE_TIMEOUT_SECONDS: number
  KEEP_ALIVE_SECONDS: number
}

// node:http checks timeouts only at intervals, so the timeout is exceeded by at most a quarter.
const LOOKS_PER_TIMEOUT = 4

/**
 * Creates a server that does not listen yet. Its timeouts close connections on which nothing moves.
 * @param messages the classes of its requests and responses
 */
export function createWebServer(
  limits: ConnectionLimits,
  handle: RequestListener,
  messages: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>,
): Server {
  const headersTimeoutMs = limits.HEADERS_TIMEOUT_SECONDS * 1000
  const server = createServer(
    {
      ...messages,
      maxHeaderSize: limits.HEADERS_MAX_BYTES,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / LOOKS_PER_TIMEOUT,
      keepAliveTimeout: limits.KEEP_ALIVE_SECONDS * 1000,
      // A large upload may take any time. The idle timeout covers connections on which nothing moves.
      requestTimeout: 0,
      // Node would reject requests without Host itself, and not in the format of our problems.
      requireHostHeader: false,
    },
    handle,
  )
  // HEADERS_MAX_BYTES is the limit. By default, Node silently drops all headers after the first 2,000.
  server.maxHeadersCount = 0
  // By default, Node answers an unknown expectation with a bare 417. The service answers in its own format.
  server.on('checkExpectation', handle)
  // By default, Node asks for the body before a request with a wrong secret is refused.
  server.on('checkContinue', (req, res) => {
    continueWhenRead(req, res)
    handle(req, res)
  })
  server.setTimeout(limits.IDLE_TIMEOUT_SECONDS * 1000)
  return server
}

/**
 * Responds 100 to `Expect: 100-continue` when the body is read. A request that is refused before has no body that could be told
 * from a next request, so its connection is closed.
 *
 * @see RFC 9110 section 10.1.1
 */
function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  const { resume } = req
  // A client may have asked for the end of the connection.
  const { shouldKeepAlive } = res
  res.shouldKeepAlive = false
  req.resume = () => {
    req.resume = resume
    // Node reads the rest of a body after the response.
    if (!res.headersSent) {
      res.shouldKeepAlive = shouldKeepAlive
      res.writeContinue()
    }
    return resume.call(req)
  }
}
