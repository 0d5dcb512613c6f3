import sharp from 'sharp'
import type { Opened, TransformContext } from '../../../src/core/plugin-api/plugin.ts'

type Context = TransformContext<'sharp'>

// Steps that add nothing to an image.
const NOTHING_NEW = ['image-orient', 'image-resize', 'image-crop', 'image-greyscale']
const NOTHING_VISIBLE = ['image-orient', 'image-resize']
const SHOWN_EVERYWHERE = new Set(['jpeg', 'png', 'gif'])

// Below this, nobody notices the difference, and a header can be most of a file.
const ALWAYS_ROOM = 4096

/** The bytes that an output may have: those of the original, if it has no more pixels, and nothing was added to it. At least 4 KB. */
export function roomFor({ source: { file, width, height }, pass }: Context): number {
  const hasNoMore = file && width * height <= file.width * file.height
  return hasNoMore && pass.every((name) => NOTHING_NEW.includes(name))
    ? Math.max(ALWAYS_ROOM, file.bytes)
    : Number.POSITIVE_INFINITY
}

// The original looks better than a render of nearly its size.
const WORTH_A_RENDER = 1.1

/**
 * Prepares to deliver the original without its metadata, when it is hardly larger than the output, and nothing visible
 * was requested. To be called before the first pass.
 *
 * @returns the original; undefined when the output, in `size` bytes, is the better one
 */
export function originalInstead(
  { outputs, isAuto }: { outputs: readonly string[]; isAuto: boolean },
  { source, pass }: Context,
): (size: number) => Promise<Opened<'sharp'> | undefined> {
  const { gainMap: _, ...facts } = source
  const { file, width, height, framed, format } = source
  const isOriginalSize = !framed && file?.width === width && file.height === height
  const isUnchanged = isOriginalSize && pass.every((name) => NOTHING_VISIBLE.includes(name))
  const mayBe = outputs.includes(format) || (isAuto && SHOWN_EVERYWHERE.has(format))
  return async (size) => {
    const plain = isUnchanged && mayBe ? await file.plain?.() : undefined
    if (!plain || plain.length > size * WORTH_A_RENDER) return undefined
    return { draft: sharp(plain), source: { ...facts, encoded: plain } }
  }
}
