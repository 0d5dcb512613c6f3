import { CLEAR, colorOf } from '../../../src/core/media/color.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

/**
 * Puts a colour beneath all transparent parts: those of the source, and those that rotation, padding and rounded
 * corners create.
 */
export default definePlugin({
  name: 'image-background',
  engine: 'sharp',
  phase: 'compose',
  params: {
    bg: { type: 'color', aliases: ['background'], help: 'Background colour of transparent parts.' },
  },
  resolve: ({ bg = CLEAR }) => (bg === CLEAR ? undefined : { bg }),
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, { bg = CLEAR }, { source, settle }) {
    if (!source.hasAlpha) return image
    // sharp flattens before it resizes, so the parts that the resize leaves empty must be rendered first.
    const { draft } = await settle(image)
    const background = colorOf(bg)
    // Settle again: otherwise the encoder's own flattening, on white, would replace this one.
    if (background.alpha === 1) return settle(draft.flatten({ background }))
    const input = { create: { width: 1, height: 1, channels: 4 as const, background } }
    return settle(draft.composite([{ input, tile: true, blend: 'dest-over' }]))
  },
})
