import type { Sharp } from 'sharp'
import type { Size } from '../../../src/core/geometry/box.ts'
import { COMPASS_SYNONYMS, COMPASS_WORDS, type CompassWord } from '../../../src/core/geometry/focus.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { unusableAsset, wrapAssetError } from '../../../src/core/problem.ts'
import { type Layer, laidOver } from './overlay.mts'

interface Values {
  key: string | undefined
  place: CompassWord | 'tile'
  size: number
  opacity: number
  margin: number
}

/**
 * A plugin that lays another image of the same client over this one: the first frame of an animation, upright, over
 * every frame. It has the requested width, in percent of the outcome, but is never higher than the outcome.
 *
 * @param wm its parameter; the others begin with it
 */
export function watermarkPlugin(name: string, wm: string) {
  const valuesOf = (params: Readonly<Record<string, unknown>>) =>
    ({
      key: params[wm],
      place: params[`${wm}_pos`],
      size: params[`${wm}_size`],
      opacity: params[`${wm}_opacity`],
      margin: params[`${wm}_margin`],
    }) as Values
  return definePlugin({
    name,
    engine: 'sharp',
    phase: 'compose',
    noOriginalFallback: true,
    // The size and the position depend on the size of the outcome.
    newPass: true,
    params: {
      [wm]: { type: 'key', group: 'image', help: 'Watermark: another image of the same client.' },
      [`${wm}_pos`]: {
        type: 'enum',
        values: [...COMPASS_WORDS, 'tile'],
        synonyms: COMPASS_SYNONYMS,
        default: 'center',
        help: 'Position of the watermark. tile: repeated over the whole image.',
      },
      [`${wm}_size`]: {
        type: 'integer',
        min: 1,
        max: 100,
        unit: 'percent',
        default: 25,
        help: 'Width of the watermark, relative to the width of the image.',
      },
      [`${wm}_opacity`]: {
        type: 'integer',
        min: 0,
        max: 100,
        unit: 'percent',
        default: 100,
        help: 'Opacity of the watermark.',
      },
      [`${wm}_margin`]: {
        type: 'integer',
        min: 0,
        max: 1000,
        unit: 'px',
        default: 0,
        help: 'Distance of the watermark to the edges, multiplied by dpr.',
      },
    },
    resolve(params) {
      const { key, opacity } = valuesOf(params)
      return key === undefined || opacity === 0 ? undefined : params
    },
    needs: () => 'outcome',
    async transform(image, params, context) {
      const { source, asset, open, limits, signal } = context
      const { key = '', place, size: percent, opacity, margin } = valuesOf(params)
      const mark = await asset(key)
      const { draft } = await open(mark, { frames: 'first', upright: true }).catch((cause) => {
        throw wrapAssetError(wm, cause)
      })
      draft.timeout({ seconds: Math.ceil(limits.timeoutMs / 1000) })
      const size = { width: Math.max(1, Math.round((source.width * percent) / 100)), height: source.height }
      const layer = await drawnWithin(draft, size, opacity).catch((cause) => {
        signal.throwIfAborted()
        throw unusableAsset(wm, 'it cannot be drawn', cause)
      })
      return laidOver(image, source, { layer, place, margin: Math.round(margin * source.dpr) })
    },
  })
}

async function drawnWithin(mark: Sharp, { width, height }: Size, opacity: number): Promise<Layer> {
  // The visible opacity of each pixel is its own, multiplied by that of this one.
  const opacityMask = {
    input: Buffer.from([0, 0, 0, Math.round(opacity * 2.55)]),
    tile: true,
    blend: 'dest-in',
  } as const
  const { data, info } = await mark
    .resize({ width, height, fit: 'inside' })
    .composite([{ ...opacityMask, raw: { width: 1, height: 1, channels: 4 } }])
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}
