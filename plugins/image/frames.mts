import sharp, { type Sharp } from 'sharp'
import type { Opened } from '../../src/core/plugin.ts'

/**
 * Edits every frame of an animation by itself, for what looks at a pixel's neighbours: to sharp all frames are one tall
 * picture, and a blur would mix the edge of a frame with that of the next.
 *
 * @param animation settled, so that what is known of it is true
 * @param edit keeps the size of the frame, which has an alpha channel
 * @returns a draft of all frames, with the timing they had
 */
export async function eachFrame(
  { draft, source: { width, height, pages } }: Opened<'sharp'>,
  edit: (frame: Sharp) => Sharp | Promise<Sharp>,
): Promise<Sharp> {
  const { delay, loop } = await draft.metadata()
  const data = await draft.ensureAlpha().raw().toBuffer()
  const raw = { width, height, channels: 4 } as const
  const bytes = width * height * raw.channels
  for (let start = 0; start < bytes * pages; start += bytes) {
    const frame = data.subarray(start, start + bytes)
    const edited = await edit(sharp(frame, { raw }))
    // In place: all frames together may be 200 MB.
    frame.set(await edited.raw().toBuffer())
  }
  const all = sharp(data, { raw: { ...raw, height: height * pages, pageHeight: height } })
  // Raw pixels know nothing of time. In whatever format they are written, it is taken from here.
  return all.gif({ ...(delay ? { delay } : {}), ...(loop === undefined ? {} : { loop }) })
}
