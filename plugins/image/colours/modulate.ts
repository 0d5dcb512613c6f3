import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

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
      help: 'Factor of the saturation. Below 1: paler. Above 1: more vivid.',
    },
    brightness: {
      type: 'number',
      min: 0.1,
      max: 10,
      default: 1,
      help: 'Factor of the brightness. Below 1: darker. Above 1: brighter.',
    },
    lightness: {
      type: 'number',
      min: 0.1,
      max: 100,
      unit: 'percent',
      help: 'Lightness added to every pixel.',
    },
    // Sharp turns by whole degrees only.
    hue: {
      type: 'integer',
      min: 1,
      max: 360,
      unit: 'degrees',
      help: 'Rotation of every hue on the colour wheel.',
    },
  },
  resolve({ saturation, brightness, lightness, hue: requested }) {
    const hue = requested === 360 ? undefined : requested
    const changes = saturation !== 1 || brightness !== 1 || lightness !== undefined || hue !== undefined
    return changes ? { saturation, brightness, lightness, hue } : undefined
  },
  needs: () => 'outcome',
  transform(image, { saturation, brightness, lightness = 0, hue = 0 }, { source, settle }) {
    const modulated = image.modulate({ saturation, brightness, lightness, hue })
    // For a format without transparency, sharp puts white beneath transparent parts before everything else. This
    // white would change as well.
    return source.hasAlpha ? settle(modulated) : modulated
  },
})
