import type { Plan } from './plan.ts'

const MEDIA_ENGINES: readonly string[] = ['ffmpeg', 'ffmpeg-audio']

/**
 * Whether a plan takes minutes, so that a job runs it and no request waits for the end: a video or audio transcode,
 * but not an image of a video.
 */
export function runsAsJob({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.some(({ plugin }) => MEDIA_ENGINES.includes(plugin.engine) && plugin.makes === undefined)
}
