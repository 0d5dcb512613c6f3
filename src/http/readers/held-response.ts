import type { Response } from 'express'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Readers } from './readers.ts'

/**
 * Counts a response whose bytes are only in memory and not stored: from now on, or from the moment when storing them has
 * failed. If the memory limit is exceeded at that later moment, the client is disconnected.
 *
 * All bytes count, even when only a part of them is sent.
 *
 * @param options `isHeld`: it is already known that the bytes will not be stored
 * @returns a function that ends the count
 * @throws Problem 503 when all such responses together exceed the limit
 */
export function holdResponse(
  res: Response,
  { asset, isHeld = false, readers }: { asset: Asset; isHeld?: boolean | undefined; readers: Readers },
): () => void {
  if (isHeld) return readers.hold(asset.size)
  let end = () => {}
  let isBegun = false
  const remove = asset.onNotStored?.(() => {
    try {
      end = readers.hold(asset.size)
    } catch (error) {
      if (!isBegun) throw error
      res.destroy()
    }
  })
  isBegun = true
  return () => {
    remove?.()
    end()
  }
}
