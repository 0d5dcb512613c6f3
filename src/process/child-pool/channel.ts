import type { Duplex } from 'node:stream'
import { type Asset, assetFromBytes, openWhole } from '../../core/bytes/asset.ts'
import type { FileHead } from './messages.ts'

/** The metadata that is sent before the bytes of a file. */
export function headOf({ size, mediaType, lastModified, truncated, copyOf }: Asset): FileHead {
  return {
    size,
    mediaType,
    lastModified: lastModified.getTime(),
    ...(truncated ? { truncated } : {}),
    ...(copyOf ? { copyOf } : {}),
  }
}

/** Receives the file whose head was announced. @throws Error when the channel closes before the last byte */
export async function receiveFile(
  channel: Duplex,
  { size, mediaType, lastModified, ...known }: FileHead,
): Promise<Asset> {
  const bytes = await readExactly(channel, size)
  return { ...assetFromBytes(bytes, { mediaType, lastModified: new Date(lastModified) }), ...known }
}

/**
 * Sends the bytes of a file. The caller must send nothing else until it resolves.
 * @param options.opened called before the first byte
 * @throws `signal.reason`; Error when the channel closes
 */
export async function sendFile(
  channel: Duplex,
  asset: Asset,
  { signal, opened }: { signal?: AbortSignal; opened?: () => void } = {},
): Promise<void> {
  const bytes = await openWhole(asset, signal ? { signal } : {})
  opened?.()
  // With `end: false`, `pipeline` leaves a listener on the channel for every file.
  for await (const chunk of bytes) {
    signal?.throwIfAborted()
    if (!channel.write(chunk)) await drained(channel, signal)
  }
}

/** Resolves when the channel has room for more. @throws Error when the channel has closed; `signal.reason` */
function drained(channel: Duplex, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: unknown) => {
      channel.off('drain', end).off('close', closed)
      signal?.removeEventListener('abort', aborted)
      if (error) reject(error)
      else resolve()
    }
    const closed = () => end(new Error('the process exited before it received the file'))
    const aborted = () => end(signal?.reason)
    channel.on('drain', end).on('close', closed)
    signal?.addEventListener('abort', aborted)
    if (channel.destroyed) closed()
    else if (signal?.aborted) aborted()
  })
}

/** Reads exactly `size` bytes. The sender never sends more than one requested file. */
function readExactly(channel: Duplex, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(size)
  let length = 0
  return new Promise((resolve, reject) => {
    const end = (error?: Error | null) => {
      channel.off('readable', take).off('close', closed).off('error', end)
      if (error) reject(error)
      else resolve(bytes)
    }
    const closed = () => end(new Error(`expected ${size} bytes from a process but received ${length}`))
    const take = () => {
      for (let chunk = length < size && channel.read(); chunk; chunk = length < size && channel.read()) {
        length += (chunk as Buffer).copy(bytes, length)
      }
      if (length >= size) end()
    }
    channel.on('readable', take).on('close', closed).on('error', end)
    take()
  })
}
