import type { Response } from 'express'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Readers } from './readers.ts'

/**
 * Counts an answer whose bytes are in memory and stored nowhere: from now on, or from when storing them has failed. When there is no
 * room left by then, the client is disconnected.
 *
 * All its bytes count, also when a part of them is sent.
 *
 * @param answer `isHeld`: it is known that the bytes will not be stored
 * @returns a function that ends it
 * @throws Problem 503 when all such answers have too many bytes together
 */
export function holdAnswer(
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
