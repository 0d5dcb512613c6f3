import type { Asset } from '../../core/bytes/asset.ts'
import { fileReplaced, Problem } from '../../core/problem.ts'

/**
 * The asset of a derivative, which may be evicted after it was found and before it is opened: then `again` renders it.
 *
 * @throws from `open`, Problem 503 when the new one has another size, since that of this one may have been sent
 */
export function reopened(asset: Asset, again: () => Promise<Asset>): Asset {
  return {
    ...asset,
    async open(options) {
      try {
        return await asset.open(options)
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 404) throw error
        const other = await again()
        if (other.size !== asset.size) throw fileReplaced(error)
        return other.open(options)
      }
    },
  }
}
