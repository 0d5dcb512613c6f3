import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { resolveTrim, TRIM_PARAMS, trim } from '../../src/core/plugin-api/trim-params.ts'

/** Trims a video to the part between two times. */
export default definePlugin({
  name: 'video-trim',
  engine: 'ffmpeg',
  phase: 'prepare',
  media: ['video'],
  // The original would contain the parts that were cut off.
  noOriginalFallback: true,
  params: TRIM_PARAMS,
  resolve: resolveTrim,
  transform: (video, params, { source }) => trim(video, params, { ...source, name: 'video' }),
})
