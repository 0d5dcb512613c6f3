import type { Plan } from './plan.ts'

/**
 * Whether a plan marks or hides something in an image. The original must then never be delivered instead of the
 * output.
 */
export function noOriginalFallback({ steps }: Plan): boolean {
  return steps.some(({ plugin }) => plugin.noOriginalFallback)
}
