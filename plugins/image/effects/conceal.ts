import sharp, { type Sharp } from 'sharp'
import { type Box, clippedBox, type Size } from '../../../src/core/geometry/box.ts'
import { withMargin } from '../../../src/core/geometry/focus.ts'
import { definePlugin, type TransformContext } from '../../../src/core/plugin-api/plugin.ts'
import { noDetector } from '../faces/no-detector.mts'
import { type Concealment, concealed } from './conceal.mts'

const MAX_REGIONS = 20

const REGIONS = {
  type: 'list',
  of: 'number',
  names: ['x', 'y', 'w', 'h'],
  separator: ',',
  min: [0, 0, 0.001, 0.001],
  max: [1, 1, 1, 1],
  groups: MAX_REGIONS,
} as const

/**
 * Conceals regions and faces, before any other step: a crop or a resize does not move them. What they show cannot be
 * recovered from the output.
 */
export default definePlugin({
  name: 'image-conceal',
  engine: 'sharp',
  phase: 'prepare',
  noOriginalFallback: true,
  params: {
    blur_region: {
      ...REGIONS,
      help: 'Blurs regions beyond recognition. x, y, w and h are fractions of the sides of the upright original.',
    },
    pixelate_region: {
      ...REGIONS,
      help: 'Pixelates regions beyond recognition. x, y, w and h are fractions of the sides of the upright original.',
    },
    blur_faces: { type: 'flag', help: 'Blurs all faces beyond recognition.' },
    pixelate_faces: { type: 'flag', help: 'Pixelates all faces beyond recognition.' },
  },
  resolve(params, { detects }) {
    if ((params.blur_faces || params.pixelate_faces) && !detects())
      throw noDetector('blur_faces and pixelate_faces')
    return params.pixelate_faces ? { ...params, blur_faces: undefined } : params
  },
  holds: () => 'source',
  transform(image, { blur_region = [], pixelate_region = [], blur_faces, pixelate_faces }, context) {
    const facesBy = pixelate_faces ? 'pixelate' : blur_faces ? 'blur' : undefined
    return context.settle(image, async (frame, size) => {
      const parts = [
        ...regions(blur_region, 'blur', size),
        ...regions(pixelate_region, 'pixelate', size),
        ...(facesBy ? await faces(frame, size, { by: facesBy, context }) : []),
      ]
      return parts.length === 0 ? frame : concealed(frame, parts)
    })
  },
})

interface Part {
  box: Box
  by: Concealment
}

function regions(numbers: readonly number[], by: Concealment, { width, height }: Size): Part[] {
  const parts: Part[] = []
  for (let i = 0; i < numbers.length; i += 4) {
    const [x = 0, y = 0, w = 0, h = 0] = numbers.slice(i, i + 4)
    parts.push(
      ...within({ left: x * width, top: y * height, width: w * width, height: h * height }, by, {
        width,
        height,
      }),
    )
  }
  return parts
}

async function faces(
  frame: Sharp,
  source: TransformContext<'sharp'>['source'],
  { by, context }: { by: Concealment; context: TransformContext<'sharp'> },
): Promise<Part[]> {
  // The detector reads the draft, so it gets its own.
  const { data, info } = await frame.clone().raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const draft = sharp(data, { raw: { width, height, channels } })
  const boxes = (await context.detect?.({ draft, source })) ?? []
  return boxes.flatMap((box) => within(withMargin(box), by, { width, height }))
}

/** The part in whole pixels, rounded outwards; none when it is outside the image. */
function within({ left, top, width, height }: Box, by: Concealment, size: Size): Part[] {
  const [x, y] = [Math.floor(left), Math.floor(top)]
  const whole = { left: x, top: y, width: Math.ceil(left + width) - x, height: Math.ceil(top + height) - y }
  const box = clippedBox(whole, size)
  return box ? [{ box, by }] : []
}
