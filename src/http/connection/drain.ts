import type { RequestHandler } from 'express'
import { stateOf } from '../request-state.ts'

/** How long a client may continue to send a request body after the response, in milliseconds. */
export const LATE_SENDER_MS = 5_000

/**
 * Delivers a response that is sent before the request body was read. The rest of the body is read and discarded for a limited
 * time, then the connection is closed. To close it at once would reset it: the client, or a proxy, would see the reset instead
 * of the response.
 *
 * @see RFC 9112 section 9.6
 */
export const drainAfterResponse: RequestHandler = (req, res, next) => {
  const { socket } = req
  // Before Node's own listener, which closes the connection if it is not kept alive.
  res.prependOnceListener('finish', () => {
    // After too many pipelined requests, the remaining bytes are further requests, not a body, and may never end.
    const endless = stateOf(req).exceedsPipeline
    if (req.destroyed || (req.complete && !endless)) return
    // Node closes the connection by destroySoon, even with unread bytes. Close only our side: the client may still send.
    const { destroySoon } = socket
    let ending = false
    socket.destroySoon = () => {
      ending = true
      socket.end()
    }
    // Node itself discards a body only if no listener has begun to read it, and without a time limit.
    req.resume()
    const timer = setTimeout(() => socket.destroy(), LATE_SENDER_MS)
    const stop = () => clearTimeout(timer)
    socket.once('close', stop)
    if (endless) return
    req.once('end', () => {
      stop()
      // The connection may be kept alive for thousands of requests: remove the listener.
      socket.off('close', stop)
      socket.destroySoon = destroySoon
      if (ending) socket.destroySoon()
    })
  })
  next()
}
