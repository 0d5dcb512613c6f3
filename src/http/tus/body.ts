import { Readable } from 'node:stream'
import type { Request } from 'express'

/** The body of a request for a library that reads it in its own time. */
export interface TakenBody {
  /** It ends with the body, and also where that is broken off: what came until then counts. */
  bytes: ReadableStream<Uint8Array>
  /** Ends `bytes` with what has come by now. */
  end(): void
  /** Gives the request back, whatever of it was read. */
  leave(): void
}

/** Takes the body over until `leave`, and reads no more of it than is asked for. */
export function takeBody(req: Request): TakenBody {
  const body = new Readable({ read: () => void req.resume() })
  const take = (chunk: Buffer) => {
    if (!body.push(chunk)) req.pause()
  }
  const leave = () => {
    req.off('data', take)
    req.off('end', end)
    req.off('close', end)
    req.off('error', end)
  }
  let ended = false
  const end = () => {
    leave()
    if (!ended) body.push(null)
    ended = true
  }
  req.on('data', take).pause()
  req.once('end', end).once('close', end).on('error', end)
  // Its sender has left already, of which nothing is told any more.
  if (req.destroyed) end()
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  return {
    end,
    leave() {
      end()
      body.destroy()
      // Its errors are nobody's from now on: a client that has left.
      req.on('error', () => {})
    },
    bytes: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const next = await chunks.next()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        },
        async cancel() {
          await chunks.return?.()
        },
      },
      // Nothing is read that nobody asks for.
      { highWaterMark: 0 },
    ),
  }
}
