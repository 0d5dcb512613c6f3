import type { Plan } from './plan.ts'

const MEDIA_ENGINES: readonly string[] = ['ffmpeg', 'ffmpeg-audio']

/**
 * Whether carrying out a plan takes minutes, so that a job does it and no request waits for all of it: a video or a sound
 * that is made, not a picture of one.
 */
export function runsAsJob({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.some(({ plugin }) => MEDIA_ENGINES.includes(plugin.engine) && plugin.makes === undefined)
}
