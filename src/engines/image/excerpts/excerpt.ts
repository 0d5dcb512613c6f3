import { type Asset, assetFromBytes, readStart } from '../../../core/bytes/asset.ts'
import { formatOfMediaType, isText } from '../../../core/media/formats.ts'
import { isRaw } from '../../../core/media/photos.ts'
import { psdWithoutLayers } from './psd.ts'
import { previewOf } from './raw.ts'

// The first lines of a table with many columns.
const TEXT_BYTES = 64 * 1024

/**
 * Returns the image in a file that has much more than that: the preview of a RAW photo, a PSD without its layers, or the start
 * of a text. Only parts of the file are read. Undefined for a file that is the image itself.
 *
 * @throws Problem 404 when the file has been deleted, 422 for a RAW photo without a preview
 */
export async function excerptOf(asset: Asset, signal: AbortSignal): Promise<Asset | undefined> {
  const format = formatOfMediaType(asset.mediaType)
  const { name } = format
  if (isText(format)) return startOf(asset, signal)
  if (isRaw(name)) return previewOf(asset, { format: name, signal })
  return name === 'psd' ? psdWithoutLayers(asset, signal) : undefined
}

async function startOf(asset: Asset, signal: AbortSignal): Promise<Asset | undefined> {
  if (asset.size <= TEXT_BYTES) return undefined
  return assetFromBytes(await readStart(asset, { maxBytes: TEXT_BYTES, signal }), asset)
}
