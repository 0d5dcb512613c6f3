import { proxyVariant } from '../../core/files/variant.ts'
import { COPY_SIDE, PROXY_SIDES, type ProxySide } from '../../core/media/copies.ts'
import type { TransformPlugin } from '../../core/plugin-api/plugin.ts'
import type { LoadedPlugin } from '../load/load.ts'
import type { Plan } from '../plan/plan.ts'

/** Plans of smaller copies of an image. */
export interface CopyPlans {
  /** The copies that are stored, each under a variant that no query leads to. */
  proxies: ReadonlyMap<ProxySide, Plan>
  /** The copy that is in memory while several derivatives are rendered from it. */
  pixels: Plan
}

/** A plugin that is not loaded from a file, so that no query names it. */
export function internalPlugin(plugin: TransformPlugin): LoadedPlugin {
  return { plugin, media: ['image'], options: {}, fingerprint: undefined }
}

/** @param reduce the step that renders a copy; its parameter `as` selects which one */
export function copyPlans(reduce: LoadedPlugin): CopyPlans {
  const planOf = (variant: string, params: Plan['steps'][number]['params']): Plan => ({
    steps: [{ ...reduce, params }],
    variant,
    variesBy: [],
    notes: [],
  })
  return {
    proxies: new Map(
      PROXY_SIDES.map((side) => [
        side,
        planOf(proxyVariant(side), { as: 'proxy', w: side, h: side, f: 'jpeg' }),
      ]),
    ),
    pixels: planOf('pixels', { as: 'pixels', w: COPY_SIDE, h: COPY_SIDE, f: 'tiff' }),
  }
}
