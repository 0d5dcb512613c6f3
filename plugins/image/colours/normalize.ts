import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../../src/core/problem.ts'

/**
 * Stretches the luminance over the whole range: values below the lower percentile become black, values above the
 * upper one white. Over all frames of an animation, so that it does not flicker.
 */
export default definePlugin({
  name: 'image-normalize',
  engine: 'sharp',
  phase: 'effect',
  params: {
    normalize_lower: {
      type: 'integer',
      min: 1,
      max: 99,
      default: 1,
      help: 'Percentile of luminance that becomes black.',
    },
    normalize_upper: {
      type: 'integer',
      min: 1,
      max: 99,
      default: 99,
      help: 'Percentile of luminance that becomes white.',
    },
  },
  resolve(params) {
    const { normalize_lower: lower, normalize_upper: upper } = params
    if (lower < upper) return params
    const expected = `an integer below normalize_upper (${upper})`
    throw badParameter({ param: 'normalize_lower', expected, received: lower })
  },
  holds: () => 'outcome',
  needs: () => 'outcome',
  transform(image, { normalize_lower: lower, normalize_upper: upper }, { source, settle }) {
    const stretched = image.normalise({ lower, upper })
    // For a format without transparency, sharp puts white beneath transparent parts before everything else. This
    // white would count as the lightest part of the image.
    return source.hasAlpha ? settle(stretched) : stretched
  },
})
