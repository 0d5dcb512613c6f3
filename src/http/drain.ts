import type { RequestHandler } from 'express'

/** How long a client may go on sending after it was told no. */
export const LATE_SENDER_MS = 5_000

/**
 * Lets an early refusal reach the client: the rest of the body is read and discarded, for a while; then the connection
 * is closed. Closing at once would reset it, and the client would see that instead of the answer.
 *
 * @see RFC 9112 section 9.6
 */
export const drainAfterAnswer: RequestHandler = (req, res, next) => {
  res.once('finish', () => {
    if (req.complete || req.destroyed) return
    // Node does so by itself only when nobody had begun to read, and then for as long as something comes.
    req.resume()
    const timer = setTimeout(() => req.destroy(), LATE_SENDER_MS)
    for (const event of ['end', 'close']) req.once(event, () => clearTimeout(timer))
  })
  next()
}
