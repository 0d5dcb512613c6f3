import sharp, { type Metadata } from 'sharp'

/** How large a vector picture has to be drawn, in pixels; of a side that is not named, whatever the other makes it. */
export interface Box {
  width?: number | undefined
  height?: number | undefined
  /** `inside`: neither side longer than the box's; `outside`: neither shorter. */
  fit: 'inside' | 'outside'
}

// What an SVG's own pixels are drawn at, and the bounds that sharp sets.
const OWN_DENSITY = 72
const MIN_DENSITY = 1
const MAX_DENSITY = 100_000
const MAX_SIDE = 32_767

/**
 * The density, in dots per inch, at which an SVG fills a box: it has no pixels of its own, so it is neither enlarged
 * nor made smaller but drawn in the size that is needed. Where that is more than `maxPixels`, it is drawn as large
 * as they allow.
 *
 * @returns with what sharp says of the picture at this density
 */
export async function drawnFor(
  svg: Uint8Array,
  box: Box,
  maxPixels: number,
): Promise<{ density: number; metadata: Metadata }> {
  const measure = (density: number) => sharp(svg, { density, limitInputPixels: false }).metadata()
  let density = OWN_DENSITY
  let metadata = await measure(density)
  // Lengths in pixels grow with the density, lengths in millimetres with its square, as the first pass shows.
  let power = 1
  // The second pass makes up for what the first one's rounding to whole pixels has hidden.
  for (let pass = 0; pass < 2; pass += 1) {
    const scale = scaleTo(metadata, box, maxPixels)
    const next = Math.min(MAX_DENSITY, Math.max(MIN_DENSITY, density * scale ** (1 / power)))
    if (next === density) break
    const measured = await measure(next)
    power = Math.round(Math.log(measured.width / metadata.width) / Math.log(next / density)) || 1
    density = next
    metadata = measured
  }
  return { density, metadata }
}

function scaleTo({ width, height }: Metadata, box: Box, maxPixels: number): number {
  const scales = [box.width && box.width / width, box.height && box.height / height].filter(
    (scale) => scale !== undefined,
  )
  const wanted = box.fit === 'inside' ? Math.min(...scales) : Math.max(...scales)
  // Two percent less, for sides are rounded.
  const allowed =
    0.98 * Math.min(MAX_SIDE / width, MAX_SIDE / height, Math.sqrt(maxPixels / (width * height)))
  return Math.min(wanted, allowed)
}
