import { proxyVariant } from '../../core/files/variant.ts'
import { COPY_SIDE, type ProxyName } from '../../core/media/smaller-copies.ts'
import type { TransformPlugin } from '../../core/plugin-api/plugin.ts'
import type { LoadedPlugin } from '../load/load.ts'
import type { Plan } from '../plan/plan.ts'

/** Plans of smaller copies of an image. */
export interface CopyPlans {
  /** The plan of a copy that is stored, under a variant that no query leads to. */
  proxy: (name: ProxyName) => Plan
  /** The plan of the copy of a page that is in memory while several derivatives are rendered from it. */
  pixels: (page: number) => Plan
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
    proxy: ({ side, page }) =>
      planOf(proxyVariant({ side, page }), { as: 'proxy', w: side, h: side, f: 'jpeg', ...onPage(page) }),
    pixels: (page) =>
      planOf('pixels', { as: 'pixels', w: COPY_SIDE, h: COPY_SIDE, f: 'tiff', ...onPage(page) }),
  }
}

/** The parameter that selects a page. The first one is the default: also of images, which have no pages. */
function onPage(page: number): { page?: number } {
  return page > 1 ? { page } : {}
}
