import type { RequestHandler } from 'express'
import { stateOf } from '../request-state.ts'

/** How long a client may go on sending after it was told no. */
export const LATE_SENDER_MS = 5_000

/**
 * Lets an early refusal reach the client: the rest of the body is read and discarded, for a while; then the connection
 * is closed. Closing at once would reset it, and the client, or the proxy in front, would see that instead of the
 * answer.
 *
 * @see RFC 9112 section 9.6
 */
export const drainAfterAnswer: RequestHandler = (req, res, next) => {
  const { socket } = req
  // Before Node's own listener, which closes a connection that is not kept alive.
  res.prependOnceListener('finish', () => {
    // Behind one request too many come others, which are no body, and have no end.
    const endless = stateOf(req).exceedsPipeline
    if (req.destroyed || (req.complete && !endless)) return
    // What Node closes with, bytes that have come or not. The client is told the end of the answer, and may go on.
    const { destroySoon } = socket
    let ending = false
    socket.destroySoon = () => {
      ending = true
      socket.end()
    }
    // Node does so by itself only when nobody had begun to read, and then for as long as something comes.
    req.resume()
    const timer = setTimeout(() => socket.destroy(), LATE_SENDER_MS)
    const stop = () => clearTimeout(timer)
    socket.once('close', stop)
    if (endless) return
    req.once('end', () => {
      stop()
      // The connection may be kept for a thousand more of these.
      socket.off('close', stop)
      socket.destroySoon = destroySoon
      if (ending) socket.destroySoon()
    })
  })
  next()
}
