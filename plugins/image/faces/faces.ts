import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import type { Box, Size } from '../../../src/core/geometry/box.ts'
import { defineDetector } from '../../../src/core/plugin-api/detector.ts'
import { distinct, type Face, facesOf } from './boxes.mts'
import { blazeFace, STEP } from './network.mts'

// The longest side of the image as the network sees it. At 512, it detects faces whose width is 2% of that side. It knows
// faces of up to 250 pixels, so a small image is needed for larger ones.
const SIDES = [512, 192] as const
const MAX_PIXELS = SIDES[0] ** 2

// Of photos without people, most parts have a score below 0.55.
const MIN_SCORE = 0.6

// The colour that the network sees as zero, as outside the image.
const GREY = '#808080'

/**
 * Detects faces with a small neural network. README.md has its origin, licence, precision and cost. It is loaded for the
 * first image whose faces are needed.
 */
export default defineDetector({
  name: 'image-faces',
  engine: 'sharp',
  async detect(draft, { source, signal }) {
    const detectIn = await network()
    const faces: Face[] = []
    let image = draft
    for (const side of SIDES) {
      signal.throwIfAborted()
      const size = scaled(source, side)
      const reduced = image
        .resize({ ...size, fit: 'fill' })
        .flatten({ background: GREY })
        .toColourspace('srgb')
      image = sharp(await reduced.raw().toBuffer(), { raw: { ...size, channels: 3 } })
      const input = { width: wholeSteps(size.width), height: wholeSteps(size.height) }
      const margins = {
        right: input.width - size.width,
        bottom: input.height - size.height,
        background: GREY,
      }
      const grids = detectIn(await image.clone().extend(margins).raw().toBuffer(), input)
      for (const { box, score } of facesOf(grids, MIN_SCORE))
        faces.push({ box: enlarged(box, source.width / size.width, source.height / size.height), score })
    }
    return distinct(faces)
  },
})

let loading: ReturnType<typeof load> | undefined

/** The network, loaded once. After an error, the next image tries again. */
function network() {
  loading ??= load().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load() {
  const bytes = await readFile(new URL('blazeface.bin', import.meta.url))
  const weights = Uint16Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16LE(2 * i))
  return blazeFace(weights, MAX_PIXELS)
}

/** The size with this longest side. */
function scaled({ width, height }: Size, side: number): Size {
  const scale = side / Math.max(width, height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

function wholeSteps(side: number): number {
  return Math.ceil(side / STEP) * STEP
}

function enlarged({ left, top, width, height }: Box, across: number, down: number): Box {
  return { left: left * across, top: top * down, width: width * across, height: height * down }
}
