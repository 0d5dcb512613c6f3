import type { Plan } from './plan.ts'

/** Whether a plan marks or hides something in a picture: the original may not stand in for its outcome. */
export function noOriginalFallback({ steps }: Plan): boolean {
  return steps.some(({ plugin }) => plugin.noOriginalFallback)
}
