import type { Plan } from './plan.ts'

/**
 * Whether carrying out a plan takes minutes, so that a job does it and no request waits for all of it: a video or a sound
 * that is made, not a picture of one.
 */
export function isLasting({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.some(({ plugin }) => plugin.engine === 'ffmpeg' && plugin.makes === undefined)
}
