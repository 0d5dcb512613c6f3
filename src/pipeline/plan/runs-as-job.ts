import type { Plan, Step } from './plan.ts'

const MEDIA_ENGINES: readonly string[] = ['ffmpeg', 'ffmpeg-audio']
const OFFICE = 'office'

/**
 * Whether a plan takes minutes, so that a job runs it and no request waits for the end: a video or audio transcode,
 * but not an image of a video, and the PDF of an Office document.
 */
export function runsAsJob({ steps }: Pick<Plan, 'steps'>): boolean {
  return usesOffice({ steps }) || steps.some(isTranscode)
}

/** Whether LibreOffice runs the plan. */
export function usesOffice({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.some(({ plugin }) => plugin.engine === OFFICE)
}

function isTranscode({ plugin }: Step): boolean {
  return MEDIA_ENGINES.includes(plugin.engine) && plugin.makes === undefined
}
