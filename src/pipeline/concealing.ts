import type { Plan } from './plan.ts'

// What marks a picture as somebody's, or hides a part of it.
const CONCEALING = ['wm', 'text', 'blur', 'crop']

/** Whether a plan takes something away that its caller must not see: the original may not stand in for its outcome. */
export function conceals({ steps }: Plan): boolean {
  return steps.some(({ params }) => CONCEALING.some((name) => params[name] !== undefined))
}
