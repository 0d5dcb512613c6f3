import sharp from 'sharp'
import { readAll } from '../../../core/bytes/asset.ts'
import type { EngineContext, Opened } from '../../../core/plugin-api/plugin.ts'
import type { DecodedImage } from '../decoders/decoders.ts'
import { decoding } from '../failures.ts'
import { headerIn } from '../header.ts'
import { describe, type ImageOpening } from '../source.ts'

// Of GIF.
const MAX_TIME = 65_535

/** Opens the frames of an animation that another decoder has decoded. Their number and size have been checked. */
export async function openFrames(
  { picture, format, timing }: DecodedImage,
  { profile = 'srgb', upright = false }: Partial<ImageOpening>,
  { signal, limits }: EngineContext,
): Promise<Opened<'sharp'>> {
  const input = await readAll(picture, signal)
  const { pageHeight: _, ...header } = await decoding(() => headerIn(input))
  const known = timing && { delay: timing.delay.map(limited), loop: limited(timing.loop) }
  // libvips would read the pages of a TIFF as separate images.
  const source = describe({ ...header, ...known, format: 'webp' }, { frames: 'all', upright, profile })
  const draft = sharp(input, { animated: true, limitInputPixels: limits.sourceMaxPixels })
  // These options are set for all animation formats, and apply when one of them is chosen.
  if (source.timing) draft.gif(source.timing)
  return { draft: source.keepsProfile ? draft.keepIccProfile() : draft, source: { ...source, format } }
}

/** A duration or a number of repetitions, which is any number in a broken file, as GIF can store it. */
function limited(value: number): number {
  return Number.isFinite(value) ? Math.min(MAX_TIME, Math.max(0, value)) : 0
}
