import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { resolveTrim, TRIM_PARAMS, trim } from '../../src/core/plugin-api/trim-params.ts'

/** Trims audio to the part between two times. */
export default definePlugin({
  name: 'audio-trim',
  engine: 'ffmpeg-audio',
  phase: 'prepare',
  // The original would contain the parts that were cut off.
  noOriginalFallback: true,
  params: TRIM_PARAMS,
  resolve: resolveTrim,
  transform: (sound, params, { source }) => trim(sound, params, { ...source, name: 'audio file' }),
})
