import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Adjusts an image in the LCh colour space, which separates lightness, chroma and hue. */
export default definePlugin({
  name: 'image-modulate',
  engine: 'sharp',
  phase: 'effect',
  params: {
    saturation: {
      type: 'number',
      min: 0.1,
      max: 10,
      default: 1,
      help: 'Times the saturation: below 1 paler, above 1 more vivid',
    },
    brightness: {
      type: 'number',
      min: 0.1,
      max: 10,
      default: 1,
      help: 'Times the brightness: below 1 darker, above 1 brighter',
    },
    lightness: {
      type: 'number',
      min: 0.1,
      max: 100,
      unit: 'percent',
      help: 'Added to the lightness of every pixel',
    },
    // sharp rotates the hue by whole degrees only.
    hue: { type: 'integer', min: 1, max: 360, unit: 'degrees', help: 'Turns every colour around the wheel' },
  },
  resolve({ saturation, brightness, lightness, hue: asked }) {
    const hue = asked === 360 ? undefined : asked
    const changes = saturation !== 1 || brightness !== 1 || lightness !== undefined || hue !== undefined
    return changes ? { saturation, brightness, lightness, hue } : undefined
  },
  transform(image, { saturation, brightness, lightness = 0, hue = 0 }, { source, settle }) {
    const modulated = image.modulate({ saturation, brightness, lightness, hue })
    // For a format without transparency, sharp puts white beneath transparent parts before everything else. This
    // white would change as well.
    return source.hasAlpha ? settle(modulated) : modulated
  },
})
