import type { Asset } from '../../../src/core/bytes/asset.ts'
import { assetOf } from '../image/transform.ts'

const probes = new WeakMap<Uint8Array, Map<string, string>>()

/**
 * A media file in the bucket that keeps the result of its probe, as the index of the service does: transformations of the same
 * bytes start ffprobe once.
 */
export function knownAsset(bytes: Uint8Array, format: string): Asset {
  const kept = probes.get(bytes) ?? new Map<string, string>()
  probes.set(bytes, kept)
  return {
    ...assetOf(bytes, format),
    get probe() {
      return { text: kept.get(format), keep: async (text: string) => void kept.set(format, text) }
    },
  }
}
