import { assetFromBytes } from '../core/asset.ts'
import { type ImageInformation, type ImageInspector, SMALL_SIDE } from '../core/information.ts'
import type { Format } from '../core/media.ts'
import { INFORMATION_VARIANT } from '../core/variant.ts'
import type { Plan, Planner } from './plan.ts'
import type { Runner } from './run.ts'

/**
 * A plan for what is to be known of a picture: one for a small copy of it, under the name that no query leads to. So it is
 * admitted, limited, shared, stored, swept and deleted as any other derivative.
 *
 * @throws Problem 400 where a plugin that it needs is disabled
 */
export function informationPlan(plan: Planner, format: Format): Plan {
  const side = String(SMALL_SIDE)
  const query = Object.entries({ w: side, h: side, fit: 'inside', f: 'png' })
  return { ...plan({ query, format, accept: '' }), variant: INFORMATION_VARIANT }
}

/** The same runner, which knows what to make of an {@link informationPlan}: JSON of {@link ImageInformation}. */
export function informedRunner(run: Runner, inspector: ImageInspector): Runner {
  return async (plan, source, context) => {
    const made = await run(plan, source, context)
    if (plan.variant !== INFORMATION_VARIANT) return made
    const { signal, limits } = context
    const colors = await inspector.colors(made, signal)
    const facts = await inspector.facts(source, { maxBytes: limits.sourceMaxBytes, signal })
    if (!facts) throw new Error('a picture that has been decoded has no header')
    const information: ImageInformation = { ...facts, ...colors }
    const bytes = Buffer.from(JSON.stringify(information))
    return assetFromBytes(bytes, { mediaType: 'application/json', lastModified: new Date() })
  }
}
