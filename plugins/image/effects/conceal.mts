import sharp, { type Sharp } from 'sharp'
import type { Box, Size } from '../../../src/core/geometry/box.ts'

/** How a part of an image is concealed. */
export type Concealment = 'blur' | 'pixelate'

// A face of 8 x 8 squares cannot be recognised. The number does not depend on the size of the region, so that no
// larger output shows more of it.
const SQUARES = 8

/** Replaces an image by squares of this side, each in the mean colour of its pixels. The last ones may be narrower. */
export async function pixelated(image: Sharp, { width, height }: Size, side: number): Promise<Sharp> {
  const [across, down] = [Math.max(1, Math.round(width / side)), Math.max(1, Math.round(height / side))]
  // Through files, which preserve what pixels lose: the transparency of grey images, a profile.
  const small = await image.resize(across, down, { fit: 'fill', kernel: 'linear' }).png().toBuffer()
  return sharp(small).keepIccProfile().resize(width, height, { fit: 'fill', kernel: 'nearest' })
}

/**
 * Conceals parts of an image. What they show cannot be recovered: of each part, only 8 x 8 colours remain.
 *
 * @param boxes in pixels, within the image
 */
export async function concealed(
  image: Sharp,
  parts: ReadonlyArray<{ box: Box; by: Concealment }>,
): Promise<Sharp> {
  const whole = await image.png({ compressionLevel: 0 }).toBuffer()
  const { hasAlpha } = await sharp(whole).metadata()
  const layers = await Promise.all(
    parts.map(async ({ box, by }) => {
      const part = sharp(whole).keepIccProfile().extract(box)
      const outcome = by === 'blur' ? await blurred(part, box) : await pixelated(part, box, sideOf(box))
      const input = await outcome.png({ compressionLevel: 0 }).toBuffer()
      return { box, input, left: box.left, top: box.top }
    }),
  )
  // Where a part is transparent, it must not show what it covers, so that is removed first.
  const outcome = sharp(whole)
    .keepIccProfile()
    .composite(
      layers.flatMap(({ box, ...layer }) =>
        hasAlpha ? [{ ...opaque(box), left: layer.left, top: layer.top }, layer] : [layer],
      ),
    )
  return hasAlpha ? outcome : outcome.removeAlpha()
}

function opaque({ width, height }: Size) {
  return { input: { create: { width, height, channels: 4, background: '#000' } }, blend: 'dest-out' } as const
}

function sideOf({ width, height }: Size): number {
  return Math.max(1, Math.min(width, height) / SQUARES)
}

async function blurred(part: Sharp, box: Box): Promise<Sharp> {
  const { width, height } = box
  const side = sideOf(box)
  const [across, down] = [Math.max(1, Math.round(width / side)), Math.max(1, Math.round(height / side))]
  const small = await part.resize(across, down, { fit: 'fill', kernel: 'linear' }).png().toBuffer()
  return sharp(small).keepIccProfile().resize(width, height, { fit: 'fill', kernel: 'cubic' })
}
