import sharp from 'sharp'
import { FULL } from './boxes.ts'

const ALPHA = /^urn:mpeg:(?:mpegB:cicp:systems:auxiliary:alpha|hevc:2015:auxid:1)\0/
const P3_PRIMARIES = 12

/** Whether a box `auxC` of an image, or `auxi` of a track, states that it is the transparency of another one. */
export function statesAlpha(box: Buffer): boolean {
  return ALPHA.test(box.toString('latin1', FULL))
}

/**
 * The ICC profile of colours that are named by their primaries: that of Display P3. Undefined for others, which are read as sRGB.
 *
 * @see ITU-T H.273, section 8.1
 */
export async function profileOfPrimaries(primaries: number): Promise<Buffer | undefined> {
  if (primaries !== P3_PRIMARIES) return undefined
  const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: '#000' } })
  return (await sharp(await pixel.withIccProfile('p3').png().toBuffer()).metadata()).icc
}
