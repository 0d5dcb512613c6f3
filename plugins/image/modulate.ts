import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Changes a picture in the LCh colour space, where lightness, chroma and hue are apart. */
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
    // Sharp turns by whole degrees only.
    hue: { type: 'integer', min: 1, max: 360, unit: 'degrees', help: 'Turns every colour around the wheel' },
  },
  resolve({ saturation, brightness, lightness, hue: asked }) {
    const hue = asked === 360 ? undefined : asked
    const changes = saturation !== 1 || brightness !== 1 || lightness !== undefined || hue !== undefined
    return changes ? { saturation, brightness, lightness, hue } : undefined
  },
  transform(image, { saturation, brightness, lightness = 0, hue = 0 }, { source, settle }) {
    const modulated = image.modulate({ saturation, brightness, lightness, hue })
    // Sharp puts white beneath what is transparent before all else, for a format without transparency: it would be
    // changed as well.
    return source.hasAlpha ? settle(modulated) : modulated
  },
})
