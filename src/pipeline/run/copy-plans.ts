import { PROXY_VARIANT } from '../../core/files/variant.ts'
import { COPY_SIDE } from '../../core/media/copies.ts'
import type { TransformPlugin } from '../../core/plugin-api/plugin.ts'
import type { LoadedPlugin } from '../load/load.ts'
import type { Plan } from '../plan/plan.ts'

/** Plans of smaller copies of an image. */
export interface CopyPlans {
  /** The copy that is stored, under a variant that no query leads to. */
  proxy: Plan
  /** The copy that is in memory while several derivatives are rendered from it. */
  pixels: Plan
}

/** A plugin that is not loaded from a file, so that no query names it. */
export function internalPlugin(plugin: TransformPlugin): LoadedPlugin {
  return { plugin, media: ['image'], options: {}, fingerprint: undefined }
}

/** @param reduce the step that renders a copy; its parameter `as` selects which one */
export function copyPlans(reduce: LoadedPlugin): CopyPlans {
  const sides = { w: COPY_SIDE, h: COPY_SIDE }
  const planOf = (variant: string, params: Plan['steps'][number]['params']): Plan => ({
    steps: [{ ...reduce, params }],
    variant,
    variesBy: [],
    notes: [],
  })
  return {
    proxy: planOf(PROXY_VARIANT, { as: 'proxy', ...sides, f: 'jpeg' }),
    pixels: planOf('pixels', { as: 'pixels', ...sides, f: 'tiff' }),
  }
}
