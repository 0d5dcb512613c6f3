import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type Asset, assetFromBytes, openWhole } from '../../core/asset.ts'
import type { FileHead } from './messages.ts'

export function headOf({ size, mediaType, lastModified }: Asset): FileHead {
  return { size, mediaType, lastModified: lastModified.getTime() }
}

/** The file that is announced, of the bytes that follow. @throws Error when the channel ends before */
export async function receiveFile(
  channel: Duplex,
  { size, mediaType, lastModified }: FileHead,
): Promise<Asset> {
  const bytes = await readExactly(channel, size)
  return assetFromBytes(bytes, { mediaType, lastModified: new Date(lastModified) })
}

/** Sends a file's bytes. Nothing else may be sent before it has ended. */
export async function sendFile(channel: Duplex, asset: Asset, signal?: AbortSignal): Promise<void> {
  const options = signal ? { signal } : {}
  const bytes = await openWhole(asset, options)
  try {
    // `pipeline` would leave a listener on the channel for each file.
    bytes.pipe(channel, { end: false })
    await finished(bytes, { ...options, cleanup: true })
  } finally {
    bytes.destroy()
  }
}

/** Whoever is at the other end sends no more than is asked for. */
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
