import type { Asset } from '../../../core/bytes/asset.ts'
import { formatOfMediaType } from '../../../core/media/formats.ts'
import { isRaw } from '../../../core/media/photos.ts'
import { psdWithoutLayers } from './psd.ts'
import { previewOf } from './raw.ts'

/**
 * Returns the image in a file that has much more than that: the preview of a RAW photo, or a PSD without its layers. Only
 * parts of the file are read. Undefined for a file that is the image itself.
 *
 * @throws Problem 404 when the file has been deleted, 422 for a RAW photo without a preview
 */
export async function excerptOf(asset: Asset, signal: AbortSignal): Promise<Asset | undefined> {
  const { name } = formatOfMediaType(asset.mediaType)
  if (isRaw(name)) return previewOf(asset, { format: name, signal })
  return name === 'psd' ? psdWithoutLayers(asset, signal) : undefined
}
