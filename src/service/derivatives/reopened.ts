import type { Asset } from '../../core/bytes/asset.ts'
import { fileReplaced, Problem } from '../../core/problem.ts'

/**
 * The asset of a derivative. If it is evicted after it was found and before it is opened, `again` renders it.
 *
 * @throws from `open`, Problem 503 when the new derivative has another size: the first size may have been sent already
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
