import type { Asset } from '../../../core/bytes/asset.ts'
import { joinedAsset } from '../../../core/bytes/joined-asset.ts'
import { partsOf } from './parts.ts'

const COLOURS_AT = 26
// Fewer bytes of layers may as well be read.
const FEW_BYTES = 1024 * 1024
// Resources are the colour profile, a thumbnail, guides and the like.
const START_MAX_BYTES = 1024 * 1024

/**
 * Returns a PSD with the merged image of this one, and without layers: in most files they are far larger. Undefined for a
 * PSD with few bytes of layers, and for an invalid one.
 */
export async function psdWithoutLayers(asset: Asset, signal: AbortSignal): Promise<Asset | undefined> {
  if (asset.size <= FEW_BYTES) return undefined
  const parts = partsOf(asset, signal)
  const lengthAt = async (at: number, bytes: 4 | 8) => {
    const length = await parts.read(at, bytes)
    if (length.length < bytes) return Number.NaN
    return bytes === 4 ? length.readUInt32BE(0) : Number(length.readBigUInt64BE(0))
  }
  // A PSB has version 2, and twice the bytes in this length.
  const lengthBytes = (await parts.read(0, 6))[5] === 2 ? 8 : 4
  const resourcesAt = COLOURS_AT + 4 + (await lengthAt(COLOURS_AT, 4))
  const layersAt = resourcesAt + 4 + (await lengthAt(resourcesAt, 4))
  const length = await lengthAt(layersAt, lengthBytes)
  const end = layersAt + lengthBytes + length
  if (!(length > FEW_BYTES && layersAt <= START_MAX_BYTES && end < asset.size)) return undefined
  // The sign of the number of layers tells whether the merged image is transparent.
  const info = Buffer.alloc(lengthBytes)
  info.writeUInt32BE(2, lengthBytes - 4)
  const section = Buffer.alloc(lengthBytes)
  section.writeUInt32BE(info.length + 2, lengthBytes - 4)
  const count = await parts.read(layersAt + 2 * lengthBytes, 2)
  const start = Buffer.concat([await parts.read(0, layersAt), section, info, count])
  const { mediaType } = asset
  return joinedAsset(start, { file: asset, rest: { start: end, end: asset.size - 1 }, mediaType })
}
