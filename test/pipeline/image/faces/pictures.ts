import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import type { Box, Size } from '../../../../src/core/geometry/box.ts'

/** A picture with faces, whose places are known, and a crop that has space for all of them. */
export interface Picture {
  name: string
  bytes: Buffer
  size: Size
  /** From the eyebrows to the chin. */
  faces: readonly Box[]
  query: string
}

/** The faces, labelled by hand: the centre and the width, as fractions of the sides of the photo. */
const FACES: Readonly<Record<string, ReadonlyArray<readonly [x: number, y: number, width: number]>>> = {
  astronaut: [[0.44, 0.25, 0.16]],
  camera: [[0.43, 0.31, 0.1]],
  'group-1': [
    [0.27, 0.39, 0.08],
    [0.49, 0.44, 0.08],
    [0.82, 0.26, 0.07],
  ],
  'group-2': [
    [0.24, 0.22, 0.08],
    [0.52, 0.27, 0.08],
    [0.81, 0.22, 0.08],
  ],
  'group-3': [
    [0.36, 0.37, 0.08],
    [0.62, 0.28, 0.09],
    [0.82, 0.34, 0.09],
  ],
  'group-4': [
    [0.17, 0.23, 0.08],
    [0.4, 0.15, 0.08],
    [0.56, 0.22, 0.08],
    [0.71, 0.21, 0.08],
  ],
  'group-5': [
    [0.25, 0.75, 0.1],
    [0.35, 0.4, 0.09],
    [0.45, 0.18, 0.08],
    [0.63, 0.25, 0.08],
    [0.79, 0.39, 0.09],
  ],
  'group-6': [
    [0.18, 0.42, 0.1],
    [0.41, 0.33, 0.1],
    [0.66, 0.3, 0.1],
    [0.83, 0.28, 0.1],
  ],
}

interface Place {
  /** The canvas, when the photo is a part of a larger picture, and the upper left corner and width of the photo on it. */
  on?: { canvas: Size; left: number; top: number; width: number }
  /** A part of the photo, in its pixels. */
  part?: Box
  mirrored?: boolean
  edit?: (image: Sharp) => Sharp
}

/** Reads a photo of `photos`, and changes it. */
async function picture(
  name: string,
  photo: string,
  query: string,
  { on, part, mirrored = false, edit = (image) => image }: Place = {},
): Promise<Picture> {
  const file = join(import.meta.dirname, 'photos', `${photo}.webp`)
  const whole = await sharp(file).metadata()
  const taken = part ?? { left: 0, top: 0, width: whole.width, height: whole.height }
  const scale = on ? on.width / taken.width : 1
  const placed = { width: Math.round(taken.width * scale), height: Math.round(taken.height * scale) }
  const image = await edit(sharp(file).extract(taken).flop(mirrored)).resize(placed).png().toBuffer()
  const size = on?.canvas ?? placed
  const background = on && (await ground(size))
  const composed = background
    ? background.composite([{ input: image, left: on.left, top: on.top }])
    : sharp(image)
  const faces = (FACES[photo] ?? []).flatMap(([x, y, width]) => {
    const side = width * whole.width
    const centre = x * whole.width - taken.left
    const across = (mirrored ? taken.width - centre : centre) - side / 2
    const down = y * whole.height - taken.top - side / 2
    if (across < 0 || down < 0 || across + side > taken.width || down + side > taken.height) return []
    return [
      {
        left: (on?.left ?? 0) + across * scale,
        top: (on?.top ?? 0) + down * scale,
        width: side * scale,
        height: side * scale,
      },
    ]
  })
  return { name, bytes: await composed.jpeg({ quality: 85 }).toBuffer(), size, faces, query }
}

/** Waves in strong colours, which attract `func=auto`. */
async function ground({ width, height }: Size): Promise<Sharp> {
  const stripes = `<svg width="${width}" height="${height}"><defs><pattern id="p" width="90" height="70" patternUnits="userSpaceOnUse">
    <rect width="90" height="70" fill="#357"/><circle cx="30" cy="30" r="14" fill="#d83"/><path d="M0 60 Q45 20 90 60" stroke="#2a5" stroke-width="9" fill="none"/>
    </pattern></defs><rect width="100%" height="100%" fill="url(#p)"/></svg>`
  return sharp(Buffer.from(stripes))
}

let known: Promise<Picture[]> | undefined

/** Twenty pictures: photos as they are, parts of them, small ones within larger pictures, dark, grey and noisy ones. */
export function pictures(): Promise<Picture[]> {
  known ??= rendered()
  return known
}

function rendered(): Promise<Picture[]> {
  const wide = { width: 1600, height: 900 }
  const tall = { width: 900, height: 1600 }
  return Promise.all([
    picture('an astronaut', 'astronaut', 'ar=2:1'),
    picture('a photographer in profile, in grey', 'camera', 'w=150&h=300'),
    picture('three women in the dark', 'group-1', 'ar=5:2'),
    picture('three women who look down and aside', 'group-2', 'ar=3:1'),
    picture('three women in a bar', 'group-3', 'ar=1:1'),
    picture('four women at a wall', 'group-4', 'ar=3:1'),
    picture('five women on stairs', 'group-5', 'ar=1:1'),
    picture('four women at a window', 'group-6', 'ar=5:2'),
    picture('a portrait from the top of a tall photo', 'astronaut', 'w=200&h=200', {
      part: { left: 120, top: 0, width: 220, height: 512 },
    }),
    picture('a face that fills the picture', 'astronaut', 'ar=5:4', {
      part: { left: 155, top: 40, width: 140, height: 150 },
      on: { canvas: { width: 700, height: 750 }, left: 0, top: 0, width: 700 },
    }),
    picture('one of three, in front of a door', 'group-3', 'w=100&h=240', {
      part: { left: 330, top: 20, width: 150, height: 400 },
      on: { canvas: { width: 300, height: 400 }, left: 150, top: 0, width: 150 },
    }),
    picture('a small photo at the left', 'group-1', 'w=500&h=500', {
      on: { canvas: wide, left: 60, top: 300, width: 450 },
    }),
    picture('a small photo at the right', 'group-3', 'w=500&h=500', {
      on: { canvas: wide, left: 1120, top: 80, width: 420 },
    }),
    picture('a small photo at the top', 'group-6', 'w=300&h=150', {
      on: { canvas: tall, left: 200, top: 30, width: 500 },
    }),
    picture('a small photo at the bottom', 'group-4', 'w=300&h=150', {
      on: { canvas: tall, left: 300, top: 1150, width: 560 },
    }),
    picture('a mirrored photo', 'group-5', 'ar=1:1', { mirrored: true }),
    picture('an underexposed photo', 'group-6', 'ar=5:2', {
      edit: (image) => image.modulate({ brightness: 0.4 }),
    }),
    picture('a grey photo', 'group-4', 'ar=3:1', { edit: (image) => image.greyscale() }),
    picture('a blurred photo', 'group-3', 'ar=2:1', { edit: (image) => image.blur(3) }),
    picture('a zoomed crop', 'group-2', 'z=10'),
  ])
}
