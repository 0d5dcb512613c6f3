import type { Response } from 'express'
import type { OpenOptions } from '../../core/bytes/asset.ts'
import type { Readers } from './readers.ts'

/** How {@link sendPieces} opens a body. */
export type PieceOptions = Required<Pick<OpenOptions, 'signal' | 'newPiece'>>

// A client that reads a piece within this time gets larger ones.
const FAST_MS = 20

/**
 * Sends a body piece by piece, the next one when the client's connection has taken the last: a client that does not read
 * holds one piece of memory, where `pipeline` would hold several. A failure destroys the response, so that the client
 * notices that the file is truncated.
 *
 * @param open resolves when the first bytes are available; the pieces fail when the body is incomplete
 * @throws the error of the body; nothing when the client has disconnected
 */
export async function sendPieces(
  res: Response,
  open: (options: PieceOptions) => Promise<AsyncIterable<Buffer>>,
  { readers, signal }: { readers: Readers; signal: AbortSignal },
): Promise<void> {
  let isFast = false
  const reader = readers.begin(res)
  const body = await open({ signal, newPiece: () => reader.newPiece(isFast) }).catch((error) => {
    reader.end()
    throw error
  })
  let settle = () => {}
  // Ends the wait when the connection closes while a piece waits.
  res.once('close', () => settle())
  try {
    for await (const piece of body) {
      if (res.destroyed) break
      reader.waits(piece.length)
      const startedAt = performance.now()
      await new Promise<void>((resolve) => {
        settle = resolve
        res.write(piece, () => resolve())
      })
      // After the connection has closed, the system may still read the piece, so its memory is not reused.
      if (res.destroyed) break
      reader.took(piece)
      isFast = performance.now() - startedAt < FAST_MS
    }
    res.end()
  } catch (error) {
    res.destroy()
    if (!signal.aborted) throw error
  } finally {
    reader.end()
  }
}

/** Sends a small body together with the headers: a stream costs twice as much. */
export function sendWhole(res: Response, bytes: Buffer, readers: Readers): void {
  res.end(bytes)
  if (!res.writableLength) return
  const reader = readers.begin(res)
  reader.waits(bytes.length)
  res.once('close', reader.end)
}
