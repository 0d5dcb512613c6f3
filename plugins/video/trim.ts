import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { resolveTrim, TRIM_PARAMS, trim } from '../../src/core/plugin-api/trim-params.ts'

/** A part of a video: from one moment up to another. */
export default definePlugin({
  name: 'video-trim',
  engine: 'ffmpeg',
  phase: 'prepare',
  media: ['video'],
  // What is cut off is not to be seen.
  noOriginalFallback: true,
  params: TRIM_PARAMS,
  resolve: resolveTrim,
  transform: (video, params, { source }) => trim(video, params, { ...source, name: 'video' }),
})
