import { Readable } from 'node:stream'
import type { Request } from 'express'

/** The body of a request, for a library that reads it at its own pace. */
export interface TakenBody {
  /** Ends with the body, and also where it breaks off: the bytes until then count. */
  bytes: ReadableStream<Uint8Array>
  /** Ends `bytes` after the bytes received so far. */
  end(): void
  /** Returns the request, however much of it was read. */
  leave(): void
}

/** Takes over the body until `leave`. Reads no more of it than requested. */
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
  // The client has already disconnected, and no further event will follow.
  if (req.destroyed) end()
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  return {
    end,
    leave() {
      end()
      body.destroy()
      // The client may disconnect later. No other code handles that error.
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
      // Read only on request.
      { highWaterMark: 0 },
    ),
  }
}
